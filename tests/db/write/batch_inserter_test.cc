// SPDX-License-Identifier: Apache-2.0

// Tests which batches are refused before they are logged, and what is put into memtables.

#include "db/write/batch_inserter.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "varve/comparator.h"
#include "varve/write_batch.h"

#include "db/write/write_batch_internal.h"

namespace varve {
namespace {

class Families : public MemTableResolver {
 public:
  Families() {
    comparators_ = {{0, BytewiseComparator()},
                    {3, ReverseBytewiseComparator()},
                    {5, BytewiseComparatorWithU64Ts()}};
    for (const auto& [id, comparator] : comparators_) {
      tables_[id] =
          std::make_unique<MemTable>(InternalKeyComparator(comparator), MemTableOptions(), id);
    }
  }
  std::string NameOf(uint32_t id) override { return id == 5 ? "stamped" : "plain"; }
  MemTable* Find(uint32_t id) override {
    const auto it = tables_.find(id);
    return it == tables_.end() ? nullptr : it->second.get();
  }
  const Comparator* ComparatorOf(uint32_t id) override {
    const auto it = comparators_.find(id);
    return it == comparators_.end() ? nullptr : it->second;
  }
  bool IsAlreadyInTables(uint32_t id) override { return flushed.count(id) != 0; }

  std::set<uint32_t> flushed;

 private:
  std::map<uint32_t, const Comparator*> comparators_;
  std::map<uint32_t, std::unique_ptr<MemTable>> tables_;
};

class BatchInserterTest : public ::testing::Test {
 protected:
  static Status Add(WriteBatch* batch, ValueType type, uint32_t family, const Slice& key,
                    const Slice& value = Slice()) {
    return WriteBatchInternal::AddRecord(batch, type, family, SliceParts(&key, 1),
                                         SliceParts(&value, 1));
  }
  Status Check(const WriteBatch& batch, bool ignore_missing = false) {
    return CheckBatch(batch.Data(), &families_, {ignore_missing}, &batch);
  }
  // True for an InvalidArgument that names the family and both sizes.
  static bool IsSizeError(const Status& s, const std::string& family, size_t given, size_t due) {
    const std::string text = s.ToString();
    return s.IsInvalidArgument() && text.find(family) != std::string::npos &&
           text.find("of " + std::to_string(given) + " bytes") != std::string::npos &&
           text.find("of " + std::to_string(due)) != std::string::npos;
  }
  // Writes as the public calls do, for a family of that timestamp size.
  static Status Stamp(WriteBatch* batch, ValueType type, uint32_t family, const Slice& key,
                      const Slice& value, size_t size, const char* ts) {
    return WriteBatchInternal::AddRecord(batch, type, family, SliceParts(&key, 1),
                                         SliceParts(&value, 1), {size, ts});
  }
  std::string Get(uint32_t family, const Slice& key) {
    PinnableSlice value;
    PointLookup lookup(key, kMaxSequenceNumber, &value);
    if (!families_.Find(family)->Get(&lookup)) return "(unknown)";
    if (lookup.state() != PointLookup::State::kFound) return "(deleted)";
    return value.ToString() + "@" + std::to_string(lookup.found_seq());
  }

  Families families_;
};

TEST_F(BatchInserterTest, ChecksRefuseWhatCouldNotBeInserted) {
  WriteBatch unknown;
  ASSERT_TRUE(Add(&unknown, kTypeValue, 7, "k", "v").ok());
  EXPECT_TRUE(Check(unknown).IsInvalidArgument());
  EXPECT_TRUE(Check(unknown, true).ok());

  WriteBatch reversed;
  ASSERT_TRUE(reversed.DeleteRange("b", "a").ok());
  EXPECT_TRUE(Check(reversed).IsInvalidArgument());
  WriteBatch equal;
  ASSERT_TRUE(equal.DeleteRange("b", "b").ok());
  EXPECT_TRUE(Check(equal).ok());
  WriteBatch descending;  // in order for that family's comparator
  ASSERT_TRUE(Add(&descending, kTypeRangeDeletion, 3, "b", "a").ok());
  EXPECT_TRUE(Check(descending).ok());

  WriteBatch merge;
  ASSERT_TRUE(merge.Put("a", "1").ok());
  ASSERT_TRUE(merge.Merge("k", "v").ok());
  const Status s = Check(merge);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("merge_operator"), std::string::npos);

