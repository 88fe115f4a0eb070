// SPDX-License-Identifier: Apache-2.0

// Tests timestamps in a batch: their place, the calls that may set them, and what the batch knows
// of them through all its other calls.

#include "db/write/batch_timestamps.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/db.h"

#include "db/write/batch_reader.h"
#include "db/write/write_batch_internal.h"

namespace varve {
namespace {

class FamilyOf : public ColumnFamilyHandle {
 public:
  FamilyOf(uint32_t id, const Comparator* comparator)
      : id_(id), comparator_(comparator), name_("family" + std::to_string(id)) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(ColumnFamilyDescriptor* /*desc*/) override {
    return Status::NotSupported("test");
  }
  const Comparator* GetComparator() const override { return comparator_; }

 private:
  const uint32_t id_;
  const Comparator* const comparator_;
  const std::string name_;
};

// Timestamps of two bytes.
class ShortStamps : public Comparator {
 public:
  ShortStamps() : Comparator(2) {}
  const char* Name() const override { return "test.ShortStamps"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

std::string U64(uint64_t ts) {
  std::string bytes;
  EncodeU64Ts(ts, &bytes);
  return bytes;
}

// Each update as "family:key" or "family:key..end", timestamps included.
std::vector<std::string> KeysOf(const WriteBatch& batch) {
  std::vector<std::string> keys;
  BatchReader reader(batch.Data());
  BatchRecord record;
  while (reader.Next(&record)) {
    if (!record.counted) continue;
    std::string key = std::to_string(record.column_family) + ":" + record.key.ToString();
    if (record.type == kTypeRangeDeletion) key += ".." + record.value.ToString();
    keys.push_back(key);
  }
  EXPECT_TRUE(reader.status().ok()) << reader.status().ToString();
  return keys;
}

using Keys = std::vector<std::string>;

class BatchTimestampsTest : public ::testing::Test {
 protected:
  // Family 0 has no timestamps, 1 has 8 bytes, 2 has 2 bytes.
  static size_t SizeOf(uint32_t family) { return family == 1 ? 8 : family == 2 ? 2 : 0; }
  static bool Waits(const WriteBatch& batch) {
    uint32_t family = 0;
    size_t size = 0;
    return WriteBatchInternal::HasUnsetTimestamps(batch, &family, &size);
  }
  // True if this is the only key that waits.
  static bool WaitsIn(const WriteBatch& batch, uint32_t family) {
    uint32_t found = 99;
    size_t size = 0;
    return WriteBatchInternal::HasUnsetTimestamps(batch, &found, &size) && found == family &&
           size == SizeOf(family);
  }
  static Status Set(WriteBatch* batch, uint32_t family, const Slice& ts) {
    return batch->UpdateTimestamps(
        ts, [family](uint32_t id) { return id == family ? SizeOf(id) : size_t{0}; });
  }

  const ShortStamps short_stamps_;
  FamilyOf plain_{0, BytewiseComparator()};
  FamilyOf long_{1, BytewiseComparatorWithU64Ts()};
  FamilyOf short_{2, &short_stamps_};
  const std::string zero8_ = std::string(8, '\0');
  const std::string zero2_ = std::string(2, '\0');
};

TEST_F(BatchTimestampsTest, EveryCallPutsThemBehindTheKey) {
  const std::string ts = U64(7);
  WriteBatch with;
  ASSERT_TRUE(with.Put(&long_, "p", ts, "v").ok());
  ASSERT_TRUE(with.Delete(&long_, "d", ts).ok());
  ASSERT_TRUE(with.SingleDelete(&long_, "s", ts).ok());
  ASSERT_TRUE(with.Merge(&long_, "m", ts, "v").ok());
  ASSERT_TRUE(with.DeleteRange(&long_, "a", "b", ts).ok());
  const Keys expected = {"1:p" + ts, "1:d" + ts, "1:s" + ts, "1:m" + ts, "1:a" + ts + "..b" + ts};
  EXPECT_EQ(KeysOf(with), expected);
  EXPECT_FALSE(Waits(with));

  // Without a timestamp the same bytes are reserved, and one call fills them.
  const Slice parts[] = {"", "p"};
  const SliceParts p(parts, 2);
  const Slice v("v");
  WriteBatch without;
  ASSERT_TRUE(without.Put(&long_, p, SliceParts(&v, 1)).ok());
  ASSERT_TRUE(without.Delete(&long_, "d").ok());
  ASSERT_TRUE(without.SingleDelete(&long_, "s").ok());
  ASSERT_TRUE(without.Merge(&long_, "m", "v").ok());
  ASSERT_TRUE(without.DeleteRange(&long_, "a", "b").ok());
  EXPECT_TRUE(WaitsIn(without, 1));
  EXPECT_EQ(KeysOf(without)[0], "1:p" + zero8_);
  EXPECT_EQ(KeysOf(without)[4], "1:a" + zero8_ + "..b" + zero8_);
  ASSERT_TRUE(without.UpdateTimestamps(ts, SizeOf).ok());
  EXPECT_EQ(without.Data(), with.Data());
  EXPECT_FALSE(Waits(without));
}

TEST_F(BatchTimestampsTest, CallsWithoutAHandleNeedToBeTold) {
  WriteBatch told(0, 0, 0, 8);
  ASSERT_TRUE(told.Put(nullptr, "k", U64(1), "v").ok());
  ASSERT_TRUE(told.Put("l", "v").ok());
  EXPECT_TRUE(Waits(told));
  EXPECT_EQ(KeysOf(told), (Keys{"0:k" + U64(1), "0:l" + zero8_}));
  const Status s = told.Put(nullptr, "k", "short", "v");
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("default"), std::string::npos) << s.ToString();
  WriteBatch untold;
  EXPECT_TRUE(untold.Delete(nullptr, "k", U64(1)).IsInvalidArgument());
  ASSERT_TRUE(untold.Put("k", "v").ok());
  EXPECT_FALSE(Waits(untold));
  EXPECT_EQ(KeysOf(untold), (Keys{"0:k"}));
}

TEST_F(BatchTimestampsTest, WrongSizesAreRefusedWithBothSizesAndTheFamily) {
  WriteBatch batch;
  for (const Status& s :
       {batch.Put(&long_, "k", "12345", "v"), batch.Delete(&long_, "k", "12345"),
        batch.SingleDelete(&long_, "k", "12345"), batch.Merge(&long_, "k", "12345", "v"),
        batch.DeleteRange(&long_, "k", "l", "12345")}) {
    EXPECT_TRUE(s.IsInvalidArgument());
    for (const char* part : {"5", "family1", "8"}) {
      EXPECT_NE(s.ToString().find(part), std::string::npos) << s.ToString();
    }
  }
  EXPECT_TRUE(batch.Put(&plain_, "k", U64(1), "v").IsInvalidArgument());
  EXPECT_TRUE(batch.Put(&plain_, "k", "", "v").IsInvalidArgument());
  EXPECT_TRUE(batch.Put(&long_, "k", "", "v").IsInvalidArgument());
  EXPECT_EQ(batch.GetDataSize(), kBatchHeaderBytes);
}

TEST_F(BatchTimestampsTest, AFamilyThatIsSkippedStillWaits) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(&long_, "l", "v").ok());
  ASSERT_TRUE(batch.Put(&plain_, "plain key", "v").ok());
  ASSERT_TRUE(batch.Put(&short_, "s", "v").ok());
  ASSERT_TRUE(Set(&batch, 1, U64(3)).ok());
  EXPECT_TRUE(WaitsIn(batch, 2));
  EXPECT_EQ(KeysOf(batch), (Keys{"1:l" + U64(3), "0:plain key", "2:s" + zero2_}));
  ASSERT_TRUE(Set(&batch, 2, "ab").ok());
  EXPECT_FALSE(Waits(batch));
  EXPECT_EQ(KeysOf(batch), (Keys{"1:l" + U64(3), "0:plain key", "2:sab"}));
  // Timestamps that were given with a key are overwritten as well.
  ASSERT_TRUE(batch.Put(&long_, "m", U64(4), "v").ok());
  ASSERT_TRUE(Set(&batch, 1, U64(5)).ok());
  EXPECT_EQ(KeysOf(batch), (Keys{"1:l" + U64(5), "0:plain key", "2:sab", "1:m" + U64(5)}));
  // Skipping a family whose keys have theirs leaves nothing waiting.
  ASSERT_TRUE(Set(&batch, 2, "cd").ok());
  EXPECT_FALSE(Waits(batch));
}

TEST_F(BatchTimestampsTest, WhatCannotBePutInChangesNothing) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(&long_, "l", "v").ok());
  ASSERT_TRUE(batch.Put(&short_, "sixteen letters.", "v").ok());
  ASSERT_TRUE(batch.Put(&plain_, "sixteen letters.", "v").ok());
  const std::string before = batch.Data();
  const auto refused = [&](const Status& s) {
    EXPECT_EQ(batch.Data(), before);
    EXPECT_TRUE(Waits(batch));
    return s;
  };
  EXPECT_TRUE(refused(batch.UpdateTimestamps("", SizeOf)).IsInvalidArgument());
  EXPECT_TRUE(refused(batch.UpdateTimestamps(U64(1), SizeOf)).IsInvalidArgument());
  const auto unknown = [](uint32_t id) { return id == 0 ? SIZE_MAX : size_t{0}; };
  EXPECT_TRUE(refused(batch.UpdateTimestamps(U64(1), unknown)).IsNotFound());
  // The function is wrong: no room was left in these keys, or less.
  for (const uint32_t wrong : {0u, 2u}) {
    const auto func = [wrong](uint32_t id) { return id == wrong || id == 1 ? size_t{8} : 0; };
    const Status s = refused(batch.UpdateTimestamps(U64(1), func));
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  }
  EXPECT_TRUE(refused(batch.AssignTimestamp("")).IsInvalidArgument());
  EXPECT_TRUE(refused(batch.AssignTimestamp(U64(1))).IsInvalidArgument());
  const auto no = [](uint32_t id, size_t&) {
    return id == 2 ? Status::Aborted("no") : Status::OK();
  };
  EXPECT_TRUE(refused(batch.AssignTimestamp(U64(1), no)).IsAborted());
  EXPECT_TRUE(refused(batch.AssignTimestamps({U64(1), "ab"})).IsInvalidArgument());
  const std::string ts = U64(1);
  EXPECT_TRUE(refused(batch.AssignTimestamps({ts, "abc", ""})).IsInvalidArgument());
  EXPECT_TRUE(refused(batch.AssignTimestamps({ts, "", ""})).IsInvalidArgument());
  EXPECT_TRUE(refused(batch.AssignTimestamps({ts, "ab", "ab"})).IsInvalidArgument());
}

