// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads a dump as tables: writes the entries of each family into table files, and adds all of them
// to the database in one step, so that it has the whole dump or nothing of it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "varve/db.h"
#include "varve/sst_file_writer.h"

namespace varve::tool {

// Not thread-safe. The destructor deletes the files that were not added.
class TableLoader {
 public:
  // `path` is the directory of the database, which gets a directory for the files meanwhile.
  TableLoader(DB* db, const std::string& path);
  ~TableLoader();
  TableLoader(const TableLoader&) = delete;
  TableLoader& operator=(const TableLoader&) = delete;

  Status BeginFamily(ColumnFamilyHandle* family);
  // InvalidArgument unless keys ascend in the order of the family.
  Status Put(std::string_view key, std::string_view value);
  // Adds everything to the database.
  Status Finish();

 private:
  Status FinishFile();

  DB* const db_;
  const std::string directory_;
  std::vector<IngestExternalFileArg> families_;
  Options options_;
  std::unique_ptr<SstFileWriter> writer_;
  std::string last_key_;
  bool has_last_key_ = false;
  uint64_t files_ = 0;
};

}  // namespace varve::tool
