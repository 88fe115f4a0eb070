// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads logical records back from a log, under each recovery mode's rules of damage.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/wal/log_chunks.h"
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

  uint64_t LastRecordOffset() const { return last_offset_; }  // of the last record returned
  // Just after it, and after the records of timestamp sizes after it that were read.
  uint64_t LastRecordEnd() const { return last_end_; }
  // What the log has said up to the last record returned; it grows with the reading.
  const TimestampSizes& timestamp_sizes() const { return timestamp_sizes_; }
  const LogDamage& damage() const { return damage_; }
  // A record of the log that had the file before ended it: there may have been more of this one,
  // which a power loss took.
  bool EndedAtOtherLog() const { return ended_at_other_log_; }
  Status io_status() const { return io_status_; }

 private:
  // What came of looking for a physical record.
  enum class Outcome {
    kRecord,
    kEnd,  // nothing more to read, or io_status_ is set
    kBad,  // bad_ says what
  };
  enum class Step { kMore, kDelivered, kStop };
  struct Fragment {
    uint8_t type = 0;
    Slice payload;
    uint64_t offset = 0;
    bool after_zeros = false;  // more than padding
    bool lacks_sector_before = false;
  };
  // The bytes at hand that are no record, and why.
  struct BadRegion {
    size_t bytes = 0;
    const char* reason = "";
    bool is_torn = false;
    bool lacks_sector = false;
  };
  // The logical record being put together.
  struct OpenRecord {
    bool begun = false;      // a first fragment was read and the last was not
    bool resyncing = false;  // the rest of a record whose start was dropped may come
    uint64_t start = 0;
    // What was dropped within it by itself, and the last place where.
    uint64_t inner_bytes = 0;
    uint64_t inner_offset = 0;
  };

  Outcome ReadPhysical(Fragment* fragment);
  Outcome ParseRecord(const char* p, size_t have, size_t room, Fragment* fragment);
  bool BearsNumber(const char* p, size_t have, uint8_t type) const;
  Outcome PassZeros(const char* p, size_t have);
  Outcome Bad(size_t bytes, const char* reason);
  Outcome Torn(const char* p, size_t have);
  bool IsUnfinishedTail(const char* p, size_t n) const;
  Step TakeBad(std::string* scratch, WALRecoveryMode mode);
  Step TakeControlRecord(const Fragment& fragment, WALRecoveryMode mode);
  Step TakeData(const Fragment& fragment, Slice* record, std::string* scratch,
                WALRecoveryMode mode);
  Step Deliver(const Slice& bytes, Slice* record, WALRecoveryMode mode);
  // Notes that `bytes` from `offset` on are lost. True if reading goes on after them.
  bool Damage(uint64_t offset, uint64_t bytes, const std::string& reason, bool torn,
              WALRecoveryMode mode, bool lacks_sector = false);
  // Reads to the end of the file. True if it was to search, and a record starts after the damage.
  bool CountRest(bool search);

  LogChunks chunks_;
  const uint64_t log_number_;
  const std::string name_;
  Reporter* const reporter_;

  bool ended_ = false;
  bool any_record_ = false;
  bool any_data_ = false;
  bool recycled_ = false;  // the first data is recyclable: a former log's bytes may follow ours
  bool ended_at_other_log_ = false;
  bool compressed_ = false;
  uint64_t zero_bytes_ = 0;  // passed since the last record, in regions that reach a block's end
  TimestampSizes timestamp_sizes_;
  LogDamage damage_;
  Status io_status_;

  OpenRecord open_;
  BadRegion bad_;
  std::string raw_;  // the last record, decompressed
  uint64_t last_offset_ = 0;
  uint64_t last_end_ = 0;
};

}  // namespace varve::wal
