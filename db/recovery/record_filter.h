// SPDX-License-Identifier: Apache-2.0
#pragma once

// RecordFilter calls the user's WalFilter for the records of a replay.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/wal_filter.h"

#include "db/engine/db_state.h"

namespace varve {

// Thread safety: none.
class RecordFilter {
 public:
  enum class Verdict : uint8_t {
    kApply,
    kReplace,   // Another batch is applied instead of the record.
    kLeaveOut,  // Nothing is applied; the record's sequence numbers count as used.
    kDamaged,   // The record is treated as damage, by the recovery mode.
  };

  // The filter may be null, and must outlive this object.
  explicit RecordFilter(WalFilter* filter) : filter_(filter) {}

  bool active() const { return filter_ != nullptr; }
  // Passes the logs that column families need to the filter. Must be called once, before Judge.
  void Begin(DbState* state) VARVE_EXCLUDES(kDbMutex);
  // Sets *verdict for a record, which must be a well-formed batch, and *replacement for kReplace.
  // NotSupported: the replacement has more updates than the record. Corruption: it is not a batch.
  // InvalidArgument: the filter has returned an undefined value.
  Status Judge(uint64_t log, const std::string& path, const Slice& record, Verdict* verdict,
               std::string* replacement);

 private:
  WalFilter* const filter_;
  bool stopped_ = false;  // The filter has ended the replay.
};

}  // namespace varve
