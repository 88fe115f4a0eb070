// SPDX-License-Identifier: Apache-2.0

// Goal: an indexed batch over a database reads as the database would after the batch was written,
// whatever is added, rolled back and read in whichever order. Method: random updates, save points,
// ranges and merges in families of three orders, beside a list of updates that is applied to maps;
// point reads, scans both ways with bounds and within a prefix, over bases that know of the bounds
// and others, the iterator over the batch, and iterators that are kept while the batch changes; at
// the end the batch is written and the database compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/slice_transform.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/write_batch_with_index.h"

#include "tests/harness/database.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

// Orders by length, then bytes. The engine can only ask it.
class OrderByLength final : public Comparator {
 public:
  const char* Name() const override { return "test.OrderByLength"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

struct ByComparator {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};
using OrderedMap = std::map<std::string, std::string, ByComparator>;

// The prefix has a fixed number of bytes; or all but the last, which keeps keys of a prefix
// together where shorter keys come first.
class ModelPrefix final : public SliceTransform {
 public:
  ModelPrefix(const size_t* bytes, bool is_all_but_last)
      : bytes_(bytes), is_all_but_last_(is_all_but_last) {}
  const char* Name() const override { return "test.ModelPrefix"; }
  Slice Transform(const Slice& key) const override {
    return Slice(key.data(), is_all_but_last_ ? key.size() - 1 : *bytes_);
  }
  bool InDomain(const Slice& key) const override { return key.size() >= *bytes_; }

 private:
  const size_t* const bytes_;
  const bool is_all_but_last_;
};

struct IndexedUpdate {
  WriteType type;
  size_t family;
  std::string key;
  std::string value;  // the end, if it is a range
};

const char* const kOrderedFamilies[] = {"default", "reverse", "length"};
constexpr size_t kOrderedFamilyCount = std::size(kOrderedFamilies);

class IndexedBatchModelTest : public Database, public ::testing::WithParamInterface<bool> {
 protected:
  void OpenEmpty() {
    ASSERT_TRUE(Close().ok());
    Remount(std::make_shared<MemFileSystem>());
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    // They come as they come.
    options_.enforce_single_del_contracts = false;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    base_.clear();
    updates_.clear();
    std::vector<ColumnFamilyDescriptor> families;
    for (size_t i = 0; i < kOrderedFamilyCount; i++) {
      ColumnFamilyOptions of_family = options_;
      of_family.comparator = Order(i);
      of_family.prefix_extractor = Extractor(i);
      families.emplace_back(kOrderedFamilies[i], of_family);
      base_.emplace_back(ByComparator{Order(i)});
    }
    ASSERT_TRUE(TryOpenWith(families).ok());
  }

  const Comparator* Order(size_t family) const {
    if (family == 0) return BytewiseComparator();
    return family == 1 ? ReverseBytewiseComparator() : &by_length_;
  }
  std::shared_ptr<const SliceTransform> Extractor(size_t family) const {
    return std::make_shared<ModelPrefix>(&prefix_bytes_, Order(family) == &by_length_);
  }
  ColumnFamilyHandle* Family(size_t i) { return Handle(kOrderedFamilies[i]); }

  std::string RandomKey(Random* random) const {
    std::string key = prefix_ + std::to_string(random->Below(key_space_));
    if (random->OneIn(8)) key.resize(random->Below(key.size() + 1));
    return key;
  }

  void FillBase(Random* random) {
    for (int i = 0; i < 150; i++) {
      const size_t family = random->Below(kOrderedFamilyCount);
      const std::string key = RandomKey(random);
      const std::string value = "db" + std::to_string(i);
      Put(key, value, kOrderedFamilies[family]);
      base_[family][key] = value;
    }
    if (random->OneIn(2)) Flush();
  }

  // --- The model.
  static void Apply(const IndexedUpdate& update, OrderedMap* map) {
    switch (update.type) {
      case kPutRecord:
        (*map)[update.key] = update.value;
        break;
      case kMergeRecord: {
        const auto at = map->find(update.key);
        (*map)[update.key] = at == map->end() ? update.value : at->second + "," + update.value;
        break;
      }
      case kDeleteRangeRecord: {
        if (map->key_comp()(update.key, update.value)) {
          map->erase(map->lower_bound(update.key), map->lower_bound(update.value));
        }
        break;
      }
      default:
        map->erase(update.key);
    }
  }
  OrderedMap Expected(size_t family) const {
    OrderedMap map = base_[family];
    for (const IndexedUpdate& update : updates_) {
      if (update.family == family) Apply(update, &map);
    }
    return map;
  }
  bool Covers(const IndexedUpdate& range, const std::string& key) const {
    const Comparator* const order = Order(range.family);
    return order->Compare(range.key, key) <= 0 && order->Compare(key, range.value) < 0;
  }
  // Returns the value in the batch alone: none if it is deleted or not there. *open is set if
  // merges lack a base.
  std::optional<std::string> InBatch(size_t family, const std::string& key, bool* open) const {
    std::optional<std::string> value;
    *open = false;
    bool has_base = false;
    for (const IndexedUpdate& update : updates_) {
      if (update.family != family) continue;
      if (update.type == kDeleteRangeRecord) {
        if (!Covers(update, key)) continue;
        value.reset();
        *open = false;
        has_base = true;
      } else if (update.key == key) {
        if (update.type == kMergeRecord) {
          *open = !has_base;
          value = value.has_value() ? *value + "," + update.value : update.value;
        } else {
          has_base = true;
          *open = false;
          value.reset();
          if (update.type == kPutRecord) value = update.value;
        }
      }
    }
    return value;
  }
  // Returns type, key and value of each entry that an iterator over the batch shows: "1a=x 0b=y".
  std::string ExpectedEntries(size_t family, bool backward) const {
    std::map<std::string, std::vector<const IndexedUpdate*>, ByComparator> by_key(
        ByComparator{Order(family)});
    for (const IndexedUpdate& update : updates_) {
      if (update.family != family || update.type == kDeleteRangeRecord) continue;
      by_key[update.key].push_back(&update);
    }
    std::vector<std::string> entries;
    for (auto& [key, of_key] : by_key) {
      for (size_t i = of_key.size(); i-- > 0;) {
        entries.push_back(std::to_string(of_key[i]->type) + key + "=" + of_key[i]->value + " ");
        if (GetParam() && of_key[i]->type != kMergeRecord) break;
      }
    }
    if (backward) std::reverse(entries.begin(), entries.end());
    std::string text;
    for (const std::string& entry : entries) text += entry;
    return text;
  }

  // --- The batch.
  void Add(WriteBatchWithIndex* batch, const IndexedUpdate& update) {
    ColumnFamilyHandle* const family = Family(update.family);
    Status s;
    switch (update.type) {
      case kPutRecord:
        s = batch->Put(family, update.key, update.value);
        break;
      case kMergeRecord:
        s = batch->Merge(family, update.key, update.value);
        break;
      case kDeleteRecord:
        s = batch->Delete(family, update.key);
        break;
      case kSingleDeleteRecord:
        s = batch->SingleDelete(family, update.key);
        break;
      default:
        s = batch->DeleteRange(family, update.key, update.value);
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
    updates_.push_back(update);
  }

  IndexedUpdate RandomUpdate(Random* random) {
    static constexpr WriteType kTypes[] = {kPutRecord,    kPutRecord,          kPutRecord,
                                           kMergeRecord,  kMergeRecord,        kDeleteRecord,
                                           kDeleteRecord, kSingleDeleteRecord, kDeleteRangeRecord};
    IndexedUpdate update;
    update.type = kTypes[random->Below(std::size(kTypes))];
    if (update.type == kDeleteRangeRecord && !random->OneIn(3)) update.type = kPutRecord;
    update.family = random->Below(kOrderedFamilyCount);
    update.key = RandomKey(random);
    const bool has_value = update.type == kPutRecord || update.type == kMergeRecord;
    if (has_value) update.value = "b" + std::to_string(updates_.size());
    if (update.type == kDeleteRangeRecord) {
      update.value = RandomKey(random);
      // The database refuses the others.
      if (Order(update.family)->Compare(update.key, update.value) > 0) {
        std::swap(update.key, update.value);
      }
    }
    return update;
  }

  static std::string Entries(WBWIIterator* it, bool backward) {
    std::string text;
    backward ? it->SeekToLast() : it->SeekToFirst();
    for (; it->Valid(); backward ? it->Prev() : it->Next()) {
      const WriteEntry entry = it->Entry();
      text +=
          std::to_string(entry.type) + entry.key.ToString() + "=" + entry.value.ToString() + " ";
    }
    EXPECT_TRUE(it->status().ok());
    return text;
  }

  void CheckPoint(WriteBatchWithIndex* batch, size_t family, const std::string& key) {
    const OrderedMap expected = Expected(family);
    const auto at = expected.find(key);
    std::string value;
    Status s = batch->GetFromBatchAndDB(db(), ReadOptions(), Family(family), key, &value);
    if (at == expected.end()) {
      EXPECT_TRUE(s.IsNotFound()) << key << ' ' << s.ToString() << value;
    } else {
      ASSERT_TRUE(s.ok()) << key << ' ' << s.ToString();
      EXPECT_EQ(value, at->second) << key;
    }
    bool open = false;
    const std::optional<std::string> alone = InBatch(family, key, &open);
    s = batch->GetFromBatch(Family(family), DBOptions(), key, &value);
    if (open) {
      EXPECT_TRUE(s.IsMergeInProgress()) << key << ' ' << s.ToString();
    } else if (!alone.has_value()) {
      EXPECT_TRUE(s.IsNotFound()) << key << ' ' << s.ToString();
    } else {
      ASSERT_TRUE(s.ok()) << key << ' ' << s.ToString();
      EXPECT_EQ(value, *alone) << key;
    }
  }

  void CheckMany(WriteBatchWithIndex* batch, size_t family, Random* random) {
    std::vector<std::string> bytes;
    for (int i = 0; i < 12; i++) bytes.push_back(RandomKey(random));
    const std::vector<Slice> keys(bytes.begin(), bytes.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    batch->MultiGetFromBatchAndDB(db(), ReadOptions(), Family(family), keys.size(), keys.data(),
                                  values.data(), statuses.data(), /*sorted_input=*/false);
    const OrderedMap expected = Expected(family);
    for (size_t i = 0; i < keys.size(); i++) {
      const auto at = expected.find(bytes[i]);
      if (at == expected.end()) {
        EXPECT_TRUE(statuses[i].IsNotFound()) << statuses[i].ToString();
      } else {
        EXPECT_TRUE(statuses[i].ok()) << statuses[i].ToString();
        EXPECT_EQ(values[i], at->second);
      }
    }
  }

  static std::string Show(const OrderedMap& map, OrderedMap::const_iterator at) {
    return at == map.end() ? "end" : at->first + "=" + at->second;
  }
  static std::string Show(const Iterator& it) {
    if (!it.Valid()) return it.status().ok() ? "end" : it.status().ToString();
    return it.key().ToString() + "=" + it.value().ToString();
  }
  static OrderedMap::const_iterator Before(const OrderedMap& map, OrderedMap::const_iterator at) {
    return at == map.begin() ? map.end() : std::prev(at);
  }

  // Keeps the entries with the prefix of the target. Returns false if the target has none.
  bool KeepPrefixOf(const std::string& target, size_t family, OrderedMap* map) const {
    const auto extractor = Extractor(family);
    if (!extractor->InDomain(target)) return false;
    for (auto at = map->begin(); at != map->end();) {
      const bool keeps = extractor->InDomain(at->first) &&
                         extractor->Transform(at->first) == extractor->Transform(target);
      at = keeps ? std::next(at) : map->erase(at);
    }
    return true;
  }

  // Bounds, a seek, and steps either way.
  void CheckScan(WriteBatchWithIndex* batch, size_t family, Random* random) {
    std::string low_key = RandomKey(random);
    std::string high_key = RandomKey(random);
    OrderedMap map = Expected(family);
    if (map.key_comp()(high_key, low_key)) std::swap(low_key, high_key);
    const Slice low = low_key;
    const Slice high = high_key;
    ReadOptions options;
    if (random->OneIn(2)) {
      options.iterate_lower_bound = &low;
      map.erase(map.begin(), map.lower_bound(low_key));
    }
    if (random->OneIn(2)) {
      options.iterate_upper_bound = &high;
      map.erase(map.lower_bound(high_key), map.end());
    }
    const std::string target = RandomKey(random);
    options.prefix_same_as_start = random->OneIn(3);
    // A walk without a prefix gets one where it turns around at its end.
    const bool may_turn = !options.prefix_same_as_start || KeepPrefixOf(target, family, &map);
    ReadOptions of_base = options;
    if (random->OneIn(4)) {
      of_base.iterate_lower_bound = nullptr;
      of_base.iterate_upper_bound = nullptr;
    }
    const std::unique_ptr<Iterator> it(batch->NewIteratorWithBase(
        Family(family), db()->NewIterator(of_base, Family(family)), &options));
    OrderedMap::const_iterator at;
    const uint64_t seek = options.prefix_same_as_start ? 2 + random->Below(2) : random->Below(4);
    switch (seek) {
      case 0:
        it->SeekToFirst();
        at = map.begin();
        break;
      case 1:
        it->SeekToLast();
        at = Before(map, map.end());
        break;
      case 2:
        it->Seek(target);
        at = map.lower_bound(target);
        break;
      default:
        it->SeekForPrev(target);
        at = Before(map, map.upper_bound(target));
    }
    bool forward = may_turn ? random->OneIn(2) : seek == 2;
    for (int steps = 0; steps < 40 && at != map.end(); steps++) {
      ASSERT_EQ(Show(*it), Show(map, at)) << target << ' ' << steps;
      if (may_turn && random->OneIn(5)) forward = !forward;
      forward ? it->Next() : it->Prev();
      at = forward ? std::next(at) : Before(map, at);
    }
    ASSERT_EQ(Show(*it), Show(map, at)) << target;
  }

  void CheckEntries(WriteBatchWithIndex* batch, size_t family) {
    const std::unique_ptr<WBWIIterator> it(batch->NewIterator(Family(family)));
    EXPECT_EQ(Entries(it.get(), false), ExpectedEntries(family, false));
    EXPECT_EQ(Entries(it.get(), true), ExpectedEntries(family, true));
  }

  // Does one step of an iterator whose batch has changed.
  void StepLive(size_t family, Iterator* it, Random* random) {
    const OrderedMap map = Expected(family);
    if (!it->Valid() || random->OneIn(20)) {
      const std::string target = RandomKey(random);
      it->Seek(target);
      ASSERT_EQ(Show(*it), Show(map, map.lower_bound(target)));
      return;
    }
    const std::string key = it->key().ToString();
    if (random->OneIn(3)) {
      it->Prev();
      ASSERT_EQ(Show(*it), Show(map, Before(map, map.lower_bound(key)))) << "before " << key;
    } else {
      it->Next();
      ASSERT_EQ(Show(*it), Show(map, map.upper_bound(key))) << "behind " << key;
    }
  }

  void Run(uint64_t seed, int steps) {
    SCOPED_TRACE(seed);
    Random random(seed);
    key_space_ = random.OneIn(2) ? 40 : 2000;
    prefix_ = random.OneIn(2) ? "" : "a common beginning ";
    prefix_bytes_ = prefix_.size() + 1;
    FillBase(&random);
    WriteBatchWithIndex batch(BytewiseComparator(), 0, GetParam());
    const size_t live_family = random.Below(kOrderedFamilyCount);
    std::unique_ptr<Iterator> live(batch.NewIteratorWithBase(
        Family(live_family), db()->NewIterator(ReadOptions(), Family(live_family))));
    std::vector<size_t> save_points;
    for (int step = 0; step < steps && !HasFatalFailure(); step++) {
      const uint64_t choice = random.Below(100);
      const size_t family = random.Below(kOrderedFamilyCount);
      if (choice < 60) {
        const size_t count = random.OneIn(50) ? random.Below(200) : random.Below(3);
        for (size_t i = 0; i < count; i++) Add(&batch, RandomUpdate(&random));
      } else if (choice < 64) {
        batch.SetSavePoint();
        save_points.push_back(updates_.size());
      } else if (choice < 67) {
        const bool any = !save_points.empty();
        EXPECT_EQ(batch.RollbackToSavePoint().ok(), any);
        EXPECT_TRUE(!any || !live->Valid());
        if (any) {
          updates_.resize(save_points.back());
          save_points.pop_back();
        }
      } else if (choice < 68) {
        EXPECT_EQ(batch.PopSavePoint().ok(), !save_points.empty());
        if (!save_points.empty()) save_points.pop_back();
      } else if (choice < 78) {
        CheckPoint(&batch, family, RandomKey(&random));
      } else if (choice < 81) {
        CheckMany(&batch, family, &random);
      } else if (choice < 84) {
        CheckScan(&batch, family, &random);
      } else if (choice < 86) {
        CheckEntries(&batch, family);
      } else {
        StepLive(live_family, live.get(), &random);
      }
    }
    live.reset();
    if (HasFailure()) return;
    EXPECT_EQ(batch.GetWBWIOpCount(), updates_.size());
    const Status written = db()->Write(WriteOptions(), batch.GetWriteBatch());
    ASSERT_TRUE(written.ok()) << written.ToString();
    for (size_t family = 0; family < kOrderedFamilyCount; family++) {
      const OrderedMap expected = Expected(family);
      std::string text;
      for (const auto& [key, value] : expected) text += key + "=" + value + " ";
      if (!text.empty()) text.pop_back();
      EXPECT_EQ(Scan(ReadOptions(), kOrderedFamilies[family]), text);
    }
  }

  OrderByLength by_length_;
  uint64_t key_space_ = 1;
  std::string prefix_;
  size_t prefix_bytes_ = 1;  // bytes of keys that extractors take
  std::vector<OrderedMap> base_;
  std::vector<IndexedUpdate> updates_;
};

TEST_P(IndexedBatchModelTest, ReadsAsIfItWereWritten) {
  for (uint64_t seed = 1; seed <= 12 && !HasFailure(); seed++) {
    OpenEmpty();
    Run(seed, 700);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, IndexedBatchModelTest, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& mode) {
                           return mode.param ? "Overwrite" : "AllVersions";
                         });

}  // namespace
}  // namespace varve::testing
