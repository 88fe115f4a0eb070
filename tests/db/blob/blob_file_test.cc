// SPDX-License-Identifier: Apache-2.0

// Tests blob files and references: RocksDB's bytes, reads of one and of many values, and that no
// change of a byte gives another value.

#include <gmock/gmock.h>

#include "db/blob/byte_ranges.h"
#include "tests/db/blob/blob_bytes.h"
#include "tests/harness/random.h"
#include "util/compress/codec.h"
#include "util/env/file_prefetcher.h"

namespace varve {
namespace {

using testing::BlobFileOf;
using testing::BlobPairs;
using ::testing::HasSubstr;
using testing::kBlobNumber;
using ::testing::Not;
using testing::OpenBlobFile;
using testing::StoreBlobFile;

std::string Bytes(const std::string& hex) {
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits.push_back(c);
  }
  std::string bytes;
  EXPECT_TRUE(Slice(digits).DecodeHex(&bytes));
  return bytes;
}

// RocksDB 7.8.3 wrote this for k1=hello and k3=world! with min_blob_size 4.
const char kGoldenFile[] =
    "378f2400 01000000 00000000 00 00 0000000000000000 0000000000000000"
    "0200000000000000 0500000000000000 0000000000000000 d96db01e 3be9676f 6b31 68656c6c6f"
    "0200000000000000 0600000000000000 0000000000000000 c98f4e60 9b2e1d16 6b33 776f726c6421"
    "378f2400 0200000000000000 0000000000000000 0000000000000000 33fc82c9";
const BlobPairs kGoldenPairs = {{"k1", "hello"}, {"k3", "world!"}};

BlobReference To(uint64_t offset, uint64_t size, CompressionType compression = kNoCompression) {
  BlobReference reference;
  reference.file_number = kBlobNumber;
  reference.offset = offset;
  reference.size = size;
  reference.compression = compression;
  return reference;
}

void ExpectEncoding(const BlobReference& reference, const std::string& hex) {
  std::string encoded;
  reference.EncodeTo(&encoded);
  EXPECT_EQ(encoded, Bytes(hex));
  BlobReference decoded;
  ASSERT_TRUE(BlobReference::Decode(encoded, &decoded).ok()) << hex;
  EXPECT_EQ(decoded, reference) << hex;
  const bool plain = reference.kind == BlobReference::Kind::kBlob;
  EXPECT_EQ(BlobReference::DecodeInDatabase(encoded, &decoded).ok(), plain) << hex;
}

TEST(BlobReferenceTest, HasTheBytesOfRocksDB) {
  ExpectEncoding(To(64, 5), "01 0a 40 05 00");
  ExpectEncoding(To(103, 6), "01 0a 67 06 00");
  ExpectEncoding(To(64, 7, kSnappyCompression), "01 0a 40 07 01");
  BlobReference expiring = To(64, 7, kZSTD);
  expiring.kind = BlobReference::Kind::kBlobTtl;
  expiring.expiration = 129;
  ExpectEncoding(expiring, "02 8101 0a 40 07 07");
  BlobReference inlined;
  inlined.kind = BlobReference::Kind::kInlinedTtl;
  inlined.expiration = 7;
  inlined.inlined = "ab";
  ExpectEncoding(inlined, "00 07 6162");
}

TEST(BlobReferenceTest, RefusesOtherBytes) {
  BlobReference reference;
  for (const char* const hex : {"", "01", "03 0a 40 05 00", "01 0a 40 05", "01 0a 40 05 00 00",
                                "01 ffffffffffffffffffff7f 40 05 00", "00", "02 80"}) {
    const Status s = BlobReference::Decode(Bytes(hex), &reference);
    EXPECT_TRUE(s.IsCorruption()) << hex << ": " << s.ToString();
  }
  const Status s = BlobReference::DecodeInDatabase(Bytes("01 00 40 05 00"), &reference);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
}

TEST(BlobFileTest, HasTheBytesOfRocksDB) {
  std::vector<BlobReference> references;
  EXPECT_EQ(BlobFileOf(kGoldenPairs, kNoCompression, &references), Bytes(kGoldenFile));
  EXPECT_EQ(references[0], To(64, 5));
  EXPECT_EQ(references[1], To(103, 6));
  const std::string compressed = BlobFileOf({{"k1", "hello"}}, kSnappyCompression, &references);
  EXPECT_EQ(compressed.substr(64, 7), Bytes("0510 68656c6c6f"));
  EXPECT_EQ(compressed[13], '\x01');
  EXPECT_EQ(references[0].size, 7u);
}

class BlobReaderTest : public ::testing::Test {
 protected:
  void Store(const Slice& bytes) {
    fs_ = std::make_shared<MemFileSystem>();
    ASSERT_TRUE(StoreBlobFile(fs_.get(), bytes).ok());
  }
  Status Open(uint32_t family = 0) { return OpenBlobFile(fs_, family, &reader_); }
  Status Get(const Slice& key, const BlobReference& reference, std::string* value) {
    PinnableSlice result;
    const Status s = reader_->Get(options_, key, reference, nullptr, &result, nullptr);
    *value = result.ToString();
    return s;
  }

