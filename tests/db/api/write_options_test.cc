// SPDX-License-Identifier: Apache-2.0

// Goal: the options of single writes take effect, also with a codec for the log.

#include <gmock/gmock.h>

#include "varve/rate_limiter.h"

#include "db/write/write_batch_internal.h"
#include "tests/harness/after_log.h"
#include "tests/harness/database.h"
#include "util/compress/codec.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class WriteOptionsTest : public Database {};

TEST_F(WriteOptionsTest, AChangedBitIsFoundBeforeItIsLogged) {
  Open();
  WriteOptions plain;
  for (const bool flip_key : {true, false}) {
    WriteBatch batch(0, 0, /*protection_bytes_per_key=*/8, 0);
    ASSERT_TRUE(batch.Put("key", "value").ok());
    ASSERT_TRUE(batch.Delete("other").ok());
    std::string* const rep = WriteBatchInternal::Rep(&batch);
    const size_t at = rep->find(flip_key ? "key" : "value");
    (*rep)[at] = static_cast<char>((*rep)[at] ^ 0x10);
    const Status s = db()->Write(plain, &batch);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  }
  EXPECT_EQ(Scan(), "");
  Put("next", "1");
  Kill();
  Open();
  EXPECT_EQ(Scan(), "next=1") << "nothing of it was logged, and nobody else was disturbed";
}

TEST_F(WriteOptionsTest, AChangedBitIsFoundBeforeItIsInserted) {
  for (const bool unordered : {false, true}) {
    options_.unordered_write = unordered;
    Open();
    Put("key", "before");
    WriteBatch batch(0, 0, /*protection_bytes_per_key=*/8, 0);
    ASSERT_TRUE(batch.Put("key", "value").ok());
    AfterLog flip([&batch] {
      std::string* const rep = WriteBatchInternal::Rep(&batch);
      char& first = (*rep)[rep->find("value")];
      first = static_cast<char>(first ^ 0x10);
    });
    const Status s = db()->WriteWithCallback(WriteOptions(), &batch, &flip);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_EQ(Get("key"), "before");
    EXPECT_FALSE(db()->Put(WriteOptions(), "next", "1").ok()) << "the log has what memory has not";
    Kill();
    Open();
    EXPECT_EQ(Scan(), "key=value") << "as it was logged";
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(WriteOptionsTest, ProtectionIsZeroOrEight) {
  Open();
  WriteOptions options;
  options.protection_bytes_per_key = 8;
  EXPECT_TRUE(db()->Put(options, "a", "1").ok());
  EXPECT_TRUE(db()->Delete(options, "b").ok());
  EXPECT_TRUE(db()->SingleDelete(options, "c").ok());
  EXPECT_TRUE(db()->DeleteRange(options, "d", "e").ok());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("f", "2").ok());
  EXPECT_TRUE(db()->Write(options, &batch).ok());
  EXPECT_EQ(batch.GetProtectionBytesPerKey(), 8u) << "from this write on";
  EXPECT_EQ(Scan(), "a=1 f=2");
  options.protection_bytes_per_key = 4;
  EXPECT_TRUE(db()->Write(options, &batch).IsInvalidArgument());
  WriteBatch odd(0, 0, 4, 0);
  EXPECT_TRUE(odd.Put("g", "3").IsInvalidArgument());
}

TEST_F(WriteOptionsTest, LoggedBytesAreChargedWhenAsked) {
  options_.rate_limiter.reset(
      NewGenericRateLimiter(64 << 20, 100000, 10, RateLimiter::Mode::kAllIo));
  Open();
  Put("free", std::string(10000, 'v'));
  EXPECT_EQ(options_.rate_limiter->GetTotalBytesThrough(Env::IO_USER), 0);
  WriteOptions charged;
  charged.rate_limiter_priority = Env::IO_USER;
  ASSERT_TRUE(db()->Put(charged, "charged", std::string(20000, 'v')).ok());
  EXPECT_GE(options_.rate_limiter->GetTotalBytesThrough(Env::IO_USER), 20000);
  EXPECT_LT(options_.rate_limiter->GetTotalBytesThrough(Env::IO_USER), 21000);
  ASSERT_TRUE(Close().ok());
  options_.manual_wal_flush = true;
  Open();
  EXPECT_TRUE(db()->Put(charged, "refused", "v").IsInvalidArgument());
}

TEST_F(WriteOptionsTest, CompressedLogsAreSmallAndReplayed) {
  if (!CodecSupported(kZSTD)) GTEST_SKIP();
  options_.wal_compression = kZSTD;
  Open();
  for (int i = 0; i < 100; i++) Put("k" + std::to_string(i), std::string(4000, 'v'));
  uint64_t bytes = 0;
  for (const std::string& name : Files(kWalFile)) {
    bytes += ReadFile(std::string(kName) + "/" + name).size();
  }
  EXPECT_GT(bytes, 0u);
  EXPECT_LT(bytes, 40000u);
  Kill();
  Open();
  for (int i = 0; i < 100; i++) EXPECT_EQ(Get("k" + std::to_string(i)), std::string(4000, 'v'));
}

}  // namespace
}  // namespace varve::testing
