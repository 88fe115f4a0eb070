// SPDX-License-Identifier: Apache-2.0
#pragma once

// A hash table from the keys of a PlainTable to the offset of each key's first (newest) row, so
// that a point read of a mapped table touches one cache line of the map, and then the row. It has
// no keys, only hashes: a look-up compares the key in the row.
//
// A bucket is one cache line with ten slots, of which seven are used in the mean. A slot has
// sixteen bits of the hash, the tag, and the row's offset. A key whose bucket is full is in one of
// the next buckets, and each bucket on the way says that keys have passed it:
//
//      0                          20         22     24                            64
//      tag 0 | tag 1 | ... tag 9  |  passed  |  --  | offset 0 | ... | offset 9   |
//
// A wrong row has an equal tag in about one of 9,000 searches, so the map also replaces a filter.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "table/filter/filter_hashes.h"
#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/mem/prefetch.h"

namespace varve {

// Thread safety: immutable after Build.
class PlainKeyMap {
 public:
  // Number of buckets in which a key may be: its own, and those after it.
  static constexpr size_t kBucketsOfKey = 32;
  // Offsets of rows in the file. In pieces, so that it grows without a copy.
  using Offsets = std::deque<uint32_t>;

  // Returns the bytes that the map of so many keys takes.
  [[nodiscard]] static constexpr uint64_t BytesFor(uint64_t keys) {
    return (keys + kKeysPerBucket - 1) / kKeysPerBucket * sizeof(Bucket);
  }
  // Builds the map of keys with these hashes (FilterHash), each with the offset at the same place
  // of `offsets`. Nothing is built if there is no key, or if so many hashes are alike that a key
  // does not fit into its buckets.
  void Build(const FilterHashes& hashes, const Offsets& offsets);
  // True if Build succeeded; otherwise none of the methods below but MemoryUsage may be called.
  [[nodiscard]] bool built() const { return !buckets_.empty(); }

  // Calls take(offset) for each row that may be the first one of a key with this hash, until `take`
  // returns true. Returns true if it did. A row whose key has another hash may be among them.
  template <typename Take>
  bool Find(uint64_t hash, const Take& take) const {
    size_t at = BucketOf(hash);
    for (size_t i = 0; i < kBucketsOfKey; i++, at = After(at)) {
      const Bucket& bucket = buckets_[at];
      for (uint64_t equal = bucket.SlotsWith(TagOf(hash)); equal != 0; equal &= equal - 1) {
        if (take(bucket.offsets[Bucket::SlotOf(equal)])) return true;
      }
      if (bucket.passed == 0) return false;
    }
    return false;
  }
  // Returns false only if no key has this hash.
  [[nodiscard]] bool MayHave(uint64_t hash) const {
    return Find(hash, [](uint32_t /*offset*/) { return true; });
  }
  // Prefetches the memory that Find begins with.
  void Prefetch(uint64_t hash) const {
    VARVE_ASSERT(built());
    PrefetchLine(&buckets_[BucketOf(hash)]);
  }

  [[nodiscard]] size_t MemoryUsage() const { return buckets_.capacity() * sizeof(Bucket); }

 private:
  static constexpr size_t kSlots = 10;
  // Mean number of keys; with three slots to spare, few keys have to go to another bucket.
  static constexpr size_t kKeysPerBucket = 7;

  struct alignas(64) Bucket {
    // The tags as little-endian numbers, so that a word holds four of them; 0: the slot is free.
    char tags[2 * kSlots] = {};
    uint16_t passed = 0;  // 1 if a key was put into a later bucket because this one was full
    uint16_t unused = 0;
    uint32_t offsets[kSlots] = {};

    // Returns a word with one bit for each slot that has the tag.
    [[nodiscard]] uint64_t SlotsWith(uint16_t tag) const {
      const uint64_t wanted = tag * kLowBits;
      return EqualLanes(DecodeFixed64(tags), wanted) >> 15 |
             EqualLanes(DecodeFixed64(tags + 8), wanted) >> 14 |
             (EqualLanes(DecodeFixed32(tags + 16), wanted) & UINT32_MAX) >> 13;
    }
    // Returns the slot of the lowest bit of SlotsWith: lane i of word j has bit 16 * i + j.
    [[nodiscard]] static size_t SlotOf(uint64_t equal) {
      const auto bit = static_cast<size_t>(std::countr_zero(equal));
      return 4 * (bit % 16) + bit / 16;
    }

   private:
    static constexpr uint64_t kLowBits = 0x0001000100010001;
    // Returns the highest bit of each lane of sixteen bits that is equal in both words. The sum
    // cannot carry into the next lane.
    [[nodiscard]] static uint64_t EqualLanes(uint64_t a, uint64_t b) {
      constexpr uint64_t kAllButHighest = 0x7fff * kLowBits;
      const uint64_t differing = a ^ b;
      return ~(((differing & kAllButHighest) + kAllButHighest) | differing | kAllButHighest);
    }
  };
  static_assert(sizeof(Bucket) == 64);

  // The bucket comes from the upper half of the hash, and the tag from the lower.
  [[nodiscard]] size_t BucketOf(uint64_t hash) const {
    return static_cast<size_t>((hash >> 32) * buckets_.size() >> 32);
  }
  [[nodiscard]] size_t After(size_t bucket) const {
    return bucket + 1 == buckets_.size() ? 0 : bucket + 1;
  }
  // Returns the tag, which is never 0, the mark of a free slot.
  [[nodiscard]] static uint16_t TagOf(uint64_t hash) {
    const auto tag = static_cast<uint16_t>(hash);
    return tag == 0 ? 1 : tag;
  }
  // Returns false if all buckets of the key are full.
  bool Put(uint64_t hash, uint32_t offset);

  std::vector<Bucket> buckets_;
};

}  // namespace varve
