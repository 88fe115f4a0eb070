// SPDX-License-Identifier: Apache-2.0

// Goal: whatever is done to a database through its API, under whatever options, it answers as
// ordered maps would. Method: seeded random operations on a database in memory and on a reference;
// every answer compared. VARVE_MODEL_SEEDS=N runs N seeds instead of the few of a normal run,
// VARVE_MODEL_SEED=S one of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/slice_transform.h"
#include "varve/write_batch.h"

#include "tests/harness/random.h"
#include "tests/model/data_moves.h"
#include "tests/model/ingest_behind.h"
#include "tests/model/moved_database.h"
#include "tests/model/option_sets.h"
#include "tests/model/reference.h"
#include "tests/model/seeds.h"
#include "tests/model/stream_check.h"

namespace varve::testing {

namespace {

constexpr int kKeys = 400;
constexpr int kOperations = 3400;
const char* const kName = "/model";

struct HeldSnapshot {
  const Snapshot* snapshot;
  ReferenceState state;
};

class ModelRun {
 public:
  explicit ModelRun(uint64_t seed) : random_(seed), env_(RandomEnv(&random_)) {
    if (random_.OneIn(3)) behind_.emplace(&random_, env_.get(), AllKeys());
    DrawOptions();
    merges_ = !random_.OneIn(4);
    merges_in_place_ = random_.OneIn(2);
    TakeMergeOperator();
    first_ = set_;
    AddFamily(kDefaultColumnFamilyName);
    AddFamily("second");
    moves_ = std::make_unique<DataMoves>(
        &random_, env_.get(), [this] { return RandomKey(); }, [this] { return RandomValue(); },
        merges_ ? DataMoves::Draw([this] { return RandomOperand(); }) : nullptr);
  }

  ~ModelRun() { CloseDb(); }

  void Run() {
    OpenDb();
    for (int i = 0; i < kOperations && !::testing::Test::HasFatalFailure(); i++) {
      SCOPED_TRACE("operation " + std::to_string(i) + ", options:" + set_.description);
      Step();
    }
    if (::testing::Test::HasFatalFailure()) return;
    CheckAll();
    Reopen();
    CheckAll();
    stream_.Read(db_.get(), /*all=*/true);
  }

 private:
  void AddFamily(const std::string& name) {
    state_.families.emplace(name, FamilyState(ComparatorLess{first_.family.comparator}));
    puts_since_delete_[name];
    if (behind_.has_value()) behind_->AddFamily(name);
  }

  void DrawOptions() {
    set_ = RandomOptionSet(&random_, env_.get());
    MayUsePlainTables(&random_, &set_);
    if (!behind_.has_value()) return;
    set_.description += " behind";
    set_.family.cf_allow_ingest_behind = true;
    set_.family.num_levels = 5;
    if (set_.family.compaction_style == kCompactionStyleFIFO) {
      set_.family.compaction_style = kCompactionStyleLevel;
    }
  }

  // Options may change from one opening to the next, but not the order of keys.
  void RedrawOptions() {
    DrawOptions();
    set_.family.comparator = first_.family.comparator;
    TakeMergeOperator();
  }

  void TakeMergeOperator() {
    if (!merges_) return;
    if (merges_in_place_) {
      set_.family.merge_operator = std::make_shared<AppendOrReplaceInPlace>();
    } else {
      set_.family.merge_operator = std::make_shared<AppendOrReplace>();
    }
  }

  void OpenDb() {
    std::vector<ColumnFamilyDescriptor> families;
    for (const auto& [name, state] : state_.families) families.emplace_back(name, set_.family);
    std::vector<ColumnFamilyHandle*> handles;
    DB* db = nullptr;
    set_.db.db_paths = {{kName, set_.fast_bytes}, {std::string(kName) + "/slow", 0}};
    Status s = DB::Open(set_.db, kName, families, &handles, &db);
    ASSERT_TRUE(s.ok()) << s.ToString() << " with" << set_.description;
    db_.reset(db);
    for (size_t i = 0; i < families.size(); i++) handles_[families[i].name] = handles[i];
    stream_.Open(db_.get());
  }

