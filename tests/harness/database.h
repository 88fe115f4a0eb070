// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a database in memory that one test opens, reads, breaks and opens again. Its file
// systems are those of `util/env`: faults that a test sets in `faults()` apply to every file.

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

// Returns a logger that drops all entries, so that tests do not pay for LOG files.
std::shared_ptr<Logger> SilentLogger();

// Repeats `condition` every millisecond until it holds. Returns false after `seconds`.
bool Eventually(const std::function<bool()>& condition, int seconds = 20);

class Database : public ::testing::Test {
 protected:
  static constexpr const char* kName = "/db";

  Database();
  ~Database() override;

  // --- Opening and closing. Open fails the test, TryOpen returns the error.
  void Open(const std::vector<std::string>& families = {"default"});
  Status TryOpen(const std::vector<std::string>& families = {"default"});
  // Opens every family with its own options.
  Status TryOpenWith(const std::vector<ColumnFamilyDescriptor>& families);
  Status TryOpenReadOnly(const std::vector<std::string>& families = {"default"},
                         bool error_if_wal_file_exists = false);
  // Releases handles and deletes the DB. Returns OK if it is not open.
  Status Close();
  void Reopen();
  // Simulates a killed process: the open database stays on the old file system, and later openings
  // see the files as they are now.
  void Kill();
  // Continues with these files; no database is open.
  void Remount(std::shared_ptr<MemFileSystem> mem);

  // --- Data. Families are given by name; a failed write fails the test.
  void Put(const std::string& key, const std::string& value, const std::string& family = "default");
  void Delete(const std::string& key, const std::string& family = "default");
  void Flush(const std::string& family = "default");
  // Puts `keys` and flushes them into one L0 table.
  void MakeTable(const std::vector<std::string>& keys, const std::string& family = "default");
  // Returns the value, "NOT_FOUND", or the error's text.
  std::string Get(const std::string& key, const std::string& family = "default",
                  const Snapshot* snapshot = nullptr);
  // Returns "a=1 b=2", then the error if there is one.
  std::string Scan(const ReadOptions& options = ReadOptions(),
                   const std::string& family = "default");
  // Returns the rest of an iterator from its position on, in the form of Scan.
  static std::string Rest(Iterator* it);

  // --- Inspection
  ColumnFamilyHandle* Handle(const std::string& family) { return handles_.at(family); }
  void GiveBack(const std::string& family);
  uint64_t Number(const std::string& property, const std::string& family = "default");
  std::string Text(const std::string& property, const std::string& family = "default");
  // Returns the number of tables per level, such as "2,0,1"; "" if there are none.
  std::string Levels(const std::string& family = "default");
  // Returns the names of a directory's files of this type, ascending.
  std::vector<std::string> Files(FileType type, const std::string& directory = kName);

  DB* db() { return db_.get(); }
  FaultFileSystem& faults() { return *faults_; }
  MemFileSystem& mem() { return *mem_; }
  const std::shared_ptr<FaultFileSystem>& file_system() { return faults_; }

  std::string ReadFile(const std::string& path);
  void WriteFile(const std::string& path, const std::string& bytes);

  Options options_;  // Used for every family, except by TryOpenWith.

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
