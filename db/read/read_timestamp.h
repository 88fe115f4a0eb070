// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks the timestamps of a read against the column family, and computes what the read sees.

#include <string>

#include "varve/options.h"
#include "varve/status.h"

#include "db/column_family/super_version.h"
#include "util/base/assert.h"
#include "util/key/point_lookup.h"

namespace varve {

// Returns InvalidArgument, naming the family and the error: a timestamp for a family without
// timestamps, or none for one with them; a wrong size; a ReadOptions::timestamp below the history
// that compactions have kept. iter_start_ts may lie below: the remaining versions are shown.
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

// Returns the read's timestamp. Requires options that were accepted.
inline ReadTimestamp AsOf(const ReadOptions& options, const SuperVersion& super_version) {
  const InternalKeyComparator* const icmp = super_version.version().icmp();
  if (icmp->timestamp_size() == 0) [[likely]]
    return {};
  VARVE_ASSERT(options.timestamp != nullptr);
  return {icmp, *options.timestamp};
}

}  // namespace varve
