// SPDX-License-Identifier: Apache-2.0

// Flushes and compactions end to end, on a file system in memory, judged by reading the outputs.

#include "db/compaction/compaction_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "varve/perf_context.h"
#include "varve/statistics.h"
#include "varve/table.h"

#include "db/compaction/compaction_picker.h"
#include "db/compaction/manual_picker.h"
#include "db/compaction/plan_builder.h"
#include "db/flush/flush_job.h"
#include "db/read/version_iterators.h"
#include "db/version/version_builder.h"
#include "tests/harness/fault_file_system.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/mem_file_system.h"

namespace varve {
namespace {

constexpr int kLevels = 4;

// The entries that a reader at one sequence number sees.
using State = std::map<std::string, std::string>;

class CompactionJobTest : public ::testing::Test {
 protected:
  CompactionJobTest() {
    EXPECT_TRUE(fs_->CreateDir("/db", IOOptions(), nullptr).ok());
    auto options = std::make_shared<ColumnFamilyOptions>();
    options->num_levels = kLevels;
    options->level_compaction_dynamic_level_bytes = false;
    options->compression = kNoCompression;
    options_ = std::move(options);
    files_.resize(kLevels);
  }

  std::shared_ptr<TableCache> Cache() {
    TableCacheOptions options;
    options.paths = std::make_shared<const TablePaths>("/db");
    options.fs = fs_;
    options.icmp = &icmp_;
    options.cf_options = options_;
    options.clock = SystemClock::Default().get();
    return std::make_shared<TableCache>(std::move(options));
  }
  TableOutputContext Output() const {
    TableOutputContext context;
    context.paths = std::make_shared<const TablePaths>("/db");
    context.fs = fs_;
    context.clock = SystemClock::Default().get();
    return context;
  }
  TableBuildOptions Build() const {
    TableBuildOptions build;
    build.icmp = &icmp_;
    build.factory.reset(NewBlockBasedTableFactory());
    build.db_id = "db";
    build.db_session_id = "SESSIONSESSIONSESSIO";
    build.column_family_name = "default";
    build.creation_time = build.file_creation_time = 1000;
    return build;
  }

  void Put(const std::string& key, const std::string& value) {
    Check(mem_->Add(++last_, kTypeValue, key, value));
    model_[key] = value;
  }
  void Delete(const std::string& key) {
    Check(mem_->Add(++last_, kTypeDeletion, key, ""));
    model_.erase(key);
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    Check(mem_->Add(++last_, kTypeRangeDeletion, begin, end));
    model_.erase(model_.lower_bound(begin), model_.lower_bound(end));
  }
  void Snapshot() {
    snapshots_.push_back(last_);
    states_[last_] = model_;
  }
  static void Check(const Status& s) { ASSERT_TRUE(s.ok()) << s.ToString(); }

  FlushResult Flush() {
    mem_->Freeze();
    FlushInput input;
    input.memtables = {mem_};
    input.snapshots = snapshots_;
    input.options = options_;
    input.icmp = &icmp_;
    input.output = Output();
    input.build = Build();
    input.build.file_number = next_file_++;
    input.build.level = 0;
    FlushResult result;
    Check(RunFlush(input, &result));
    if (result.wrote_file) {
      result.file.epoch_number = next_epoch_++;
      files_[0].push_back(FileRef(MakeFileMetaData(result.file)));
    }
    mem_ = NewMemTable();
    return result;
  }
  std::shared_ptr<MemTable> NewMemTable() {
    return std::make_shared<MemTable>(icmp_, MemTableOptions(), 1);
  }

  VersionRef CurrentVersion() { return std::make_shared<Version>(&icmp_, 1, files_); }