  void CloseDb() {
    if (db_ == nullptr) return;
    for (HeldSnapshot& held : snapshots_) db_->ReleaseSnapshot(held.snapshot);
    snapshots_.clear();
    stream_.Close();
    for (auto& [name, handle] : handles_) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
    }
    handles_.clear();
    if (random_.OneIn(2)) {
      EXPECT_TRUE(db_->Close().ok());
    }
    db_.reset();
  }

  void Reopen() {
    CloseDb();
    if (random_.OneIn(2)) RedrawOptions();
    OpenDb();
  }

  std::string RandomKey() { return KeyOf(random_.Below(kKeys)); }

  // Short keys, long shared prefixes and binary bytes all occur.
  static std::string KeyOf(uint64_t k) {
    std::string key = "k" + std::to_string(k % 7) + std::to_string(k);
    if (k % 13 == 0) key = std::string(1, static_cast<char>(k % 251)) + std::string("\0\xff", 2);
    if (k % 17 == 0) key = "k3long-shared-prefix-" + std::to_string(k);
    if (k == 1) key.clear();
    return key;
  }

  static std::vector<std::string> AllKeys() {
    std::set<std::string> keys;
    for (uint64_t k = 0; k < kKeys; k++) keys.insert(KeyOf(k));
    return {keys.begin(), keys.end()};
  }

  std::string RandomValue() {
    const size_t n = random_.OneIn(40) ? random_.Below(5000) : random_.Below(60);
    return random_.Text(n);
  }

  std::string RandomOperand() {
    if (random_.OneIn(3)) return AppendOrReplace::kReplaces + RandomValue();
    return random_.Text(random_.Below(random_.OneIn(10) ? 1000 : 12));
  }

  const std::string& RandomFamily() {
    auto it = handles_.begin();
    std::advance(it, static_cast<long>(random_.Below(handles_.size())));
    return it->first;
  }

  Change RandomChange() {
    Change change;
    change.family = RandomFamily();
    change.key = RandomKey();
    auto& puts = puts_since_delete_[change.family];
    const uint64_t dice = random_.Below(100);
    if (dice < (merges_ ? 40 : 70)) {
      change.kind = Change::kPut;
      change.value = RandomValue();
      puts[change.key]++;
    } else if (merges_ && dice < 80) {
      change.kind = Change::kMerge;
      change.value = RandomOperand();
      puts[change.key] = kNeverSingle;
    } else if (dice < 90 || !set_.takes_ranges) {
      // A single deletion is legal only for a key that was put once since it was last deleted.
      const bool single = puts[change.key] == 1 && random_.OneIn(2);
      change.kind = single ? Change::kSingleDelete : Change::kDelete;
      puts[change.key] = single ? 0 : kNeverSingle;
    } else {
      change.kind = Change::kDeleteRange;
      change.value = RandomKey();
      const Comparator* comparator = first_.family.comparator;
      if (comparator->Compare(change.key, change.value) > 0) std::swap(change.key, change.value);
      // Keys of a deleted range have two kinds of history: single deletions stay away from them.
      for (auto& [key, count] : puts) {
        if (comparator->Compare(key, change.key) >= 0 &&
            comparator->Compare(key, change.value) < 0) {
          count = kNeverSingle;
        }
      }
    }
    return change;
  }

