// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a version set over a file system in memory, with files that are tables by name and size
// only.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "db/version/version_set.h"
#include "tests/db/version/drawn_tree.h"
#include "tests/db/wal/log_test_file.h"
#include "tests/harness/fault_file_system.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/mem_file_system.h"

namespace varve {

inline FamilyToOpen Named(const std::string& name, const Comparator* order = BytewiseComparator()) {
  FamilyToOpen family;
  family.name = name;
  family.comparator = order;
  return family;
}

inline Status WriteBytes(FileSystem* fs, const std::string& path, const std::string& bytes) {
  std::unique_ptr<WritableFileWriter> file;
  IOStatus s = WritableFileWriter::Create(fs, path, FileOptions(), {}, &file);
  if (s.ok()) s = file->Append(bytes);
  if (s.ok()) s = file->Sync(false);
  if (s.ok()) s = file->Close();
  return s;
}

inline std::string BytesOf(FileSystem* fs, const std::string& path) {
  std::string bytes;
  return ReadFileToString(fs, path, UINT64_MAX, &bytes).ok() ? bytes : "(unreadable)";
}

// Tells only the analysis: a test that has the set to itself reads it without the mutex.
inline void NobodyElseIsThere() VARVE_ASSERT_CAPABILITY(kDbMutex) {}

// Holds the mutex while it lives, in a test that the analysis considers to hold it anyway.
class HeldMutex {
 public:
  explicit HeldMutex(DbMutex* mu) VARVE_NO_THREAD_SAFETY_ANALYSIS : mu_(mu) { mu_->Lock(); }
  ~HeldMutex() VARVE_NO_THREAD_SAFETY_ANALYSIS { mu_->Unlock(); }
  HeldMutex(const HeldMutex&) = delete;
  HeldMutex& operator=(const HeldMutex&) = delete;

 private:
  DbMutex* const mu_;
};

// Returns "default: L0 9,5; L1 3", for every family with its name.
inline std::string Describe(const VersionSet& set) {
  NobodyElseIsThere();
  std::string out;
  for (const auto& [id, family] : set.families()) {
    out += family->name + ":";
    for (int level = 0; level < family->current->num_levels(); level++) {
      if (family->current->level(level).empty()) continue;
      out += " L" + std::to_string(level);
      for (uint64_t number : Numbers(family->current->level(level).files())) {
        out += "," + std::to_string(number);
      }
    }
    out += ";";
  }
  return out;
}

class VersionSetTest : public ::testing::Test {
 protected:
  static constexpr char kDir[] = "/db";

  VersionSetTest() : mem_(std::make_shared<MemFileSystem>()) {
    fs_ = std::make_shared<FaultFileSystem>(mem_);
    EXPECT_TRUE(mem_->CreateDirIfMissing(kDir, IOOptions(), nullptr).ok());
    EXPECT_TRUE(SyncDirectory(mem_.get(), "/").ok());
  }

  std::unique_ptr<VersionSet> NewSet(std::shared_ptr<FileSystem> fs, bool read_only = false) {
    VersionSetOptions options;
    options.db_name = kDir;
    options.fs = std::move(fs);
    options.read_only = read_only;
    options.max_manifest_file_size = max_manifest_file_size_;
    return std::make_unique<VersionSet>(options, &mu_);
  }

  void Create() {
    set_ = NewSet(fs_);
    ASSERT_TRUE(set_->CreateNew(Named("default"), "the-db-id").ok());
  }

  // Recovers a fresh set from `fs`. Returns its description, or the error.
  std::string Recovered(const std::shared_ptr<FileSystem>& fs,
                        const std::vector<std::string>& names = {"default"},
                        bool read_only = false) {
    std::vector<FamilyToOpen> families;
    for (const std::string& name : names) families.push_back(Named(name));
    again_ = NewSet(fs, read_only);
    const Status s = again_->Recover(families);
    return s.ok() ? Describe(*again_) : s.ToString();
  }

  // Returns a file that counts as a table of these bounds.
  NewFile MakeTable(int level, const std::string& smallest, const std::string& largest,
                    SequenceNumber smallest_seq, SequenceNumber largest_seq) {
    NewFile file;
    file.level = level;
    file.number = set_->NewFileNumber();
    file.size = 10 + file.number;
    file.smallest = InternalKey(smallest, smallest_seq, kTypeValue);
    file.largest = InternalKey(largest, smallest_seq, kTypeValue);
    file.smallest_seq = smallest_seq;
    file.largest_seq = largest_seq;
    EXPECT_TRUE(
        WriteBytes(mem_.get(), TableFileName(kDir, file.number), std::string(file.size, 't')).ok());
    return file;
  }

  static VersionEdit Adding(std::vector<NewFile> files) {
    VersionEdit edit;
    edit.new_files = std::move(files);
    return edit;
  }

  VersionSet* set() VARVE_ASSERT_CAPABILITY(kDbMutex) { return set_.get(); }
  VersionSet* again() VARVE_ASSERT_CAPABILITY(kDbMutex) { return again_.get(); }

  FamilyVersions* Family(const std::string& name = "default") VARVE_ASSERT_CAPABILITY(kDbMutex) {
    NobodyElseIsThere();
    return set_->FindFamily(name).get();
  }

  Status Apply(VersionEdit* edit, const std::string& family = "default", bool fresh = false) {
    DbLock lock(&mu_);
    return set_->LogAndApply({FamilyEdit{Family(family), {edit}}}, nullptr, fresh);
  }
  Status Apply(VersionEdit&& edit, const std::string& family = "default", bool fresh = false) {
    return Apply(&edit, family, fresh);
  }

  Status AddFamily(const std::string& name, uint64_t log_number = 0) {
    DbLock lock(&mu_);
    std::shared_ptr<FamilyVersions> family;
    return set_->CreateFamily(Named(name), log_number, nullptr, &family);
  }

  // Takes the tables whose files may go.
  std::vector<uint64_t> Obsolete() {
    NobodyElseIsThere();
    std::vector<uint64_t> numbers;
    for (const auto& file : set_->obsolete_files()->TakeAll()) numbers.push_back(file->number);
    return numbers;
  }

  std::string ManifestPath() { return DescriptorFileName(kDir, set()->manifest_file_number()); }

  void WriteManifest(const std::vector<std::string>& records) {
    ASSERT_TRUE(
        WriteBytes(mem_.get(), std::string(kDir) + "/MANIFEST-000001", LogBytes(records)).ok());
    ASSERT_TRUE(WriteBytes(mem_.get(), std::string(kDir) + "/CURRENT", "MANIFEST-000001\n").ok());
  }

  DbMutex mu_;
  uint64_t max_manifest_file_size_ = 1 << 30;
  std::shared_ptr<MemFileSystem> mem_;
  std::shared_ptr<FaultFileSystem> fs_;
  std::unique_ptr<VersionSet> set_;
  std::unique_ptr<VersionSet> again_;
};

}  // namespace varve
