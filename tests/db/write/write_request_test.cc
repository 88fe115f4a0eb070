// SPDX-License-Identifier: Apache-2.0

// Goal: a write of one update has the record of a batch of one, and does not copy its value.
// Method: build both, over lengths where a length's own length changes; and a value at whose end
// memory ends.

#include "db/write/write_request.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

#include "db/wal/buffered_log.h"
#include "db/write/batch_inserter.h"
#include "db/write/record_encoder.h"
#include "db/write/write_batch_internal.h"
#include "tests/db/wal/mapped_log_harness.h"

namespace varve {
namespace {

std::string Patterned(size_t n) {
  std::string out(n, '\0');
  for (size_t i = 0; i < n; i++) out[i] = static_cast<char>('a' + i % 23);
  return out;
}

std::string RecordOf(const WriteRequest& request) {
  return request.head().ToString() + request.tail().ToString();
}

// Returns the record of a batch with one update, at sequence 42.
std::string BatchRecordOf(const BatchRecord& update) {
  WriteBatch batch;
  EXPECT_TRUE(WriteBatchInternal::AddRecord(&batch, update.type, update.column_family,
                                            SliceParts(&update.key, 1),
                                            SliceParts(&update.value, 1))
                  .ok());
  WriteBatchInternal::SetSequence(&batch, 42);
  return batch.Data();
}

TEST(WriteRequest, OneUpdateHasTheRecordOfABatchOfOne) {
  const std::string bytes = Patterned(100000);
  const ValueType types[] = {kTypeValue, kTypeDeletion, kTypeSingleDeletion, kTypeRangeDeletion};
  for (const ValueType type : types) {
    const bool has_value = type == kTypeValue || type == kTypeRangeDeletion;
    for (const uint32_t family : {0u, 1u, 127u, 128u, 70000u, UINT32_MAX}) {
      for (const size_t key_bytes :
           {0u, 1u, 20u, 127u, 128u, 478u, 479u, 480u, 481u, 600u, 70000u}) {
        for (const size_t value_bytes : {0u, 1u, 127u, 128u, 16383u, 16384u, 100000u}) {
          if (!has_value && value_bytes > 0) continue;
          const BatchRecord update{type, family, Slice(bytes.data(), key_bytes),
                                   Slice(bytes.data(), value_bytes)};
          WriteRequest request(update.key, update.value, update.type, update.column_family);
          request.SetSequence(42);
          ASSERT_TRUE(RecordOf(request) == BatchRecordOf(update))
              << type << " " << family << " " << key_bytes << " " << value_bytes;
          ASSERT_EQ(request.bytes(), RecordOf(request).size());
          ASSERT_EQ(request.count(), 1u);
        }
      }
    }
  }
}

TEST(WriteRequest, AValueStaysWhereItIs) {
  const std::string value = Patterned(1000);
  WriteRequest request("key", value, kTypeValue, 0);
  EXPECT_EQ(request.tail().data(), value.data());
  ASSERT_NE(request.update(), nullptr);
  EXPECT_EQ(request.update()->value.data(), value.data());
  EXPECT_LT(request.head().size(), 30u);
}

TEST(WriteRequest, NullPointersWithoutBytesAreTakenForEmpty) {
  const Slice null(nullptr, 0);
  WriteRequest request(null, null, kTypeValue, 0);
  EXPECT_EQ(request.head().size(), kBatchHeaderBytes + 3);
  EXPECT_NE(request.update()->key.data(), nullptr);
  EXPECT_NE(request.update()->value.data(), nullptr);
  EXPECT_NE(request.tail().data(), nullptr);
}

TEST(WriteRequest, ABatchIsItsOwnRecord) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Delete("b").ok());
  WriteRequest request(&batch);
  EXPECT_EQ(request.update(), nullptr);
  EXPECT_EQ(request.count(), 2u);
  EXPECT_EQ(request.bytes(), batch.GetDataSize());
  request.SetSequence(9);
  EXPECT_EQ(WriteBatchInternal::Sequence(batch), 9u);
  EXPECT_EQ(request.head().data(), batch.Data().data());
  EXPECT_TRUE(request.tail().empty());

  WriteBatch headless(std::string("short"));
  WriteRequest refused(&headless);
  refused.SetSequence(9);
  EXPECT_EQ(headless.Data(), "short");
}