TEST_F(BatchTimestampsTest, OlderNames) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(&long_, "l", "v").ok());
  ASSERT_TRUE(batch.PutLogData("takes none").ok());
  ASSERT_TRUE(batch.Put(&plain_, "p", "v").ok());
  ASSERT_TRUE(batch.DeleteRange(&long_, "a", "b").ok());
  const std::string one = U64(1);
  const std::string two = U64(2);
  const std::string three = U64(3);
  ASSERT_TRUE(batch.AssignTimestamp(one).ok());
  EXPECT_EQ(KeysOf(batch), (Keys{"1:l" + one, "0:p", "1:a" + one + "..b" + one}));
  EXPECT_FALSE(Waits(batch));
  ASSERT_TRUE(batch.AssignTimestamps({two, "", three}).ok());
  EXPECT_EQ(KeysOf(batch), (Keys{"1:l" + two, "0:p", "1:a" + three + "..b" + three}));
  std::vector<std::pair<uint32_t, size_t>> asked;
  const auto checker = [&asked](uint32_t id, size_t& size) {
    asked.emplace_back(id, size);
    size = SizeOf(id);
    return Status::OK();
  };
  ASSERT_TRUE(batch.AssignTimestamp(three, checker).ok());
  EXPECT_EQ(KeysOf(batch), (Keys{"1:l" + three, "0:p", "1:a" + three + "..b" + three}));
  EXPECT_EQ(asked.front(), std::make_pair(1u, size_t{8}));
  ASSERT_TRUE(batch.AssignTimestamps({one, "", two}, checker).ok());
  EXPECT_EQ(KeysOf(batch), (Keys{"1:l" + one, "0:p", "1:a" + two + "..b" + two}));
}

