// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the database under test: opens it with drawn options, compares it as a whole with the
// expected state, and drops and recreates its families.

#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"

#include "tools/db_stress/expected.h"
#include "tools/db_stress/locks.h"
#include "tools/db_stress/stress_options.h"

namespace varve::stress {

// Thread safety: operations hold `in_use` shared; replacing the database or a family holds it
// exclusively.
class Database {
 public:
  // `expected` is not owned.
  Database(std::string directory, Expected* expected);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Opens with newly drawn options and compares every key. Returns false if the database cannot go
  // on.
  bool Open(Dice* dice, bool after_kill);
  // Closes the database, which also drops the snapshots. Requires that no worker holds one.
  bool Close();
  // Compares every key of every family by Get and by a scan. Requires that no thread writes
  // meanwhile.
  void VerifyAll();

  // Drops a family and creates it again, empty. Requires that in_use is held exclusively.
  void ClearFamily(uint32_t family);
  // Flush a family, or write the log's buffer out and sync it if asked to, and record that what was
  // there before the call survives a kill. Other threads may write meanwhile.
  void Flush(uint32_t family);
  void SyncLog(bool sync);

  DB* db() { return db_.get(); }
  // True with --use_txn or --use_optimistic_txn; db() is then such a database.
  [[nodiscard]] bool has_transactions() const {
    return transactions_ != nullptr || optimistic_ != nullptr;
  }
  // Requires has_transactions().
  std::unique_ptr<Transaction> Begin(const WriteOptions& options, bool set_snapshot);
  ColumnFamilyHandle* handle(uint32_t family) { return handles_[family]; }
  // Returns a number that changes when the family is recreated: its old snapshots show nothing.
  [[nodiscard]] uint64_t generation(uint32_t family) const { return generations_[family]; }
  Expected& expected() { return *expected_; }
  // Returns the directory of the workers' copies, which outlives an opening.
  [[nodiscard]] std::string moves_directory() const;
  KeyLocks& locks() { return locks_; }
  const StressOptions& options() const { return options_; }
  // True if keys have timestamps.
  [[nodiscard]] static bool stamped();
  // True with --ttl; db() is a DBWithTTL then.
  [[nodiscard]] static bool has_lifetimes();
  // Opens a database without transactions: db(), or a copy of it.
  static Status OpenPlain(const DBOptions& options, const std::string& path,
                          const std::vector<ColumnFamilyDescriptor>& families, bool read_only,
                          std::vector<ColumnFamilyHandle*>* handles, DB** db);
  // Returns read options for the latest time. They hold a pointer into the program's constants.
  [[nodiscard]] ReadOptions Now() const;

  // Count a finding, and print the first few of a run. Wrong: an answer that may not be. Lost: an
  // opening lacks what was acknowledged. The database goes on.
  void Wrong(const std::string& what);
  void Lost(const std::string& what);

  std::shared_mutex in_use;

 private:
  // Lists what an opening must name, the run's own families first.
  void ListFamilies(std::vector<ColumnFamilyDescriptor>* families);
  bool TryOpen();
  Status OpenFamilies(const std::vector<ColumnFamilyDescriptor>& families);
  // Judges one key after an opening, and takes what is found as the expected state.
  void Adopt(const KeyId& key, const Status& status, const Slice& value, bool lossy);
  void AdoptAll(bool after_kill);
  void Finding(const char* kind, const std::string& what);
  // Returns the acknowledged states of all keys of a family.
  std::vector<KeyState> StatesOf(uint32_t family) const;
  // Raises the floors of a family to states that now survive a kill. No states: it is empty.
  void RaiseFloors(uint32_t family, const std::vector<KeyState>& states);

  const std::string directory_;
  Expected* const expected_;
  KeyLocks locks_;
  StressOptions options_;
  std::unique_ptr<DB> db_;
  TransactionDB* transactions_ = nullptr;  // db_, or null, as the next
  OptimisticTransactionDB* optimistic_ = nullptr;
  std::vector<ColumnFamilyHandle*> handles_;
  std::vector<uint64_t> generations_;
};

std::string Describe(const KeyId& key, const KeyState& state);
std::string FamilyName(uint32_t family);
std::string MovesDirectory(const std::string& database);

}  // namespace varve::stress
