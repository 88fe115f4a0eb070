// SPDX-License-Identifier: Apache-2.0

// Goal: a database with user timestamps answers, as of every timestamp and for every snapshot, as a
// list of all versions would. Method: seeded random writes with timestamps in any order, alone and
// in batches with a family that has none, under random options; reads of all kinds compared;
// flushes, compactions, restarts and a rising full_history_ts_low in between. VARVE_MODEL_SEEDS=N
// runs N seeds instead of the few of a normal run, VARVE_MODEL_SEED=S one of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/write_batch.h"

#include "tests/harness/random.h"
#include "tests/model/option_sets.h"
#include "tests/model/seeds.h"
#include "tests/model/timestamp_reference.h"

namespace varve::testing {

namespace {

constexpr int kTimestampOperations = 1500;
constexpr uint64_t kTimestampKeys = 60;
const char* const kTimedName = "/timed";

std::string Stamp(uint64_t timestamp) {
  std::string bytes;
  EncodeU64Ts(timestamp, &bytes);
  return bytes;
}

uint64_t StampOf(const Slice& bytes) {
  uint64_t timestamp = 0;
  EXPECT_TRUE(DecodeU64Ts(bytes, &timestamp).ok()) << bytes.size() << " bytes";
  return timestamp;
}

class TimestampRun {
 public:
  explicit TimestampRun(uint64_t seed)
      : random_(seed),
        env_(RandomEnv(&random_)),
        reversed_(random_.OneIn(4)),
        bare_(random_.OneIn(4)),
        ascending_(random_.OneIn(bare_ ? 2 : 8)),
        reference_(reversed_ ? ReverseBytewiseComparator() : BytewiseComparator()) {
    RedrawOptions();
  }
  ~TimestampRun() { CloseDb(); }

  void Run() {
    OpenDb();
    for (int i = 0; i < kTimestampOperations && !::testing::Test::HasFatalFailure(); i++) {
      SCOPED_TRACE("operation " + std::to_string(i) + ", mark " + std::to_string(low_) +
                   (bare_ ? ", without timestamps in tables" : "") +
                   ", options:" + set_.description);
      Step();
    }
    if (::testing::Test::HasFatalFailure()) return;
    CheckScan();
    CheckHistory();
  }

 private:
  struct Moment {
    const Snapshot* snapshot = nullptr;  // null: now
    uint64_t order = 0;
  };

  void RedrawOptions() {
    // Tables without timestamps exclude some of the modes.
    do {
      set_ = RandomOptionSet(&random_, env_.get());
    } while (bare_ && (set_.db.atomic_flush || set_.db.allow_concurrent_memtable_write));
    set_.family.comparator =
        reversed_ ? ReverseBytewiseComparatorWithU64Ts() : BytewiseComparatorWithU64Ts();
    set_.family.merge_operator = std::make_shared<AppendOrReplace>();
    set_.db.create_if_missing = true;
    set_.db.create_missing_column_families = true;
    set_.family.persist_user_defined_timestamps = !bare_;
    if (bare_) set_.family.enable_blob_files = false;  // Values apart need timestamps in tables.
  }

  // Opens the database. Unless `trim_ts` is empty, everything newer than it counts as never
  // written.
  void OpenDb(const std::string& trim_ts = "") {
    ColumnFamilyOptions plain = set_.family;
    plain.comparator = BytewiseComparator();
    plain.persist_user_defined_timestamps = true;
    const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, plain},
                                                          {"timed", set_.family}};
    std::vector<ColumnFamilyHandle*> handles;
    DB* db = nullptr;
    set_.db.db_paths = {{kTimedName, set_.fast_bytes}, {std::string(kTimedName) + "/slow", 0}};
    const Status s = trim_ts.empty() ? DB::Open(set_.db, kTimedName, families, &handles, &db)
                                     : DB::OpenAndTrimHistory(set_.db, kTimedName, families,
                                                              &handles, &db, trim_ts);
    db_.reset(db);
    ASSERT_TRUE(s.ok()) << s.ToString() << " with" << set_.description;
    plain_ = handles[0];
    timed_ = handles[1];
  }