  std::unique_ptr<CompactionPlan> PickAll(int start_level) {
    version_ = CurrentVersion();
    ManualCompactionRequest request;
    request.start_level = start_level;
    request.output_level = start_level + 1;
    request.allow_trivial_move = false;
    bool conflict = false;
    auto plan = PickManualCompaction(version_, ComputeLevelShape(*version_, *options_), *options_,
                                     request, {}, &conflict);
    EXPECT_FALSE(conflict);
    return plan;
  }
  CompactionContext Context() {
    CompactionContext context;
    context.icmp = &icmp_;
    context.options = options_;
    context.table_cache = Cache();
    context.snapshots = snapshots_;
    context.output = Output();
    context.build = Build();
    context.new_file_number = [this] { return next_file_.fetch_add(1); };
    context.family_name = "default";
    return context;
  }
  Status Compact(const CompactionPlan& plan) { return Compact(plan, Context()); }
  Status Compact(const CompactionPlan& plan, const CompactionContext& context) {
    Status s = RunCompaction(plan, context, &result_);
    if (!s.ok()) return s;
    VersionEdit edit;
    FillCompactionEdit(plan, result_, &edit);
    for (const auto& [level, number] : edit.deleted_files) {
      auto& files = files_[static_cast<size_t>(level)];
      files.erase(std::remove_if(files.begin(), files.end(),
                                 [n = number](const FileRef& f) { return f->number == n; }),
                  files.end());
    }
    for (const NewFile& file : edit.new_files) {
      files_[static_cast<size_t>(file.level)].push_back(FileRef(MakeFileMetaData(file)));
    }
    return s;
  }

  // Reads all tables as a reader at `at` would, and checks what must hold of bounds on the way.
  State ReadAll(SequenceNumber at) {
    const VersionRef version = CurrentVersion();
    const auto cache = Cache();
    std::map<std::string, std::pair<SequenceNumber, std::string>> newest;  // "!" is a deletion
    TombstoneSet tombstones(icmp_);
    for (int level = 0; level < kLevels; level++) {
      const LevelFiles& files = version->level(level);
      for (size_t i = 0; i < files.size(); i++) {
        if (level > 0 && i > 0) {
          EXPECT_LT(icmp_.Compare(files[i - 1]->largest.Encode(), files[i]->smallest.Encode()), 0);
        }
        ReadFile(*cache, files[i], at, &tombstones, &newest);
      }
    }
    State state;
    for (const auto& [key, entry] : newest) {
      if (entry.second == "!") continue;
      if (tombstones.MaxCoveringSeq(key, at) > entry.first) continue;
      state[key] = entry.second;
    }
    return state;
  }
  void ReadFile(TableCache& cache, FileMetaData* file, SequenceNumber at, TombstoneSet* tombstones,
                std::map<std::string, std::pair<SequenceNumber, std::string>>* newest) {
    TableRef table;
    const ReadOptions read_options;
    Check(cache.Find(file, 1, read_options, &table));
    // The bounds hold all tombstones, so clipping to them loses nothing.
    AddFileTombstones(*file, *table.get(), icmp_, tombstones);
    const auto& own = table->tombstones();
    for (size_t i = 0; own != nullptr && i < own->size(); i++) {
      EXPECT_GE(icmp_.CompareUserKey(own->fragment(i).start, file->smallest.user_key()), 0);
      EXPECT_LE(icmp_.CompareUserKey(own->fragment(i).end, file->largest.user_key()), 0);
    }
    const auto iterator = table->NewIterator(read_options, TableIterOptions());
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      EXPECT_GE(icmp_.Compare(iterator->key(), file->smallest.Encode()), 0);
      EXPECT_LE(icmp_.Compare(iterator->key(), file->largest.Encode()), 0);
      ParsedInternalKey key;
      ASSERT_TRUE(ParseInternalKey(iterator->key(), &key));
      EXPECT_LE(key.sequence, file->largest_seq);
      EXPECT_GE(key.sequence, file->smallest_seq);
      if (key.sequence > at) continue;
      const auto at_key = newest->find(key.user_key.ToString());
      if (at_key != newest->end() && at_key->second.first >= key.sequence) continue;
      (*newest)[key.user_key.ToString()] = {
          key.sequence, key.type == kTypeValue ? iterator->value().ToString() : "!"};
    }
    Check(iterator->status());
  }
  void ExpectModel() {
    EXPECT_EQ(ReadAll(kMaxSequenceNumber), model_);
    for (const SequenceNumber at : snapshots_) EXPECT_EQ(ReadAll(at), states_[at]) << "at " << at;
  }
  std::set<std::string> TablesOnDisk() {
    std::vector<std::string> names;
    EXPECT_TRUE(fs_->GetChildren("/db", IOOptions(), &names, nullptr).ok());
    return {names.begin(), names.end()};
  }