  std::shared_ptr<MemFileSystem> fs_;
  std::unique_ptr<BlobFileReader> reader_;
  ReadOptions options_;
};

BlobPairs SomePairs() {
  BlobPairs pairs;
  for (size_t i = 0; i < 40; ++i) {
    const size_t n = i % 7 == 0 ? 20000 : i % 3 == 0 ? 5000 : 1 + i * 10;
    pairs.emplace_back("key" + std::to_string(i), std::string(n, static_cast<char>('a' + i % 26)));
  }
  return pairs;
}

TEST_F(BlobReaderTest, ReadsWhatWasWrittenWithEveryCodec) {
  for (const CompressionType type :
       {kNoCompression, kSnappyCompression, kZlibCompression, kBZip2Compression, kLZ4Compression,
        kLZ4HCCompression, kZSTD}) {
    if (!CodecSupported(type)) continue;
    const BlobPairs pairs = SomePairs();
    std::vector<BlobReference> references;
    Store(BlobFileOf(pairs, type, &references));
    ASSERT_TRUE(Open().ok());
    EXPECT_EQ(reader_->blob_count(), pairs.size());
    EXPECT_TRUE(reader_->VerifyChecksums(options_, nullptr).ok());
    FilePrefetcher prefetcher = FilePrefetcher::Fixed(8192);
    for (size_t i = 0; i < pairs.size(); ++i) {
      std::string value;
      ASSERT_TRUE(Get(pairs[i].first, references[i], &value).ok());
      EXPECT_EQ(value, pairs[i].second);
      PinnableSlice ahead;
      ASSERT_TRUE(
          reader_->Get(options_, pairs[i].first, references[i], &prefetcher, &ahead, nullptr).ok());
      EXPECT_EQ(ahead, pairs[i].second);
    }
  }
}

TEST_F(BlobReaderTest, ReadsManyValuesInAnyOrder) {
  const BlobPairs pairs = SomePairs();
  std::vector<BlobReference> references;
  Store(BlobFileOf(pairs, kNoCompression, &references));
  ASSERT_TRUE(Open().ok());
  std::vector<PinnableSlice> values(pairs.size());
  std::vector<BlobRead> reads(pairs.size());
  std::vector<BlobRead*> wanted;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const size_t from = (i * 17 + 5) % pairs.size();
    reads[i].user_key = pairs[from].first;
    reads[i].reference = references[from];
    reads[i].value = &values[i];
    wanted.push_back(&reads[i]);
  }
  // The errors of three are not those of the others.
  reads[3].reference.offset++;
  reads[4].reference.size = UINT64_MAX;
  reads[5].user_key = "nobody";
  reader_->MultiGet(options_, wanted);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i >= 3 && i <= 5) {
      EXPECT_TRUE(reads[i].status.IsCorruption()) << i << reads[i].status.ToString();
      continue;
    }
    ASSERT_TRUE(reads[i].status.ok()) << reads[i].status.ToString();
    EXPECT_EQ(values[i], pairs[(i * 17 + 5) % pairs.size()].second);
  }
}

TEST_F(BlobReaderTest, ACacheOnlyReadIsIncomplete) {
  std::vector<BlobReference> references;
  Store(BlobFileOf(kGoldenPairs, kNoCompression, &references));
  ASSERT_TRUE(Open().ok());
  options_.read_tier = kBlockCacheTier;
  std::string value;
  EXPECT_TRUE(Get("k1", references[0], &value).IsIncomplete());
}

