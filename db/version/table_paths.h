// SPDX-License-Identifier: Apache-2.0
#pragma once

// The directories of one family's tables. The MANIFEST says of each table in which one it is.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/options.h"

#include "db/version/table_facts.h"
#include "util/env/io_error.h"

namespace varve {

// Thread safety: immutable.
class TablePaths {
 public:
  // The database's directory alone, if no others are given. Where it is among them it has its own
  // name, however it was written.
  explicit TablePaths(const std::string& db_name, const std::vector<DbPath>& paths = {});

  size_t size() const { return directories_.size(); }
  const std::vector<std::string>& directories() const { return directories_; }
  // `path_id` is below size().
  const std::string& directory(uint32_t path_id) const;
  std::string FileName(const TableFacts& file) const { return FileName(file.number, file.path_id); }
  std::string FileName(uint64_t number, uint32_t path_id) const;
  // The name that LevelDB gave it.
  std::string LevelDbFileName(const TableFacts& file) const;
  // Calls use(path) for the file, whichever of the names it has. Where it is missing, the status is
  // of the first, which is what one should look for.
  template <typename Use>
  auto UseFile(const TableFacts& file, const Use& use) const {
    auto s = use(FileName(file));
    if (!IsMissing(s)) [[likely]]
      return s;
    auto of_old_name = use(LevelDbFileName(file));
    return IsMissing(of_old_name) ? s : of_old_name;
  }

 private:
  std::vector<std::string> directories_;  // absolute, if the database's name is
};

using TablePathsRef = std::shared_ptr<const TablePaths>;

}  // namespace varve
