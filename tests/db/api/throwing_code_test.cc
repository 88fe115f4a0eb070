// SPDX-License-Identifier: Apache-2.0

// Goal: no exception of a user's code crosses the API or ends a thread of the engine; the call or
// the job fails with Aborted, or does without the answer, and nothing read is wrong. (Of
// comparators only iterators are asked: for writes there is nothing to go on with without an
// order.) Method: every kind of code that the engine calls, made to throw after the database was
// filled, and healed again.

#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <new>

#include "varve/compaction_filter.h"
#include "varve/comparator.h"
#include "varve/file_system_wrappers.h"
#include "varve/filter_policy.h"
#include "varve/flush_block_policy.h"
#include "varve/slice_transform.h"
#include "varve/table.h"
#include "varve/table_properties.h"

#include "db/api/c/c_types.h"
#include "tests/harness/after_log.h"
#include "tests/harness/database.h"

namespace varve::testing {
namespace {

std::atomic<bool> user_code_throws{false};

void MayThrow() {
  if (user_code_throws.load()) throw std::runtime_error("user code");
}

class ThrowingTwoBytes final : public SliceTransform {
 public:
  const char* Name() const override { return "ThrowingTwoBytes"; }
  Slice Transform(const Slice& key) const override {
    MayThrow();
    return Slice(key.data(), 2);
  }
  bool InDomain(const Slice& key) const override { return key.size() >= 2; }
};

class ThrowingCollector final : public TablePropertiesCollector {
 public:
  const char* Name() const override { return "ThrowingCollector"; }
  Status AddUserKey(const Slice&, const Slice&, EntryType, SequenceNumber, uint64_t) override {
    MayThrow();
    return Status::OK();
  }
  Status Finish(UserCollectedProperties*) override { return Status::OK(); }
  UserCollectedProperties GetReadableProperties() const override { return {}; }
};

class ThrowingCollectorFactory final : public TablePropertiesCollectorFactory {
 public:
  const char* Name() const override { return "ThrowingCollectorFactory"; }
  TablePropertiesCollector* CreateTablePropertiesCollector(Context) override {
    return new ThrowingCollector();
  }
};

class ThrowingPolicy final : public FlushBlockPolicy {
 public:
  bool Update(const Slice&, const Slice&) override {
    MayThrow();
    return false;
  }
};

class ThrowingPolicyFactory final : public FlushBlockPolicyFactory {
 public:
  const char* Name() const override { return "ThrowingPolicyFactory"; }
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions&,
                                        const BlockBuilder&) const override {
    if (makes_none) MayThrow();
    return new ThrowingPolicy();
  }
  std::atomic<bool> makes_none{false};
};

class ThrowingFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "ThrowingFilter"; }
  Decision FilterV2(int, const Slice&, ValueType, const Slice&, std::string*,
                    std::string*) const override {
    MayThrow();
    return Decision::kKeep;
  }
};

class ThrowingLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override { MayThrow(); }
};

// Throws at the comparison to which it counts.
class CountingOrder final : public Comparator {
 public:
  const char* Name() const override { return "CountingOrder"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (left > 0 && --left == 0) throw std::runtime_error("user code");
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  mutable std::atomic<int> left{0};
};

class ThrowingCodeTest : public Database {
 protected:
  ThrowingCodeTest() { options_.disable_auto_compactions = true; }
  ~ThrowingCodeTest() override { user_code_throws = false; }

