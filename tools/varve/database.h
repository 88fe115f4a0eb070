// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens a database with the options it was last opened with, to read it beside a writer or to
// write.

#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"

namespace varve::tool {

// Returns OK if the path is the directory of a database. NotFound: it is something else, or absent.
// Corruption: it has lost the file CURRENT.
Status CheckIsDatabase(const std::string& path);

// Holds the options of the newest OPTIONS file, or defaults where there is none.
struct StoredOptions {
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> families;
  bool found = false;  // There was an OPTIONS file.
};

// Reads the options of all families that the MANIFEST has, whether the OPTIONS file has them or
// not. `lenient`: what cannot be read is replaced by defaults, with a note on the standard error,
// as reading needs little of it. False: it is an error.
Status ReadStoredOptions(const std::string& path, bool lenient, StoredOptions* options);

// Owns an open database and the handles of its families. The destructor closes it. Not thread-safe.
class Database {
 public:
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Opens only the default family and `family`, or all if that is empty. Writes no byte.
  static Status OpenForReading(const std::string& path, const std::string& family,
                               std::unique_ptr<Database>* database);
  // Opens all families as a secondary, whose LOG is in `directory`. DB::TryCatchUpWithPrimary moves
  // it to the newest state.
  static Status OpenAsSecondary(const std::string& path, const std::string& directory,
                                std::unique_ptr<Database>* database);
  // Opens all families under the database's lock.
  static Status OpenForWriting(const std::string& path, std::unique_ptr<Database>* database);

  DB* db() const { return db_.get(); }
  const std::vector<ColumnFamilyHandle*>& families() const { return handles_; }
  // InvalidArgument if there is no family of that name.
  Status Find(const std::string& family, ColumnFamilyHandle** handle) const;
  // Closes the database after its handles. For writers, which must see the error of the last sync.
  Status Close();

 private:
  Database() = default;

  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
};

// Holds options of reads that see the newest version of every key of the family, in its whole
// order.
class NewestReads {
 public:
  explicit NewestReads(const ColumnFamilyHandle* family);
  NewestReads(const NewestReads&) = delete;
  NewestReads& operator=(const NewestReads&) = delete;

  ReadOptions options;

 private:
  // The largest one, where the family has timestamps.
  std::string timestamp_;
  Slice timestamp_slice_;
};

}  // namespace varve::tool
