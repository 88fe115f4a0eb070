// SPDX-License-Identifier: Apache-2.0
#pragma once

// Builds one block: sorted entries whose keys store only what differs from the key before them,
// with a full key (a restart point) at fixed intervals.
//
// With a restart interval of 2, the keys "apple", "apply", "apron" and the values "1", "2", "3"
// become
//
//      00 05 01 apple 1 | 04 01 01 y 2 | 00 05 01 apron 3 | 0, 14 | 2
//      shared, unshared   shares "appl"  a restart point    restart  number of
//      and value length                                     offsets  restarts
//
// The numbers of an entry are varints; offsets and their count are fixed32. A hash index, if there
// is one, lies between the offsets and the count (FORMAT.md).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "varve/slice.h"

#include "table/format/block_handle.h"
#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/coding/shared_prefix.h"
#include "util/coding/varint.h"

namespace varve {

// Entries are written where they will be handed to the file, so that an uncompressed block is
// copied only once more, by the file's writer.
//
// Thread safety: none. Keys and values may lie anywhere but in the builder. Limits: the caller must
// keep a block below 4 GiB.
class BlockBuilder {
 public:
  struct Options {
    int restart_interval = 16;  // at least 1
    bool delta_keys = true;     // false: every key is stored whole
    // Entries per bucket of the hash index, in (0, 1]; 0 builds none. Keys must be internal keys.
    double hash_index_ratio = 0;
  };

  // Begins an empty block.
  explicit BlockBuilder(const Options& options);

  // Returns the last key added, also after Reset; empty before the first one.
  [[nodiscard]] Slice last_key() const { return Slice(last_key_.get(), last_key_size_); }
  // Returns the number of bytes that the key shares with the last one.
  [[nodiscard]] size_t SharedWithLast(const Slice& key) const {
    return SharedPrefix(last_key_.get(), key.data(), std::min(last_key_size_, key.size()));
  }

  // Appends an entry. The builder takes any bytes as key; its users pass keys in ascending order,
  // internal keys to data blocks. Requires that `shared` is SharedWithLast(key).
  void Add(const Slice& key, const Slice& value, size_t shared) {
    VARVE_ASSERT(shared == SharedWithLast(key));
    shared = BeginEntry(shared);
    Reserve(key.size() + value.size() + 3 * kMaxVarint32Length);
    const auto unshared = static_cast<uint32_t>(key.size() - shared);
    char* p = data_.get() + size_;
    if ((shared | unshared | value.size()) < 0x80) [[likely]] {
      p[0] = static_cast<char>(shared);
      p[1] = static_cast<char>(unshared);
      p[2] = static_cast<char>(value.size());
      p += 3;
    } else {
      p = EncodeVarint32(p, static_cast<uint32_t>(shared));
      p = EncodeVarint32(p, unshared);
      p = EncodeVarint32(p, static_cast<uint32_t>(value.size()));
    }
    std::memcpy(p, key.data() + shared, unshared);
    p += unshared;
    if (!value.empty()) std::memcpy(p, value.data(), value.size());
    EndEntry(key, p + value.size());
  }
  void Add(const Slice& key, const Slice& value) { Add(key, value, SharedWithLast(key)); }

  // Appends an entry of an index with delta-encoded values: it stores no value length, and the
  // value is `full` if no part of the key is shared, else `delta`. If `may_share` is false, the key
  // is stored whole, and thus with `full`.
  void AddIndexEntry(const Slice& key, const Slice& full, const Slice& delta,
                     bool may_share = true);

  // True if nothing was added since Reset.
  [[nodiscard]] bool empty() const { return entries_ == 0; }
  // Returns the number of entries of this block.
  [[nodiscard]] uint64_t entries() const { return entries_; }
  // Returns the size of the block if it were finished now, without the hash index.
  [[nodiscard]] size_t CurrentSize() const {
    return size_ + (restarts_.size() + 1) * sizeof(uint32_t);
  }

  // Completes the block. The result lives until the next non-const call; the caller may also write
  // the kBlockTrailerBytes after it.
  Slice Finish();
  // Returns the place behind the finished block, for its trailer.
  [[nodiscard]] char* trailer() { return data_.get() + size_; }

  // Starts the next block. Keeps the memory and the last key.
  void Reset();

 private:
  // An entry of the hash index: a hash of the key, and its restart interval.
  struct HashEntry {
    uint32_t hash;
    uint32_t restart;
  };

  // Opens a restart point if one is due. Returns how much of the key may be shared.
  size_t BeginEntry(size_t shared) {
    if (until_restart_ == 0) {
      restarts_.push_back(static_cast<uint32_t>(size_));
      until_restart_ = restart_interval_;
      shared = 0;
    }
    until_restart_--;
    return shared & share_mask_;
  }

  // Makes the key the last one, and counts the entry.
  void EndEntry(const Slice& key, char* end) {
    size_ = static_cast<size_t>(end - data_.get());
    VARVE_ASSERT(size_ <= capacity_);
    if (key.size() > last_key_capacity_) [[unlikely]]
      GrowLastKey(key.size());
    std::memcpy(last_key_.get(), key.data(), key.size());
    last_key_size_ = key.size();
    entries_++;
    if (hash_index_ratio_ > 0) [[unlikely]]
      AddToHashIndex(key);
  }

  // Makes room for that many further bytes.
  void Reserve(size_t bytes) {
    if (bytes > capacity_ - size_) [[unlikely]]
      Grow(bytes);
  }
  // Grow the memory of the block, or of the last key. Throw std::bad_alloc.
  void Grow(size_t bytes);
  void GrowLastKey(size_t bytes);
  // Remembers the key's hash and restart interval for AppendHashIndex.
  void AddToHashIndex(const Slice& internal_key);
  // Appends the hash index to the block. Returns false, and appends nothing, if no index is wanted,
  // or there are too many intervals or buckets for one, or the block would become too large.
  bool AppendHashIndex();

  // The block so far; its capacity grows by doubling.
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  // The key of the last entry, with which the next one shares a prefix.
  std::unique_ptr<char[]> last_key_;
  size_t last_key_size_ = 0;
  size_t last_key_capacity_ = 0;
  uint64_t entries_ = 0;
  // Entries from one restart point to the next, and entries left until the next one.
  const uint32_t restart_interval_;
  uint32_t until_restart_ = 0;
  // ANDed with the length of the prefix that a key shares with the one before it. All ones: the
  // prefix is left out. Zero: it is not, and every key is stored whole.
  const size_t share_mask_;
  const double hash_index_ratio_;
  // Offsets of the restart points, ascending.
  std::vector<uint32_t> restarts_;
  std::vector<HashEntry> hash_entries_;
};

}  // namespace varve
