// SPDX-License-Identifier: Apache-2.0

// Tests batches: their bytes, what can be asked about them, save points, limits, iteration, and
// bytes that are no batch.

#include "varve/write_batch.h"

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

class Family : public ColumnFamilyHandle {
 public:
  explicit Family(uint32_t id, const Comparator* comparator = BytewiseComparator())
      : id_(id), comparator_(comparator) {}
  const std::string& GetName() const override { return name_; }
  uint32_t GetID() const override { return id_; }
  Status GetDescriptor(ColumnFamilyDescriptor* /*desc*/) override {
    return Status::NotSupported("test");
  }
  const Comparator* GetComparator() const override { return comparator_; }

 private:
  const uint32_t id_;
  const Comparator* const comparator_;
  const std::string name_ = "family";
};

std::string Bytes(const std::string& hex) {
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits.push_back(c);
  }
  std::string result;
  EXPECT_TRUE(Slice(digits).DecodeHex(&result)) << hex;
  return result;
}

std::string Hex(const Slice& s) {
  std::string hex = s.ToString(true);
  for (char& c : hex) c = static_cast<char>(tolower(c));
  return hex;
}

// Writes each call down.
class Recorder : public WriteBatch::Handler {
 public:
  Status PutCF(uint32_t cf, const Slice& key, const Slice& value) override {
    return Note("put", cf, key, value);
  }
  Status DeleteCF(uint32_t cf, const Slice& key) override { return Note("delete", cf, key); }
  Status SingleDeleteCF(uint32_t cf, const Slice& key) override { return Note("single", cf, key); }
  Status DeleteRangeCF(uint32_t cf, const Slice& begin, const Slice& end) override {
    return Note("range", cf, begin, end);
  }
  Status MergeCF(uint32_t cf, const Slice& key, const Slice& value) override {
    return Note("merge", cf, key, value);
  }
  Status PutEntityCF(uint32_t cf, const Slice& key, const Slice& entity) override {
    return Note("entity", cf, key, Hex(entity));
  }
  Status TimedPutCF(uint32_t cf, const Slice& key, const Slice& value, uint64_t time) override {
    return Note("timed" + std::to_string(time), cf, key, value);
  }
  Status PutBlobIndexCF(uint32_t cf, const Slice& key, const Slice& value) override {
    return Note("blob", cf, key, value);
  }
  void LogData(const Slice& blob) override { calls.push_back("log " + blob.ToString()); }
  Status MarkBeginPrepare(bool unprepared) override {
    return Mark(unprepared ? "begin-unprepared" : "begin");
  }
  Status MarkEndPrepare(const Slice& xid) override { return Mark("end " + xid.ToString()); }
  Status MarkNoop(bool empty) override { return Mark(empty ? "noop-empty" : "noop"); }
  Status MarkRollback(const Slice& xid) override { return Mark("rollback " + xid.ToString()); }
  Status MarkCommit(const Slice& xid) override { return Mark("commit " + xid.ToString()); }
  Status MarkCommitWithTimestamp(const Slice& xid, const Slice& ts) override {
    return Mark("commit " + xid.ToString() + "@" + ts.ToString());
  }
  bool Continue() override { return calls.size() < stop_after; }

  std::vector<std::string> calls;
  size_t stop_after = SIZE_MAX;
  Status fail_with;

 private:
  Status Note(const std::string& what, uint32_t cf, const Slice& key,
              const Slice& value = Slice()) {
    calls.push_back(what + std::to_string(cf) + " " + key.ToString() + "=" + value.ToString());
    return fail_with;
  }
  Status Mark(const std::string& what) {
    calls.push_back(what);
    return Status::OK();
  }
};

using Calls = std::vector<std::string>;

Calls CallsOf(const WriteBatch& batch) {
  Recorder recorder;
  const Status s = batch.Iterate(&recorder);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return recorder.calls;
}

// The file format's golden vectors.

