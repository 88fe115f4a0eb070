// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeyStamps stores the newest sequence number of each bucket of keys, for fast conflict checks at
// commit.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "varve/slice.h"
#include "varve/types.h"

#include "db/write/write_request.h"
#include "util/base/assert.h"

namespace varve {

class CommitHost;

// A key, by its hash, and the sequence number after which it must be unchanged.
struct StampLimit {
  uint64_t hash = 0;
  SequenceNumber newest_allowed = 0;
};

// Is checked where a write gets its place in the order of all writes: if a key may have changed
// after its limit, the write gets no place, and `refused` is set.
struct WriteCondition {
  std::span<const StampLimit> limits;
  bool refused = false;
};

// The buckets that a write raises. A batch of many keys, or with a range, raises all of them.
class KeyHashes {
 public:
  KeyHashes(const WriteRequest& request, CommitHost* host);

  bool all() const { return all_; }
  std::span<const uint64_t> hashes() const { return {hashes_, count_}; }

 private:
  static constexpr size_t kKeysMax = 64;

  bool all_ = false;
  size_t count_ = 0;
  uint64_t hashes_[kKeysMax];  // The first count_ are set.
};

// Thread safety: none except where stated; guarded by the lock that assigns places in the order.
class KeyStamps {
 public:
  // `newest`: the newest number assigned so far; about earlier writes nothing is known.
  explicit KeyStamps(SequenceNumber newest)
      : floor_(newest), stamps_(std::make_unique<SequenceNumber[]>(kBuckets)) {}

  // If keys with different bytes may be equal, a family has one bucket.
  static uint64_t HashOf(uint32_t column_family, const Slice& key, bool bytes_decide);

  bool Allow(const WriteCondition& condition) const {
    for (const StampLimit& limit : condition.limits) {
      if (floor_ > limit.newest_allowed || Of(limit.hash) > limit.newest_allowed) return false;
    }
    return true;
  }
  // Prefetches the memory of a bucket. Any thread, without the lock.
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&stamps_[hash % kBuckets], 1); }
  void RaiseAll(SequenceNumber sequence) {
    VARVE_ASSERT(sequence >= floor_);
    floor_ = sequence;
  }
  void Raise(const KeyHashes& keys, SequenceNumber sequence) {
    if (keys.all()) return RaiseAll(sequence);
    for (const uint64_t hash : keys.hashes()) stamps_[hash % kBuckets] = sequence;
  }

 private:
  static constexpr size_t kBuckets = 64 << 10;

  SequenceNumber Of(uint64_t hash) const { return stamps_[hash % kBuckets]; }

  SequenceNumber floor_;
  const std::unique_ptr<SequenceNumber[]> stamps_;
};

}  // namespace varve