TEST_F(BatchTimestampsTest, AdoptedBytesMayHaveThemAnywhere) {
  WriteBatch source;
  ASSERT_TRUE(source.Put(&long_, "l", "v").ok());
  ASSERT_TRUE(source.Put(&plain_, "p", "v").ok());
  WriteBatch adopted(source.Data());
  EXPECT_FALSE(Waits(adopted));
  EXPECT_TRUE(WriteBatchInternal::IsAdopted(adopted));
  EXPECT_TRUE(adopted.HasPut());  // having looked changes nothing
  EXPECT_TRUE(WriteBatchInternal::IsAdopted(adopted));
  ASSERT_TRUE(adopted.UpdateTimestamps(U64(4), SizeOf).ok());
  EXPECT_EQ(KeysOf(adopted), (Keys{"1:l" + U64(4), "0:p"}));
  // The key of the other family is too short for one.
  const std::string before = adopted.Data();
  EXPECT_TRUE(adopted.AssignTimestamp(U64(5)).IsCorruption());
  EXPECT_EQ(adopted.Data(), before);
  adopted.Clear();
  EXPECT_FALSE(WriteBatchInternal::IsAdopted(adopted));
}

TEST_F(BatchTimestampsTest, CopiesAndMovesKnowWhatTheyWaitFor) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(&short_, "s", "12", "v").ok());
  ASSERT_TRUE(batch.Put(&long_, "l", "v").ok());
  WriteBatch copy(batch);
  EXPECT_TRUE(WaitsIn(copy, 1));
  ASSERT_TRUE(Set(&copy, 1, U64(1)).ok());
  EXPECT_FALSE(Waits(copy));
  EXPECT_TRUE(WaitsIn(batch, 1));
  WriteBatch moved(std::move(batch));
  EXPECT_TRUE(WaitsIn(moved, 1));
  EXPECT_FALSE(Waits(batch));  // NOLINT(bugprone-use-after-move): empty, as documented
  EXPECT_EQ(WriteBatchInternal::TimestampedCount(batch), 0u);
  ASSERT_TRUE(batch.Put(&long_, "again", "v").ok());
  EXPECT_TRUE(WaitsIn(batch, 1));
  batch = std::move(copy);
  EXPECT_FALSE(Waits(batch));
  EXPECT_EQ(WriteBatchInternal::TimestampedCount(batch), 2u);
  batch = moved;
  EXPECT_TRUE(WaitsIn(batch, 1));
  batch.Clear();
  EXPECT_FALSE(Waits(batch));
  EXPECT_EQ(WriteBatchInternal::TimestampSizeUnless(batch, 1, 0), 0u);
}

