// SPDX-License-Identifier: Apache-2.0
#pragma once

// Moves data of a model run: it takes out and compares checkpoints, backups, secondaries and
// exports, and brings in ingested files, imports and excised ranges.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/external_file.h"
#include "varve/utilities/backup_engine.h"

#include "tests/harness/random.h"
#include "tests/model/moved_database.h"
#include "tests/model/option_sets.h"
#include "tests/model/reference.h"

namespace varve::testing {

// The database of a run, at one step.
struct Modelled {
  DB* db;
  const Handles& handles;
  const ReferenceState& state;
  const OptionSet& set;
  bool has_snapshots;
};

class DataMoves {
 public:
  // `key` and `value` draw what the run writes; `operand`, unless null, what it merges.
  using Draw = std::function<std::string()>;
  DataMoves(Random* random, Env* env, Draw key, Draw value, Draw operand);

  // Copies, opened and compared.
  void CheckCheckpoint(const Modelled& run);
  void CheckBackup(const Modelled& run);
  // Checks a secondary that follows from step to step.
  void CheckSecondary(const Modelled& run);

  // Calls that change the database return their changes.
  using Changes = std::vector<Change>;
  Changes Ingest(const Modelled& run);
  Changes Excise(const Modelled& run);
  Changes Clip(const Modelled& run);
  Changes DeleteFiles(const Modelled& run);  // these have to be written now
  void PromoteL0(const Modelled& run);
  // A new family, with what `source` has.
  ColumnFamilyHandle* ImportCopy(const Modelled& run, const std::string& source,
                                 const std::string& name);

 private:
  std::string RandomFamily(const Modelled& run);
  void RandomRange(const Modelled& run, std::string* begin, std::string* end);
  Changes WriteFile(const Modelled& run, const std::string& family, const std::string& path);
  void OpenBackups(const Modelled& run);
  void RestoreAndCompare(const Modelled& run);
  void Remove(const std::string& path, const OptionSet& set);

  Random* const random_;
  Env* const env_;
  const Draw key_;
  const Draw value_;
  const Draw operand_;
  uint64_t files_ = 0;
  std::unique_ptr<BackupEngine> backups_;
  std::map<BackupID, ReferenceState> backed_up_;
  MovedDatabase secondary_;
};

}  // namespace varve::testing
