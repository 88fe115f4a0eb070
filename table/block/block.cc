// SPDX-License-Identifier: Apache-2.0
#include "table/block/block.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "table/block/block_hash_index.h"
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

// Allocators may round up what is nearly 4 GiB.
uint32_t Limited(size_t bytes) {
  return static_cast<uint32_t>(std::min<size_t>(bytes, UINT32_MAX));
}

}  // namespace

Status Block::ParseTrailer(size_t size, const Slice& where) {
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
    if (size > block_hash::kMaxBlockBytes + sizeof(uint32_t)) {
      return Malformed(where, "hash index in a large block");
    }
    if (end < sizeof(uint16_t)) return Malformed(where, "truncated hash index");
    end -= sizeof(uint16_t);
    bucket_count_ = DecodeFixed16(data_ + end);
    if (bucket_count_ == 0 || bucket_count_ > end) return Malformed(where, "bad hash index size");
    end -= bucket_count_;
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

Status Block::Create(BlockContents&& contents, const Slice& where, std::unique_ptr<Block>* block) {
  std::unique_ptr<Block> result(new Block());
  result->data_ = contents.data.data();
  VARVE_RETURN_IF_ERROR(result->ParseTrailer(contents.data.size(), where));
  if (contents.owns_bytes()) {
    assert(contents.data.data() == contents.buffer.get());
    result->home_ = Home::kBuffer;
    result->allocator_ = contents.buffer.get_deleter().allocator;
    result->owned_bytes_ = Limited(contents.MemoryUsage());
    (void)contents.buffer.release();
  }
  *block = std::move(result);
  return Status::OK();
}

Status Block::CreateInOnePiece(const Slice& data, size_t key_tail, size_t front,
                               MemoryAllocator* allocator, const Slice& where,
                               std::unique_ptr<Block>* block) {
  // Where the bytes will be is known when the index is.
  Block draft;
  draft.data_ = data.data();
  VARVE_RETURN_IF_ERROR(draft.ParseTrailer(data.size(), where));
  EntryIndexBuilder builder;
  const bool has_index =
      key_tail != 0 && builder.Scan(Slice(data.data(), draft.entries_size_), key_tail);
  const size_t head = sizeof(Block) + (has_index ? builder.bytes() : 0);
  const size_t total = front + head + data.size();
  if (head + data.size() > UINT32_MAX) return Malformed(where, "4 GiB or larger");
  char* const memory = allocator != nullptr ? AllocateBlockBuffer(total, allocator).release()
                                            : HugeHeap::Allocate(total);
  if (memory == nullptr) return Status::MemoryLimit("no memory for a block", where);
  auto* const result = new (memory + front) Block();
  char* const bytes = memory + front + head;
  memcpy(bytes, data.data(), data.size());
  result->allocator_ = allocator;
  result->owned_bytes_ = static_cast<uint32_t>(head + data.size());
  result->front_units_ = static_cast<uint8_t>(front / kFrontUnit);
  result->bucket_count_ = draft.bucket_count_;
  result->home_ = Home::kOnePiece;
  result->data_ = bytes;
  result->entries_size_ = draft.entries_size_;
  result->restart_count_ = draft.restart_count_;
  assert(reinterpret_cast<char*>(&result->index_ + 1) == reinterpret_cast<char*>(result + 1));
  if (has_index) builder.Write(&result->index_);
  block->reset(result);
  return Status::OK();
}

void Block::Destroy(const Block* block) {
  auto* const own = const_cast<Block*>(block);
  const BlockBufferDeleter deleter{own->allocator_};
  switch (own->home_) {
    case Home::kOnePiece:
      if (own->allocator_ != nullptr) {
        deleter(own->front());
      } else {
        HugeHeap::Free(own->front(), own->front_units_ * kFrontUnit + own->owned_bytes_);
      }
      return;
    case Home::kBuffer:
      deleter(const_cast<char*>(own->data_));
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

Block::HashAnswer Block::LookupHash(const Slice& user_key, uint32_t* restart) const {
  if (bucket_count_ == 0) return HashAnswer::kUnknown;
  const uint32_t hash = Hash(user_key.data(), user_key.size(), block_hash::kSeed);
  const auto bucket = static_cast<unsigned char>(buckets()[hash % bucket_count_]);
  if (bucket == block_hash::kEmptyBucket) return HashAnswer::kAbsent;
  if (bucket == block_hash::kCollision || bucket >= restart_count_) return HashAnswer::kUnknown;
  *restart = bucket;
  return HashAnswer::kRestart;
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