  void AddToBatch(const Change& change, WriteBatch* batch) {
    ColumnFamilyHandle* handle = handles_.at(change.family);
    Status s;
    switch (change.kind) {
      case Change::kPut:
        s = random_.OneIn(5)
                ? batch->PutEntity(handle, change.key, {{"key", change.key}, {"", change.value}})
                : batch->Put(handle, change.key, change.value);
        break;
      case Change::kDelete:
        s = batch->Delete(handle, change.key);
        break;
      case Change::kSingleDelete:
        s = batch->SingleDelete(handle, change.key);
        break;
      case Change::kMerge:
        s = batch->Merge(handle, change.key, change.value);
        break;
      case Change::kDeleteRange:
        s = batch->DeleteRange(handle, change.key, change.value);
        break;
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  void Write() {
    WriteOptions options = set_.mode->DrawWriteOptions(&random_);
    options.sync |= !options.disableWAL && random_.OneIn(20);
    WriteBatch batch;
    std::vector<Change> changes;
    const uint64_t n = random_.OneIn(4) ? 1 + random_.Below(20) : 1;
    for (uint64_t i = 0; i < n; i++) {
      changes.push_back(RandomChange());
      AddToBatch(changes.back(), &batch);
      if (random_.OneIn(30)) {
        ASSERT_TRUE(batch.PutLogData("note").ok());
      }
      if (random_.OneIn(15)) {
        // Updates after a save point that are rolled back have no effect.
        batch.SetSavePoint();
        ASSERT_TRUE(batch.Put(handles_.begin()->second, "rolled-back", "x").ok());
        ASSERT_TRUE(batch.RollbackToSavePoint().ok());
      }
    }
    Status s = db_->Write(options, &batch);
    while (s.IsIncomplete() && options.no_slowdown) s = db_->Write(options, &batch);
    ASSERT_TRUE(s.ok()) << s.ToString();
    stream_.Note(db_.get(), batch, !options.disableWAL);
    Apply(changes);
  }

  void Apply(const std::vector<Change>& changes) {
    state_.Apply(changes);
    if (!behind_.has_value()) return;
    for (const Change& change : changes) behind_->Note(change, first_.family.comparator);
  }

  // Merges so many operands into one key that readers of all of them leave lists behind.
  void WriteManyOperands() {
    many_family_ = RandomFamily();
    many_key_ = RandomKey();
    WriteBatch batch;
    std::vector<Change> changes(300 + random_.Below(600));
    for (Change& change : changes) {
      change.kind = Change::kMerge;
      change.family = many_family_;
      change.key = many_key_;
      change.value = random_.OneIn(200) ? RandomOperand() : random_.Text(random_.Below(4));
      AddToBatch(change, &batch);
    }
    puts_since_delete_[many_family_][many_key_] = kNeverSingle;
    const WriteOptions options = set_.mode->DrawWriteOptions(&random_);
    const Status s = db_->Write(options, &batch);
    if (s.IsIncomplete()) return;  // no_slowdown
    ASSERT_TRUE(s.ok()) << s.ToString();
    stream_.Note(db_.get(), batch, !options.disableWAL);
    Apply(changes);
  }

  // Returns the state of a snapshot held by the run, or of the present.
  const ReferenceState& PickMoment(ReadOptions* options) {
    if (snapshots_.empty() || random_.OneIn(2)) return state_;
    HeldSnapshot& held = snapshots_[random_.Below(snapshots_.size())];
    options->snapshot = held.snapshot;
    return held.state;
  }

  static bool Has(const ReferenceState& state, const std::string& family) {
    return state.families.count(family) > 0;
  }

  void CheckGet() {
    ReadOptions options;
    const ReferenceState& state = PickMoment(&options);
    const std::string family = RandomFamily();
    if (!Has(state, family)) return;
    const std::string key = RandomKey();
    const std::optional<std::string> expected = state.Get(family, key);
    PinnableSlice value;
    Status s = db_->Get(options, handles_.at(family), key, &value);
    if (expected.has_value()) {
      ASSERT_TRUE(s.ok()) << s.ToString() << " key " << Slice(key).ToString(true);
      ASSERT_EQ(*expected, value.ToString()) << "key " << Slice(key).ToString(true);
      ASSERT_TRUE(db_->KeyMayExist(options, handles_.at(family), key, nullptr));
    } else {
      ASSERT_TRUE(s.IsNotFound()) << s.ToString() << " key " << Slice(key).ToString(true);
    }
    PinnableWideColumns entity;
    const Status of_entity = db_->GetEntity(options, handles_.at(family), key, &entity);
    ASSERT_EQ(s.code(), of_entity.code()) << of_entity.ToString();
    if (s.ok()) CheckColumns(key, *expected, entity.columns());
  }

  // An entity has its key in a second column, whatever was merged into the default one.
  static void CheckColumns(const std::string& key, const std::string& value,
                           const WideColumns& columns) {
    ASSERT_TRUE(columns.size() == 1 || columns.size() == 2) << columns.size();
    ASSERT_EQ(WideColumn(kDefaultWideColumnName, value), columns[0]);
    if (columns.size() == 2) {
      ASSERT_EQ(WideColumn("key", key), columns[1]);
    }
  }

  // The operands, merged here, are the value.
  void CheckOperands() {
    ReadOptions options;
    const ReferenceState& state = PickMoment(&options);
    const bool many = random_.OneIn(2) && handles_.count(many_family_) != 0;
    const std::string family = many ? many_family_ : RandomFamily();
    if (!Has(state, family)) return;
    const std::string key = many ? many_key_ : RandomKey();
    std::vector<PinnableSlice> operands(1 + random_.Below(4));
    GetMergeOperandsOptions wanted;
    wanted.expected_max_number_of_operands = static_cast<int>(operands.size());
    int count = 0;
    Status s =
        db_->GetMergeOperands(options, handles_.at(family), key, operands.data(), &wanted, &count);
    if (s.IsIncomplete()) {
      ASSERT_GT(static_cast<size_t>(count), operands.size());
      operands = std::vector<PinnableSlice>(static_cast<size_t>(count));
      wanted.expected_max_number_of_operands = count;
      s = db_->GetMergeOperands(options, handles_.at(family), key, operands.data(), &wanted,
                                &count);
    }
    const std::optional<std::string> expected = state.Get(family, key);
    ASSERT_EQ(expected.has_value(), s.ok()) << s.ToString();
    if (!expected.has_value()) {
      ASSERT_TRUE(s.IsNotFound()) << s.ToString();
      return;
    }
    std::string merged;
    for (size_t i = 0; i < static_cast<size_t>(count); i++) {
      merged = AppendOrReplace::Apply(merged, operands[i]);
    }
    ASSERT_EQ(*expected, merged) << "key " << Slice(key).ToString(true) << ", " << count;
  }

  void CheckMultiGet() {
    ReadOptions options;
    const ReferenceState& state = PickMoment(&options);
    std::vector<ColumnFamilyHandle*> handles;
    std::vector<std::string> names;
    std::vector<std::string> keys;
    for (uint64_t n = 1 + random_.Below(40); n > 0; n--) {
      names.push_back(RandomFamily());
      if (!Has(state, names.back())) return;
      handles.push_back(handles_.at(names.back()));
      keys.push_back(RandomKey());
    }
    // Some keys repeat, and now and then all are of one family and in order.
    if (random_.OneIn(3)) keys.back() = keys.front();
    if (random_.OneIn(3)) {
      const Comparator* const order = first_.family.comparator;
      std::sort(keys.begin(), keys.end(), [order](const std::string& x, const std::string& y) {
        return order->Compare(x, y) < 0;
      });
      std::fill(names.begin(), names.end(), names.front());
      std::fill(handles.begin(), handles.end(), handles.front());
    }
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    options.async_io = random_.OneIn(2);
    const bool sorted_input = random_.OneIn(2);
    db_->MultiGet(options, keys.size(), handles.data(), slices.data(), values.data(),
                  statuses.data(), sorted_input);
    for (size_t i = 0; i < keys.size(); i++) {
      const std::optional<std::string> expected = state.Get(names[i], keys[i]);
      ASSERT_EQ(expected.has_value(), statuses[i].ok()) << statuses[i].ToString();
      if (expected.has_value()) {
        ASSERT_EQ(*expected, values[i].ToString());
      }
    }
  }

  void CheckIterator() {
    ReadOptions options;
    const ReferenceState& state = PickMoment(&options);
    const std::string family = RandomFamily();
    if (!Has(state, family)) return;
    const FamilyState& expected = state.families.at(family);
    std::string lower = RandomKey();
    std::string upper = RandomKey();
    if (first_.family.comparator->Compare(lower, upper) > 0) std::swap(lower, upper);
    const bool has_lower = random_.OneIn(3);
    const bool has_upper = random_.OneIn(3);
    const Slice lower_slice(lower);
    const Slice upper_slice(upper);
    if (has_lower) options.iterate_lower_bound = &lower_slice;
    if (has_upper) options.iterate_upper_bound = &upper_slice;
    options.total_order_seek = random_.OneIn(2);
    options.pin_data = random_.OneIn(4);
    options.readahead_size = random_.OneIn(5) ? 4096 : 0;
    options.auto_readahead_size = random_.OneIn(2);
    options.adaptive_readahead = random_.OneIn(2);
    options.async_io = random_.OneIn(3);
    options.auto_prefix_mode = random_.OneIn(3);
    if (random_.OneIn(4)) options.deadline = std::chrono::hours(24 * 365 * 200);
    const auto begin = has_lower ? expected.lower_bound(lower) : expected.begin();
    const auto end = has_upper ? expected.lower_bound(upper) : expected.end();
    if (has_lower && has_upper && lower == upper) return;
    std::unique_ptr<Iterator> it(db_->NewIterator(options, handles_.at(family)));
    Walk(it.get(), begin, end, expected);
  }

  using Position = FamilyState::const_iterator;

  // Walks randomly: seeks both ways and steps, compared after each.
  void Walk(Iterator* it, Position begin, Position end, const FamilyState& expected) {
    Position at = end;
    bool valid = false;
    for (int step = 0; step < 60; step++) {
      const uint64_t dice = random_.Below(20);
      if (!valid || dice < 3) {
        valid = Seek(it, begin, end, expected, &at);
      } else if (dice < 12) {
        it->Next();
        valid = ++at != end;
      } else {
        it->Prev();
        valid = at != begin;
        if (valid) --at;
      }
      ASSERT_EQ(valid, it->Valid()) << it->status().ToString();
      ASSERT_TRUE(it->status().ok()) << it->status().ToString();
      if (!valid) continue;
      ASSERT_EQ(Slice(at->first).ToString(true), it->key().ToString(true));
      ASSERT_EQ(at->second, it->value().ToString());
      CheckColumns(at->first, at->second, it->columns());
    }
  }

  bool Seek(Iterator* it, Position begin, Position end, const FamilyState& expected, Position* at) {
    const std::string target = RandomKey();
    const auto& less = expected.key_comp();
    switch (random_.Below(4)) {
      case 0:
        it->SeekToFirst();
        *at = begin;
        return *at != end;
      case 1:
        it->SeekToLast();
        if (begin == end) return false;
        *at = std::prev(end);
        return true;
      case 2:
        it->Seek(target);
        *at = expected.lower_bound(target);
        if (begin == end) return false;
        if (begin != expected.end() && less(target, begin->first)) *at = begin;
        return *at != expected.end() && (end == expected.end() || less((*at)->first, end->first));
      default: {
        it->SeekForPrev(target);
        Position after = expected.upper_bound(target);
        if (begin == end) return false;
        if (end != expected.end() && (after == expected.end() || less(end->first, after->first))) {
          after = end;
        }
        if (after == begin) return false;
        if (after != expected.end() && less(after->first, begin->first)) return false;
        *at = std::prev(after);
        return !less((*at)->first, begin->first);
      }
    }
  }

  void CheckAll() { ExpectHolds(db_.get(), handles_, state_); }

  void ChangeFamilies() {
    if (handles_.size() < 4 && random_.OneIn(3)) return Import();
    if (handles_.size() < 4 && random_.OneIn(2)) {
      const std::string name = "family" + std::to_string(next_family_++);
      ColumnFamilyHandle* handle = nullptr;
      Status s = db_->CreateColumnFamily(set_.family, name, &handle);
      ASSERT_TRUE(s.ok()) << s.ToString();
      handles_[name] = handle;
      AddFamily(name);
      return;
    }
    const std::string name = RandomFamily();
    if (name == kDefaultColumnFamilyName) return;
    stream_.NoteDrop();
    Status s = db_->DropColumnFamily(handles_.at(name));
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handles_.at(name)).ok());
    handles_.erase(name);
    state_.families.erase(name);
    puts_since_delete_.erase(name);
    if (behind_.has_value()) behind_->DropFamily(name);
  }

