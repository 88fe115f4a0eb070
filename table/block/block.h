// SPDX-License-Identifier: Apache-2.0
#pragma once

// An immutable data block: its bytes, its restart array, and what is built from them in memory so
// that searching touches few cache lines.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

#include "table/block/block_contents.h"
#include "util/coding/fixed.h"
#include "util/coding/varint.h"
#include "util/key/internal_key.h"

namespace varve {

// One entry's header as it is stored before the key bytes.
struct BlockEntryHeader {
  uint32_t shared;
  uint32_t unshared;
  uint32_t value_size;
};

// Decodes the header at `p`; returns where the unshared key bytes start, or null if header, key and
// value do not lie before `limit`.
[[nodiscard]] inline const char* DecodeBlockEntry(const char* p, const char* limit,
                                                  BlockEntryHeader* header) {
  if (limit - p >= 4) [[likely]] {
    const uint32_t bytes = DecodeFixed32(p);
    if ((bytes & 0x808080) == 0) [[likely]] {
      header->shared = bytes & 0xff;
      header->unshared = bytes >> 8 & 0xff;
      header->value_size = bytes >> 16 & 0xff;
      p += 3;
      const size_t need = size_t{header->unshared} + header->value_size;
      return static_cast<size_t>(limit - p) >= need ? p : nullptr;
    }
  }
  p = GetVarint32Ptr(p, limit, &header->shared);
  if (p != nullptr) p = GetVarint32Ptr(p, limit, &header->unshared);
  if (p != nullptr) p = GetVarint32Ptr(p, limit, &header->value_size);
  if (p == nullptr) return nullptr;
  const uint64_t need = uint64_t{header->unshared} + header->value_size;
  return static_cast<uint64_t>(limit - p) >= need ? p : nullptr;
}

// The eight bytes behind the prefix shared by all user keys of a block, one word an entry, with the
// entry's offset: a search compares integers of one small array and then looks at one entry.
// Only for comparators that order by bytes, and blocks of at most 64 KiB.
//
// Words, offsets and prefix lie right behind their Block in memory, so that all their cache lines
// can be asked for as soon as its address is known.
class alignas(8) BlockKeyIndex {
 public:
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] uint64_t word(size_t i) const { return words()[i]; }
  [[nodiscard]] uint32_t offset(size_t i) const { return offsets()[i]; }
  // Bytes that all user keys of the block start with.
  [[nodiscard]] size_t prefix_size() const { return prefix_size_; }

  // Where `user_key` stands against the shared prefix: <0 before all entries, >0 after all, 0 if it
  // starts with it and *word is then its word.
  [[nodiscard]] int Locate(const Slice& user_key, uint64_t* word) const;
  // Index of the first word >= `word`; size() if there is none.
  [[nodiscard]] size_t LowerBound(uint64_t word) const;
  // Writes the first prefix_size() + 8 bytes of entry i's user key, zeros where it has ended.
  void CopyKeyStart(size_t i, char* dst) const;

 private:
  friend class Block;

  // What follows the block: words, offsets, prefix.
  [[nodiscard]] static size_t BytesFor(size_t entries, size_t prefix) {
    return entries * (sizeof(uint64_t) + sizeof(uint16_t)) + prefix;
  }
  // The index is the block's last member.
  [[nodiscard]] const uint64_t* words() const {
    return reinterpret_cast<const uint64_t*>(this + 1);
  }
  [[nodiscard]] const uint16_t* offsets() const {
    return reinterpret_cast<const uint16_t*>(words() + size_);
  }
  [[nodiscard]] const char* prefix() const {
    return reinterpret_cast<const char*>(offsets() + size_);
  }

  uint32_t size_ = 0;  // 0: there is no index
  uint16_t prefix_size_ = 0;
  bool reverse_ = false;
};

// Thread safety: immutable.
class Block {
 public:
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  // Blocks are made with memory behind them: see BlockKeyIndex.
  static void operator delete(void* block) { ::operator delete(block); }

  // Checks the trailer: restart offsets ascend from 0 and lie before it. Entries are checked as
  // they are walked. Errors: Corruption, or NotSupported for separated keys and values; `where`
  // names the file and the block.
  static Status Create(BlockContents&& contents, const Slice& where, std::unique_ptr<Block>* block);

  [[nodiscard]] const char* entries_begin() const { return contents_.data.data(); }
  [[nodiscard]] const char* entries_end() const { return contents_.data.data() + entries_size_; }
  [[nodiscard]] uint32_t entries_size() const { return entries_size_; }
  [[nodiscard]] uint32_t restart_count() const { return restart_count_; }
  // Requires i < restart_count().
  [[nodiscard]] uint32_t RestartOffset(uint32_t i) const {
    return DecodeFixed32(entries_end() + size_t{i} * 4);
  }
  // The last restart point at or before an offset.
  [[nodiscard]] uint32_t RestartBefore(uint32_t entry_offset) const;

  // What the stored hash index says about a user key.
  enum class HashAnswer : uint8_t { kUnknown, kAbsent, kRestart };
  // With kRestart, *restart is the only restart interval that may hold the key.
  [[nodiscard]] HashAnswer LookupHash(const Slice& user_key, uint32_t* restart) const;
  [[nodiscard]] bool has_hash_index() const { return bucket_count_ != 0; }

  // Replaces the block by one with a key index, if it is fit for one.
  static void AddKeyIndex(const InternalKeyComparator& icmp, std::unique_ptr<Block>* block);
  // Null if there is none.
  [[nodiscard]] const BlockKeyIndex* key_index() const {
    return index_.size_ != 0 ? &index_ : nullptr;
  }
  // Asks for the cache lines that a search starts with, given an address that is not read.
  static void Prefetch(const Block* block) {
    const char* const p = reinterpret_cast<const char*>(block);
    for (size_t i = 0; i < kPrefetchLines; i++) __builtin_prefetch(p + i * 64);
  }

  // False for a block inside a mapped file.
  [[nodiscard]] bool owns_bytes() const { return contents_.owns_bytes(); }
  // Bytes that keeping this block costs.
  [[nodiscard]] size_t MemoryUsage() const;

 private:
  // The block itself, and the key index of some 40 entries.
  static constexpr size_t kPrefetchLines = 8;

  Block() = default;
  // A block with `extra` bytes of memory behind it.
  static std::unique_ptr<Block> Make(size_t extra);

  BlockContents contents_;
  uint32_t entries_size_ = 0;
  uint32_t restart_count_ = 0;
  const char* buckets_ = nullptr;
  uint32_t bucket_count_ = 0;
  BlockKeyIndex index_;  // last: its arrays follow
};

}  // namespace varve
