// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ingestion holds the staged tables of one ingestion, from its preparation until its commit.
//
//      Ingestion
//        FamilyShare "default"   options, replaced range
//          StagedTable  source /data/a.sst   path <staging>/000017.sst   file 17, bounds
//          StagedTable  source /data/b.sst   path <staging>/000018.sst   file 18, bounds
//        FamilyShare "meta"
//          StagedTable  ...
//
// Preparing links or copies each source into the staging directory, and reads its bounds.
// Committing renames the tables to their places, and clears the paths of those that were committed,
// so Discard only deletes the others.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/external_file.h"
#include "varve/options.h"
#include "varve/table_properties.h"

#include "db/column_family/column_family.h"
#include "db/engine/context.h"
#include "db/engine/staged_ingestions.h"
#include "db/ingest/replaced_range.h"
#include "db/version/version_edit.h"
#include "table/table_reader.h"

namespace varve {

// A file in the staging directory. Its name has the number that the table will have, which is
// unique. The file may be a hard link to a user's file, so leftovers are only unlinked and never
// written to.
struct StagedTable {
  std::string source;  // The user's path.
  // Borrowed from the caller while the table is described, null afterwards. Null during that: the
  // bounds are read from the table.
  const PreparedFileInfo* prepared = nullptr;
  std::string path;  // Current path; empty once committed.
  // The table's entry for the MANIFEST. Until the commit, its bounds have sequence number 0.
  NewFile file;
  bool moves = false;           // The source is deleted after the commit.
  bool only_tombstone = false;  // One range tombstone is its only entry.
  // A database wrote it, not an SstFileWriter: its entries keep their sequence numbers.
  bool db_generated = false;
  int expected_level = 0;  // Level that `reader` was opened for.
  std::shared_ptr<const TableProperties> properties;
  std::unique_ptr<TableReader> reader;
};

// The files that an ingestion adds to one family.
struct FamilyShare {
  std::shared_ptr<ColumnFamily> family;
  IngestExternalFileOptions options;
  std::vector<StagedTable> tables;  // In the order given: a later one is newer.
  // The range whose contents the tables replace, if any.
  std::optional<ReplacedRange> replaced;
};

// Thread safety: one thread at a time.
class Ingestion final : public StagedIngestion {
 public:
  explicit Ingestion(std::shared_ptr<FileSystem> fs) : fs_(std::move(fs)) {}
  ~Ingestion() override { Discard(); }
  Ingestion(const Ingestion&) = delete;
  Ingestion& operator=(const Ingestion&) = delete;

  // Returns the families and their staged tables.
  std::vector<FamilyShare>& shares() { return shares_; }
  // Closes the readers, and deletes the staged files that were not committed.
  void Discard() noexcept override;

 private:
  // File system of the staged tables.
  const std::shared_ptr<FileSystem> fs_;
  std::vector<FamilyShare> shares_;
};

}  // namespace varve
