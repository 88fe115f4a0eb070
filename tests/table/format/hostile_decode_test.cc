// SPDX-License-Identifier: Apache-2.0

// Gives damaged and random bytes to every decoder of the format: nothing may crash, read beyond its
// input or loop. Under AddressSanitizer these tests find more than they assert.

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <random>
#include <utility>

#include "table/block/block_walker.h"
#include "table/filter/filter_bits.h"
#include "table/format/footer.h"
#include "table/meta/properties_block.h"
#include "tests/table/table_file.h"
#include "util/coding/fixed.h"

namespace varve {
namespace {

// A copy without slack after it, so that a read beyond the end is found.
class Exact {
 public:
  explicit Exact(const std::string& bytes) : data_(new char[bytes.size()]), size_(bytes.size()) {
    bytes.copy(data_.get(), size_);
  }
  Slice slice() const { return Slice(data_.get(), size_); }

 private:
  std::unique_ptr<char[]> data_;
  size_t size_;
};

std::string RandomBytes(std::mt19937* rng, size_t n) {
  std::string bytes(n, '\0');
  for (char& c : bytes) c = static_cast<char>((*rng)());
  return bytes;
}

std::string Damage(std::mt19937* rng, std::string bytes) {
  for (int i = 0; i < 3 && !bytes.empty(); i++) {
    bytes[(*rng)() % bytes.size()] = static_cast<char>((*rng)());
  }
  if ((*rng)() % 4 == 0) bytes.resize((*rng)() % (bytes.size() + 1));
  return bytes;
}

TEST(HostileDecode, HandlesNeverPassBeyondALimit) {
  std::mt19937 rng(1);
  int decoded = 0;
  for (int i = 0; i < 20000; i++) {
    const Exact input(RandomBytes(&rng, rng() % 22));
    Slice in = input.slice();
    BlockHandle handle;
    if (!BlockHandle::DecodeFrom(&in, &handle)) {
      EXPECT_EQ(in.size(), input.slice().size());
      continue;
    }
    decoded++;
    if (handle.FitsIn(1000)) {
      EXPECT_LE(handle.offset, 1000u);
      EXPECT_LE(handle.size, 1000u);
      EXPECT_LE(handle.end(), 1000u);
    }
  }
  EXPECT_GT(decoded, 1000);
  EXPECT_FALSE((BlockHandle{UINT64_MAX, 1}).FitsIn(1000));
  EXPECT_FALSE((BlockHandle{1, UINT64_MAX}).FitsIn(1000));
  EXPECT_TRUE((BlockHandle{900, 95}).FitsIn(1000));
  EXPECT_FALSE((BlockHandle{900, 96}).FitsIn(1000));
}

TEST(HostileDecode, FootersThatPassHaveHandlesInsideTheFile) {
  std::mt19937 rng(2);
  Footer good;
  good.metaindex = {928, 32};
  good.index = {42, 14};
  std::string version5;
  good.EncodeTo(965, &version5);
  good.format_version = 7;
  good.base_context_checksum = 12345;
  std::string version7;
  good.EncodeTo(965, &version7);
  int passed = 0;
  for (int i = 0; i < 20000; i++) {
    const Exact input(Damage(&rng, i % 2 == 0 ? version5 : version7));
    Footer footer;
    if (!footer.DecodeFrom(input.slice(), 965).ok()) continue;
    passed++;
    EXPECT_TRUE(footer.metaindex.FitsIn(965)) << i;
    EXPECT_TRUE(footer.index.IsNull() || footer.index.FitsIn(965)) << i;
  }
  EXPECT_GT(passed, 0);
}

TEST(HostileDecode, FootersSayWhatIsWrong) {
  Footer footer;
  EXPECT_TRUE(footer.DecodeFrom("", 0).IsCorruption());
  EXPECT_TRUE(footer.DecodeFrom(std::string(47, 'x'), 0).IsCorruption());
  EXPECT_TRUE(footer.DecodeFrom(std::string(53, 'x'), 0).IsCorruption());
  std::string bytes;
  Footer later;
  later.format_version = 8;
  later.metaindex = {928, 32};
  later.EncodeTo(965, &bytes);
  EXPECT_TRUE(footer.DecodeFrom(bytes, 965).IsNotSupported());
}

TEST(HostileDecode, AFlippedBitOfAFooterIsNoLaterVersion) {
  for (uint32_t version = 1; version <= Footer::kLatestVersion; version++) {
    Footer good;
    good.format_version = version;
    good.metaindex = {928, 32};
    good.index = {42, 14};
    std::string bytes;
    good.EncodeTo(965, &bytes);
    for (size_t bit = 0; bit < 8 * bytes.size(); bit++) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      Footer footer;
      const Status s = footer.DecodeFrom(flipped, 965);
      EXPECT_TRUE(s.ok() || s.IsCorruption()) << version << " " << bit << " " << s.ToString();
    }
  }
}

TEST(HostileDecode, TablesOfOtherFormatsAreNamed) {
  for (const auto& [magic, name] : std::initializer_list<std::pair<uint64_t, const char*>>{
           {0x8242229663bf9564, "PlainTable"},
           {0x4f3418eb7a8f13b8, "PlainTable"},
           {0x926789d0c5f17873, "CuckooTable"}}) {
    std::string bytes(45, '\0');
    PutFixed64(&bytes, magic);
    Footer footer;
    const Status s = footer.DecodeFrom(bytes, 0);
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_NE(s.ToString().find(name), std::string::npos) << s.ToString();
  }
}

TEST(HostileDecode, PropertiesOfDamagedBlocks) {
  std::mt19937 rng(3);
  TableProperties p;
  p.comparator_name = "leveldb.BytewiseComparator";
  p.user_collected_properties["zz"] = std::string(300, 'v');
  std::string block;
  EncodeProperties(p, TableTraits(), &block);
  int passed = 0;
  for (int i = 0; i < 5000; i++) {
    const Exact input(i % 4 == 0 ? RandomBytes(&rng, rng() % 200) : Damage(&rng, block));
    TableProperties q;
    TableTraits traits;
    if (ParseProperties(input.slice(), &q, &traits).ok()) passed++;
  }
  EXPECT_GT(passed, 0);
  EXPECT_LT(passed, 5000);
}

TEST(HostileDecode, WalkersEndWithinTheBlock) {
  std::mt19937 rng(4);
  for (int i = 0; i < 20000; i++) {
    std::string bytes = RandomBytes(&rng, 4 + rng() % 60);
    for (size_t j = 0; j + 4 < bytes.size(); j += 3) bytes[j] = static_cast<char>(bytes[j] & 7);
    EncodeFixed32(bytes.data() + bytes.size() - 4, rng() % 3);
    const Exact input(bytes);
    BlockWalker walk(input.slice());
    size_t steps = 0;
    while (walk.Next()) steps++;
    EXPECT_LE(steps, bytes.size() / 3);
  }
}

TEST(HostileDecode, FiltersOfAnyBytesAnswer) {
  std::mt19937 rng(5);
  int kinds[5] = {};
  for (int i = 0; i < 20000; i++) {
    std::string bytes = RandomBytes(&rng, rng() % 400);
    if (bytes.size() > 5) {
      char* const meta = bytes.data() + bytes.size() - 5;
      switch (rng() % 4) {
        case 0:
          meta[0] = static_cast<char>(0xff);
          meta[1] = meta[3] = meta[4] = 0;
          meta[2] = static_cast<char>(rng() % 32);
          break;
        case 1:
          meta[0] = static_cast<char>(0xfe);
          meta[3] = meta[4] = 0;
          meta[2] = static_cast<char>(rng() % 16);
          break;
        case 2:
          bytes.assign(64 * (1 + rng() % 5), 'x');
          bytes += '\x06';
          PutFixed32(&bytes, static_cast<uint32_t>(bytes.size() / 64));
          break;
        default:
          break;
      }
    }
    const Exact input(bytes);
    const FilterBits filter = FilterBits::Parse(input.slice());
    kinds[static_cast<int>(filter.kind())]++;
    for (int j = 0; j < 20; j++) {
      const uint64_t hash = (uint64_t{rng()} << 32) | rng();
      filter.Prefetch(hash);
      (void)filter.MayMatch(hash);
      (void)filter.MayMatch(UINT64_MAX - static_cast<uint64_t>(j));
    }
  }
  for (const int count : kinds) EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace varve
