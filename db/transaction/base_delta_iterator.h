// SPDX-License-Identifier: Apache-2.0
#pragma once

// BaseDeltaIterator iterates over a column family as it would be after a batch is written.

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

// Merges two sources of keys: a base iterator of any kind, and the batch. If both have a key, the
// batch's updates apply first. Base keys covered by a range deletion of the batch are skipped by
// single steps, or by a seek if it does not leave the covered range.
//
// The base receives the user's own seeks, since it may restrict itself to the prefix of the target.
// Within a prefix it is never sought to another key: it steps.
//
// Forward, each source stands on the shown key or on its next key after it, backward on its last
// key before it; a change of direction seeks in both. The batch may grow between two moves: then it
// is sought again from the shown key. Updates that the batch has gained for that key are ignored
// until the next seek, and the shown key does not move, whichever source it is from.
class BaseDeltaIterator final : public Iterator {
 public:
  // The bounds of `options` (null means none) and `column_family`, which may be null, must outlive
  // the iterator.
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
  Slice value() const override;
  const WideColumns& columns() const override;
  Slice timestamp() const override { return at_ == At::kBase ? base_->timestamp() : Slice(); }
  Status status() const override { return status_.ok() ? base_->status() : status_; }
  bool PrepareValue() override;
  using Iterator::Refresh;
  Status Refresh(const Snapshot* snapshot) override;

 private:
  // Says which sources stand on the shown key.
  enum class At : uint8_t { kNowhere, kBase, kBatch, kBoth };
  // A range of bytes in the batch, whose string may move.
  struct Piece {
    size_t at = 0;
    size_t size = 0;
  };

  // Returns the bytes of the batch at that place.
  [[nodiscard]] Slice BytesOf(const Piece& piece) const {
    return Slice(cursor_.batch().data() + piece.at, piece.size);
  }
  // Returns the place of bytes that lie in the batch.
  [[nodiscard]] Piece PieceOf(const Slice& bytes) const;
  // Runs a move of the iterator. An exception, as of a comparator, leaves it invalid with a status.
  template <typename Move>
  void Guarded(Move move);
  // Moves to the first or the last key, whose prefix then limits the iteration.
  void SeekToEnd(bool forward);
  // Changes the direction: both sources seek to the other side of the shown key.
  void Turn(bool forward);
  // Moves the base from a position before `key` to the first key at or after it.
  void MoveBaseUpTo(const Slice& key);
  // Moves the base from a position at or after `key` to the last key before it.
  void MoveBaseBelow(const Slice& key);
  // Moves a base that was made without bounds into those of the options.
  void KeepBaseWithinBounds();
  // Finds the next key to show from where the sources stand, passing what is deleted or out of
  // bounds.
  void FindShown();
  // Compares the sources' keys in the direction of the iteration: *order is negative if the batch's
  // key comes first, 0 if the keys are equal, positive if the base's comes first. Returns false if
  // both sources are at their end, or the base has failed.
  bool NextSource(int* order);
  // True if the key is beyond the bounds or the prefix.
  [[nodiscard]] bool IsBeyondEnd(const Slice& key) const;
  // Limits the iteration to the prefix of the key, if the options ask for it.
  void SetPrefixOf(const Slice& key);
  // True if the key has the prefix that limits the iteration.
  [[nodiscard]] bool IsInPrefix(const Slice& key) const;
  // Returns the value that is not the base's, in its stored form.
  [[nodiscard]] Slice Stored() const { return is_merged_ ? Slice(merged_) : BytesOf(value_); }
  // Merges the operands of `answer` with the base value: the batch's own if it has one, otherwise
  // that of the base iterator if `is_in_base`. The result is in merged_. Returns false after an
  // error of the base or of the merge.
  bool MergeShown(const Slice& key, const BatchAnswer& answer, bool is_in_base);
  // Computes the value of the cursor's key; `is_in_base`: the base stands on the same key. Returns
  // false if the batch deletes the key, true if it is shown or the iteration has failed.
  bool ShowOfBatch(bool is_in_base);
  // Moves the base past the range deletion of the batch that covers its key. Returns false, without
  // a move, if its key is not covered.
  bool PassCovered();

  [[nodiscard]] int Compare(const Slice& a, const Slice& b) const {
    return cursor_.family()->icmp().CompareKey(a, b);
  }

  // The base, and the position among the batch's updates.
  const std::unique_ptr<Iterator> base_;
  BatchCursor cursor_;
  BatchMerger merger_;
  // Bounds of the options; null: none.
  const Slice* lower_ = nullptr;
  const Slice* upper_ = nullptr;
  std::shared_ptr<const SliceTransform> extractor_;  // Null unless the prefix limits the iteration.
  // The prefix that the iteration stays in, if the options ask for one.
  bool has_prefix_ = false;
  std::string prefix_;
  // Direction in which base and cursor stand ready.
  bool forward_ = true;
  // Where the current entry comes from.
  At at_ = At::kNowhere;
  Piece key_;
  Piece value_;
  // True if the value is the result of a merge, in merged_.
  bool is_merged_ = false;
  bool is_entity_ = false;  // True if the value is an entity in its stored form, which was checked.
  // Columns of the shown entry, decoded when they are first asked for.
  mutable WideColumns columns_;
  // Result of the last merge.
  std::string merged_;
  Status status_;
};

}  // namespace varve
