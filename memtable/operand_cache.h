// SPDX-License-Identifier: Apache-2.0
#pragma once

// Caches results of reads of keys with very many merge operands: lists of the values, so that the
// next reader of such a key copies lists instead of visiting every entry again.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "memtable/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// Consecutive operands of one key in the memtable, newest first. Entries never change, and up to a
// sequence number below which no insertion is in progress none can appear between others. Lists
// hold only such operands, so they stay valid for ever.
struct OperandList {
  // Operands in a list.
  static constexpr size_t kValues = 256;

  uint64_t newest = 0;  // Trailer of the first operand.
  uint64_t oldest = 0;  // Trailer of the last operand.
  // The next list of the key, or null. `adjoins` is true if it begins where this one ends.
  const OperandList* older = nullptr;
  bool adjoins = false;
  std::array<Slice, kValues> values;
};

// The lists of a memtable's keys. Keys are user keys of families without timestamps, and `hash` is
// KeyHash64 of the key.
//
// Thread safety: all methods may be called from any thread; Find takes no lock. Lifetime: lists
// live as long as the object, values as long as the memtable's entries.
class OperandCache {
 public:
  OperandCache() = default;
  OperandCache(const OperandCache&) = delete;
  OperandCache& operator=(const OperandCache&) = delete;

  // Returns the newest list of the key; null if there is none.
  [[nodiscard]] const OperandList* Find(const Slice& user_key, uint64_t hash) const;
  // Puts `fresh`, ordered from the newest on, before the key's lists, of which `head` was the
  // newest one when `fresh` was built; null: there was none. Drops `fresh` if the newest is another
  // one now, if all lists would take more than `bytes_max` bytes, or if there is no memory or no
  // place for the key.
  void Extend(const Slice& user_key, uint64_t hash, const OperandList* head,
              std::vector<std::unique_ptr<OperandList>> fresh, size_t bytes_max) noexcept;
  [[nodiscard]] size_t MemoryUsage() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  // Number of keys with lists, and of places at which a key may be.
  static constexpr size_t kPlaces = 64;
  static constexpr size_t kProbes = 4;

  // A key with its newest list.
  struct Key {
    std::string key;
    std::atomic<const OperandList*> head{nullptr};  // Release publishes the list.
  };

  // Returns the place of the key, or the first empty place where it may be put; null if there is
  // none.
  const std::atomic<Key*>* PlaceOf(const Slice& user_key, uint64_t hash) const;
  // Does what Extend does, under the lock. Returns false if the lists are to be dropped.
  bool Link(const Slice& user_key, uint64_t hash, const OperandList* head,
            std::vector<std::unique_ptr<OperandList>>* fresh) VARVE_REQUIRES(mu_);

  // Each is set once, with release, under mu_.
  std::array<std::atomic<Key*>, kPlaces> places_{};
  std::atomic<size_t> bytes_{0};  // Bytes of lists; a statistic.
  Mutex mu_{kOperandCacheRank};
  // The keys and lists, which live as long as the cache.
  std::vector<std::unique_ptr<Key>> keys_ VARVE_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<OperandList>> lists_ VARVE_GUARDED_BY(mu_);
};

// Makes lists of the operands that a reader passes, one after the other.
class OperandListBuilder {
 public:
  // Records an operand with this trailer. Its value is the last of `values`, which also has those
  // of all operands recorded before. Returns false, adding nothing, if there is no memory.
  bool Passed(uint64_t trailer, std::span<const Slice> values);
  // Returns the completed lists, newest first. `reached` is the list whose first operand follows
  // the last recorded one; null if there is none.
  std::vector<std::unique_ptr<OperandList>> Finish(const OperandList* reached);

 private:
  // Completed lists, newest first.
  std::vector<std::unique_ptr<OperandList>> ready_;
  // Trailer of the first operand that is in no list yet.
  uint64_t newest_ = 0;
  size_t passed_ = 0;  // Number of operands since the last list was made.
};

}  // namespace varve