TEST(WriteBatchBytesTest, EveryCallHasItsBytes) {
  Family family(1);
  const auto with = [](SequenceNumber seq, auto add) {
    WriteBatch batch;
    add(&batch);
    WriteBatchInternal::SetSequence(&batch, seq);
    return Hex(batch.Data());
  };
  const auto packed = [](const std::string& spaced) { return Hex(Bytes(spaced)); };
  EXPECT_EQ(with(5, [](WriteBatch* b) { ASSERT_TRUE(b->Put("k", "v").ok()); }),
            packed("0500000000000000 01000000 01 016b0176"));
  EXPECT_EQ(with(6, [&](WriteBatch* b) { ASSERT_TRUE(b->Put(&family, "k", "v").ok()); }),
            packed("0600000000000000 01000000 05 01 016b0176"));
  EXPECT_EQ(with(3, [](WriteBatch* b) { ASSERT_TRUE(b->Delete("k1").ok()); }),
            packed("0300000000000000 01000000 00026b31"));
  EXPECT_EQ(with(4, [](WriteBatch* b) { ASSERT_TRUE(b->SingleDelete("k9").ok()); }),
            packed("0400000000000000 01000000 07026b39"));
  EXPECT_EQ(with(5, [](WriteBatch* b) { ASSERT_TRUE(b->DeleteRange("a", "b").ok()); }),
            packed("0500000000000000 01000000 0f01610162"));
  EXPECT_EQ(with(6,
                 [](WriteBatch* b) {
                   ASSERT_TRUE(b->Put("x", "1").ok());
                   ASSERT_TRUE(b->PutLogData("blob").ok());
                   ASSERT_TRUE(b->Delete("y").ok());
                 }),
            packed("0600000000000000 02000000 0101780131 0304626c6f62 000179"));
  EXPECT_EQ(with(10,
                 [&](WriteBatch* b) {
                   ASSERT_TRUE(b->Put(&family, "p", "q").ok());
                   ASSERT_TRUE(b->Delete(&family, "r").ok());
                   ASSERT_TRUE(b->SingleDelete(&family, "s").ok());
                   ASSERT_TRUE(b->DeleteRange(&family, "t", "u").ok());
                   ASSERT_TRUE(b->Merge(&family, "m", "n").ok());
                 }),
            packed("0a00000000000000 05000000 050101700171 04010172 08010173 0e0101740175 "
                   "0601016d016e"));
}

TEST(WriteBatchBytesTest, ForeignBatchesIterateAsWritten) {
  const struct {
    const char* hex;
    Calls calls;
  } cases[] = {
      {"0000000000000000 00000000", {}},
      {"0600000000000000 02000000 0101780131 0304626c6f62 000179",
       {"put0 x=1", "log blob", "delete0 y="}},
      {"0800000000000000 01000000 16 03656e74 17 "
       "0103000404636f6c310104636f6c320264666c74414242",
       {"entity0 ent=0103000404636f6c310104636f6c320264666c74414242"}},
      {"0a00000000000000 05000000 050101700171 04010172 08010173 0e0101740175 0601016d016e",
       {"put1 p=q", "delete1 r=", "single1 s=", "range1 t=u", "merge1 m=n"}},
      {"0100000000000000 02000000 09 0102746101310102746201320a0478696431",
       {"begin", "put0 ta=1", "put0 tb=2", "end xid1"}},
      {"0100000000000000 00000000 0b 0478696431", {"commit xid1"}},
      {"0300000000000000 00000000 0c 0478696432", {"rollback xid2"}},
      {"0100000000000000 01000000 0d 0101610131", {"noop-empty", "put0 a=1"}},
      {"0100000000000000 01000000 0101610131 0d", {"put0 a=1", "noop"}},
      {"0000000000000000 00000000 13 12 15 0131 0178", {"begin-unprepared", "begin", "commit x@1"}},
      {"0000000000000000 02000000 11 016b0176 10 07 016b0176", {"blob0 k=v", "blob7 k=v"}},
      {"0000000000000000 02000000 18 016b 09 76 0500000000000000 19 ac02 016b 08 0600000000000000",
       {"timed50 k=v", "timed6300 k="}},
  };
  for (const auto& c : cases) {
    const WriteBatch batch(Bytes(c.hex));
    EXPECT_EQ(CallsOf(batch), c.calls) << c.hex;
  }
}

TEST(WriteBatchTest, PartsAreJoined) {
  const Slice key_parts[] = {"k", "", "ey"};
  const Slice value_parts[] = {"val", "ue"};
  const SliceParts key(key_parts, 3);
  const SliceParts value(value_parts, 2);
  WriteBatch parts;
  ASSERT_TRUE(parts.Put(key, value).ok());
  ASSERT_TRUE(parts.Delete(key).ok());
  ASSERT_TRUE(parts.SingleDelete(key).ok());
  ASSERT_TRUE(parts.Merge(key, value).ok());
  ASSERT_TRUE(parts.DeleteRange(key, value).ok());
  EXPECT_EQ(CallsOf(parts), (Calls{"put0 key=value", "delete0 key=", "single0 key=",
                                   "merge0 key=value", "range0 key=value"}));
}

