// SPDX-License-Identifier: Apache-2.0

// Goal: a batch that the memtables have no memory for is not there, neither in part nor in front of
// what is older, whether it is read, flushed, recovered from or opened again; only its log may
// bring it back, and then whole. Method: the system refuses the memory of one huge value, which
// comes late in a batch over two families; tables and kills at every step of the recovery.

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "varve/memtablerep.h"
#include "varve/merge_operator.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"
#include "tests/harness/no_mappings.h"

namespace varve::testing {
namespace {

// Operands one after the other.
class Joining : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "Joining"; }
  bool Merge(const Slice&, const Slice* before, const Slice& operand, std::string* result,
             Logger*) const override {
    *result = (before != nullptr ? before->ToString() : "") + operand.ToString();
    return true;
  }
};

struct Kind {
  std::string name;
  void (*choose)(Options*);
};

const Kind kKinds[] = {
    {"Ordered", [](Options*) {}},
    {"Unordered", [](Options* o) { o->unordered_write = true; }},
    {"Atomic", [](Options* o) { o->atomic_flush = true; }},
    {"Vector",
     [](Options* o) {
       o->memtable_factory = std::make_shared<VectorRepFactory>();
       o->allow_concurrent_memtable_write = false;
     }},
};

class HalfInsertionTest : public Database, public ::testing::WithParamInterface<Kind> {
 protected:
  HalfInsertionTest() {
    options_.merge_operator = std::make_shared<Joining>();
    options_.disable_auto_compactions = true;
    options_.max_bgerror_resume_count = 0;
    GetParam().choose(&options_);
  }
  void OpenBoth() { Open({"default", "other"}); }
  // Puts entries that are older than the batch, all of them acknowledged.
  void PutOld() {
    for (const char* key : {"deleted", "merged", "put", "single"}) Put(key, "old");
    for (const char* key : {"r1", "r2"}) Put(key, "old");
    Put("o", "old", "other");
  }
  const char* const kOld = "deleted=old merged=old put=old r1=old r2=old single=old";
  const char* const kNew = "filler=f merged=oldnew put=new";

  // Everything that a batch can do, then more than there is memory for. With `other_first` the
  // other family has its share in before the huge value comes, else after it.
  Status WriteWithoutMemory(bool other_first = true, bool logged = true) {
    WriteBatch batch;
    const auto other = [&] { EXPECT_TRUE(batch.Put(Handle("other"), "o", "new").ok()); };
    EXPECT_TRUE(batch.Put("put", "new").ok());
    EXPECT_TRUE(batch.Delete("deleted").ok());
    EXPECT_TRUE(batch.SingleDelete("single").ok());
    EXPECT_TRUE(batch.Merge("merged", "new").ok());
    EXPECT_TRUE(batch.DeleteRange("r", "s").ok());
    for (int i = 0; i < 20; i++) EXPECT_TRUE(batch.Put("filler", "f").ok());
    if (other_first) other();
    EXPECT_TRUE(batch.Put("zhuge", std::string(9 << 20, 'h')).ok());
    if (!other_first) other();
    WriteOptions options;
    options.disableWAL = !logged;
    const NoMappings no_memory;
    return db()->Write(options, &batch);
  }
  void ExpectOld(const char* when) {
    EXPECT_EQ(Scan(), kOld) << when;
    for (const char* key : {"deleted", "merged", "put", "r1", "r2", "single"}) {
      EXPECT_EQ(Get(key), "old") << when << " " << key;
    }
    EXPECT_EQ(Get("filler"), "NOT_FOUND") << when;
    EXPECT_EQ(Get("o", "other"), "old") << when;
    EXPECT_EQ(Scan(ReadOptions(), "other"), "o=old") << when;
  }
  // Expects all of the batch or nothing of it.
  void ExpectWhole(const char* when) {
    if (Get("put") == "old") {
      ExpectOld(when);
      return;
    }
    EXPECT_EQ(Scan().substr(0, std::string(kNew).size()), kNew) << when;
    EXPECT_EQ(Get("o", "other"), "new") << when;
    EXPECT_EQ(Get("zhuge").size(), size_t{9} << 20) << when;
    EXPECT_EQ(Get("r1"), "NOT_FOUND") << when;
  }
};

