// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens, fills and reads a database with RocksDB's own library, through the C API. A failing call
// fails the running test.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/harness/rocksdb_library.h"

namespace varve::testing {

// Returns a number as a timestamp of the database's length.
std::string StampOf(uint64_t number);

class OldDatabase {
 public:
  using Opaque = void;
  struct Setup {
    // Changes options of the database and of every family before the opening.
    std::function<void(const RocksDbLibrary&, Opaque*)> adjust;
    // Families by name, beside "default"; true if keys have timestamps.
    std::map<std::string, bool> families = {{"default", false}};
    bool transactions = false;
  };

  // Opens the database, and creates what is missing.
  OldDatabase(const std::string& path, const Setup& setup);
  // Closes the database without a flush, so that data in logs stays there.
  ~OldDatabase();
  OldDatabase(const OldDatabase&) = delete;
  OldDatabase& operator=(const OldDatabase&) = delete;

  [[nodiscard]] bool is_open() const { return db_ != nullptr; }
  // Returns why the database is not open.
  const std::string& error() const { return error_; }

  void Put(const std::string& family, const std::string& key, const std::string& value);
  void PutAt(const std::string& family, const std::string& key, uint64_t stamp,
             const std::string& value);
  void Delete(const std::string& family, const std::string& key);
  void DeleteAt(const std::string& family, const std::string& key, uint64_t stamp);
  void SingleDelete(const std::string& family, const std::string& key);
  void DeleteRange(const std::string& family, const std::string& begin, const std::string& end);
  // Adds to a number, as the built-in operator does.
  void Add(const std::string& family, const std::string& key, uint64_t number);
  void Flush(const std::string& family);
  void Compact(const std::string& family);
  void Drop(const std::string& family);
  // Prepares a transaction that puts one key.
  void Prepare(const std::string& name, const std::string& family, const std::string& key,
               const std::string& value);
  void Commit(const std::string& name);
  void Rollback(const std::string& name);

  // Returns "a=1 b=2", for keys with timestamps as of `stamp`.
  std::string Scan(const std::string& family, uint64_t stamp = 0);
  // Returns names of prepared and undecided transactions, each followed by a blank.
  std::string Prepared();

 private:
  Opaque* Options(bool timestamps);
  Opaque* Find(const std::string& name);
  void Call(const char* what, const std::string& error);

  const RocksDbLibrary& library_;
  const Setup setup_;
  std::string error_;
  Opaque* db_ = nullptr;  // a database with transactions if there are any
  Opaque* write_ = nullptr;
  std::map<std::string, Opaque*> handles_;
  std::map<std::string, Opaque*> prepared_;
  std::vector<Opaque*> options_;
};

}  // namespace varve::testing