  EXPECT_TRUE(Check(WriteBatch()).ok());
}

TEST_F(BatchInserterTest, ChecksRefuseForeignRecordsByName) {
  const std::string header(8, '\0');
  const struct {
    std::string records;
    char count;
    const char* name;
  } cases[] = {
      {std::string("\x11\x01k\x01v", 5), 1, "blob"},
      {std::string("\x18\x01k\x01v", 5), 1, "TimedPut"},
      {std::string("\x09", 1), 0, "two-phase commit"},
      {std::string("\x0b\x01x", 3), 0, "two-phase commit"},
  };
  for (const auto& c : cases) {
    const WriteBatch batch(header + c.count + std::string(3, '\0') + c.records);
    const Status s = Check(batch);
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_NE(s.ToString().find(c.name), std::string::npos) << s.ToString();
    BatchInsertResult result;
    EXPECT_TRUE(InsertBatch(batch.Data(), 1, &families_, &result).IsNotSupported());
  }
  const WriteBatch ill_formed(header + '\1' + std::string("\0\0\0\x16\x01k\x01\x01", 8));
  EXPECT_TRUE(Check(ill_formed).IsCorruption());
  const WriteBatch wrong_count(header + std::string("\x02\0\0\0\x00\x01k", 7));
  EXPECT_TRUE(Check(wrong_count).IsCorruption());
  const WriteBatch one_shot(header + std::string("\x01\0\0\0\x0d\x00\x01k", 8));
  EXPECT_TRUE(Check(one_shot).ok());
}

TEST_F(BatchInserterTest, TimestampsFitTheirFamilies) {
  const char* const ts = "TSTSTSTS";
  WriteBatch good;
  ASSERT_TRUE(Add(&good, kTypeValue, 0, "k", "v").ok());
  ASSERT_TRUE(Stamp(&good, kTypeValue, 5, "k", "v", 8, ts).ok());
  ASSERT_TRUE(Stamp(&good, kTypeRangeDeletion, 5, "a", "b", 8, ts).ok());
  ASSERT_TRUE(Add(&good, kTypeDeletion, 3, "k").ok());
  EXPECT_TRUE(Check(good).ok());

  WriteBatch waiting;
  ASSERT_TRUE(Stamp(&waiting, kTypeDeletion, 5, "k", "", 8, nullptr).ok());
  EXPECT_TRUE(IsSizeError(Check(waiting), "stamped", 0, 8)) << Check(waiting).ToString();
  ASSERT_TRUE(waiting.UpdateTimestamps(ts, [](uint32_t) { return size_t{8}; }).ok());
  EXPECT_TRUE(Check(waiting).ok());

  WriteBatch needless;
  ASSERT_TRUE(Stamp(&needless, kTypeValue, 3, "k", "v", 8, ts).ok());
  EXPECT_TRUE(IsSizeError(Check(needless), "plain", 8, 0)) << Check(needless).ToString();
  WriteBatch missing;  // long enough to hold one, but none was given
  ASSERT_TRUE(Add(&missing, kTypeValue, 5, "a key of some length", "v").ok());
  EXPECT_TRUE(IsSizeError(Check(missing), "stamped", 0, 8)) << Check(missing).ToString();
  WriteBatch short_one;
  ASSERT_TRUE(Stamp(&short_one, kTypeValue, 5, "a key of some length", "v", 4, ts).ok());
  EXPECT_TRUE(IsSizeError(Check(short_one), "stamped", 4, 8)) << Check(short_one).ToString();
  WriteBatch mixed;
  ASSERT_TRUE(Stamp(&mixed, kTypeValue, 5, "k", "v", 8, ts).ok());
  ASSERT_TRUE(Add(&mixed, kTypeValue, 5, "a key of some length", "v").ok());
  EXPECT_TRUE(Check(mixed).IsInvalidArgument());
  WriteBatch both;
  ASSERT_TRUE(Stamp(&both, kTypeValue, 5, "k", "v", 8, ts).ok());
  ASSERT_TRUE(Stamp(&both, kTypeValue, 5, "k", "v", 4, ts).ok());
  EXPECT_TRUE(IsSizeError(Check(both), "stamped", 4, 8)) << Check(both).ToString();

  // A family that is gone is no reason to refuse the others.
  WriteBatch gone(good);
  ASSERT_TRUE(Stamp(&gone, kTypeValue, 9, "k", "v", 8, ts).ok());
  EXPECT_TRUE(Check(gone).IsInvalidArgument());
  EXPECT_TRUE(Check(gone, true).ok()) << Check(gone, true).ToString();
}

TEST_F(BatchInserterTest, AdoptedKeysAreLongEnoughForTheirTimestamps) {
  for (const ValueType type : {kTypeValue, kTypeRangeDeletion}) {
    WriteBatch source;
    ASSERT_TRUE(Add(&source, type, 5, "key and more", "same, longer").ok());
    EXPECT_TRUE(Check(WriteBatch(source.Data())).ok());
    WriteBatch with_short_key;
    ASSERT_TRUE(Add(&with_short_key, type, 5, "a key", "same, longer").ok());
    EXPECT_TRUE(IsSizeError(Check(WriteBatch(with_short_key.Data())), "stamped", 5, 8));
    BatchInsertResult result;
    EXPECT_TRUE(InsertBatch(with_short_key.Data(), 1, &families_, &result).IsCorruption());
    EXPECT_EQ(families_.Find(5)->entry_count(), 0u);
  }
  WriteBatch with_short_end;
  ASSERT_TRUE(Add(&with_short_end, kTypeRangeDeletion, 5, "key and more", "z").ok());
  EXPECT_TRUE(IsSizeError(Check(WriteBatch(with_short_end.Data())), "stamped", 1, 8));
}

TEST_F(BatchInserterTest, RangesAreComparedWithoutTimestamps) {
  const struct {
    const char* begin;
    const char* end;
    bool good;
  } cases[] = {{"b", "a", false}, {"a", "a", true}, {"a", "b", true}, {"a", "ab", true}};
  for (const auto& c : cases) {
    for (const char* ts : {"\1\1\1\1\1\1\1\1", "zzzzzzzz"}) {
      WriteBatch batch;
      ASSERT_TRUE(Stamp(&batch, kTypeRangeDeletion, 5, c.begin, c.end, 8, ts).ok());
      EXPECT_EQ(Check(batch).ok(), c.good) << c.begin << c.end;
    }
  }
  // The older timestamp sorts after the newer one: in order all the same.
  WriteBatch source;
  ASSERT_TRUE(Add(&source, kTypeRangeDeletion, 5, "a11111111", "a22222222").ok());
  EXPECT_TRUE(Check(WriteBatch(source.Data())).ok());
}

TEST_F(BatchInserterTest, DeletionsOfKeysWithTimestampsHaveATypeOfTheirOwn) {
  WriteBatch batch;
  ASSERT_TRUE(Stamp(&batch, kTypeDeletion, 5, "d", "", 8, "TSTSTSTS").ok());
  ASSERT_TRUE(Stamp(&batch, kTypeSingleDeletion, 5, "s", "", 8, "TSTSTSTS").ok());
  ASSERT_TRUE(Add(&batch, kTypeDeletion, 0, "d").ok());
  ASSERT_TRUE(Stamp(&batch, kTypeValue, 5, "v", "value", 8, "TSTSTSTS").ok());
  EXPECT_EQ(batch.Data()[kBatchHeaderBytes], static_cast<char>(kTypeColumnFamilyDeletion));
  BatchInsertResult result;
  ASSERT_TRUE(InsertBatch(batch.Data(), 1, &families_, &result).ok());
  const auto types = [this](uint32_t family) {
    std::string found;
    const std::unique_ptr<InternalIterator> it = families_.Find(family)->NewIterator();
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      found += it->key()[0];
      found += std::to_string(ExtractValueType(it->key())) + " ";
    }
    return found;
  };
  EXPECT_EQ(types(5), "d20 s7 v1 ");
  EXPECT_EQ(types(0), "d0 ");
}