TEST_P(HalfInsertionTest, WhatFailedIsGoneAndWhatComesLaterStays) {
  for (const bool other_first : {true, false}) {
    for (const bool logged : {true, false}) {
      SCOPED_TRACE(std::string(other_first ? "both families" : "one family") +
                   (logged ? "" : ", no log"));
      Remount(std::make_shared<MemFileSystem>());
      options_.create_if_missing = options_.create_missing_column_families = true;
      OpenBoth();
      PutOld();
      const std::unique_ptr<Iterator> before(db()->NewIterator(ReadOptions()));
      EXPECT_TRUE(WriteWithoutMemory(other_first, logged).IsMemoryLimit());
      ExpectOld("at once");
      const std::unique_ptr<Iterator> at_once(db()->NewIterator(ReadOptions()));
      EXPECT_TRUE(db()->Put(WriteOptions(), "refused", "r").IsMemoryLimit());
      ASSERT_TRUE(db()->Resume().ok());
      ExpectOld("resumed");
      for (Iterator* it : {before.get(), at_once.get()}) {
        it->SeekToFirst();
        EXPECT_EQ(Rest(it), kOld);
        ASSERT_TRUE(it->Refresh().ok());
        it->SeekToFirst();
        EXPECT_EQ(Rest(it), kOld) << "refreshed";
      }
      Put("put", "old");
      Put("o", "old", "other");
      ExpectOld("written on");
      Flush();
      ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
      ExpectOld("compacted");
      Reopen();
      ExpectOld("opened again");
      ASSERT_TRUE(Close().ok());
    }
  }
}

TEST_P(HalfInsertionTest, AnIteratorFromBeforeSeesNothingOfItWhenItIsRefreshed) {
  OpenBoth();
  PutOld();
  const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  EXPECT_TRUE(WriteWithoutMemory().IsMemoryLimit());
  ASSERT_TRUE(it->Refresh().ok());
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), kOld);
  it->SeekForPrev("put");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), "old");
  it->Prev();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), "merged");
  EXPECT_EQ(it->value(), "old");
}

// A killed process leaves the log, which has the batch whole.
TEST_P(HalfInsertionTest, ItComesBackWholeOrNotAtAll) {
  for (const bool other_first : {true, false}) {
    for (const char* breaks : {"", ".sst", "MANIFEST", ".log"}) {
      SCOPED_TRACE(std::string(other_first ? "both families " : "one family ") + breaks);
      Remount(std::make_shared<MemFileSystem>());
      options_.create_if_missing = options_.create_missing_column_families = true;
      OpenBoth();
      PutOld();
      EXPECT_TRUE(WriteWithoutMemory(other_first).IsMemoryLimit());
      if (*breaks != 0) {
        FaultRule rule;
        rule.calls = Only(FaultCall::kCreate) | Only(FaultCall::kWrite) | Only(FaultCall::kSync);
        rule.path_contains = breaks;
        rule.sticky = true;
        faults().Inject(rule);
        EXPECT_FALSE(db()->Resume().ok());
        faults().ClearFaults();
        ExpectOld("not resumed");
      }
      Kill();
      OpenBoth();
      ExpectWhole("opened again");
      Reopen();
      ExpectWhole("opened twice");
      ASSERT_TRUE(Close().ok());
    }
  }
}

