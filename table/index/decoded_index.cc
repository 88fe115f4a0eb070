// SPDX-License-Identifier: Apache-2.0
#include "table/index/decoded_index.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace varve {

Status DecodedIndex::Decode(const Slice& block, const IndexForm& form,
                            const InternalKeyComparator& icmp, uint64_t limit, const Slice& where,
                            std::unique_ptr<DecodedIndex>* index) {
  std::unique_ptr<DecodedIndex> result(new DecodedIndex);
  result->form_ = form;
  result->reverse_ = IsReverse(icmp.order());
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
    const size_t tail = form.user_keys ? 0 : kInternalKeyTrailerBytes;
    if (key.size() < icmp.timestamp_size() + tail) {
      return Status::Corruption("an index key is shorter than its timestamp", where);
    }
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
  if (n != 0 && BytesDecide(icmp.order())) {
    const Slice first = result->separator_key(0, icmp);
    const size_t prefix = first.difference_offset(result->separator_key(n - 1, icmp));
    result->prefix_.assign(first.data(), prefix);
    std::vector<uint64_t> words(n);
    bool ascending = true;
    for (size_t i = 0; i < n && ascending; i++) {
      const Slice key = result->separator_key(i, icmp);
      words[i] = result->WordBehindPrefix(key);
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

DecodedIndex::~DecodedIndex() {
  if (slots_ == nullptr) return;
  for (size_t i = 0; i < size(); i++) slot_cache_->Detach(&slots_[i]);
}

void DecodedIndex::MakeSlots(ClockCache* cache) {
  slot_cache_ = cache;
  slots_.reset(new BlockSlot[size()]());
}

bool DecodedIndex::Before(const InternalKeyComparator& icmp, size_t i, const Slice& target,
                          const Slice& target_user_key) const {
  return form_.user_keys ? icmp.CompareUserKey(separator(i), target_user_key) < 0
                         : icmp.Compare(separator(i), target) < 0;
}

bool DecodedIndex::WordOf(const Slice& key, uint64_t* word_or_place) const {
  const size_t n = std::min(key.size(), prefix_.size());
  int side = n == 0 ? 0 : memcmp(key.data(), prefix_.data(), n);
  if (side == 0 && n < prefix_.size()) side = -1;
  if (side != 0) {
    *word_or_place = (side < 0) != reverse_ ? 0 : size();
    return false;
  }
  *word_or_place = WordBehindPrefix(key);
  return true;
}

size_t DecodedIndex::Seek(const InternalKeyComparator& icmp, const Slice& target) const {
  if (!has_words_) [[unlikely]]
    return SeekBetween(icmp, target, 0, size());
  uint64_t word = 0;
  if (!WordOf(icmp.KeyOf(target), &word)) return static_cast<size_t>(word);
  return SeekAmongEqual(icmp, target, word, words_.LowerBound(word));
}

void DecodedIndex::Seek(const InternalKeyComparator& icmp, std::span<const Slice> targets,
                        size_t* places) const {
  assert(targets.size() <= kSoughtMax);
  uint64_t words[kSoughtMax];
  bool has_word[kSoughtMax];
  for (size_t i = 0; i < targets.size(); i++) {
    has_word[i] = has_words_ && WordOf(icmp.KeyOf(targets[i]), &words[i]);
    if (!has_word[i]) {
      places[i] = Seek(icmp, targets[i]);
      words[i] = 0;
    }
  }
  if (!has_words_) return;
  size_t lows[kSoughtMax];
  words_.LowerBounds({words, targets.size()}, lows);
  for (size_t i = 0; i < targets.size(); i++) {
    if (has_word[i]) places[i] = SeekAmongEqual(icmp, targets[i], words[i], lows[i]);
  }
}

size_t DecodedIndex::SeekAmongEqual(const InternalKeyComparator& icmp, const Slice& target,
                                    uint64_t word, size_t low) const {
  if (low == size() || words_.word(low) != word) return low;
  // A run of equal words; nearly always one entry.
  size_t end = low + 1;
  while (end < size() && words_.word(end) == word) end++;
  return SeekBetween(icmp, target, low, end);
}

size_t DecodedIndex::SeekBetween(const InternalKeyComparator& icmp, const Slice& target, size_t low,
                                 size_t high) const {
  const Slice user_key = ExtractUserKey(target);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (Before(icmp, middle, target, user_key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t DecodedIndex::MemoryUsage() const {
  return sizeof(*this) + words_.MemoryUsage() + prefix_.capacity() + separators_.capacity() +
         offsets_.capacity() * sizeof(uint64_t) + sizes_.capacity() * sizeof(uint32_t) +
         separator_ends_.capacity() * sizeof(uint32_t) +
         (slots_ != nullptr ? size() * sizeof(BlockSlot) : 0);
}

}  // namespace varve
