// SPDX-License-Identifier: Apache-2.0

// Goal: a batch for which there is no memory answers MemoryLimit, stays what it was, and is right
// once there is memory again. Method: this program has allocation functions that fail when told to;
// one story of an indexed batch, over two column families, and one append of a batch with
// timestamps and checksums are told again and again, with each of their allocations failing in
// turn.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>

#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/iterator.h"
#include "varve/options.h"
#include "varve/utilities/write_batch_with_index.h"
#include "varve/write_batch.h"

#include "db/write/write_batch_internal.h"

namespace {
// Number of allocations that succeed before one fails; negative: all do. Those of the test always
// do.
int g_until_failure = -1;
bool g_in_call = false;

bool MayAllocate() {
  if (!g_in_call || g_until_failure < 0) return true;
  return g_until_failure-- != 0;
}
}  // namespace

// It is not inlined, as the compiler would see malloc meet delete.
[[gnu::noinline]] void* operator new(size_t size) {
  void* const memory = MayAllocate() ? std::malloc(size == 0 ? 1 : size) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t& /*nothrow*/) noexcept {
  return MayAllocate() ? std::malloc(size == 0 ? 1 : size) : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}

namespace varve::testing {
namespace {

using AllocationModel = std::map<std::string, std::string>;

class SecondFamily final : public ColumnFamilyHandle {
 public:
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return 7; }
  Status GetDescriptor(ColumnFamilyDescriptor* /*desc*/) override { return Status::NotSupported(); }
  const Comparator* GetComparator() const override { return ReverseBytewiseComparator(); }

 private:
  const std::string name_ = "second";
};

class TimestampedFamily final : public ColumnFamilyHandle {
 public:
  explicit TimestampedFamily(uint32_t id) : id_(id) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(ColumnFamilyDescriptor* /*desc*/) override { return Status::NotSupported(); }
  const Comparator* GetComparator() const override { return BytewiseComparatorWithU64Ts(); }

 private:
  const std::string name_ = "timestamped";
  const uint32_t id_;
};

// Adds, reads, iterates and rolls back. The model has no refused updates.
class AllocationStory {
 public:
  void TellTwice() {
    Tell();
    // There always is memory to forget.
    batch_.Clear();
    model_.clear();
    of_second_.clear();
    added_ = 0;
    Tell();
  }

  void Tell() {
    for (int i = 0; i < 30; i++) Put("a" + std::to_string(i), std::string(20, 'v'));
    Read();
    const auto it = Make<WBWIIterator>([this] { return batch_.NewIterator(); });
    if (it != nullptr) {
      Call([&] {
        it->SeekToFirst();
        return it->status();
      });
    }
    const auto over =
        Make<Iterator>([this] { return batch_.NewIteratorWithBase(NewEmptyIterator()); });
    for (int i = 0; i < 70; i++) {
      Put("b" + std::to_string(i), std::string(60, 'w'));
      Read();
      if (over == nullptr) continue;
      Call([&] {
        over->Valid() ? over->Next() : over->SeekToFirst();
        return over->status();
      });
    }
    for (int i = 0; i < 25; i++) {
      const std::string key = "b" + std::to_string(i);
      const std::string end = key + "!";
      if (Call([&] { return batch_.DeleteRange(key, end); })) {
        model_.erase(key);
        added_++;
      }
      Read();
    }
    for (int i = 0; i < 20; i++) PutInSecond("s" + std::to_string(i), "second");
    Read();
    const AllocationModel before = model_;
    const size_t added_before = added_;
    const bool saved = Call([this] {
      batch_.SetSavePoint();
      return Status::OK();
    });
    if (saved) {
      for (int i = 0; i < 5; i++) Put("c" + std::to_string(i), "x");
      Read();
      model_ = before;
      added_ = added_before;
    }
    // There always is memory to go back.
    const Status s = batch_.RollbackToSavePoint();
    EXPECT_EQ(s.ok(), saved) << s.ToString();
  }

  void Check() {
    EXPECT_EQ(All(nullptr), model_);
    EXPECT_EQ(All(&second_), of_second_);
    EXPECT_EQ(batch_.GetWBWIOpCount(), added_);
  }

  int refused() const { return refused_; }

