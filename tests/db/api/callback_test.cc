// SPDX-License-Identifier: Apache-2.0

// Goal: user code that the engine calls is called when db.h's neighbours say, with what they say,
// and cannot bring the engine down. Method: filters, collectors and listeners that note what they
// were told.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/listener.h"
#include "varve/snapshot.h"
#include "varve/table_properties.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// Drops values "drop", makes "change" into "changed", skips to "m" at "skip".
class RuleFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "RuleFilter"; }
  Decision FilterV2(int /*level*/, const Slice& key, ValueType type, const Slice& value,
                    std::string* new_value, std::string* skip_until) const override {
    EXPECT_EQ(type, ValueType::kValue);
    asked.fetch_add(1);
    if (value == Slice("drop")) return Decision::kRemove;
    if (value == Slice("change")) {
      *new_value = key.ToString() + " changed";
      return Decision::kChangeValue;
    }
    if (value == Slice("skip")) {
      *skip_until = "m";
      return Decision::kRemoveAndSkipUntil;
    }
    return Decision::kKeep;
  }
  mutable std::atomic<int> asked{0};
};

class RuleFilterFactory final : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "RuleFilterFactory"; }
  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override {
    return reason == TableFileCreationReason::kCompaction ||
           (flushes_too && reason == TableFileCreationReason::kFlush);
  }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    made++;
    last = context;
    return std::make_unique<RuleFilter>();
  }
  bool flushes_too = false;
  std::atomic<int> made{0};
  CompactionFilter::Context last{};
};

