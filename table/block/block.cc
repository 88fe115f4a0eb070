// SPDX-License-Identifier: Apache-2.0
#include "table/block/block.h"

#include <algorithm>
#include <utility>

#include "table/block/block_hash_index.h"
#include "util/coding/hash.h"

namespace varve {

namespace {

// Flags in the top bits of the block's last word.
constexpr uint32_t kUniformKeysFlag = 1u << 29;  // a hint only
constexpr uint32_t kSeparatedFlag = 1u << 28;
constexpr uint32_t kRestartCountMask = kSeparatedFlag - 1;

Status Malformed(const Slice& where, const char* what) {
  return Status::Corruption("malformed block, " + std::string(what), where);
}

}  // namespace

Status Block::Create(BlockContents&& contents, const Slice& where, std::unique_ptr<Block>* block) {
  const Slice data = contents.data;
  if (data.size() < sizeof(uint32_t)) return Malformed(where, "too short");
  const uint32_t packed = DecodeFixed32(data.data() + data.size() - sizeof(uint32_t));
  if ((packed & kSeparatedFlag) != 0) {
    return Status::NotSupported("block with separated keys and values", where);
  }
  if ((packed & ~(block_hash::kFlag | kUniformKeysFlag | kRestartCountMask)) != 0) {
    return Malformed(where, "unknown flags");
  }
  std::unique_ptr<Block> result(new Block());
  size_t end = data.size() - sizeof(uint32_t);
  if ((packed & block_hash::kFlag) != 0) {
    if (data.size() > block_hash::kMaxBlockBytes + sizeof(uint32_t)) {
      return Malformed(where, "hash index in a large block");
    }
    if (end < sizeof(uint16_t)) return Malformed(where, "truncated hash index");
    end -= sizeof(uint16_t);
    result->bucket_count_ = DecodeFixed16(data.data() + end);
    if (result->bucket_count_ == 0 || result->bucket_count_ > end) {
      return Malformed(where, "bad hash index size");
    }
    end -= result->bucket_count_;
    result->buckets_ = data.data() + end;
  }
  const uint32_t restarts = packed & kRestartCountMask;
  if (restarts == 0 || restarts > end / sizeof(uint32_t)) {
    return Malformed(where, "bad restart count");
  }
  end -= size_t{restarts} * sizeof(uint32_t);
  if (end > UINT32_MAX) return Malformed(where, "too large");
  result->entries_size_ = static_cast<uint32_t>(end);
  result->restart_count_ = restarts;
  const char* array = data.data() + end;
  uint32_t previous = 0;
  for (uint32_t i = 0; i < restarts; i++) {
    const uint32_t offset = DecodeFixed32(array + size_t{i} * 4);
    const bool ok = i == 0 ? offset == 0 : (offset > previous && offset < end);
    if (!ok) return Malformed(where, "bad restart offset");
    previous = offset;
  }
  result->contents_ = std::move(contents);
  *block = std::move(result);
  return Status::OK();
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
  const auto bucket = static_cast<unsigned char>(buckets_[hash % bucket_count_]);
  if (bucket == block_hash::kEmptyBucket) return HashAnswer::kAbsent;
  if (bucket == block_hash::kCollision || bucket >= restart_count_) return HashAnswer::kUnknown;
  *restart = bucket;
  return HashAnswer::kRestart;
}

size_t Block::MemoryUsage() const {
  return sizeof(*this) + contents_.buffer_bytes;
}

}  // namespace varve