TEST_F(BatchInserterTest, EachUpdateGetsTheNextSequence) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.PutLogData("takes none").ok());
  ASSERT_TRUE(Add(&batch, kTypeValue, 9, "lost", "but counted").ok());
  ASSERT_TRUE(Add(&batch, kTypeValue, 3, "a", "2").ok());
  ASSERT_TRUE(batch.Put("b", "3").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  ASSERT_TRUE(batch.DeleteRange("c", "d").ok());
  BatchInsertResult result;
  ASSERT_TRUE(InsertBatch(batch.Data(), 100, &families_, &result).ok());
  EXPECT_EQ(result.next_sequence, 106u);
  EXPECT_EQ(result.inserted, 5u);
  EXPECT_EQ(Get(0, "a"), "1@100");
  EXPECT_EQ(Get(3, "a"), "2@102");
  EXPECT_EQ(Get(0, "b"), "(deleted)");
  EXPECT_EQ(Get(0, "c"), "(deleted)");
  EXPECT_EQ(families_.Find(0)->RangeTombstones().at(0)->max_seq(), 105u);
}

TEST_F(BatchInserterTest, LongBatchesOfSeveralFamiliesAreInsertedWhole) {
  WriteBatch batch;
  for (int i = 0; i < 500; i++) {
    // Runs of 1 to 50 in one family.
    const uint32_t family = i % 51 < i / 10 ? 0 : 3;
    ASSERT_TRUE(Add(&batch, kTypeValue, family, "k" + std::to_string(i), "v").ok());
  }
  BatchInsertResult result;
  ASSERT_TRUE(InsertBatch(batch.Data(), 1000, &families_, &result).ok());
  EXPECT_EQ(result.next_sequence, 1500u);
  EXPECT_EQ(result.inserted, 500u);
  for (int i = 0; i < 500; i++) {
    const uint32_t family = i % 51 < i / 10 ? 0 : 3;
    const std::string key = "k" + std::to_string(i);
    ASSERT_EQ(Get(family, key), "v@" + std::to_string(1000 + i));
    ASSERT_EQ(Get(3 - family, key), "(unknown)");
  }
}

