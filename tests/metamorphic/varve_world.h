// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the databases of one run, on files in memory that they share, as they share the objects of
// a Setup. It opens, closes and kills them. A kill is of the process: all databases die at once.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"

#include "tests/metamorphic/model.h"
#include "tests/metamorphic/setup.h"
#include "tests/metamorphic/stream_replica.h"
#include "tests/metamorphic/surviving_writes.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

// An open database, which closes itself.
struct OpenDatabase {
  OpenDatabase() = default;
  ~OpenDatabase();
  OpenDatabase(const OpenDatabase&) = delete;
  OpenDatabase& operator=(const OpenDatabase&) = delete;

  // Starts threads that make calls without effect on any answer.
  void StartCompany();
  void StopCompany();
  // Waits for the work begun with `later`, and returns its error, or "".
  std::string Join();
  void Continue();
  // Flushes all families.
  Status Flush();
  void CloseSecondary();
  // Returns "" or an error. If `calls_close`, calls Close before the destructor.
  std::string Close(bool calls_close);

  OptionSet set;
  std::unique_ptr<DB> db;
  std::map<std::string, ColumnFamilyHandle*> handles;
  std::map<std::string, const Snapshot*> snapshots;
  SurvivingWrites survivors;
  std::thread later;
  std::string later_error;
  int pauses = 0;
  int holds = 0;  // number of holds of file deletions
  std::thread company;
  std::atomic<bool> company_ends{false};
  std::unique_ptr<DB> secondary;
  std::vector<ColumnFamilyHandle*> of_secondary;
  StreamReplica replica;
};

struct HeldIterator {
  std::string db;
  std::string family;
  std::string lower;
  std::string upper;
  std::string stamp;
  Slice lower_slice;
  Slice upper_slice;
  Slice stamp_slice;
  ReadOptions options;
  std::unique_ptr<Iterator> it;
};

class VarveWorld {
 public:
  explicit VarveWorld(uint64_t set);
  ~VarveWorld();

  std::string Open(const Line& line, const Model& model);
  // Closes a database, and returns "" or an error. The last close also checks what is still held.
  std::string Close(const std::string& name, bool calls_close);
  // Opens a copy of the current files read-only, and compares.
  std::string Peek(const std::string& name, const Model& model);
  // Opens what must be a copy of an open database, in the directory and the Env, and compares.
  std::string Compare(const std::string& name, const std::string& directory, Env* env,
                      bool for_reading, const Model& model);
  // Lets a secondary of an open database catch up, and compares.
  std::string CatchUp(const std::string& name, const Model& model);
  // Returns "" if a copy of a family has what the model has, or an error.
  static std::string Differs(DB* copy, ColumnFamilyHandle* handle, const FamilyModel& family);
  // Repairs a closed database.
  std::string Repair(const std::string& name, const Model& model);
  // Judges what is left of writes without a log, and writes the lost part again: histories go on as
  // if all had survived.
  std::string Kill(const Model& model);
  // Returns names and sizes of all files of a database.
  std::map<std::string, uint64_t> Files(const std::string& name) const;

  Survival SurvivalOf(const OpenDatabase& database) const;
  // Returns "" once no file changes any more.
  std::string AwaitQuiet();

  OpenDatabase& At(const std::string& name) { return *databases_.at(name); }
  std::map<std::string, std::unique_ptr<HeldIterator>>& iterators() { return iterators_; }
  const Setup& setup() const { return setup_; }
  Env* env() const { return env_.get(); }
  const std::string& described() const { return described_; }

 private:
  void Mount(std::shared_ptr<MemFileSystem> mem);
  // Returns all families that the model knows, with their options.
  static std::vector<ColumnFamilyDescriptor> Describe(const std::string& name, const OptionSet& set,
                                                      const Model& model);
  // Opens a secondary, unless there is one that has the families of the database.
  std::string OpenSecondary(const std::string& name, const Model& model);
  std::string PrepareKill(const std::string& name, OpenDatabase* database, const Model& model);
  std::string JudgeAndRestore(const std::string& name, Survival survival, const Model& model,
                              OpenDatabase* dead);
  std::string Restore(OpenDatabase* database, const std::string& family, const FamilyState& state);
  std::string OpenWith(const std::string& name, OptionSet set, const Model& model,
                       const std::string& trim);

  Setup setup_;
  std::shared_ptr<MemFileSystem> mem_;
  std::unique_ptr<Env> env_;
  std::map<std::string, std::unique_ptr<OpenDatabase>> databases_;
  std::map<std::string, std::unique_ptr<HeldIterator>> iterators_;
  std::string described_;
};

// Returns an answer that no model gives.
std::string Failure(const char* what, const Status& status);
std::string TimestampBytes(uint64_t timestamp);

}  // namespace varve::testing
