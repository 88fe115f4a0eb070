// SPDX-License-Identifier: Apache-2.0

// The expected state of a key is a range after a kill: `last` is what the worker wrote last, with a
// pending change that may have happened or not, and `floor` what is known to have survived (a
// flush, a sync, or an earlier opening). Adopt judges what is found after an opening:
//
//     equal to `last`, without or with the pending change     right
//     between `floor` and `last`                              right, if the options may lose writes
//     anything else                                           LOST
//
// and takes it as the state from which the run goes on, so that one fault is told once. A family
// that was being dropped and created again when the process was killed may be empty or whole.
//
// WRONG is a wrong answer of an open database, LOST what an opening lacks. Both are counted in the
// expected state, which outlives the process.

#include "tools/db_stress/database.h"

#include <algorithm>
#include <cstdio>

#include "varve/comparator.h"
#include "varve/utilities/db_ttl.h"

#include "tools/db_stress/flags.h"

namespace varve::stress {

namespace {

constexpr uint64_t kFindingsTold = 40;

// The greatest timestamp: all bytes are 0xff, so that a read at it sees every write.
const std::string kLatest(8, '\xff');
const Slice kLatestSlice(kLatest);

}  // namespace

std::string FamilyName(uint32_t family) {
  return family == 0 ? kDefaultColumnFamilyName : "family" + std::to_string(family);
}

std::string MovesDirectory(const std::string& database) {
  return database + ".moves";
}

std::string Describe(const KeyId& key, const KeyState& state) {
  return "family " + std::to_string(key.family) + " key " + std::to_string(key.number) +
         " expected: base " + std::to_string(state.base) + (state.has_value ? "" : " (nothing)") +
         " merges " + std::to_string(state.merges) + " pending " +
         std::to_string(static_cast<int>(state.pending));
}

Database::Database(std::string directory, Expected* expected)
    : directory_(std::move(directory)),
      expected_(expected),
      locks_(expected->families(), expected->keys()),
      generations_(expected->families()) {}

Database::~Database() {
  Close();
}

std::string Database::moves_directory() const {
  return MovesDirectory(directory_);
}

bool Database::stamped() {
  return FLAGS_user_timestamp_size != 0;
}

bool Database::has_lifetimes() {
  return FLAGS_ttl != -1;
}

ReadOptions Database::Now() const {
  ReadOptions read;
  if (stamped()) read.timestamp = &kLatestSlice;
  return read;
}

void Database::Finding(const char* kind, const std::string& what) {
  const Counts& counts = expected_->counts();
  if (counts.wrong + counts.lost > kFindingsTold) return;
  std::fprintf(stderr, "%s: %s (%s)\n", kind, what.c_str(), options_.description.c_str());
}

void Database::Wrong(const std::string& what) {
  expected_->counts().wrong++;
  Finding("WRONG", what);
}

void Database::Lost(const std::string& what) {
  expected_->counts().lost++;
  Finding("LOST", what);
}

// Lists the run's own families first, since handles_ is indexed by their numbers, and after them
// those that a worker of a killed process left. Opening requires all that exist. A missing one is
// reported as lost and listed nevertheless: create_missing_column_families makes it again, and the
// run can go on to its end.
void Database::ListFamilies(std::vector<ColumnFamilyDescriptor>* families) {
  for (uint32_t i = 0; i < expected_->families(); i++) {
    families->emplace_back(FamilyName(i), options_.family);
  }
  std::vector<std::string> names;
  // There is no database yet, or a damaged one, of which the opening itself tells.
  if (!DB::ListColumnFamilies(options_.db, directory_, &names).ok()) return;
  for (const auto& family : *families) {
    const bool there = std::ranges::find(names, family.name) != names.end();
    const uint32_t question = expected_->family_in_question();
    if (there || (question != Expected::kNoFamily && family.name == FamilyName(question))) continue;
    if (expected_->created()) Lost("column family " + family.name);
  }
  // A killed process may leave temporary families behind.
  for (const std::string& name : names) {
    if (!name.starts_with("temporary")) continue;
    ColumnFamilyOptions plain = options_.family;
    plain.comparator = BytewiseComparator();
    plain.persist_user_defined_timestamps = true;
    families->emplace_back(name, plain);
  }
}

Status Database::OpenPlain(const DBOptions& options, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families, bool read_only,
                           std::vector<ColumnFamilyHandle*>* handles, DB** db) {
  if (has_lifetimes()) {
    DBWithTTL* opened = nullptr;
    const std::vector<int32_t> lifetimes(families.size(), FLAGS_ttl);
    const Status s =
        DBWithTTL::Open(options, path, families, handles, &opened, lifetimes, read_only);
    *db = opened;
    return s;
  }
  if (!read_only) return DB::Open(options, path, families, handles, db);
  return DB::OpenForReadOnly(options, path, families, handles, db);
}

Status Database::OpenFamilies(const std::vector<ColumnFamilyDescriptor>& families) {
  DB* db = nullptr;
  Status s;
  if (FLAGS_use_txn) {
    TransactionDBOptions of_transactions;
    const bool prepared = FLAGS_txn_write_policy == 1 || options_.db.unordered_write;
    if (prepared) of_transactions.write_policy = WRITE_PREPARED;
    s = TransactionDB::Open(options_.db, of_transactions, directory_, families, &handles_,
                            &transactions_);
    db = transactions_;
  } else if (FLAGS_use_optimistic_txn) {
    s = OptimisticTransactionDB::Open(options_.db, directory_, families, &handles_, &optimistic_);
    db = optimistic_;
  } else {
    s = OpenPlain(options_.db, directory_, families, /*read_only=*/false, &handles_, &db);
  }
  db_.reset(db);
  return s;
}

std::unique_ptr<Transaction> Database::Begin(const WriteOptions& options, bool set_snapshot) {
  if (transactions_ != nullptr) {
    TransactionOptions of_transaction;
    of_transaction.set_snapshot = set_snapshot;
    return std::unique_ptr<Transaction>(transactions_->BeginTransaction(options, of_transaction));
  }
  OptimisticTransactionOptions of_transaction;
  of_transaction.set_snapshot = set_snapshot;
  return std::unique_ptr<Transaction>(optimistic_->BeginTransaction(options, of_transaction));
}

bool Database::TryOpen() {
  std::vector<ColumnFamilyDescriptor> families;
  ListFamilies(&families);
  const Status s = OpenFamilies(families);
  if (!s.ok()) {
    Lost("the database does not open: " + s.ToString());
    return false;
  }
  // Drops the temporary families, which are the last ones of the list.
  while (handles_.size() > expected_->families()) {
    const Status dropped = db_->DropColumnFamily(handles_.back());
    if (!dropped.ok()) Wrong("DropColumnFamily: " + dropped.ToString());
    db_->DestroyColumnFamilyHandle(handles_.back()).PermitUncheckedError();
    handles_.pop_back();
  }
  return true;
}

bool Database::Open(Dice* dice, bool after_kill) {
  if (!DrawOptions(dice, &options_)) return false;
  options_.db.db_paths = {{directory_, options_.fast_bytes}, {directory_ + "/slow", 0}};
  if (!TryOpen()) return false;
  AdoptAll(after_kill);
  expected_->SetCreated();
  expected_->SetLossy(!options_.SurvivesKill());
  return true;
}

bool Database::Close() {
  if (db_ == nullptr) return true;
  for (ColumnFamilyHandle* handle : handles_) {
    const Status s = db_->DestroyColumnFamilyHandle(handle);
    if (!s.ok()) Wrong("DestroyColumnFamilyHandle: " + s.ToString());
  }
  handles_.clear();
  const Status s = db_->Close();
  if (!s.ok()) Wrong("Close: " + s.ToString());
  db_.reset();
  transactions_ = nullptr;
  optimistic_ = nullptr;
  // A clean close loses nothing.
  expected_->SetLossy(false);
  return s.ok();
}

// Nothing found equals every state that does not exist, whatever its base. With losses, nothing is
// also right if the floor was nothing, or if the base has risen above the floor's: then a deletion
// may lie between. A put raises the base as well, so that this test is lenient.
void Database::Adopt(const KeyId& key, const Status& status, const Slice& value, bool lossy) {
  const KeyState last = expected_->Get(key);
  const KeyState floor = expected_->Floor(key);
  KeyState found{last.base, false, 0, Change::kNone};
  expected_->counts().checks++;
  if (status.ok()) {
    const std::optional<KeyState> state = StateOf(key, value);
    if (!state.has_value()) return Wrong("no value of this key: " + Describe(key, last));
    found = *state;
  } else if (!status.IsNotFound()) {
    return Wrong(status.ToString() + ": " + Describe(key, last));
  }
  const auto is = [&](const KeyState& state) {
    return found.exists() ? found == state : !state.exists();
  };
  if (!is(last.Settled()) && !is(last.After())) {
    const bool dropped_since = last.After().base > floor.base || !floor.exists();
    const bool older =
        found.exists() ? floor.NotAfter(found) && found.NotAfter(last) : dropped_since;
    if (!lossy || !older) {
      Lost((found.exists() ? "found base " + std::to_string(found.base) + " merges " +
                                 std::to_string(found.merges)
                           : "found nothing") +
           ", " + Describe(key, last));
    }
  }
  // A later put then has a base that no value of the key had before. Its old values, should they
  // come back, are told from new ones.
  if (!found.exists()) found.base = last.After().base;
  expected_->Set(key, found);
  expected_->SetFloor(key, found);
}

// Runs before any worker, so that the answer to each Get is a fixed one.
void Database::AdoptAll(bool after_kill) {
  const bool lossy = after_kill && expected_->lossy();
  const uint32_t question = expected_->family_in_question();
  std::string value;
  for (uint32_t family = 0; family < expected_->families(); family++) {
    if (family == question) {
      // The family may be empty or hold everything it held.
      const std::unique_ptr<Iterator> it(db_->NewIterator(Now(), handles_[family]));
      it->SeekToFirst();
      if (!it->Valid()) RaiseFloors(family, {});
    }
    for (uint64_t number = 0; number < expected_->keys(); number++) {
      const KeyId key{family, number};
      const Status s = db_->Get(Now(), handles_[family], KeyBytes(number), &value);
      Adopt(key, s, value, lossy);
    }
  }
  expected_->SetFamilyInQuestion(Expected::kNoFamily);
}

// Walks the scan and the numbers of the keys side by side: a key that the scan shows out of turn
// makes all later comparisons fail, and the first finding names the place.
void Database::VerifyAll() {
  for (uint32_t family = 0; family < expected_->families(); family++) {
    ReadOptions read = Now();
    read.total_order_seek = true;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read, handles_[family]));
    it->SeekToFirst();
    std::string value;
    for (uint64_t number = 0; number < expected_->keys(); number++) {
      const KeyId key{family, number};
      const KeyState state = expected_->Get(key);
      const std::string bytes = KeyBytes(number);
      const Status s = db_->Get(Now(), handles_[family], bytes, &value);
      const std::string due = state.exists() ? WholeValue(key, state) : "";
      expected_->counts().checks += 2;
      if (state.exists() ? !s.ok() || value != due : !s.IsNotFound()) {
        Wrong("Get, of every key: " + s.ToString() + ": " + Describe(key, state));
      }
      if (!state.exists()) continue;
      const bool there = it->Valid() && it->key() == Slice(bytes);
      if (!there || it->value() != Slice(due)) {
        Wrong("a scan of all: " + it->status().ToString() + ": " + Describe(key, state));
      }
      if (there) it->Next();
    }
    if (it->Valid() || !it->status().ok()) {
      Wrong("a scan has more than there is: " + it->status().ToString());
    }
  }
}

