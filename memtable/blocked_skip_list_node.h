// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a node of the blocked skip list: 512 bytes of slots, and the word of state that publishes
// them.

#include <atomic>
#include <cstdint>

#include "memtable/blocked_skip_list.h"
#include "util/base/assert.h"
#include "util/mem/prefetch.h"

namespace varve {

// The state of a node: flags, the number of slots in use, the number of leading slots that are in
// order, the node's level, and the number of rewrites of its slots. One of the flags says that
// ordered slots with equal key prefixes are entries of one user key, timestamp included.
namespace node_state {

// The fields of a state, from the lowest bit up. The number of rewrites takes the rest of the
// word.
inline constexpr uint64_t kLocked = 1;
inline constexpr uint64_t kRewriting = 2;
inline constexpr unsigned kSortedShift = 2;
inline constexpr unsigned kCountShift = 8;
inline constexpr unsigned kLevelShift = 14;
inline constexpr uint64_t kTiesAreVersions = uint64_t{1} << 18;
inline constexpr unsigned kVersionShift = 19;

// Return the fields.
constexpr uint32_t Sorted(uint64_t s) {
  return static_cast<uint32_t>(s >> kSortedShift & 63);
}
constexpr uint32_t Count(uint64_t s) {
  return static_cast<uint32_t>(s >> kCountShift & 63);
}
constexpr uint32_t Level(uint64_t s) {
  return static_cast<uint32_t>(s >> kLevelShift & 15);
}
constexpr bool TiesAreVersions(uint64_t s) {
  return (s & kTiesAreVersions) != 0;
}
constexpr uint64_t Version(uint64_t s) {
  return s >> kVersionShift;
}
// Makes a state without flags of locking.
constexpr uint64_t Make(uint32_t level, uint32_t sorted, uint32_t count, bool ties_are_versions,
                        uint64_t version) {
  VARVE_ASSERT(sorted <= count && count <= BlockedSkipList::kSlots && level < 16);
  return version << kVersionShift | (ties_are_versions ? kTiesAreVersions : 0) |
         uint64_t{level} << kLevelShift | uint64_t{count} << kCountShift |
         uint64_t{sorted} << kSortedShift;
}

}  // namespace node_state

// A node, which lies in the arena and is never freed before it. Readers look at it without a lock:
// they read the state, then slots, then the state again (Stable, StillIs).
class alignas(64) BlockedSkipList::Node {
 public:
  Node(uint32_t level, const MemEntry* low_key, uint64_t low_key_prefix)
      : state(node_state::Make(level, 0, 0, /*ties_are_versions=*/true, 0)),
        low(low_key),
        low_prefix(low_key_prefix) {}

  // Waits for the end of a rewrite, and returns the state.
  [[nodiscard]] uint64_t Stable() const;
  // True if what was read after `seen` was in place all the time: slots are only added, unless they
  // are rewritten.
  [[nodiscard]] bool StillIs(uint64_t seen) const {
    // Relaxed: the acquire loads of the slots order this one after them.
    const uint64_t now = state.load(std::memory_order_relaxed);
    return now >> node_state::kVersionShift == seen >> node_state::kVersionShift &&
           (now & node_state::kRewriting) == 0;
  }
  // Returns slot `i`. Acquire and release: a reader that sees a slot of a later rewrite also sees
  // the state that announced it.
  [[nodiscard]] Slot At(uint32_t i) const {
    return {prefixes[i].load(std::memory_order_acquire),
            offsets[i].load(std::memory_order_acquire)};
  }
  // Stores a slot. The state that counts it is published afterwards.
  void Set(uint32_t i, const Slot& slot) {
    VARVE_ASSERT(i < kSlots);
    prefixes[i].store(slot.prefix, std::memory_order_release);
    offsets[i].store(slot.offset, std::memory_order_release);
  }
  // Announces to readers that slots in use will change. The holder of the lock calls this before it
  // sets them: a reader that sees one of its stores, all of them releases, sees this one.
  void AnnounceRewrite(uint64_t seen) {
    VARVE_ASSERT((state.load(std::memory_order_relaxed) & node_state::kLocked) != 0);
    state.store(node_state::Make(node_state::Level(seen), 0, 0, /*ties_are_versions=*/true,
                                 node_state::Version(seen) + 1) |
                    node_state::kLocked | node_state::kRewriting,
                std::memory_order_relaxed);
  }
  // Prefetches all lines of the node.
  void PrefetchAll() const {
    for (size_t i = 0; i < sizeof(Node); i += 64) {
      PrefetchLine(reinterpret_cast<const char*>(this) + i);
    }
  }

  // Prefetches what a look at a leaf's head needs.
  void PrefetchHead() const {
    PrefetchLine(&state);
    PrefetchLine(&newest);
  }

  // Publishes slots (release), and is the writers' lock.
  std::atomic<uint64_t> state;
  // The right neighbour on this level, and its lowest key's prefix; written by rewrites, like
  // slots.
  std::atomic<Node*> next{nullptr};
  std::atomic<uint64_t> high_prefix{0};
  // No key below this one is ever here. Null, and 0, in the leftmost node.
  const MemEntry* const low;
  const uint64_t low_prefix;
  std::atomic<uint64_t> prefixes[kSlots];
  std::atomic<ArenaOffset> offsets[kSlots];
  // Used in leaves: an upper bound of the newest sequence number here, or left of here before a
  // split, as a distance from the list's first; UINT32_MAX if that is too far. Written before a
  // slot is, which publishes it.
  std::atomic<uint32_t> newest{0};
};

// A node's lock, which the calling thread has taken at `state`. Unless a new state is published,
// the destructor releases it unchanged, also if a comparator throws.
class BlockedSkipList::NodeLock {
 public:
  NodeLock(Node* node, uint64_t state) : node_(node), state_(state) {
    VARVE_ASSERT((node->state.load(std::memory_order_relaxed) & node_state::kLocked) != 0);
    VARVE_ASSERT((state & (node_state::kLocked | node_state::kRewriting)) == 0);
  }
  NodeLock(const NodeLock&) = delete;
  NodeLock& operator=(const NodeLock&) = delete;
  ~NodeLock() {
    if (node_ != nullptr) node_->state.store(state_, std::memory_order_release);
  }

  // Publishes a change (release) and unlocks.
  void Publish(uint64_t state) {
    VARVE_ASSERT(node_ != nullptr && node_state::Version(state) >= node_state::Version(state_));
    node_->state.store(state, std::memory_order_release);
    node_ = nullptr;
  }
  // Leaves the node locked.
  void Keep() { node_ = nullptr; }

 private:
  // Null once a state was published, or the node is to stay locked.
  Node* node_;
  const uint64_t state_;
};

}  // namespace varve
