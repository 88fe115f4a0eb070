// SPDX-License-Identifier: Apache-2.0
#pragma once

// BatchLocks holds the locks of a batch that is written without a transaction.

#include <list>
#include <string>
#include <vector>

#include "varve/write_batch.h"

#include "db/transaction/lock_table.h"
#include "db/transaction/transaction_host.h"

namespace varve {

// All writers without a transaction take their locks in the same order, so they do not deadlock
// with each other. The destructor releases the locks.
//
// Thread safety: none. Lifetime: the batch outlives this object and must not be changed meanwhile.
class BatchLocks {
 public:
  BatchLocks(LockTable* table, TransactionHost* host) : table_(table), host_(host) {}
  ~BatchLocks();
  BatchLocks(const BatchLocks&) = delete;
  BatchLocks& operator=(const BatchLocks&) = delete;

  // Locks all keys and ranges of the batch, for the owner `id`, in the order of families and bytes
  // of keys. Returns the error of the first lock that was not acquired (LockTable::Lock); the
  // destructor then releases those before it.
  Status Lock(WriteBatch* batch, TransactionID id, const LockPatience& patience);

 private:
  // A key or a range of the batch, in the global order in which such locks are taken.
  struct Wanted {
    uint32_t family;
    Slice key;
    Slice end;  // End of a range.
    bool is_range;
  };
  class Collector;

  // Locks one of them.
  Status LockOne(const Wanted& wanted, const LockPatience& patience);

  LockTable* const table_;
  TransactionHost* const host_;
  // The owner of these locks; it lives no longer than the write.
  LockOwner owner_;
  std::vector<HeldLock*> keys_;
  std::list<HeldRange> ranges_;
};

}  // namespace varve
