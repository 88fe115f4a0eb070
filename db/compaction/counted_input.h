// SPDX-License-Identifier: Apache-2.0
#pragma once

// An input of a compaction that counts the entries it returns, so that they can be checked for
// completeness if none was skipped.

#include <cstdint>
#include <memory>
#include <utility>

#include "util/base/assert.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"

namespace varve {

// Walks forward only. Does not count entries from `end` on, a key without timestamp; null: counts
// all.
//
// Thread safety: none. Lifetime: its arguments must outlive it.
class CountedInput final : public InternalIterator {
 public:
  struct Count {
    uint64_t entries = 0;
    bool jumped = false;  // it was moved over entries that were not counted
  };

  CountedInput(std::unique_ptr<InternalIterator> input, const InternalKeyComparator* icmp,
               const Slice* end, Count* count)
      : input_(std::move(input)), icmp_(icmp), end_(end), count_(count) {}

  void SeekToFirst() override {
    input_->SeekToFirst();
    Arrive();
  }
  void Seek(const Slice& target) override {
    input_->Seek(target);
    Arrive();
  }
  void PrefetchSeek(const Slice& target, SeekRound round) override {
    input_->PrefetchSeek(target, round);
  }
  bool SkipOlder(const Slice& target, SequenceNumber below) override {
    VARVE_ASSERT(begun_);
    if (!input_->SkipOlder(target, below)) return false;
    Arrive();
    return true;
  }
  void Next() override {
    BatchEntry ignored;
    NextBatch(&ignored, 1);
  }
  size_t NextBatch(BatchEntry* out, size_t max) override {
    const size_t n = input_->NextBatch(out, max);
    VARVE_ASSERT(n <= max);
    Publish();
    size_t counted = n;
    while (counted > 0 && !Counts(out[counted - 1].key())) counted--;
    count_->entries += counted;
    return n;
  }
  Status status() const override { return input_->status(); }

  bool PinValue(Cleanable* pin) override { return input_->PinValue(pin); }
  bool PinBatch(Cleanable* pin) override { return input_->PinBatch(pin); }
  bool IsValuePinned() const override { return input_->IsValuePinned(); }
  bool IsKeyPinned() const override { return input_->IsKeyPinned(); }

  // Moving backward is never needed.
  void SeekToLast() override { valid_ = false; }
  void SeekForPrev(const Slice& /*target*/) override { valid_ = false; }
  void Prev() override { valid_ = false; }

 private:
  [[nodiscard]] bool Counts(const Slice& key) const {
    return end_ == nullptr || key.size() < kInternalKeyTrailerBytes ||
           icmp_->CompareKey(icmp_->KeyOf(key), *end_) < 0;
  }
  void Publish() {
    valid_ = input_->Valid();
    if (!valid_) return;
    key_ = input_->key();
    value_ = input_->value();
  }
  // Handles a new position. The first seek begins the walk; later ones are jumps.
  void Arrive() {
    Publish();
    count_->jumped |= begun_;
    begun_ = true;
    if (valid_ && Counts(key_)) count_->entries++;
  }

  const std::unique_ptr<InternalIterator> input_;
  const InternalKeyComparator* const icmp_;
  const Slice* const end_;
  Count* const count_;
  bool begun_ = false;
};

}  // namespace varve
