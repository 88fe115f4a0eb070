// SPDX-License-Identifier: Apache-2.0

// Collects operands and passes them to the operator.

#include "db/compaction/merge_collector.h"

#include "util/base/assert.h"

namespace varve {

namespace {

// More memory than this is not kept for the next round.
constexpr size_t kKeptBytes = 1 << 20;

ValueType TypeOf(ValueForm form) {
  return form == ValueForm::kEntity ? kTypeWideColumnEntity : kTypeValue;
}

}  // namespace

void MergeCollector::Start() {
  entries_.clear();
  owned_.clear();
  if (owned_.capacity() > kKeptBytes) owned_ = std::string();
  if (merged_.capacity() > kKeptBytes) merged_ = std::string();
  if (entries_.capacity() * sizeof(Entry) > kKeptBytes) {
    entries_ = {};
    operands_ = {};
  }
  borrowed_from_ = 0;
  taken_ = 0;
  type_ = kTypeMerge;
}

void MergeCollector::AddCopy(SequenceNumber sequence, const Slice& operand) {
  entries_.push_back({sequence, operand, owned_.size()});
  owned_.append(operand.data(), operand.size());
}

// Copies the operands that lie in memory of the input, which is about to move on.
void MergeCollector::Own() {
  VARVE_ASSERT(borrowed_from_ <= entries_.size());
  for (; borrowed_from_ < entries_.size(); borrowed_from_++) {
    Entry& entry = entries_[borrowed_from_];
    if (entry.owned_at != kBorrowed) continue;
    entry.owned_at = owned_.size();
    owned_.append(entry.value.data(), entry.value.size());
  }
}

// Sets the values: the copies do not move any more.
void MergeCollector::Settle() {
  for (Entry& entry : entries_) {
    if (entry.owned_at == kBorrowed) continue;
    entry.value = Slice(owned_.data() + entry.owned_at, entry.value.size());
  }
}

// Without an operator, or if it cannot merge operands alone, the entries stay as they are, which is
// no error. An error of a full merge leaves them, too.
Status MergeCollector::Merge(const Slice& user_key, Base base, const Slice& value) {
  VARVE_ASSERT(!entries_.empty() && taken_ == 0 && type_ == kTypeMerge);
  Settle();
  if (!merge_->has_operator()) return Status::OK();
  // Without the base only operands can be merged with each other; the result is an operand again.
  if (base == Base::kUnknown) {
    if (MergePartly(user_key)) Become(kTypeMerge, Slice(merged_));
    return Status::OK();
  }
  // Entries were collected from the newest to the oldest; operators take them the other way round.
  operands_.clear();
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    operands_.push_back(entry->value);
  }
  Slice result;
  ValueForm form = base == Base::kEntity ? ValueForm::kEntity : ValueForm::kPlain;
  const Status s = merge_->Full(user_key, base == Base::kNone ? nullptr : &value, operands_,
                                &merged_, &result, &form);
  if (s.ok()) Become(TypeOf(form), result);
  return s;
}

Status MergeCollector::MergeAlone(const Slice& user_key, const Slice& operand, Slice* result,
                                  ValueType* type) {
  operands_.assign(1, operand);
  ValueForm form = ValueForm::kPlain;
  Status s = merge_->Full(user_key, nullptr, operands_, &merged_, result, &form);
  *type = TypeOf(form);
  return s;
}

bool MergeCollector::MergePartly(const Slice& user_key) {
  if (entries_.size() == 1 && !wants_single_operand_) return false;
  partial_operands_.clear();
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    partial_operands_.push_back(entry->value);
  }
  return merge_->Partial(user_key, partial_operands_, &merged_);
}

void MergeCollector::Become(ValueType type, const Slice& value) {
  type_ = type;
  // The result has the number of the newest operand, so that each reader of the stripe sees it.
  entries_.erase(entries_.begin() + 1, entries_.end());
  entries_.front().value = value;
}

}  // namespace varve
