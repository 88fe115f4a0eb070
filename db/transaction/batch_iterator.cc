// SPDX-License-Identifier: Apache-2.0

// Two entries of the index may be one after the other and yet not both shown:
//
//      entries of one key, newest first:   merge d | merge c | put b | delete a
//      shown with overwrite_key:           merge d   merge c   put b

#include "db/transaction/batch_iterator.h"

#include <utility>

#include "db/write/batch_reader.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"

namespace varve {

namespace {

// Returns the record at an offset; its type is kTypeMax if the bytes are damaged.
BatchRecord RecordAt(const KeyIndex& keys, uint32_t offset) {
  BatchReader reader(keys.batch(), offset);
  BatchRecord record;
  if (!reader.Next(&record)) record.type = kTypeMax;
  return record;
}

// Returns the public type of an update; kUnknownRecord for a record that is no entry of the index.
WriteType WriteTypeOf(ValueType type) {
  switch (type) {
    case kTypeValue:
      return kPutRecord;
    case kTypeMerge:
      return kMergeRecord;
    case kTypeWideColumnEntity:
      return kPutEntityRecord;
    case kTypeDeletion:
      return kDeleteRecord;
    case kTypeSingleDeletion:
      return kSingleDeleteRecord;
    default:
      return kUnknownRecord;
  }
}

}  // namespace

template <typename Move>
void BatchIterator::Guarded(Move move) {
  status_ = varve::Guarded(move);
}

void BatchIterator::SeekToFirst() {
  Guarded([&] { cursor_.SeekToFirst(); });
}

void BatchIterator::Seek(const Slice& key) {
  Guarded([&] { cursor_.Seek(key); });
}

void BatchIterator::SeekToLast() {
  Guarded([&] {
    cursor_.SeekToLast();
    PassOverwritten();
  });
}

void BatchIterator::SeekForPrev(const Slice& key) {
  Guarded([&] {
    cursor_.SeekForPrev(key);
    PassOverwritten();
  });
}

void BatchIterator::Next() {
  VARVE_ASSERT(Valid());
  Guarded([&] {
    const KeyIndex& keys = cursor_.family()->keys;
    // An update that is no merge overwrites all older ones of its key.
    if (overwrites_ && RecordAt(keys, cursor_.offset()).type != kTypeMerge) {
      cursor_.NextKey();
    } else {
      cursor_.Next();
    }
  });
}

// Within a key, whatever is newer than a shown update is shown, too; only at another key there may
// be overwritten updates to pass.
void BatchIterator::Prev() {
  VARVE_ASSERT(Valid());
  Guarded([&] {
    const Slice left = cursor_.key();
    cursor_.Prev();
    if (cursor_.Valid() && !cursor_.family()->icmp().EqualKey(cursor_.key(), left)) {
      PassOverwritten();
    }
  });
}

// A backward walk comes to the oldest entry of a key first. From there it goes to the newest entry,
// and on to the oldest one that is shown.
void BatchIterator::PassOverwritten() {
  if (!overwrites_ || !cursor_.Valid()) return;
  const uint32_t oldest = cursor_.offset();
  cursor_.Seek(cursor_.key());
  const KeyIndex& keys = cursor_.family()->keys;
  while (cursor_.offset() != oldest && RecordAt(keys, cursor_.offset()).type == kTypeMerge) {
    cursor_.Next();
  }
}

WriteEntry BatchIterator::Entry() const {
  VARVE_ASSERT(Valid());
  const KeyIndex& keys = cursor_.family()->keys;
  const BatchRecord record = RecordAt(keys, cursor_.offset());
  return {WriteTypeOf(record.type), keys.icmp().WithoutTimestamp(record.key), record.value};
}

template <typename Visit>
void BatchIterator::VisitOlder(const Visit& visit) const {
  BestEffort([&] {
    const KeyIndex& keys = cursor_.family()->keys;
    KeyIndex::Place at = cursor_.place();
    const Slice key = keys.KeyAt(at);
    for (; !keys.AtEnd(at) && keys.icmp().EqualKey(keys.KeyAt(at), key); keys.Next(&at)) {
      visit(RecordAt(keys, keys.OffsetAt(at)));
    }
  });
}

uint32_t BatchIterator::GetUpdateCount() const {
  uint32_t count = 0;
  VisitOlder([&](const BatchRecord& /*record*/) { count++; });
  return count;
}

uint32_t BatchIterator::CountOverwrittenSingleDeletes() const {
  if (!overwrites_) return 0;
  uint32_t count = 0;
  bool hidden = false;
  VisitOlder([&](const BatchRecord& record) {
    if (hidden && record.type == kTypeSingleDeletion) count++;
    hidden = hidden || record.type != kTypeMerge;
  });
  return count;
}

}  // namespace varve