TEST(WriteBatchTest, TellsWhatItHolds) {
  WriteBatch batch;
  EXPECT_FALSE(batch.HasPut() || batch.HasDelete() || batch.HasMerge());
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.DeleteRange("a", "b").ok());
  EXPECT_TRUE(batch.HasPut() && batch.HasDeleteRange());
  EXPECT_FALSE(batch.HasDelete() || batch.HasSingleDelete() || batch.HasMerge());
  const WriteBatch adopted(batch.Data());
  EXPECT_TRUE(adopted.HasPut() && adopted.HasDeleteRange());
  EXPECT_FALSE(adopted.HasDelete());
  EXPECT_EQ(adopted.Count(), 2u);
  const WriteBatch prepared(
      Bytes("0100000000000000 01000000 09 01027461 0131 0a0478696431 0b0478696431 0c0478696431"));
  EXPECT_TRUE(prepared.HasBeginPrepare() && prepared.HasEndPrepare() && prepared.HasCommit() &&
              prepared.HasRollback());
  batch.Clear();
  EXPECT_FALSE(batch.HasPut() || batch.HasDeleteRange());
  EXPECT_EQ(batch.GetDataSize(), 12u);
}

TEST(WriteBatchTest, SavePointsAreAStack) {
  WriteBatch batch;
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(batch.PopSavePoint().IsNotFound());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Put("a", "1").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Delete("b").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Merge("c", "2").ok());
  ASSERT_TRUE(batch.PopSavePoint().ok());
  EXPECT_EQ(batch.Count(), 3u);
  const WriteBatch copy(batch);
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_EQ(CallsOf(batch), (Calls{"put0 a=1"}));
  EXPECT_FALSE(batch.HasDelete() || batch.HasMerge());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  EXPECT_EQ(batch.Count(), 0u);
  EXPECT_TRUE(batch.RollbackToSavePoint().IsNotFound());
  WriteBatch restored(copy);
  ASSERT_TRUE(restored.RollbackToSavePoint().ok());
  EXPECT_EQ(restored.Count(), 1u);
  restored.Clear();
  EXPECT_TRUE(restored.PopSavePoint().IsNotFound());
}

TEST(WriteBatchTest, AddingBeyondMaxBytesChangesNothing) {
  Family family(300);
  WriteBatch batch(0, 12 + 1 + 2 + 2);
  ASSERT_TRUE(batch.Put("a", "1").ok());  // fits exactly
  const std::string before = batch.Data();
  EXPECT_TRUE(batch.Delete("").IsMemoryLimit());
  EXPECT_TRUE(batch.PutLogData("").IsMemoryLimit());
  EXPECT_EQ(batch.Data(), before);
  EXPECT_FALSE(batch.HasDelete());
  batch.SetMaxBytes(batch.GetDataSize() + 5);
  EXPECT_TRUE(batch.Put(&family, "b", "2").IsMemoryLimit());
  EXPECT_TRUE(batch.Delete(&family, "b").ok());
  batch.SetMaxBytes(0);
  EXPECT_TRUE(batch.Put("key", std::string(100, 'v')).ok());
}

TEST(WriteBatchTest, MovedFromAndCopiedBatchesAreWhole) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  WriteBatch moved(std::move(batch));
  EXPECT_EQ(CallsOf(moved), (Calls{"put0 a=1"}));
  EXPECT_EQ(CallsOf(batch),
            Calls{});  // NOLINT(bugprone-use-after-move): an empty batch is promised
  ASSERT_TRUE(batch.Put("b", "2").ok());
  moved = batch;
  EXPECT_EQ(CallsOf(moved), (Calls{"put0 b=2"}));
  batch = std::move(moved);
  EXPECT_EQ(CallsOf(batch), (Calls{"put0 b=2"}));
}

TEST(WriteBatchTest, IterationEndsWhenTheHandlerSaysSo) {
  WriteBatch batch;
  for (int i = 0; i < 5; i++) ASSERT_TRUE(batch.Put(std::to_string(i), "").ok());
  Recorder stops;
  stops.stop_after = 2;
  EXPECT_TRUE(batch.Iterate(&stops).ok());
  EXPECT_EQ(stops.calls.size(), 2u);
  Recorder fails;
  fails.fail_with = Status::Aborted("no more");
  EXPECT_TRUE(batch.Iterate(&fails).IsAborted());
  EXPECT_EQ(fails.calls.size(), 1u);
}

