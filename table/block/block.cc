// SPDX-License-Identifier: Apache-2.0
#include "table/block/block.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "table/block/data_block_cursor.h"
#include "util/coding/hash.h"

namespace varve {

namespace {

// Flags in the top bits of the block's last word.
constexpr uint32_t kHashIndexFlag = 1u << 31;
constexpr uint32_t kUniformKeysFlag = 1u << 29;  // a hint only
constexpr uint32_t kSeparatedFlag = 1u << 28;
constexpr uint32_t kRestartCountMask = kSeparatedFlag - 1;

constexpr uint32_t kHashSeed = 397;
constexpr unsigned char kBucketEmpty = 255;
constexpr unsigned char kBucketCollision = 254;
constexpr size_t kHashedBlockBytesMax = 64 * 1024;

// Offsets of the key index have 16 bits.
constexpr size_t kKeyIndexBlockBytesMax = 64 * 1024;
// Below this a search walks.
constexpr size_t kKeyIndexEntriesMin = 3;

Status Malformed(const Slice& where, const char* what) {
  return Status::Corruption("malformed block, " + std::string(what), where);
}

}  // namespace

int BlockKeyIndex::Locate(const Slice& user_key, uint64_t* word) const {
  const size_t n = std::min<size_t>(user_key.size(), prefix_size_);
  int order = n == 0 ? 0 : memcmp(user_key.data(), prefix(), n);
  if (order == 0 && n < prefix_size_) order = -1;
  if (order != 0) return reverse_ ? -order : order;
  const uint64_t plain = KeyWord(user_key, prefix_size_);
  *word = reverse_ ? ~plain : plain;
  return 0;
}

size_t BlockKeyIndex::LowerBound(uint64_t word) const {
  const uint64_t* const words_begin = words();
  const uint64_t* base = words_begin;
  size_t n = size_;
  while (n > 1) {
    const size_t half = n / 2;
    base += base[half - 1] < word ? half : 0;
    n -= half;
  }
  const size_t index = static_cast<size_t>(base - words_begin);
  return index + (n == 1 && *base < word ? 1 : 0);
}

void BlockKeyIndex::CopyKeyStart(size_t i, char* dst) const {
  memcpy(dst, prefix(), prefix_size_);
  const uint64_t stored = word(i);
  EncodeFixed64(dst + prefix_size_, ByteSwap(reverse_ ? ~stored : stored));
}

std::unique_ptr<Block> Block::Make(size_t extra) {
  std::unique_ptr<Block> block(new (::operator new(sizeof(Block) + extra)) Block());
  assert(static_cast<const void*>(&block->index_ + 1) == static_cast<const void*>(block.get() + 1));
  return block;
}

Status Block::Create(BlockContents&& contents, const Slice& where, std::unique_ptr<Block>* block) {
  const Slice data = contents.data;
  if (data.size() < sizeof(uint32_t)) return Malformed(where, "too short");
  const uint32_t packed = DecodeFixed32(data.data() + data.size() - sizeof(uint32_t));
  if ((packed & kSeparatedFlag) != 0) {
    return Status::NotSupported("block with separated keys and values", where);
  }
  if ((packed & ~(kHashIndexFlag | kUniformKeysFlag | kRestartCountMask)) != 0) {
    return Malformed(where, "unknown flags");
  }
  std::unique_ptr<Block> result = Make(0);
  size_t end = data.size() - sizeof(uint32_t);
  if ((packed & kHashIndexFlag) != 0) {
    if (data.size() > kHashedBlockBytesMax + sizeof(uint32_t)) {
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
  const uint32_t hash = Hash(user_key.data(), user_key.size(), kHashSeed);
  const auto bucket = static_cast<unsigned char>(buckets_[hash % bucket_count_]);
  if (bucket == kBucketEmpty) return HashAnswer::kAbsent;
  if (bucket == kBucketCollision || bucket >= restart_count_) return HashAnswer::kUnknown;
  *restart = bucket;
  return HashAnswer::kRestart;
}

void Block::AddKeyIndex(const InternalKeyComparator& icmp, std::unique_ptr<Block>* block) {
  Block* const plain = block->get();
  if (icmp.order() == KeyOrder::kCustom || plain->entries_size_ == 0 ||
      plain->entries_size_ > kKeyIndexBlockBytesMax) {
    return;
  }
  DataBlockCursor cursor;
  cursor.Init(plain, &icmp, kMaxSequenceNumber);
  cursor.SeekToLast();
  if (!cursor.Valid()) return;
  const std::string last = ExtractUserKey(cursor.key()).ToString();
  cursor.SeekToFirst();
  if (!cursor.Valid()) return;
  const Slice first = ExtractUserKey(cursor.key());  // in the block: a restart key is whole
  const size_t prefix_size = first.difference_offset(last);
  const bool reverse = icmp.order() == KeyOrder::kReverseBytewise;

  // An average entry of 24 bytes is short: one allocation is the rule.
  std::vector<uint64_t> words;
  std::vector<uint16_t> offsets;
  const size_t expected = plain->entries_size_ / 24 + 1;
  words.reserve(expected);
  offsets.reserve(expected);
  for (; cursor.Valid(); cursor.Next()) {
    const Slice user_key = ExtractUserKey(cursor.key());
    // Keys out of order would make the words useless; readers then find the damage by walking.
    if (user_key.size() < prefix_size || memcmp(user_key.data(), first.data(), prefix_size) != 0) {
      return;
    }
    const uint64_t word = KeyWord(user_key, prefix_size);
    words.push_back(reverse ? ~word : word);
    if (words.size() > 1 && words.back() < words[words.size() - 2]) return;
    offsets.push_back(static_cast<uint16_t>(cursor.entry_offset()));
  }
  if (cursor.corrupt() || words.size() < kKeyIndexEntriesMin) return;

  std::unique_ptr<Block> indexed = Make(BlockKeyIndex::BytesFor(words.size(), prefix_size));
  BlockKeyIndex& index = indexed->index_;
  index.size_ = static_cast<uint32_t>(words.size());
  index.prefix_size_ = static_cast<uint16_t>(prefix_size);
  index.reverse_ = reverse;
  std::copy(words.begin(), words.end(), const_cast<uint64_t*>(index.words()));
  std::copy(offsets.begin(), offsets.end(), const_cast<uint16_t*>(index.offsets()));
  std::copy_n(first.data(), prefix_size, const_cast<char*>(index.prefix()));
  indexed->entries_size_ = plain->entries_size_;
  indexed->restart_count_ = plain->restart_count_;
  indexed->buckets_ = plain->buckets_;
  indexed->bucket_count_ = plain->bucket_count_;
  indexed->contents_ = std::move(plain->contents_);
  *block = std::move(indexed);
}

size_t Block::MemoryUsage() const {
  return sizeof(*this) + contents_.buffer_bytes +
         (index_.size_ != 0 ? BlockKeyIndex::BytesFor(index_.size_, index_.prefix_size_) : 0);
}

}  // namespace varve
