// SPDX-License-Identifier: Apache-2.0
#include "db/read/read_timestamp.h"

#include "util/base/status_macros.h"

namespace varve {

namespace {

std::string Bytes(size_t n) {
  return std::to_string(n) + " bytes";
}

// Returns the timestamp in hex, as a comparator need not be able to print it.
std::string Hex(const Slice& timestamp) {
  return "0x" + timestamp.ToString(/*hex=*/true);
}

Status Refuse(const std::string& family, const std::string& why) {
  return Status::InvalidArgument("read of column family " + family, why);
}

Status CheckSize(const char* option, const Slice& timestamp, size_t size,
                 const std::string& family) {
  if (timestamp.size() == size) return Status::OK();
  return Refuse(family, std::string("ReadOptions::") + option + " has " + Bytes(timestamp.size()) +
                            ", the comparator's timestamps have " + Bytes(size));
}

}  // namespace

// A read below full_history_ts_low is refused: compactions may have dropped versions that it would
// have to return, so its answer might be the state of no moment.
Status CheckAnyReadTimestamp(const ReadOptions& options, const SuperVersion& super_version,
                             const std::string& family) {
  const InternalKeyComparator& icmp = *super_version.version().icmp();
  const size_t size = icmp.timestamp_size();
  if (options.timestamp == nullptr) {
    if (size != 0) {
      return Refuse(family,
                    "ReadOptions::timestamp is not set (0 bytes), the comparator's "
                    "timestamps have " +
                        Bytes(size));
    }
    return options.iter_start_ts == nullptr
               ? Status::OK()
               : Refuse(family, "ReadOptions::iter_start_ts has " +
                                    Bytes(options.iter_start_ts->size()) +
                                    ", the comparator's timestamps have 0 bytes");
  }
  if (size == 0) {
    return Refuse(family, "ReadOptions::timestamp has " + Bytes(options.timestamp->size()) +
                              ", the comparator's timestamps have 0 bytes");
  }
  VARVE_RETURN_IF_ERROR(CheckSize("timestamp", *options.timestamp, size, family));
  if (options.iter_start_ts != nullptr) {
    VARVE_RETURN_IF_ERROR(CheckSize("iter_start_ts", *options.iter_start_ts, size, family));
  }
  const std::string& low = super_version.full_history_ts_low();
  if (low.empty() || icmp.CompareTimestamp(*options.timestamp, low) >= 0) return Status::OK();
  return Refuse(family, "ReadOptions::timestamp " + Hex(*options.timestamp) +
                            " is below full_history_ts_low, " + Hex(low));
}

}  // namespace varve
