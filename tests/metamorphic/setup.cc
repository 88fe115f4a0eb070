// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/setup.h"

#include <utility>

#include "varve/db.h"
#include "varve/slice_transform.h"
#include "varve/table.h"

#include "tests/metamorphic/history.h"
#include "tests/model/reference.h"

namespace varve::testing {

namespace {

// Removes and changes the values that histories mark for it.
class MarkFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.MarkFilter"; }
  Decision FilterV2(int /*level*/, const Slice& /*key*/, ValueType type, const Slice& value,
                    std::string* new_value, std::string* /*skip_until*/) const override {
    if (type != ValueType::kValue) return Decision::kKeep;
    if (value.starts_with("purge")) return Decision::kPurge;
    if (IsRemovable(value)) return Decision::kRemove;
    if (!value.starts_with("Chg")) return Decision::kKeep;
    *new_value = Shown(value);
    return Decision::kChangeValue;
  }
};

class MarkFilterFactory final : public CompactionFilterFactory {
 public:
  explicit MarkFilterFactory(bool at_flush) : at_flush_(at_flush) {}
  const char* Name() const override { return "test.MarkFilterFactory"; }
  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override {
    return reason == TableFileCreationReason::kCompaction ||
           (at_flush_ && reason == TableFileCreationReason::kFlush);
  }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& /*context*/) override {
    return std::make_unique<MarkFilter>();
  }

 private:
  const bool at_flush_;
};

// Calls the database from its callbacks.
class CallingListener final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo& /*info*/) override { Look(db); }
  void OnFlushCompleted(DB* db, const FlushJobInfo& /*info*/) override { Look(db); }
  void OnCompactionBegin(DB* db, const CompactionJobInfo& /*info*/) override { Look(db); }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& /*info*/) override {
    Look(db);
    FlushOptions options;
    options.wait = false;
    options.allow_write_stall = true;
    db->Flush(options).PermitUncheckedError();
  }

 private:
  static void Look(DB* db) {
    std::string text;
    db->GetProperty("rocksdb.stats", &text);
    const Snapshot* const snapshot = db->GetSnapshot();
    ReadOptions options;
    options.snapshot = snapshot;
    db->Get(options, "k", &text).PermitUncheckedError();
    db->ReleaseSnapshot(snapshot);
  }
};

}  // namespace

Setup::Setup(uint64_t seed) : seed_(seed) {
  Random random(seed * 1000003 + 17);
  maps_files_ = random.OneIn(2);
  has_company_ = random.OneIn(5);
  const int levels[] = {2, 4, 7};
  num_levels_ = levels[random.Below(3)];
  if (random.OneIn(2)) cache_ = NewLRUCache(random.OneIn(2) ? 64 << 10 : 4 << 20, 2);
  if (random.OneIn(5)) limiter_.reset(NewGenericRateLimiter(256 << 20));
  if (random.OneIn(3)) {
    memory_ = std::make_shared<WriteBufferManager>(random.OneIn(2) ? 256 << 10 : 1 << 20,
                                                   random.OneIn(2) ? cache_ : nullptr);
  }
}

OptionSet Setup::Draw(uint64_t variation, Env* env) const {
  Random random(seed_ * 1000 + variation + 1);
  OptionSet set = RandomOptionSet(&random, env);
  set.family.num_levels = num_levels_;
  // FIFO trims no history, and leaves dead entries, which histories count.
  if (set.family.compaction_style == kCompactionStyleFIFO) {
    set.family.compaction_style = kCompactionStyleUniversal;
  }
  DrawMore(&random, &set);
  return set;
}

void Setup::DrawMore(Random* random, OptionSet* set) const {
  DBOptions& db = set->db;
  ColumnFamilyOptions& family = set->family;
  const CompactionPri orders[] = {kByCompensatedSize, kOldestLargestSeqFirst,
                                  kOldestSmallestSeqFirst, kMinOverlappingRatio, kRoundRobin};
  family.compaction_pri = orders[random->Below(5)];
  if (random->OneIn(4)) family.max_compaction_bytes = 16 << 10;
  if (random->OneIn(4)) family.max_write_buffer_size_to_maintain = 256 << 10;
  if (random->OneIn(5)) family.memtable_max_range_deletions = 2;
  if (random->OneIn(5) && !db.unordered_write) family.max_successive_merges = 3;
  if (random->OneIn(4)) family.paranoid_file_checks = true;
  if (family.max_write_buffer_number > 2) family.min_write_buffer_number_to_merge = 2;
  if (limiter_ != nullptr && db.rate_limiter == nullptr) db.rate_limiter = limiter_;
  if (memory_ != nullptr) db.write_buffer_manager = memory_;
  const uint64_t filter = random->Below(4);
  static const MarkFilter plain;
  if (filter == 1) family.compaction_filter = &plain;
  if (filter > 1) {
    family.compaction_filter_factory = std::make_shared<MarkFilterFactory>(filter == 3);
  }
  if (random->OneIn(3)) db.listeners.push_back(std::make_shared<CallingListener>());
  if (random->OneIn(2)) {
    family.merge_operator = std::make_shared<AppendOrReplace>();
  } else {
    family.merge_operator = std::make_shared<AppendOrReplaceInPlace>();
  }
  const auto* const table = family.table_factory->GetOptions<BlockBasedTableOptions>();
  if (cache_ != nullptr && table != nullptr && !table->no_block_cache) {
    BlockBasedTableOptions shared = *table;
    shared.block_cache = cache_;
    family.table_factory.reset(NewBlockBasedTableFactory(shared));
  }
  set->description +=
      " filter:" + std::to_string(filter) + " levels:" + std::to_string(num_levels_) +
      (memory_ != nullptr ? " memory" : "") + (db.listeners.empty() ? "" : " listener") +
      (cache_ != nullptr ? " shared_cache" : "");
}

ColumnFamilyOptions Setup::FamilyOptions(const OptionSet& set, const Comparator* order,
                                         const std::string& name, bool filtered) {
  ColumnFamilyOptions options = set.family;
  const bool reverse = order != BytewiseComparator();
  const bool timed = HasTimestamps(name);
  options.comparator = order;
  if (timed) {
    options.comparator =
        reverse ? ReverseBytewiseComparatorWithU64Ts() : BytewiseComparatorWithU64Ts();
  }
  if (!filtered) {
    options.compaction_filter = nullptr;
    options.compaction_filter_factory = nullptr;
  }
  return options;
}

}  // namespace varve::testing
