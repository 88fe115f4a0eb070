// SPDX-License-Identifier: Apache-2.0
#pragma once

// Many entries of one batch that wait for their memtable, and reach it in the order of keys:
// neighbours find each other's place in the processor's caches.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "varve/status.h"

#include "memtable/memtable.h"

namespace varve {

// Thread safety: none. Lifetime: keys and values live until Drain.
class EntryBacklog {
 public:
  // From how many entries on a batch is worth the memory and the sort.
  static constexpr size_t kWorthwhile = 1024;

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // Takes the entry, or does not: it is full, or there is no memory.
  bool Take(const MemTableEntry& entry);
  // Adds all that wait to `mem`, and forgets them. *added grows by how many it were. On an error
  // the memtable may hold others of them.
  Status Drain(MemTable* mem, uint64_t* added);

 private:
  struct Slot {
    uint64_t prefix;  // of the key, after what all keys begin with
    uint32_t index;   // into `entries_`
  };
  // Fills slots_. Throws std::bad_alloc.
  void SortByKey();

  std::vector<MemTableEntry> entries_;  // as they came, that is by sequence
  std::vector<Slot> slots_;             // by key
  size_t common_ = 0;                   // bytes that all keys begin with
};

}  // namespace varve
