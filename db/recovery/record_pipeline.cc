// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/record_pipeline.h"

#include <utility>

#include "db/write/batch_inserter.h"
#include "db/write/batch_reader.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"

namespace varve {

namespace {

constexpr size_t kChunkBytes = 128 << 10;
// Number of chunks: one is applied, one waits, and one is filled.
constexpr size_t kChunks = 3;
// Size of a log from which on a thread is worthwhile: reading this much takes about as long as
// starting the thread and waking it.
constexpr uint64_t kBytesWorthAThread = 1 << 20;

// Returns true if a thread should be started.
bool IsWorthAThread(uint64_t log_bytes) {
  return log_bytes >= kBytesWorthAThread;
}

}  // namespace

// Chunks allocate memory only for records, because the thread could not report other failed
// allocations.
RecordPipeline::RecordPipeline(wal::LogReader* reader, TimestampAdapter* adapter,
                               WALRecoveryMode mode, uint64_t log_bytes)
    : reader_(reader),
      adapter_(adapter),
      mode_(mode),
      chunks_(IsWorthAThread(log_bytes) ? kChunks : 1),
      pipeline_({.threads = IsWorthAThread(log_bytes) ? size_t{1} : 0, .places = chunks_.size()},
                {.prepare = nullptr, .finish = [this](size_t place, uint64_t* /*weight*/) {
                   FillChunk(&chunks_[place]);
                   return Status::OK();
                 }}) {
  // All chunks are given away to be filled. Weights are not used, as the number of chunks limits
  // memory.
  for (size_t i = 0; i < chunks_.size(); i++) pipeline_.Push(0);
}

void RecordPipeline::FillChunk(Chunk* chunk) {
  chunk->bytes.clear();
  chunk->entries.clear();
  const Status s = Guarded([&] { at_end_ = at_end_ || !ReadInto(chunk); });
  if (!s.ok()) {
    chunk->entries.clear();
    status_ =
        s.IsMemoryLimit() ? Status::MemoryLimit("replay of a log: no memory for its records") : s;
    at_end_ = true;
  }
  chunk->last = at_end_;
}

// Fills the chunk with checked and adapted records. The error of a record is stored with it
// (Entry), as the records before it must be applied first.
bool RecordPipeline::ReadInto(Chunk* chunk) {
  VARVE_ASSERT(!at_end_ && chunk->entries.empty());
  Slice record;
  while (chunk->bytes.size() < kChunkBytes) {
    if (!reader_->ReadRecord(&record, &scratch_, mode_)) return false;
    bool has_marks = false;
    Status s = CheckBatchStructure(record, &has_marks);
    if (s.ok()) s = adapter_->Adapt(record, reader_->timestamp_sizes(), &adapted_, &record);
    const size_t end = chunk->bytes.size() + record.size();
    chunk->entries.push_back(Chunk::Entry{end, reader_->LastRecordOffset(), reader_->damage().hole,
                                          has_marks, std::move(s)});
    chunk->bytes.append(record.data(), record.size());
  }
  return true;
}

// The current chunk is returned to the thread only now, when its last record is not used any more
// (Record::last_to_stay).
bool RecordPipeline::TakeChunk() {
  if (current_ != nullptr) {
    if (current_->last) return false;
    pipeline_.Push(0);  // To be filled again.
  }
  size_t place = 0;
  (void)pipeline_.Wait(0, &place);  // Filling does not fail.
  current_ = &chunks_[place];
  next_entry_ = 0;
  return true;
}

// Returns the next record of the current chunk, or waits for the next chunk.
bool RecordPipeline::Next(Record* record) {
  while (current_ == nullptr || next_entry_ == current_->entries.size()) {
    if (!TakeChunk()) return false;
  }
  const Chunk::Entry& entry = current_->entries[next_entry_];
  const size_t begin = next_entry_ == 0 ? 0 : current_->entries[next_entry_ - 1].end;
  VARVE_ASSERT(begin <= entry.end && entry.end <= current_->bytes.size());
  next_entry_++;
  record->bytes = Slice(current_->bytes.data() + begin, entry.end - begin);
  record->last_to_stay = next_entry_ == current_->entries.size();
  record->offset = entry.offset;
  record->after_hole = entry.after_hole;
  record->has_marks = entry.has_marks;
  record->structure = entry.structure;
  return true;
}

}  // namespace varve
