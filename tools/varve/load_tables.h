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

// Takes the families of a dump one after the other, each with its entries in the order of its keys.
// After an error it can only be destroyed; the database then has nothing of the dump. The
// destructor deletes the files that were not added. Not thread-safe.
class TableLoader {
 public:
  // `path` is the directory of the database, which gets a directory for the files meanwhile.
  TableLoader(DB* db, const std::string& path);
  ~TableLoader();
  TableLoader(const TableLoader&) = delete;
  TableLoader& operator=(const TableLoader&) = delete;

  // Begins a family, to which the next entries belong. InvalidArgument if it came before.
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
