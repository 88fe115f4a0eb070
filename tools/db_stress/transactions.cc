// SPDX-License-Identifier: Apache-2.0

// Changes single keys in transactions. The worker holds the key's lock, so no other writer
// intervenes, and a transaction that is refused is a finding.

#include "tools/db_stress/worker.h"

namespace varve::stress {

namespace {

// Shares of the transactions that read the key before, return to a savepoint, or are rolled back.
constexpr uint64_t kReadFirstOneIn = 2;
constexpr uint64_t kGoBackOneIn = 4;
constexpr uint64_t kRollBackOneIn = 16;

}  // namespace

void Worker::ReadInTransaction(const char* how, Transaction* txn, const KeyId& key,
                               const KeyState& state) {
  ColumnFamilyHandle* const family = handle(key.family);
  const std::string bytes = KeyBytes(key.number);
  std::string value;
  if (dice_.OneIn(2)) {
    const Status s = txn->Get(ReadOptions(), family, bytes, &value);
    return ExpectState(how, key, state, s, value);
  }
  const std::unique_ptr<Iterator> it(txn->GetIterator(ReadOptions(), family));
  it->Seek(bytes);
  Status s = it->status();
  const bool found = it->Valid() && it->key() == Slice(bytes);
  if (s.ok() && !found) s = Status::NotFound();
  ExpectState(how, key, state, s, found ? it->value() : Slice());
}

Status Worker::Transact(const KeyId& key, const KeyState& before, const KeyState& after,
                        const WriteOptions& options, const AddToTransaction& add, bool* changed) {
  const std::unique_ptr<Transaction> txn = database_->Begin(options, dice_.OneIn(2));
  Status s;
  if (dice_.OneIn(kReadFirstOneIn)) {
    std::string value;
    s = txn->GetForUpdate(ReadOptions(), handle(key.family), KeyBytes(key.number), &value);
    ExpectState("GetForUpdate", key, before, s, value);
  }
  // The change is made, seen and undone before it is made again: the second time must start from
  // the state before the first one.
  if (dice_.OneIn(kGoBackOneIn)) {
    txn->SetSavePoint();
    s = add(txn.get(), after);
    if (s.ok()) ReadInTransaction("a transaction's change", txn.get(), key, after);
    if (s.ok()) s = txn->RollbackToSavePoint();
    if (!s.ok()) return s;
    ReadInTransaction("a transaction that went back", txn.get(), key, before);
  }
  s = add(txn.get(), after);
  if (!s.ok()) return s;
  ReadInTransaction("a transaction", txn.get(), key, after);
  // Decided before the call, so that Apply settles the key on the side that the call leads to.
  *changed = !dice_.OneIn(kRollBackOneIn);
  return *changed ? txn->Commit() : txn->Rollback();
}

}  // namespace varve::stress