  // The database may be at an attempt of its own: then Resume is Busy.
  void ResumeAtLast() {
    EXPECT_TRUE(Eventually([this] { return db()->Resume().ok(); }));
  }
  void ExpectHealthy(const std::string& scan) {
    user_code_throws = false;
    ResumeAtLast();
    EXPECT_EQ(Scan(), scan);
    Put("after", "a");
    Flush();
    Reopen();
    EXPECT_EQ(Get("after"), "a");
  }
};

TEST_F(ThrowingCodeTest, APrefixExtractorStopsNoWrite) {
  options_.prefix_extractor = std::make_shared<ThrowingTwoBytes>();
  options_.memtable_prefix_bloom_size_ratio = 0.1;
  options_.memtable_whole_key_filtering = false;
  Open();
  Put("aa1", "1");
  user_code_throws = true;
  Put("bb2", "2");
  EXPECT_EQ(Get("aa1"), "1");
  user_code_throws = false;
  EXPECT_EQ(Get("bb2"), "2") << "the filter does not know it";
  user_code_throws = true;
  Kill();
  Open();  // replay needs no prefix; tables without prefix filters neither
  EXPECT_EQ(Scan(), "aa1=1 bb2=2");
}

TEST_F(ThrowingCodeTest, APrefixExtractorIsDoneWithoutInReads) {
  options_.prefix_extractor = std::make_shared<ThrowingTwoBytes>();
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.whole_key_filtering = false;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  MakeTable({"aa1", "aa2", "bb1"});
  MakeTable({"aa3", "cc1"});
  user_code_throws = true;
  EXPECT_EQ(Get("aa2"), "of aa2");
  EXPECT_EQ(Get("zz"), "NOT_FOUND");
  EXPECT_EQ(Scan(), "aa1=of aa1 aa2=of aa2 aa3=of aa3 bb1=of bb1 cc1=of cc1");
  ReadOptions in_prefix;
  in_prefix.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> it(db()->NewIterator(in_prefix));
  it->Seek("aa2");
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsAborted()) << "where the prefix ends is not known";
  it->SeekToFirst();
  EXPECT_TRUE(it->status().IsAborted());
  user_code_throws = false;
  it->Seek("aa2");
  EXPECT_EQ(Rest(it.get()), "aa2=of aa2 aa3=of aa3");
  it->Seek("aa1");
  user_code_throws = true;
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsAborted());
  user_code_throws = false;
  ReadOptions bounded;
  const Slice bound("ab");
  bounded.auto_prefix_mode = true;
  bounded.iterate_upper_bound = &bound;
  const std::unique_ptr<Iterator> other(db()->NewIterator(bounded));
  user_code_throws = true;
  other->Seek("aa2");
  EXPECT_EQ(Rest(other.get()), "aa2=of aa2 aa3=of aa3");
}

TEST_F(ThrowingCodeTest, ACollectorFailsTheFlushWhichIsTriedAgain) {
  options_.table_properties_collector_factories.push_back(
      std::make_shared<ThrowingCollectorFactory>());
  Open();
  Put("k", "v");
  user_code_throws = true;
  const Status s = db()->Flush(FlushOptions());
  EXPECT_TRUE(s.IsAborted()) << s.ToString();
  EXPECT_EQ(Get("k"), "v");
  EXPECT_TRUE(Files(kTableFile).empty());
  ExpectHealthy("k=v");
}

TEST_F(ThrowingCodeTest, APolicyOfBlocksFailsFlushesAndCompactions) {
  const auto factory = std::make_shared<ThrowingPolicyFactory>();
  BlockBasedTableOptions table;
  table.flush_block_policy_factory = factory;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  MakeTable({"a"});
  MakeTable({"a", "b"});
  for (const bool makes_none : {false, true}) {
    factory->makes_none = makes_none;
    user_code_throws = true;
    Status s = db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    EXPECT_TRUE(s.IsAborted()) << s.ToString();
    user_code_throws = false;
    ResumeAtLast();
    Put("k", "v");
    user_code_throws = true;
    s = db()->Flush(FlushOptions());
    EXPECT_TRUE(s.IsAborted()) << s.ToString();
    user_code_throws = false;
    ResumeAtLast();
    EXPECT_EQ(Scan(), "a=of a b=of b k=v");
  }
  ExpectHealthy("a=of a b=of b k=v");
}

TEST_F(ThrowingCodeTest, AFilterFailsTheCompactionAndLosesNothing) {
  const ThrowingFilter filter;
  options_.compaction_filter = &filter;
  Open();
  MakeTable({"a"});
  MakeTable({"b"});
  user_code_throws = true;
  const Status s = db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_TRUE(s.IsAborted()) << s.ToString();
  EXPECT_EQ(Scan(), "a=of a b=of b");
  ExpectHealthy("a=of a b=of b");
  ASSERT_TRUE(Close().ok());
}

