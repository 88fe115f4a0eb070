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
#include "table/block/entry_index.h"
#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/coding/varint.h"
#include "util/key/internal_key.h"
#include "util/mem/prefetch.h"

namespace varve {

// One entry's header as it is stored before the key bytes.
struct BlockEntryHeader {
  uint32_t shared;
  uint32_t unshared;
  uint32_t value_size;
};

// Decodes the header at `p`; returns where the unshared key bytes start, or null if header, key and
// value do not lie before `limit`.
[[nodiscard, gnu::always_inline]] inline const char* DecodeBlockEntry(const char* p,
                                                                      const char* limit,
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

// Thread safety: immutable, but that its entry index appears.
//
// Either the bytes are alone where they were read to, or, for a block that may be searched often,
// all is one piece of memory: room for the cache's entry, the block, its entry index, its bytes.
class Block {
 public:
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Checks the trailer: restart offsets ascend from 0 and lie before it. A stored hash index is
  // passed over: the entry index of a cached block is faster, and blocks that are searched without
  // one (mapped, not cached, large) by their restarts. Entries are checked as they are walked.
  // Errors: Corruption, or NotSupported for separated keys and values; `where` names the file and
  // the block.
  static Status Create(BlockContents&& contents, const Slice& where, std::unique_ptr<Block>* block);
  // What a block in one piece has before its bytes, and where its memory comes from.
  struct Piece {
    size_t front = 0;  // unused bytes that begin it, a multiple of 16 below 4096
    // How many bytes of internal keys follow keys in bytewise order; 0: the keys are in another
    // order, and no index can be made.
    size_t key_tail = 0;
    size_t index_bytes = 0;  // room for an index, as other blocks of its table need it
    bool checksum = false;   // of the bytes, for IsWhole()
    MemoryAllocator* allocator = nullptr;  // null: huge pages

    // For the bytes of such a block: to read them where they will stay.
    [[nodiscard]] BlockRoom Room() const;
  };
  // If the bytes lie in such a room that is large enough, the block is made there; else they are
  // copied. *index_bytes, if not null, becomes how much room its index needs.
  static Status CreateInOnePiece(BlockContents&& contents, const Piece& piece, const Slice& where,
                                 std::unique_ptr<Block>* block, size_t* index_bytes = nullptr);
  // What unique_ptr does with a block of either kind.
  static void Destroy(const Block* block);

  [[nodiscard]] const char* entries_begin() const { return data_; }
  [[nodiscard]] const char* entries_end() const { return data_ + entries_size_; }
  [[nodiscard]] uint32_t entries_size() const { return entries_size_; }
  [[nodiscard]] uint32_t restart_count() const { return restart_count_; }
  // Requires i < restart_count().
  [[nodiscard]] uint32_t RestartOffset(uint32_t i) const {
    VARVE_ASSERT(i < restart_count_);
    return DecodeFixed32(entries_end() + size_t{i} * 4);
  }
  // The last restart point at or before an offset.
  [[nodiscard]] uint32_t RestartBefore(uint32_t entry_offset) const;
  // Its size() is 0 where there is none.
  [[nodiscard]] const EntryIndex& index() const { return index_; }
  // Whether the bytes are what they were made of; true for a block without a checksum.
  [[nodiscard]] bool IsWhole() const;
  // For a block that is read again: makes the index, unless that was done or another thread is at
  // it. Most blocks that pass through a small cache are read once.
  void WantIndex() const {
    if (index_.awaited()) [[unlikely]]
      MakeIndex();
  }

  // Calls part(at, data, n) for pieces that make up the first `bytes` bytes of the key of index
  // entry `i`, the last piece first; entries share them with those before, and all with the first.
  // False, without the rest, for damage or once part() is false.
  template <typename Part>
  bool VisitKeyStart(uint32_t i, size_t bytes, Part part) const {
    const size_t prefix = index_.shared_prefix();
    BlockEntryHeader header;
    while (bytes > prefix && i > 0) {
      const char* const data = IndexedEntry(--i, &header);
      if (data == nullptr || size_t{header.shared} + header.unshared < bytes) return false;
      if (header.shared >= bytes) continue;
      if (!part(size_t{header.shared}, data, bytes - header.shared)) return false;
      bytes = header.shared;
    }
    const char* const first = IndexedEntry(0, &header);
    return bytes <= prefix && first != nullptr && part(size_t{0}, first, bytes);
  }
  // Of entry `i` of the index: its header and where its unshared key bytes start.
  [[nodiscard]] const char* IndexedEntry(uint32_t i, BlockEntryHeader* header) const {
    VARVE_ASSERT(i < index_.size());
    return DecodeBlockEntry(entries_begin() + index_.offset(i), entries_end(), header);
  }

  // Asks for the cache lines that a search starts with. The address is not read; it may be null.
  template <CacheLevel level = CacheLevel::kFirst>
  static void Prefetch(const Block* block) {
    constexpr size_t kLine = 64;
    constexpr size_t kLines = 4;  // the block, and the index of a usual number of entries
    for (size_t i = 0; i < kLines; i++) {
      PrefetchLine<level>(reinterpret_cast<const char*>(block) + i * kLine);
    }
  }

  // False for a block inside a mapped file.
  [[nodiscard]] bool owns_bytes() const { return home_ != Home::kMapped; }
  // Bytes that keeping this block costs, without `front`.
  [[nodiscard]] size_t MemoryUsage() const;
  // The `front` bytes before a block that is in one piece.
  [[nodiscard]] char* front() { return reinterpret_cast<char*>(this) - front_units_ * kFrontUnit; }

 private:
  enum class Home : uint8_t { kMapped, kBuffer, kOnePiece };

  Block() = default;
  ~Block() = default;  // frees nothing: Destroy does
  // Of data_, `size` bytes.
  Status ParseTrailer(size_t size, const Slice& where);
  // An upper bound of what an entry index takes, where no interval between restarts has more
  // entries than the first; 0: no index pays.
  [[nodiscard]] size_t IndexBytes() const;
  [[nodiscard]] size_t CountEntries(size_t begin, size_t end) const;
  [[nodiscard]] uint64_t Checksum() const;

  [[gnu::noinline]] void MakeIndex() const;

  static constexpr size_t kFrontUnit = 16;
  // Right before the bytes, if there is one.
  static constexpr size_t kChecksumBytes = 16;

  MemoryAllocator* allocator_ = nullptr;  // of kBuffer's bytes, or of kOnePiece's all
  uint32_t owned_bytes_ = 0;              // after front; of kBuffer, what they occupy
  uint8_t front_units_ = 0;
  Home home_ = Home::kMapped;
  bool has_checksum_ = false;
  // What a search reads from here on.
  const char* data_ = nullptr;
  uint32_t entries_size_ = 0;
  uint32_t restart_count_ = 0;
  mutable EntryIndex index_;  // the last member: its words follow
};

}  // namespace varve

template <>
struct std::default_delete<varve::Block> {
  void operator()(const varve::Block* block) const { varve::Block::Destroy(block); }
};
template <>
struct std::default_delete<const varve::Block> : std::default_delete<varve::Block> {
  default_delete() = default;
  default_delete(const std::default_delete<varve::Block>&) {}
};
