// SPDX-License-Identifier: Apache-2.0

// Goal: column families are made, used, dropped and kept alive by handles as db.h says. Method: one
// story for each capability; handles, iterators and writes outlive the drop.

#include <gmock/gmock.h>

#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "varve/rate_limiter.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;

class DbFamilyTest : public Database {
 protected:
  void Give(ColumnFamilyHandle* handle) {
    EXPECT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  }
};

TEST_F(DbFamilyTest, MadeFamiliesLast) {
  Open();
  ColumnFamilyHandle* one = nullptr;
  ColumnFamilyOptions tuned(options_);
  tuned.write_buffer_size = 1 << 20;
  ASSERT_TRUE(db()->CreateColumnFamily(tuned, "one", &one).ok());
  std::vector<ColumnFamilyHandle*> more;
  ASSERT_TRUE(db()->CreateColumnFamilies(tuned, {"two", "three"}, &more).ok());
  ASSERT_EQ(more.size(), 2u);
  ASSERT_TRUE(db()->Put(WriteOptions(), one, "k", "1").ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), more[1], "k", "3").ok());
  EXPECT_EQ(db()->GetOptions(one).write_buffer_size, 1u << 20);
  ColumnFamilyDescriptor descriptor;
  ASSERT_TRUE(one->GetDescriptor(&descriptor).ok());
  EXPECT_EQ(descriptor.name, "one");
  EXPECT_EQ(descriptor.options.write_buffer_size, 1u << 20);
  EXPECT_EQ(one->GetComparator(), BytewiseComparator());
  Give(one);
  for (ColumnFamilyHandle* handle : more) Give(handle);
  ASSERT_TRUE(Close().ok());
  Open({"default", "one", "two", "three"});
  EXPECT_EQ(Get("k", "one"), "1");
  EXPECT_EQ(Get("k", "two"), "NOT_FOUND");
  EXPECT_EQ(Get("k", "three"), "3");
}

// Called by a write that has been checked and has no place in the order yet.
class BetweenCheckAndCommit final : public RateLimiter {
 public:
  using RateLimiter::Request;
  void SetBytesPerSecond(int64_t) override {}
  int64_t GetBytesPerSecond() const override { return 1 << 30; }
  int64_t GetSingleBurstBytes() const override { return 1 << 30; }
  int64_t GetTotalBytesThrough(const Env::IOPriority) const override { return 0; }
  int64_t GetTotalRequests(const Env::IOPriority) const override { return 0; }
  void Request(int64_t, const Env::IOPriority priority, Statistics*) override {
    if (priority == Env::IO_USER && act) std::exchange(act, nullptr)();
  }
  std::function<void()> act;
};

// All of a batch is written or nothing, and no write to a dropped family returns OK.
TEST_F(DbFamilyTest, AWriteWhoseFamilyIsDroppedMeanwhileIsRefusedWhole) {
  const auto between = std::make_shared<BetweenCheckAndCommit>();
  options_.rate_limiter = between;
  for (const bool unordered : {false, true}) {
    for (const bool ignores : {false, true}) {
      SCOPED_TRACE(std::string(unordered ? "unordered" : "ordered") + (ignores ? ", ignores" : ""));
      Remount(std::make_shared<MemFileSystem>());
      options_.unordered_write = unordered;
      Open();
      WriteOptions limited;
      limited.rate_limiter_priority = Env::IO_USER;
      limited.ignore_missing_column_families = ignores;
      const auto drops = [&](ColumnFamilyHandle* handle) {
        between->act = [this, handle] { EXPECT_TRUE(db()->DropColumnFamily(handle).ok()); };
      };
      ColumnFamilyHandle* one = nullptr;
      ColumnFamilyHandle* two = nullptr;
      ASSERT_TRUE(db()->CreateColumnFamily(options_, "one", &one).ok());
      ASSERT_TRUE(db()->CreateColumnFamily(options_, "two", &two).ok());
      WriteBatch batch;
      ASSERT_TRUE(batch.Put(one, "k", "1").ok());
      ASSERT_TRUE(batch.Put("in default", "1").ok());
      drops(one);
      const Status s = db()->Write(limited, &batch);
      EXPECT_EQ(s.ok(), ignores) << s.ToString();
      EXPECT_EQ(Get("in default"), ignores ? "1" : "NOT_FOUND");
      drops(two);
      EXPECT_EQ(db()->Put(limited, two, "k", "1").ok(), ignores);
      std::string value;
      EXPECT_TRUE(db()->Get(ReadOptions(), two, "k", &value).IsNotFound());
      ASSERT_TRUE(db()->Put(limited, "later", "1").ok());
      Give(one);
      Give(two);
      ASSERT_TRUE(Close().ok());
    }
  }
}

