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

// Checks ReadOptions::timestamp and iter_start_ts. Returns InvalidArgument, naming the family and
// the error, for a timestamp in a read of a family without timestamps, for none in one with them,
// for a wrong size, and for a `timestamp` below the history that compactions have kept
// (full_history_ts_low). iter_start_ts may lie below that: the versions that are left are shown.
// CheckReadTimestamp is the same check with a fast way for reads that are right. `family` is text
// for the message.
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
