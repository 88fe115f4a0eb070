// SPDX-License-Identifier: Apache-2.0
#pragma once

// The database under test: opened, thrown away and opened anew between benchmarks.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/options.h"

namespace varve::bench {

// Thread safety: db() and family() from any thread while no other method runs.
// Every failure ends the program.
class Database {
 public:
  Database(std::string path, const Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Open();
  void Close();
  // Deletes all files. Must be closed.
  void Destroy();

  const std::string& path() const { return path_; }
  const Options& options() const { return options_; }
  DB* db() const { return db_.get(); }
  // The column family of a key's number; never null.
  ColumnFamilyHandle* family(uint64_t number) const {
    return families_.size() == 1 ? families_[0] : families_[number % families_.size()];
  }
  const std::vector<ColumnFamilyHandle*>& families() const { return families_; }

 private:
  void OpenFamilies();

  const std::string path_;
  const Options options_;
  std::unique_ptr<DB> db_;
  // Owned through db_, the default one by it.
  std::vector<ColumnFamilyHandle*> families_;
};

}  // namespace varve::bench
