// SPDX-License-Identifier: Apache-2.0

// Lists the rows of Transaction, of what begins one, and of batches that are read with a database.

#include "tests/strangers/calls.h"

namespace varve::testing {

namespace {

const Slice kKeyPart[] = {"w"};
const Slice kValuePart[] = {"1"};
const SliceParts kKey(kKeyPart, 1);
const SliceParts kValue(kValuePart, 1);

// Undoes a read after another one of a key of `own`, which stays in use.
Status Undo(const Scene& s) {
  Status used = s.txn->GetForUpdate(ReadOptions(), s.own, "u", static_cast<std::string*>(nullptr));
  if (!used.ok()) return used;
  const uint64_t keys = s.txn->GetNumKeys();
  s.txn->UndoGetForUpdate(s.family, "u");
  const bool undone = s.txn->GetNumKeys() != keys;
  if (!undone) s.txn->UndoGetForUpdate(s.own, "u");
  return Answered(undone);
}

Status Begin(const Scene& s) {
  Transaction* const begun =
      s.locking != nullptr
          ? s.locking->BeginTransaction(WriteOptions(), TransactionOptions(), s.old_txn)
          : s.optimistic->BeginTransaction(WriteOptions(), OptimisticTransactionOptions(),
                                           s.old_txn);
  if (s.old_txn == nullptr) delete begun;
  return Answered(begun != nullptr);
}

const Call kTransaction[] = {
    {"Transaction::Get(ReadOptions, ColumnFamilyHandle*, Slice, std::string*)",
     [](const Scene& s) {
       std::string value;
       return s.txn->Get(s.Reads(), s.family, "own", &value);
     },
     "OK"},
    {"Transaction::Get(ReadOptions, ColumnFamilyHandle*, Slice, PinnableSlice*)",
     [](const Scene& s) {
       PinnableSlice value;
       return s.txn->Get(s.Reads(), s.family, "own", &value);
     },
     "OK"},
    {"Transaction::Get(ReadOptions, Slice, std::string*)",
     [](const Scene& s) {
       std::string value;
       return s.txn->Get(s.Reads(), "own", &value);
     }},
    {"Transaction::Get(ReadOptions, Slice, PinnableSlice*)",
     [](const Scene& s) {
       PinnableSlice value;
       return s.txn->Get(s.Reads(), "own", &value);
     }},
    {"Transaction::MultiGet(ReadOptions, std::vector<ColumnFamilyHandle*>, std::vector<Slice>, "
     "std::vector<std::string>*)",
     [](const Scene& s) {
       std::vector<std::string> values;
       return Worst(s.txn->MultiGet(s.Reads(), s.Both(), {"own", "own"}, &values));
     },
     "OK"},
    {"Transaction::MultiGet(ReadOptions, std::vector<Slice>, std::vector<std::string>*)",
     [](const Scene& s) {
       std::vector<std::string> values;
       return Worst(s.txn->MultiGet(s.Reads(), {"own", "own"}, &values));
     }},
    {"Transaction::MultiGet(ReadOptions, ColumnFamilyHandle*, size_t, Slice*, PinnableSlice*, "
     "Status*, bool)",
     [](const Scene& s) {
       const Slice keys[] = {"own", "own"};
       PinnableSlice values[2];
       Status statuses[2];
       s.txn->MultiGet(s.Reads(), s.family, 2, keys, values, statuses);
       return Worst({statuses[0], statuses[1]});
     },
     "OK"},
    {"Transaction::GetEntity(ReadOptions, ColumnFamilyHandle*, Slice, PinnableWideColumns*)",
     [](const Scene& s) {
       PinnableWideColumns columns;
       return s.txn->GetEntity(s.Reads(), s.family, "own", &columns);
     },
     "OK"},
    {"Transaction::MultiGetEntity(ReadOptions, ColumnFamilyHandle*, size_t, Slice*, "
     "PinnableWideColumns*, Status*, bool)",
     [](const Scene& s) {
       const Slice keys[] = {"own", "own"};
       PinnableWideColumns columns[2];
       Status statuses[2];
       s.txn->MultiGetEntity(s.Reads(), s.family, 2, keys, columns, statuses);
       return Worst({statuses[0], statuses[1]});
     },
     "OK"},
    {"Transaction::GetEntityForUpdate(ReadOptions, ColumnFamilyHandle*, Slice, "
     "PinnableWideColumns*, bool, bool)",
     [](const Scene& s) {
       PinnableWideColumns columns;
       return s.txn->GetEntityForUpdate(s.Reads(), s.family, "own", &columns);
     }},
    {"Transaction::GetForUpdate(ReadOptions, ColumnFamilyHandle*, Slice, std::string*, bool, bool)",
     [](const Scene& s) {
       std::string value;
       return s.txn->GetForUpdate(s.Reads(), s.family, "own", &value);
     }},
    {"Transaction::GetForUpdate(ReadOptions, ColumnFamilyHandle*, Slice, PinnableSlice*, bool, "
     "bool)",
     [](const Scene& s) {
       return s.txn->GetForUpdate(s.Reads(), s.family, "w", static_cast<PinnableSlice*>(nullptr));
     }},
    {"Transaction::GetForUpdate(ReadOptions, Slice, std::string*, bool, bool)",
     [](const Scene& s) {
       std::string value;
       return s.txn->GetForUpdate(s.Reads(), "own", &value);
     }},
    {"Transaction::GetForUpdate(ReadOptions, Slice, PinnableSlice*, bool, bool)",
     [](const Scene& s) {
       PinnableSlice value;
       return s.txn->GetForUpdate(s.Reads(), "own", &value);
     }},
    {"Transaction::MultiGetForUpdate(ReadOptions, std::vector<ColumnFamilyHandle*>, "
     "std::vector<Slice>, std::vector<std::string>*)",
     [](const Scene& s) {
       std::vector<std::string> values;
       return Worst(s.txn->MultiGetForUpdate(s.Reads(), s.Both(), {"w", "w"}, &values));
     }},
    {"Transaction::MultiGetForUpdate(ReadOptions, std::vector<Slice>, std::vector<std::string>*)",
     [](const Scene& s) {
       std::vector<std::string> values;
       return Worst(s.txn->MultiGetForUpdate(s.Reads(), {"own", "own"}, &values));
     }},
    {"Transaction::UndoGetForUpdate(ColumnFamilyHandle*, Slice)", Undo, "InvalidArgument",
     "ShutdownInProgress"},
    {"Transaction::GetIterator(ReadOptions)",
     [](const Scene& s) { return StatusOf(s.txn->GetIterator(s.Reads())); }},
    {"Transaction::GetIterator(ReadOptions, ColumnFamilyHandle*)",
     [](const Scene& s) { return StatusOf(s.txn->GetIterator(s.Reads(), s.family)); }, "OK"},
    {"Transaction::GetCoalescingIterator(ReadOptions, std::vector<ColumnFamilyHandle*>)",
     [](const Scene& s) {
       return StatusOf(s.txn->GetCoalescingIterator(s.Reads(), s.Both()).release());
     },
     "OK"},
    {"Transaction::GetAttributeGroupIterator(ReadOptions, std::vector<ColumnFamilyHandle*>)",
     [](const Scene& s) {
       const auto made = s.txn->GetAttributeGroupIterator(s.Reads(), s.Both());
       made->SeekToFirst();
       return made->status();
     },
     "OK"},
    {"Transaction::GetRangeLock(ColumnFamilyHandle*, Endpoint, Endpoint)",
     [](const Scene& s) {
       // Optimistic transactions have no locks.
       if (s.optimistic != nullptr) return s.txn->DeleteRange(s.family, "v", "x");
       return s.txn->GetRangeLock(s.family, Endpoint("v"), Endpoint("x"));
     }},
    {"Transaction::Put(ColumnFamilyHandle*, Slice, Slice, bool)",
     [](const Scene& s) { return s.txn->Put(s.family, "w", "1"); }},
    {"Transaction::Put(ColumnFamilyHandle*, SliceParts, SliceParts, bool)",
     [](const Scene& s) { return s.txn->Put(s.family, kKey, kValue); }},
    {"Transaction::PutEntity(ColumnFamilyHandle*, Slice, WideColumns, bool)",
     [](const Scene& s) {
       return s.txn->PutEntity(s.family, "w", {{"a", "1"}});
     }},
    {"Transaction::PutEntityUntracked(ColumnFamilyHandle*, Slice, WideColumns)",
     [](const Scene& s) {
       return s.txn->PutEntityUntracked(s.family, "w", {{"a", "1"}});
     }},
    {"Transaction::Merge(ColumnFamilyHandle*, Slice, Slice, bool)",
     [](const Scene& s) { return s.txn->Merge(s.family, "w", "1"); }},
    {"Transaction::Delete(ColumnFamilyHandle*, Slice, bool)",
     [](const Scene& s) { return s.txn->Delete(s.family, "own"); }},
    {"Transaction::Delete(ColumnFamilyHandle*, SliceParts, bool)",
     [](const Scene& s) { return s.txn->Delete(s.family, kKey); }},
    {"Transaction::SingleDelete(ColumnFamilyHandle*, Slice, bool)",
     [](const Scene& s) { return s.txn->SingleDelete(s.family, "own"); }},
    {"Transaction::SingleDelete(ColumnFamilyHandle*, SliceParts, bool)",
     [](const Scene& s) { return s.txn->SingleDelete(s.family, kKey); }},
    {"Transaction::DeleteRange(ColumnFamilyHandle*, Slice, Slice)",
     [](const Scene& s) { return s.txn->DeleteRange(s.family, "v", "x"); }},
    {"Transaction::PutUntracked(ColumnFamilyHandle*, Slice, Slice)",
     [](const Scene& s) { return s.txn->PutUntracked(s.family, "w", "1"); }},
    {"Transaction::PutUntracked(ColumnFamilyHandle*, SliceParts, SliceParts)",
     [](const Scene& s) { return s.txn->PutUntracked(s.family, kKey, kValue); }},
    {"Transaction::MergeUntracked(ColumnFamilyHandle*, Slice, Slice)",
     [](const Scene& s) { return s.txn->MergeUntracked(s.family, "w", "1"); }},
    {"Transaction::DeleteUntracked(ColumnFamilyHandle*, Slice)",
     [](const Scene& s) { return s.txn->DeleteUntracked(s.family, "own"); }},
    {"Transaction::DeleteUntracked(ColumnFamilyHandle*, SliceParts)",
     [](const Scene& s) { return s.txn->DeleteUntracked(s.family, kKey); }},
    {"Transaction::SingleDeleteUntracked(ColumnFamilyHandle*, Slice)",
     [](const Scene& s) { return s.txn->SingleDeleteUntracked(s.family, "own"); }},
    {"Transaction::RebuildFromWriteBatch(WriteBatch*)",
     [](const Scene& s) {
       WriteBatch updates;
       Status added = updates.Put(s.family, "w", "1");
       return added.ok() ? s.txn->RebuildFromWriteBatch(&updates) : added;
     }},
    {"TransactionDB::BeginTransaction(WriteOptions, TransactionOptions, Transaction*)", Begin, "",
     "OK"},
    {"OptimisticTransactionDB::BeginTransaction(WriteOptions, OptimisticTransactionOptions, "
     "Transaction*)",
     Begin, "", "OK"},
    {"TransactionDB::Write(WriteOptions, TransactionDBWriteOptimizations, WriteBatch*)",
     [](const Scene& s) {
       WriteBatch updates;
       Status added = updates.Put(s.family, "w", "1");
       if (!added.ok() || s.locking == nullptr) return s.db->Write(WriteOptions(), &updates);
       return s.locking->Write(WriteOptions(), TransactionDBWriteOptimizations(), &updates);
     }},
};

const Call kBatch[] = {
    {"WriteBatchWithIndex::NewIteratorWithBase(ColumnFamilyHandle*, Iterator*, ReadOptions*)",
     [](const Scene& s) {
       const ReadOptions options = s.Reads();
       Iterator* const base = s.db->NewIterator(options, s.family);
       return StatusOf(s.batch->NewIteratorWithBase(s.own, base, &options));
     },
     "OK"},
    {"WriteBatchWithIndex::NewIteratorWithBase(Iterator*)",
     [](const Scene& s) {
       return StatusOf(s.batch->NewIteratorWithBase(s.db->NewIterator(s.Reads(), s.family)));
     },
     "OK"},
    {"WriteBatchWithIndex::GetFromBatchAndDB(DB*, ReadOptions, Slice, std::string*)",
     [](const Scene& s) {
       std::string value;
       return s.batch->GetFromBatchAndDB(s.db, s.Reads(), "own", &value);
     }},
    {"WriteBatchWithIndex::GetFromBatchAndDB(DB*, ReadOptions, Slice, PinnableSlice*)",
     [](const Scene& s) {
       PinnableSlice value;
       return s.batch->GetFromBatchAndDB(s.db, s.Reads(), "own", &value);
     }},
    {"WriteBatchWithIndex::GetFromBatchAndDB(DB*, ReadOptions, ColumnFamilyHandle*, Slice, "
     "std::string*)",
     [](const Scene& s) {
       std::string value;
       return s.batch->GetFromBatchAndDB(s.db, s.Reads(), s.family, "own", &value);
     },
     "OK"},
    {"WriteBatchWithIndex::GetFromBatchAndDB(DB*, ReadOptions, ColumnFamilyHandle*, Slice, "
     "PinnableSlice*)",
     [](const Scene& s) {
       PinnableSlice value;
       return s.batch->GetFromBatchAndDB(s.db, s.Reads(), s.family, "own", &value);
     },
     "OK"},
    {"WriteBatchWithIndex::GetEntityFromBatchAndDB(DB*, ReadOptions, ColumnFamilyHandle*, Slice, "
     "PinnableWideColumns*)",
     [](const Scene& s) {
       PinnableWideColumns columns;
       return s.batch->GetEntityFromBatchAndDB(s.db, s.Reads(), s.family, "own", &columns);
     },
     "OK"},
    {"WriteBatchWithIndex::MultiGetEntityFromBatchAndDB(DB*, ReadOptions, ColumnFamilyHandle*, "
     "size_t, Slice*, PinnableWideColumns*, Status*, bool)",
     [](const Scene& s) {
       const Slice keys[] = {"own", "own"};
       PinnableWideColumns columns[2];
       Status statuses[2];
       s.batch->MultiGetEntityFromBatchAndDB(s.db, s.Reads(), s.family, 2, keys, columns, statuses,
                                             false);
       return Worst({statuses[0], statuses[1]});
     },
     "OK"},
    {"WriteBatchWithIndex::MultiGetFromBatchAndDB(DB*, ReadOptions, ColumnFamilyHandle*, size_t, "
     "Slice*, PinnableSlice*, Status*, bool)",
     [](const Scene& s) {
       const Slice keys[] = {"own", "own"};
       PinnableSlice values[2];
       Status statuses[2];
       s.batch->MultiGetFromBatchAndDB(s.db, s.Reads(), s.family, 2, keys, values, statuses, false);
       return Worst({statuses[0], statuses[1]});
     },
     "OK"},
};

}  // namespace

std::span<const Call> TransactionCalls() {
  return kTransaction;
}

std::span<const Call> BatchCalls() {
  return kBatch;
}

}  // namespace varve::testing
