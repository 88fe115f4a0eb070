// SPDX-License-Identifier: Apache-2.0

// Goal: a value that was handed out stays whole, and can be released, whatever has gone meanwhile:
// its column family, the database, and the caches they brought with them. Method: each way to read
// a pinned value, from tables and memtables, with caches of each kind and owner; the family is
// dropped or the database deleted, memory is filled anew, and only then the values are compared and
// reset. An allocator counts what comes back. Sanitizers and valgrind judge the rest.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "varve/cache.h"
#include "varve/merge_operator.h"
#include "varve/table.h"
#include "varve/write_buffer_manager.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

std::atomic<int64_t> allocated{0};

// Counts the pieces that are out, in a number that lives longer than the allocator.
class CountingAllocator final : public MemoryAllocator {
 public:
  const char* Name() const override { return "CountingAllocator"; }
  void* Allocate(size_t size) override {
    allocated.fetch_add(1);
    return malloc(size);
  }
  void Deallocate(void* p) override {
    if (p != nullptr) mine_->fetch_sub(1);
    free(p);
  }

 private:
  // Reached through the object, so that a freed one is noticed.
  std::atomic<int64_t>* const mine_ = &allocated;
};

// A cache as a program may write one: all work is done by another.
class WrappedCache final : public Cache {
 public:
  explicit WrappedCache(std::shared_ptr<Cache> target) : target_(std::move(target)) {}
  const char* Name() const override { return "WrappedCache"; }
  Status Insert(const Slice& key, ObjectPtr value, const CacheItemHelper* helper, size_t charge,
                Handle** handle, Priority priority) override {
    return target_->Insert(key, value, helper, charge, handle, priority);
  }
  Handle* Lookup(const Slice& key) override { return target_->Lookup(key); }
  bool Ref(Handle* handle) override { return target_->Ref(handle); }
  bool Release(Handle* handle, bool erase) override { return target_->Release(handle, erase); }
  ObjectPtr Value(Handle* handle) override { return target_->Value(handle); }
  size_t GetCharge(Handle* handle) const override { return target_->GetCharge(handle); }
  void Erase(const Slice& key) override { target_->Erase(key); }
  uint64_t NewId() override { return target_->NewId(); }
  void SetCapacity(size_t capacity) override { target_->SetCapacity(capacity); }
  void SetStrictCapacityLimit(bool strict) override { target_->SetStrictCapacityLimit(strict); }
  bool HasStrictCapacityLimit() const override { return target_->HasStrictCapacityLimit(); }
  size_t GetCapacity() const override { return target_->GetCapacity(); }
  size_t GetUsage() const override { return target_->GetUsage(); }
  size_t GetUsage(Handle* handle) const override { return target_->GetUsage(handle); }
  size_t GetPinnedUsage() const override { return target_->GetPinnedUsage(); }
  void EraseUnRefEntries() override { target_->EraseUnRefEntries(); }
  void ApplyToAllEntries(
      const std::function<void(const Slice&, ObjectPtr, size_t, const CacheItemHelper*)>& callback,
      const ApplyToAllEntriesOptions& opts) override {
    target_->ApplyToAllEntries(callback, opts);
  }

 private:
  const std::shared_ptr<Cache> target_;
};

// Returns the newest operand.
class LastOperator final : public MergeOperator {
 public:
  const char* Name() const override { return "LastOperator"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    out->existing_operand = in.operand_list.back();
    return true;
  }
};

enum class CacheKind { kNone, kOwn, kLru, kAllocating, kAllocatingUnfilled, kForeign };
enum class End { kDrop, kDelete };

struct Case {
  CacheKind cache;
  End end;
};

class PinnedValueTest : public Database, public ::testing::WithParamInterface<Case> {
 protected:
  static constexpr size_t kBytes = 20000;

  static std::string ValueOf(const std::string& key) {
    std::string value;
    while (value.size() < kBytes) value += key + "=" + std::to_string(value.size()) + ",";
    return value;
  }

  static std::shared_ptr<Cache> MakeCache(CacheKind kind) {
    LRUCacheOptions options;
    options.capacity = 8 << 20;
    if (kind == CacheKind::kAllocating || kind == CacheKind::kAllocatingUnfilled) {
      options.memory_allocator = std::make_shared<CountingAllocator>();
    }
    switch (kind) {
      case CacheKind::kNone:
      case CacheKind::kOwn:
        return nullptr;
      case CacheKind::kForeign:
        return std::make_shared<WrappedCache>(NewLRUCache(options));
      default:
        return NewLRUCache(options);
    }
  }

  // The objects that the options name belong to the family alone.
  void OpenFamily(bool reads_of_maps) {
    ColumnFamilyOptions family(options_);
    BlockBasedTableOptions table;
    table.no_block_cache = GetParam().cache == CacheKind::kNone;
    table.block_cache = MakeCache(GetParam().cache);
    table.format_version = 5;
    family.table_factory.reset(NewBlockBasedTableFactory(table));
    family.merge_operator = std::make_shared<LastOperator>();
    family.compression = kNoCompression;
    options_.allow_mmap_reads = reads_of_maps;
    options_.create_missing_column_families = true;
    ASSERT_TRUE(TryOpenWith({{"default", ColumnFamilyOptions()}, {"a", family}}).ok());
    read_.fill_cache = GetParam().cache != CacheKind::kAllocatingUnfilled;
  }

