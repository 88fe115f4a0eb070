// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a database in memory beside files that it may ingest.

#include <memory>
#include <string>
#include <vector>

#include "tests/db/ingest/external_files.h"
#include "tests/harness/database.h"

namespace varve::testing {

class IngestTest : public Database {
 protected:
  static constexpr const char* kOutside = "/outside";

  IngestTest() {
    EXPECT_TRUE(file_system()->CreateDirIfMissing(kOutside, IOOptions(), nullptr).ok());
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
  }

  // Writes the file, and returns its new path.
  std::string Make(const ExternalFile& file) {
    const std::string path = std::string(kOutside) + "/" + std::to_string(++made_) + ".sst";
    EXPECT_TRUE(WriteTo(file_system().get(), path, file).ok());
    return path;
  }
  Status Ingest(const std::vector<std::string>& files,
                const IngestExternalFileOptions& options = IngestExternalFileOptions(),
                const std::string& family = "default") {
    return db()->IngestExternalFile(Handle(family), files, options);
  }
  std::unique_ptr<FileIngestionHandle> Prepare(const std::string& file,
                                               const IngestExternalFileOptions& options) {
    std::unique_ptr<FileIngestionHandle> handle;
    const Status s = db()->PrepareFileIngestion(Handle("default"), {file}, options, &handle);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return handle;
  }
  bool Exists(const std::string& path) {
    return file_system()->FileExists(path, IOOptions(), nullptr).ok();
  }
  // Returns level and largest sequence number of all tables, in the order of levels: "L6:0 L0:3".
  std::string Places(const std::string& family = "default") {
    ColumnFamilyMetaData metadata;
    db()->GetColumnFamilyMetaData(Handle(family), &metadata);
    std::string text;
    for (const LevelMetaData& level : metadata.levels) {
      for (const SstFileMetaData& file : level.files) {
        if (!text.empty()) text += ' ';
        text += 'L' + std::to_string(level.level) + ':' + std::to_string(file.largest_seqno);
      }
    }
    return text;
  }
  // Returns the number of files in the staging directory.
  size_t StagedFiles() {
    std::vector<std::string> names;
    const IOStatus s =
        file_system()->GetChildren(std::string(kName) + "/ingest", IOOptions(), &names, nullptr);
    return s.ok() ? names.size() : 0;
  }

 private:
  int made_ = 0;
};

}  // namespace varve::testing
