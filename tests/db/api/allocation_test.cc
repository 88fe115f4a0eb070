// SPDX-License-Identifier: Apache-2.0

// Goal: neither writes nor reads with timestamps allocate anything of their own, and calls that
// copy arguments or values return lack of memory instead of throwing. Method: this program counts
// what a thread allocates; a thousand operations may take some blocks of the memtable, and far less
// than one allocation each. It can also let one of the next allocations of a thread fail.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/write_batch.h"

namespace {
thread_local int g_allocations = 0;
// Number of allocations of the thread that succeed before one fails; -1: none fails.
thread_local int g_fails_after = -1;

bool Fails() {
  return g_fails_after >= 0 && g_fails_after-- == 0;
}
}  // namespace

// It is not inlined, as the compiler would see malloc meet delete.
[[gnu::noinline]] void* operator new(size_t size) {
  ++g_allocations;
  void* const memory = Fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t& /*nothrow*/) noexcept {
  ++g_allocations;
  return Fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}

namespace varve::testing {
namespace {

constexpr int kOperations = 1000;
constexpr int kBlocks = 40;  // blocks of memtables, at most

class AllocationTest : public ::testing::Test {
 protected:
  AllocationTest() : env_(NewMemEnv(Env::Default())) {
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.comparator = BytewiseComparatorWithU64Ts();
    const Status s = DB::Open(options, "/allocations", &db_);
    EXPECT_TRUE(s.ok()) << s.ToString();
    write_.disableWAL = true;
  }
  ~AllocationTest() override { db_.reset(); }

  // `run(key, timestamp)` a thousand times, after some to warm up.
  template <typename Run>
  int Count(const Run& run) {
    char ts[8] = {};
    char key[20] = "a key of 20 bytes..";
    for (int i = 0; i < 100; ++i) run(Slice(key, 20), Slice(ts, 8));
    const int before = g_allocations;
    for (int i = 0; i < kOperations; ++i) {
      key[0] = static_cast<char>('a' + i % 26);
      ts[i % 2] = static_cast<char>(i / 4);
      run(Slice(key, 20), Slice(ts, 8));
    }
    return g_allocations - before;
  }

  std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  WriteOptions write_;
};

TEST_F(AllocationTest, TheCounterCounts) {
  EXPECT_GE(Count([](const Slice& key, const Slice&) { std::string copy = key.ToString(); }),
            kOperations);
}

TEST_F(AllocationTest, WritesTakeNone) {
  EXPECT_LT(Count([this](const Slice& key, const Slice& ts) {
              EXPECT_TRUE(db_->Put(write_, key, ts, "value").ok());
            }),
            kBlocks);
  EXPECT_LT(Count([this](const Slice& key, const Slice& ts) {
              EXPECT_TRUE(db_->Delete(write_, key, ts).ok());
            }),
            kBlocks);
}

TEST_F(AllocationTest, ABatchThatIsUsedAgainTakesNone) {
  WriteBatch batch(4096, 0, 0, 8);
  EXPECT_LT(Count([&](const Slice& key, const Slice& ts) {
              batch.Clear();
              EXPECT_TRUE(batch.Put(key, "value").ok());
              EXPECT_TRUE(batch.Delete(db_->DefaultColumnFamily(), key, ts).ok());
              const auto size_of = [](uint32_t) { return size_t{8}; };
              EXPECT_TRUE(batch.UpdateTimestamps(ts, size_of).ok());
              EXPECT_TRUE(db_->Write(write_, &batch).ok());
            }),
            kBlocks);
}

TEST_F(AllocationTest, ReadsTakeNone) {
  const std::string max(8, '\xff');
  ASSERT_TRUE(db_->Put(write_, "a key of 20 bytes..", std::string(8, '\0'), "value").ok());
  ReadOptions read;
  PinnableSlice value;
  EXPECT_EQ(Count([&](const Slice& key, const Slice& ts) {
              read.timestamp = &ts;
              value.Reset();
              const Status s = db_->Get(read, db_->DefaultColumnFamily(), key, &value);
              EXPECT_TRUE(s.ok() || s.IsNotFound());
            }),
            0);
}

// Lets the allocation after `succeeding` others fail in the call, which must not throw.
template <typename Call>
Status WithFailure(int succeeding, const Call& call) {
  g_fails_after = succeeding;
  Status s;
  bool thrown = false;
  try {
    s = call();
  } catch (...) {
    thrown = true;
  }
  g_fails_after = -1;
  EXPECT_FALSE(thrown) << succeeding;
  return s;
}

TEST_F(AllocationTest, ArgumentsThatCannotBeCopiedAreReported) {
  const std::vector<std::string> files = {"/a name that is too long to lie within its string"};
  // The first four allocations are those of the copies of the list.
  for (int succeeding = 0; succeeding < 4; succeeding++) {
    const Status s = WithFailure(succeeding, [&] {
      return db_->IngestExternalFile(db_->DefaultColumnFamily(), files,
                                     IngestExternalFileOptions());
    });
    EXPECT_TRUE(s.IsMemoryLimit()) << succeeding << " " << s.ToString();
    std::unique_ptr<FileIngestionHandle> handle;
    const Status prepared = WithFailure(succeeding, [&] {
      return db_->PrepareFileIngestion(db_->DefaultColumnFamily(), files,
                                       IngestExternalFileOptions(), &handle);
    });
    EXPECT_TRUE(prepared.IsMemoryLimit()) << succeeding << " " << prepared.ToString();
  }
}

TEST_F(AllocationTest, AValueThatCannotBeCopiedIsReported) {
  const std::string oldest(8, '\0');
  const std::string written(1000, 'v');
  ASSERT_TRUE(db_->Put(write_, "k", oldest, written).ok());
  ReadOptions read;
  const Slice newest(oldest);
  read.timestamp = &newest;
  // The first read may allocate for the thread; the second one only for the copy.
  std::string first;
  ASSERT_TRUE(db_->Get(read, db_->DefaultColumnFamily(), "k", &first).ok());
  EXPECT_EQ(first, written);
  std::string second;
  const Status s =
      WithFailure(0, [&] { return db_->Get(read, db_->DefaultColumnFamily(), "k", &second); });
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
}

}  // namespace
}  // namespace varve::testing
