// SPDX-License-Identifier: Apache-2.0

// Goal: the bytes of a trace are RocksDB's, and any others are refused. Method: golden bytes of
// every type of record, written down by hand, and every cut and every flipped bit of them.

#include "db/trace/trace_format.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "varve/trace_record_result.h"

namespace varve::trace {
namespace {

constexpr uint64_t kMicros = 0x0102030405060708;

std::string Hex(const std::string& bytes) {
  return Slice(bytes).ToString(/*hex=*/true);
}

// Returns a record's object as text, or the error.
std::string Decoded(const std::string& bytes, uint32_t minor = 2) {
  RawRecord raw;
  Status s = ParseRecord(bytes, &raw);
  std::unique_ptr<TraceRecord> record;
  if (s.ok()) s = DecodeRecord(raw, minor, &record);
  if (!s.ok()) return s.ToString();
  EXPECT_EQ(record->GetTimestamp(), raw.micros);
  EXPECT_EQ(record->GetTraceType(), raw.type);
  if (const auto* write = dynamic_cast<WriteQueryTraceRecord*>(record.get())) {
    return "write " + write->GetWriteBatchRep().ToString(/*hex=*/true);
  }
  if (const auto* get = dynamic_cast<GetQueryTraceRecord*>(record.get())) {
    return "get " + std::to_string(get->GetColumnFamilyID()) + " " + get->GetKey().ToString();
  }
  if (const auto* seek = dynamic_cast<IteratorSeekQueryTraceRecord*>(record.get())) {
    const bool forward = seek->GetSeekType() == IteratorSeekQueryTraceRecord::kSeek;
    return std::string(forward ? "seek " : "seek for prev ") +
           std::to_string(seek->GetColumnFamilyID()) + " " + seek->GetKey().ToString() + " [" +
           seek->GetLowerBound().ToString() + ", " + seek->GetUpperBound().ToString() + ")";
  }
  const auto& many = dynamic_cast<const MultiGetQueryTraceRecord&>(*record);
  std::string text = "multiget";
  const std::vector<uint32_t> ids = many.GetColumnFamilyIDs();
  const std::vector<Slice> keys = many.GetKeys();
  for (size_t i = 0; i < ids.size(); i++) {
    text += " " + std::to_string(ids[i]) + ":" + keys[i].ToString();
  }
  return text;
}

struct Golden {
  const char* hex;
  const char* meaning;
  std::string bytes;
};

std::vector<Golden> AllRecords() {
  std::vector<Golden> all;
  const auto add = [&all](const char* hex, const char* meaning) -> std::string* {
    return &all.emplace_back(Golden{hex, meaning, ""}).bytes;
  };
  EXPECT_TRUE(EncodeGet(kMicros, 5, "key",
                        add("0807060504030201"
                            "04"
                            "10000000"
                            "0C00000000000000"
                            "05000000"
                            "036B6579",
                            "get 5 key"))
                  .ok());
  const Slice lower = "a";
  const Slice upper = "z";
  EXPECT_TRUE(EncodeSeek(kMicros, kTraceIteratorSeek, 1, "k", &lower, &upper,
                         add("0807060504030201"
                             "05"
                             "12000000"
                             "F000000000000000"
                             "01000000"
                             "016B"
                             "0161"
                             "017A",
                             "seek 1 k [a, z)"))
                  .ok());
  EXPECT_TRUE(EncodeSeek(kMicros, kTraceIteratorSeekForPrev, 1, "k", nullptr, &upper,
                         add("0807060504030201"
                             "06"
                             "10000000"
                             "B000000000000000"
                             "01000000"
                             "016B"
                             "017A",
                             "seek for prev 1 k [, z)"))
                  .ok());
  const std::array<uint32_t, 2> families = {0, 7};
  const std::array<Slice, 2> keys = {"x", "yy"};
  EXPECT_TRUE(EncodeMultiGet(kMicros, families, keys.data(),
                             add("0807060504030201"
                                 "0D"
                                 "1B000000"
                                 "0007000000000000"
                                 "02000000"
                                 "08"
                                 "00000000"
                                 "07000000"
                                 "05"
                                 "0178"
                                 "027979",
                                 "multiget 0:x 7:yy"))
                  .ok());
  EXPECT_TRUE(EncodeWrite(kMicros, 2,
                          Slice("\x01\x01"
                                "k"
                                "\x01"
                                "v",
                                5),
                          Slice("\x00\x01"
                                "d",
                                3),
                          add("0807060504030201"
                              "03"
                              "1D000000"
                              "0200000000000000"
                              "14"
                              "0000000000000000"
                              "02000000"
                              "01016B0176"
                              "000164",
                              "write 00000000000000000200000001016B0176000164"))
                  .ok());
  return all;
}

TEST(TraceFormatTest, RecordsHaveGoldenBytes) {
  for (const Golden& golden : AllRecords()) {
    EXPECT_EQ(Hex(golden.bytes), golden.hex);
    EXPECT_EQ(Decoded(golden.bytes), golden.meaning);
  }
}

TEST(TraceFormatTest, HeaderAndEndHaveGoldenBytes) {
  std::string record;
  EncodeBegin(kMicros, &record);
  const std::string text =
      "feedcafedeadbeef\tTrace Version: 0.2\tRocksDB Version: 11.8\t"
      "Format: Timestamp OpType Payload\n";
  EXPECT_EQ(Hex(record.substr(0, kRecordHeadBytes)), "0807060504030201015B000000");
  EXPECT_EQ(record.substr(kRecordHeadBytes), text);
  EncodeEnd(kMicros, &record);
  EXPECT_EQ(Hex(record), "08070605040302010200000000");
}

TEST(TraceFormatTest, HeadersTellTheVersion) {
  uint32_t minor = 0;
  const std::string magic = "feedcafedeadbeef\tTrace Version: ";
  EXPECT_TRUE(ParseHeader(magic + "0.1\tRocksDB Version: 6.9\tFormat: x\n", &minor).ok());
  EXPECT_EQ(minor, 1U);
  EXPECT_TRUE(ParseHeader(magic + "0.2\tRocksDB Version: 7.8\tFormat: x\n", &minor).ok());
  EXPECT_EQ(minor, 2U);
  EXPECT_TRUE(ParseHeader(magic + "0.3\t", &minor).IsNotSupported());
  EXPECT_TRUE(ParseHeader(magic, &minor).IsNotSupported());
  EXPECT_TRUE(ParseHeader("feedcafedeadbeef\t", &minor).IsNotSupported());
  EXPECT_TRUE(ParseHeader("feedcafedeadbee", &minor).IsCorruption());
  EXPECT_TRUE(ParseHeader("", &minor).IsCorruption());
}

TEST(TraceFormatTest, FirstVersionHasNoMap) {
  const auto record = [](TraceType type, const std::string& payload) {
    std::string bytes(kRecordHeadBytes, '\0');
    bytes[8] = type;
    bytes[9] = static_cast<char>(payload.size());
    return bytes + payload;
  };
  const std::string family_and_key("\x05\0\0\0\x01k", 6);
  EXPECT_EQ(Decoded(record(kTraceGet, family_and_key), 1), "get 5 k");
  EXPECT_EQ(Decoded(record(kTraceIteratorSeek, family_and_key), 1), "seek 5 k [, )");
  EXPECT_EQ(Decoded(record(kTraceWrite, "batch"), 1), "write 6261746368");
}

TEST(TraceFormatTest, CutRecordsAreRefused) {
  for (const Golden& golden : AllRecords()) {
    for (size_t n = 0; n < golden.bytes.size(); n++) {
      RawRecord raw;
      EXPECT_TRUE(ParseRecord(golden.bytes.substr(0, n), &raw).IsCorruption());
    }
    RawRecord raw;
    EXPECT_TRUE(ParseRecord(golden.bytes + "x", &raw).IsCorruption());
  }
}

// A payload that lost bytes, but whose length says so, is refused by its fields.
TEST(TraceFormatTest, CutPayloadsAreRefused) {
  for (const Golden& golden : AllRecords()) {
    for (size_t n = kRecordHeadBytes; n < golden.bytes.size(); n++) {
      RawRecord raw;
      ASSERT_TRUE(ParseRecord(golden.bytes, &raw).ok());
      raw.payload = Slice(raw.payload.data(), n - kRecordHeadBytes);
      std::unique_ptr<TraceRecord> record;
      EXPECT_TRUE(DecodeRecord(raw, 2, &record).IsCorruption()) << golden.meaning << " " << n;
      EXPECT_EQ(record, nullptr);
    }
  }
}

TEST(TraceFormatTest, FieldsOfOtherTypesAreRefused) {
  for (const Golden& golden : AllRecords()) {
    std::string bytes = golden.bytes;
    for (size_t bit = 0; bit < 64; bit++) {
      bytes[kRecordHeadBytes + bit / 8] = static_cast<char>(
          golden.bytes[kRecordHeadBytes + bit / 8] ^ static_cast<char>(1U << bit % 8));
      EXPECT_TRUE(Decoded(bytes).starts_with("Corruption")) << golden.meaning << " bit " << bit;
      bytes = golden.bytes;
    }
  }
}

TEST(TraceFormatTest, TypesThatCannotBeReplayedAreNamed) {
  std::string bytes = AllRecords().front().bytes;
  for (const int type : {0, 1, 7, 12, 14, 255}) {
    bytes[8] = static_cast<char>(type);
    EXPECT_TRUE(Decoded(bytes).starts_with("Not implemented")) << type << ": " << Decoded(bytes);
  }
}

}  // namespace
}  // namespace varve::trace
