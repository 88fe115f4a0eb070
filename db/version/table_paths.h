// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores the directories of one family's tables and blob files. The MANIFEST says for each table
// which one it is in.

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
  // Uses only the database's directory if `paths` is empty. If that directory is in `paths`, it is
  // stored under the database's own name, however it was written.
  explicit TablePaths(const std::string& db_name, const std::vector<DbPath>& paths = {});

  size_t size() const { return directories_.size(); }
  const std::vector<std::string>& directories() const { return directories_; }
  // Requires that `path_id` is below size().
  const std::string& directory(uint32_t path_id) const;
  // Return the path of a file.
  std::string FileName(const TableFacts& file) const {
    return file.kind == DataFileKind::kTable ? FileName(file.number, file.path_id)
                                             : BlobFileName(file.number);
  }
  std::string FileName(uint64_t number, uint32_t path_id) const;
  // Blob files are in the first directory.
  std::string BlobFileName(uint64_t number) const;
  // Returns the name that LevelDB would give the file, or that of a blob file.
  std::string LevelDbFileName(const TableFacts& file) const;
  // Calls use(path) with the name under which the file exists. If it is missing, returns the status
  // for the first name, which is the one to look for.
  template <typename Use>
  auto UseFile(const TableFacts& file, const Use& use) const {
    auto s = use(FileName(file));
    if (!IsMissing(s)) [[likely]]
      return s;
    auto of_old_name = use(LevelDbFileName(file));
    return IsMissing(of_old_name) ? s : of_old_name;
  }

 private:
  std::vector<std::string> directories_;  // absolute if the database's name is
};

using TablePathsRef = std::shared_ptr<const TablePaths>;

}  // namespace varve
