// SPDX-License-Identifier: Apache-2.0

// Goal: passes over all tables and blob files come by themselves, find rotted bytes, report them
// everywhere, do not hold up Close, and read no faster than they may. Method: small databases, a
// byte changed behind the engine's back.

#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <string>

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class DamageWatch final : public EventListener {
 public:
  void OnIOError(const IOErrorInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex);
    if (info.operation == FileOperationType::kVerify) paths.push_back(info.file_path);
  }
  void OnBackgroundError(BackgroundErrorReason, Status*) override {
    const std::lock_guard<std::mutex> lock(mutex);
    errors++;
  }
  std::mutex mutex;
  std::vector<std::string> paths;
  int errors = 0;
};

class ScrubberTest : public Database {
 protected:
  bool ComesTo(const std::string& progress) {
    return Eventually([&] { return Text("varve.scrub").find(progress) != std::string::npos; });
  }
};

TEST_F(ScrubberTest, IsOffUnlessAskedFor) {
  Open();
  EXPECT_EQ(Text("varve.scrub"), "off");
  EXPECT_EQ(Number("varve.scrub-corruptions"), 0u);
}

TEST_F(ScrubberTest, FindsWhatHasRotted) {
  Open();
  MakeTable({"a"});
  MakeTable({"b"});
  ASSERT_TRUE(Close().ok());
  const std::string path = std::string(kName) + "/" + Files(kTableFile)[0];
  const std::string sound = ReadFile(path);
  const auto watch = std::make_shared<DamageWatch>();
  options_.listeners.push_back(watch);
  options_.scrub_bytes_per_second = 1 << 30;
  options_.scrub_period_sec = 1;
  Open();
  EXPECT_TRUE(ComesTo("passes=1 tables=2")) << Text("varve.scrub");
  EXPECT_EQ(Number("varve.scrub-corruptions"), 0u);
  std::string damaged = sound;
  damaged[2] = static_cast<char>(damaged[2] ^ 1);
  ASSERT_TRUE(Close().ok());
  WriteFile(path, damaged);
  Open();
  EXPECT_TRUE(ComesTo("passes=1 tables=1")) << Text("varve.scrub");
  EXPECT_GE(Number("varve.scrub-corruptions"), 1u);
  EXPECT_THAT(Text("varve.scrub"), HasSubstr("last_corruption="));
  Put("still", "open");
  EXPECT_EQ(Get("b"), "of b");
  ASSERT_TRUE(Close().ok());
  const std::lock_guard<std::mutex> lock(watch->mutex);
  ASSERT_FALSE(watch->paths.empty());
  EXPECT_EQ(watch->paths[0], path);
  EXPECT_EQ(watch->errors, 0);
}

TEST_F(ScrubberTest, FindsWhatHasRottedInBlobFiles) {
  options_.enable_blob_files = true;
  options_.scrub_bytes_per_second = 1 << 30;
  options_.scrub_period_sec = 1;
  for (const int open_files : {-1, 10}) {
    options_.max_open_files = open_files;
    options_.listeners.clear();
    Open();
    MakeTable({"a", "b"});
    Reopen();
    EXPECT_TRUE(ComesTo("passes=1 tables=" + Text("rocksdb.num-files-at-level0") +
                        " blob_files=" + Text("rocksdb.num-blob-files")))
        << Text("varve.scrub");
    EXPECT_EQ(Number("varve.scrub-corruptions"), 0u);
    ASSERT_TRUE(Close().ok());
    const std::string path = std::string(kName) + "/" + Files(kBlobFile)[0];
    const std::string sound = ReadFile(path);
    std::string damaged = sound;
    damaged[sound.size() / 2] = static_cast<char>(damaged[sound.size() / 2] ^ 1);
    WriteFile(path, damaged);
    const auto watch = std::make_shared<DamageWatch>();
    options_.listeners.push_back(watch);
    Open();
    EXPECT_TRUE(ComesTo("passes=1")) << Text("varve.scrub");
    EXPECT_GE(Number("varve.scrub-corruptions"), 1u);
    EXPECT_THAT(Text("varve.scrub"), HasSubstr(path));
    ASSERT_TRUE(Close().ok());
    WriteFile(path, sound);
    const std::lock_guard<std::mutex> lock(watch->mutex);
    ASSERT_FALSE(watch->paths.empty());
    EXPECT_EQ(watch->paths[0], path);
  }
}

// The zeros are those of a hole in the first record, but nothing in the file is garbage.
TEST_F(ScrubberTest, FindsZerosInBlobFilesWithoutGarbage) {
  options_.enable_blob_files = true;
  options_.punch_holes_in_blob_files = true;
  options_.scrub_bytes_per_second = 1 << 30;
  Open();
  Put("a", std::string(20000, 'x'));
  Put("b", std::string(1000, 'y'));
  Flush();
  ASSERT_TRUE(Close().ok());
  const std::string path = std::string(kName) + "/" + Files(kBlobFile)[0];
  std::string damaged = ReadFile(path);
  damaged.replace(4096, 12288, 12288, '\0');
  WriteFile(path, damaged);
  Open();
  EXPECT_TRUE(ComesTo("passes=1")) << Text("varve.scrub");
  EXPECT_EQ(Number("varve.scrub-corruptions"), 1u);
}

// The blob file becomes obsolete while it is read: the rate leaves a second after its first record.
// It is deleted when the reading ends.
TEST_F(ScrubberTest, LetsGoOfABlobFileThatBecameObsolete) {
  options_.enable_blob_files = true;
  options_.scrub_bytes_per_second = 10000;
  options_.disable_auto_compactions = true;
  Open();
  Put("a", std::string(10000, 'x'));
  Put("b", std::string(1000, 'y'));
  Flush();
  Reopen();
  const auto bytes = [&] {
    const std::string text = Text("varve.scrub");
    return std::stoull(text.substr(text.find(" bytes=") + std::strlen(" bytes=")));
  };
  EXPECT_TRUE(Eventually([&] { return bytes() > 10000; }));
  Delete("a");
  Delete("b");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_TRUE(Eventually([&] { return Files(kBlobFile).empty(); }));
  EXPECT_EQ(Number("varve.scrub-corruptions"), 0u);
}

TEST_F(ScrubberTest, IsSlowAndStopsAtOnce) {
  options_.scrub_bytes_per_second = 100;
  Open();
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; i++) keys.push_back("key" + std::to_string(i));
  MakeTable(keys);
  Reopen();
  EXPECT_TRUE(
      Eventually([&] { return Text("varve.scrub").find(" bytes=0 ") == std::string::npos; }));
  EXPECT_THAT(Text("varve.scrub"), HasSubstr("passes=0"));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(Close().ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace varve::testing
