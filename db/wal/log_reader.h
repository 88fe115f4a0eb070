// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads logical records from a log, with each recovery mode's rules for damage.

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

// The damage that a reader met; totals for the recovery report.
struct LogDamage {
  uint64_t dropped_bytes = 0;
  uint64_t first_bad_offset = UINT64_MAX;  // Offset in the file; UINT64_MAX: no damage.
  std::string reason;                      // Reason of the first damage.
  bool torn_tail = false;  // An unfinished write explains the first damage: a log ends so.
  bool hole = false;       // A zero region is followed by other bytes.
};

// Thread safety: none.
class LogReader {
 public:
  // Is called with each damaged region (bytes skipped, reason).
  class Reporter {
   public:
    virtual ~Reporter() = default;
    virtual void Corruption(size_t bytes, const Status& status) = 0;
  };

  // Takes ownership of the file. log_number: 0 for a MANIFEST; a recyclable record of another
  // number ends the log. `reporter` may be null.
  LogReader(std::unique_ptr<SequentialFileReader> file, uint64_t log_number, std::string file_name,
            Reporter* reporter);
  ~LogReader();

  // Reads the next logical record into *record (its bytes are in the reader or *scratch and valid
  // until the next call). Returns false at the end of the log: io_status() then has a read error
  // (which never counts as an end), damage() what was dropped. Always makes progress.
  bool ReadRecord(Slice* record, std::string* scratch, WALRecoveryMode mode);

  // Returns the offset of the record that was returned last; 0 before the first.
  uint64_t LastRecordOffset() const { return last_offset_; }
  // Returns the end of that record and of the records of timestamp sizes after it that were read.
  uint64_t LastRecordEnd() const { return last_end_; }
  // Returns the timestamp sizes of families that the log has stated so far. Each ReadRecord may add
  // sizes; afterwards the sizes in force for the record that it returned are among them.
  const TimestampSizes& timestamp_sizes() const { return timestamp_sizes_; }
  const LogDamage& damage() const { return damage_; }
  // True if a record of the former log in this file ended the log: a power loss may have taken more
  // records of this one.
  bool EndedAtOtherLog() const { return ended_at_other_log_; }
  Status io_status() const { return io_status_; }

 private:
  // Result of searching a physical record.
  enum class Outcome {
    kRecord,
    kEnd,  // Nothing more to read, or io_status_ is set.
    kBad,  // bad_ has the reason.
  };
  enum class Step { kMore, kDelivered, kStop };
  // A power loss may take single sectors of the disk, which then read as zeros, from what was not
  // synced. Zeros where a record would have had bytes are the sign of that.
  struct Fragment {
    uint8_t type = 0;
    Slice payload;
    uint64_t offset = 0;
    bool after_zeros = false;          // More zeros than padding precede it.
    bool lacks_sector_before = false;  // Zeros precede it that may be a lost sector.
  };
  // Bytes that are not a record, and the reason.
  struct BadRegion {
    size_t bytes = 0;
    const char* reason = "";
    bool is_torn = false;       // An unfinished write explains it.
    bool lacks_sector = false;  // A lost sector explains it.
  };
  // The logical record that is being assembled.
  struct OpenRecord {
    bool begun = false;      // A first fragment was read, but no last one.
    bool resyncing = false;  // The rest of a record whose start was dropped may follow.
    uint64_t start = 0;
    // Bytes dropped inside the record on their own, and the last position of that.
    uint64_t inner_bytes = 0;
    uint64_t inner_offset = 0;
  };

  // Finds the next physical record, or a region that is none.
  Outcome ReadPhysical(Fragment* fragment);
  // Parses a physical record at p, where `have` bytes were read and `room` are left in the block.
  Outcome ParseRecord(const char* p, size_t have, size_t room, Fragment* fragment);
  // True if a record at p is of a recyclable type and has this log's number.
  bool BearsNumber(const char* p, size_t have, uint8_t type) const;
  // Skips the `have` bytes at p, which begin with zeros; kBad if they are not all zero.
  Outcome PassZeros(const char* p, size_t have);
  // Sets bad_, and returns kBad.
  Outcome Bad(size_t bytes, const char* reason);
  // Handles a record at p that claims more bytes than the file has.
  Outcome Torn(const char* p, size_t have);
  // True if the `n` bytes at p reach to the end of the file and contain no whole record, as the
  // rest of one unfinished append does.
  bool IsUnfinishedTail(const char* p, size_t n) const;
  // The following take what ReadPhysical has found. They return kDelivered if *record is set, and
  // kStop if reading ends.
  Step TakeBad(std::string* scratch, WALRecoveryMode mode);
  Step TakeControlRecord(const Fragment& fragment, WALRecoveryMode mode);
  Step TakeData(const Fragment& fragment, Slice* record, std::string* scratch,
                WALRecoveryMode mode);
  Step Deliver(const Slice& bytes, Slice* record, WALRecoveryMode mode);
  // Records that `bytes` from `offset` on are lost. Returns true if reading continues after them,
  // as only kSkipAnyCorruptedRecords does. `torn`: an unfinished write explains it, so the log ends
  // there in every mode. `lacks_sector`: a lost sector may explain it, which counts for a MANIFEST.
  bool Damage(uint64_t offset, uint64_t bytes, const std::string& reason, bool torn,
              WALRecoveryMode mode, bool lacks_sector = false);
  // Reads to the end of the file. Returns true if `search` is set and a record starts after the
  // damage.
  bool CountRest(bool search);

  // The file, read a chunk of blocks at a time.
  LogChunks chunks_;
  // Number of the log; 0: a MANIFEST.
  const uint64_t log_number_;
  const std::string name_;
  Reporter* const reporter_;

  // True: the log has ended, and ReadRecord returns false from now on.
  bool ended_ = false;
  // True once any record was read, and once one with data was.
  bool any_record_ = false;
  bool any_data_ = false;
  bool recycled_ = false;  // The first data is recyclable: bytes of a former log may follow.
  bool ended_at_other_log_ = false;
  // True if a compression record was first.
  bool compressed_ = false;
  uint64_t zero_bytes_ = 0;  // Skipped since the last record, in regions that end at a block's end.
  TimestampSizes timestamp_sizes_;
  LogDamage damage_;
  Status io_status_;

  OpenRecord open_;
  // The region that ReadPhysical has found last.
  BadRegion bad_;
  std::string raw_;  // The last record, decompressed.
  // Start and end of the record that was returned last.
  uint64_t last_offset_ = 0;
  uint64_t last_end_ = 0;
};

}  // namespace varve::wal
