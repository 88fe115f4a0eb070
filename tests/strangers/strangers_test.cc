// SPDX-License-Identifier: Apache-2.0

// Goal: no call takes objects of another database for its own. Method: a table of all public calls
// that are given a column family handle, a snapshot, an iterator, a transaction or a batch, held to
// the public headers; each is given one of another database, one that was released, one of a
// dropped family, and is made when the database is closed, for each kind of database and of
// transaction. Foreign objects are InvalidArgument, and nothing is changed in either database; for
// dropped families and closed databases the table has the answer. A secondary and a follower may
// refuse a call because it writes.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "varve/utilities/merge_operators.h"

#include "tests/harness/database.h"
#include "tests/harness/source_root.h"
#include "tests/strangers/calls.h"
#include "tests/strangers/signatures.h"

namespace varve::testing {
namespace {

enum class Kind { kPlain, kLocking, kPrepared, kOptimistic, kSecondary, kFollower };
constexpr Kind kKinds[] = {Kind::kPlain,      Kind::kLocking,   Kind::kPrepared,
                           Kind::kOptimistic, Kind::kSecondary, Kind::kFollower};
const char* const kKindNames[] = {"plain",      "locking",   "prepared",
                                  "optimistic", "secondary", "follower"};

// True if it follows a database that another process may write: it refuses to write itself.
bool Follows(Kind kind) {
  return kind == Kind::kSecondary || kind == Kind::kFollower;
}

// Holds a database whose families have the same names and ids as in any other.
class House {
 public:
  House(Kind kind, const std::vector<std::string>& names)
      : env_(NewCompositeEnv(std::make_shared<MemFileSystem>())) {
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.info_log = SilentLogger();
    options.merge_operator = MergeOperators::CreateUInt64AddOperator();
    options.num_levels = 5;
    options.disable_auto_compactions = true;
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options);
    std::vector<ColumnFamilyHandle*> handles;
    Status s;
    if (kind == Kind::kPlain) {
      s = DB::Open(options, "/db", families, &handles, &db_);
    } else if (Follows(kind)) {
      MakeLeader(options, families);
      options.follower_refresh_catchup_period_ms = 0;
      s = kind == Kind::kSecondary
              ? DB::OpenAsSecondary(options, "/leader", "/db", families, &handles, &db_)
              : DB::OpenAsFollower(options, "/db", "/leader", families, &handles, &db_);
    } else if (kind == Kind::kOptimistic) {
      s = OptimisticTransactionDB::Open(options, "/db", families, &handles, &optimistic);
      db_.reset(optimistic);
    } else {
      s = TransactionDB::Open(options, TransactionDBOptions(), "/db", families, &handles, &locking);
      db_.reset(locking);
    }
    EXPECT_TRUE(s.ok()) << s.ToString();
    for (size_t i = 0; i < handles.size(); i++) {
      handles_[names[i]] = handles[i];
      if (!Follows(kind)) s = db_->Put(WriteOptions(), handles[i], "own", "v");
      EXPECT_TRUE(s.ok()) << s.ToString();
    }
  }
  ~House() {
    for (auto& [name, handle] : handles_) delete handle;
  }
  House(const House&) = delete;
  House& operator=(const House&) = delete;

  DB* db() { return db_.get(); }
  ColumnFamilyHandle* family(const std::string& name) { return handles_.at(name); }

  std::unique_ptr<Transaction> Begin() {
    TransactionOptions impatient;
    impatient.lock_timeout = 0;
    if (locking != nullptr) {
      return std::unique_ptr<Transaction>(locking->BeginTransaction(WriteOptions(), impatient));
    }
    if (optimistic == nullptr) return nullptr;
    return std::unique_ptr<Transaction>(optimistic->BeginTransaction(WriteOptions()));
  }
  // Returns all state that a call could change.
  std::string State() {
    std::string state;
    for (auto& [name, handle] : handles_) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handle));
      state += name + ":";
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        state += " " + it->key().ToString() + "=" + it->value().ToString();
      }
      state += db_->GetOptions(handle).disable_auto_compactions ? "; " : " compacts; ";
    }
    std::vector<ColumnFamilyMetaData> families;
    db_->GetAllColumnFamilyMetaData(&families);
    for (const ColumnFamilyMetaData& family : families) {
      state += family.name + " has " + std::to_string(family.file_count) + " files; ";
    }
    state += std::to_string(db_->GetLatestSequenceNumber()) + " writes; locked";
    if (locking == nullptr) return state;
    std::set<std::string> locked;
    for (const auto& [id, lock] : locking->GetLockStatusData()) {
      locked.insert(" " + std::to_string(id) + "/" + lock.key);
    }
    for (const std::string& key : locked) state += key;
    // Locked ranges are in no list, so a probe finds them.
    const std::unique_ptr<Transaction> probe = Begin();
    for (const char* name : {"default", "a"}) {
      const Status s = probe->Put(family(name), "w", "");
      state += s.ok() ? "" : std::string(" w of ") + name + " " + s.ToString();
    }
    return state;
  }

  TransactionDB* locking = nullptr;
  OptimisticTransactionDB* optimistic = nullptr;

 private:
  static void MakeLeader(const Options& options,
                         const std::vector<ColumnFamilyDescriptor>& families) {
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> leader;
    Status s = DB::Open(options, "/leader", families, &handles, &leader);
    for (ColumnFamilyHandle* const handle : handles) {
      if (s.ok()) s = leader->Put(WriteOptions(), handle, "own", "v");
      delete handle;
    }
    EXPECT_TRUE(s.ok()) << s.ToString();
  }

  const std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  std::map<std::string, ColumnFamilyHandle*> handles_;
};

