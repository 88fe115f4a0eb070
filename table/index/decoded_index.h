// SPDX-License-Identifier: Apache-2.0
#pragma once

// One index block, taken apart on load into arrays that are searched without decoding anything.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "table/cache/clock_cache.h"
#include "table/format/block_handle.h"
#include "table/index/index_iterator.h"
#include "table/index/word_tree.h"
#include "util/key/internal_key.h"
#include "util/mem/prefetch.h"

namespace varve {

// Thread safety: immutable, but for the slots.
class DecodedIndex {
 public:
  DecodedIndex(const DecodedIndex&) = delete;
  DecodedIndex& operator=(const DecodedIndex&) = delete;
  ~DecodedIndex();

  // `block` is not needed afterwards. Every handle is checked to lie within the first `limit` bytes
  // of the file. Errors: Corruption with `where`, which names file and block.
  static Status Decode(const Slice& block, const IndexForm& form, const InternalKeyComparator& icmp,
                       uint64_t limit, const Slice& where, std::unique_ptr<DecodedIndex>* index);

  [[nodiscard]] size_t size() const { return offsets_.size(); }
  // These require i < size().
  [[nodiscard]] BlockHandle handle(size_t i) const { return BlockHandle{offsets_[i], sizes_[i]}; }
  // A user key or an internal key, as form().user_keys says.
  [[nodiscard]] Slice separator(size_t i) const {
    const size_t begin = i == 0 ? 0 : separator_ends_[i - 1];
    return Slice(separators_.data() + begin, separator_ends_[i] - begin);
  }
  [[nodiscard]] Slice separator_user_key(size_t i) const {
    return form_.user_keys ? separator(i) : ExtractUserKey(separator(i));
  }
  // Without the timestamp.
  [[nodiscard]] Slice separator_key(size_t i, const InternalKeyComparator& icmp) const {
    return icmp.WithoutTimestamp(separator_user_key(i));
  }
  // Whether the separator is of `key`. Told by the words, which a search has just read, where they
  // differ.
  [[nodiscard]] bool SeparatorIsOf(size_t i, const Slice& key,
                                   const InternalKeyComparator& icmp) const {
    if (has_words_ && words_.word(i) != WordBehindPrefix(key)) return false;
    return icmp.EqualKey(separator_key(i, icmp), key);
  }
  [[nodiscard]] const IndexForm& form() const { return form_; }

  // From now on each entry has a slot for its block in `cache`, which outlives the index.
  void MakeSlots(ClockCache* cache);
  // Null without slots. Requires i < size().
  [[nodiscard]] BlockSlot* slot(size_t i) const { return slots_ != nullptr ? &slots_[i] : nullptr; }

  // The cache need not keep the blocks: the table is going.
  void DropBlocks() const {
    if (slots_ != nullptr) slot_cache_->Drop({slots_.get(), size()});
  }

  // Asks for the slot itself. Any `i`.
  void PrefetchSlot(size_t i) const { PrefetchLine(slots_.get() + i); }
  // Asks for what is known of an entry, but for its separator. Requires i < size().
  void PrefetchEntry(size_t i) const {
    PrefetchSlot(i);
    PrefetchLine(&offsets_[i]);
    PrefetchLine(&sizes_[i]);
  }

  // Index of the first entry whose separator is >= `target` (an internal key): the only block that
  // may hold it. size() if there is none.
  [[nodiscard]] size_t Seek(const InternalKeyComparator& icmp, const Slice& target) const;
  // The same for each of at most kSoughtMax targets, so that the waits for memory overlap.
  static constexpr size_t kSoughtMax = 32;
  void Seek(const InternalKeyComparator& icmp, std::span<const Slice> targets,
            size_t* places) const;

  [[nodiscard]] size_t MemoryUsage() const;

 private:
  DecodedIndex() = default;
  // The word of a key, without timestamp, and true; or the answer of Seek and false.
  bool WordOf(const Slice& key, uint64_t* word_or_place) const;
  // Of a key with the prefix; for others it means nothing, but equal keys have equal words.
  [[nodiscard]] uint64_t WordBehindPrefix(const Slice& key) const {
    const uint64_t plain = KeyWord(key, prefix_.size());
    return reverse_ ? ~plain : plain;
  }
  // Where the search ends that has come to the first word that is not smaller.
  [[nodiscard]] size_t SeekAmongEqual(const InternalKeyComparator& icmp, const Slice& target,
                                      uint64_t word, size_t low) const;
  [[nodiscard]] size_t SeekBetween(const InternalKeyComparator& icmp, const Slice& target,
                                   size_t low, size_t high) const;
  [[nodiscard]] bool Before(const InternalKeyComparator& icmp, size_t i, const Slice& target,
                            const Slice& target_user_key) const;

  IndexForm form_;
  // Words of the separators' keys behind their common prefix; empty if the comparator does not
  // order by bytes, or the block is out of order.
  WordTree words_;
  bool has_words_ = false;
  bool reverse_ = false;
  std::string prefix_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> sizes_;
  std::string separators_;
  std::vector<uint32_t> separator_ends_;
  ClockCache* slot_cache_ = nullptr;
  std::unique_ptr<BlockSlot[]> slots_;
};

}  // namespace varve