  static std::string Key(uint64_t n) {
    std::string digits = std::to_string(n);
    return "k" + std::string(6 - digits.size(), '0') + digits;
  }
  void FillRandom(int flushes, int operations, bool ranges, bool with_snapshots) {
    for (int f = 0; f < flushes; f++) {
      for (int i = 0; i < operations; i++) {
        const std::string key = Key(random_() % 1000);
        const auto dice = random_() % 100;
        if (ranges && dice < 2) {
          DeleteRange(key, Key(std::stoull(key.substr(1)) + 1 + random_() % 300));
        } else if (dice < 15) {
          Delete(key);
        } else {
          Put(key, "value" + std::to_string(last_));
        }
        if (with_snapshots && i == operations / 2 && f % 2 == 0) Snapshot();
      }
      Flush();
    }
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  std::shared_ptr<MemFileSystem> fs_ = std::make_shared<MemFileSystem>();
  std::shared_ptr<const ColumnFamilyOptions> options_;
  std::vector<std::vector<FileRef>> files_;
  std::shared_ptr<MemTable> mem_ = NewMemTable();
  std::atomic<uint64_t> next_file_{1};
  uint64_t next_epoch_ = 1;
  SequenceNumber last_ = 0;
  State model_;
  std::vector<SequenceNumber> snapshots_;
  std::map<SequenceNumber, State> states_;
  VersionRef version_;
  CompactionResult result_;
  std::mt19937 random_{17};
};

TEST_F(CompactionJobTest, AFlushWritesWhatTheMemtableHolds) {
  Put("b", "1");
  Put("a", "2");
  Put("b", "3");
  DeleteRange("c", "f");
  const FlushResult result = Flush();
  ASSERT_TRUE(result.wrote_file);
  EXPECT_EQ(result.entries_in, 3u);
  EXPECT_EQ(result.entries_dropped, 1u);
  EXPECT_EQ(result.file.counts.entries, 3u);
  EXPECT_EQ(result.file.counts.range_deletions, 1u);
  EXPECT_EQ(result.file.smallest.user_key(), Slice("a"));
  EXPECT_EQ(result.file.largest.user_key(), Slice("f"));
  EXPECT_EQ(result.file.largest.sequence(), kMaxSequenceNumber);
  EXPECT_EQ(result.file.largest.type(), kTypeRangeDeletion);
  EXPECT_EQ(result.file.smallest_seq, 2u);
  EXPECT_EQ(result.file.largest_seq, 4u);
  EXPECT_EQ(result.file.times.oldest_ancestor, 1000u);
  EXPECT_EQ(result.file.unique_id.size(), 16u);
  ExpectModel();
}

TEST_F(CompactionJobTest, AnEmptyFlushLeavesNoFile) {
  EXPECT_FALSE(Flush().wrote_file);
  EXPECT_TRUE(TablesOnDisk().empty());
}

TEST_F(CompactionJobTest, CompactionKeepsEveryReadersView) {
  struct Case {
    bool ranges;
    bool snapshots;
    uint64_t target;
    uint32_t pieces;
  };
  for (const Case& c : std::vector<Case>{{false, false, 1 << 20, 1},
                                         {true, false, 1 << 20, 1},
                                         {true, true, 1 << 20, 1},
                                         {true, true, 4000, 1},
                                         {true, true, 4000, 4},
                                         {false, false, 4000, 3}}) {
    SCOPED_TRACE(::testing::Message() << "ranges " << c.ranges << " snapshots " << c.snapshots
                                      << " target " << c.target << " pieces " << c.pieces);
    files_.assign(kLevels, {});
    snapshots_.clear();
    model_.clear();
    // Twice to L1 and once on to L2, so that there is something beneath.
    for (int round = 0; round < 3; round++) {
      FillRandom(4, 400, c.ranges, c.snapshots);
      ExpectModel();
      const auto plan = PickAll(0);
      ASSERT_NE(plan, nullptr);
      plan->output.target_file_bytes = c.target;
      plan->max_subcompactions = c.pieces;
      const Status s = Compact(*plan);
      ASSERT_TRUE(s.ok()) << s.ToString();
      EXPECT_EQ(result_.subcompactions > 1, c.pieces > 1);
      EXPECT_TRUE(files_[0].empty());
      if (c.target < 10000) {
        EXPECT_GT(files_[1].size(), 2u);
      }
      ExpectModel();
      if (round != 1) continue;
      const auto down = PickAll(1);
      ASSERT_NE(down, nullptr);
      ASSERT_TRUE(Compact(*down).ok());
      ExpectModel();
    }
  }
}

// Values of one letter, so that the file's size, where it ends, hangs on compression.
TEST_F(CompactionJobTest, OutputsAreTheSameWithAnyNumberOfCompressors) {
  for (int f = 0; f < 3; f++) {
    for (uint64_t i = 0; i < 12000; i++) {
      Put(Key(random_() % 30000), std::string(100 + random_() % 100, static_cast<char>(random_())));
    }
    Flush();
  }
  const auto inputs = files_;
  std::vector<std::string> expected;
  for (const uint32_t threads : {0u, 1u, 4u}) {
    files_ = inputs;
    next_file_ = 100;
    const auto plan = PickAll(0);
    plan->output.target_file_bytes = 100 << 10;
    plan->output.compression = kLZ4Compression;
    plan->output.compression_opts.parallel_threads = threads;
    ASSERT_TRUE(Compact(*plan).ok());
    ExpectModel();
    std::vector<std::string> files;
    for (const FileRef& file : files_[1]) {
      const std::string name = TableFileName("/db", file->number);
      ASSERT_TRUE(ReadFileToString(fs_.get(), name, 1 << 20, &files.emplace_back()).ok());
    }
    EXPECT_GT(files.size(), 2u);
    if (threads == 0) expected = files;
    EXPECT_EQ(files == expected, true) << threads;
  }
}

TEST_F(CompactionJobTest, TheLastLevelHoldsNoMarkersAndNoSequences) {
  FillRandom(4, 300, /*ranges=*/true, /*with_snapshots=*/false);
  const auto plan = PickAll(0);
  ASSERT_TRUE(plan->bottommost);
  ASSERT_TRUE(Compact(*plan).ok());
  ASSERT_EQ(result_.outputs.size(), 1u);
  const NewFile& file = result_.outputs[0];
  EXPECT_EQ(file.counts.entries, model_.size());
  EXPECT_EQ(file.counts.deletions, 0u);
  EXPECT_EQ(file.counts.range_deletions, 0u);
  EXPECT_EQ(file.largest_seq, 0u);
  EXPECT_EQ(file.epoch_number, 1u);
  EXPECT_EQ(result_.entries_in, result_.entries_out + result_.entries_dropped_obsolete);
}

// There is no level beneath, but older files of the same level are not among the inputs.
TEST_F(CompactionJobTest, WithinL0DeletionsStayForOlderFiles) {
  Put("a", "old");
  Put("b", "old");
  Put("c", "stays");
  Flush();
  Delete("a");
  Flush();
  DeleteRange("b", "c");
  Flush();
  version_ = CurrentVersion();
  CompactionPlan plan;
  plan.version = version_;
  plan.inputs.push_back({0, {version_->level(0).files()[0], version_->level(0).files()[1]}});
  plan.output_level = 0;
  plan.output.target_file_bytes = UINT64_MAX;
  Check(Compact(plan));
  EXPECT_EQ(files_[0].size(), 2u);
  EXPECT_EQ(ReadAll(last_), model_);
}

// A newer epoch would bring the output above a table that is still being written: that of a
// memtable which was switched between the inputs.
TEST_F(CompactionJobTest, AnOutputInL0HasTheEpochOfItsOldestInput) {
  Put("a", "1");
  Flush();
  next_epoch_++;
  Put("b", "1");
  Flush();
  version_ = CurrentVersion();
  CompactionPlan plan;
  plan.version = version_;
  plan.inputs.push_back({0, version_->level(0).files()});
  plan.output_level = 0;
  plan.output.target_file_bytes = UINT64_MAX;
  Check(Compact(plan));
  ASSERT_EQ(files_[0].size(), 1u);
  EXPECT_EQ(files_[0][0]->epoch_number, 1u);
}

TEST_F(CompactionJobTest, ARangeThatOnlyDeletesStillMakesAFile) {
  Put("a", "1");
  Put("z", "1");
  Flush();
  ASSERT_TRUE(Compact(*PickAll(0)).ok());
  ASSERT_TRUE(Compact(*PickAll(1)).ok());
  DeleteRange("b", "y");
  Flush();
  const auto plan = PickAll(0);
  EXPECT_FALSE(plan->bottommost);
  ASSERT_TRUE(Compact(*plan).ok());
  ASSERT_EQ(result_.outputs.size(), 1u);
  EXPECT_EQ(result_.outputs[0].counts.range_deletions, 1u);
  ExpectModel();
}

TEST_F(CompactionJobTest, AFailureLeavesNoOutputBehind) {
  class Throwing final : public CompactionFilter {
   public:
    const char* Name() const override { return "throwing"; }
    Decision FilterV2(int, const Slice& key, ValueType, const Slice&, std::string*,
                      std::string*) const override {
      if (key.compare(Key(700)) > 0) throw std::runtime_error("enough");
      return Decision::kKeep;
    }
  };
  FillRandom(4, 400, /*ranges=*/true, /*with_snapshots=*/false);
  const auto before = TablesOnDisk();
  const Throwing filter;
  auto options = std::make_shared<ColumnFamilyOptions>(*options_);
  options->compaction_filter = &filter;
  CompactionContext context = Context();
  context.options = options;
  const auto plan = PickAll(0);
  plan->output.target_file_bytes = 4000;
  const Status s = Compact(*plan, context);
  EXPECT_TRUE(s.IsAborted()) << s.ToString();
  EXPECT_EQ(TablesOnDisk(), before);
  ExpectModel();
}

TEST_F(CompactionJobTest, AFailedCallOfTheFileSystemLeavesNoOutputBehind) {
  for (int i = 0; i < 12000; i++) {
    std::string value(100, 'v');
    for (size_t j = 0; j < 40; j++) value[j] = static_cast<char>(random_());
    Put(Key(random_() % 9000), value);
  }
  Flush();
  const auto before = TablesOnDisk();
  const struct {
    FaultCall call;
    uint64_t nth;
  } kCases[] = {{FaultCall::kCreate, 1}, {FaultCall::kCreate, 2}, {FaultCall::kWrite, 1},
                {FaultCall::kWrite, 12}, {FaultCall::kWrite, 25}, {FaultCall::kSync, 1},
                {FaultCall::kSync, 2},   {FaultCall::kClose, 2}};
  for (const auto& c : kCases) {
    for (const uint32_t threads : {0u, 3u}) {
      const auto faulty = std::make_shared<FaultFileSystem>(fs_);
      FaultRule rule;
      rule.calls = Only(c.call);
      rule.nth = c.nth;
      rule.sticky = true;
      faulty->Inject(rule);
      CompactionContext context = Context();
      context.output.fs = faulty;
      context.output.file_buffer_bytes = 4096;
      const auto plan = PickAll(0);
      plan->output.target_file_bytes = 50 << 10;
      plan->output.compression = kLZ4Compression;
      plan->output.compression_opts.parallel_threads = threads;
      const Status s = Compact(*plan, context);
      EXPECT_TRUE(s.IsIOError()) << static_cast<int>(c.call) << " " << s.ToString();
      EXPECT_EQ(TablesOnDisk(), before);
    }
  }
  ExpectModel();
}

// ---- Counts ----

// A table whose walks end before all that it says it has.
class LosingTable final : public TableReader {
 public:
  LosingTable(TableReader* whole, size_t served) : whole_(whole), served_(served) {}
  using TableReader::Get;
  Status Get(const ReadOptions& options, PointLookup* lookup,
             const TableHint& hint) const override {
    return whole_->Get(options, lookup, hint);
  }
  bool KeyMayMatch(const ReadOptions& options, const PointLookup& lookup) const override {
    return whole_->KeyMayMatch(options, lookup);
  }
  std::unique_ptr<InternalIterator> NewIterator(const ReadOptions& options,
                                                const TableIterOptions& iter) const override {
    return std::make_unique<Walk>(whole_->NewIterator(options, iter), served_);
  }
  const std::shared_ptr<const FragmentedTombstones>& tombstones() const override {
    return whole_->tombstones();
  }
  const std::shared_ptr<const TableProperties>& properties() const override {
    return whole_->properties();
  }
  void SetSequence(SequenceNumber /*sequence*/) override {}
  const std::string& newest_timestamp() const override { return whole_->newest_timestamp(); }
  uint64_t ApproximateOffsetOf(const ReadOptions& options, const Slice& key) const override {
    return whole_->ApproximateOffsetOf(options, key);
  }
  Status VerifyChecksum(const ReadOptions& options, const PaceReads& pace) const override {
    return whole_->VerifyChecksum(options, pace);
  }
  Status Salvage(const TakeEntry& take, SalvageCount* count) const override {
    return whole_->Salvage(take, count);
  }
  size_t MemoryUsage() const override { return whole_->MemoryUsage(); }
  const TableFormat& format() const override { return whole_->format(); }

