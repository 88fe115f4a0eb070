// SPDX-License-Identifier: Apache-2.0
#include "table/index/decoded_index.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/metrics/perf_counters.h"

namespace varve {

Status DecodedIndex::Decode(const Slice& block, const IndexForm& form,
                            const InternalKeyComparator& icmp, uint64_t limit, const Slice& where,
                            std::unique_ptr<DecodedIndex>* index) {
  std::unique_ptr<DecodedIndex> result(new DecodedIndex);
  result->form_ = form;
  result->reverse_ = icmp.order() == KeyOrder::kReverseBytewise;
  IndexIterator entries(block, form);
  while (entries.Next()) {
    const BlockHandle& handle = entries.handle();
    if (!handle.FitsIn(limit) || handle.size > UINT32_MAX) {
      return Status::Corruption(
          "index points outside the file: offset " + std::to_string(handle.offset) + ", size " +
              std::to_string(handle.size) + ", limit " + std::to_string(limit),
          where);
    }
    const Slice key = entries.key();
    if (key.size() > UINT32_MAX - result->separators_.size()) {
      return Status::NotSupported("index with more than 4 GiB of keys", where);
    }
    result->separators_.append(key.data(), key.size());
    result->separator_ends_.push_back(static_cast<uint32_t>(result->separators_.size()));
    result->offsets_.push_back(handle.offset);
    result->sizes_.push_back(static_cast<uint32_t>(handle.size));
  }
  if (entries.damage() != nullptr) return Status::Corruption(entries.damage(), where);
  result->separators_.shrink_to_fit();
  result->separator_ends_.shrink_to_fit();
  result->offsets_.shrink_to_fit();
  result->sizes_.shrink_to_fit();

  const size_t n = result->size();
  result->hints_.reset(new BlockHints[n]);
  if (n != 0 && icmp.order() != KeyOrder::kCustom) {
    const Slice first = result->separator_user_key(0);
    const size_t prefix = first.difference_offset(result->separator_user_key(n - 1));
    result->prefix_.assign(first.data(), prefix);
    std::vector<uint64_t> words(n);
    bool ascending = true;
    for (size_t i = 0; i < n && ascending; i++) {
      const Slice key = result->separator_user_key(i);
      const uint64_t plain = KeyWord(key, prefix);
      words[i] = result->reverse_ ? ~plain : plain;
      ascending = key.starts_with(result->prefix_) && (i == 0 || words[i - 1] <= words[i]);
    }
    if (ascending) {
      result->words_.Build(std::move(words));
      result->has_words_ = true;
    }
  }
  *index = std::move(result);
  return Status::OK();
}

bool DecodedIndex::Before(const InternalKeyComparator& icmp, size_t i, const Slice& target,
                          const Slice& target_user_key) const {
  return form_.user_keys ? icmp.CompareUserKey(separator(i), target_user_key) < 0
                         : icmp.Compare(separator(i), target) < 0;
}

size_t DecodedIndex::Seek(const InternalKeyComparator& icmp, const Slice& target) const {
  const Slice user_key = ExtractUserKey(target);
  size_t low = 0;
  size_t high = size();
  if (has_words_) [[likely]] {
    const size_t n = std::min(user_key.size(), prefix_.size());
    int side = n == 0 ? 0 : memcmp(user_key.data(), prefix_.data(), n);
    if (side == 0 && n < prefix_.size()) side = -1;
    if (side != 0) return (side < 0) != reverse_ ? 0 : high;
    const uint64_t plain = KeyWord(user_key, prefix_.size());
    const uint64_t word = reverse_ ? ~plain : plain;
    low = words_.LowerBound(word);
    if (low == high || words_.word(low) != word) return low;
    // A run of equal words; nearly always one entry.
    size_t end = low + 1;
    while (end < high && words_.word(end) == word) end++;
    high = end;
  }
  uint64_t comparisons = 0;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    comparisons++;
    if (Before(icmp, middle, target, user_key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  CountUserKeyComparisons(comparisons);
  return low;
}

size_t DecodedIndex::MemoryUsage() const {
  return sizeof(*this) + words_.MemoryUsage() + prefix_.capacity() + separators_.capacity() +
         offsets_.capacity() * sizeof(uint64_t) + sizes_.capacity() * sizeof(uint32_t) +
         separator_ends_.capacity() * sizeof(uint32_t) + size() * sizeof(BlockHints);
}

}  // namespace varve
