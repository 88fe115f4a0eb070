// SPDX-License-Identifier: Apache-2.0
#pragma once

// An immutable data block: its bytes and its restart array, checked once so that a walk cannot
// leave them.

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

// Thread safety: immutable.
class Block {
 public:
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

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

  // Asks for the cache lines that a search starts with. The address is not read; it may be null.
  static void Prefetch(const Block* block) {
    if (block == nullptr) return;
    __builtin_prefetch(block);
  }

  // False for a block inside a mapped file.
  [[nodiscard]] bool owns_bytes() const { return contents_.owns_bytes(); }
  // Bytes that keeping this block costs.
  [[nodiscard]] size_t MemoryUsage() const;

 private:
  Block() = default;

  BlockContents contents_;
  uint32_t entries_size_ = 0;
  uint32_t restart_count_ = 0;
  const char* buckets_ = nullptr;
  uint32_t bucket_count_ = 0;
};

}  // namespace varve
