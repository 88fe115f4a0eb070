// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeyStamps: the newest sequence that was given to any key of a bucket, so that a commit which must
// not overtake others sees at a glance whom it cannot have met.

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

// A key, by its hash, and the sequence after which nobody may have changed it.
struct StampLimit {
  uint64_t hash = 0;
  SequenceNumber newest_allowed = 0;
};

// Asked where a write gets its place in the order of all writes: it gets none if some key may have
// changed after its limit. `refused` tells then.
struct WriteCondition {
  std::span<const StampLimit> limits;
  bool refused = false;
};

// Which buckets a write raises. A batch of many keys, or with a range, raises all of them.
class KeyHashes {
 public:
  KeyHashes(const WriteRequest& request, CommitHost* host);

  bool all() const { return all_; }
  std::span<const uint64_t> hashes() const { return {hashes_, count_}; }

 private:
  static constexpr size_t kKeysMax = 64;

  bool all_ = false;
  size_t count_ = 0;
  uint64_t hashes_[kKeysMax];  // the first count_
};

// Thread safety: none but where said; under the lock that gives places in the order.
class KeyStamps {
 public:
  // `newest`: what was given out so far, of which no more is known.
  explicit KeyStamps(SequenceNumber newest)
      : floor_(newest), stamps_(std::make_unique<SequenceNumber[]>(kBuckets)) {}

  // Where keys of different bytes may be equal, a family has one bucket.
  static uint64_t HashOf(uint32_t column_family, const Slice& key, bool bytes_decide);

  bool Allow(const WriteCondition& condition) const {
    for (const StampLimit& limit : condition.limits) {
      if (floor_ > limit.newest_allowed || Of(limit.hash) > limit.newest_allowed) return false;
    }
    return true;
  }
  // Asks for the memory of a bucket. Any thread, without the lock.
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