TEST_F(BlobReaderTest, RefusesTheFileOfAnotherFamilyAndAnotherSize) {
  Store(Bytes(kGoldenFile));
  EXPECT_TRUE(Open(/*family=*/0).ok());
  const Status s = Open(/*family=*/7);
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_THAT(s.ToString(), HasSubstr("000010.blob"));
  BlobFileOpenOptions options;
  options.fs = fs_;
  EXPECT_TRUE(
      BlobFileReader::Open(options, kBlobNumber, testing::kBlobPath, 140, &reader_).IsCorruption());
}

// Keys are data, which messages show only if allow_data_in_errors is set.
TEST_F(BlobReaderTest, NamesFileAndOffsetOfAWrongReference) {
  std::vector<BlobReference> references;
  Store(BlobFileOf(kGoldenPairs, kNoCompression, &references));
  ASSERT_TRUE(Open().ok());
  std::string value;
  const Status s = Get("k3", references[0], &value);
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_THAT(s.ToString(), HasSubstr("000010.blob"));
  EXPECT_THAT(s.ToString(), Not(HasSubstr("6B33")));
  EXPECT_THAT(s.ToString(), HasSubstr("offset 30"));
}

// Every reference to somewhere else is refused, or leads to the one right value.
TEST_F(BlobReaderTest, NoReferenceReadsBeyondTheRecords) {
  std::vector<BlobReference> references;
  Store(BlobFileOf(kGoldenPairs, kNoCompression, &references));
  ASSERT_TRUE(Open().ok());
  for (uint64_t offset = 0; offset < 150; ++offset) {
    for (uint64_t size = 0; size < 150; ++size) {
      BlobReference reference = references[0];
      reference.offset = offset;
      reference.size = size;
      std::string value;
      const Status s = Get("k1", reference, &value);
      EXPECT_EQ(s.ok(), reference == references[0]) << offset << " " << size;
      EXPECT_TRUE(s.ok() || s.IsCorruption());
      options_.verify_checksums = false;
      EXPECT_EQ(Get("k1", reference, &value).ok(), offset >= 64 && offset + size <= 109);
      options_.verify_checksums = true;
    }
  }
}

// Each byte of small files is changed in turn: the value of its key is refused, or the file, or
// the value is what it was.
TEST_F(BlobReaderTest, ARottenByteNeverGivesAnotherValue) {
  for (const CompressionType type : {kNoCompression, kSnappyCompression}) {
    std::vector<BlobReference> references;
    const std::string file = BlobFileOf(kGoldenPairs, type, &references);
    for (size_t at = 0; at < file.size(); ++at) {
      for (const char flip : {'\x01', '\x80', '\xff'}) {
        std::string rotten = file;
        rotten[at] = static_cast<char>(rotten[at] ^ flip);
        Store(rotten);
        const Status opened = Open();
        if (!opened.ok()) {
          EXPECT_TRUE(opened.IsCorruption() || opened.IsNotSupported()) << opened.ToString();
          continue;
        }
        size_t refused = 0;
        for (size_t i = 0; i < kGoldenPairs.size(); ++i) {
          std::string value;
          const Status s = Get(kGoldenPairs[i].first, references[i], &value);
          EXPECT_TRUE(!s.ok() || value == kGoldenPairs[i].second) << at;
          refused += s.ok() ? 0 : 1;
        }
        // Flags that mean nothing are the only bytes whose change nobody sees.
        EXPECT_EQ(refused == 0, at == 12) << at;
        // Records do not say which compression they have.
        EXPECT_EQ(reader_->VerifyChecksums(options_, nullptr).ok(), at == 12 || at == 13) << at;
      }
    }
  }
}

TEST_F(BlobReaderTest, AVerificationStopsWithinAFile) {
  std::vector<BlobReference> references;
  Store(BlobFileOf(SomePairs(), kNoCompression, &references));
  ASSERT_TRUE(Open().ok());
  uint64_t records = 0;
  uint64_t bytes = 0;
  const auto count = [&](uint64_t n) {
    records++;
    bytes += n;
    return Status::OK();
  };
  ASSERT_TRUE(reader_->VerifyChecksums(options_, count).ok());
  EXPECT_EQ(records, reader_->blob_count());
  EXPECT_EQ(bytes + kBlobFileFrameBytes, reader_->file_size());
  records = 0;
  const Status s = reader_->VerifyChecksums(options_, [&](uint64_t) {
    return ++records == 2 ? Status::ShutdownInProgress("enough") : Status::OK();
  });
  EXPECT_TRUE(s.IsShutdownInProgress()) << s.ToString();
  EXPECT_EQ(records, 2u);
}

