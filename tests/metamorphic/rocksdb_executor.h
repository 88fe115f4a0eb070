// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plays histories on RocksDB through its C API, where its library is installed. It supports opening
// and closing, families without timestamps and without filters' values, writes of all kinds,
// snapshots, Get, MultiGet, scans, prefixes, iterators, flushes, CompactRange, SuggestCompactRange
// and deleted files. A kill becomes a close.

#include <map>
#include <memory>
#include <string>

#include "tests/metamorphic/executor.h"

namespace varve::testing {

class RocksDbLibrary;

class RocksDbExecutor final : public Executor {
 public:
  RocksDbExecutor();
  ~RocksDbExecutor() override;

  static bool IsInstalled();
  bool Knows(const Line& line) const override;
  std::string Do(const Line& line, const Model& model) override;

 private:
  struct Opaque;
  struct Database;
  struct Held;

  std::string Open(const Line& line, const Model& model);
  void Close(const std::string& name);
  std::string Family(const Line& line);
  std::string Drop(const Line& line);
  std::string Write(const Line& line);
  void Add(Database* database, Opaque* batch, const Change& change);
  std::string GetOne(Database* database, Opaque* options, const std::string& family,
                     const std::string& key);
  std::string Get(const Line& line);
  std::string Multi(const Line& line);
  std::unique_ptr<Held> Hold(const Line& line);
  std::string Scan(const Line& line);
  std::string Prefix(const Line& line);
  std::string Move(const Line& line);
  std::string Standing(Opaque* it);
  std::string Compact(const Line& line);
  std::string Flush(const Line& line);
  std::string DeleteFiles(const Line& line);
  std::string Pair(Opaque* it);
  bool Valid(Opaque* it);
  Opaque* Options(bool reverse);
  void ReleaseReaders(const std::string& db, const std::string& family);

  RocksDbLibrary* const library_;
  Opaque* env_ = nullptr;
  std::map<std::string, std::unique_ptr<Database>> databases_;
  std::map<std::string, std::unique_ptr<Held>> iterators_;
};

}  // namespace varve::testing