std::string StateOf(Transaction* txn) {
  if (txn == nullptr) return "";
  return std::to_string(txn->GetNumKeys()) + " keys, " + std::to_string(txn->GetNumPuts()) + "+" +
         std::to_string(txn->GetNumDeletes()) + "+" + std::to_string(txn->GetNumMerges()) + ", " +
         std::to_string(txn->GetState()) + txn->GetWriteBatch()->GetWriteBatch()->Data();
}

std::string CodeOf(const Status& s) {
  if (s.ok()) return "OK";
  if (s.IsInvalidArgument()) return "InvalidArgument";
  if (s.IsColumnFamilyDropped()) return "ColumnFamilyDropped";
  return s.IsShutdownInProgress() ? "ShutdownInProgress" : s.ToString();
}

std::vector<Call> AllCalls() {
  std::vector<Call> calls;
  for (const auto part : {DbCalls(), TransactionCalls(), BatchCalls()}) {
    calls.insert(calls.end(), part.begin(), part.end());
  }
  return calls;
}

bool Has(const Call& call, const std::string& type) {
  return std::string(call.signature).find(type) != std::string::npos;
}

class StrangersTest : public ::testing::TestWithParam<Kind> {
 protected:
  StrangersTest()
      : own_(GetParam(), {"default", "a", "b", "gone"}),
        stranger_(GetParam(), {"default", "a", "b", "gone", "far"}) {}

  Scene Begin() {
    txn_ = own_.Begin();
    if (txn_ != nullptr) {
      EXPECT_TRUE(txn_->Put("own", "mine").ok());
      EXPECT_TRUE(txn_->Put(own_.family("a"), "own", "mine").ok());
    }
    if (GetParam() == Kind::kPrepared) {
      EXPECT_TRUE(txn_->SetName("n").ok());
      EXPECT_TRUE(txn_->Prepare().ok());
    }
    batch_.Clear();
    EXPECT_TRUE(batch_.Put(own_.family("a"), "own", "mine").ok());
    Scene scene;
    scene.db = own_.db();
    scene.locking = own_.locking;
    scene.optimistic = own_.optimistic;
    scene.own = scene.family = own_.family("a");
    scene.txn = txn_.get();
    scene.batch = &batch_;
    return scene;
  }
  void End() {
    if (txn_ == nullptr) return;
    EXPECT_TRUE(txn_->Rollback().ok());
    txn_.reset();
  }
  bool IsPlayed(const Call& call) const {
    const bool has_transactions = GetParam() != Kind::kPlain && !Follows(GetParam());
    return has_transactions || !Has(call, "Transaction");
  }
  // Checks that the call is refused and nothing has changed in either database.
  void ExpectRefused(const Call& call, const Scene& scene, const char* object) {
    const std::string before = own_.State() + StateOf(scene.txn) + stranger_.State();
    const std::string batch = batch_.GetWriteBatch()->Data();
    const Status s = call.play(scene);
    if (!(Follows(GetParam()) && s.IsNotSupported())) {
      EXPECT_EQ(CodeOf(s), "InvalidArgument") << call.signature << " of " << object << s.ToString();
    }
    EXPECT_EQ(own_.State() + StateOf(scene.txn) + stranger_.State(), before)
        << call.signature << " of " << object;
    EXPECT_EQ(batch_.GetWriteBatch()->Data(), batch) << call.signature << " of " << object;
    cases_++;
  }

