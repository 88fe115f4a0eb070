// SPDX-License-Identifier: Apache-2.0

// Goal: opening, listing and destroying do what db.h says, and a refusal changes nothing. Method:
// one story for each capability, over a file system in memory.

#include <gmock/gmock.h>

#include <atomic>
#include <functional>

#include "varve/env_wrappers.h"
#include "varve/listener.h"
#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DbOpenTest : public Database {};

TEST_F(DbOpenTest, TheShortFormsOpenTheDefaultFamily) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options_, kName, &db).ok());
  ASSERT_TRUE(db->Put(WriteOptions(), "k", "v").ok());
  EXPECT_EQ(db->GetName(), kName);
  EXPECT_EQ(db->GetEnv(), options_.env);
  EXPECT_EQ(db->DefaultColumnFamily()->GetName(), "default");
  EXPECT_EQ(db->DefaultColumnFamily()->GetID(), 0u);
  ASSERT_TRUE(db->Close().ok());
  EXPECT_TRUE(db->Close().ok()) << "a second Close";
  db.reset();

  DB* raw = nullptr;
  ASSERT_TRUE(DB::Open(options_, kName, &raw).ok());
  std::string value;
  EXPECT_TRUE(raw->Get(ReadOptions(), "k", &value).ok());
  EXPECT_EQ(value, "v");
  delete raw;
}

TEST_F(DbOpenTest, FamiliesComeBackInTheOrderAsked) {
  Open({"default", "b", "a"});
  Put("k", "in b", "b");
  Put("k", "in a", "a");
  ASSERT_TRUE(Close().ok());
  std::vector<std::string> names;
  ASSERT_TRUE(DB::ListColumnFamilies(options_, kName, &names).ok());
  EXPECT_THAT(names, ElementsAre("default", "b", "a"));
  Open({"a", "default", "b"});
  EXPECT_EQ(Get("k", "a"), "in a");
  EXPECT_EQ(Get("k", "b"), "in b");
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  EXPECT_EQ(Handle("b")->GetID(), 1u);
}

TEST_F(DbOpenTest, WhatIsThereDecides) {
  options_.create_if_missing = false;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  EXPECT_TRUE(mem().FileExists(kName, IOOptions(), nullptr).IsNotFound());
  options_.create_if_missing = true;
  options_.error_if_exists = true;
  Open();
  Put("k", "v");
  ASSERT_TRUE(Close().ok());
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.error_if_exists = false;
  options_.create_missing_column_families = false;
  Status s = TryOpen({"default", "new"});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("new"));
  options_.create_missing_column_families = true;
  Open({"default", "new"});
  EXPECT_EQ(Get("k"), "v");
  ASSERT_TRUE(Close().ok());
  s = TryOpen({"default"});
  EXPECT_TRUE(s.IsInvalidArgument()) << "a family that is not named";
  EXPECT_THAT(s.ToString(), HasSubstr("new"));
}

TEST_F(DbOpenTest, AFamilyListedAgainGetsAnotherHandle) {
  ColumnFamilyOptions first(options_);
  first.write_buffer_size = 1 << 20;
  ColumnFamilyOptions second(options_);
  second.write_buffer_size = 2 << 20;
  const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, first},
                                                        {"a", first},
                                                        {kDefaultColumnFamilyName, second},
                                                        {"a", second}};
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  for (const bool read_only : {false, false, true}) {
    SCOPED_TRACE(read_only ? "for reads" : "for writes");
    const Status s = read_only
                         ? DB::OpenForReadOnly(options_, kName, families, &handles, &db, false)
                         : DB::Open(options_, kName, families, &handles, &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(handles.size(), 4u);
    for (const size_t i : {0u, 1u}) {
      EXPECT_NE(handles[i], handles[i + 2]);
      EXPECT_EQ(handles[i]->GetID(), handles[i + 2]->GetID());
      EXPECT_EQ(db->GetOptions(handles[i + 2]).write_buffer_size, size_t{1} << 20);
      if (!read_only) {
        EXPECT_TRUE(db->Put(WriteOptions(), handles[i], "k", families[i].name).ok());
      }
      std::string value;
      EXPECT_TRUE(db->Get(ReadOptions(), handles[i + 2], "k", &value).ok());
      EXPECT_EQ(value, families[i].name);
    }
    for (ColumnFamilyHandle* const handle : handles) {
      EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    }
    db.reset();
  }
}

