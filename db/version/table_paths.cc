// SPDX-License-Identifier: Apache-2.0
#include "db/version/table_paths.h"

#include "util/base/assert.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"

namespace varve {

// A path that is another spelling of the database's own directory becomes its name, so that paths
// can be compared as text.
TablePaths::TablePaths(const std::string& db_name, const std::vector<DbPath>& paths) {
  for (const DbPath& path : paths) {
    directories_.push_back(IsSamePath(path.path, db_name) ? db_name : path.path);
  }
  if (directories_.empty()) directories_.push_back(db_name);
}

const std::string& TablePaths::directory(uint32_t path_id) const {
  VARVE_ASSERT(path_id < directories_.size());
  return directories_[path_id];
}

std::string TablePaths::FileName(uint64_t number, uint32_t path_id) const {
  return TableFileName(directory(path_id), number);
}

std::string TablePaths::BlobFileName(uint64_t number) const {
  return varve::BlobFileName(directory(0), number);
}

std::string TablePaths::LevelDbFileName(const TableFacts& file) const {
  if (file.kind == DataFileKind::kBlobs) return FileName(file);
  return LevelDbTableFileName(directory(file.path_id), file.number);
}

}  // namespace varve
