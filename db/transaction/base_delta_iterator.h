// SPDX-License-Identifier: Apache-2.0
#pragma once

// An iterator over a column family as it would be after a batch was written.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/iterator.h"
#include "varve/options.h"
#include "varve/slice.h"
#include "varve/slice_transform.h"
#include "varve/status.h"

#include "db/transaction/batch_cursor.h"
#include "db/transaction/batch_lookup.h"

namespace varve {

// Walks two sources of keys: an iterator beneath, any one, and the batch. Of a key that both have,
// the batch speaks first. What a range deletion of the batch covers beneath is passed over by a
// step, and by a seek if that does not leave it.
//
// The base gets the user's own seeks, as it may keep to the prefix of what was sought. Within a
// prefix it is never sought elsewhere: it steps.
//
// Forward, each source stands on the key that is shown or on its next one after it, backward on the
// one before it; a turn is a seek in both. The batch may grow between two moves: then it is sought
// again from the key that is shown. What the batch has at that key counts no more until the next
// seek, and the key, of whichever source, stays where it is.
class BaseDeltaIterator final : public Iterator {
 public:
  // The bounds of `options`, which are null for none, and `column_family`, which may be null,
  // outlive it.
  BaseDeltaIterator(BatchIndex* index, BatchIndex::Family* family, std::unique_ptr<Iterator> base,
                    ColumnFamilyHandle* column_family, const ReadOptions* options);

  bool Valid() const override { return at_ != At::kNowhere && !cursor_.IsLost(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override { return at_ == At::kBase ? base_->key() : BytesOf(key_); }
  Slice value() const override {
    if (at_ == At::kBase) return base_->value();
    return is_merged_ ? Slice(merged_) : BytesOf(value_);
  }
  Slice timestamp() const override { return at_ == At::kBase ? base_->timestamp() : Slice(); }
  Status status() const override { return status_.ok() ? base_->status() : status_; }
  bool PrepareValue() override;
  using Iterator::Refresh;
  Status Refresh(const Snapshot* snapshot) override;

 private:
  // Which source has the key that is shown, and stands on it.
  enum class At : uint8_t { kNowhere, kBase, kBatch, kBoth };
  // Bytes of the batch, whose string may move.
  struct Piece {
    size_t at = 0;
    size_t size = 0;
  };

  [[nodiscard]] Slice BytesOf(const Piece& piece) const {
    return Slice(cursor_.batch().data() + piece.at, piece.size);
  }
  [[nodiscard]] Piece PieceOf(const Slice& bytes) const;
  template <typename Move>
  void Guarded(Move move);
  // To the first or the last key, whose prefix is then that of the walk.
  void SeekToEnd(bool forward);
  void Turn(bool forward);
  // Moves a base that stands before `key` to the first key at or after it.
  void MoveBaseUpTo(const Slice& key);
  // Moves a base that stands at or after `key` to the last key before it.
  void MoveBaseBelow(const Slice& key);
  // Within the bounds, if it was made without them.
  void KeepBaseWithinBounds();
  void FindShown();
  // Which source's key comes first in the direction of the walk: negative for the batch, 0 for
  // both. False at the end of both, or when the base has failed.
  bool NextSource(int* order);
  // By the bounds, or the prefix.
  [[nodiscard]] bool IsBeyondEnd(const Slice& key) const;
  void SetPrefixOf(const Slice& key);
  [[nodiscard]] bool IsInPrefix(const Slice& key) const;
  // The cursor's key as the batch has it. False if it is deleted; true if it is shown, or the walk
  // has failed.
  bool ShowOfBatch(bool is_in_base);
  bool PassCovered();

  [[nodiscard]] int Compare(const Slice& a, const Slice& b) const {
    return cursor_.family()->icmp().CompareKey(a, b);
  }
  const std::unique_ptr<Iterator> base_;
  BatchCursor cursor_;
  BatchMerger merger_;
  const Slice* lower_ = nullptr;
  const Slice* upper_ = nullptr;
  std::shared_ptr<const SliceTransform> extractor_;  // null unless walks end with the prefix
  bool has_prefix_ = false;
  std::string prefix_;
  bool forward_ = true;
  At at_ = At::kNowhere;
  Piece key_;
  Piece value_;
  bool is_merged_ = false;
  std::string merged_;
  Status status_;
};

}  // namespace varve
