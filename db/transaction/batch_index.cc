// SPDX-License-Identifier: Apache-2.0

// Additions are noted as ranges of bytes, in constant time, and indexed by the next read. A
// rollback shortens the notes. What was indexed after the new end is removed from the index record
// by record, newest first; if that would be most of the index, all of it is forgotten and indexed
// again later.
//
// Counters tell cursors what has happened: changes_ that their place must be searched again,
// rollbacks_ that their entry may no longer exist.

#include "db/transaction/batch_index.h"

#include <algorithm>
#include <utility>

#include "varve/db.h"

#include "util/base/caught_exception.h"

namespace varve {

namespace {

// True for updates of keys and ranges; log data and marks of two-phase commit are not indexed.
bool IsIndexed(ValueType type) {
  return type == kTypeValue || type == kTypeMerge || type == kTypeDeletion ||
         type == kTypeSingleDeletion || type == kTypeRangeDeletion || type == kTypeWideColumnEntity;
}

}  // namespace

BatchIndex::BatchIndex(std::string* batch, const Comparator* backup)
    : batch_(batch),
      backup_(backup != nullptr ? backup : BytewiseComparator()),
      noted_(kBatchHeaderBytes),
      done_(kBatchHeaderBytes),
      timestamp_bytes_max_(backup_->timestamp_size()) {}

std::shared_ptr<BatchIndex::Outgrown> BatchIndex::Pin() {
  std::shared_ptr<Outgrown> outgrown = outgrown_.lock();
  if (outgrown == nullptr) {
    outgrown = std::make_shared<Outgrown>();
    outgrown_ = outgrown;
  }
  return outgrown;
}

void BatchIndex::NoteTimestamps(const Comparator* comparator) {
  timestamp_bytes_max_ = std::max(timestamp_bytes_max_, comparator->timestamp_size());
}

// Everything that NoteAdded needs is made here: it comes after the record is in the batch, and must
// not fail.
void BatchIndex::BeforeAdding(size_t bytes, ColumnFamilyHandle* column_family) {
  if (column_family != nullptr && column_family != last_handle_) {
    // Records have only the family's id; its comparator is learned from the handle here.
    FindFamily(column_family->GetID(), column_family->GetComparator());
    last_handle_ = column_family;
  }
  if (notes_.size() == notes_.capacity()) notes_.reserve(2 * notes_.size() + 1);
  const size_t room = bytes + 2 * timestamp_bytes_max_;  // Both ends of a range have one.
  if (batch_->capacity() - batch_->size() < room) [[unlikely]]
    MoveToLarger(room);
}

// Without cursors no bytes are shown, and the string may move when it grows.
void BatchIndex::MoveToLarger(size_t bytes) {
  const std::shared_ptr<Outgrown> outgrown = outgrown_.lock();
  if (outgrown == nullptr) return;
  std::string larger;
  larger.reserve(std::max(batch_->size() + bytes, 2 * batch_->capacity()));
  larger.assign(*batch_);
  outgrown->emplace_back().swap(*batch_);
  batch_->swap(larger);
}

void BatchIndex::NoteAdded(size_t from) noexcept {
  if (from < noted_) [[unlikely]] {
    // The caller of GetWriteBatch() has truncated the batch without a note.
    Forget();
    TrimNotes(from);
  }
  if (!notes_.empty() && notes_.back().to == from) [[likely]] {
    notes_.back().to = batch_->size();
  } else {
    VARVE_ASSERT(notes_.size() < notes_.capacity());
    notes_.push_back({from, batch_->size()});
  }
  noted_ = batch_->size();
}

BatchIndex::Family* BatchIndex::FindFamily(uint32_t id, const Comparator* comparator) {
  if (last_family_ == nullptr || last_id_ != id) {
    auto at = families_.find(id);
    if (at == families_.end()) {
      const Comparator* const order = comparator != nullptr ? comparator : backup_;
      at = families_.emplace(id, std::make_unique<Family>(batch_, order)).first;
      NoteTimestamps(order);
    }
    last_id_ = id;
    last_family_ = at->second.get();
  }
  Family* const family = last_family_;
  if (comparator != nullptr && family->icmp().user_comparator() != comparator) [[unlikely]] {
    // The family was first met without a handle, or by one with another comparator. All of the
    // index is made again, with the family in the order of this handle.
    Forget();
    NoteTimestamps(comparator);
    family->keys.SetComparator(InternalKeyComparator(comparator));
    family->ranges.SetComparator(InternalKeyComparator(comparator));
  }
  return family;
}

BatchIndex::Family* BatchIndex::Get(ColumnFamilyHandle* column_family) {
  Family* const family = column_family == nullptr
                             ? FindFamily(0, nullptr)
                             : FindFamily(column_family->GetID(), column_family->GetComparator());
  CatchUp();
  return family;
}

void BatchIndex::ForEachFamily(const std::function<void(uint32_t, Family&)>& visit) {
  CatchUp();
  for (auto& [id, family] : families_) visit(id, *family);
}

// A failure forgets the whole index, as a part of it would answer reads wrongly; the notes remain,
// and the next read begins anew.
void BatchIndex::IndexNoted() {
  if (batch_->size() < noted_) {
    Forget();  // The batch was truncated without a note.
    TrimNotes(batch_->size());
  }
  changes_++;
  try {
    for (const Stretch& stretch : notes_) {
      if (stretch.to > done_) IndexFrom(std::max(stretch.from, done_), stretch.to);
    }
    for (auto& [id, family] : families_) {
      if (family->added.empty()) continue;
      family->keys.InsertAll(family->added);
      family->added.clear();
    }
  } catch (...) {
    Forget();
    throw;
  }
  done_ = noted_;
}

// Damaged bytes end the loop: they are not indexed, and the write of the batch reports them.
void BatchIndex::IndexFrom(size_t from, size_t to) {
  BatchReader reader(Slice(batch_->data(), to), from);
  BatchRecord record;
  for (size_t offset = from; offset < to && reader.Next(&record); offset = reader.offset()) {
    if (!IsIndexed(record.type)) continue;
    Family* const family = FindFamily(record.column_family, nullptr);
    if (record.type == kTypeRangeDeletion) {
      family->ranges.Add(static_cast<uint32_t>(offset));
    } else {
      family->added.push_back(static_cast<uint32_t>(offset));
    }
  }
}

// Forgets what was indexed, and none of the notes.
void BatchIndex::Forget() noexcept {
  for (auto& [id, family] : families_) {
    family->keys.Clear();
    family->ranges.Clear();
    family->added.clear();
  }
  done_ = kBatchHeaderBytes;
  changes_++;
}

void BatchIndex::TrimNotes(size_t bytes) noexcept {
  while (!notes_.empty() && notes_.back().from >= bytes) notes_.pop_back();
  if (!notes_.empty()) notes_.back().to = std::min(notes_.back().to, bytes);
  noted_ = notes_.empty() ? kBatchHeaderBytes : notes_.back().to;
  rollbacks_++;
}

void BatchIndex::RollBack(size_t bytes) noexcept {
  VARVE_ASSERT(done_ <= noted_);
  last_handle_ = nullptr;  // The handle may be deleted, and its address reused.
  bytes = std::max(bytes, kBatchHeaderBytes);
  // Without notes nothing was indexed, and no cursor stands on a record.
  if (noted_ <= bytes && notes_.empty()) return;
  if (done_ > bytes) {
    // Forgets everything if less is left than removed, or if there is no memory to undo single
    // records.
    const bool is_most = done_ - bytes > bytes;
    if (is_most || batch_->size() < done_ || !TakeOut(bytes)) Forget();
  }
  TrimNotes(bytes);
  done_ = std::min(done_, noted_);
  changes_++;
}

bool BatchIndex::TakeOut(size_t from) noexcept {
  struct Undone {
    Family* family;
    uint32_t offset;
  };
  const Status s = Guarded([&] {
    std::vector<Undone> undone;
    for (const Stretch& stretch : notes_) {
      const size_t to = std::min(stretch.to, done_);
      size_t offset = std::max(stretch.from, from);
      if (offset >= to) continue;
      BatchReader reader(Slice(batch_->data(), to), offset);
      BatchRecord record;
      for (; offset < to && reader.Next(&record); offset = reader.offset()) {
        if (!IsIndexed(record.type) || record.type == kTypeRangeDeletion) continue;
        undone.push_back(
            {FindFamily(record.column_family, nullptr), static_cast<uint32_t>(offset)});
      }
    }
    // The newest is removed first, because KeyIndex::Remove takes only the newest record there is.
    for (auto it = undone.rbegin(); it != undone.rend(); ++it) it->family->keys.Remove(it->offset);
  });
  if (!s.ok()) return false;
  for (auto& [id, family] : families_) family->ranges.RollBack(from);
  done_ = from;
  return true;
}

}  // namespace varve