TEST_F(DbOpenTest, TheListOfFamiliesIsChecked) {
  struct Case {
    const char* name;
    std::vector<std::string> families;
  };
  for (const Case& c :
       {Case{"no default", {"a"}}, Case{"nothing", {}}, Case{"no name", {"default", ""}}}) {
    SCOPED_TRACE(c.name);
    EXPECT_TRUE(TryOpen(c.families).IsInvalidArgument());
    EXPECT_TRUE(Files(kDescriptorFile).empty());
  }
  EXPECT_TRUE(DB::Open(options_, kName, static_cast<DB**>(nullptr)).IsInvalidArgument());
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(options_, "", &db).IsInvalidArgument());
  EXPECT_EQ(db, nullptr);
}

TEST_F(DbOpenTest, OptionsThatDoNotExistAreRefusedByName) {
  struct Case {
    const char* name;
    void (*set)(Options*);
  };
  const Case kCases[] = {
      {"allow_mmap_writes", [](Options* o) { o->allow_mmap_writes = true; }},
      {"wal_compression", [](Options* o) { o->wal_compression = kLZ4Compression; }},
      {"db_paths", [](Options* o) { o->db_paths.assign(5, DbPath("/elsewhere", 1 << 20)); }},
      {"cf_paths", [](Options* o) { o->cf_paths.assign(5, DbPath("/elsewhere", 1 << 20)); }},
      {"blob_compression_type",
       [](Options* o) {
         o->enable_blob_files = true;
         o->blob_compression_type = kXpressCompression;
       }},
  };
  const Options good = options_;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    options_ = good;
    c.set(&options_);
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(c.name));
    EXPECT_TRUE(Files(kDescriptorFile).empty());
  }
}

TEST_F(DbOpenTest, OnlyOneOpenerHasTheDirectory) {
  Open();
  std::unique_ptr<DB> second;
  EXPECT_TRUE(DB::Open(options_, kName, &second).IsIOError());
  EXPECT_TRUE(DestroyDB(kName, options_).IsIOError());
  Put("still", "here");
  EXPECT_EQ(Get("still"), "here");
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DB::Open(options_, kName, &second).ok());
}

TEST_F(DbOpenTest, ReadOnlySeesTheLogAndChangesNothing) {
  Open({"default", "a"});
  Put("flushed", "1");
  Flush();
  Put("logged", "2");
  Put("logged", "3", "a");
  Kill();
  std::vector<std::string> before;
  ASSERT_TRUE(mem().GetChildren(kName, IOOptions(), &before, nullptr).ok());
  const uint64_t calls = mem().call_count();

  ASSERT_TRUE(TryOpenReadOnly({"default"}).ok()) << "a subset of the families is enough";
  EXPECT_EQ(Scan(), "flushed=1 logged=2");
  EXPECT_TRUE(db()->Put(WriteOptions(), "k", "v").IsNotSupported());
  EXPECT_TRUE(db()->Flush(FlushOptions()).IsNotSupported());
  EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).IsNotSupported());
  EXPECT_TRUE(db()->SetOptions({{"write_buffer_size", "1M"}}).IsNotSupported());
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db()->CreateColumnFamily(options_, "x", &handle).IsNotSupported());
  EXPECT_TRUE(Close().ok());

  ASSERT_TRUE(TryOpenReadOnly({"default", "a"}).ok());
  EXPECT_EQ(Get("logged", "a"), "3");
  EXPECT_TRUE(Close().ok());
  EXPECT_FALSE(TryOpenReadOnly({"default"}, /*error_if_wal_file_exists=*/true).ok());
  EXPECT_EQ(mem().call_count(), calls) << "a read-only opening wrote something";
  std::vector<std::string> after;
  ASSERT_TRUE(mem().GetChildren(kName, IOOptions(), &after, nullptr).ok());
  EXPECT_EQ(before, after);
}