TEST_F(BatchTimestampsTest, AppendingTakesThemAlong) {
  WriteBatch a;
  ASSERT_TRUE(a.Put(&plain_, "p", "v").ok());
  WriteBatch b;
  ASSERT_TRUE(b.Put(&long_, "l", U64(1), "v").ok());
  ASSERT_TRUE(b.Put(&short_, "s", "v").ok());
  ASSERT_TRUE(WriteBatchInternal::Append(&a, b).ok());
  EXPECT_TRUE(WaitsIn(a, 2));
  EXPECT_EQ(WriteBatchInternal::TimestampedCount(a), 2u);
  a.SetSavePoint();
  ASSERT_TRUE(WriteBatchInternal::Append(&a, a).ok());
  EXPECT_EQ(WriteBatchInternal::TimestampedCount(a), 4u);
  ASSERT_TRUE(Set(&a, 2, "ab").ok());
  EXPECT_FALSE(Waits(a));
  ASSERT_TRUE(WriteBatchInternal::Append(&a, b).ok());
  EXPECT_TRUE(WaitsIn(a, 2));
  ASSERT_TRUE(a.RollbackToSavePoint().ok());
  EXPECT_FALSE(Waits(a));
  EXPECT_EQ(KeysOf(a), (Keys{"0:p", "1:l" + U64(1), "2:sab"}));
  EXPECT_EQ(WriteBatchInternal::TimestampedCount(a), 2u);
}