class DbFilterTest : public Database {
 protected:
  DbFilterTest() { options_.disable_auto_compactions = true; }
  void Load() {
    Put("a", "drop");
    Put("b", "change");
    Put("c", "keep");
    Put("k", "skip");
    Put("l", "keep");
    Put("m", "keep");
  }
  void Compact() {
    const Status s = db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
};

// Beneath a snapshot, or above older data, a removed entry becomes a deletion.
TEST_F(DbFilterTest, WhatIsRemovedBesideASnapshotStopsNothing) {
  RuleFilter filter;
  options_.compaction_filter = &filter;
  Open();
  Put("a", "old");
  Flush();
  Compact();
  const Snapshot* const snapshot = db()->GetSnapshot();
  for (int i = 0; i < 6; i++) {
    Put("a", "drop");
    Flush();
  }
  Compact();
  EXPECT_EQ(Get("a"), "NOT_FOUND");
  EXPECT_EQ(Get("a", "default", snapshot), "old");
  Put("b", "written");
  db()->ReleaseSnapshot(snapshot);
  Compact();
  EXPECT_EQ(Scan(), "b=written");
}

TEST_F(DbFilterTest, AFilterDropsAndChangesInCompactionsOnly) {
  RuleFilter filter;
  options_.compaction_filter = &filter;
  Open();
  Load();
  Flush();
  EXPECT_EQ(Scan(), "a=drop b=change c=keep k=skip l=keep m=keep");
  EXPECT_EQ(filter.asked.load(), 0);
  Compact();
  EXPECT_EQ(Scan(), "b=b changed c=keep m=keep");
  EXPECT_EQ(filter.asked.load(), 5) << "what is skipped is not asked about";
  ASSERT_TRUE(Close().ok());
}

TEST_F(DbFilterTest, AFactoryIsAskedOncePerCompactionAndSaysWhere) {
  const auto factory = std::make_shared<RuleFilterFactory>();
  options_.compaction_filter_factory = factory;
  Open({"default", "a"});
  Load();
  Flush();
  EXPECT_EQ(factory->made.load(), 0);
  Compact();
  EXPECT_EQ(factory->made.load(), 1);
  EXPECT_TRUE(factory->last.is_manual_compaction);
  EXPECT_TRUE(factory->last.is_full_compaction);
  EXPECT_EQ(factory->last.column_family_id, 0u);
  EXPECT_EQ(factory->last.reason, TableFileCreationReason::kCompaction);
  EXPECT_EQ(Scan(), "b=b changed c=keep m=keep");
  RuleFilter both;
  ASSERT_TRUE(Close().ok());
  options_.compaction_filter = &both;
  EXPECT_TRUE(TryOpen({"default", "a"}).IsInvalidArgument());
}

TEST_F(DbFilterTest, DeletedAndOverwrittenKeysAreNotAskedAbout) {
  RuleFilter filter;
  options_.compaction_filter = &filter;
  Open();
  Put("a", "old");
  Flush();
  Put("a", "drop");
  Put("b", "gone");
  Delete("b");
  Flush();
  Compact();
  EXPECT_EQ(Scan(), "");
  EXPECT_EQ(filter.asked.load(), 1);
  ASSERT_TRUE(Close().ok());
}

// Counts keys that begin with a letter.
class LetterCollector final : public TablePropertiesCollector {
 public:
  const char* Name() const override { return "LetterCollector"; }
  Status AddUserKey(const Slice& key, const Slice&, EntryType type, SequenceNumber,
                    uint64_t) override {
    if (type == kEntryPut && key.starts_with("a")) count_++;
    return Status::OK();
  }
  Status Finish(UserCollectedProperties* properties) override {
    (*properties)["letters.a"] = std::to_string(count_);
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override {
    return {{"letters.a", std::to_string(count_)}};
  }

 private:
  int count_ = 0;
};

class LetterCollectorFactory final : public TablePropertiesCollectorFactory {
 public:
  const char* Name() const override { return "LetterCollectorFactory"; }
  TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override {
    families.push_back(context.column_family_id);
    return new LetterCollector;
  }
  std::vector<uint32_t> families;
};

TEST_F(DbFilterTest, CollectorsSeeEveryNewTable) {
  const auto factory = std::make_shared<LetterCollectorFactory>();
  options_.table_properties_collector_factories.push_back(factory);
  Open();
  MakeTable({"a1", "a2", "b1"});
  MakeTable({"a3"});
  Compact();
  TablePropertiesCollection properties;
  ASSERT_TRUE(db()->GetPropertiesOfAllTables(&properties).ok());
  ASSERT_EQ(properties.size(), 1u);
  const auto& collected = properties.begin()->second->user_collected_properties;
  EXPECT_EQ(collected.at("letters.a"), "3");
  EXPECT_THAT(factory->families, ElementsAre(0, 0, 0));
  EXPECT_NE(properties.begin()->second->property_collectors_names.find("LetterCollectorFactory"),
            std::string::npos);
}

// Records one word for each event; throws if the test wants it.
class Recorder final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override {
    Note("flush-begin " + info.cf_name, db);
  }
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override {
    EXPECT_GT(info.largest_seqno, 0u);
    Note("flush-end " + info.cf_name, db);
  }
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override {
    EXPECT_FALSE(info.input_files.empty());
    {
      const std::lock_guard<std::mutex> lock(mu_);
      compaction_jobs_.insert(info.job_id);
    }
    Note("compaction-begin", db);
  }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override {
    {
      const std::lock_guard<std::mutex> lock(mu_);
      last_compaction_ = info;
    }
    Note(info.status.ok() ? "compaction-end" : "compaction-failed", db);
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    Note(info.status.ok() ? "created" : "created-bad");
  }
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    EXPECT_TRUE(info.status.ok()) << info.status.ToString();
    EXPECT_EQ(info.db_name, "/db");
    {
      const std::lock_guard<std::mutex> lock(mu_);
      EXPECT_TRUE(compaction_jobs_.contains(info.job_id)) << "the one whose input it was";
    }
    Note("deleted");
  }
  void OnMemTableSealed(const MemTableInfo& info) override {
    EXPECT_GT(info.num_entries, 0u);
    EXPECT_GT(info.first_seqno, 0u);
    Note("sealed " + info.cf_name);
  }
  void OnStallConditionsChanged(const WriteStallInfo& info) override {
    Note(info.condition.cur == WriteStallCondition::kNormal    ? "stall-normal"
         : info.condition.cur == WriteStallCondition::kDelayed ? "stall-delayed"
                                                               : "stall-stopped");
  }
  void OnBackgroundJobPressureChanged(DB* db, const BackgroundJobPressure& pressure) override {
    EXPECT_TRUE(expected_db.load() == nullptr || db == expected_db.load());
    EXPECT_EQ(pressure.compaction_low_running, pressure.compaction_running);
    others = pressure.flush_running + pressure.compaction_running;
    proximity = pressure.write_stall_proximity_pct;
    pressures++;
  }
  void OnBackgroundError(BackgroundErrorReason, Status* error) override {
    severity = error->severity();
    Note("error");
    if (forgive) *error = Status::OK();
  }
  void OnErrorRecoveryBegin(BackgroundErrorReason, Status error, bool* auto_recovery) override {
    EXPECT_EQ(error.severity(), severity);
    Note("recovery-begin");
    if (by_hand) *auto_recovery = false;
  }
  void OnErrorRecoveryCompleted(Status old_error) override {
    EXPECT_FALSE(old_error.ok());
    EXPECT_EQ(old_error.severity(), severity);
    Note("recovered");
  }
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& info) override {
    Note(info.new_bg_error.ok() ? "recovery-ok" : "recovery-failed");
  }

  std::vector<std::string> Take() {
    const std::lock_guard<std::mutex> lock(mu_);
    return std::exchange(events_, {});
  }
  bool Has(const std::string& event) {
    const std::lock_guard<std::mutex> lock(mu_);
    return std::find(events_.begin(), events_.end(), event) != events_.end();
  }

  CompactionJobInfo LastCompaction() {
    const std::lock_guard<std::mutex> lock(mu_);
    return last_compaction_;
  }

  std::atomic<DB*> expected_db{nullptr};
  std::atomic<Status::Severity> severity{Status::kNoError};  // the last error's
  std::atomic<int> proximity{-1};
  std::atomic<int> others{-1};  // that ran beside the job
  std::atomic<int> pressures{0};
  std::atomic<bool> throws{false};
  std::atomic<bool> forgive{false};
  std::atomic<bool> by_hand{false};

 private:
  void Note(const std::string& event, DB* db) {
    EXPECT_NE(db, nullptr) << event;
    EXPECT_TRUE(expected_db.load() == nullptr || db == expected_db.load()) << event;
    Note(event);
  }
  void Note(const std::string& event) {
    {
      const std::lock_guard<std::mutex> lock(mu_);
      events_.push_back(event);
    }
    if (throws) throw std::runtime_error("a listener that throws");
  }

  std::mutex mu_;
  std::vector<std::string> events_;
  CompactionJobInfo last_compaction_;
  std::set<int> compaction_jobs_;
};