TEST(WriteBatchTest, TheDefaultHandlerServesTheDefaultFamilyOnly) {
  Family family(1);
  WriteBatch::Handler plain;
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Delete("a").ok());
  ASSERT_TRUE(batch.SingleDelete("a").ok());
  ASSERT_TRUE(batch.Merge("a", "1").ok());
  ASSERT_TRUE(batch.PutLogData("x").ok());
  EXPECT_TRUE(batch.Iterate(&plain).ok());
  ASSERT_TRUE(batch.DeleteRange("a", "b").ok());
  EXPECT_TRUE(batch.Iterate(&plain).IsInvalidArgument());
  WriteBatch other;
  ASSERT_TRUE(other.Put(&family, "a", "1").ok());
  EXPECT_TRUE(other.Iterate(&plain).IsInvalidArgument());
}

TEST(WriteBatchTest, TimestampsAreForComparatorsThatHaveThem) {
  Family plain(1);
  Family stamped(2, BytewiseComparatorWithU64Ts());
  const std::string ts(8, 'T');
  WriteBatch batch;
  EXPECT_TRUE(batch.Put(&plain, "k", ts, "v").IsInvalidArgument());
  EXPECT_TRUE(batch.Put(nullptr, "k", ts, "v").IsInvalidArgument());
  EXPECT_TRUE(batch.Delete(&stamped, "k", "short").IsInvalidArgument());
  EXPECT_EQ(batch.GetDataSize(), 12u);
  ASSERT_TRUE(batch.Put(&stamped, "k", ts, "v").ok());
  ASSERT_TRUE(batch.DeleteRange(&stamped, "a", "b", ts).ok());
  ASSERT_TRUE(batch.Put(&plain, "p", "v").ok());
  ASSERT_TRUE(batch.Delete(&stamped, "d").ok());
  EXPECT_EQ(CallsOf(batch), (Calls{"put2 k" + ts + "=v", "range2 a" + ts + "=b" + ts, "put1 p=v",
                                   "delete2 d" + std::string(8, '\0') + "="}));
  const std::string now(8, 'N');
  const std::string before = batch.Data();
  const auto size_of = [](uint32_t cf) { return cf == 2 ? size_t{8} : size_t{0}; };
  EXPECT_TRUE(batch.UpdateTimestamps("", size_of).IsInvalidArgument());
  EXPECT_TRUE(batch.UpdateTimestamps("short", size_of).IsInvalidArgument());
  EXPECT_TRUE(
      batch.UpdateTimestamps(now, [](uint32_t cf) { return cf == 2 ? size_t{8} : SIZE_MAX; })
          .IsNotFound());
  EXPECT_EQ(batch.Data(), before);
  ASSERT_TRUE(batch.UpdateTimestamps(now, size_of).ok());
  EXPECT_EQ(CallsOf(batch), (Calls{"put2 k" + now + "=v", "range2 a" + now + "=b" + now, "put1 p=v",
                                   "delete2 d" + now + "="}));
}

TEST(WriteBatchTest, ProtectionFindsAChangedByte) {
  WriteBatch batch(0, 0, 8, 0);
  EXPECT_EQ(batch.GetProtectionBytesPerKey(), 8u);
  ASSERT_TRUE(batch.Put("key", "value").ok());
  batch.SetSavePoint();
  ASSERT_TRUE(batch.Delete("key").ok());
  ASSERT_TRUE(batch.PutLogData("x").ok());
  ASSERT_TRUE(batch.RollbackToSavePoint().ok());
  ASSERT_TRUE(batch.DeleteRange("a", "b").ok());
  WriteBatch more;
  ASSERT_TRUE(more.Merge("m", "1").ok());
  ASSERT_TRUE(WriteBatchInternal::Append(&batch, more).ok());
  EXPECT_TRUE(batch.VerifyChecksum().ok());
  for (size_t i = kBatchHeaderBytes; i < batch.GetDataSize(); i++) {
    WriteBatch damaged(batch);
    (*WriteBatchInternal::Rep(&damaged))[i] ^= 1;
    EXPECT_TRUE(damaged.VerifyChecksum().IsCorruption()) << i;
  }
  WriteBatch odd(0, 0, 3, 0);
  EXPECT_TRUE(odd.Put("k", "v").IsInvalidArgument());
  EXPECT_EQ(WriteBatch().GetProtectionBytesPerKey(), 0u);
}

