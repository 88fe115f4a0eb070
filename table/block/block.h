// SPDX-License-Identifier: Apache-2.0
#pragma once

// An immutable data block: its bytes and its restart array, which is checked once so that a walk
// cannot leave the block.
//
// A block in one piece of memory, as the cache holds it:
//
//      | CacheEntry | Block ... EntryIndex | words, places | [checksum] entries ... restarts |
//      '- front ----'- this                '- index_ ------'- data_ ------------------------'
//
// One allocation instead of three, and a search that begins at the cache's entry finds the block,
// its entry index and often the entry itself in neighbouring lines of memory, which are prefetched
// together.

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

// Header of an entry as it is stored before the key bytes.
struct BlockEntryHeader {
  // Bytes of the key before, with which this one begins.
  uint32_t shared;
  uint32_t unshared;
  uint32_t value_size;
};

// Decodes the header at `p`. Returns the start of the unshared key bytes, or null if header, key
// and value do not lie before `limit`.
[[nodiscard, gnu::always_inline]] inline const char* DecodeBlockEntry(const char* p,
                                                                      const char* limit,
                                                                      BlockEntryHeader* header) {
  if (limit - p >= 4) [[likely]] {
    // Nearly always each of the three varints is one byte, whose top bit is clear.
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

// A data block, uncompressed, with its entries and restart points. Either the bytes stay alone
// where they were read to, or, for a block that may be searched often, everything is one piece of
// memory: room for the cache's entry, the block, its entry index, its bytes.
//
// Thread safety: immutable, except that its entry index may be added.
class Block {
 public:
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Creates a block and checks what follows its entries: restart offsets must ascend from 0 and lie
  // before it. A stored hash index is skipped: the entry index of a cached block is faster, and
  // blocks without one (mapped, not cached, large) are searched by their restarts. Entries are
  // checked when they are walked. `where` names the file and the block in messages. Corruption: the
  // block's end is malformed. NotSupported: keys and values are stored separately.
  static Status Create(BlockContents&& contents, const Slice& where, std::unique_ptr<Block>* block);
  // Describes what a block in one piece has before its bytes, and the source of its memory.
  struct Piece {
    size_t front = 0;  // unused bytes at its start, a multiple of 16 below 4096
    // Number of bytes that follow the bare user key in each internal key (timestamp and trailer),
    // if the keys are in bytewise order; 0: they are in another order, and no index can be made.
    size_t key_tail = 0;
    size_t index_bytes = 0;                // room for an index, as other blocks of the table need
    bool checksum = false;                 // true: keep a checksum of the bytes, for IsWhole()
    MemoryAllocator* allocator = nullptr;  // null: huge pages

    // Returns the room for the bytes of such a block, so that they can be read to where they stay.
    [[nodiscard]] BlockRoom Room() const;
  };
  // Creates a block in one piece. If the bytes lie in memory that has piece.Room() or more before
  // them, the block is made there; otherwise they are copied. Unless `index_bytes` is null, sets
  // *index_bytes to the room that the block's index needs, 0 if it can have none. Errors are those
  // of Create, and MemoryLimit: no memory for a copy.
  static Status CreateInOnePiece(BlockContents&& contents, const Piece& piece, const Slice& where,
                                 std::unique_ptr<Block>* block, size_t* index_bytes = nullptr);
  // Deletes a block of either kind, on behalf of unique_ptr.
  static void Destroy(const Block* block);

  // Return the bounds of the entries; the restart offsets follow.
  [[nodiscard]] const char* entries_begin() const { return data_; }
  [[nodiscard]] const char* entries_end() const { return data_ + entries_size_; }
  [[nodiscard]] uint32_t entries_size() const { return entries_size_; }
  // Returns the number of restart points, at least 1 in a block with entries.
  [[nodiscard]] uint32_t restart_count() const { return restart_count_; }
  // Requires i < restart_count().
  [[nodiscard]] uint32_t RestartOffset(uint32_t i) const {
    VARVE_ASSERT(i < restart_count_);
    return DecodeFixed32(entries_end() + size_t{i} * 4);
  }
  // Returns the number of the last restart point at or before an offset of the block.
  [[nodiscard]] uint32_t RestartBefore(uint32_t entry_offset) const;
  // Returns the index; its size() is 0 if there is none.
  [[nodiscard]] const EntryIndex& index() const { return index_; }
  // True if the bytes still match their checksum; always true for a block without a checksum.
  [[nodiscard]] bool IsWhole() const;
  // Makes the index, unless that was done or another thread does it. Must be called when a block is
  // found in the cache, not when it is read from the file: most blocks that pass through a small
  // cache are read once.
  void WantIndex() const {
    if (index_.awaited()) [[unlikely]]
      MakeIndex();
  }

  // Visits the first `bytes` bytes of the key of index entry `i`, all of which the entry must share
  // with the one before it: so they lie in pieces in earlier entries. Calls part(at, data, n) for
  // each piece: the n bytes at `data` are the key's from `at` on. The last piece comes first, and
  // the prefix that all keys have, from the first entry, last. Returns false, without the rest, if
  // there is damage or part() returns false.
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
  // Decodes the header of entry `i` of the index. Returns the start of its unshared key bytes, or
  // null if the entry does not fit into the block.
  [[nodiscard]] const char* IndexedEntry(uint32_t i, BlockEntryHeader* header) const {
    VARVE_ASSERT(i < index_.size());
    return DecodeBlockEntry(entries_begin() + index_.offset(i), entries_end(), header);
  }

  // Prefetches the cache lines that a search starts with. The address is not dereferenced and may
  // be null.
  template <CacheLevel level = CacheLevel::kFirst>
  static void Prefetch(const Block* block) {
    constexpr size_t kLine = 64;
    constexpr size_t kLines = 4;  // the block, and the index of a typical number of entries
    for (size_t i = 0; i < kLines; i++) {
      PrefetchLine<level>(reinterpret_cast<const char*>(block) + i * kLine);
    }
  }

  // Returns false for a block inside a mapped file.
  [[nodiscard]] bool owns_bytes() const { return home_ != Home::kMapped; }
  // Returns the bytes that keeping this block costs, without `front`.
  [[nodiscard]] size_t MemoryUsage() const;
  // Returns the `front` bytes before a block that is in one piece.
  [[nodiscard]] char* front() { return reinterpret_cast<char*>(this) - front_units_ * kFrontUnit; }

 private:
  // The memory in which the block's bytes lie: a mapped file, a buffer of its own, or one
  // allocation with the block itself.
  enum class Home : uint8_t { kMapped, kBuffer, kOnePiece };

  Block() = default;
  ~Block() = default;  // frees nothing: Destroy does
  // Parses what follows the entries in data_, which has `size` bytes, and sets entries_size_ and
  // restart_count_.
  Status ParseRestarts(size_t size, const Slice& where);
  // Returns an upper bound of the size of an entry index if no interval between restarts has more
  // entries than the first; 0: an index would not pay.
  [[nodiscard]] size_t IndexBytes() const;
  // Returns the number of entries between two offsets.
  [[nodiscard]] size_t CountEntries(size_t begin, size_t end) const;
  // Computes the checksum of the bytes.
  [[nodiscard]] uint64_t Checksum() const;

  [[gnu::noinline]] void MakeIndex() const;

  static constexpr size_t kFrontUnit = 16;
  // Bytes right before the block's, if it has a checksum.
  static constexpr size_t kChecksumBytes = 16;

  MemoryAllocator* allocator_ = nullptr;  // allocator of kBuffer's bytes, or of all of kOnePiece
  uint32_t owned_bytes_ = 0;              // bytes after front; for kBuffer, those it occupies
  uint8_t front_units_ = 0;               // Piece::front, in units of kFrontUnit
  Home home_ = Home::kMapped;
  bool has_checksum_ = false;
  // The members from here on are what a search reads.
  const char* data_ = nullptr;
  uint32_t entries_size_ = 0;
  uint32_t restart_count_ = 0;
  mutable EntryIndex index_;  // the last member, as its words follow it
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