// Notes the pressures that it is told, each at the end of its call, so that a call that is held up
// is one that comes late.
class PressureWatch final : public EventListener {
 public:
  void OnBackgroundJobPressureChanged(DB*, const BackgroundJobPressure& pressure) override {
    std::unique_lock<std::mutex> lock(mu_);
    if (std::exchange(hold_next_, false)) {
      holds_ = true;
      const size_t before = told_.size();
      changed_.wait_for(lock, std::chrono::seconds(10), [&] { return told_.size() > before; });
    }
    told_.push_back(pressure.write_stall_proximity_pct);
    changed_.notify_all();
  }

  // Lets the next call wait until another one has ended, for at most ten seconds.
  void HoldNext() {
    const std::lock_guard<std::mutex> lock(mu_);
    hold_next_ = true;
  }
  // Returns true once a call has been held up.
  bool holds() {
    const std::lock_guard<std::mutex> lock(mu_);
    return holds_;
  }
  std::vector<int> told() {
    const std::lock_guard<std::mutex> lock(mu_);
    return told_;
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  bool hold_next_ = false;
  bool holds_ = false;
  std::vector<int> told_;
};

class DbListenerTest : public Database {
 protected:
  DbListenerTest() {
    options_.disable_auto_compactions = true;
    options_.listeners.push_back(recorder_);
  }
  const std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
};

TEST_F(DbListenerTest, JobsAreToldInOrder) {
  Open({"default", "a"});
  recorder_->expected_db = db();
  recorder_->Take();
  MakeTable({"k"}, "a");
  EXPECT_TRUE(Eventually([&] { return recorder_->Has("flush-end a"); }));
  EXPECT_THAT(recorder_->Take(),
              ElementsAre("sealed a", "flush-begin a", "created", "flush-end a"));
  MakeTable({"k"}, "a");
  EXPECT_TRUE(Eventually([&] { return recorder_->Has("flush-end a"); }));
  recorder_->Take();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle("a"), nullptr, nullptr).ok());
  EXPECT_THAT(recorder_->Take(),
              ElementsAre("compaction-begin", "created", "compaction-end", "deleted", "deleted"));
  EXPECT_EQ(recorder_->LastCompaction().table_properties.size(), 3u) << "of inputs and outputs";
}