TEST_F(BatchTimestampsTest, RollingBackForgetsWhatIsGoneAndNothingElse) {
  WriteBatch batch;
  batch.SetSavePoint();  // empty
  ASSERT_TRUE(batch.Put(&long_, "l", U64(1), "v").ok());
  batch.SetSavePoint();  // nothing waits
  ASSERT_TRUE(batch.Put(&long_, "m", "v").ok());
  batch.SetSavePoint();  // m waits
  ASSERT_TRUE(batch.Put(&short_, "s", "v").ok());
  EXPECT_TRUE(Waits(batch));
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_TRUE(WaitsIn(batch, 1));
  EXPECT_EQ(WriteBatchInternal::TimestampSizeUnless(batch, 2, 0), 0u);
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_FALSE(Waits(batch));
  EXPECT_EQ(WriteBatchInternal::TimestampSizeUnless(batch, 1, 8), 8u);
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_FALSE(WriteBatchInternal::HasTimestamps(batch));

  // Timestamps set after the save point stay set.
  ASSERT_TRUE(batch.Put(&long_, "l", "v").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(Set(&batch, 1, U64(1)).ok());
  ASSERT_TRUE(batch.Put(&long_, "m", "v").ok());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_FALSE(Waits(batch));
}

TEST_F(BatchTimestampsTest, ChecksumsFollow) {
  WriteBatch batch(0, 0, 8, 0);
  ASSERT_TRUE(batch.Put(&long_, "l", "v").ok());
  ASSERT_TRUE(batch.DeleteRange(&long_, "a", "b").ok());
  ASSERT_TRUE(batch.VerifyChecksum().ok());
  ASSERT_TRUE(Set(&batch, 1, U64(1)).ok());
  EXPECT_TRUE(batch.VerifyChecksum().ok());
  WriteBatchInternal::Rep(&batch)->back() ^= 1;
  EXPECT_TRUE(batch.VerifyChecksum().IsCorruption());
  // Damage gets no new checksum.
  EXPECT_TRUE(Set(&batch, 1, U64(2)).IsCorruption());
  EXPECT_TRUE(batch.VerifyChecksum().IsCorruption());
}

// A model: each update as (family, key without timestamp, timestamp or nothing).
struct ModelUpdate {
  uint32_t family;
  std::string key;
  std::string ts;
  bool set;
};

struct ModelBatch {
  std::vector<ModelUpdate> updates;
  std::vector<size_t> save_points;

  bool Waits() const {
    for (const ModelUpdate& u : updates) {
      if (!u.set) return true;
    }
    return false;
  }
  Keys AllKeys() const {
    Keys keys;
    for (const ModelUpdate& u : updates)
      keys.push_back(std::to_string(u.family) + ":" + u.key + u.ts);
    return keys;
  }
};

TEST_F(BatchTimestampsTest, RandomCallsKeepTheBatchAndAModelAlike) {
  std::mt19937 random(31);
  FamilyOf* const families[] = {&plain_, &long_, &short_};
  for (int round = 0; round < 300; round++) {
    WriteBatch batch(0, 0, round % 3 == 0 ? 8 : 0, 0);
    ModelBatch model;
    for (int step = 0; step < 60; step++) {
      SCOPED_TRACE(std::to_string(round) + "." + std::to_string(step));
      const uint32_t family = random() % 3;
      const size_t size = SizeOf(family);
      const std::string ts(size, static_cast<char>('0' + random() % 10));
      const std::string key = "key" + std::to_string(step);
      switch (random() % 8) {
        case 0:
        case 1:
          ASSERT_TRUE(batch.Put(families[family], key, "v").ok());
          model.updates.push_back({family, key, std::string(size, '\0'), size == 0});
          break;
        case 2:
          ASSERT_EQ(batch.Delete(families[family], key, ts).ok(), size != 0);
          if (size != 0) model.updates.push_back({family, key, ts, true});
          break;
        case 3:
          ASSERT_EQ(Set(&batch, family, ts).ok(), size != 0);
          for (ModelUpdate& u : model.updates) {
            if (u.family == family && size != 0) u.ts = ts, u.set = true;
          }
          break;
        case 4:
          batch.SetSavePoint();
          model.save_points.push_back(model.updates.size());
          break;
        case 5:
          ASSERT_EQ(batch.RollbackToSavePoint().ok(), !model.save_points.empty());
          if (model.save_points.empty()) break;
          model.updates.resize(model.save_points.back());
          model.save_points.pop_back();
          break;
        case 6:
          batch = random() % 2 == 0 ? WriteBatch(batch) : WriteBatch(std::move(batch));
          break;
        case 7: {
          WriteBatch more;
          ASSERT_TRUE(more.Put(families[family], key, "v").ok());
          ASSERT_TRUE(WriteBatchInternal::Append(&batch, more).ok());
          model.updates.push_back({family, key, std::string(size, '\0'), size == 0});
          break;
        }
      }
      ASSERT_EQ(KeysOf(batch), model.AllKeys());
      ASSERT_EQ(Waits(batch), model.Waits());
      ASSERT_TRUE(batch.VerifyChecksum().ok());
      size_t stamped = 0;
      for (const ModelUpdate& u : model.updates) stamped += u.ts.empty() ? 0 : 1;
      ASSERT_EQ(WriteBatchInternal::TimestampedCount(batch), stamped);
    }
  }
}

}  // namespace
}  // namespace varve
