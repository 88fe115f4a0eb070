// SPDX-License-Identifier: Apache-2.0
#pragma once

// A log's records, read and checked by one thread while another applies those before.

#include <string>
#include <vector>

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/recovery/timestamp_adapter.h"
#include "db/wal/log_reader.h"
#include "util/sync/ordered_pipeline.h"

namespace varve {

// Thread safety: one thread calls Next.
class RecordPipeline {
 public:
  struct Record {
    // As the families want it. Until the first call of Next after that of a record with
    // last_to_stay.
    Slice bytes;
    bool last_to_stay = false;
    uint64_t offset = 0;
    bool after_hole = false;  // the reader has met a hole at or before this record
    bool has_marks = false;   // of two-phase commit
    // Of the batch that the record is; or it cannot be made what the families want.
    Status structure;
  };

  // The reader and the adapter outlive the pipeline, and are the pipeline's until Next has returned
  // false or the pipeline has gone. A thread is started only if log_bytes are worth one.
  RecordPipeline(wal::LogReader* reader, TimestampAdapter* adapter, WALRecoveryMode mode,
                 uint64_t log_bytes);

  // False at the end of what can be read: status() and the reader tell why.
  bool Next(Record* record);
  // MemoryLimit when there was no memory to read on; for the time after Next has returned false.
  const Status& status() const { return status_; }

 private:
  // Consecutive records, copied out of the reader.
  struct Chunk {
    struct Entry {
      size_t end = 0;  // in bytes
      uint64_t offset = 0;
      bool after_hole = false;
      bool has_marks = false;
      Status structure;
    };
    std::string bytes;
    std::vector<Entry> entries;
    bool last = false;  // the reader is at its end
  };

  // Reads until the chunk is full, or to the end of what can be read.
  void FillChunk(Chunk* chunk);
  // False: the reader is at its end (the chunk may hold records).
  bool ReadInto(Chunk* chunk);
  // The next filled chunk into current_. False when there is none and will be none.
  bool TakeChunk();

  wal::LogReader* const reader_;
  TimestampAdapter* const adapter_;
  const WALRecoveryMode mode_;
  // Of the thread that reads; the other side looks at status_ after it has seen the last chunk.
  std::string scratch_;
  std::string adapted_;
  bool at_end_ = false;
  Status status_;

  std::vector<Chunk> chunks_;
  Chunk* current_ = nullptr;  // what Next is in
  size_t next_entry_ = 0;
  // Its thread fills chunks, Next empties them; it is the first to go.
  OrderedPipeline pipeline_;
};

}  // namespace varve
