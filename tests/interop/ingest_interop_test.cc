// SPDX-License-Identifier: Apache-2.0

// Goal: RocksDB's tools open a directory into which files were ingested, and find what we find.
// Method: files that need a sequence number and such as need none, over tables and over each other,
// with the number in the MANIFEST alone or in the file, too.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "varve/db.h"
#include "varve/external_file.h"
#include "varve/sst_file_writer.h"

#include "tests/interop/programs.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

class IngestInterop : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("varve_ingest_" + std::to_string(getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "outside");
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    DB* opened = nullptr;
    ASSERT_TRUE(DB::Open(options_, (directory_ / "db").string(), &opened).ok());
    db_.reset(opened);
    state_.families["default"];
  }
  void TearDown() override {
    db_.reset();
    fs::remove_all(directory_);
  }

  FamilyState& state() { return state_.families["default"]; }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db_->Put(WriteOptions(), key, value).ok());
    state()[key] = value;
  }
  // Ingests the value for keys from..to, and then a range deletion of older keys, unless it is
  // empty.
  void Ingest(int from, int to, const std::string& value, bool write_number,
              const std::string& begin = "", const std::string& end = "") {
    SstFileWriter writer(EnvOptions(), options_);
    const std::string path = (directory_ / "outside" / (value + ".sst")).string();
    ASSERT_TRUE(writer.Open(path).ok());
    if (!begin.empty()) {
      ASSERT_TRUE(writer.DeleteRange(begin, end).ok());
      state().erase(state().lower_bound(begin), state().lower_bound(end));
    }
    for (int i = from; i <= to; i++) {
      const std::string key = "k" + std::to_string(i);
      ASSERT_TRUE(writer.Put(key, value).ok());
      state()[key] = value;
    }
    ASSERT_TRUE(writer.Finish().ok());
    IngestExternalFileOptions options;
    options.write_global_seqno = write_number;
    ASSERT_EQ(db_->IngestExternalFile({path}, options).ToString(), "OK");
  }

  fs::path directory_;
  Options options_;
  std::unique_ptr<DB> db_;
  ReferenceState state_;
};

TEST_F(IngestInterop, RocksDbFindsWhatWeFind) {
  if (!ProgramExists("ldb") || !ProgramExists("sst_dump")) {
    printf("SKIPPED: RocksDB's tools are not installed\n");
    return;
  }
  Ingest(100, 199, "first", /*write_number=*/false);
  for (int i = 150; i < 250; i++) Put("k" + std::to_string(i), "put");
  Ingest(180, 220, "second", /*write_number=*/false);
  Ingest(190, 195, "third", /*write_number=*/true, "k100", "k120");
  for (int i = 192; i < 194; i++) Put("k" + std::to_string(i), "later");
  ASSERT_TRUE(db_->Flush(FlushOptions()).ok());
  Ingest(300, 310, "fourth", /*write_number=*/false);
  db_.reset();
  EXPECT_EQ(CheckWithTools((directory_ / "db").string(), state_), "");
}

}  // namespace
}  // namespace varve::testing
