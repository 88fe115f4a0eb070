// SPDX-License-Identifier: Apache-2.0
#pragma once

// An input of a compaction that counts the entries it returns, so that they can be checked for
// completeness if none was skipped.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "db/compaction/forwarded_input.h"
#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

// Does not count entries from `end` on, a key without timestamp; null: counts all.
//
// Thread safety: none. Lifetime: its arguments must outlive it.
class CountedInput final : public ForwardedInput {
 public:
  struct Count {
    // Entries returned so far.
    uint64_t entries = 0;
    bool jumped = false;  // it was moved over entries that were not counted
  };

  CountedInput(std::unique_ptr<InternalIterator> input, const InternalKeyComparator* icmp,
               const Slice* end, Count* count)
      : ForwardedInput(std::move(input)), icmp_(icmp), end_(end), count_(count) {}

  void PrefetchSeek(const Slice& target, SeekRound round) override {
    input().PrefetchSeek(target, round);
  }
  bool SkipOlder(const Slice& target, SequenceNumber below) override {
    VARVE_ASSERT(begun_);
    if (!input().SkipOlder(target, below)) return false;
    Arrive();
    return true;
  }

 private:
  // True if the entry lies before `end`. Keys that are too short count, so that damage is noticed.
  [[nodiscard]] bool Counts(const Slice& key) const {
    return end_ == nullptr || key.size() < kInternalKeyTrailerBytes ||
           icmp_->CompareKey(icmp_->KeyOf(key), *end_) < 0;
  }
  // The first seek begins the walk; later ones are jumps.
  void OnArrival() override {
    count_->jumped |= begun_;
    begun_ = true;
    if (valid_ && Counts(key_)) count_->entries++;
  }
  void OnBatch(const BatchEntry* entries, size_t n) override {
    size_t counted = n;
    while (counted > 0 && !Counts(entries[counted - 1].key())) counted--;
    count_->entries += counted;
  }

  const InternalKeyComparator* const icmp_;
  const Slice* const end_;
  // The caller's; valid at any time.
  Count* const count_;
  bool begun_ = false;
};

}  // namespace varve