 private:
  // True if `call`, which gives a status, succeeds; no other failure than for lack of memory is
  // right. Calls that have no status may throw.
  template <typename Function>
  bool Call(const Function& call) {
    g_in_call = true;
    Status s;
    try {
      s = call();
    } catch (const std::bad_alloc&) {
      s = Status::MemoryLimit();
    }
    g_in_call = false;
    EXPECT_TRUE(s.ok() || s.IsMemoryLimit() || s.IsNotFound()) << s.ToString();
    if (s.IsMemoryLimit()) refused_++;
    return s.ok();
  }
  void Put(const std::string& key, const std::string& value) {
    if (Call([&] { return batch_.Put(key, value); })) {
      model_[key] = value;
      added_++;
    }
  }
  void PutInSecond(const std::string& key, const std::string& value) {
    if (Call([&] { return batch_.Put(&second_, key, value); })) {
      of_second_[key] = value;
      added_++;
    }
  }
  void Read() {
    std::string value;
    const DBOptions options;
    Call([&] { return batch_.GetFromBatch(options, "a7", &value); });
    Call([&] { return batch_.GetFromBatch(&second_, options, "s7", &value); });
  }
  AllocationModel All(ColumnFamilyHandle* family) {
    AllocationModel found;
    const std::unique_ptr<Iterator> it(batch_.NewIteratorWithBase(family, NewEmptyIterator()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      found[it->key().ToString()] = it->value().ToString();
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return found;
  }
  template <typename Made, typename Function>
  std::unique_ptr<Made> Make(const Function& make) {
    std::unique_ptr<Made> made;
    Call([&] {
      made.reset(make());
      return Status::OK();
    });
    return made;
  }

  SecondFamily second_;
  WriteBatchWithIndex batch_;
  AllocationModel model_;
  AllocationModel of_second_;
  size_t added_ = 0;  // updates
  int refused_ = 0;
};

TEST(BatchAllocationTest, EachOneMayFail) {
  int refused = 0;
  int told = 0;
  for (bool failed = true; failed; told++) {
    AllocationStory story;
    g_until_failure = told;
    story.TellTwice();
    failed = g_until_failure < 0;
    g_until_failure = -1;
    refused += story.refused();
    story.Check();
    if (HasFailure()) {
      ADD_FAILURE() << "when allocation " << told << " failed";
      return;
    }
  }
  EXPECT_GT(told, 100);
  EXPECT_GE(refused, told - 1);
}

// Both batches know families of keys with timestamps that the other does not know.
TEST(BatchAllocationTest, AnAppendIsWholeOrNothing) {
  TimestampedFamily families[] = {TimestampedFamily(1), TimestampedFamily(2), TimestampedFamily(3)};
  WriteBatch src;
  for (TimestampedFamily& family : families) ASSERT_TRUE(src.Put(&family, "k", "v").ok());
  bool failed = true;
  for (int until = 0; failed; until++) {
    SCOPED_TRACE(until);
    WriteBatch dst(0, 0, 8, 8);
    ASSERT_TRUE(dst.Put("a", "1").ok());
    ASSERT_TRUE(dst.Put(&families[1], "b", "2").ok());
    const std::string before = dst.Data();
    g_until_failure = until;
    g_in_call = true;
    const Status s = WriteBatchInternal::Append(&dst, src);
    g_in_call = false;
    failed = g_until_failure < 0;
    g_until_failure = -1;
    ASSERT_EQ(s.ok(), !failed) << s.ToString();
    if (failed) {
      EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
      EXPECT_EQ(dst.Data(), before);
      EXPECT_EQ(WriteBatchInternal::TimestampedCount(dst), 2u);
      EXPECT_EQ(WriteBatchInternal::TimestampSizeUnless(dst, 1, 5), 0u);
      EXPECT_TRUE(dst.VerifyChecksum().ok());
      ASSERT_TRUE(WriteBatchInternal::Append(&dst, src).ok());
    }
    EXPECT_EQ(dst.Count(), 5u);
    EXPECT_EQ(WriteBatchInternal::TimestampedCount(dst), 5u);
    EXPECT_EQ(WriteBatchInternal::TimestampSizeUnless(dst, 1, 5), 8u);
    EXPECT_TRUE(dst.VerifyChecksum().ok());
    EXPECT_GE(until, failed ? 0 : 4);
  }
}

}  // namespace
}  // namespace varve::testing