  void Import() {
    const std::string source = RandomFamily();
    const std::string name = "family" + std::to_string(next_family_++);
    ColumnFamilyHandle* const handle = moves_->ImportCopy(Now(), source, name);
    if (handle == nullptr) {
      // There was nothing to bring, or there were blob files, which are not exported.
      uint64_t blob_files = 0;
      ASSERT_TRUE(
          db_->GetIntProperty(handles_.at(source), DB::Properties::kNumBlobFiles, &blob_files));
      ASSERT_TRUE(blob_files > 0 || state_.families.at(source).empty());
      return;
    }
    handles_[name] = handle;
    AddFamily(name);
    state_.families.at(name) = state_.families.at(source);
    puts_since_delete_[name] = puts_since_delete_[source];
    NeverSingle(name);
    if (behind_.has_value()) behind_->AddUnknown(name);
  }

  // All keys have a history that is not known.
  void NeverSingle(const std::string& family) {
    for (auto& [key, count] : puts_since_delete_[family]) count = kNeverSingle;
  }

  Modelled Now() { return {db_.get(), handles_, state_, set_, !snapshots_.empty()}; }

  void BringIn(const DataMoves::Changes& changes) {
    for (const Change& change : changes) {
      puts_since_delete_[change.family][change.key] = kNeverSingle;
      if (change.kind == Change::kDeleteRange || change.kind == Change::kDelete) {
        NeverSingle(change.family);
      }
    }
    Apply(changes);
  }

