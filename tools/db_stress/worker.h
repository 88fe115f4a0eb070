// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs one thread of operations and compares each with the expected state.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "varve/change_stream.h"

#include "tools/db_stress/database.h"

namespace varve::stress {

// Holds a snapshot, and the states of a few keys when it was taken.
struct HeldSnapshot {
  const Snapshot* snapshot = nullptr;
  uint64_t until = 0;  // the operation at which it is looked at and released
  uint32_t family = 0;
  uint64_t generation = 0;                               // the family's
  std::vector<std::pair<uint64_t, std::string>> values;  // of neighbouring keys; empty: not there
};

// Thread safety: one thread may use it.
class Worker {
 public:
  Worker(Database* database, uint32_t id, uint64_t seed);

  // Runs this many operations.
  void Run(uint64_t operations);
  // Checks all snapshots once more and releases them.
  void ReleaseSnapshots();

 private:
  // --- writes.cc
  void Put();
  // Does nothing to a key that exists and is never overwritten. Requires that the key is locked.
  void PutLocked(const KeyId& key);
  void Merge();
  void Delete();
  void DeleteRange();
  // Marks the change as pending, writes, and settles it. `write` does the writing or, in
  // transactions, `add`.
  using PlainWrite = std::function<Status(const KeyState& after)>;
  using AddToTransaction = std::function<Status(Transaction* txn, const KeyState& after)>;
  void Apply(const KeyId& key, Change change, const WriteOptions& options, const PlainWrite& write,
             const AddToTransaction& add);
  bool IsNeverOverwritten(uint64_t number) const;
  std::string NextTimestamp();
  void TemporaryFamily();

  // --- transactions.cc
  // Changes a key from `before` to `after` in a transaction, which is rolled back now and then:
  // then *changed is false.
  Status Transact(const KeyId& key, const KeyState& before, const KeyState& after,
                  const WriteOptions& options, const AddToTransaction& add, bool* changed);
  void ReadInTransaction(const char* how, Transaction* txn, const KeyId& key,
                         const KeyState& state);

  // --- reads.cc
  void Get();
  void GetEntity();
  void GetOperands();
  void MultiGet();
  void Scan();
  void ScanPrefix();
  // Judges the result of a read between two readings of the expected state.
  void Judge(const char* how, const KeyId& key, const KeyState& before, const Status& status,
             const Slice& value) {
    JudgeBetween(how, key, before, expected().Get(key), status, value);
  }
  void JudgeBetween(const char* how, const KeyId& key, const KeyState& before,
                    const KeyState& after, const Status& status, const Slice& value);
  void ExpectExactly(const char* how, const KeyId& key, const Status& status, const Slice& value) {
    ExpectState(how, key, expected().Get(key), status, value);
  }
  void ExpectState(const char* how, const KeyId& key, const KeyState& state, const Status& status,
                   const Slice& value);
  void CheckLockedScan(Iterator* it, uint32_t family, uint64_t first, uint64_t last, bool forward);

  // --- moves.cc
  void Move();
  void MakeCheckpoint();
  void MakeBackup();
  void Ingest();
  void FollowChanges();
  void FollowAsSecondary();
  // Returns a path of this worker's own beside the database.
  std::string Place(const char* what) const;
  // Returns the states of all keys of a family; `floors`: those that survive a kill.
  std::vector<KeyState> StatesOf(uint32_t family, bool floors);
  using States = std::vector<KeyState>;
  void JudgeMoved(const char* how, DB* moved, ColumnFamilyHandle* of, uint32_t family,
                  const States& before, const States& after);
  void LookAtMoved(const char* how, const std::string& path, uint32_t family, const States& before,
                   const States& after);
  static Status ReadStream(ChangeStream* stream, SequenceNumber newest, WriteBatch::Handler* tells);

  // --- snapshots.cc
  void TakeSnapshot();
  void LookAt(const HeldSnapshot& held);
  void ReleaseDue();

  // --- worker.cc
  void Step();
  void Maintain();
  KeyId RandomKey();
  uint32_t RandomFamily() { return static_cast<uint32_t>(dice_.Below(expected().families())); }
  Expected& expected() { return database_->expected(); }
  DB* db() { return database_->db(); }
  ColumnFamilyHandle* handle(uint32_t family) { return database_->handle(family); }

  Database* const database_;
  const uint32_t id_;
  Dice dice_;
  uint64_t operation_ = 0;
  uint64_t temporaries_ = 0;
  std::deque<HeldSnapshot> snapshots_;
};

}  // namespace varve::stress
