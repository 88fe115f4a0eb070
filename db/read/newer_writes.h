// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells whether writes since an iterator's state lie between two neighbouring keys that it shows. A
// tailing iterator reads the newest state with each step; while no such write lies in between, the
// step that it has made over the older state is right, and it need not seek in all runs again.

#include <memory>
#include <string>

#include "varve/slice.h"
#include "varve/types.h"

#include "memtable/memtable.h"
#include "util/key/internal_key.h"

namespace varve {

// All keys are user keys; families with timestamps are not watched.
//
// Thread safety: none. Other threads may add to the memtable meanwhile.
class NewerWrites {
 public:
  // Writes of a family after a state: those up to `now` that the state, `old`, does not have.
  struct Since {
    SequenceNumber old;
    SequenceNumber now;
  };

  // Returns null if the memtable's iterators do not see additions, or its keys have timestamps. The
  // memtable and the comparator outlive the result.
  static std::unique_ptr<NewerWrites> Watch(const MemTable& mem, const InternalKeyComparator& icmp);

  // True if the memtable has a write of `since`, other than a range deletion, to a key after
  // `after`, up to and including `last`, or to any key after it if `last` is null. Also true if
  // more than a few entries would have to be looked at, or the memtable cannot be read.
  bool AnyBehind(const Slice& after, const Slice* last, const Since& since);
  // Answers the same for the keys before `before`, down to and including `first`, or to the first
  // key of all if that is null.
  bool AnyBefore(const Slice& before, const Slice* first, const Since& since);

 private:
  NewerWrites(const MemTable& mem, const InternalKeyComparator& icmp)
      : icmp_(icmp), entries_(mem.NewIterator()) {}

  const InternalKeyComparator& icmp_;
  const std::unique_ptr<InternalIterator> entries_;
  std::string target_;
};

}  // namespace varve
