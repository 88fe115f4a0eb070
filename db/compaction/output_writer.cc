// SPDX-License-Identifier: Apache-2.0

// Implements the main loop of every flush and compaction.

#include "db/compaction/output_writer.h"

#include <utility>

#include "db/compaction/entry_pipeline.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/sync/give_way.h"

namespace varve {

namespace {

// Number of entries that may pass before a failed write is noticed.
constexpr uint32_t kEntriesPerCheck = 1024;
// Fewer entries with fewer bytes are written faster than a thread is started.
constexpr uint64_t kEntriesWorthAThread = 1024;
constexpr uint64_t kBytesWorthAThread = 1 << 20;

// True if the job has a pace and is not in a hurry: then one thread is enough, and a second one
// would delay other work.
bool IsNotUrgent() {
  const WorkPace* const pace = GiveWay::CurrentPace();
  return pace != nullptr && pace->urgency() != Urgency::kHurry;
}

}  // namespace

OutputWriter::OutputWriter(OutputSplitter* splitter, const SurvivingTombstones* tombstones,
                           OpenOutput open, bool own_thread, BlobOutput* blobs)
    : splitter_(splitter),
      tombstones_(tombstones),
      open_(std::move(open)),
      own_thread_(own_thread),
      blobs_(blobs) {}

// Small jobs are done in this thread. A larger one goes on here, in portions, as long as it is not
// urgent (IsNotUrgent). From then on, or without a pace from the beginning, a second thread
// builds tables while this one reads and merges, unless own_thread_ is false.
Status OutputWriter::Run(CompactionIterator* iterator, const Slice* begin, const Slice* end,
                         const std::function<Status()>& check) {
  VARVE_ASSERT(output_ == nullptr && files_.empty());
  has_lower_ = begin != nullptr;
  if (has_lower_) lower_ = begin->ToString();
  do {
    VARVE_RETURN_IF_ERROR(TakeEntries(iterator));
  } while (iterator->Valid() && IsNotUrgent());
  if (iterator->Valid()) VARVE_RETURN_IF_ERROR(TakeEntriesBeside(iterator));
  VARVE_RETURN_IF_ERROR(iterator->status());
  if (check != nullptr) VARVE_RETURN_IF_ERROR(check());
  // If it fails, the last table is not finished and will not stay either.
  if (blobs_ != nullptr) VARVE_RETURN_IF_ERROR(blobs_->Finish());
  return FinishFile(end);
}

Status OutputWriter::TakeEntries(CompactionIterator* iterator) {
  uint64_t entries = 0;
  uint64_t bytes = 0;
  for (; iterator->Valid(); iterator->Next()) {
    if (own_thread_ && (entries >= kEntriesWorthAThread || bytes >= kBytesWorthAThread)) break;
    entries++;
    bytes += iterator->key().size() + iterator->value().size();
    VARVE_RETURN_IF_ERROR(
        TakeEntry(iterator->key(), iterator->value(), iterator->starts_user_key()));
  }
  return Status::OK();
}

// Entries go through chunks in order, so the tables are the same as with one thread. An entry too
// large for a chunk is taken here, after all before it.
Status OutputWriter::TakeEntriesBeside(CompactionIterator* iterator) {
  const auto take = [this](const Slice& key, const Slice& value, bool starts_user_key) {
    GiveWay::Step();
    return TakeEntry(key, value, starts_user_key);
  };
  EntryPipeline pipeline([&take](const EntryChunk& chunk) { return chunk.ForEach(take); });
  for (; iterator->Valid(); iterator->Next()) {
    const Slice key = iterator->key();
    const Slice& value = iterator->value();
    if (EntryChunk::CanHold(key, value)) [[likely]] {
      if (!pipeline.Add(key, value, iterator->starts_user_key())) break;
    } else {
      VARVE_RETURN_IF_ERROR(pipeline.Sync());
      VARVE_RETURN_IF_ERROR(TakeEntry(key, value, iterator->starts_user_key()));
    }
  }
  VARVE_RETURN_IF_ERROR(pipeline.Sync());
  helper_cpu_micros_ += pipeline.Stop();
  return Status::OK();
}

// A file is opened with its first entry, so that no file is made for nothing. The table's status is
// asked only now and then: a failed table drops what is added, and Finish reports it in any case.
Status OutputWriter::TakeEntry(const Slice& key, const Slice& value, bool starts_user_key) {
  if (starts_user_key && output_ != nullptr && splitter_ != nullptr) {
    const auto reaches = [this](uint64_t bytes) { return output_->builder()->Reaches(bytes); };
    const Slice next = splitter_->KeyOf(key);
    const uint64_t open_bytes =
        splitter_->HasPartitioner() ? output_->builder()->EstimatedFileSize() : 0;
    if (splitter_->ShouldStopBefore(next, reaches, open_bytes)) {
      VARVE_RETURN_IF_ERROR(FinishFile(&next));
    }
  }
  if (output_ == nullptr) [[unlikely]] {
    VARVE_RETURN_IF_ERROR(open_(&output_));
    if (splitter_ != nullptr) splitter_->StartFile(splitter_->KeyOf(key));
  }
  if (!starts_user_key) output_->NoteHidden();
  if (blobs_ == nullptr) [[likely]] {
    output_->Add(key, value);
  } else {
    VARVE_RETURN_IF_ERROR(AddApart(key, value));
  }
  if (until_check_-- == 0) [[unlikely]] {
    until_check_ = kEntriesPerCheck;
    return output_->builder()->status();
  }
  return Status::OK();
}

Status OutputWriter::AddApart(Slice key, Slice value) {
  VARVE_RETURN_IF_ERROR(blobs_->Take(&key, &value));
  output_->Add(key, value);
  return Status::OK();
}

// Tombstones are cut at the borders of tables: each table gets the pieces between its own begin and
// that of the next, also where it has no entries.
Status OutputWriter::FinishFile(const Slice* upper) {
  if (!tombstones_->empty()) {
    const Slice lower(lower_);
    const auto pieces =
        tombstones_->Within(has_lower_ ? &lower : nullptr, upper, &expired_tombstones_);
    if (!pieces.empty() && output_ == nullptr) VARVE_RETURN_IF_ERROR(open_(&output_));
    for (const SurvivingTombstones::Piece& piece : pieces) {
      output_->AddTombstone(piece.begin, piece.end, piece.sequence, piece.timestamp);
    }
  }
  if (output_ != nullptr) {
    NewFile file;
    VARVE_RETURN_IF_ERROR(output_->Finish(&file));
    if (blobs_ != nullptr) blobs_->DescribeTable(&file);
    files_.push_back(std::move(file));
    properties_.push_back(output_->builder()->properties());
    VARVE_ASSERT(files_.size() == properties_.size());
    times_.Add(output_->times());
    helper_cpu_micros_ += output_->builder()->helper_cpu_micros();
    output_.reset();
  }
  if (upper != nullptr) {
    has_lower_ = true;
    lower_ = upper->ToString();
  }
  return Status::OK();
}

}  // namespace varve
