// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB's Java glue holds the iterator of a memtable in a ScopedArenaIterator: here an owner of
// the iterator that db/memtable.h makes.

#include <memory>

#include "db/memtable.h"

namespace varve {

class ScopedArenaIterator {
 public:
  explicit ScopedArenaIterator(MemTable::Iterator* iterator) : iterator_(iterator) {}
  MemTable::Iterator* operator->() const { return iterator_.get(); }

 private:
  const std::unique_ptr<MemTable::Iterator> iterator_;
};

}  // namespace varve
