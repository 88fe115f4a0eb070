// SPDX-License-Identifier: Apache-2.0

// Goal: a process that is killed while it ingests into two families leaves all of the ingestion or
// nothing, no less than was acknowledged, no staged files, and every source that is not in the
// database. Method: a child ingests one number after the other, in each way, and reports in shared
// memory which were acknowledged, until it is killed at a random moment of one of its first
// ingestions; then the directory is opened and looked at, and the next child goes on.
// VARVE_INGEST_KILLS sets the number of rounds.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/external_file.h"

#include "tests/db/ingest/external_files.h"
#include "tests/harness/environment.h"
#include "tests/harness/killed_child.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

constexpr int kIngestedKeys = 40;
constexpr int kIngestWays = 4;            // copy, link, move, replace all
constexpr const char* kBetween = "1205";  // in the range of a file, and in no file

// The child's progress, which survives its death.
struct IngestProgress {
  std::atomic<int> issued;
  std::atomic<int> made;  // its files are there
  std::atomic<int> acked;
  std::atomic<int> found;  // set by the checker
};

class IngestKillTest : public ::testing::Test {
 protected:
  IngestKillTest() { std::filesystem::create_directories(root_ / "outside"); }

  Status Open() {
    Options options;
    options.create_if_missing = options.create_missing_column_families = true;
    DB* raw = nullptr;
    handles_.clear();
    const std::vector<ColumnFamilyDescriptor> families = {{"default", options}, {"other", options}};
    Status s = DB::Open(options, root_ / "db", families, &handles_, &raw);
    db_.reset(raw);
    return s;
  }
  void Close() {
    for (ColumnFamilyHandle* const handle : handles_)
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
    handles_.clear();
    db_.reset();
  }

  std::string Source(int number, int part) const {
    return root_ / "outside" / (std::to_string(number) + "." + std::to_string(part));
  }
  // Each family gets the number under all keys, in two files.
  Status Ingest(int number) {
    std::vector<IngestExternalFileArg> args(2);
    for (int family = 0; family < 2; family++) {
      IngestExternalFileArg& arg = args[static_cast<size_t>(family)];
      arg.column_family = handles_[static_cast<size_t>(family)];
      const int way = number % kIngestWays;
      arg.options.link_files = way == 1;
      arg.options.move_files = way == 2;
      if (way == 3) {
        arg.atomic_replace_range = RangeOpt();
        arg.options.snapshot_consistency = false;
      }
      for (int half = 0; half < 2; half++) {
        ExternalFile file;
        for (int i = half; i < kIngestedKeys; i += 2) {
          file.Put(std::to_string(half * 100 + 100 + i), std::to_string(number));
        }
        const std::string path = Source(number, family * 2 + half);
        Status s = WriteTo(FileSystem::Default().get(), path, file);
        if (!s.ok()) return s;
        arg.external_files.push_back(path);
      }
    }
    shared_->made.store(number, std::memory_order_release);
    return db_->IngestExternalFiles(args);
  }
  [[noreturn]] void Child(int first) {
    ExitUnlessOk(Open(), "child: open");
    for (int number = first;; number++) {
      shared_->issued.store(number, std::memory_order_release);
      // Something in memory, to be flushed first.
      for (ColumnFamilyHandle* const handle : handles_) {
        ExitUnlessOk(db_->Put(WriteOptions(), handle, kBetween, "-1"), "child: put");
      }
      ExitUnlessOk(Ingest(number), "child: ingest");
      shared_->acked.store(number, std::memory_order_release);
    }
  }

  // The numbers under the keys of both families, but for what the child has put; 0: there are none.
  int Found() {
    std::set<std::string> found;
    size_t keys = 0;
    for (ColumnFamilyHandle* const handle : handles_) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handle));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        if (it->key() == Slice(kBetween)) continue;
        found.insert(it->value().ToString());
        keys++;
      }
      EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    }
    if (keys == 0) return 0;
    EXPECT_EQ(found.size(), 1u);
    EXPECT_EQ(keys, 2u * kIngestedKeys);
    return std::stoi(*found.begin());
  }
  void CheckSources(int issued, int found) {
    const bool stay = found < issued || issued % kIngestWays != 2;
    for (int part = 0; part < 4 && stay && shared_->made.load() == issued; part++) {
      EXPECT_TRUE(std::filesystem::exists(Source(issued, part))) << part;
    }
    const std::filesystem::path staging = root_ / "db" / "ingest";
    EXPECT_TRUE(!std::filesystem::exists(staging) || std::filesystem::is_empty(staging));
  }

  void Check(int issued) {
    const Status s = Open();
    ASSERT_TRUE(s.ok()) << s.ToString();
    const int found = Found();
    EXPECT_GE(found, shared_->acked.load(std::memory_order_acquire));
    EXPECT_LE(found, issued);
    if (issued > 0) CheckSources(issued, found);
    Close();
    shared_->found.store(found);
  }

  const FreshDirectory directory_{"ingest-kill"};
  const std::filesystem::path root_{directory_.path()};
  const SharedWithChildren<IngestProgress> shared_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

TEST_F(IngestKillTest, AllOrNothing) {
  const uint64_t rounds = NumberFromEnvironment("VARVE_INGEST_KILLS", 20);
  Random random(NumberFromEnvironment("VARVE_SEED", 7));
  int next = 1;
  int undone = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    SCOPED_TRACE("round " + std::to_string(round));
    const int begun = next + static_cast<int>(random.Below(3));
    ASSERT_TRUE(RunUntilKilled([&] { Child(next); }, random.Below(20'000),
                               [&] { return shared_->issued.load() >= begun; }))
        << "the child met a problem";
    const int issued = shared_->issued.load(std::memory_order_acquire);
    ASSERT_TRUE(HoldsInChild([&] { Check(issued); })) << "see above";
    if (shared_->found.load() < issued) undone++;
    next = issued + 1;
  }
  EXPECT_GT(shared_->acked.load(), static_cast<int>(rounds / 2)) << "too few were ingested";
  EXPECT_GT(undone, 0) << "none was cut off";
}

}  // namespace
}  // namespace varve::testing
