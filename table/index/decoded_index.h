// SPDX-License-Identifier: Apache-2.0
#pragma once

// One index block, taken apart on load into arrays that are searched without decoding anything.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "table/format/block_handle.h"
#include "table/index/index_iterator.h"
#include "table/index/word_tree.h"
#include "util/key/internal_key.h"

namespace varve {

// Where the block of an index entry was last seen in memory. The addresses may be stale and are
// only ever prefetched, which touches nothing; so they need no ordering and no protection.
class BlockHints {
 public:
  void Remember(const void* cache_entry, const void* object, const void* data) {
    Set(&cache_entry_, cache_entry);
    Set(&object_, object);
    Set(&data_, data);
  }
  [[nodiscard]] const void* cache_entry() const { return cache_entry_.load(kAny); }
  [[nodiscard]] const void* object() const { return object_.load(kAny); }
  [[nodiscard]] const void* data() const { return data_.load(kAny); }

 private:
  static constexpr std::memory_order kAny = std::memory_order_relaxed;

  // Writes only what changes: readers on other cores share the line.
  static void Set(std::atomic<const void*>* hint, const void* address) {
    if (hint->load(kAny) != address) hint->store(address, kAny);
  }

  std::atomic<const void*> cache_entry_{nullptr};
  std::atomic<const void*> object_{nullptr};
  std::atomic<const void*> data_{nullptr};
};

// Thread safety: immutable, but for the hints.
class DecodedIndex {
 public:
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
  [[nodiscard]] const IndexForm& form() const { return form_; }

  // Requires i < size().
  [[nodiscard]] BlockHints& hints(size_t i) const { return hints_[i]; }

  // Index of the first entry whose separator is >= `target` (an internal key): the only block that
  // may hold it. size() if there is none.
  [[nodiscard]] size_t Seek(const InternalKeyComparator& icmp, const Slice& target) const;

  [[nodiscard]] size_t MemoryUsage() const;

 private:
  DecodedIndex() = default;
  [[nodiscard]] bool Before(const InternalKeyComparator& icmp, size_t i, const Slice& target,
                            const Slice& target_user_key) const;

  IndexForm form_;
  // Words of the separators' user keys behind their common prefix; empty if the comparator does not
  // order by bytes, or the block is out of order.
  WordTree words_;
  bool has_words_ = false;
  bool reverse_ = false;
  std::string prefix_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> sizes_;
  std::string separators_;
  std::vector<uint32_t> separator_ends_;
  std::unique_ptr<BlockHints[]> hints_;
};

}  // namespace varve