// Records without their checksums would be taken for damaged ones.
TEST(WriteBatchInternalTest, AppendOfDamagedBytesChangesNothing) {
  WriteBatch batch(0, 0, 8, 0);
  ASSERT_TRUE(batch.Put("a", "1").ok());
  const std::string before = batch.Data();
  WriteBatch more;
  ASSERT_TRUE(more.Put("b", "2").ok());
  ASSERT_TRUE(more.Put("c", "3").ok());
  const WriteBatch cut(more.Data().substr(0, more.GetDataSize() - 1));
  const Status s = WriteBatchInternal::Append(&batch, cut);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_EQ(batch.Data(), before);
  EXPECT_TRUE(batch.VerifyChecksum().ok());
  ASSERT_TRUE(WriteBatchInternal::Append(&batch, more).ok());
  ASSERT_TRUE(WriteBatchInternal::Append(&batch, batch).ok());
  EXPECT_EQ(batch.Count(), 6u);
  EXPECT_TRUE(batch.VerifyChecksum().ok());
}

// Protected entries stay protected in a batch that has no checksums, and damage stays damage.
TEST(WriteBatchInternalTest, AppendKeepsTheChecksumsOfEitherSide) {
  WriteBatch source(0, 0, 8, 0);
  ASSERT_TRUE(source.Put("b", "2").ok());
  WriteBatch damaged(source);
  WriteBatchInternal::Rep(&damaged)->back() ^= 1;
  for (const size_t protection : {0, 8}) {
    SCOPED_TRACE(protection);
    WriteBatch batch(0, 0, protection, 0);
    ASSERT_TRUE(batch.Put("a", "1").ok());
    const std::string before = batch.Data();
    EXPECT_TRUE(WriteBatchInternal::Append(&batch, damaged).IsCorruption());
    EXPECT_EQ(batch.Data(), before);
    EXPECT_TRUE(batch.VerifyChecksum().ok());
    ASSERT_TRUE(WriteBatchInternal::Append(&batch, source).ok());
    EXPECT_EQ(batch.GetProtectionBytesPerKey(), 8u);
    EXPECT_EQ(batch.Count(), 2u);
    EXPECT_TRUE(batch.VerifyChecksum().ok());
    WriteBatchInternal::Rep(&batch)->back() ^= 1;
    EXPECT_TRUE(batch.VerifyChecksum().IsCorruption());
  }
}

TEST(WriteBatchInternalTest, AppendJoinsRecordsAndCounts) {
  WriteBatch a;
  WriteBatch b;
  ASSERT_TRUE(a.Put("a", "1").ok());
  ASSERT_TRUE(b.Delete("b").ok());
  ASSERT_TRUE(b.PutLogData("x").ok());
  WriteBatchInternal::SetSequence(&a, 77);
  ASSERT_TRUE(WriteBatchInternal::Append(&a, b).ok());
  ASSERT_TRUE(WriteBatchInternal::Append(&a, a).ok());
  EXPECT_EQ(WriteBatchInternal::Sequence(a), 77u);
  EXPECT_EQ(a.Count(), 4u);
  EXPECT_TRUE(a.HasDelete());
  EXPECT_EQ(CallsOf(a),
            (Calls{"put0 a=1", "delete0 b=", "log x", "put0 a=1", "delete0 b=", "log x"}));
}

TEST(WriteBatchTest, RandomBatchesComeBackAsTheyWere) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; round++) {
    WriteBatch batch;
    Calls expected;
    uint32_t counted = 0;
    for (uint32_t n = random() % 30; n > 0; n--) {
      Family family(random() % 3 == 0 ? 0 : random() % 100000);
      const std::string key(random() % 3 == 0 ? random() % 20000 : random() % 5, 'k');
      const std::string value(random() % 300, 'v');
      const std::string cf = std::to_string(family.GetID());
      counted++;
      switch (random() % 6) {
        case 0:
          ASSERT_TRUE(batch.Put(&family, key, value).ok());
          expected.push_back("put" + cf + " " + key + "=" + value);
          break;
        case 1:
          ASSERT_TRUE(batch.Delete(&family, key).ok());
          expected.push_back("delete" + cf + " " + key + "=");
          break;
        case 2:
          ASSERT_TRUE(batch.SingleDelete(&family, key).ok());
          expected.push_back("single" + cf + " " + key + "=");
          break;
        case 3:
          ASSERT_TRUE(batch.DeleteRange(&family, key, value).ok());
          expected.push_back("range" + cf + " " + key + "=" + value);
          break;
        case 4:
          ASSERT_TRUE(batch.Merge(&family, key, value).ok());
          expected.push_back("merge" + cf + " " + key + "=" + value);
          break;
        default:
          ASSERT_TRUE(batch.PutLogData(value).ok());
          expected.push_back("log " + value);
          counted--;
      }
    }
    EXPECT_EQ(batch.Count(), counted);
    EXPECT_EQ(CallsOf(WriteBatch(batch.Data())), expected);
  }
}

