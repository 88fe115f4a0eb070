// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeyStamps stores the newest sequence number of each bucket of keys, for fast conflict checks at
// commit.
//
//      write of key k at sequence 812:    stamps_[hash(k) mod 65536] = 812
//      commit that relies on k at 790:    812 > 790: refused; it must look k up
//      commit that relies on k at 820:    812 <= 820: allowed without a look-up
//
// A stamp is an upper bound: keys share buckets, and a large batch raises floor_, the lower bound
// of all stamps, instead of its buckets. So a check may refuse for nothing, which costs a look-up,
// and never allows what it must refuse.

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

// A condition of one write, checked where the write gets its place in the order of all writes: if a
// key may have changed after its limit, the write gets no place, and `refused` is set. The limits
// are the caller's.
struct WriteCondition {
  std::span<const StampLimit> limits;
  bool refused = false;
};

// The buckets that a write raises. A batch of many keys, or with a range, raises all of them.
class KeyHashes {
 public:
  // Hashes the keys of the request, which need not outlive the call. `host` knows the comparators
  // of the families.
  KeyHashes(const WriteRequest& request, CommitHost* host);

  // True if the write raises all buckets.
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

  // Returns the hash of a user key. `bytes_decide` is false if keys with different bytes may be
  // equal in the family (CommitHost::BytesDecideIn): then all its keys have one hash, and share one
  // bucket.
  static uint64_t HashOf(uint32_t column_family, const Slice& key, bool bytes_decide);

  // True if no key of the condition can have changed after its limit.
  bool Allow(const WriteCondition& condition) const {
    for (const StampLimit& limit : condition.limits) {
      if (floor_ > limit.newest_allowed || Of(limit.hash) > limit.newest_allowed) return false;
    }
    return true;
  }
  // Prefetches the memory of a bucket. Any thread, without the lock.
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&stamps_[hash % kBuckets], 1); }
  // Raises every bucket, for writes whose keys are too many or not known.
  void RaiseAll(SequenceNumber sequence) {
    VARVE_ASSERT(sequence >= floor_);
    floor_ = sequence;
  }
  // Raises the buckets of a write to its last sequence number. Requires that sequence numbers
  // ascend from call to call, of this and of RaiseAll.
  void Raise(const KeyHashes& keys, SequenceNumber sequence) {
    if (keys.all()) return RaiseAll(sequence);
    for (const uint64_t hash : keys.hashes()) stamps_[hash % kBuckets] = sequence;
  }

 private:
  // Number of stamps. Keys share buckets, so a stamp may be too new, which costs a look-up, but
  // never too old.
  static constexpr size_t kBuckets = 64 << 10;

  SequenceNumber Of(uint64_t hash) const { return stamps_[hash % kBuckets]; }

  // No stamp is older than this, whatever its bucket says.
  SequenceNumber floor_;
  const std::unique_ptr<SequenceNumber[]> stamps_;
};

}  // namespace varve