TEST_F(ThrowingCodeTest, ATableFilterLeavesNothingOut) {
  Open();
  MakeTable({"a"});
  ReadOptions read;
  read.table_filter = [](const TableProperties&) -> bool { throw 1; };
  EXPECT_EQ(Scan(read), "a=of a");
}

// After an exception anywhere, the same iterator shows all entries that exist, and none that ranges
// deleted.
TEST_F(ThrowingCodeTest, AComparatorFailsAWalkAndNotTheNext) {
  CountingOrder order;
  options_.comparator = &order;
  Open();
  const auto delete_range = [&](const char* begin, const char* end) {
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), begin, end).ok());
  };
  const auto sink_to = [&](int level, uint64_t file_bytes) {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    CompactionOptions options;
    options.output_file_size_limit = file_bytes;
    for (const LiveFileMetaData& file : files) {
      if (file.level > 0) continue;
      const Status s = db()->CompactFiles(options, {file.name}, level);
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
  };
  for (int i = 10; i < 40; i++) Put("k" + std::to_string(i), std::string(100, 'v'));
  Flush();
  sink_to(4, 1000);
  delete_range("k12", "k15");
  delete_range("k30", "k35");
  Put("k31", "new");
  Flush();
  sink_to(2, 0);
  delete_range("k20", "k22");
  Flush();
  delete_range("k25", "k26");
  const std::string expected = Scan();
  const std::string levels = Levels();
  ASSERT_TRUE(levels.starts_with("1,0,1,0,")) << levels;
  int fails = 0;
  for (int n = 1;; n++) {
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    const bool ahead = n % 2 == 0;
    order.left = n;
    ahead ? it->SeekToFirst() : it->SeekToLast();
    while (it->Valid()) ahead ? it->Next() : it->Prev();
    const bool done = order.left.exchange(0) > 0;
    EXPECT_EQ(it->status().ok(), done) << n;
    if (done && !ahead) break;
    fails++;
    it->SeekToFirst();
    ASSERT_EQ(Rest(it.get()), expected) << n;
  }
  EXPECT_GT(fails, 50);
}

TEST_F(ThrowingCodeTest, AWriteCallbackStopsNoWrite) {
  Open();
  AfterLog callback([] { throw 1; });
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "v").ok());
  EXPECT_TRUE(db()->WriteWithCallback(WriteOptions(), &batch, &callback).ok());
  EXPECT_EQ(Get("k"), "v");
  Put("next", "n");
}

class ThrowingDeletions final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "ThrowingDeletions"; }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* dbg) override {
    MayThrow();
    return FileSystemWrapper::DeleteFile(name, options, dbg);
  }
};

TEST_F(ThrowingCodeTest, ADestructionGivesTheLockBack) {
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  const std::unique_ptr<Env> env =
      NewCompositeEnv(std::make_shared<ThrowingDeletions>(options_.env->GetFileSystem()));
  Options options = options_;
  options.env = env.get();
  user_code_throws = true;
  EXPECT_TRUE(DestroyDB(kName, options).IsAborted());
  user_code_throws = false;
  const Status s = DestroyDB(kName, options);
  EXPECT_TRUE(s.ok()) << s.ToString();
}

// A null handle would clear the option that it is given to.
TEST_F(ThrowingCodeTest, CHandlesThatCouldNotBeMadeAreRemembered) {
  rocksdb_cache_t* const cache = c::Try([]() -> rocksdb_cache_t* { throw std::bad_alloc(); });
  EXPECT_TRUE(c::StandsForFailure(cache));
  EXPECT_FALSE(c::StandsForFailure(cache));
}

TEST_F(ThrowingCodeTest, ALoggerLosesItsEntriesOnly) {
  options_.info_log = std::make_shared<ThrowingLogger>();
  user_code_throws = true;
  Open();
  MakeTable({"a"});
  EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  Reopen();
  EXPECT_EQ(Get("a"), "of a");
}

}  // namespace
}  // namespace varve::testing
