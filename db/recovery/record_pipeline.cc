// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/record_pipeline.h"

#include <utility>

#include "db/write/batch_inserter.h"
#include "db/write/batch_reader.h"
#include "util/base/caught_exception.h"

namespace varve {

namespace {

constexpr size_t kChunkBytes = 128 << 10;
// Chunks that circulate: one is applied, one waits, one is filled.
constexpr size_t kChunks = 3;
// Reading this much takes about as long as starting a thread and waking it now and then.
constexpr uint64_t kBytesWorthAThread = 1 << 20;

}  // namespace

RecordPipeline::RecordPipeline(wal::LogReader* reader, TimestampAdapter* adapter,
                               WALRecoveryMode mode, uint64_t log_bytes)
    : reader_(reader), adapter_(adapter), mode_(mode) {
  if (log_bytes < kBytesWorthAThread) return;
  // What goes around later asks for no memory: nobody could tell where a thread of its own has
  // none.
  filled_.reserve(kChunks);
  empty_.reserve(kChunks);
  for (size_t i = 1; i < kChunks; i++) empty_.push_back(std::make_unique<Chunk>());
  try {
    thread_ = std::thread([this] { ReadAll(); });
  } catch (...) {
    // No thread to be had: what it would have read is read between the records then.
  }
}

RecordPipeline::~RecordPipeline() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(&mu_);
    abandoned_ = true;
    changed_.SignalAll();
  }
  thread_.join();
}

bool RecordPipeline::FillChunk(Chunk* chunk) {
  bool more = false;
  const Status s = Guarded([&] { more = ReadInto(chunk); });
  if (s.ok()) return more;
  chunk->entries.clear();
  status_ =
      s.IsMemoryLimit() ? Status::MemoryLimit("replay of a log: no memory for its records") : s;
  return false;
}

bool RecordPipeline::ReadInto(Chunk* chunk) {
  chunk->bytes.clear();
  chunk->entries.clear();
  Slice record;
  while (chunk->bytes.size() < kChunkBytes) {
    if (!reader_->ReadRecord(&record, &scratch_, mode_)) return false;
    Status s = CheckBatchStructure(record);
    if (s.ok()) s = adapter_->Adapt(record, reader_->timestamp_sizes(), &adapted_, &record);
    const size_t end = chunk->bytes.size() + record.size();
    chunk->entries.push_back(
        Chunk::Entry{end, reader_->LastRecordOffset(), reader_->damage().hole, std::move(s)});
    chunk->bytes.append(record.data(), record.size());
  }
  return true;
}

void RecordPipeline::ReadAll() {
  MutexLock lock(&mu_);
  bool more = true;
  while (more && !abandoned_) {
    if (empty_.empty()) {
      changed_.Wait();
      continue;
    }
    std::unique_ptr<Chunk> chunk = std::move(empty_.back());
    empty_.pop_back();
    {
      MutexUnlock unlock(&mu_);
      more = FillChunk(chunk.get());
    }
    filled_.push_back(std::move(chunk));
    changed_.SignalAll();
  }
  finished_ = true;
  changed_.SignalAll();
}

bool RecordPipeline::TakeChunk() {
  next_entry_ = 0;
  if (!thread_.joinable()) {
    if (at_end_) return false;
    at_end_ = !FillChunk(current_.get());
    return true;
  }
  MutexLock lock(&mu_);
  while (filled_.empty() && !finished_) changed_.Wait();
  if (filled_.empty()) return false;
  empty_.push_back(std::move(current_));
  current_ = std::move(filled_.front());
  filled_.erase(filled_.begin());
  changed_.SignalAll();
  return true;
}

bool RecordPipeline::Next(Record* record) {
  while (next_entry_ == current_->entries.size()) {
    if (!TakeChunk()) {
      current_->entries.clear();
      return false;
    }
  }
  const Chunk::Entry& entry = current_->entries[next_entry_];
  const size_t begin = next_entry_ == 0 ? 0 : current_->entries[next_entry_ - 1].end;
  next_entry_++;
  record->bytes = Slice(current_->bytes.data() + begin, entry.end - begin);
  record->last_to_stay = next_entry_ == current_->entries.size();
  record->offset = entry.offset;
  record->after_hole = entry.after_hole;
  record->structure = entry.structure;
  return true;
}

}  // namespace varve
