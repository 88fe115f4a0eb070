// SPDX-License-Identifier: Apache-2.0
#pragma once

// RecordPipeline reads and checks a log's records on one thread while another thread applies
// earlier ones.
//
//      reading thread     ReadRecord, CheckBatchStructure, Adapt  ->  chunk
//      pipeline_          chunk 0 | chunk 1 | ...                     filled and emptied in turn
//      caller of Next     records of the oldest filled chunk      ->  memtables
//
// For a small log no thread is started: Next fills the only chunk. Records are copied into the
// chunk, since the reader's memory is valid for one record only.
//
// Records before an error of the reader are returned first: an error ends the chunk that is being
// filled, and Next returns false when that chunk is empty. If there is no memory for a chunk, its
// records are lost, and status() returns that.

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
    // True for the last record of a chunk: the next call of Next invalidates this record and all
    // before it.
    bool last_to_stay = false;
    uint64_t offset = 0;
    // There was a hole before this record: zeros in place of records that a power loss has taken.
    bool after_hole = false;
    bool has_marks = false;  // It has marks of two-phase commit.
    // OK, or the error of the batch's structure or of its adaptation to the families.
    Status structure;
  };

  // The reader and the adapter must outlive the pipeline, and must not be used otherwise until Next
  // has returned false or the pipeline is destroyed. A thread is started only if log_bytes, the
  // size of the log, is large enough.
  RecordPipeline(wal::LogReader* reader, TimestampAdapter* adapter, WALRecoveryMode mode,
                 uint64_t log_bytes);

  // Returns false at the end of the readable records; status() and the reader give the reason.
  bool Next(Record* record);
  // Returns MemoryLimit if an allocation has failed. Valid after Next has returned false.
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
  // Returns false if the reader is at its end; the chunk may still have records.
  bool ReadInto(Chunk* chunk);
  // Sets current_ to the next filled chunk. Returns false if there will be no more.
  bool TakeChunk();

  wal::LogReader* const reader_;
  TimestampAdapter* const adapter_;
  const WALRecoveryMode mode_;
  // Used by the reading thread only, except that status_ is read after the last chunk.
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
