// SPDX-License-Identifier: Apache-2.0

// Goal: the smallest directory that RocksDB opens, and LevelDB's directories, open here. Method:
// the former byte by byte from a golden vector, the latter written by LevelDB's own library.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "varve/db.h"

#include "tests/interop/programs.h"
#include "tests/interop/script.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

const char* const kManifest =
    "eddde38e400001011a6c6576656c64622e4279746577697365436f6d70617261746f72020503060402670003fd020a"
    "6b3101010000000000000a6b320102000000000000010201";
const char* const kLog =
    "9237815b130001030000000000000001000000"
    "01026b33027633";
const char* const kTable =
    "000a026b3101010000000000007631010902320102000000000000763200000000010000000043ec2b5d00026b3200"
    "2500000000010000000073336811002404726f636b7364622e626c6f636b2e62617365642e7461626c652e696e6465"
    "782e7479706500000000080a1a636f6d70617261746f726c6576656c64622e4279746577697365436f6d7061726174"
    "6f720c070d72657373696f6e4e6f436f6d7072657373696f6e080c0164656c657465642e6b65797300081501696e64"
    "65782e6b65792e69732e757365722e6b6579010e160176616c75652e69732e64656c74612e656e636f64656401080b"
    "016e756d2e656e747269657302080c017261772e6b65792e73697a65140c0a0176616c75652e73697a650400000000"
    "0100000000314f1f17001203726f636b7364622e70726f706572746965733de10100000000010000000065d90c2d01"
    "a302202a0e000000000000000000000000000000000000000000000000000000000000000000000005000000f7cff4"
    "85b741e288";

std::string Bytes(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::map<std::string, std::string> FilesOf(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    std::ifstream in(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = std::string(std::istreambuf_iterator<char>(in), {});
  }
  return files;
}

std::map<std::string, std::string> ScanAll(DB* db) {
  std::map<std::string, std::string> found;
  std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    found[it->key().ToString()] = it->value().ToString();
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  return found;
}

class GoldenDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("varve_golden_" + std::to_string(getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  void WriteFile(const std::string& name, const std::string& bytes) {
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
  }
  void WriteMinimal() {
    WriteFile("CURRENT", "MANIFEST-000001\n");
    WriteFile("MANIFEST-000001", Bytes(kManifest));
    WriteFile("000005.log", Bytes(kLog));
    WriteFile("000003.sst", Bytes(kTable));
  }
  std::string path() const { return directory_.string(); }

  const std::map<std::string, std::string> minimal_ = {{"k1", "v1"}, {"k2", "v2"}, {"k3", "v3"}};
  fs::path directory_;
};

TEST_F(GoldenDirectory, MinimalOpensReadOnlyAndStaysAsItIs) {
  WriteMinimal();
  const std::map<std::string, std::string> before = FilesOf(path());
  ASSERT_EQ(before.at("MANIFEST-000001").size(), 71u);
  ASSERT_EQ(before.at("000003.sst").size(), 381u);
  DB* raw = nullptr;
  const Status s = DB::OpenForReadOnly(Options(), path(), &raw);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::unique_ptr<DB> db(raw);
  EXPECT_EQ(ScanAll(db.get()), minimal_);
  std::string value;
  EXPECT_TRUE(db->Get(ReadOptions(), "k2", &value).ok());
  EXPECT_EQ(value, "v2");
  EXPECT_TRUE(db->Get(ReadOptions(), "k22", &value).IsNotFound());
  db.reset();
  EXPECT_EQ(FilesOf(path()), before);
}

TEST_F(GoldenDirectory, MinimalOpensForWriting) {
  WriteMinimal();
  for (int opening = 0; opening < 3; opening++) {
    SCOPED_TRACE(opening);
    DB* raw = nullptr;
    const Status s = DB::Open(Options(), path(), &raw);
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::unique_ptr<DB> db(raw);
    std::map<std::string, std::string> expected = minimal_;
    if (opening > 0) expected["k4"] = "v4";
    EXPECT_EQ(ScanAll(db.get()), expected);
    EXPECT_TRUE(db->Put(WriteOptions(), "k4", "v4").ok());
    EXPECT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_TRUE(db->Close().ok());
  }
}

// The script's language is the same; LevelDB knows no families.
TEST_F(GoldenDirectory, LevelDbsDirectoriesOpen) {
  if (std::string(LEVELDB_DRIVER).empty()) {
    printf("SKIPPED: LevelDB's library was not there when this was built\n");
    GTEST_SKIP();
  }
  for (const char* options : {"db none -", "db snappy filter", "db none filter", "db snappy -"}) {
    for (const bool pending : {false, true}) {
      SCOPED_TRACE(std::string(options) + (pending ? " pending" : ""));
      const std::string db_path = path() + "/leveldb";
      fs::remove_all(db_path);
      Content content;
      content.rounds = 4;
      content.seed = pending ? 21 : 20;
      content.pending = pending;
      content.large_values = true;
      Script content_script({std::vector<std::string>{"default"}});
      content_script.Write(content);
      std::string text = std::string(options) + "\nopen " + db_path + "\n";
      std::istringstream lines(content_script.text());
      int round = 0;
      for (std::string line; std::getline(lines, line);) {
        // LevelDB flushes by itself; one compaction moves tables down.
        if (line == "sync") continue;
        if (line.starts_with("flush")) line = ++round == 2 ? "compact" : "";
        text += line + "\n";
      }
      text += pending ? "quit\n" : "close\n";
      ASSERT_EQ(RunScript(LEVELDB_DRIVER, path(), text), "");

      for (const char* open : {"reader", "open", "open"}) {
        Script script({std::vector<std::string>{"default"}});
        script.Line("db -");
        script.Line("family default -");
        script.Line(std::string(open) + " " + db_path);
        script.Expect(content_script.state());
        script.Line("checksums");
        if (std::string(open) == "open") {
          script.Line("compact default");
          script.Line("check");
        }
        script.Line("close");
        ASSERT_EQ(RunScript(VARVE_DRIVER, path(), script.text()), "") << open;
      }
    }
  }
}

}  // namespace
}  // namespace varve::testing