// Overwrites the ranges of a file's bytes with zeros.
void PunchInto(std::string* file, const ByteRanges& holes) {
  for (const ByteRange& hole : holes.List()) {
    file->replace(hole.begin, hole.bytes(), hole.bytes(), '\0');
  }
}

// The bytes of the record that a reference leads to.
ByteRange BytesOfRecord(const std::string& key, const BlobReference& reference) {
  const uint64_t end = reference.offset + reference.size;
  return {end - BlobRecordBytes(key.size(), reference.size), end};
}

// Takes whole blocks from one of the ends of each hole, and leaves at least one.
ByteRanges CutShort(const ByteRanges& holes, testing::Random* random) {
  ByteRanges left;
  for (const ByteRange& hole : holes.List()) {
    const uint64_t bytes = kHoleBlock * (1 + random->Below(hole.bytes() / kHoleBlock));
    left.Add(random->OneIn(2) ? ByteRange{hole.begin, hole.begin + bytes}
                              : ByteRange{hole.end - bytes, hole.end});
  }
  return left;
}

// Some records are garbage, and the whole blocks of garbage are zeros: of that of two sessions
// apart, and perhaps not all of them. The check passes over as much as is garbage, and not over
// damage of a live record.
TEST_F(BlobReaderTest, AVerificationPassesOverHoles) {
  size_t with_holes = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    testing::Random random(seed);
    BlobPairs pairs;
    for (int i = 0; i < 60; ++i) {
      const uint64_t most = random.OneIn(5) ? 30000 : random.OneIn(2) ? 5000 : 100;
      pairs.emplace_back("key" + std::to_string(i), random.Text(1 + random.Below(most)));
    }
    std::vector<BlobReference> references;
    std::string file = BlobFileOf(pairs, kNoCompression, &references);
    ByteRanges garbage[2];        // by session
    std::vector<ByteRange> live;  // keys and values
    HoleBudget most;
    bool dropping = false;
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (random.OneIn(3)) dropping = !dropping;
      const ByteRange record = BytesOfRecord(pairs[i].first, references[i]);
      if (dropping) {
        garbage[seed % 2 == 0 ? 0 : random.Below(2)].Add(record);
        ++most.count;
        most.bytes += record.bytes();
      } else {
        live.push_back({record.begin + BlobRecordHeader::kBytes, record.end});
      }
    }
    ByteRanges holes = garbage[0].WholeBlocks(kHoleBlock);
    holes.Add(garbage[1].WholeBlocks(kHoleBlock));
    if (seed > 20) holes = CutShort(holes, &random);
    PunchInto(&file, holes);
    Store(file);
    ASSERT_TRUE(Open().ok());
    const Status s = reader_->VerifyChecksums(options_, nullptr, most);
    EXPECT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(reader_->VerifyChecksums(options_, nullptr).ok(), holes.empty());
    if (holes.empty()) continue;
    ++with_holes;
    EXPECT_FALSE(reader_->VerifyChecksums(options_, nullptr, {0, most.bytes}).ok());
    for (const ByteRange& part : live) {
      std::string rotten = file;
      char* const byte = &rotten[part.begin + random.Below(part.bytes())];
      *byte = static_cast<char>(*byte ^ '\x10');
      Store(rotten);
      ASSERT_TRUE(Open().ok());
      EXPECT_FALSE(reader_->VerifyChecksums(options_, nullptr, most).ok());
    }
  }
  EXPECT_GT(with_holes, 20u);
}