 private:
  class Walk final : public InternalIterator {
   public:
    Walk(std::unique_ptr<InternalIterator> whole, size_t served)
        : whole_(std::move(whole)), left_(served) {}
    void SeekToFirst() override {
      whole_->SeekToFirst();
      Publish();
    }
    void SeekToLast() override { valid_ = false; }
    void Seek(const Slice& target) override {
      whole_->Seek(target);
      Publish();
    }
    void SeekForPrev(const Slice&) override { valid_ = false; }
    void Next() override {
      whole_->Next();
      Publish();
    }
    void Prev() override { valid_ = false; }
    Status status() const override { return whole_->status(); }

   private:
    void Publish() {
      valid_ = left_ > 0 && whole_->Valid();
      if (!valid_) return;
      left_--;
      key_ = whole_->key();
      value_ = whole_->value();
    }

    const std::unique_ptr<InternalIterator> whole_;
    size_t left_;
  };

  const std::unique_ptr<TableReader> whole_;
  const size_t served_;
};

TEST_F(CompactionJobTest, EntriesThatAnInputLosesAreMissed) {
  FillRandom(2, 400, /*ranges=*/false, /*with_snapshots=*/false);
  Check(Compact(*PickAll(0)));
  FillRandom(1, 400, /*ranges=*/false, /*with_snapshots=*/false);
  const auto plan = PickAll(0);
  const auto context = Context();
  for (const FileRef& file : files_[0]) {
    TableRef table;
    Check(context.table_cache->Find(file.get(), 0, ReadOptions(), &table));
    file->reader = new LosingTable(file->reader.load(), 100);
  }
  const Status s = Compact(*plan, context);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("the input tables hold"), std::string::npos) << s.ToString();
}

// ---- What range tombstones cover ----

class CoveredJobTest : public CompactionJobTest {
 protected:
  static constexpr uint64_t kKeys = 20000;

