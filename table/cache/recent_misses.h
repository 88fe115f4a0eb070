// SPDX-License-Identifier: Apache-2.0
#pragma once

// Remembers which keys were looked up in vain a short while ago.
//
// A full cache pays for a new entry with an eviction, which is wasted if the new entry is not used
// before it is evicted itself. So a block enters a full cache only when it is missed for the second
// time within about as many misses as the cache has entries. This is the queue of ghosts of the 2Q
// algorithm (Johnson and Shasha, 1994), kept as a table of tags in which the newest key takes the
// place of an older one.
//
//      hash   [ .............. | index of the place | 16-bit tag ]
//                                      |                 |
//      tags   [ 0 ][ 7a31 ][ 0 ][ 19c4 ]...    equal: missed before, place is cleared
//                                              other: the tag is stored over the older one
//
// A place is one tag of two bytes, so remembering as many keys as the cache has blocks of 4 KiB
// takes about a two-thousandth of the cache's memory. There is no order of age: a key is forgotten
// when another key comes to its place, which happens to about two thirds of the keys within as many
// misses as there are places. A wrong answer costs one insertion too early or too late.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "util/base/assert.h"

namespace varve {

// Thread safety: Holds and Repeats may be called from any thread; Reserve needs a lock of the
// owner. Answers are hints: two keys may have one tag, and threads may overwrite each other's tags.
class RecentMisses {
 public:
  RecentMisses() = default;
  RecentMisses(const RecentMisses&) = delete;
  RecentMisses& operator=(const RecentMisses&) = delete;
  ~RecentMisses();

  // True if about `entries` keys can be remembered.
  [[nodiscard]] bool Holds(size_t entries) const {
    const Tags* const tags = tags_.load(std::memory_order_acquire);
    return tags != nullptr && entries / 2 <= tags->mask;
  }
  // Allocates memory for `entries` keys, and forgets all others. Returns false, and changes
  // nothing, if memory is out.
  bool Reserve(size_t entries);
  // Returns true, and forgets the key, if the key with this hash was missed recently. Otherwise
  // remembers it. Requires that Reserve succeeded once.
  bool Repeats(uint64_t hash) {
    Tags* const tags = tags_.load(std::memory_order_acquire);
    VARVE_ASSERT(tags != nullptr);
    std::atomic<uint16_t>& tag = tags->tags[hash >> kTagBits & tags->mask];
    const uint16_t own = TagOf(hash);
    const bool repeats = tag.load(std::memory_order_relaxed) == own;
    tag.store(repeats ? kNone : own, std::memory_order_relaxed);
    return repeats;
  }

 private:
  static constexpr int kTagBits = 16;
  static constexpr uint16_t kNone = 0;

  // A table of short hashes of keys that were missed; replaced by a larger one when the cache
  // holds more.
  struct Tags {
    explicit Tags(size_t count)
        : mask(count - 1), tags(new (std::nothrow) std::atomic<uint16_t>[count]()) {}

    const size_t mask;
    const std::unique_ptr<std::atomic<uint16_t>[]> tags;
    // The array that this one replaced; freed by the destructor of RecentMisses.
    Tags* older = nullptr;
  };

  // Returns the tag of a key, which is never that of an empty place.
  static uint16_t TagOf(uint64_t hash) {
    const auto tag = static_cast<uint16_t>(hash);
    return tag == kNone ? uint16_t{1} : tag;
  }

  // Arrays that were replaced stay until the end, as threads may be using them. Each is at most
  // half as large as the next.
  std::atomic<Tags*> tags_{nullptr};
};

}  // namespace varve