// The second record begins ten bytes before a border, and the block before that was not punched.
TEST_F(BlobReaderTest, ABlockBetweenTwoHolesMayStay) {
  const size_t first = 3 * kHoleBlock - 10 - BlobFileHeader::kBytes - BlobRecordBytes(2, 0);
  const BlobPairs pairs = {
      {"k0", std::string(first, 'a')}, {"k1", std::string(20000, 'b')}, {"k2", "live"}};
  std::vector<BlobReference> references;
  std::string file = BlobFileOf(pairs, kNoCompression, &references);
  ByteRanges holes;
  HoleBudget most;
  for (size_t i = 0; i < 2; ++i) {
    ByteRanges garbage;
    garbage.Add(BytesOfRecord(pairs[i].first, references[i]));
    holes.Add(garbage.WholeBlocks(kHoleBlock));
    most.bytes += BytesOfRecord(pairs[i].first, references[i]).bytes();
    ++most.count;
  }
  ASSERT_EQ(holes.size(), 2u);
  PunchInto(&file, holes);
  Store(file);
  ASSERT_TRUE(Open().ok());
  const Status s = reader_->VerifyChecksums(options_, nullptr, most);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_FALSE(reader_->VerifyChecksums(options_, nullptr, {1, most.bytes}).ok());
  EXPECT_FALSE(reader_->VerifyChecksums(options_, nullptr, {2, most.bytes - 1}).ok());
}

// A value that ends with zeros is sound although a hole has taken them, and the next header.
TEST_F(BlobReaderTest, HolesMayTakeZeros) {
  for (size_t n = 9000; n < 9000 + kHoleBlock; n += 101) {
    BlobPairs pairs;
    for (int i = 0; i < 5; ++i) pairs.emplace_back("k" + std::to_string(i), std::string(n, '\0'));
    pairs.emplace_back("", "live");
    std::vector<BlobReference> references;
    std::string file = BlobFileOf(pairs, kNoCompression, &references);
    const uint64_t begin = BytesOfRecord("k1", references[1]).begin;
    const uint64_t end = BytesOfRecord("k4", references[4]).end;
    ByteRanges garbage;
    garbage.Add({begin, end});
    PunchInto(&file, garbage.WholeBlocks(kHoleBlock));
    Store(file);
    ASSERT_TRUE(Open().ok());
    const Status s = reader_->VerifyChecksums(options_, nullptr, {4, end - begin});
    EXPECT_TRUE(s.ok()) << n << ": " << s.ToString();
  }
}

// The rest of a value behind a hole may look like records: whole ones, or the beginning of one.
TEST_F(BlobReaderTest, ValuesMayHoldRecords) {
  std::vector<BlobReference> references;
  const std::string inner = BlobFileOf({{"a", "1"}, {"b", "22"}, {"c", std::string(600, 'c')}},
                                       kNoCompression, &references);
  for (const size_t cut : {size_t{0}, size_t{300}}) {
    const size_t end_of_inner = inner.size() - BlobFileFooter::kBytes - cut;
    const std::string tail = inner.substr(0, end_of_inner) + (cut == 0 ? "the end" : "");
    // The value ends 3000 bytes behind the border on which the hole ends.
    const size_t n = 5 * kHoleBlock + 3000 - BlobFileHeader::kBytes - BlobRecordBytes(2, 0);
    const BlobPairs pairs = {{"k0", std::string(n - tail.size(), 'v') + tail},
                             {"k1", std::string(700, 'x')},
                             {"k2", std::string(800, 'y')}};
    std::string file = BlobFileOf(pairs, kNoCompression, &references);
    const ByteRange record = BytesOfRecord("k0", references[0]);
    ByteRanges garbage;
    garbage.Add(record);
    PunchInto(&file, garbage.WholeBlocks(kHoleBlock));
    Store(file);
    ASSERT_TRUE(Open().ok());
    const HoleBudget most = {1, record.bytes()};
    const Status s = reader_->VerifyChecksums(options_, nullptr, most);
    EXPECT_TRUE(s.ok()) << cut << ": " << s.ToString();
    file[references[1].offset + 5] = '!';
    Store(file);
    ASSERT_TRUE(Open().ok());
    EXPECT_FALSE(reader_->VerifyChecksums(options_, nullptr, most).ok()) << cut;
  }
}

TEST_F(BlobReaderTest, ACutFileIsRefused) {
  const std::string file = Bytes(kGoldenFile);
  for (size_t n = 0; n < file.size(); ++n) {
    Store(Slice(file.data(), n));
    EXPECT_TRUE(Open().IsCorruption()) << n;
  }
}

}  // namespace
}  // namespace varve