TEST(WriteRequest, ChecksumsAreThoseOfABatch) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  WriteRequest request(&batch);
  EXPECT_EQ(batch.GetProtectionBytesPerKey(), 0u);
  ASSERT_TRUE(request.Protect().ok());
  EXPECT_EQ(batch.GetProtectionBytesPerKey(), 8u);
  EXPECT_TRUE(request.VerifyChecksum().ok());
  WriteBatchInternal::Rep(&batch)->back() ^= 1;
  EXPECT_TRUE(request.VerifyChecksum().IsCorruption());

  const WriteRequest update("a", "1", kTypeValue, 0);
  EXPECT_TRUE(update.VerifyChecksum().ok());
}

// A value whose last byte is the last of a page, after which nothing may be read.
class ValueAtTheEndOfMemory {
 public:
  explicit ValueAtTheEndOfMemory(size_t n) : n_(n) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_bytes_ = (n / page + 2) * page;
    void* const mapped =
        mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    base_ = static_cast<char*>(mapped);
    char* const end = base_ + mapped_bytes_ - page;
    EXPECT_EQ(mprotect(end, page, PROT_NONE), 0);
    data_ = end - n;
    std::memcpy(data_, Patterned(n).data(), n);
  }
  ~ValueAtTheEndOfMemory() { munmap(base_, mapped_bytes_); }
  ValueAtTheEndOfMemory(const ValueAtTheEndOfMemory&) = delete;
  ValueAtTheEndOfMemory& operator=(const ValueAtTheEndOfMemory&) = delete;

  Slice slice() const { return Slice(data_, n_); }

 private:
  const size_t n_;
  size_t mapped_bytes_ = 0;
  char* base_ = nullptr;
  char* data_ = nullptr;
};

class OneMemTable : public MemTableResolver {
 public:
  MemTable* Find(uint32_t id) override { return id == 0 ? &table_ : nullptr; }
  const Comparator* ComparatorOf(uint32_t id) override {
    return id == 0 ? BytewiseComparator() : nullptr;
  }

 private:
  MemTable table_{InternalKeyComparator(BytewiseComparator()), MemTableOptions(), 1};
};

std::string ValueIn(MemTable* table, const Slice& key) {
  PinnableSlice value;
  PointLookup lookup(key, kMaxSequenceNumber, &value);
  if (!table->Get(&lookup) || lookup.state() != PointLookup::State::kFound) return "(none)";
  return value.ToString();
}

TEST(WriteRequest, NothingIsReadBehindAValue) {
  OneMemTable families;
  MappedLogOnDisk mapped;
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> file;
  ASSERT_TRUE(WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &file).ok());
  wal::BufferedLog buffered(std::make_unique<wal::LogWriter>(std::move(file), 1));
  SequenceNumber sequence = 0;
  std::vector<std::string> records;
  for (const size_t n : {1u, 7u, 16u, 100u, 4096u, 32768u, 100001u}) {
    const ValueAtTheEndOfMemory value(n);
    const std::string key = std::to_string(n);
    WriteRequest request(key, value.slice(), kTypeValue, 0);
    request.SetSequence(++sequence);
    records.push_back(RecordOf(request));
    for (wal::CommitLog* log : {static_cast<wal::CommitLog*>(mapped.log.get()),
                                static_cast<wal::CommitLog*>(&buffered)}) {
      wal::LogReservation place;
      ASSERT_TRUE(log->Reserve(request.bytes(), &place).ok());
      log->Fill(place, request.head(), request.tail());
      ASSERT_TRUE(log->WaitWhole(place).ok());
    }
    BatchInsertResult result;
    ASSERT_TRUE(InsertRequest(request, sequence, &families, &result).ok());
    EXPECT_EQ(ValueIn(families.Find(0), key), value.slice().ToString());
  }
  ASSERT_TRUE(mapped.log->Close().ok());
  ASSERT_TRUE(buffered.Close().ok());
  std::string bytes;
  ASSERT_TRUE(ReadFileToString(&fs, "/log", UINT64_MAX, &bytes).ok());
  EXPECT_TRUE(mapped.Bytes() == LogBytes(records));
  EXPECT_TRUE(bytes == LogBytes(records));
}

