// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plays histories on Varve, under one option set. What a line leaves open, such as whether a single
// change uses a batch, is drawn from the line's text and the set.

#include <functional>
#include <map>
#include <string>

#include "tests/harness/random.h"
#include "tests/metamorphic/executor.h"
#include "tests/metamorphic/varve_world.h"

namespace varve::testing {

class VarveExecutor final : public Executor {
 public:
  explicit VarveExecutor(uint64_t set) : set_(set), world_(set) {}

  std::string Do(const Line& line, const Model& model) override;
  // Returns the options of every opening so far.
  const std::string& described() const { return world_.described(); }

 private:
  using Act = std::string (VarveExecutor::*)(const Line&, const Model&);
  static const std::map<std::string, Act>& Acts();

  OpenDatabase& At(const Line& line) { return world_.At(line.Db()); }
  ColumnFamilyHandle* Handle(const Line& line) { return At(line).handles.at(line.Family()); }
  Random Draw(const Line& line) const;
  // Runs the work now, or on its own thread if the line says `later`.
  std::string Run(const Line& line, std::function<std::string()> work);

  // varve_executor.cc
  std::string Open(const Line& line, const Model& model);
  std::string Close(const Line& line, const Model& model);
  std::string Kill(const Line& line, const Model& model);
  std::string Family(const Line& line, const Model& model);
  std::string Drop(const Line& line, const Model& model);
  std::string Write(const Line& line, const Model& model);
  Status Submit(OpenDatabase* database, const WriteOptions& options, const Line& line,
                bool as_batch);
  Status Alone(OpenDatabase* database, const WriteOptions& options, const Change& change,
               const std::string& stamp);
  std::string Snap(const Line& line, const Model& model);
  std::string Unsnap(const Line& line, const Model& model);

  // varve_reads.cc
  void SetReadOptions(const Line& line, OpenDatabase* database, ReadOptions* options);
  std::string Get(const Line& line, const Model& model);
  std::string Operands(const Line& line, const Model& model);
  std::string Multi(const Line& line, const Model& model);
  std::string Scan(const Line& line, const Model& model);
  std::string Prefix(const Line& line, const Model& model);
  std::string NewIterator(const Line& line, const Model& model);
  std::string EndIterator(const Line& line, const Model& model);
  std::string Move(const Line& line, const Model& model);
  std::string Step(Iterator* it, const std::string& verb);
  std::string Refresh(const Line& line, const Model& model);
  std::unique_ptr<HeldIterator> OpenIterator(const Line& line);

  // varve_maintenance.cc
  std::string Flush(const Line& line, const Model& model);
  std::string Compact(const Line& line, const Model& model);
  std::string CompactSomeFiles(const Line& line, const Model& model);
  std::string Suggest(const Line& line, const Model& model);
  std::string DeleteFiles(const Line& line, const Model& model);
  std::string Raise(const Line& line, const Model& model);
  std::string Pause(const Line& line, const Model& model);
  std::string ContinueWork(const Line& line, const Model& model);
  std::string Manual(const Line& line, const Model& model);
  std::string Set(const Line& line, const Model& model);
  std::string SetDb(const Line& line, const Model& model);
  std::string Sync(const Line& line, const Model& model);
  std::string Wait(const Line& line, const Model& model);
  std::string Ask(const Line& line, const Model& model);
  std::string Verify(const Line& line, const Model& model);
  std::string Hold(const Line& line, const Model& model);
  std::string Release(const Line& line, const Model& model);
  std::string Lock(const Line& line, const Model& model);
  std::string Live(const Line& line, const Model& model);
  std::string Peek(const Line& line, const Model& model);
  std::string Repair(const Line& line, const Model& model);
  std::string Settle(const Line& line, const Model& model);
  std::string JudgeSpace(const std::string& name, uint64_t live_bytes);
  std::string JudgeEntries(OpenDatabase* database, const std::string& family,
                           const FamilyModel& model);

  // varve_moves.cc
  std::string Ingest(const Line& line, const Model& model);
  std::string Excise(const Line& line, const Model& model);
  std::string Checkpoint(const Line& line, const Model& model);
  std::string Backup(const Line& line, const Model& model);
  std::string Export(const Line& line, const Model& model);
  std::string Secondary(const Line& line, const Model& model);
  std::string Stream(const Line& line, const Model& model);

  const uint64_t set_;
  uint64_t checkpoints_ = 0;
  VarveWorld world_;
};

}  // namespace varve::testing
