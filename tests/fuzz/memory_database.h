// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a database in memory that is made from files, or gives its files away.

#include <map>
#include <memory>
#include <string>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/options.h"

#include "util/env/mem_file_system.h"

namespace varve::fuzz {

// Thread safety: one thread may use it.
class MemoryDatabase {
 public:
  MemoryDatabase();
  ~MemoryDatabase();
  MemoryDatabase(const MemoryDatabase&) = delete;
  MemoryDatabase& operator=(const MemoryDatabase&) = delete;

  // Returns options for files of a few hundred bytes. Open changes names to this file system. At
  // the default interval no block has a second restart point.
  static Options SmallOptions(int block_restart_interval = 16);

  // Adds a file, unless its name has a '/'.
  void AddFile(const std::string& name, const std::string& bytes);
  [[nodiscard]] std::map<std::string, std::string> Files() const;

  Status Open(const Options& options);
  Status OpenReadOnly(const Options& options);
  void Close();
  DB* db() { return db_.get(); }

 private:
  Options Completed(Options options) const;

  const std::shared_ptr<MemFileSystem> fs_;
  const std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
};

}  // namespace varve::fuzz
