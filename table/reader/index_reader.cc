// SPDX-License-Identifier: Apache-2.0

// The root of an index is read and checked when the table is opened, even if it will only be
// cached: a table with a damaged index fails at its opening and not at some later read. In an index
// of two levels the cursor holds one partition at a time, and goes to the next one when it walks
// over its end.

#include "table/reader/index_reader.h"

#include <utility>

#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {

// Partitions that are pinned are got here, all of them, so that later reads of them cannot fail.
Status IndexReader::Open(const BlockStore* store, const Options& options,
                         const BlockReadContext& context, std::unique_ptr<IndexReader>* reader) {
  std::unique_ptr<IndexReader> result(new IndexReader(store, options));
  BlockReadContext read = context;
  read.high_priority = options.high_priority;
  HandleGuard<DecodedIndex> root;
  if (options.residency == MetaResidency::kOwned) {
    std::unique_ptr<DecodedIndex> own;
    VARVE_RETURN_IF_ERROR(store->Read(options.root, read, &own));
    root = HandleGuard<DecodedIndex>(std::unique_ptr<const DecodedIndex>(std::move(own)));
  } else {
    VARVE_RETURN_IF_ERROR(store->Get(options.root, read, &root));
  }
  if (options.two_level && options.pin_partitions) {
    std::vector<HandleGuard<DecodedIndex>> partitions;
    for (size_t i = 0; i < root->size(); i++) {
      partitions.emplace_back();
      VARVE_RETURN_IF_ERROR(store->Get(root->handle(i), read, &partitions.back()));
    }
    result->partitions_ = std::move(partitions);
  }
  if (options.residency != MetaResidency::kCached) result->root_ = std::move(root);
  *reader = std::move(result);
  return Status::OK();
}

// The context may be that of a scan, whose prefetcher is for data blocks; here and in GetPartition,
// index blocks are read without it.
Status IndexReader::GetRoot(const BlockReadContext& context,
                            HandleGuard<DecodedIndex>* root) const {
  if (root_) [[likely]] {
    *root = HandleGuard<DecodedIndex>(root_.get());
    return Status::OK();
  }
  BlockReadContext read = context;
  read.prefetcher = nullptr;
  read.high_priority = options_.high_priority;
  return store_->Get(options_.root, read, root);
}

Status IndexReader::GetPartition(const BlockReadContext& context, const DecodedIndex& root,
                                 size_t i, HandleGuard<DecodedIndex>* partition) const {
  if (i < partitions_.size()) {
    *partition = HandleGuard<DecodedIndex>(partitions_[i].get());
    return Status::OK();
  }
  BlockReadContext read = context;
  read.prefetcher = nullptr;
  read.high_priority = options_.high_priority;
  return store_->Get(root.handle(i), read, partition);
}

size_t IndexReader::MemoryUsage() const {
  size_t sum = sizeof(*this);
  if (root_ && !root_.shareable()) sum += root_->MemoryUsage();
  for (const HandleGuard<DecodedIndex>& partition : partitions_) {
    if (!partition.shareable()) sum += partition->MemoryUsage();
  }
  return sum;
}

// Every seek begins here, and so takes back the error of the one before.
bool IndexCursor::LoadRoot() {
  if (!status_.ok()) [[unlikely]]
    status_ = Status::OK();
  leaf_ = nullptr;
  if (root_) [[likely]]
    return true;
  status_ = reader_->GetRoot(context_, &root_);
  return status_.ok();
}

// Makes leaf_ the partition at top_pos_, or the root in an index of one level; after a failure
// leaf_ is null, and the cursor not Valid().
bool IndexCursor::LoadLeaf() {
  if (!reader_->two_level()) [[likely]] {
    leaf_ = root_.get();
    return true;
  }
  leaf_ = nullptr;
  if (top_pos_ >= root_->size()) return false;
  // A cursor that goes back and forth within a partition, or seeks into it again, gets it only
  // once.
  if (loaded_partition_ != top_pos_) {
    loaded_partition_ = SIZE_MAX;
    status_ = reader_->GetPartition(context_, *root_, top_pos_, &partition_);
    if (!status_.ok()) return false;
    loaded_partition_ = top_pos_;
  }
  leaf_ = partition_.get();
  return true;
}

void IndexCursor::Seek(const Slice& target) {
  if (!LoadRoot()) return;
  const InternalKeyComparator& icmp = *reader_->store().icmp;
  if (!reader_->two_level()) [[likely]] {
    leaf_ = root_.get();
    pos_ = leaf_->Seek(icmp, target);
    return;
  }
  // A partition's separator is that of its last entry, so the entry is in this partition; the loop
  // is for files that violate this.
  for (top_pos_ = root_->Seek(icmp, target); LoadLeaf(); top_pos_++) {
    pos_ = leaf_->Seek(icmp, target);
    if (pos_ < leaf_->size()) return;
  }
}

void IndexCursor::SeekToFirst() {
  if (!LoadRoot()) return;
  pos_ = 0;
  if (!reader_->two_level()) {
    leaf_ = root_.get();
    return;
  }
  for (top_pos_ = 0; LoadLeaf(); top_pos_++) {
    if (leaf_->size() != 0) return;
  }
}

void IndexCursor::SeekToLast() {
  if (!LoadRoot()) return;
  if (!reader_->two_level()) {
    leaf_ = root_.get();
    pos_ = leaf_->size() - 1;  // wraps to an invalid position if the index is empty
    return;
  }
  for (top_pos_ = root_->size(); top_pos_-- > 0;) {
    if (!LoadLeaf()) return;
    if (leaf_->size() != 0) {
      pos_ = leaf_->size() - 1;
      return;
    }
  }
  Invalidate();
}

void IndexCursor::Next() {
  VARVE_ASSERT(Valid());
  pos_++;
  if (pos_ < leaf_->size()) [[likely]]
    return;
  if (!reader_->two_level()) return;
  pos_ = 0;
  for (top_pos_++; LoadLeaf(); top_pos_++) {
    if (leaf_->size() != 0) return;
  }
}

// Partitions without entries, which only other writers make, are passed over.
void IndexCursor::Prev() {
  VARVE_ASSERT(Valid());
  if (pos_ > 0) {
    pos_--;
    return;
  }
  if (reader_->two_level()) {
    while (top_pos_-- > 0) {
      if (!LoadLeaf()) return;
      if (leaf_->size() != 0) {
        pos_ = leaf_->size() - 1;
        return;
      }
    }
  }
  Invalidate();
}

}  // namespace varve