  // Puts all keys into files of L1, of which no two share a block, and counts the dead entries.
  void FillLevel1() {
    for (uint64_t i = 0; i < kKeys; i++) Put(Key(i), std::string(100, 'v'));
    Flush();
    const auto plan = PickAll(0);
    plan->output.target_file_bytes = 300 << 10;
    Check(Compact(*plan));
    ASSERT_GT(files_[1].size(), 5u);
  }
  // Compacts L0 and L1 into L1.
  void CompactAll(uint32_t pieces = 1) {
    const auto plan = PickAll(0);
    ASSERT_NE(plan, nullptr);
    plan->output.target_file_bytes = 300 << 10;
    plan->max_subcompactions = pieces;
    CompactionContext context = Context();
    context.statistics = statistics_.get();
    input_bytes_ = plan->InputBytes();
    const uint64_t before = get_perf_context()->block_read_count;
    Check(Compact(*plan, context));
    blocks_read_ = get_perf_context()->block_read_count - before;
    ExpectModel();
  }
  uint64_t CoveredDropped() const {
    return statistics_->getTickerCount(COMPACTION_KEY_DROP_RANGE_DEL);
  }

  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  uint64_t input_bytes_ = 0;
  uint64_t blocks_read_ = 0;
};

TEST_F(CoveredJobTest, WhatATombstoneCoversIsNotRead) {
  FillLevel1();
  Put(Key(8000), "new beneath it");
  DeleteRange(Key(500), Key(19500));
  Put(Key(9000), "newer");
  Flush();
  CompactAll();
  EXPECT_LT(blocks_read_, 120u) << "all have about 600";
  EXPECT_LT(result_.bytes_read, input_bytes_ / 8);
  EXPECT_EQ(statistics_->getTickerCount(COMPACT_READ_BYTES), result_.bytes_read);
  EXPECT_EQ(result_.bytes_in, input_bytes_);
  // All are accounted for: one of L0 was dropped by its flush.
  EXPECT_EQ(result_.entries_in, kKeys + 1);
  EXPECT_EQ(result_.entries_out, 1001u);
  EXPECT_EQ(CoveredDropped(), 19000u);
  EXPECT_EQ(result_.entries_in, result_.entries_out + result_.entries_dropped_obsolete);
}

TEST_F(CoveredJobTest, PiecesJumpWithinTheirBounds) {
  FillLevel1();
  DeleteRange(Key(500), Key(19500));
  Flush();
  CompactAll(/*pieces=*/4);
  EXPECT_GT(result_.subcompactions, 1u);
  EXPECT_LT(result_.bytes_read, input_bytes_ / 4);
  EXPECT_EQ(result_.entries_in, kKeys);
  EXPECT_EQ(CoveredDropped(), 19000u);
}

TEST_F(CoveredJobTest, TrimsOfALogAreLeftTogether) {
  FillLevel1();
  for (uint64_t i = 0; i < 190; i++) DeleteRange(Key(i * 100), Key(i * 100 + 100));
  Flush();
  CompactAll();
  EXPECT_LT(result_.bytes_read, input_bytes_ / 8);
  EXPECT_EQ(CoveredDropped(), 19000u);
}

TEST_F(CoveredJobTest, ASnapshotFromBeforeTheTombstoneKeepsAll) {
  FillLevel1();
  Snapshot();
  DeleteRange(Key(500), Key(19500));
  Flush();
  CompactAll();
  EXPECT_EQ(result_.entries_out, kKeys);
  EXPECT_EQ(result_.bytes_read, input_bytes_);
  EXPECT_EQ(CoveredDropped(), 0u);
}

TEST_F(CoveredJobTest, ASnapshotBetweenKeepsWhatIsBeneathIt) {
  FillLevel1();
  Snapshot();
  for (uint64_t i = 1000; i < 3000; i++) Put(Key(i), "behind the snapshot");
  Flush();
  DeleteRange(Key(500), Key(19500));
  Flush();
  CompactAll();
  EXPECT_EQ(result_.entries_out, kKeys);
  EXPECT_EQ(result_.bytes_read, input_bytes_);
  EXPECT_EQ(CoveredDropped(), 2000u);
}

TEST_F(CoveredJobTest, ASnapshotThatSeesTheTombstoneNeedsNothing) {
  FillLevel1();
  DeleteRange(Key(500), Key(19500));
  Snapshot();
  Put(Key(10000), "after it");
  Flush();
  CompactAll();
  EXPECT_EQ(result_.entries_out, 1001u);
  EXPECT_LT(result_.bytes_read, input_bytes_ / 8);
  EXPECT_EQ(CoveredDropped(), 19000u);
}

// The proof that all was read is weaker after a jump, but not gone: inputs that did not jump have
// to be whole.
TEST_F(CoveredJobTest, EntriesThatANewTableLosesAreMissed) {
  for (const size_t served : {size_t{2000}, size_t{1500}}) {
    files_.assign(kLevels, {});
    FillLevel1();
    for (uint64_t i = 0; i < 2000; i++) Put(Key(i), "again");
    DeleteRange(Key(5000), Key(19500));
    Flush();
    const auto plan = PickAll(0);
    const auto context = Context();
    TableRef table;
    FileMetaData* const newest = files_[0].front().get();
    Check(context.table_cache->Find(newest, 0, ReadOptions(), &table));
    newest->reader = new LosingTable(newest->reader.load(), served);
    const Status s = Compact(*plan, context);
    EXPECT_EQ(s.ok(), served == 2000) << s.ToString();
    if (s.ok()) {
      EXPECT_LT(result_.bytes_read, result_.bytes_in / 2) << "there was a jump";
    } else {
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    }
  }
}

TEST_F(CompactionJobTest, CancellationLeavesNoOutputBehind) {
  FillRandom(2, 400, /*ranges=*/false, /*with_snapshots=*/false);
  const auto before = TablesOnDisk();
  const std::atomic<bool> yes{true};
  CompactionContext context = Context();
  context.cancel.manual = &yes;
  EXPECT_TRUE(Compact(*PickAll(0), context).IsManualCompactionPaused());
  EXPECT_EQ(TablesOnDisk(), before);
}

}  // namespace
}  // namespace varve