TEST(WriteRequest, ATimestampStandsBehindTheKey) {
  const std::string ts("\1\2\3\4\5\6\7\0", 8);
  for (const uint32_t family : {0u, 5u}) {
    for (const size_t key_bytes : {0u, 1u, 119u, 120u, 128u, 480u, 600u}) {
      const std::string key(key_bytes, 'k');
      for (const ValueType type : {kTypeValue, kTypeDeletion, kTypeSingleDeletion, kTypeMerge}) {
        const std::string value = RecordHasValue(type) ? "value" : "";
        WriteRequest request(key, value, type, family, ts);
        request.SetSequence(42);
        EXPECT_EQ(RecordOf(request), BatchRecordOf({type, family, key + ts, value}));
        EXPECT_EQ(request.ts_bytes(), ts.size());
        EXPECT_EQ(request.update()->key, key + ts);
        // The update has the form that a memtable takes.
        EXPECT_EQ(request.update()->type,
                  type == kTypeDeletion ? kTypeDeletionWithTimestamp : type);
      }
    }
  }
  const WriteRequest without("k", "", kTypeDeletion, 0);
  EXPECT_EQ(without.update()->type, kTypeDeletion);
  EXPECT_EQ(without.ts_bytes(), 0u);
}

class OneStampedFamily : public MemTableResolver {
 public:
  MemTable* Find(uint32_t /*id*/) override { return nullptr; }
  const Comparator* ComparatorOf(uint32_t id) override {
    return id == 0 ? BytewiseComparatorWithU64Ts() : BytewiseComparator();
  }
  std::string NameOf(uint32_t id) override { return id == 0 ? "stamped" : "plain"; }
};

TEST(WriteRequest, ATimestampIsOfTheFamilysSize) {
  OneStampedFamily families;
  const auto check = [&](uint32_t family, size_t ts_bytes) {
    WriteRequest request("a long enough key", "v", kTypeValue, family, std::string(ts_bytes, 't'));
    return CheckRequest(&request, &families, {});
  };
  EXPECT_TRUE(check(0, 8).ok());
  EXPECT_TRUE(check(1, 0).ok());
  for (const auto& [family, size] : {std::pair{0u, 0u}, {0u, 4u}, {0u, 9u}, {1u, 8u}}) {
    const Status s = check(family, size);
    EXPECT_TRUE(s.IsInvalidArgument());
    const std::string text = s.ToString();
    EXPECT_NE(text.find(family == 0 ? "stamped" : "plain"), std::string::npos) << text;
    EXPECT_NE(text.find("of " + std::to_string(size) + " bytes"), std::string::npos) << text;
    EXPECT_NE(text.find(family == 0 ? "of 8" : "of 0"), std::string::npos) << text;
  }
}

TEST(WriteRequest, IsRefusedAndInsertedAsItsBatchWouldBe) {
  OneMemTable families;
  const BatchRecord updates[] = {
      {kTypeValue, 0, "k", "v"},         {kTypeValue, 7, "k", "v"},
      {kTypeDeletion, 0, "k", ""},       {kTypeSingleDeletion, 7, "k", ""},
      {kTypeRangeDeletion, 0, "a", "b"}, {kTypeRangeDeletion, 0, "b", "b"},
      {kTypeRangeDeletion, 0, "b", "a"}, {kTypeRangeDeletion, 7, "b", "a"}};
  SequenceNumber sequence = 100;
  for (const BatchRecord& update : updates) {
    const std::string rep = BatchRecordOf(update);
    WriteRequest request(update.key, update.value, update.type, update.column_family);
    for (const bool ignore : {false, true}) {
      SCOPED_TRACE(std::to_string(update.type) + " " + std::to_string(update.column_family));
      const BatchCheckOptions check{ignore};
      const Status s = CheckRequest(&request, &families, check);
      EXPECT_EQ(s.ToString(), CheckBatch(rep, &families, check).ToString());
      if (!s.ok()) continue;
      BatchInsertResult of_batch;
      BatchInsertResult of_request;
      ASSERT_TRUE(InsertBatch(rep, sequence, &families, &of_batch).ok());
      sequence = of_batch.next_sequence;
      ASSERT_TRUE(InsertRequest(request, sequence, &families, &of_request).ok());
      EXPECT_EQ(of_request.inserted, of_batch.inserted);
      EXPECT_EQ(of_request.next_sequence, sequence + 1);
      sequence = of_request.next_sequence;
    }
  }
}

}  // namespace
}  // namespace varve