  // Snapshots see the file, too. Without any, a file may have keys that were deleted, whose
  // tombstones must be there after every compaction.
  void BringInBehind() {
    while (!snapshots_.empty() && random_.OneIn(2)) ReleaseSnapshot(snapshots_.size() - 1);
    const IngestBehind::Result result = behind_->Ingest(Now(), [this] { return RandomValue(); });
    for (const std::string& key : result.keys) {
      puts_since_delete_[result.family][key] = kNeverSingle;
    }
    state_.Apply(result.shown);
    for (HeldSnapshot& held : snapshots_) {
      if (Has(held.state, result.family)) held.state.Apply(result.shown);
    }
  }

  // Tombstones have gone with the rest.
  void ForgetRemoved(const DataMoves::Changes& changes) {
    if (!behind_.has_value()) return;
    const Comparator* const order = first_.family.comparator;
    for (const Change& range : changes) {
      for (const std::string& key : AllKeys()) {
        if (order->Compare(key, range.key) >= 0 && order->Compare(key, range.value) < 0) {
          behind_->NoteRemoved(range.family, key);
        }
      }
    }
  }

  void ForgetFamilies() {
    if (!behind_.has_value()) return;
    for (const auto& [name, handle] : handles_) behind_->AddUnknown(name);
  }