  void CloseDb() {
    if (db_ == nullptr) return;
    for (const Moment& moment : snapshots_) db_->ReleaseSnapshot(moment.snapshot);
    snapshots_.clear();
    for (ColumnFamilyHandle* handle : {plain_, timed_}) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
    }
    db_.reset();
  }

  std::string RandomKey() {
    const uint64_t k = random_.Below(kTimestampKeys);
    std::string key = "k" + std::to_string(k % 7) + std::to_string(k);
    // Some keys continue with bytes that look like another key's timestamp.
    if (k % 11 == 0) key = "k1" + Stamp(k).substr(0, k % 9);
    if (k == 1) key.clear();
    return key;
  }

  Change RandomChange() {
    Change change;
    change.key = RandomKey();
    const uint64_t dice = random_.Below(100);
    if (dice < 55) {
      change.kind = Change::kPut;
      change.value = random_.Text(random_.Below(random_.OneIn(30) ? 3000 : 40));
    } else if (dice < 72) {
      change.kind = Change::kMerge;
      change.value = (random_.OneIn(3) ? "=" : "") + random_.Text(random_.Below(9));
    } else if (dice < 92) {
      change.kind = Change::kDelete;
    } else {
      change.kind = Change::kDeleteRange;
      change.value = RandomKey();
      const auto& order = reversed_ ? *ReverseBytewiseComparator() : *BytewiseComparator();
      if (order.Compare(change.key, change.value) > 0) std::swap(change.key, change.value);
    }
    return change;
  }

  void Add(WriteBatch* batch, const Change& change, const Slice& ts) {
    Status s;
    switch (change.kind) {
      case Change::kPut:
        s = batch->Put(timed_, change.key, ts, change.value);
        break;
      case Change::kMerge:
        s = batch->Merge(timed_, change.key, ts, change.value);
        break;
      case Change::kDeleteRange:
        s = batch->DeleteRange(timed_, change.key, change.value, ts);
        break;
      default:
        s = batch->Delete(timed_, change.key, ts);
        break;
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  // The timestamp is set later.
  void AddWithout(WriteBatch* batch, const Change& change) {
    Status s;
    switch (change.kind) {
      case Change::kPut:
        s = batch->Put(timed_, change.key, change.value);
        break;
      case Change::kMerge:
        s = batch->Merge(timed_, change.key, change.value);
        break;
      case Change::kDeleteRange:
        s = batch->DeleteRange(timed_, change.key, change.value);
        break;
      default:
        s = batch->Delete(timed_, change.key);
        break;
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  // Writes without a batch.
  Status WriteOne(const WriteOptions& options, const Change& change, const Slice& ts) {
    switch (change.kind) {
      case Change::kPut:
        return db_->Put(options, timed_, change.key, ts, change.value);
      case Change::kMerge:
        return db_->Merge(options, timed_, change.key, ts, change.value);
      case Change::kDeleteRange:
        return db_->DeleteRange(options, timed_, change.key, change.value, ts);
      default:
        return db_->Delete(options, timed_, change.key, ts);
    }
  }

  WriteOptions RandomWriteOptions() {
    return set_.mode != nullptr ? set_.mode->DrawWriteOptions(&random_) : WriteOptions();
  }

  uint64_t DrawTimestamp() {
    if (!random_.OneIn(3)) now_ += random_.Below(3);
    if (ascending_ || random_.OneIn(2)) return now_;
    const uint64_t back = random_.Below(random_.OneIn(4) ? 200 : 12);
    const uint64_t timestamp = now_ - std::min(now_, back);
    return random_.OneIn(20) ? timestamp : std::max(timestamp, low_);
  }

  void Write() {
    const uint64_t time = DrawTimestamp();
    const std::string ts = Stamp(time);
    if (random_.OneIn(4)) {
      const Change change = RandomChange();
      const Status s = WriteOne(RandomWriteOptions(), change, ts);
      ASSERT_TRUE(s.ok()) << s.ToString();
      reference_.Apply(change, time);
      return;
    }
    WriteBatch batch;
    std::vector<Change> changes;
    const bool later = random_.OneIn(3);
    const uint64_t n = random_.OneIn(3) ? 1 + random_.Below(12) : 1;
    for (uint64_t i = 0; i < n; i++) {
      changes.push_back(RandomChange());
      if (later && !random_.OneIn(4)) {
        AddWithout(&batch, changes.back());
      } else {
        Add(&batch, changes.back(), ts);
      }
      if (random_.OneIn(5)) {
        plain_value_ = std::to_string(now_);
        ASSERT_TRUE(batch.Put(plain_, "plain", plain_value_).ok());
      }
    }
    if (later) {
      const auto size_of = [this](uint32_t id) { return id == timed_->GetID() ? size_t{8} : 0; };
      ASSERT_TRUE(batch.UpdateTimestamps(ts, size_of).ok());
    }
    const Status s = db_->Write(RandomWriteOptions(), &batch);
    ASSERT_TRUE(s.ok()) << s.ToString();
    for (const Change& change : changes) reference_.Apply(change, time);
  }

  Moment RandomMoment() {
    if (snapshots_.empty() || random_.OneIn(2)) return {nullptr, reference_.order()};
    return snapshots_[random_.Below(snapshots_.size())];
  }
  uint64_t RandomTime() {
    // Flushes raise it where tables have no timestamps.
    std::string mark;
    EXPECT_TRUE(db_->GetFullHistoryTsLow(timed_, &mark).ok());
    if (!mark.empty()) low_ = StampOf(mark);
    const uint64_t end = std::max(now_, low_);
    return low_ + random_.Below(end - low_ + 3);
  }

  // A read at some timestamp, of the state at some moment.
  struct TimestampRead {
    explicit TimestampRead(TimestampRun* run)
        : moment(run->RandomMoment()), time(run->RandomTime()), stamp(Stamp(time)), as_of(stamp) {
      options.snapshot = moment.snapshot;
      options.timestamp = &as_of;
    }
    TimestampRead(const TimestampRead&) = delete;
    TimestampRead& operator=(const TimestampRead&) = delete;

    const Moment moment;
    const uint64_t time;
    const std::string stamp;
    const Slice as_of;
    ReadOptions options;
  };

  void ExpectTime(uint64_t expected, const Slice& bytes) const {
    const uint64_t timestamp = StampOf(bytes);
    // A timestamp below the mark may have become 0.
    if (expected < low_ && timestamp == 0) return;
    ASSERT_EQ(timestamp, expected);
  }

  [[nodiscard]] bool IsUnsettled(const std::string& key, const TimestampRead& read) const {
    return reference_.IsUnsettled(key, read.time, read.moment.order, low_);
  }

  void CheckGet() {
    TimestampRead read(this);
    const std::string key = RandomKey();
    const auto expected = reference_.Get(key, read.time, read.moment.order);
    std::string value;
    std::string timestamp;
    const Status s = db_->Get(read.options, timed_, key, &value, &timestamp);
    if (IsUnsettled(key, read)) {
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString() << " as of " << read.time;
      ASSERT_TRUE(!s.ok() || reference_.MayBe(key, value)) << value << " as of " << read.time;
      return;
    }
    if (!expected.has_value()) {
      ASSERT_TRUE(s.IsNotFound()) << s.ToString() << " as of " << read.time;
      return;
    }
    ASSERT_TRUE(s.ok()) << s.ToString() << " as of " << read.time;
    ASSERT_EQ(value, expected->value) << "as of " << read.time;
    ExpectTime(expected->timestamp, timestamp);
  }

  // Any grouping of operands must give the same result.
  void CheckOperands() {
    TimestampRead read(this);
    const std::string key = RandomKey();
    if (IsUnsettled(key, read)) return;
    const auto expected = reference_.Get(key, read.time, read.moment.order);
    std::vector<PinnableSlice> slices(kTimestampOperations);
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = kTimestampOperations;
    int n = 0;
    const Status s = db_->GetMergeOperands(read.options, timed_, key, slices.data(), &options, &n);
    ASSERT_EQ(s.ok(), expected.has_value()) << s.ToString() << " as of " << read.time;
    if (!expected.has_value()) return;
    std::string value;
    for (int i = 0; i < n; i++) {
      value = AppendOrReplace::Apply(value, slices[static_cast<size_t>(i)]);
    }
    ASSERT_EQ(value, expected->value) << "as of " << read.time;
    std::string seen;
    bool has_value = false;
    ASSERT_TRUE(db_->KeyMayExist(read.options, timed_, key, &seen, nullptr, &has_value));
    ASSERT_TRUE(!has_value || seen == expected->value) << seen;
  }

  void CheckMultiGet() {
    TimestampRead read(this);
    std::vector<std::string> keys(1 + random_.Below(40));
    for (std::string& key : keys) key = RandomKey();
    const std::vector<Slice> slices(keys.begin(), keys.end());
    const std::vector<ColumnFamilyHandle*> families(keys.size(), timed_);
    std::vector<std::string> values;
    std::vector<std::string> timestamps;
    const std::vector<Status> statuses =
        db_->MultiGet(read.options, families, slices, &values, &timestamps);
    for (size_t i = 0; i < keys.size(); i++) {
      if (IsUnsettled(keys[i], read)) continue;
      const auto expected = reference_.Get(keys[i], read.time, read.moment.order);
      ASSERT_EQ(statuses[i].ok(), expected.has_value()) << statuses[i].ToString();
      if (!expected.has_value()) continue;
      ASSERT_EQ(values[i], expected->value);
      ExpectTime(expected->timestamp, timestamps[i]);
    }
  }

  template <typename Check>
  void WalkBothWays(Iterator* it, size_t n, const Check& check) {
    size_t at = 0;
    for (it->SeekToFirst(); it->Valid() && at < n; it->Next()) check(at++);
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_FALSE(it->Valid()) << it->key().ToString(true);
    ASSERT_EQ(at, n);
    for (it->SeekToLast(); it->Valid() && at > 0; it->Prev()) check(--at);
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_FALSE(it->Valid());
    ASSERT_EQ(at, 0u);
    if (n == 0) return;
    // Starts in the middle and turns at random.
    it->SeekToFirst();
    for (int turns = 0; turns < 60 && it->Valid(); turns++) {
      check(at);
      if (random_.OneIn(2) && at + 1 < n) {
        it->Next();
        at++;
      } else if (at > 0) {
        it->Prev();
        at--;
      }
    }
    ASSERT_TRUE(it->Valid()) << it->status().ToString();
  }

  void CheckScan() {
    TimestampRead read(this);
    read.options.total_order_seek = true;
    auto expected = reference_.Scan(read.time, read.moment.order);
    const std::unique_ptr<Iterator> it(db_->NewIterator(read.options, timed_));
    if (reference_.AnyUnsettled(read.time, read.moment.order, low_)) {
      return CheckSettledPart(read, it.get(), &expected);
    }
    WalkBothWays(it.get(), expected.size(), [&](size_t i) {
      ASSERT_EQ(it->key().ToString(), expected[i].first) << "as of " << read.time;
      ASSERT_EQ(it->value().ToString(), expected[i].second.value) << "as of " << read.time;
      ExpectTime(expected[i].second.timestamp, it->timestamp());
    });
    if (::testing::Test::HasFatalFailure()) return;
    CheckSeeks(it.get(), expected);
  }

  using Entries = std::vector<std::pair<std::string, TimestampReference::Answer>>;

  // Walks both ways, without the keys whose answer is unsettled.
  void CheckSettledPart(const TimestampRead& read, Iterator* it, Entries* expected) {
    std::erase_if(*expected, [&](const auto& one) { return IsUnsettled(one.first, read); });
    for (const bool forward : {true, false}) {
      size_t at = 0;
      for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid();
           forward ? it->Next() : it->Prev()) {
        if (IsUnsettled(it->key().ToString(), read)) {
          ASSERT_TRUE(reference_.MayBe(it->key().ToString(), it->value().ToString()));
          continue;
        }
        ASSERT_LT(at, expected->size()) << it->key().ToString(true) << " as of " << read.time;
        const auto& one = (*expected)[forward ? at : expected->size() - 1 - at];
        at++;
        ASSERT_EQ(it->key().ToString(), one.first) << "as of " << read.time;
        ASSERT_EQ(it->value().ToString(), one.second.value) << "as of " << read.time;
        ExpectTime(one.second.timestamp, it->timestamp());
      }
      ASSERT_TRUE(it->status().ok()) << it->status().ToString();
      ASSERT_EQ(at, expected->size());
    }
  }

  void CheckSeeks(Iterator* it, const Entries& expected) {
    const ComparatorLess less{reversed_ ? ReverseBytewiseComparator() : BytewiseComparator()};
    for (int i = 0; i < 8; i++) {
      const std::string target = RandomKey();
      const auto at = std::partition_point(expected.begin(), expected.end(), [&](const auto& one) {
        return less(one.first, target);
      });
      it->Seek(target);
      ASSERT_EQ(it->Valid(), at != expected.end());
      if (it->Valid()) {
        ASSERT_EQ(it->key().ToString(), at->first);
      }
      it->SeekForPrev(target);
      const bool exact = at != expected.end() && at->first == target;
      const bool any = exact || at != expected.begin();
      ASSERT_EQ(it->Valid(), any);
      if (any) {
        ASSERT_EQ(it->key().ToString(), exact ? target : std::prev(at)->first);
      }
    }
  }

  void CheckHistory() {
    if (bare_) return;
    const Moment moment = RandomMoment();
    const uint64_t to = RandomTime();
    const uint64_t from = low_ + random_.Below(to - low_ + 1);
    const std::string stamp = Stamp(to);
    const std::string start = Stamp(from);
    const Slice as_of(stamp);
    const Slice since(start);
    ReadOptions options;
    options.snapshot = moment.snapshot;
    options.timestamp = &as_of;
    options.iter_start_ts = &since;
    const auto expected = reference_.History(from, to, moment.order);
    const std::unique_ptr<Iterator> it(db_->NewIterator(options, timed_));
    const bool merges = std::any_of(expected.begin(), expected.end(), [](const auto& one) {
      return one.second.kind == Change::kMerge;
    });
    if (merges) {
      // A flush may have merged them into a value of the same time.
      for (it->SeekToFirst(); it->Valid();) it->Next();
      ASSERT_TRUE(it->status().ok() || it->status().IsNotSupported()) << it->status().ToString();
      return;
    }
    WalkBothWays(it.get(), expected.size(), [&](size_t i) {
      const auto& [key, version] = expected[i];
      const Slice shown = it->key();
      ASSERT_EQ(shown.size(), key.size() + 16);
      ASSERT_EQ(Slice(shown.data(), key.size()), Slice(key));
      ASSERT_EQ(StampOf(it->timestamp()), version.timestamp);
      ASSERT_EQ(it->value().ToString(), version.kind == Change::kPut ? version.value : "");
    });
  }

  void CheckPlain() {
    if (plain_value_.empty()) return;
    std::string value;
    const Status s = db_->Get(ReadOptions(), plain_, "plain", &value);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(value, plain_value_);
  }

  void Snapshots() {
    if (snapshots_.size() < 4 && random_.OneIn(2)) {
      snapshots_.push_back({db_->GetSnapshot(), reference_.order()});
    } else if (!snapshots_.empty()) {
      db_->ReleaseSnapshot(snapshots_.front().snapshot);
      snapshots_.erase(snapshots_.begin());
    }
  }

  void Compact() {
    CompactRangeOptions options;
    if (random_.OneIn(2)) {
      options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    }
    const std::string a = RandomKey();
    const Slice begin(a);
    const Status s =
        db_->CompactRange(options, timed_, random_.OneIn(3) ? &begin : nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  void RaiseMark() {
    const uint64_t low = RandomTime();
    const std::string raised = Stamp(low);
    const Slice low_stamp(raised);
    CompactRangeOptions compact;
    compact.full_history_ts_low = &low_stamp;
    const Status s = random_.OneIn(2) ? db_->IncreaseFullHistoryTsLow(timed_, raised)
                                      : db_->CompactRange(compact, timed_, nullptr, nullptr);
    // A flush may have raised the mark further meanwhile.
    if (bare_ && !s.ok()) return;
    ASSERT_TRUE(s.ok()) << s.ToString();
    low_ = low;
    std::string mark;
    ASSERT_TRUE(db_->GetFullHistoryTsLow(timed_, &mark).ok());
    if (bare_) return;
    ASSERT_FALSE(mark.empty());
    ASSERT_EQ(StampOf(mark), low_);
    if (low_ == 0) return;
    const std::string stamp = Stamp(low_ - 1);
    const Slice as_of(stamp);
    ReadOptions options;
    options.timestamp = &as_of;
    std::string value;
    ASSERT_TRUE(db_->Get(options, timed_, "k", &value).IsInvalidArgument());
  }

  void Reopen() {
    CloseDb();
    if (random_.OneIn(2)) RedrawOptions();
    const bool keeps_tables = set_.family.compaction_style == kCompactionStyleFIFO;
    if (bare_ || keeps_tables || set_.db.avoid_flush_during_recovery || !random_.OneIn(3)) {
      return OpenDb();
    }
    const uint64_t trim = low_ + random_.Below(now_ - std::min(now_, low_) + 1);
    OpenDb(Stamp(trim));
    reference_.Trim(trim);
  }

  void Step() {
    const uint64_t dice = random_.Below(1000);
    if (dice < 560) {
      Write();
    } else if (dice < 800) {
      CheckGet();
    } else if (dice < 825) {
      CheckOperands();
    } else if (dice < 850) {
      CheckMultiGet();
    } else if (dice < 890) {
      CheckScan();
    } else if (dice < 920) {
      CheckHistory();
    } else if (dice < 930) {
      CheckPlain();
    } else if (dice < 960) {
      Snapshots();
    } else if (dice < 978) {
      ASSERT_TRUE(db_->Flush(FlushOptions(), timed_).ok());
    } else if (dice < 988) {
      Compact();
    } else if (dice < 993) {
      RaiseMark();
    } else {
      Reopen();
    }
  }

  Random random_;
  std::unique_ptr<Env> env_;
  const bool reversed_;
  const bool bare_;       // tables are written without timestamps
  const bool ascending_;  // timestamps never descend
  OptionSet set_;
  std::unique_ptr<DB> db_;
  ColumnFamilyHandle* plain_ = nullptr;
  ColumnFamilyHandle* timed_ = nullptr;
  TimestampReference reference_;
  std::vector<Moment> snapshots_;
  std::string plain_value_;
  uint64_t now_ = 1;
  uint64_t low_ = 0;
};

}  // namespace

TEST(TimestampModelTest, AnswersAsOfEveryTime) {
  for (uint64_t seed : SeedsOfModel()) {
    SCOPED_TRACE("VARVE_MODEL_SEED=" + std::to_string(seed));
    TimestampRun run(seed);
    run.Run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace varve::testing