  House own_;
  House stranger_;
  std::unique_ptr<Transaction> txn_;
  WriteBatchWithIndex batch_;
  int cases_ = 0;
};

TEST_P(StrangersTest, HandlesOfAnotherDatabaseAreRefused) {
  for (const Call& call : AllCalls()) {
    // A batch without a database identifies families by their ids.
    if (!IsPlayed(call) || !Has(call, "ColumnFamilyHandle*")) continue;
    for (const char* name : {"a", "default", "far"}) {
      Scene scene = Begin();
      scene.family = stranger_.family(name);
      ExpectRefused(call, scene, name);
      End();
    }
    Scene scene = Begin();
    scene.family = stranger_.db()->DefaultColumnFamily();
    ExpectRefused(call, scene, "the default");
    End();
  }
  EXPECT_GT(cases_, 150);
}

TEST_P(StrangersTest, SnapshotsOfAnotherDatabaseAreRefused) {
  ManagedSnapshot foreign(stranger_.db());
  const Snapshot* const released = own_.db()->GetSnapshot();
  own_.db()->ReleaseSnapshot(released);
  for (const Call& call : AllCalls()) {
    if (!IsPlayed(call) || (!Has(call, "ReadOptions") && !Has(call, "Snapshot*"))) continue;
    for (const char* family : {"a", "default"}) {
      Scene scene = Begin();
      scene.family = own_.family(family);
      scene.snapshot = foreign.snapshot();
      ExpectRefused(call, scene, "another database");
      scene.snapshot = released;
      ExpectRefused(call, scene, "nobody");
      End();
    }
  }
  std::string value;
  ReadOptions held;
  held.snapshot = foreign.snapshot();
  EXPECT_TRUE(stranger_.db()->Get(held, "own", &value).ok()) << "it is held as before";
  EXPECT_GT(cases_, 40);
}

TEST_P(StrangersTest, TransactionsOfAnotherDatabaseAreRefused) {
  for (const Call& call : AllCalls()) {
    if (!IsPlayed(call) || !Has(call, "Transaction*)")) continue;
    Scene scene = Begin();
    const std::unique_ptr<Transaction> foreign = stranger_.Begin();
    ASSERT_TRUE(foreign->Put("own", "theirs").ok());
    const std::string before = StateOf(foreign.get());
    scene.old_txn = foreign.get();
    ExpectRefused(call, scene, "a transaction");
    EXPECT_EQ(StateOf(foreign.get()), before);
    EXPECT_TRUE(foreign->Commit().ok());
    End();
  }
}

TEST_P(StrangersTest, DroppedFamiliesAnswerAsTheTableSays) {
  if (Follows(GetParam())) GTEST_SKIP() << "the families that it shows stay";
  ASSERT_TRUE(own_.db()->DropColumnFamily(own_.family("gone")).ok());
  for (const Call& call : AllCalls()) {
    const bool names_family = Has(call, "ColumnFamilyHandle*") || Has(call, "WriteBatch*");
    if (!IsPlayed(call) || !names_family || std::string(call.dropped).empty()) continue;
    Scene scene = Begin();
    scene.family = own_.family("gone");
    const std::string before = own_.State() + StateOf(scene.txn);
    const Status s = call.play(scene);
    EXPECT_EQ(CodeOf(s), call.dropped) << call.signature;
    if (!s.ok()) {
      EXPECT_EQ(own_.State() + StateOf(scene.txn), before) << call.signature;
    }
    End();
    cases_++;
  }
  EXPECT_GT(cases_, 40);
}

TEST_P(StrangersTest, ClosedDatabasesAnswerAsTheTableSays) {
  const Scene scene = Begin();
  ASSERT_TRUE(own_.db()->Close().ok());
  for (const Call& call : AllCalls()) {
    if (!IsPlayed(call) || std::string(call.closed).empty()) continue;
    const std::string before = StateOf(scene.txn);
    const Status s = call.play(scene);
    if (!(Follows(GetParam()) && s.IsNotSupported())) {
      EXPECT_EQ(CodeOf(s), call.closed) << call.signature << s.ToString();
    }
    EXPECT_EQ(StateOf(scene.txn), before) << call.signature;
    cases_++;
  }
  EXPECT_GT(cases_, 50);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StrangersTest, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return kKindNames[static_cast<int>(kind.param)]; });

// ---- The table

