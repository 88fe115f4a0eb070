// SPDX-License-Identifier: Apache-2.0

// Every move ends in FindShown, which finds the next key to show. In each round it takes the source
// whose key comes first in the direction of the walk, and decides:
//
//     only the base has the key     shown, unless the batch deletes its range (PassCovered)
//     only the batch has it         a value, a merge or nothing, by its updates (ShowOfBatch)
//     both have it                  the same, and a merge may need the base's value beneath
//     no source, or beyond the end  the walk is over; the base's error, if any, is status()
//
// A value of the batch is kept as offset and length (Piece), not as a pointer, because the batch's
// string moves when the batch grows.

#include "db/transaction/base_delta_iterator.h"

#include <utility>

#include "db/read/db_iterator.h"
#include "db/transaction/family_options.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/key/entity.h"

namespace varve {

// Every public move runs in here: comparators, merge operators and allocations may throw, and the
// iterator must then be invalid with a status.
template <typename Move>
void BaseDeltaIterator::Guarded(Move move) {
  Status s = varve::Guarded(move);
  if (s.ok()) [[likely]]
    return;
  status_ = std::move(s);
  at_ = At::kNowhere;
}

BaseDeltaIterator::BaseDeltaIterator(BatchIndex* index, BatchIndex::Family* family,
                                     std::unique_ptr<Iterator> base,
                                     ColumnFamilyHandle* column_family, const ReadOptions* options)
    : base_(std::move(base)), cursor_(index, family), merger_(column_family) {
  if (options == nullptr) return;
  lower_ = options->iterate_lower_bound;
  upper_ = options->iterate_upper_bound;
  if (!options->prefix_same_as_start) return;
  const std::shared_ptr<const ColumnFamilyOptions> of_family = FamilyOptionsOf(column_family);
  if (of_family != nullptr) extractor_ = of_family->prefix_extractor;
}

BaseDeltaIterator::Piece BaseDeltaIterator::PieceOf(const Slice& bytes) const {
  if (bytes.empty()) return {};
  const std::string& batch = cursor_.batch();
  VARVE_ASSERT(bytes.data() > batch.data() && bytes.size() < batch.size());
  return {static_cast<size_t>(bytes.data() - batch.data()), bytes.size()};
}

void BaseDeltaIterator::SetPrefixOf(const Slice& key) {
  has_prefix_ = extractor_ != nullptr && extractor_->InDomain(key);
  if (!has_prefix_) return;
  const Slice prefix = extractor_->Transform(key);
  prefix_.assign(prefix.data(), prefix.size());
}

bool BaseDeltaIterator::IsInPrefix(const Slice& key) const {
  return !has_prefix_ ||
         (extractor_->InDomain(key) && extractor_->Transform(key) == Slice(prefix_));
}

void BaseDeltaIterator::SeekToEnd(bool forward) {
  Guarded([&] {
    forward_ = forward;
    has_prefix_ = false;
    if (forward) {
      lower_ != nullptr ? cursor_.Seek(*lower_) : cursor_.SeekToFirst();
      base_->SeekToFirst();
    } else {
      upper_ != nullptr ? cursor_.SeekBefore(*upper_) : cursor_.SeekToLast();
      base_->SeekToLast();
    }
    KeepBaseWithinBounds();
    FindShown();
    if (at_ != At::kNowhere) SetPrefixOf(key());
  });
}

void BaseDeltaIterator::SeekToFirst() {
  SeekToEnd(/*forward=*/true);
}

void BaseDeltaIterator::SeekToLast() {
  SeekToEnd(/*forward=*/false);
}

// In both seeks the base moves last, because `target` may point into its key().
void BaseDeltaIterator::Seek(const Slice& target) {
  Guarded([&] {
    forward_ = true;
    SetPrefixOf(target);
    cursor_.Seek(lower_ != nullptr && Compare(target, *lower_) < 0 ? *lower_ : target);
    base_->Seek(target);
    KeepBaseWithinBounds();
    FindShown();
  });
}

void BaseDeltaIterator::SeekForPrev(const Slice& target) {
  Guarded([&] {
    forward_ = false;
    SetPrefixOf(target);
    if (upper_ != nullptr && Compare(target, *upper_) >= 0) {
      cursor_.SeekBefore(*upper_);
    } else {
      cursor_.SeekForPrev(target);
    }
    base_->SeekForPrev(target);
    KeepBaseWithinBounds();
    FindShown();
  });
}

// With an extractor the base may be in a prefix mode, in which a seek to a key of another prefix
// finds nothing; so it steps.
void BaseDeltaIterator::MoveBaseUpTo(const Slice& key) {
  if (!base_->Valid() || Compare(base_->key(), key) >= 0) return;
  if (extractor_ == nullptr) {
    base_->Seek(key);
    return;
  }
  do {
    base_->Next();
  } while (base_->Valid() && Compare(base_->key(), key) < 0);
}

void BaseDeltaIterator::MoveBaseBelow(const Slice& key) {
  if (extractor_ == nullptr && base_->Valid() && Compare(base_->key(), key) > 0) {
    base_->SeekForPrev(key);
  }
  while (base_->Valid() && Compare(base_->key(), key) >= 0) base_->Prev();
}

void BaseDeltaIterator::KeepBaseWithinBounds() {
  if (forward_) {
    if (lower_ != nullptr) MoveBaseUpTo(*lower_);
  } else {
    if (upper_ != nullptr) MoveBaseBelow(*upper_);
  }
}

// So far each source stands on the shown key or beyond it in the old direction; now each must stand
// beyond it in the new one. `from` is a copy, as the key may lie in the base, which moves. With an
// extractor the base only steps (MoveBaseUpTo), but once it has run past its last key a seek alone
// brings it back.
void BaseDeltaIterator::Turn(bool forward) {
  const std::string from = key().ToString();
  const bool steps = extractor_ != nullptr && base_->Valid();
  forward_ = forward;
  if (forward) {
    cursor_.SeekBehind(from);
    if (!steps) base_->Seek(from);
    while (base_->Valid() && Compare(base_->key(), from) <= 0) base_->Next();
  } else {
    cursor_.SeekBefore(from);
    if (!steps) base_->SeekForPrev(from);
    while (base_->Valid() && Compare(base_->key(), from) >= 0) base_->Prev();
  }
}

// Each source that stands on the shown key moves on (at_). If the batch has grown, its cursor is
// sought from that key in any case: a new entry may come before the one on which it stands.
void BaseDeltaIterator::Next() {
  if (!Valid()) return;
  Guarded([this] {
    if (!forward_) {
      Turn(true);
    } else {
      if (cursor_.IsBehind()) {
        cursor_.SeekBehind(key());
      } else if (at_ != At::kBase) {
        cursor_.NextKey();
      }
      if (at_ != At::kBatch) base_->Next();
    }
    FindShown();
  });
}

// Does what Next does, in the other direction.
void BaseDeltaIterator::Prev() {
  if (!Valid()) return;
  Guarded([this] {
    if (forward_) {
      Turn(false);
    } else {
      if (cursor_.IsBehind()) {
        cursor_.SeekBefore(key());
      } else if (at_ != At::kBase) {
        cursor_.PrevKey();
      }
      if (at_ != At::kBatch) base_->Prev();
    }
    FindShown();
  });
}

// An error of the base ends the walk even where the batch has more keys: what the base would have
// shown in between is unknown.
bool BaseDeltaIterator::NextSource(int* order) {
  const bool has_base = base_->Valid();
  if (!has_base && !base_->status().ok()) return false;
  if (!cursor_.Valid()) {
    *order = 1;
    return has_base;
  }
  *order = !has_base ? -1 : Compare(cursor_.key(), base_->key());
  if (has_base && !forward_) *order = -*order;
  return true;
}

bool BaseDeltaIterator::IsBeyondEnd(const Slice& key) const {
  const bool is_beyond_bound = forward_ ? upper_ != nullptr && Compare(key, *upper_) >= 0
                                        : lower_ != nullptr && Compare(key, *lower_) < 0;
  return is_beyond_bound || !IsInPrefix(key);
}

void BaseDeltaIterator::FindShown() {
  status_ = Status::OK();
  at_ = At::kNowhere;
  for (int order = 0; NextSource(&order);) {
    if (IsBeyondEnd(order <= 0 ? cursor_.key() : base_->key())) return;
    if (order > 0) {
      if (PassCovered()) continue;
      at_ = At::kBase;
      return;
    }
    if (ShowOfBatch(order == 0)) return;
    if (forward_) {
      cursor_.NextKey();
      if (order == 0) base_->Next();
    } else {
      cursor_.PrevKey();
      if (order == 0) base_->Prev();
    }
  }
}

bool BaseDeltaIterator::PassCovered() {
  BatchRanges& ranges = cursor_.family()->ranges;
  if (ranges.empty()) [[likely]]
    return false;
  const BatchRanges::Cover cover = ranges.CoverOf(base_->key());
  if (cover.offset == 0) return false;
  if (forward_) {
    base_->Next();
    MoveBaseUpTo(cover.end);
  } else {
    base_->Prev();
    MoveBaseBelow(cover.start);
  }
  return true;
}

namespace {

// True if the iterator stands on an entity. An entity with the default column alone shows the same
// columns as a plain value, so the iterator's property decides; an iterator of a foreign class
// lacks that property, and such an entity counts as a plain value.
bool ShowsEntity(Iterator* it) {
  const WideColumns& columns = it->columns();
  if (columns.size() != 1 || columns.front().name() != kDefaultWideColumnName) return true;
  std::string answer;
  return it->GetProperty(kIteratorIsEntity, &answer).ok() && answer == "1";
}

}  // namespace

bool BaseDeltaIterator::ShowOfBatch(bool is_in_base) {
  BatchIndex::Family* const family = cursor_.family();
  BatchAnswer answer;
  // The key's newest entry is where the cursor stands in a forward walk; in a backward one it
  // stands on the oldest.
  const Slice key = cursor_.key();
  key_ = PieceOf(key);
  status_ =
      LookUpInBatch(family, key, forward_ ? cursor_.place() : family->keys.Find(key), &answer);
  if (!status_.ok()) return true;
  is_merged_ = !answer.operands.empty();
  if (!is_merged_) {
    // The key has an entry, so the answer is complete.
    VARVE_ASSERT(answer.IsComplete());
    if (answer.base == BatchAnswer::Base::kAbsent) return false;
    value_ = PieceOf(answer.value);
    is_entity_ = answer.form == ValueForm::kEntity;
  } else if (!MergeShown(key, answer, is_in_base)) {
    return true;
  }
  if (is_entity_) status_ = CheckEntity(Stored());
  if (!status_.ok()) return true;
  at_ = is_in_base ? At::kBoth : At::kBatch;
  return true;
}

bool BaseDeltaIterator::MergeShown(const Slice& key, const BatchAnswer& answer, bool is_in_base) {
  const Slice* base = answer.base == BatchAnswer::Base::kValue ? &answer.value : nullptr;
  ValueForm form = answer.form;
  Slice beneath;
  std::string entity;
  if (is_in_base && !answer.IsComplete()) {
    if (!base_->PrepareValue()) return false;
    beneath = base_->value();
    base = &beneath;
    if (ShowsEntity(base_.get())) {
      status_ = EncodeEntity(base_->columns(), &entity);
      if (!status_.ok()) return false;
      beneath = entity;
      form = ValueForm::kEntity;
    }
  }
  Slice result;
  status_ = merger_.Merge(key, base, answer.operands, &merged_, &result, &form);
  if (!status_.ok()) return false;
  if (result.data() != merged_.data()) merged_.assign(result.data(), result.size());
  is_entity_ = form == ValueForm::kEntity;
  return true;
}

// A shown entity was checked, so it can be decoded.
Slice BaseDeltaIterator::value() const {
  if (at_ == At::kBase) return base_->value();
  if (!is_entity_) [[likely]]
    return Stored();
  Slice column;
  DefaultColumnOf(Stored(), &column).PermitUncheckedError();
  return column;
}

const WideColumns& BaseDeltaIterator::columns() const {
  if (at_ == At::kBase) return base_->columns();
  if (is_entity_) {
    DecodeEntity(Stored(), &columns_).PermitUncheckedError();
  } else {
    columns_.assign(1, WideColumn(kDefaultWideColumnName, Stored()));
  }
  return columns_;
}

bool BaseDeltaIterator::PrepareValue() {
  if (at_ != At::kBase || base_->PrepareValue()) return true;
  at_ = At::kNowhere;
  return false;
}

Status BaseDeltaIterator::Refresh(const Snapshot* snapshot) {
  at_ = At::kNowhere;
  return base_->Refresh(snapshot);
}

}  // namespace varve