// Bytes from an unknown source.

TEST(HostileBatchTest, DamageIsCorruptionAndNeverACrash) {
  const char* cases[] = {
      "",
      "00",
      "0000000000000000 010000",               // short header
      "0000000000000000 01000000",             // counts one, holds none
      "0000000000000000 00000000 01016b0176",  // the other way round
      "0000000000000000 01000000 1a",          // unknown tag
      "0000000000000000 01000000 ff",
      "0000000000000000 01000000 14016b",                  // never in a log
      "0000000000000000 01000000 01",                      // no key
      "0000000000000000 01000000 01016b",                  // no value
      "0000000000000000 01000000 01056b0176",              // key beyond the end
      "0000000000000000 01000000 01016bffffffff0f76",      // value of 4 GiB
      "0000000000000000 01000000 01ffffffffff016b",        // length of more than 32 bits
      "0000000000000000 01000000 05ffffffffff01016b0176",  // family of more than 32 bits
      "0000000000000000 01000000 05",
      "0000000000000000 00000000 0b",
      "0000000000000000 00000000 1501",
      "0000000000000000 01000000 18016b0176",  // no write time
  };
  for (const char* hex : cases) {
    WriteBatch batch(Bytes(hex));
    Recorder recorder;
    EXPECT_TRUE(batch.Iterate(&recorder).IsCorruption()) << hex;
    (void)batch.HasPut();
    (void)batch.Count();
    WriteBatchInternal::SetSequence(&batch, 1);
    EXPECT_FALSE(CheckBatchStructure(batch.Data()).ok() && recorder.calls.empty() &&
                 batch.GetDataSize() < 12);
  }
  WriteBatch shorter(std::string("short"));
  EXPECT_TRUE(shorter.Put("k", "v").IsCorruption());
  EXPECT_TRUE(shorter.UpdateTimestamps("t", [](uint32_t) { return size_t{1}; }).IsCorruption());
  WriteBatch whole;
  EXPECT_TRUE(WriteBatchInternal::Append(&whole, shorter).IsCorruption());
}

TEST(HostileBatchTest, LessThanAHeaderMayBeRolledBackTo) {
  for (const char* const bytes : {"", "short"}) {
    WriteBatch batch{std::string(bytes)};
    batch.SetSavePoint();
    EXPECT_TRUE(batch.RollbackToSavePoint().ok());
    EXPECT_EQ(batch.Data(), bytes);
  }
}

TEST(HostileBatchTest, EveryPrefixAndEveryFlippedByteIsHandled) {
  Family family(300);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(&family, "key", std::string(200, 'v')).ok());
  ASSERT_TRUE(batch.DeleteRange("a", "b").ok());
  ASSERT_TRUE(batch.PutLogData("data").ok());
  ASSERT_TRUE(batch.SingleDelete("s").ok());
  for (size_t size = 0; size < batch.GetDataSize(); size++) {
    // Uses heap memory of its exact size, so that a sanitizer sees a read beyond it.
    const std::vector<char> exact(batch.Data().begin(),
                                  batch.Data().begin() + static_cast<ptrdiff_t>(size));
    EXPECT_TRUE(CheckBatchStructure(Slice(exact.data(), exact.size())).IsCorruption()) << size;
  }
  std::mt19937 random(3);
  for (int round = 0; round < 20000; round++) {
    std::string damaged = batch.Data();
    for (uint32_t n = 1 + random() % 4; n > 0; n--) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    Recorder recorder;
    const Status s = WriteBatch(damaged).Iterate(&recorder);
    EXPECT_TRUE(s.ok() || s.IsCorruption());
  }
}

}  // namespace
}  // namespace varve