  void MoveData() {
    const uint64_t dice = random_.Below(100);
    if (behind_.has_value() && random_.OneIn(2)) {
      BringInBehind();
    } else if (dice < 40) {
      BringIn(moves_->Ingest(Now()));
    } else if (dice < 50) {
      moves_->CheckCheckpoint(Now());
    } else if (dice < 58) {
      moves_->CheckBackup(Now());
    } else if (dice < 70) {
      moves_->CheckSecondary(Now());
    } else if (dice < 78) {
      const SequenceNumber before = db_->GetLatestSequenceNumber();
      const DataMoves::Changes changes = moves_->Excise(Now());
      BringIn(changes);
      ForgetRemoved(changes);
      stream_.NoteRemoval(db_.get(), before);
    } else if (dice < 80) {
      const SequenceNumber before = db_->GetLatestSequenceNumber();
      BringIn(moves_->Clip(Now()));
      ForgetFamilies();
      stream_.NoteRemoval(db_.get(), before);
    } else if (dice < 85) {
      const DataMoves::Changes changes = moves_->DeleteFiles(Now());
      WriteBatch batch;
      for (const Change& change : changes) AddToBatch(change, &batch);
      ASSERT_TRUE(db_->Write(WriteOptions(), &batch).ok());
      if (batch.Count() > 0) stream_.Note(db_.get(), batch, /*logged=*/true);
      BringIn(changes);
    } else if (dice < 88) {
      moves_->PromoteL0(Now());
    } else {
      stream_.Read(db_.get(), random_.OneIn(2));
    }
  }