TEST_F(DbFamilyTest, NamesAreCheckedAndUnique) {
  Open({"default", "a"});
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(db()->CreateColumnFamily(options_, "", &handle).IsInvalidArgument());
  const std::string longest(4096, 'n');
  EXPECT_TRUE(db()->CreateColumnFamily(options_, longest + "n", &handle).IsInvalidArgument());
  EXPECT_EQ(handle, nullptr);
  ASSERT_TRUE(db()->CreateColumnFamily(options_, longest, &handle).ok());
  ASSERT_TRUE(db()->DropColumnFamily(handle).ok());
  Give(std::exchange(handle, nullptr));
  EXPECT_TRUE(db()->CreateColumnFamily(options_, "a", &handle).IsInvalidArgument());
  EXPECT_TRUE(db()->CreateColumnFamily(options_, "default", &handle).IsInvalidArgument());
  EXPECT_EQ(handle, nullptr);
  EXPECT_TRUE(db()->CreateColumnFamily(options_, "b", nullptr).IsInvalidArgument());
  std::vector<ColumnFamilyHandle*> handles;
  EXPECT_FALSE(db()->CreateColumnFamilies(options_, {"c", "a", "d"}, &handles).ok());
  ASSERT_EQ(handles.size(), 1u) << "those made before the error are returned";
  EXPECT_EQ(handles[0]->GetName(), "c");
  Give(handles[0]);
  EXPECT_TRUE(db()->CreateColumnFamilies(options_, {"e"},
                                         static_cast<std::vector<ColumnFamilyHandle*>*>(nullptr))
                  .IsInvalidArgument());
}

TEST_F(DbFamilyTest, ADroppedFamilyIsReadableUntilItsHandleGoes) {
  Open({"default", "a"});
  MakeTable({"t"}, "a");
  Put("m", "memory", "a");
  const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), Handle("a")));
  ASSERT_TRUE(db()->DropColumnFamily(Handle("a")).ok());
  EXPECT_TRUE(db()->DropColumnFamily(Handle("a")).IsInvalidArgument()) << "twice";
  EXPECT_TRUE(db()->DropColumnFamily(db()->DefaultColumnFamily()).IsInvalidArgument());
  EXPECT_EQ(Scan(ReadOptions(), "a"), "m=memory t=of t");
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "m=memory t=of t");

  Status s = db()->Put(WriteOptions(), Handle("a"), "k", "v");
  EXPECT_FALSE(s.ok()) << "a write to a dropped family";
  WriteOptions lenient;
  lenient.ignore_missing_column_families = true;
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(Handle("a"), "k", "lost").ok());
  ASSERT_TRUE(batch.Put("k", "kept").ok());
  EXPECT_FALSE(db()->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ(Get("k"), "NOT_FOUND") << "half of a batch was applied";
  ASSERT_TRUE(db()->Write(lenient, &batch).ok());
  EXPECT_EQ(Get("k"), "kept");
  EXPECT_EQ(Get("k", "a"), "NOT_FOUND");
  EXPECT_TRUE(db()->Flush(FlushOptions(), Handle("a")).IsColumnFamilyDropped());
  s = db()->Flush(FlushOptions(), {db()->DefaultColumnFamily(), Handle("a")});
  EXPECT_TRUE(s.IsColumnFamilyDropped()) << s.ToString();
  EXPECT_EQ(Levels(), "") << "nothing was flushed";
  EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle("a"), nullptr, nullptr)
                  .IsColumnFamilyDropped());
}

TEST_F(DbFamilyTest, FilesOfADroppedFamilyGoWithItsLastHolder) {
  Open();
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "a", &handle).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), handle, "k", "v").ok());
  ASSERT_TRUE(db()->Flush(FlushOptions(), handle).ok());
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), handle));
  ASSERT_TRUE(db()->DropColumnFamily(handle).ok());
  EXPECT_EQ(Files(kTableFile).size(), 1u);
  Give(handle);
  EXPECT_EQ(Files(kTableFile).size(), 1u) << "an iterator still reads it";
  it->SeekToFirst();
  EXPECT_EQ(Rest(it.get()), "k=v");
  it.reset();
  MakeTable({"other"});  // any background job sweeps
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 1; }));
  ASSERT_TRUE(Close().ok());
  std::vector<std::string> names;
  ASSERT_TRUE(DB::ListColumnFamilies(options_, kName, &names).ok());
  EXPECT_THAT(names, ElementsAre("default"));
}