TEST_F(DbListenerTest, AMovedTableIsAnOutput) {
  options_.compression = kNoCompression;
  Open();
  MakeTable({"k", "l"});
  std::vector<LiveFileMetaData> files;
  db()->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1u);
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  const CompactionJobInfo info = recorder_->LastCompaction();
  ASSERT_EQ(info.stats.num_input_files_trivially_moved, 1u);
  EXPECT_TRUE(info.stats.is_manual_compaction);
  EXPECT_EQ(info.output_files, info.input_files);
  ASSERT_EQ(info.output_file_infos.size(), 1u);
  EXPECT_EQ(info.output_file_infos[0].level, info.output_level);
  EXPECT_EQ(info.output_file_infos[0].file_number, info.input_file_infos[0].file_number);
  EXPECT_EQ(info.stats.num_output_files, 1u);
  EXPECT_EQ(info.stats.total_input_bytes, files[0].size);
  EXPECT_EQ(info.stats.total_output_bytes, files[0].size);
  EXPECT_EQ(info.num_l0_files, 0);
  ASSERT_TRUE(info.table_properties.contains(info.output_files[0]));
  EXPECT_EQ(info.table_properties.at(info.output_files[0])->num_entries, 2u);
}

TEST_F(DbListenerTest, PressureIsToldAfterEachJob) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 4;
  options_.level0_slowdown_writes_trigger = 8;
  Open();
  MakeTable({"k"});
  EXPECT_TRUE(Eventually([&] { return recorder_->pressures == 1; }));
  EXPECT_EQ(recorder_->proximity, 12) << "one file of eight";
  EXPECT_EQ(recorder_->others, 0);
  for (int i = 0; i < 3; i++) MakeTable({"k"});
  EXPECT_TRUE(Eventually([&] { return recorder_->pressures >= 5; })) << "the compaction's, too";
  // One table has gone down.
  EXPECT_TRUE(Eventually([&] { return recorder_->proximity == 37; })) << Levels();
}

TEST_F(DbListenerTest, TheLastPressureThatIsToldIsTheNewest) {
  const auto watch = std::make_shared<PressureWatch>();
  options_.listeners.push_back(watch);
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 4;
  options_.level0_slowdown_writes_trigger = 8;
  options_.max_background_jobs = 16;  // This allows four flushes at once.
  Open({"default", "a"});
  MakeTable({"k"}, "a");
  ASSERT_TRUE(Eventually([&] { return watch->told().size() == 1; }));
  watch->HoldNext();
  MakeTable({"k"});
  ASSERT_TRUE(Eventually([&] { return watch->holds(); }));
  MakeTable({"k"}, "a");
  // The last flush tells of two files of eight, before the one in the middle tells of one.
  EXPECT_TRUE(Eventually([&] { return watch->told().size() >= 4; })) << "it is told once more";
  EXPECT_THAT(watch->told(), ElementsAre(12, 25, 12, 25));
}