// Returns the states without their pending changes: acknowledged writes are in a memtable or the
// log, a pending one may not be there yet.
std::vector<KeyState> Database::StatesOf(uint32_t family) const {
  std::vector<KeyState> states(expected_->keys());
  for (uint64_t n = 0; n < states.size(); n++) states[n] = expected_->Get({family, n}).Settled();
  return states;
}

// Without states, the family has never held anything.
void Database::RaiseFloors(uint32_t family, const std::vector<KeyState>& states) {
  for (uint64_t number = 0; number < expected_->keys(); number++) {
    const KeyId key{family, number};
    if (states.empty()) {
      const KeyState gone{expected_->Get(key).After().base + 1, false, 0, Change::kNone};
      expected_->Set(key, gone);
      expected_->SetFloor(key, gone);
    } else if (expected_->Floor(key).NotAfter(states[number])) {
      expected_->SetFloor(key, states[number]);
    }
  }
}

// The family is in question from before the drop until after the creation. A process that is killed
// in between leaves it whole, missing or empty, and AdoptAll accepts each. Requires that the caller
// holds in_use exclusively, as the handle is replaced.
void Database::ClearFamily(uint32_t family) {
  expected_->SetFamilyInQuestion(family);
  // Snapshots that workers hold are of the family that goes away; LookAt skips them by this number.
  generations_[family]++;
  Status s = db_->DropColumnFamily(handles_[family]);
  if (!s.ok()) Wrong("DropColumnFamily: " + s.ToString());
  db_->DestroyColumnFamilyHandle(handles_[family]).PermitUncheckedError();
  RaiseFloors(family, {});
  s = db_->CreateColumnFamily(options_.family, FamilyName(family), &handles_[family]);
  if (!s.ok()) Wrong("CreateColumnFamily: " + s.ToString());
  expected_->SetFamilyInQuestion(Expected::kNoFamily);
}

void Database::Flush(uint32_t family) {
  const std::vector<KeyState> states = StatesOf(family);
  FlushOptions options;
  options.allow_write_stall = true;
  const Status s = db_->Flush(options, handles_[family]);
  if (!s.ok()) return Wrong("Flush: " + s.ToString());
  RaiseFloors(family, states);
}

// Raises the floors of all families, as they share the log. A plain flush of the log's buffer is
// enough: what the kernel has survives the death of the process, which is the only kind of failure
// here.
void Database::SyncLog(bool sync) {
  std::vector<std::vector<KeyState>> states;
  for (uint32_t family = 0; family < expected_->families(); family++) {
    states.push_back(StatesOf(family));
  }
  const Status s = db_->FlushWAL(sync);
  if (!s.ok()) return Wrong("FlushWAL: " + s.ToString());
  // Some writes are not in the log, and the states do not tell which.
  if (options_.no_log_one_in != 0) return;
  for (uint32_t family = 0; family < states.size(); family++) RaiseFloors(family, states[family]);
}

}  // namespace varve::stress