TEST_F(DbFamilyTest, ANameCanBeUsedAgain) {
  Open({"default", "a"});
  Put("k", "of the first", "a");
  const uint32_t first_id = Handle("a")->GetID();
  ASSERT_TRUE(db()->DropColumnFamilies({Handle("a")}).ok());
  ColumnFamilyHandle* second = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "a", &second).ok());
  EXPECT_GT(second->GetID(), first_id);
  std::string value;
  EXPECT_TRUE(db()->Get(ReadOptions(), second, "k", &value).IsNotFound());
  EXPECT_EQ(Get("k", "a"), "of the first");
  ASSERT_TRUE(db()->Put(WriteOptions(), second, "k", "of the second").ok());
  Give(second);
  ASSERT_TRUE(Close().ok());
  Open({"default", "a"});
  EXPECT_EQ(Get("k", "a"), "of the second");
}

// The MANIFEST still describes the dropped family, with its files.
TEST_F(DbFamilyTest, ANameMayPassToAFamilyOfAnotherOrder) {
  const auto give = [this](ColumnFamilyHandle* handle) {
    ASSERT_TRUE(db()->DropColumnFamily(handle).ok());
    Give(handle);
  };
  const auto make = [this](const Comparator* order) {
    ColumnFamilyOptions options(options_);
    options.comparator = order;
    ColumnFamilyHandle* handle = nullptr;
    EXPECT_TRUE(db()->CreateColumnFamily(options, "a", &handle).ok());
    return handle;
  };
  const Comparator* const orders[] = {BytewiseComparator(), BytewiseComparatorWithU64Ts(),
                                      ReverseBytewiseComparator()};
  Open();
  for (const Comparator* order : orders) {
    ColumnFamilyHandle* const handle = make(order);
    const std::string stamp(order->timestamp_size(), 't');
    const Status s = stamp.empty() ? db()->Put(WriteOptions(), handle, "k", "v")
                                   : db()->Put(WriteOptions(), handle, "k", stamp, "v");
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_TRUE(db()->Flush(FlushOptions(), handle).ok());
    if (order != orders[2]) give(handle);
    if (order == orders[2]) Give(handle);
  }
  ASSERT_TRUE(Close().ok());
  // Only the existing family counts.
  EXPECT_TRUE(TryOpen({"default", "a"}).IsInvalidArgument());
  ColumnFamilyOptions reverse(options_);
  reverse.comparator = ReverseBytewiseComparator();
  const Status s = TryOpenWith({{"default", options_}, {"a", reverse}});
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Get("k", "a"), "v");
}

TEST_F(DbFamilyTest, HandlesAreCheckedWhenGivenBack) {
  Open();
  EXPECT_TRUE(db()->DestroyColumnFamilyHandle(nullptr).IsInvalidArgument());
  EXPECT_TRUE(db()->DestroyColumnFamilyHandle(db()->DefaultColumnFamily()).IsInvalidArgument());
  EXPECT_TRUE(db()->DropColumnFamily(nullptr).IsInvalidArgument());
}

// Flushes of "all families" run in threads that hold no handle: a family that is dropped meanwhile,
// and whose last handle goes, must not be used after it is gone.
TEST_F(DbFamilyTest, FamiliesMayBeDroppedWhileEverythingIsFlushed) {
  options_.atomic_flush = true;
  Open();
  std::atomic<bool> done{false};
  std::thread flusher([&] {
    WaitForCompactOptions wait;
    wait.flush = true;
    std::vector<std::string> files;
    uint64_t manifest_bytes = 0;
    while (!done.load()) {
      EXPECT_TRUE(db()->WaitForCompact(wait).ok());
      EXPECT_TRUE(db()->Flush(FlushOptions()).ok());
      EXPECT_TRUE(db()->GetLiveFiles(files, &manifest_bytes, /*flush_memtable=*/true).ok());
    }
  });
  for (int i = 0; i < 50; i++) {
    ColumnFamilyHandle* handle = nullptr;
    ASSERT_TRUE(db()->CreateColumnFamily(options_, "passing", &handle).ok());
    ASSERT_TRUE(db()->Put(WriteOptions(), handle, "k", std::to_string(i)).ok());
    ASSERT_TRUE(db()->Put(WriteOptions(), "k", std::to_string(i)).ok());
    ASSERT_TRUE(db()->DropColumnFamily(handle).ok());
    Give(handle);
  }
  done.store(true);
  flusher.join();
  EXPECT_EQ(Get("k"), "49");
}

}  // namespace
}  // namespace varve::testing