// The second edit of a recovery, if there is one, does not get into the MANIFEST.
TEST_P(HalfInsertionTest, FamiliesLeaveTheLogTogether) {
  for (const bool other_first : {true, false}) {
    for (int writes = 1; writes <= 4; writes++) {
      SCOPED_TRACE(std::to_string(writes) + (other_first ? " both families" : " one family"));
      Remount(std::make_shared<MemFileSystem>());
      options_.create_if_missing = options_.create_missing_column_families = true;
      OpenBoth();
      PutOld();
      Flush("default");
      Flush("other");
      EXPECT_TRUE(WriteWithoutMemory(other_first).IsMemoryLimit());
      FaultRule rule;
      rule.calls = Only(FaultCall::kWrite);
      rule.path_contains = "MANIFEST";
      rule.nth = static_cast<uint64_t>(writes);
      rule.sticky = true;
      faults().Inject(rule);
      db()->Resume().PermitUncheckedError();
      faults().ClearFaults();
      Kill();
      OpenBoth();
      ExpectWhole("opened again");
      ASSERT_TRUE(Close().ok());
    }
  }
}

// Tries to suppress the error, which must fail: the memtable's contents must not be flushed as if
// they were whole.
class Suppressing : public EventListener {
 public:
  void OnBackgroundError(BackgroundErrorReason, Status* error) override { *error = Status::OK(); }
};

TEST_P(HalfInsertionTest, AListenerDoesNotSuppressIt) {
  options_.listeners = {std::make_shared<Suppressing>()};
  OpenBoth();
  PutOld();
  EXPECT_TRUE(WriteWithoutMemory().IsMemoryLimit());
  EXPECT_TRUE(db()->Put(WriteOptions(), "refused", "r").IsMemoryLimit());
  ASSERT_TRUE(db()->Resume().ok());
  ExpectOld("resumed");
  Put("put", "old");
}

TEST_P(HalfInsertionTest, ItIsRecoveredFromByItself) {
  options_.max_bgerror_resume_count = INT32_MAX;
  OpenBoth();
  PutOld();
  for (int i = 0; i < 3; i++) {
    EXPECT_TRUE(WriteWithoutMemory(i % 2 == 0).IsMemoryLimit());
    EXPECT_TRUE(Eventually([&] { return db()->Put(WriteOptions(), "put", "old").ok(); }));
    ExpectOld("recovered");
  }
  Reopen();
  ExpectOld("opened again");
}

// Other writers and flushes run beside the failing ones: their acknowledged writes stay.
TEST_P(HalfInsertionTest, OthersAtTheSameTimeLoseNothing) {
  options_.write_buffer_size = 64 << 10;
  OpenBoth();
  PutOld();
  constexpr size_t kWriters = 3;
  std::array<std::vector<std::string>, kWriters> acknowledged;
  std::atomic<bool> over{false};
  std::vector<std::thread> writers;
  for (size_t t = 0; t < kWriters; t++) {
    writers.emplace_back([&, t] {
      for (int i = 0; !over; i++) {
        const std::string key = "w" + std::to_string(t) + "/" + std::to_string(i);
        WriteBatch batch;
        EXPECT_TRUE(batch.Put("x" + key, std::string(200, 'x')).ok());
        EXPECT_TRUE(batch.Put(Handle("other"), key, "o").ok());
        if (db()->Write(WriteOptions(), &batch).ok()) acknowledged[t].push_back(key);
        if (i % 100 == 0) std::this_thread::yield();
      }
    });
  }
  for (int i = 0; i < 4; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(WriteWithoutMemory(i % 2 == 0).ok());
    EXPECT_TRUE(Eventually([&] { return db()->Resume().ok(); }));
  }
  over = true;
  for (std::thread& writer : writers) writer.join();
  for (const bool reopened : {false, true}) {
    if (reopened) Reopen();
    EXPECT_EQ(Get("put"), "old");
    EXPECT_EQ(Get("r1"), "old");
    EXPECT_EQ(Get("filler"), "NOT_FOUND");
    EXPECT_EQ(Get("o", "other"), "old");
    for (const auto& keys : acknowledged) {
      EXPECT_FALSE(keys.empty());
      for (const std::string& key : keys) {
        ASSERT_EQ(Get(key, "other"), "o") << key;
        ASSERT_EQ(Get("x" + key).size(), 200u) << key;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HalfInsertionTest, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace varve::testing