TEST_F(DbListenerTest, AListenerThatThrowsHarmsNobody) {
  Open();
  recorder_->throws = true;
  MakeTable({"k"});
  MakeTable({"k"});
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Scan(), "k=of k");
}

// The compactions that an opening starts run at once: the listener must already know the DB.
TEST_F(DbListenerTest, TheDbIsKnownToTheFirstJob) {
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  for (int i = 0; i < 4; i++) MakeTable({"a", "z"});
  options_.disable_auto_compactions = false;
  ASSERT_TRUE(Close().ok());
  recorder_->Take();
  Open();
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_TRUE(Eventually([&] { return recorder_->Has("compaction-end"); }));
}

TEST_F(DbListenerTest, StallsAreToldWhenTheyBeginAndEnd) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 100;
  options_.level0_slowdown_writes_trigger = 100;
  options_.level0_stop_writes_trigger = 100;
  Open();
  MakeTable({"a"});
  MakeTable({"a"});
  recorder_->Take();
  ASSERT_TRUE(db()->SetOptions({{"level0_file_num_compaction_trigger", "100"}}).ok());
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  ASSERT_TRUE(db()->SetOptions({{"level0_file_num_compaction_trigger", "1"},
                                {"level0_slowdown_writes_trigger", "1"}})
                  .ok());
  EXPECT_THAT(recorder_->Take(), ElementsAre("stall-delayed"));
  ASSERT_TRUE(db()->SetOptions({{"level0_stop_writes_trigger", "2"}}).ok());
  EXPECT_THAT(recorder_->Take(), ElementsAre("stall-stopped"));
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([&] { return recorder_->Has("stall-normal"); }));
}

TEST_F(DbListenerTest, ErrorsAndRecoveriesAreTold) {
  Open();
  Put("k", "v");
  recorder_->Take();
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = ".sst";
  rule.effect = FaultEffect::kNoSpace;
  faults().Inject(rule);
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  EXPECT_TRUE(recorder_->Has("error"));
  EXPECT_TRUE(Eventually([&] { return recorder_->Has("recovery-ok"); }));
  const std::vector<std::string> events = recorder_->Take();
  EXPECT_THAT(events, Contains("recovery-begin"));
  EXPECT_THAT(events, Contains("recovered"));
  EXPECT_TRUE(db()->Put(WriteOptions(), "k", "v").ok());
}

// Names each kind of error as the code that reports it does.
TEST_F(DbListenerTest, ErrorsHaveTheirSeverity) {
  const auto fail = [&](const char* path, FaultCall call, FaultEffect effect) {
    FaultRule rule;
    rule.calls = Only(call);
    rule.path_contains = path;
    rule.effect = effect;
    rule.sticky = true;
    faults().Inject(rule);
  };
  recorder_->by_hand = true;
  Open();
  Put("k", "v");
  fail(".sst", FaultCall::kCreate, FaultEffect::kNoSpace);
  const Status flushed = db()->Flush(FlushOptions());
  EXPECT_TRUE(flushed.IsNoSpace());
  EXPECT_EQ(flushed.severity(), Status::kHardError);
  EXPECT_EQ(recorder_->severity, Status::kHardError);
  EXPECT_EQ(db()->Put(WriteOptions(), "k", "w").severity(), Status::kHardError);
  EXPECT_EQ(db()->Resume().severity(), Status::kHardError) << "it is as before";
  faults().ClearFaults();
  ASSERT_TRUE(db()->Resume().ok());
  EXPECT_EQ(db()->Put(WriteOptions(), "k", "w").severity(), Status::kNoError);

  fail(".log", FaultCall::kSync, FaultEffect::kIoError);
  WriteOptions sync;
  sync.sync = true;
  recorder_->severity = Status::kNoError;
  EXPECT_EQ(db()->Put(sync, "k", "x").severity(), Status::kHardError) << "the write that met it";
  EXPECT_EQ(recorder_->severity, Status::kHardError);
  faults().ClearFaults();
  ASSERT_TRUE(db()->Resume().ok());

  MakeTable({"a", "z"});
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  MakeTable({"a", "z"});
  MakeTable({"a", "z"});
  fail(".sst", FaultCall::kCreate, FaultEffect::kNoSpace);
  ASSERT_TRUE(db()->SetOptions({{"level0_file_num_compaction_trigger", "1"},
                                {"disable_auto_compactions", "false"}})
                  .ok());
  EXPECT_TRUE(Eventually([&] { return recorder_->severity == Status::kSoftError; }));
  EXPECT_TRUE(db()->Put(WriteOptions(), "k", "y").ok()) << "a soft one stops no writes";
}

