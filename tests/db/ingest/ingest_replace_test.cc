// SPDX-License-Identifier: Apache-2.0

// Goal: with atomic_replace_range the files take the place of what is in the range, tables and
// memtables, at once and for good; whatever cannot be replaced as whole tables is left as it was.
// Method: families with tables at known levels, and writers beside.

#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <thread>

#include "varve/external_file.h"
#include "varve/listener.h"

#include "tests/db/ingest/ingest_fixture.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class IngestReplaceTest : public IngestTest {
 protected:
  IngestExternalFileArg Arg(const ExternalFile& file, const RangeOpt& range) {
    IngestExternalFileArg arg;
    arg.column_family = Handle("default");
    arg.external_files = {Make(file)};
    arg.options.snapshot_consistency = false;
    arg.atomic_replace_range = range;
    return arg;
  }
  Status Replace(const ExternalFile& file, const RangeOpt& range = RangeOpt()) {
    return db()->IngestExternalFiles({Arg(file, range)});
  }
  // Makes a table of these keys, in L0.
  void Table(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) Put(key, "old");
    Flush();
  }
};

TEST_F(IngestReplaceTest, AllOfAFamily) {
  Open();
  Table({"a", "b"});
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  Table({"b", "x"});
  Put("c", "in memory");
  ASSERT_EQ(Replace(ExternalFile().Put("b", "new")).ToString(), "OK");
  EXPECT_EQ(Scan(), "b=new");
  EXPECT_EQ(Places(), "L6:0");
  Put("a", "later");
  Reopen();
  EXPECT_EQ(Scan(), "a=later b=new");
}

TEST_F(IngestReplaceTest, ARange) {
  Open();
  Table({"a", "b"});
  Table({"d", "e"});
  Table({"h"});
  Put("f", "in memory");
  ASSERT_EQ(Replace(ExternalFile().Put("e", "new"), RangeOpt("d", "g")).ToString(), "OK");
  EXPECT_EQ(Scan(), "a=old b=old e=new h=old");
  Reopen();
  EXPECT_EQ(Scan(), "a=old b=old e=new h=old");
}

// The limit is the first key that stays.
TEST_F(IngestReplaceTest, LimitsAreHalfOpen) {
  Open();
  Table({"b"});
  Table({"d"});
  ASSERT_EQ(Replace(ExternalFile().Put("c", "new"), RangeOpt("b", "d")).ToString(), "OK");
  EXPECT_EQ(Scan(), "c=new d=old");
}

TEST_F(IngestReplaceTest, RangeDeletionsGo) {
  Open();
  Table({"a"});
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), "c", "e").ok());
  Flush();
  ASSERT_EQ(Replace(ExternalFile().Put("d", "new"), RangeOpt("c", "e")).ToString(), "OK");
  EXPECT_EQ(Scan(), "a=old d=new");
  EXPECT_EQ(Places(), "L0:1 L6:0");
}

// The end of a range deletion is the first key that its table does not reach.
TEST_F(IngestReplaceTest, ATableWhoseDeletionEndsAtTheStartStays) {
  Open();
  Table({"a"});
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), "a", "c").ok());
  Flush();
  ASSERT_EQ(Replace(ExternalFile().Put("c", "new"), RangeOpt("c", "e")).ToString(), "OK");
  EXPECT_EQ(Scan(), "c=new");
  // A table that has the key itself is in the range, and reaches over its edge.
  Table({"b", "g"});
  const Status s = Replace(ExternalFile().Put("h", "new"), RangeOpt("g", "i"));
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(Scan(), "b=old c=new g=old");
}

// Nothing in the range is in memory, so there is nothing to flush.
TEST_F(IngestReplaceTest, ADeletionInMemoryThatBeginsAtTheLimitStays) {
  Open();
  Table({"f"});
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), "e", "g").ok());
  IngestExternalFileArg arg = Arg(ExternalFile().Put("d", "new"), RangeOpt("c", "e"));
  arg.options.allow_blocking_flush = false;
  ASSERT_EQ(db()->IngestExternalFiles({arg}).ToString(), "OK");
  EXPECT_EQ(Scan(), "d=new");
  arg = Arg(ExternalFile().Put("e", "newer"), RangeOpt("c", "ea"));
  arg.options.allow_blocking_flush = false;
  EXPECT_TRUE(db()->IngestExternalFiles({arg}).IsInvalidArgument());
  EXPECT_EQ(Scan(), "d=new");
}

TEST_F(IngestReplaceTest, TablesOverAnEdgeAreLeft) {
  Open();
  Table({"a", "d"});
  const Status s = Replace(ExternalFile().Put("c", "new"), RangeOpt("b", "e"));
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("outside of it"));
  EXPECT_EQ(Scan(), "a=old d=old");
  EXPECT_EQ(StagedFiles(), 0u);
  // Entries of a memtable become such a table, and stay as well.
  Table({"x"});
  Put("m", "in memory");
  Put("p", "in memory");
  EXPECT_TRUE(Replace(ExternalFile().Put("n", "new"), RangeOpt("l", "o")).IsInvalidArgument());
  EXPECT_EQ(Scan(), "a=old d=old m=in memory p=in memory x=old");
}