  void Snapshots() {
    if (snapshots_.size() < 4 && random_.OneIn(2)) {
      snapshots_.push_back(HeldSnapshot{db_->GetSnapshot(), state_});
    } else if (!snapshots_.empty()) {
      ReleaseSnapshot(random_.Below(snapshots_.size()));
    }
  }

  void ReleaseSnapshot(size_t i) {
    db_->ReleaseSnapshot(snapshots_[i].snapshot);
    snapshots_.erase(snapshots_.begin() + static_cast<long>(i));
  }

  void Compact() {
    CompactRangeOptions options;
    const BottommostLevelCompaction bottommost[] = {
        BottommostLevelCompaction::kSkip, BottommostLevelCompaction::kIfHaveCompactionFilter,
        BottommostLevelCompaction::kForce, BottommostLevelCompaction::kForceOptimized};
    options.bottommost_level_compaction = bottommost[random_.Below(4)];
    options.exclusive_manual_compaction = random_.OneIn(2);
    std::string begin = RandomKey();
    std::string end = RandomKey();
    if (first_.family.comparator->Compare(begin, end) > 0) std::swap(begin, end);
    const Slice begin_slice(begin);
    const Slice end_slice(end);
    Status s = db_->CompactRange(options, handles_.at(RandomFamily()),
                                 random_.OneIn(2) ? &begin_slice : nullptr,
                                 random_.OneIn(2) ? &end_slice : nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  void FlushOne() {
    FlushOptions options;
    options.wait = !random_.OneIn(4);
    options.allow_write_stall = true;
    Status s = db_->Flush(options, handles_.at(RandomFamily()));
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  void Step() {
    const uint64_t dice = random_.Below(1000);
    if (dice < 3 && merges_) {
      WriteManyOperands();
    } else if (dice < 585) {
      Write();
    } else if (dice < 600) {
      MoveData();
    } else if (dice < 740) {
      CheckGet();
    } else if (dice < 760) {
      CheckOperands();
    } else if (dice < 800) {
      CheckMultiGet();
    } else if (dice < 900) {
      CheckIterator();
    } else if (dice < 940) {
      Snapshots();
    } else if (dice < 965) {
      FlushOne();
    } else if (dice < 980) {
      Compact();
    } else if (dice < 986) {
      ChangeFamilies();
    } else if (dice < 992) {
      ASSERT_TRUE(db_->SyncWAL().ok());
    } else if (dice < 996) {
      CheckAll();
    } else {
      Reopen();
    }
  }

  static constexpr int kNeverSingle = 1 << 20;

  Random random_;
  std::unique_ptr<Env> env_;
  OptionSet set_;
  bool merges_ = false;
  bool merges_in_place_ = false;
  OptionSet first_;
  std::unique_ptr<DB> db_;
  std::map<std::string, ColumnFamilyHandle*> handles_;
  ReferenceState state_;
  std::vector<HeldSnapshot> snapshots_;
  std::unique_ptr<DataMoves> moves_;
  std::optional<IngestBehind> behind_;  // Set in runs whose families may be ingested behind.
  StreamCheck stream_{&random_};
  std::map<std::string, std::map<std::string, int>> puts_since_delete_;
  int next_family_ = 0;
  // Family of the last key with very many operands.
  std::string many_family_;
  std::string many_key_;
};

}  // namespace

TEST(ModelTest, AnswersLikeOrderedMaps) {
  for (uint64_t seed : SeedsOfModel()) {
    SCOPED_TRACE("VARVE_MODEL_SEED=" + std::to_string(seed));
    ModelRun run(seed);
    run.Run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace varve::testing