TEST_F(DbListenerTest, AListenerMayForgiveOrTakeRecoveryOver) {
  Open();
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = ".sst";
  Put("k", "v");
  recorder_->by_hand = true;
  faults().Inject(rule);
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  EXPECT_FALSE(Eventually([&] { return recorder_->Has("recovery-ok"); }, /*seconds=*/1));
  EXPECT_FALSE(db()->Put(WriteOptions(), "k", "refused").ok());
  EXPECT_TRUE(db()->Resume().ok());
  EXPECT_TRUE(db()->Put(WriteOptions(), "k", "w").ok());

  recorder_->forgive = true;
  faults().ClearFaults();
  faults().Inject(rule);
  ASSERT_TRUE(db()->Flush(FlushOptions()).ok()) << "the second attempt of the same flush";
  EXPECT_TRUE(db()->Put(WriteOptions(), "k", "x").ok());
  EXPECT_EQ(Get("k"), "x");
}

// Records what listeners are told of tables, in order, and whether a table was in force already.
class TableStory final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo&) override { db_ = db; }
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    EXPECT_TRUE(info.status.ok());
    Note(info.file_path, LiveIn(info.file_path) ? "created late" : "created");
  }
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override {
    Note(info.file_path, "deleted");
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    full_compactions += info.stats.is_full_compaction ? 1 : 0;
  }
  std::map<std::string, std::string> Take() {
    const std::lock_guard<std::mutex> lock(mu_);
    return std::move(told_);
  }
  std::atomic<int> full_compactions{0};

 private:
  bool LiveIn(const std::string& path) {
    std::vector<LiveFileMetaData> files;
    db_.load()->GetLiveFilesMetaData(&files);
    return std::any_of(files.begin(), files.end(), [&](const LiveFileMetaData& file) {
      return path.ends_with(file.relative_filename);
    });
  }
  void Note(const std::string& path, const char* what) {
    const std::lock_guard<std::mutex> lock(mu_);
    std::string& text = told_[path];
    text += (text.empty() ? "" : ", ") + std::string(what);
  }
  std::atomic<DB*> db_{nullptr};
  std::mutex mu_;
  std::map<std::string, std::string> told_;
};

TEST_F(DbFilterTest, TablesAreAnnouncedBeforeAnybodyCanUseThem) {
  const auto story = std::make_shared<TableStory>();
  options_.listeners = {story};
  Open();
  MakeTable({"a", "z"});
  MakeTable({"a", "z"});
  Compact();
  EXPECT_EQ(story->full_compactions, 1);
  EXPECT_TRUE(Eventually([this] { return Files(kTableFile).size() == 1; }));
  FaultRule rule;
  rule.calls = Only(FaultCall::kSyncDir);  // before the MANIFEST is written
  faults().Inject(rule);
  Put("b", "1");
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  faults().ClearFaults();
  EXPECT_TRUE(Eventually([this] { return db()->Put(WriteOptions(), "c", "2").ok(); }));
  std::set<std::string> told;
  for (const auto& [path, text] : story->Take()) told.insert(text);
  EXPECT_THAT(told, ElementsAre("created", "created, deleted"));
}

}  // namespace
}  // namespace varve::testing