// Calls that give such an object, are there before any is, or do not ask whose it is.
const std::set<std::string> kWithoutRow = {
    // They make handles.
    "DB::CreateColumnFamily(ColumnFamilyOptions, std::string, ColumnFamilyHandle**)",
    "DB::CreateColumnFamilies(ColumnFamilyOptions, std::vector<std::string>, "
    "std::vector<ColumnFamilyHandle*>*)",
    "DB::CreateColumnFamilies(std::vector<ColumnFamilyDescriptor>, "
    "std::vector<ColumnFamilyHandle*>*)",
    "DB::CreateColumnFamilyWithImport(ColumnFamilyOptions, std::string, "
    "ImportColumnFamilyOptions, std::vector< ExportImportFilesMetaData*>, ColumnFamilyHandle**)",
    "DB::CreateColumnFamilyWithImport(ColumnFamilyOptions, std::string, "
    "ImportColumnFamilyOptions, ExportImportFilesMetaData, ColumnFamilyHandle**)",
    // It lists what is there.
    "TransactionDB::GetAllPreparedTransactions(std::vector<Transaction*>*)",
    // Whole files are checked, whatever the snapshot.
    "DB::VerifyChecksum(ReadOptions)",
    "DB::VerifyFileChecksums(ReadOptions)",
    "::VerifySstFileChecksum(Options, EnvOptions, ReadOptions, std::string, SequenceNumber)",
    // These are called within the class, with checked arguments.
    "WriteBatchWithIndex::GetOver(DB*, ReadOptions, ColumnFamilyHandle*, Slice, PinnableSlice*)",
    "WriteBatchWithIndex::MultiGetOver(DB*, ReadOptions, ColumnFamilyHandle*, size_t, Slice*, "
    "PinnableSlice*, Status*, bool)",
    "WriteBatchWithIndex::GetEntityOver(DB*, ReadOptions, ColumnFamilyHandle*, Slice, "
    "PinnableWideColumns*)",
    "WriteBatchWithIndex::MultiGetEntityOver(DB*, ReadOptions, ColumnFamilyHandle*, size_t, "
    "Slice*, PinnableWideColumns*, Status*, bool)",
};

bool NeedsRow(const std::string& signature) {
  if (!TakesObject(signature) || kWithoutRow.contains(signature)) return false;
  const bool opens = signature.find("::Open") != std::string::npos ||
                     signature.find("::Wrap") != std::string::npos;
  // Without a database or its iterator, a batch cannot know the database of a handle.
  const bool is_batch = signature.starts_with("WriteBatchWithIndex::");
  const bool is_alone = signature.find("DB*") == std::string::npos &&
                        signature.find("Iterator*") == std::string::npos;
  return !opens && !(is_batch && is_alone);
}

std::vector<std::string> CallsOfHeaders() {
  struct Header {
    const char* path;
    const char* name;
  };
  static constexpr Header kHeaders[] = {
      {"db.h", "DB"},
      {"iterator_base.h", "IteratorBase"},
      {"convenience.h", ""},
      {"utilities/transaction.h", "Transaction"},
      {"utilities/transaction_db.h", "TransactionDB"},
      {"utilities/optimistic_transaction_db.h", "OptimisticTransactionDB"},
      {"utilities/write_batch_with_index.h", "WriteBatchWithIndex"},
  };
  std::vector<std::string> calls;
  for (const Header& header : kHeaders) {
    std::string path = testing::SourceRoot() + "/include/varve/";
    path += header.path;
    for (const std::string& signature : SignaturesOf(path, header.name)) {
      if (NeedsRow(signature)) calls.push_back(signature);
    }
  }
  return calls;
}

std::vector<std::string> WithoutRow(const std::vector<std::string>& signatures,
                                    const std::vector<Call>& rows) {
  std::vector<std::string> missing;
  for (const std::string& signature : signatures) {
    const bool found =
        std::ranges::any_of(rows, [&](const Call& row) { return row.signature == signature; });
    if (!found) missing.push_back(signature);
  }
  return missing;
}

TEST(StrangersTableTest, EveryCallHasItsRow) {
  const std::vector<std::string> calls = CallsOfHeaders();
  EXPECT_GT(calls.size(), 90u);
  for (const std::string& missing : WithoutRow(calls, AllCalls())) {
    ADD_FAILURE() << "no row for " << missing;
  }
  for (const Call& row : AllCalls()) {
    EXPECT_NE(std::ranges::find(calls, row.signature), calls.end())
        << "there is no such call: " << row.signature;
  }
}

TEST(StrangersTableTest, AnOmissionIsNamed) {
  std::vector<Call> rows = AllCalls();
  const std::string omitted = rows[7].signature;
  rows.erase(rows.begin() + 7);
  EXPECT_EQ(WithoutRow(CallsOfHeaders(), rows), std::vector<std::string>{omitted});
}

}  // namespace
}  // namespace varve::testing
