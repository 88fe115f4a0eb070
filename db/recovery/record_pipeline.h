// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and checks a log's records in one thread while another applies earlier ones.
//
//      reading thread     ReadRecord, CheckBatchStructure, Adapt  ->  chunk
//      pipeline_          chunk 0 | chunk 1 | ...                     filled and emptied in turn
//      caller of Next     records of the oldest filled chunk      ->  memtables
//
// A small log is not worth a thread: its only chunk is filled by the caller itself. Records are
// copied into the chunk, since the reader's memory is good for one record only.
//
// Errors of the reader belong to their place in the log: records before them are delivered first.
// So an error of the reader ends the chunk that is being filled, and Next returns false when it has
// emptied that chunk. Without memory for a chunk its records are lost, and status() says so.

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
    // The record in the form that the families need. It stays valid while Next returns further
    // records of the same chunk.
    Slice bytes;
    // True for the last record of a chunk: the next call of Next invalidates the bytes of this
    // record and of all before it.
    bool last_to_stay = false;
    uint64_t offset = 0;
    bool after_hole = false;  // There was a hole at or before this record.
    bool has_marks = false;   // It has marks of two-phase commit.
    // Structure of the record's batch, or the reason why it cannot be adapted to the families.
    Status structure;
  };

  // The reader and the adapter must outlive the pipeline, which uses them alone until Next has
  // returned false or it is destroyed. A thread is started only if log_bytes are enough to be worth
  // it.
  RecordPipeline(wal::LogReader* reader, TimestampAdapter* adapter, WALRecoveryMode mode,
                 uint64_t log_bytes);

  // Returns false at the end of the readable records; status() and the reader give the reason.
  bool Next(Record* record);
  // Returns MemoryLimit if there was no memory to continue. Valid after Next has returned false.
  const Status& status() const { return status_; }

 private:
  // Consecutive records, copied from the reader.
  struct Chunk {
    struct Entry {
      size_t end = 0;  // Position in bytes.
      uint64_t offset = 0;
      bool after_hole = false;
      bool has_marks = false;
      Status structure;
    };
    std::string bytes;
    std::vector<Entry> entries;
    bool last = false;  // The reader is at its end.
  };

  // Reads until the chunk is full or the readable records end.
  void FillChunk(Chunk* chunk);
  // Returns false if the reader is at its end (the chunk may hold records).
  bool ReadInto(Chunk* chunk);
  // Sets current_ to the next filled chunk. Returns false if there will be no more.
  bool TakeChunk();

  wal::LogReader* const reader_;
  TimestampAdapter* const adapter_;
  const WALRecoveryMode mode_;
  // These belong to the reading thread; the other side reads status_ after it has seen the last
  // chunk.
  std::string scratch_;
  std::string adapted_;
  bool at_end_ = false;
  Status status_;

  std::vector<Chunk> chunks_;
  Chunk* current_ = nullptr;  // The chunk that Next reads.
  size_t next_entry_ = 0;
  // The pipeline's thread fills chunks, and Next empties them. Must be destroyed first.
  OrderedPipeline pipeline_;
};

}  // namespace varve
