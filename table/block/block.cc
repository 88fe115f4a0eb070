// SPDX-License-Identifier: Apache-2.0

// The end of a block says how to read it, from the last byte on:
//
//     entries | restart offsets, 4 bytes each | hash index, if flagged | last word, 4 bytes
//
// The last word has the number of restarts, and flags in its top bits.
//
// ParseRestarts checks all of it once: restart offsets ascend and lie within the entries, the first
// is 0. After that a cursor may use them unchecked. Entries are checked as they are decoded, as a
// check of all would cost as much as reading them.

#include "table/block/block.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "table/block/block_hash_index.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/coding/hash.h"
#include "util/mem/huge_heap.h"

namespace varve {

namespace {

// Flags in the top bits of the block's last word.
constexpr uint32_t kUniformKeysFlag = 1u << 29;  // a hint only
constexpr uint32_t kSeparatedFlag = 1u << 28;
constexpr uint32_t kRestartCountMask = kSeparatedFlag - 1;

Status Malformed(const Slice& where, const char* what) {
  return Status::Corruption("malformed block, " + std::string(what), where);
}

// Clamps `bytes` to 32 bits: allocators may round up what is nearly 4 GiB.
uint32_t Limited(size_t bytes) {
  return static_cast<uint32_t>(std::min<size_t>(bytes, UINT32_MAX));
}

}  // namespace

// Goes from the last word to the front. Each length is compared with what is left before it is
// taken off, so that no block of any content makes it read outside.
Status Block::ParseRestarts(size_t size, const Slice& where) {
  if (size < sizeof(uint32_t)) return Malformed(where, "too short");
  const uint32_t packed = DecodeFixed32(data_ + size - sizeof(uint32_t));
  if ((packed & kSeparatedFlag) != 0) {
    return Status::NotSupported("block with separated keys and values", where);
  }
  if ((packed & ~(block_hash::kFlag | kUniformKeysFlag | kRestartCountMask)) != 0) {
    return Malformed(where, "unknown flags");
  }
  size_t end = size - sizeof(uint32_t);
  if ((packed & block_hash::kFlag) != 0) {
    // The limit is for what precedes the last word. BlockBuilder keeps it for the whole block.
    if (size > block_hash::kMaxBlockBytes + sizeof(uint32_t)) {
      return Malformed(where, "hash index in a large block");
    }
    if (end < sizeof(uint16_t)) return Malformed(where, "truncated hash index");
    end -= sizeof(uint16_t);
    const uint16_t buckets = DecodeFixed16(data_ + end);
    if (buckets == 0 || buckets > end) return Malformed(where, "bad hash index size");
    end -= buckets;
  }
  const uint32_t restarts = packed & kRestartCountMask;
  if (restarts == 0 || restarts > end / sizeof(uint32_t)) {
    return Malformed(where, "bad restart count");
  }
  end -= size_t{restarts} * sizeof(uint32_t);
  if (end > UINT32_MAX) return Malformed(where, "too large");
  entries_size_ = static_cast<uint32_t>(end);
  restart_count_ = restarts;
  uint32_t previous = 0;
  for (uint32_t i = 0; i < restarts; i++) {
    const uint32_t offset = RestartOffset(i);
    const bool ok = i == 0 ? offset == 0 : (offset > previous && offset < end);
    if (!ok) return Malformed(where, "bad restart offset");
    previous = offset;
  }
  return Status::OK();
}

// The bytes stay where they are: the block takes the buffer over, or refers to the mapped file.
Status Block::Create(BlockContents&& contents, const Slice& where, std::unique_ptr<Block>* block) {
  std::unique_ptr<Block> result(new Block());
  result->data_ = contents.data.data();
  VARVE_RETURN_IF_ERROR(result->ParseRestarts(contents.data.size(), where));
  if (contents.owns_bytes()) {
    const BlockRoom& room = contents.buffer.get_deleter().room;
    VARVE_ASSERT(contents.data.data() == contents.buffer.get());
    // A buffer of its own has nothing before the bytes, and is not on huge pages: Destroy frees it
    // so.
    VARVE_ASSERT(room == BlockRoom{room.allocator});
    result->home_ = Home::kBuffer;
    result->allocator_ = room.allocator;
    result->owned_bytes_ = Limited(contents.MemoryUsage());
    (void)contents.buffer.release();
  }
  *block = std::move(result);
  return Status::OK();
}

// Returns the number of entries, or 0 if they are damaged: the walk that meets the damage reports
// it.
size_t Block::CountEntries(size_t begin, size_t end) const {
  const char* const limit = data_ + end;
  size_t n = 0;
  for (const char* p = data_ + begin; p < limit; n++) {
    BlockEntryHeader header;
    p = DecodeBlockEntry(p, limit, &header);
    if (p == nullptr) return 0;
    p += size_t{header.unshared} + header.value_size;
  }
  return n;
}

// Counts the entries of the first and of the last restart interval, and takes all others to have as
// many as the first. If that is wrong, the index is made narrower or left out (MakeIndex). An entry
// gets two bytes for its word, and for its place two bytes (an offset) or, if entries are small,
// one (a length).
size_t Block::IndexBytes() const {
  constexpr size_t kUnit = 16;
  constexpr size_t kSmallEntry = 128;  // nearly all entries below this have lengths of one byte
  if (entries_size_ > UINT16_MAX) return 0;  // an index has offsets of 16 bits
  size_t n = CountEntries(0, restart_count_ > 1 ? RestartOffset(1) : entries_size_);
  if (restart_count_ > 1) {
    const size_t before = restart_count_ - 1;
    n = n * before + CountEntries(RestartOffset(restart_count_ - 1), entries_size_);
  }
  if (n == 0 || n > EntryIndex::kEntriesMax || entries_size_ / n < EntryIndex::kEntryBytesMin) {
    return 0;
  }
  return (n * (entries_size_ / n > kSmallEntry ? 4 : 3) + kUnit - 1) / kUnit * kUnit;
}

BlockRoom Block::Piece::Room() const {
  const size_t before = index_bytes + (checksum ? kChecksumBytes : 0);
  return {allocator, front + sizeof(Block) + before, /*huge_pages=*/allocator == nullptr};
}

// Three steps: a draft parses the block's end where the bytes lie now; then the bytes get a place
// with room for block and index before them, which they have already if they were read into such a
// room; then the block is made there. After an error the contents are freed, or still the caller's.
Status Block::CreateInOnePiece(BlockContents&& contents, const Piece& piece, const Slice& where,
                               std::unique_ptr<Block>* block, size_t* index_bytes) {
  VARVE_ASSERT(piece.front % kFrontUnit == 0 && piece.front / kFrontUnit <= UINT8_MAX);
  // The position of the bytes is known only when the index's room is known.
  Block draft;
  draft.data_ = contents.data.data();
  const size_t size = contents.data.size();
  VARVE_RETURN_IF_ERROR(draft.ParseRestarts(size, where));
  Piece wanted = piece;
  wanted.index_bytes = piece.key_tail != 0 ? draft.IndexBytes() : 0;
  if (index_bytes != nullptr) *index_bytes = wanted.index_bytes;
  const BlockRoom& room = contents.buffer.get_deleter().room;
  // The buffer can become the piece if it has the room that is needed, from the same source.
  const bool here = contents.data.data() == contents.buffer.get() &&
                    room.allocator == piece.allocator &&
                    room.huge_pages == piece.Room().huge_pages && room.front >= wanted.Room().front;
  BlockBuffer bytes;
  if (here) {
    bytes = std::move(contents.buffer);
  } else {
    bytes = AllocateBlockBuffer(size, wanted.Room());
    if (bytes == nullptr) return Status::MemoryLimit("no memory for a block", where);
    memcpy(bytes.get(), contents.data.data(), size);
  }
  const size_t owned = bytes.get_deleter().room.front + bytes.get_deleter().bytes - piece.front;
  if (owned > UINT32_MAX) return Malformed(where, "4 GiB or larger");
  char* const memory = bytes.get() - bytes.get_deleter().room.front;
  auto* const result = new (memory + piece.front) Block();
  result->allocator_ = piece.allocator;
  result->owned_bytes_ = static_cast<uint32_t>(owned);
  result->front_units_ = static_cast<uint8_t>(piece.front / kFrontUnit);
  result->home_ = Home::kOnePiece;
  result->data_ = bytes.release();
  result->entries_size_ = draft.entries_size_;
  result->restart_count_ = draft.restart_count_;
  // The index's words follow it, and end before the bytes.
  VARVE_ASSERT(reinterpret_cast<char*>(&result->index_ + 1) == reinterpret_cast<char*>(result + 1));
  VARVE_ASSERT(reinterpret_cast<char*>(result + 1) + wanted.index_bytes <= result->data_);
  if (piece.checksum) {
    result->has_checksum_ = true;
    const uint64_t checksum = result->Checksum();
    memcpy(const_cast<char*>(result->data_) - kChecksumBytes, &checksum, sizeof(checksum));
  }
  if (wanted.index_bytes != 0) result->index_.Await(piece.key_tail);
  block->reset(result);
  return Status::OK();
}

uint64_t Block::Checksum() const {
  return XXH3Hash64(data_, size_t{entries_size_} + size_t{restart_count_} * sizeof(uint32_t), 0);
}

bool Block::IsWhole() const {
  if (!has_checksum_) return true;
  uint64_t made = 0;
  memcpy(&made, data_ - kChecksumBytes, sizeof(made));
  return made == Checksum();
}

// One thread gets past Claim, and readers use the index once Write has published it. A block whose
// entries turn out not to fit keeps no index for good.
void Block::MakeIndex() const {
  if (!index_.Claim()) return;
  EntryIndexBuilder builder;
  if (!builder.Scan(Slice(data_, entries_size_), index_.tail_bytes())) return;
  const char* const end = data_ - (has_checksum_ ? kChecksumBytes : 0);
  const auto room = static_cast<size_t>(end - reinterpret_cast<const char*>(this + 1));
  if (builder.FitInto(room)) builder.Write(&index_);
}

// A block in one piece lies inside its allocation, and goes with it. The others are objects of the
// heap whose bytes are freed apart, or belong to the file.
void Block::Destroy(const Block* block) {
  auto* const own = const_cast<Block*>(block);
  switch (own->home_) {
    case Home::kOnePiece:
      if (own->allocator_ != nullptr) {
        own->allocator_->Deallocate(own->front());
      } else {
        HugeHeap::Free(own->front(), own->front_units_ * kFrontUnit + own->owned_bytes_);
      }
      return;
    case Home::kBuffer:
      BlockBufferDeleter{BlockRoom{own->allocator_}}(const_cast<char*>(own->data_));
      break;
    case Home::kMapped:
      break;
  }
  delete own;
}

uint32_t Block::RestartBefore(uint32_t entry_offset) const {
  uint32_t low = 0;
  uint32_t n = restart_count_;
  while (n > 1) {
    const uint32_t half = n / 2;
    low += RestartOffset(low + half) <= entry_offset ? half : 0;
    n -= half;
  }
  return low;
}

size_t Block::MemoryUsage() const {
  if (home_ != Home::kOnePiece) return sizeof(*this) + owned_bytes_;
  char* const memory = const_cast<Block*>(this)->front();
  const size_t front_bytes = front_units_ * kFrontUnit;
  const size_t total = front_bytes + owned_bytes_;
  const size_t occupied = allocator_ != nullptr ? OccupiedBytes(memory, total, allocator_)
                                                : HugeHeap::OccupiedBytes(total);
  return occupied - front_bytes;
}

}  // namespace varve
