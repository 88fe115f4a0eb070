// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads logical records back from a log, under each recovery mode's rules of damage.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/wal/log_format.h"
#include "db/wal/timestamp_sizes.h"

namespace varve {
class SequentialFileReader;
}

namespace varve::wal {

// What a reader met; totals for the recovery report.
struct LogDamage {
  uint64_t dropped_bytes = 0;
  uint64_t first_bad_offset = UINT64_MAX;
  std::string reason;      // of the first damage
  bool torn_tail = false;  // the log ends inside a record
  bool hole = false;       // a zero region, then something that is not zero
};

// Thread safety: none.
class LogReader {
 public:
  // Told of each damaged region (bytes skipped, why). May be null.
  class Reporter {
   public:
    virtual ~Reporter() = default;
    virtual void Corruption(size_t bytes, const Status& status) = 0;
  };

  // Owns the file. log_number: 0 for a MANIFEST; recyclable records of another number end the log.
  LogReader(std::unique_ptr<SequentialFileReader> file, uint64_t log_number, std::string file_name,
            Reporter* reporter);
  ~LogReader();

  // Reads the next logical record into *record (its bytes live in the reader or *scratch until the
  // next call). False at the end of the log: io_status() tells a read error (never taken for an
  // end), damage() what was dropped. Always makes progress.
  bool ReadRecord(Slice* record, std::string* scratch, WALRecoveryMode mode);

  uint64_t LastRecordOffset() const;  // of the last record returned
  // Just after it, and after the records of timestamp sizes behind it that were read.
  uint64_t LastRecordEnd() const;
  // What the log has said up to the last record returned; it grows with the reading.
  const TimestampSizes& timestamp_sizes() const;
  const LogDamage& damage() const;
  // A record of the log that had the file before ended it: there may have been more of this one,
  // which a power loss took.
  bool EndedAtOtherLog() const;
  Status io_status() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace varve::wal