  void Fill(const std::vector<std::string>& keys, bool flush) {
    for (const std::string& key : keys) {
      ASSERT_TRUE(db()->Put(WriteOptions(), Handle("a"), key, ValueOf(key)).ok());
      const std::string merged = "m" + key;
      ASSERT_TRUE(db()->Merge(WriteOptions(), Handle("a"), merged, "old").ok());
      ASSERT_TRUE(db()->Merge(WriteOptions(), Handle("a"), merged, ValueOf(merged)).ok());
    }
    if (flush) Flush("a");
  }

  // Pins by each call that hands out pins.
  void Pin(const std::string& key) {
    std::array<PinnableSlice, 6> now;
    ColumnFamilyHandle* const a = Handle("a");
    const std::string merged = "m" + key;
    ASSERT_TRUE(db()->Get(read_, a, key, &now[0]).ok());
    ASSERT_TRUE(db()->Get(read_, a, merged, &now[1]).ok());
    const Slice keys[] = {key, merged};
    Status statuses[2];
    db()->MultiGet(read_, a, 2, keys, &now[2], statuses, /*sorted_input=*/false);
    ASSERT_TRUE(statuses[0].ok() && statuses[1].ok());
    GetMergeOperandsOptions most;
    most.expected_max_number_of_operands = 2;
    int count = 0;
    ASSERT_TRUE(db()->GetMergeOperands(read_, a, merged, &now[4], &most, &count).ok());
    ASSERT_EQ(count, 2);
    const std::string expected[] = {ValueOf(key),    ValueOf(merged), ValueOf(key),
                                    ValueOf(merged), "old",           ValueOf(merged)};
    for (size_t i = 0; i < now.size(); i++) {
      pinned_.push_back(std::make_unique<PinnableSlice>(std::move(now[i])));
      expected_.push_back(expected[i]);
    }
  }

  void EndFamily() {
    if (GetParam().end == End::kDelete) {
      ASSERT_TRUE(Close().ok());
      options_.write_buffer_manager.reset();
      return;
    }
    ASSERT_TRUE(db()->DropColumnFamily(Handle("a")).ok());
    GiveBack("a");
  }

  void CompareAndReset() {
    // This writes to memory that was freed.
    for (int i = 0; i < 64; i++) noise_.emplace_back(kBytes + 64 * static_cast<size_t>(i), '#');
    for (size_t i = 0; i < pinned_.size(); i++) {
      EXPECT_EQ(pinned_[i]->ToString(), expected_[i]) << i;
      pinned_[i]->Reset();
    }
  }

  ReadOptions read_;
  std::vector<std::unique_ptr<PinnableSlice>> pinned_;
  std::vector<std::string> expected_;
  std::vector<std::string> noise_;
};

TEST_P(PinnedValueTest, ValuesOfTablesOutliveFamilyAndDatabase) {
  const int64_t before = allocated.load();
  OpenFamily(false);
  Fill({"k", "l"}, /*flush=*/true);
  for (int round = 0; round < 2; round++) Pin("k");  // missed, then found in the cache
  Pin("l");
  EndFamily();
  CompareAndReset();
  ASSERT_TRUE(Close().ok());
  EXPECT_EQ(allocated.load(), before) << "memory of blocks did not come back";
}

TEST_P(PinnedValueTest, ValuesOfMappedTablesOutliveFamilyAndDatabase) {
  OpenFamily(true);
  Fill({"k", "l"}, /*flush=*/true);
  Pin("k");
  Pin("l");
  EndFamily();
  CompareAndReset();
}

TEST_P(PinnedValueTest, ValuesOfMemtablesOutliveFamilyAndDatabase) {
  options_.write_buffer_manager = std::make_shared<WriteBufferManager>(64 << 20);
  OpenFamily(false);
  Fill({"j"}, /*flush=*/true);
  Fill({"k"}, /*flush=*/false);
  Pin("k");
  Pin("j");
  EndFamily();
  CompareAndReset();
}

// The last references go on other threads while the cache itself goes.
TEST_P(PinnedValueTest, ValuesAreResetBesideTheEnd) {
  const int64_t before = allocated.load();
  for (int round = 0; round < 20; round++) {
    options_.create_if_missing = true;
    OpenFamily(false);
    Fill({"k", "l"}, /*flush=*/true);
    Pin("k");
    Pin("l");
    std::atomic<size_t> next{0};
    const auto reset = [&] {
      for (size_t i = next.fetch_add(1); i < pinned_.size(); i = next.fetch_add(1)) {
        EXPECT_EQ(pinned_[i]->ToString(), expected_[i]);
        pinned_[i]->Reset();
      }
    };
    std::thread one(reset);
    EndFamily();
    reset();
    one.join();
    pinned_.clear();
    expected_.clear();
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_, {{"a", ColumnFamilyOptions()}}).ok());
  }
  EXPECT_EQ(allocated.load(), before) << "memory of blocks did not come back";
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  static constexpr const char* kCaches[] = {"NoCache",    "OwnCache", "Lru",
                                            "Allocating", "Unfilled", "Foreign"};
  return std::string(kCaches[static_cast<size_t>(info.param.cache)]) +
         (info.param.end == End::kDrop ? "Drop" : "Delete");
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (int kind = 0; kind <= static_cast<int>(CacheKind::kForeign); kind++) {
    for (const End end : {End::kDrop, End::kDelete}) cases.push_back({CacheKind{kind}, end});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ends, PinnedValueTest, ::testing::ValuesIn(AllCases()), NameOf);

}  // namespace
}  // namespace varve::testing