// Each of which Open refuses, alone or with another.
TEST_F(DbOpenTest, ReadOnlyTakesWhatOnlyWritersMeet) {
  Open({"default", "a"});
  Put("k", "v");
  Put("k", "in a table", "a");
  Flush("a");
  ASSERT_TRUE(Close().ok());
  const Options plain = options_;
  const std::function<void(Options*)> changes[] = {
      [](Options* o) { o->unordered_write = o->enable_pipelined_write = true; },
      [](Options* o) { o->atomic_flush = o->enable_pipelined_write = true; },
      [](Options* o) { o->two_write_queues = o->enable_pipelined_write = true; },
      [](Options* o) {
        o->unordered_write = true;
        o->max_successive_merges = 3;
      },
      [](Options* o) { o->allow_mmap_writes = true; },
      [](Options* o) {
        o->use_direct_io_for_flush_and_compaction = true;
        o->writable_file_max_buffer_size = 0;
      },
      [](Options* o) {
        o->allow_ingest_behind = true;
        o->num_levels = 2;
      },
      [](Options* o) {
        o->enable_blob_files = true;
        o->blob_compression_type = kXpressCompression;
      },
  };
  for (size_t i = 0; i < std::size(changes); i++) {
    SCOPED_TRACE(i);
    options_ = plain;
    changes[i](&options_);
    EXPECT_FALSE(TryOpen({"default", "a"}).ok());
    const Status s = TryOpenReadOnly({"default", "a"});
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(Get("k"), "v");
    EXPECT_EQ(Get("k", "a"), "in a table");
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(DbOpenTest, ReadOnlyNeedsADatabase) {
  EXPECT_FALSE(TryOpenReadOnly().ok());
  EXPECT_TRUE(mem().FileExists(kName, IOOptions(), nullptr).IsNotFound());
  std::vector<std::string> names = {"old"};
  EXPECT_FALSE(DB::ListColumnFamilies(options_, kName, &names).ok());
}

TEST_F(DbOpenTest, DestroyTakesOurFilesOnly) {
  options_.wal_dir = "/logs";
  Open();
  MakeTable({"k"});
  Put("k", "in the log");
  ASSERT_TRUE(Close().ok());
  WriteFile("/db/notes.txt", "the user's");
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  std::vector<std::string> left;
  ASSERT_TRUE(mem().GetChildren(kName, IOOptions(), &left, nullptr).ok());
  EXPECT_THAT(left, ElementsAre("notes.txt"));
  EXPECT_FALSE(mem().FileExists("/logs", IOOptions(), nullptr).ok());
  EXPECT_TRUE(DestroyDB("/never", options_).ok());
  for (const char* name : {"", "/", ".", ".."}) {
    EXPECT_TRUE(DestroyDB(name, options_).IsInvalidArgument()) << name;
  }
}

TEST_F(DbOpenTest, IdentitiesLastAndSessionsDoNot) {
  Open();
  std::string id;
  std::string session;
  ASSERT_TRUE(db()->GetDbIdentity(id).ok());
  ASSERT_TRUE(db()->GetDbSessionId(session).ok());
  EXPECT_EQ(id.size(), 36u);
  EXPECT_EQ(session.size(), 20u);
  Reopen();
  std::string id_again;
  std::string session_again;
  ASSERT_TRUE(db()->GetDbIdentity(id_again).ok());
  ASSERT_TRUE(db()->GetDbSessionId(session_again).ok());
  EXPECT_EQ(id, id_again);
  EXPECT_NE(session, session_again);
}

// Says whether the outputs of an opening were written before work was handed out.
class WatchedEnv final : public EnvWrapper {
 public:
  explicit WatchedEnv(Env* base) : EnvWrapper(base) {}
  void Schedule(void (*work)(void*), void* arg, Priority pool, void* tag,
                void (*withdrawn)(void*)) override {
    if (written) (written() ? after : before)++;
    EnvWrapper::Schedule(work, arg, pool, tag, withdrawn);
  }
  std::function<bool()> written;
  std::atomic<int> before{0};
  std::atomic<int> after{0};
};

// A compaction is due, and a stall: filters, listeners and all else that work calls may use what
// the opening gave.
TEST_F(DbOpenTest, WorkBeginsWhenTheOutputsAreWritten) {
  options_.disable_auto_compactions = true;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  for (int i = 0; i < 4; i++) MakeTable({"a", "z"});
  ASSERT_TRUE(Close().ok());
  options_.disable_auto_compactions = false;
  WatchedEnv env(options_.env);
  struct Stalls final : EventListener {
    explicit Stalls(WatchedEnv* env) : env_(*env) {}
    void OnStallConditionsChanged(const WriteStallInfo&) override {
      (env_.written() ? env_.after : env_.before)++;
    }
    WatchedEnv& env_;
  };
  options_.env = &env;
  options_.level0_slowdown_writes_trigger = 2;
  options_.listeners.push_back(std::make_shared<Stalls>(&env));
  const std::vector<ColumnFamilyDescriptor> families = {{"default", options_}};
  std::vector<ColumnFamilyHandle*> handles;
  DB* plain = nullptr;
  TransactionDB* locking = nullptr;
  OptimisticTransactionDB* optimistic = nullptr;
  const std::function<Status()> kOpenings[] = {
      [&] { return DB::Open(options_, kName, &plain); },
      [&] { return DB::Open(options_, kName, families, &handles, &plain); },
      [&] { return TransactionDB::Open(options_, TransactionDBOptions(), kName, &locking); },
      [&] {
        return TransactionDB::Open(options_, TransactionDBOptions(), kName, families, &handles,
                                   &locking);
      },
      [&] {
        return OptimisticTransactionDB::Open(options_, kName, families, &handles, &optimistic);
      },
  };
  for (const auto& open : kOpenings) {
    const bool gives_handles = &open != &kOpenings[0] && &open != &kOpenings[2];
    env.written = [&] {
      const bool db = plain != nullptr || locking != nullptr || optimistic != nullptr;
      return db && (!gives_handles || handles.size() == 1);
    };
    env.before = env.after = 0;
    ASSERT_TRUE(open().ok());
    EXPECT_EQ(env.before, 0);
    EXPECT_GE(env.after, 1);
    env.written = nullptr;
    for (ColumnFamilyHandle* handle : handles) delete handle;
    handles.clear();
    DB* const opened = plain != nullptr     ? plain
                       : locking != nullptr ? static_cast<DB*>(locking)
                                            : optimistic;
    EXPECT_TRUE(opened->PauseBackgroundWork().ok());
    delete opened;
    plain = nullptr;
    locking = nullptr;
    optimistic = nullptr;
    // The next opening finds the same work to do.
    options_.disable_auto_compactions = true;
    options_.level0_slowdown_writes_trigger = 20;
    ASSERT_TRUE(DB::Open(options_, kName, &plain).ok());
    for (int i = 0; i < 4; i++) {
      ASSERT_TRUE(plain->Put(WriteOptions(), "a", "v").ok());
      ASSERT_TRUE(plain->Flush(FlushOptions()).ok());
    }
    delete plain;
    plain = nullptr;
    options_.disable_auto_compactions = false;
    options_.level0_slowdown_writes_trigger = 2;
  }
  options_.env = env.target();
}

}  // namespace
}  // namespace varve::testing
