// SPDX-License-Identifier: Apache-2.0

// Finishes a block: restart points, hash index, and the word that counts them. Grows the buffers.

#include "table/block/block_builder.h"

#include "table/block/block_hash_index.h"
#include "util/base/assert.h"
#include "util/coding/hash.h"
#include "util/key/internal_key.h"

namespace varve {
BlockBuilder::BlockBuilder(const Options& options)
    : restart_interval_(static_cast<uint32_t>(std::max(options.restart_interval, 1))),
      share_mask_(options.delta_keys ? ~size_t{0} : 0),
      hash_index_ratio_(options.hash_index_ratio) {
  GrowLastKey(64);
  Grow(256);
}

void BlockBuilder::AddIndexEntry(const Slice& key, const Slice& full, const Slice& delta,
                                 bool may_share) {
  const size_t shared = BeginEntry(may_share ? SharedWithLast(key) : 0);
  const Slice& value = shared == 0 ? full : delta;
  Reserve(key.size() + value.size() + 2 * kMaxVarint32Length);
  const auto unshared = static_cast<uint32_t>(key.size() - shared);
  char* p = EncodeVarint32(data_.get() + size_, static_cast<uint32_t>(shared));
  p = EncodeVarint32(p, unshared);
  std::memcpy(p, key.data() + shared, unshared);
  std::memcpy(p + unshared, value.data(), value.size());
  EndEntry(key, p + unshared + value.size());
}

// Room for the trailer behind the block is reserved each time, as the caller writes it there. A
// block without entries has one restart point, at 0, as readers expect.
Slice BlockBuilder::Finish() {
  if (restarts_.empty()) restarts_.push_back(0);
  Reserve((restarts_.size() + 1) * sizeof(uint32_t) + kBlockTrailerBytes);
  for (const uint32_t restart : restarts_) {
    EncodeFixed32(data_.get() + size_, restart);
    size_ += sizeof(restart);
  }
  VARVE_ASSERT(restarts_.front() == 0);
  auto packed = static_cast<uint32_t>(restarts_.size());
  if (AppendHashIndex()) packed |= block_hash::kFlag;
  Reserve(sizeof(packed) + kBlockTrailerBytes);
  EncodeFixed32(data_.get() + size_, packed);
  size_ += sizeof(packed);
  return Slice(data_.get(), size_);
}

void BlockBuilder::Reset() {
  size_ = 0;
  entries_ = 0;
  until_restart_ = 0;
  restarts_.clear();
  hash_entries_.clear();
}

void BlockBuilder::Grow(size_t bytes) {
  // Every capacity includes room for the trailer.
  const size_t wanted = std::max(size_ + bytes + kBlockTrailerBytes, 2 * capacity_);
  std::unique_ptr<char[]> larger(new char[wanted]);
  if (size_ > 0) std::memcpy(larger.get(), data_.get(), size_);
  data_ = std::move(larger);
  capacity_ = wanted - kBlockTrailerBytes;
}

// Does not copy the old key, as EndEntry is about to store another one.
void BlockBuilder::GrowLastKey(size_t bytes) {
  last_key_capacity_ = std::max(bytes, 2 * last_key_capacity_);
  last_key_.reset(new char[last_key_capacity_]);
}

void BlockBuilder::AddToHashIndex(const Slice& internal_key) {
  const Slice user_key = ExtractUserKey(internal_key);
  hash_entries_.push_back({Hash(user_key.data(), user_key.size(), block_hash::kSeed),
                           static_cast<uint32_t>(restarts_.size() - 1)});
}

// A bucket has the restart interval of its keys, or a mark if keys of several intervals fall into
// it. The number of buckets is odd, as hashes are distributed by their remainders.
bool BlockBuilder::AppendHashIndex() {
  if (hash_entries_.empty() || restarts_.size() > block_hash::kMaxRestarts) return false;
  const double wanted = static_cast<double>(hash_entries_.size()) / hash_index_ratio_;
  if (wanted >= UINT16_MAX) return false;
  const auto buckets = static_cast<uint16_t>(static_cast<uint16_t>(wanted) | 1);
  const size_t bytes = buckets + sizeof(uint16_t);
  if (size_ + bytes + sizeof(uint32_t) > block_hash::kMaxBlockBytes) return false;

  Reserve(bytes);
  char* const table = data_.get() + size_;
  std::memset(table, block_hash::kEmptyBucket, buckets);
  for (const HashEntry& entry : hash_entries_) {
    VARVE_ASSERT(entry.restart < restarts_.size());
    char& bucket = table[entry.hash % buckets];
    const auto now = static_cast<uint8_t>(bucket);
    if (now == block_hash::kEmptyBucket) {
      bucket = static_cast<char>(entry.restart);
    } else if (now != entry.restart) {
      bucket = static_cast<char>(block_hash::kCollision);
    }
  }
  EncodeFixed16(table + buckets, buckets);
  size_ += bytes;
  return true;
}

}  // namespace varve
