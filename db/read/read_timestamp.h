// SPDX-License-Identifier: Apache-2.0
#pragma once

// The timestamps of a read: whether they fit the column family, and what the read sees by them.

#include <string>

#include "varve/options.h"
#include "varve/status.h"

#include "db/column_family/super_version.h"
#include "util/base/assert.h"
#include "util/key/point_lookup.h"

namespace varve {

// InvalidArgument, naming the family and what is wrong: a timestamp where there are none, or none
// where there are; one of another size; a ReadOptions::timestamp below what compactions have kept
// of the past. iter_start_ts may lie there: it asks for what versions are left.
Status CheckAnyReadTimestamp(const ReadOptions& options, const SuperVersion& super_version,
                             const std::string& family);
inline Status CheckReadTimestamp(const ReadOptions& options, const SuperVersion& super_version,
                                 const std::string& family) {
  const size_t size = super_version.version().icmp()->timestamp_size();
  const bool fits = size != 0 && options.timestamp != nullptr && options.timestamp->size() == size;
  if (fits && options.iter_start_ts == nullptr && super_version.full_history_ts_low().empty()) {
    return Status::OK();
  }
  return CheckAnyReadTimestamp(options, super_version, family);
}

// For options that were accepted.
inline ReadTimestamp AsOf(const ReadOptions& options, const SuperVersion& super_version) {
  const InternalKeyComparator* const icmp = super_version.version().icmp();
  if (icmp->timestamp_size() == 0) [[likely]]
    return {};
  VARVE_ASSERT(options.timestamp != nullptr);
  return {icmp, *options.timestamp};
}

}  // namespace varve
