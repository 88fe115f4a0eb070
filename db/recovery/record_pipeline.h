// SPDX-License-Identifier: Apache-2.0
#pragma once

// A log's records, read and checked by one thread while another applies those before.

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/recovery/timestamp_adapter.h"
#include "db/wal/log_reader.h"
#include "util/sync/mutex.h"

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
    // Of the batch that the record is; or it cannot be made what the families want.
    Status structure;
  };

  // The reader and the adapter outlive the pipeline, and are the pipeline's until Next has returned
  // false or the pipeline has gone. A thread is started only if log_bytes are worth one.
  RecordPipeline(wal::LogReader* reader, TimestampAdapter* adapter, WALRecoveryMode mode,
                 uint64_t log_bytes);
  // Stops reading.
  ~RecordPipeline();
  RecordPipeline(const RecordPipeline&) = delete;
  RecordPipeline& operator=(const RecordPipeline&) = delete;

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
      Status structure;
    };
    std::string bytes;
    std::vector<Entry> entries;
  };

  // Reads until the chunk is full. False: the reader is at its end (the chunk may hold records).
  bool FillChunk(Chunk* chunk);
  bool ReadInto(Chunk* chunk);
  void ReadAll();
  // The next filled chunk into current_. False when there is none and will be none.
  bool TakeChunk();

  wal::LogReader* const reader_;
  TimestampAdapter* const adapter_;
  const WALRecoveryMode mode_;
  // Of whoever reads; the other side looks at status_ after it has seen finished_.
  std::string scratch_;
  std::string adapted_;
  Status status_;

  std::unique_ptr<Chunk> current_ = std::make_unique<Chunk>();
  size_t next_entry_ = 0;
  bool at_end_ = false;  // without a thread: nothing is left to read

  Mutex mu_;
  CondVar changed_{&mu_};
  std::vector<std::unique_ptr<Chunk>> filled_ VARVE_GUARDED_BY(mu_);  // oldest first
  std::vector<std::unique_ptr<Chunk>> empty_ VARVE_GUARDED_BY(mu_);
  bool finished_ VARVE_GUARDED_BY(mu_) = false;   // the thread has read all
  bool abandoned_ VARVE_GUARDED_BY(mu_) = false;  // nobody wants more
  std::thread thread_;                            // not started for a small log
};

}  // namespace varve
