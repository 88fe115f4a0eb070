// SPDX-License-Identifier: Apache-2.0

// Range deletions of one family, by the offsets of their records, of which a larger one is newer.
// The newest few are looked at one by one; older ones are fragmented, where the newest one
// over a key is found by a search. The fragments are rebuilt when the newest ones outnumber those
// in them by more than kFewMax, so each addition costs little on the average.

#include "db/transaction/batch_ranges.h"

#include <utility>

#include "db/write/batch_reader.h"
#include "util/base/assert.h"

namespace varve {

// A range cannot be removed from the fragments. If one of theirs is rolled back, all are discarded,
// and built again when they are needed.
void BatchRanges::RollBack(size_t offset) noexcept {
  while (!offsets_.empty() && offsets_.back() >= offset) offsets_.pop_back();
  if (built_ <= offsets_.size()) return;
  built_ = 0;
  older_.reset();
}

BatchRanges::Cover BatchRanges::CoverOf(const Slice& key) {
  if (offsets_.empty()) [[likely]]
    return {};
  if (offsets_.size() - built_ > kFewMax + built_) Build();
  for (size_t i = offsets_.size(); i > built_; i--) {
    const FragmentedTombstones::Tombstone range = TombstoneAt(offsets_[i - 1]);
    if (icmp_.CompareKey(range.start, key) <= 0 && icmp_.CompareKey(key, range.end) < 0) {
      return {offsets_[i - 1], range.start, range.end};
    }
  }
  if (built_ == 0 || older_->empty()) return {};
  const size_t at = older_->LowerBound(key);
  if (at == older_->size()) return {};
  const FragmentedTombstones::Fragment fragment = older_->fragment(at);
  if (!fragment.covered || icmp_.CompareKey(fragment.start, key) > 0) return {};
  return {static_cast<uint32_t>(fragment.newest), fragment.start, fragment.end};
}

// The offset of the record serves as the tombstone's sequence number: a larger one is newer.
FragmentedTombstones::Tombstone BatchRanges::TombstoneAt(uint32_t offset) const {
  BatchReader reader(*batch_, offset);
  BatchRecord record;
  [[maybe_unused]] const bool whole = reader.Next(&record);
  VARVE_ASSERT(whole && record.type == kTypeRangeDeletion);
  return {icmp_.WithoutTimestamp(record.key), icmp_.WithoutTimestamp(record.value), offset,
          Slice()};
}

void BatchRanges::Build() {
  // All updates of the batch are visible whatever their timestamps, so here these are all equal.
  const std::string timestamp(icmp_.timestamp_size(), '\0');
  std::vector<FragmentedTombstones::Tombstone> all;
  all.reserve(offsets_.size());
  for (const uint32_t offset : offsets_) {
    all.push_back(TombstoneAt(offset));
    all.back().timestamp = timestamp;
  }
  older_ = FragmentedTombstones::Build(std::move(all), icmp_);
  built_ = offsets_.size();
}

}  // namespace varve