TEST_F(IngestReplaceTest, BadArguments) {
  Open();
  Table({"a"});
  const ExternalFile file = ExternalFile().Put("b", "new");
  EXPECT_TRUE(Replace(file, RangeOpt("a", nullptr)).IsInvalidArgument());
  EXPECT_TRUE(Replace(file, RangeOpt("b", "a")).IsInvalidArgument());
  EXPECT_TRUE(Replace(file, RangeOpt("a", "a")).IsInvalidArgument());
  EXPECT_THAT(Replace(file, RangeOpt("c", "d")).ToString(), HasSubstr("outside of"));
  EXPECT_THAT(Replace(file, RangeOpt("a", "b")).ToString(), HasSubstr("outside of"));
  EXPECT_THAT(Replace(ExternalFile().DeleteRange("b", "d"), RangeOpt("b", "c")).ToString(),
              HasSubstr("outside of"));
  IngestExternalFileArg with_snapshots = Arg(file, RangeOpt());
  with_snapshots.options.snapshot_consistency = true;
  EXPECT_THAT(db()->IngestExternalFiles({with_snapshots}).ToString(),
              HasSubstr("snapshot_consistency must be false"));

  std::unique_ptr<FileIngestionHandle> first;
  std::unique_ptr<FileIngestionHandle> second;
  ASSERT_TRUE(db()->PrepareFileIngestion({Arg(file, RangeOpt())}, &first).ok());
  ASSERT_TRUE(db()->PrepareFileIngestion({Arg(file, RangeOpt())}, &second).ok());
  EXPECT_THAT(db()->CommitFileIngestionHandles({first.get(), second.get()}).ToString(),
              HasSubstr("one handle only"));
  EXPECT_EQ(Scan(), "a=old");
  // Both are still prepared.
  EXPECT_EQ(StagedFiles(), 2u);
  first.reset();
  second.reset();
  EXPECT_EQ(StagedFiles(), 0u);
}

// Writes into memory before the ingestion has its place in the order, and into a table after that.
class WritesInBetween final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo&) override {
    if (begun_++ > 0) return;
    EXPECT_TRUE(db->Put(WriteOptions(), "before", "1").ok());
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo&) override {
    // The flush in the call's own thread is the one after that.
    if (std::this_thread::get_id() != caller_ || inside_.exchange(true)) return;
    std::thread([db] {
      EXPECT_TRUE(db->Put(WriteOptions(), "later", "1").ok());
      EXPECT_TRUE(db->Flush(FlushOptions()).ok());
    }).join();
  }
  bool was_inside() const { return inside_; }

 private:
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<int> begun_{0};
  std::atomic<bool> inside_{false};
};

TEST_F(IngestReplaceTest, TablesOfLaterWritesStay) {
  const auto listener = std::make_shared<WritesInBetween>();
  options_.listeners = {listener};
  Open();
  Put("m", "in memory");
  ASSERT_EQ(Replace(ExternalFile().Put("b", "new")).ToString(), "OK");
  EXPECT_TRUE(listener->was_inside());
  EXPECT_EQ(Scan(), "b=new later=1");
  Reopen();
  EXPECT_EQ(Scan(), "b=new later=1");
}

// Each replacement removes writes acknowledged before it, and no later ones.
TEST_F(IngestReplaceTest, BesideAWriterAndCompactions) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.write_buffer_size = 64 << 10;
  Open();
  std::atomic<bool> done{false};
  std::atomic<int> acked{0};
  std::thread writer([&] {
    for (int n = 1; !done; n++) {
      ASSERT_TRUE(db()->Put(WriteOptions(), "w", std::to_string(n)).ok());
      ASSERT_TRUE(
          db()->Put(WriteOptions(), "x" + std::to_string(n % 100), std::string(100, 'x')).ok());
      acked = n;
    }
  });
  while (acked == 0) std::this_thread::yield();
  for (int round = 0; round < 30; round++) {
    const int before = acked;
    ASSERT_EQ(Replace(ExternalFile().Put("a", std::to_string(round))).ToString(), "OK");
    EXPECT_EQ(Get("a"), std::to_string(round));
    const std::string w = Get("w");
    if (w != "NOT_FOUND") {
      EXPECT_GE(std::stoi(w), before);
    }
    const int after = acked;
    while (acked < after + 2) std::this_thread::yield();
    EXPECT_GE(std::stoi(Get("w")), after + 1);
  }
  done = true;
  writer.join();
}

}  // namespace
}  // namespace varve::testing