// Each key's newest update wins, and each has the sequence that its place in the batch gives it.
TEST_F(BatchInserterTest, LargeBatchesAreInsertedWholeAndKeepTheirOrder) {
  constexpr int kUpdates = 70'000;
  constexpr SequenceNumber kFirst = 1000;
  WriteBatch batch;
  std::map<std::pair<uint32_t, std::string>, std::string> expected;
  uint32_t state = 1;
  for (int i = 0; i < kUpdates; i++) {
    state = state * 1664525 + 1013904223;
    const uint32_t family = i % 20'000 < 17'000 ? 0 : 3;
    const std::string key = "key" + std::to_string(state % 30'000);
    const bool is_delete = i % 11 == 0;
    ASSERT_TRUE(
        Add(&batch, is_delete ? kTypeDeletion : kTypeValue, family, key, is_delete ? "" : "v")
            .ok());
    expected[{family, key}] = is_delete ? "(deleted)" : "v@" + std::to_string(kFirst + i);
  }
  ASSERT_TRUE(Add(&batch, kTypeRangeDeletion, 0, "key1", "key2").ok());
  BatchInsertResult result;
  ASSERT_TRUE(InsertBatch(batch.Data(), kFirst, &families_, &result).ok());
  EXPECT_EQ(result.next_sequence, kFirst + kUpdates + 1);
  EXPECT_EQ(result.inserted, static_cast<uint64_t>(kUpdates) + 1);
  EXPECT_EQ(families_.Find(0)->first_seq(), kFirst);
  EXPECT_EQ(families_.Find(0)->entry_count() + families_.Find(3)->entry_count(), result.inserted);
  for (const auto& [where, value] : expected) {
    const bool covered = where.first == 0 && where.second >= "key1" && where.second < "key2";
    ASSERT_EQ(Get(where.first, where.second), covered ? "(deleted)" : value) << where.second;
  }
}

TEST_F(BatchInserterTest, EntriesOfSeveralBatchesWaitForFlush) {
  WriteBatch first;
  ASSERT_TRUE(first.Put("a", "1").ok());
  WriteBatch second;
  ASSERT_TRUE(second.Put("b", "2").ok());
  BatchInserter inserter(&families_);
  SequenceNumber next = 0;
  ASSERT_TRUE(inserter.Insert(first.Data(), 10, &next).ok());
  EXPECT_EQ(next, 11u);
  ASSERT_TRUE(inserter.Insert(second.Data(), 11, &next).ok());
  EXPECT_EQ(next, 12u);
  EXPECT_EQ(inserter.inserted(), 0u);
  ASSERT_TRUE(inserter.Flush().ok());
  EXPECT_EQ(inserter.inserted(), 2u);
  EXPECT_EQ(Get(0, "a"), "1@10");
  EXPECT_EQ(Get(0, "b"), "2@11");
}

// A batch of one update is inserted as that update is; any other stays a batch.
TEST_F(BatchInserterTest, ABatchOfOneUpdateIsTakenForIt) {
  const auto found = [this](WriteBatch* batch) {
    WriteRequest request(batch);
    const Status s = CheckRequest(&request, &families_, {});
    EXPECT_EQ(s.ToString(), Check(*batch).ToString());
    const bool is_one = request.update() != nullptr;
    EXPECT_EQ(request.bytes(), batch->GetDataSize());
    EXPECT_EQ(request.head(), Slice(batch->Data()));
    EXPECT_TRUE(request.tail().empty());
    EXPECT_EQ(request.batch(), batch);
    if (is_one) {
      EXPECT_EQ(request.has_merges(), batch->HasMerge());
    }
    return is_one;
  };
  const auto one = [&found](const std::function<Status(WriteBatch*)>& add) {
    WriteBatch batch;
    EXPECT_TRUE(add(&batch).ok());
    return found(&batch);
  };
  EXPECT_TRUE(one([](WriteBatch* b) { return b->Put("k", "v"); }));
  EXPECT_TRUE(one([](WriteBatch* b) { return b->Put("", ""); }));
  EXPECT_TRUE(one([](WriteBatch* b) { return b->Merge("k", "v"); }));
  EXPECT_TRUE(one([](WriteBatch* b) { return b->Delete("k"); }));
  EXPECT_TRUE(one([](WriteBatch* b) { return b->SingleDelete("k"); }));
  EXPECT_TRUE(one([](WriteBatch* b) { return b->DeleteRange("a", "b"); }));
  EXPECT_TRUE(one([](WriteBatch* b) { return b->DeleteRange("b", "a"); }));
  EXPECT_FALSE(one([](WriteBatch* b) { return b->PutLogData("x"); }));
  EXPECT_FALSE(one([](WriteBatch*) { return Status::OK(); }));
  EXPECT_FALSE(
      one([](WriteBatch* b) { return b->Put("k", "v").ok() ? b->Put("l", "w") : Status(); }));
  EXPECT_FALSE(
      one([](WriteBatch* b) { return b->Put("k", "v").ok() ? b->PutLogData("x") : Status(); }));
  const auto of_family = [&found](uint32_t id, const std::string& key) {
    WriteBatch batch;
    EXPECT_TRUE(Add(&batch, kTypeValue, id, key, "v").ok());
    WriteBatch adopted(batch.Data());
    const bool is_one = found(&batch);
    EXPECT_EQ(found(&adopted), is_one);
    return is_one;
  };
  EXPECT_TRUE(of_family(0, "k") && of_family(3, "k"));
  EXPECT_FALSE(of_family(4, "k"));                        // there is none
  EXPECT_FALSE(of_family(5, "k" + std::string(8, 't')));  // with timestamps

  WriteBatch good;
  ASSERT_TRUE(good.Put("k", "v").ok());
  const std::string rep = good.Data();
  for (size_t i = kBatchHeaderBytes; i < rep.size(); i++) {
    WriteBatch cut(rep.substr(0, i));
    EXPECT_FALSE(found(&cut)) << i;
  }
  WriteBatch longer(rep + "x");
  EXPECT_FALSE(found(&longer));
}

TEST_F(BatchInserterTest, UpdatesThatAreInTablesAreSkippedButCounted) {
  families_.flushed = {0};
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(Add(&batch, kTypeValue, 3, "a", "2").ok());
  BatchInsertResult result;
  ASSERT_TRUE(InsertBatch(batch.Data(), 100, &families_, &result).ok());
  EXPECT_EQ(result.next_sequence, 102u);
  EXPECT_EQ(Get(0, "a"), "(unknown)");
  EXPECT_EQ(Get(3, "a"), "2@101");
}

}  // namespace
}  // namespace varve
