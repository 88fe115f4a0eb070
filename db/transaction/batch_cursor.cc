// SPDX-License-Identifier: Apache-2.0

// A cursor remembers its entry by the offset of the record. If the index has changed since, the
// place is found again by a search for the record's key; a rollback makes the cursor invalid, since
// the record may be gone.

#include "db/transaction/batch_cursor.h"

#include "util/base/assert.h"

namespace varve {

// The pin keeps strings alive that the batch has outgrown, so slices that were shown stay readable.
BatchCursor::BatchCursor(BatchIndex* index, BatchIndex::Family* family)
    : index_(index),
      pin_(index->Pin()),
      family_(family),
      changes_(index->changes()),
      rollbacks_(index->rollbacks()) {}

void BatchCursor::Start() {
  offset_ = 0;
  index_->CatchUp();
  rollbacks_ = index_->rollbacks();
}

void BatchCursor::GoTo(const KeyIndex::Place& place) {
  place_ = place;
  changes_ = index_->changes();
  offset_ = family_->keys.AtEnd(place) ? 0 : family_->keys.OffsetAt(place);
}

void BatchCursor::GoBefore(KeyIndex::Place place) {
  if (family_->keys.AtBegin(place)) {
    GoTo(family_->keys.End());
    return;
  }
  family_->keys.Prev(&place);
  GoTo(place);
}

KeyIndex::Place BatchCursor::place() {
  VARVE_ASSERT(Valid());
  if (IsBehind()) {
    place_ = family_->keys.Find(key(), offset_);
    changes_ = index_->changes();
    VARVE_ASSERT(family_->keys.OffsetAt(place_) == offset_);
  }
  return place_;
}

void BatchCursor::Next() {
  KeyIndex::Place at = place();
  family_->keys.Next(&at);
  GoTo(at);
}

void BatchCursor::Prev() {
  GoBefore(place());
}

// Usually the next entry is of another key already; only a key with several entries costs a search.
void BatchCursor::NextKey() {
  const Slice left = key();
  Next();
  if (Valid() && family_->icmp().EqualKey(key(), left)) GoTo(family_->keys.FindBehind(left));
}

void BatchCursor::PrevKey() {
  index_->CatchUp();
  GoBefore(family_->keys.Find(key()));
}

void BatchCursor::SeekToFirst() {
  Start();
  GoTo(family_->keys.Begin());
}

void BatchCursor::SeekToLast() {
  Start();
  GoBefore(family_->keys.End());
}

void BatchCursor::Seek(const Slice& key) {
  Start();
  GoTo(family_->keys.Find(key));
}

void BatchCursor::SeekBehind(const Slice& key) {
  Start();
  GoTo(family_->keys.FindBehind(key));
}

void BatchCursor::SeekForPrev(const Slice& key) {
  Start();
  GoBefore(family_->keys.FindBehind(key));
}

void BatchCursor::SeekBefore(const Slice& key) {
  Start();
  GoBefore(family_->keys.Find(key));
}

}  // namespace varve
