// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database in memory that one test opens, asks, breaks and opens again. File systems are those of
// `util/env`: what a test says to `faults()` happens to every file.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"

#include "tests/harness/fault_file_system.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

// A logger that forgets, so that tests do not pay for LOG files.
std::shared_ptr<Logger> SilentLogger();

// Repeats `condition` every millisecond until it holds. False after `seconds`.
bool Eventually(const std::function<bool()>& condition, int seconds = 20);

class Database : public ::testing::Test {
 protected:
  static constexpr const char* kName = "/db";

  Database();
  ~Database() override;

  // --- Opening and closing. Open fails the test, TryOpen returns why.
  void Open(const std::vector<std::string>& families = {"default"});
  Status TryOpen(const std::vector<std::string>& families = {"default"});
  // Every family with options of its own.
  Status TryOpenWith(const std::vector<ColumnFamilyDescriptor>& families);
  Status TryOpenReadOnly(const std::vector<std::string>& families = {"default"},
                         bool error_if_wal_file_exists = false);
  // Gives handles back and deletes the DB. OK when it is not open.
  Status Close();
  void Reopen();
  // What a killed process leaves: the open database stays behind on the old file system, and later
  // openings see the files as they are now.
  void Kill();
  // Goes on with these files; no database is open.
  void Remount(std::shared_ptr<MemFileSystem> mem);

  // --- Data. Family by name; writes fail the test when they fail.
  void Put(const std::string& key, const std::string& value, const std::string& family = "default");
  void Delete(const std::string& key, const std::string& family = "default");
  void Flush(const std::string& family = "default");
  // Puts `keys` and flushes them into one L0 table.
  void MakeTable(const std::vector<std::string>& keys, const std::string& family = "default");
  // The value, "NOT_FOUND", or the error's text.
  std::string Get(const std::string& key, const std::string& family = "default",
                  const Snapshot* snapshot = nullptr);
  // "a=1 b=2", then the error if there is one.
  std::string Scan(const ReadOptions& options = ReadOptions(),
                   const std::string& family = "default");
  // The rest of an iterator from where it stands, in the same form.
  static std::string Rest(Iterator* it);

  // --- Looking inside
  ColumnFamilyHandle* Handle(const std::string& family) { return handles_.at(family); }
  void GiveBack(const std::string& family);
  uint64_t Number(const std::string& property, const std::string& family = "default");
  std::string Text(const std::string& property, const std::string& family = "default");
  // Tables per level, "2,0,1"; "" when there are none.
  std::string Levels(const std::string& family = "default");
  // Names in a directory whose files are of this type, ascending.
  std::vector<std::string> Files(FileType type, const std::string& directory = kName);

  DB* db() { return db_.get(); }
  FaultFileSystem& faults() { return *faults_; }
  MemFileSystem& mem() { return *mem_; }
  const std::shared_ptr<FaultFileSystem>& file_system() { return faults_; }

  std::string ReadFile(const std::string& path);
  void WriteFile(const std::string& path, const std::string& bytes);

  Options options_;  // of every family, unless TryOpenWith says otherwise

 private:
  struct Abandoned;

  void Mount(std::shared_ptr<MemFileSystem> mem);
  Status Adopt(const std::vector<ColumnFamilyDescriptor>& families,
               const std::vector<ColumnFamilyHandle*>& handles, DB* db, const Status& status);
  std::vector<ColumnFamilyDescriptor> Describe(const std::vector<std::string>& families) const;

  std::shared_ptr<MemFileSystem> mem_;
  std::shared_ptr<FaultFileSystem> faults_;
  std::unique_ptr<Env> env_;
  std::vector<std::unique_ptr<Abandoned>> abandoned_;
  std::vector<std::string> opened_ = {"default"};
  std::map<std::string, ColumnFamilyHandle*> handles_;
  std::unique_ptr<DB> db_;
};

}  // namespace varve::testing
