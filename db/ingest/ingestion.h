// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds one ingestion that is being prepared: its staged tables, and what is known of each.
//
//      Ingestion
//        FamilyShare "default"   options, replaced range
//          StagedTable  source /data/a.sst   path <staging>/000017.sst   file 17, bounds
//          StagedTable  source /data/b.sst   path <staging>/000018.sst   file 18, bounds
//        FamilyShare "meta"
//          StagedTable  ...
//
// Preparing links or copies each source into the staging directory, and reads its bounds.
// Committing moves the tables to their places. A table in force has no staged path any more, so
// what is left may be discarded at any time.

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

// A file in the staging directory, named by the number that the table will have, so no other file
// has the name. An opening only unlinks tables that it finds there, as each may be a hard link to a
// user's file.
struct StagedTable {
  std::string source;                          // Path that the user wrote.
  const PreparedFileInfo* prepared = nullptr;  // Null: the bounds are read. Unset once prepared.
  std::string path;                            // Current place; empty: none.
  // Describes the table to come. The bounds have sequence number 0.
  NewFile file;
  bool moves = false;           // Deletes the source once the table is in force.
  bool only_tombstone = false;  // It has one range tombstone, and nothing else.
  bool db_generated = false;    // Entries keep their numbers, those of `file`.
  int expected_level = 0;       // Level that `reader` was opened for.
  std::shared_ptr<const TableProperties> properties;
  std::unique_ptr<TableReader> reader;
};

// Holds the files of one family.
struct FamilyShare {
  std::shared_ptr<ColumnFamily> family;
  IngestExternalFileOptions options;
  std::vector<StagedTable> tables;  // In the order given: a later one is newer.
  // The range whose present contents the tables replace; unset: none is.
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
  void Discard() noexcept override;

 private:
  // File system of the staged tables.
  const std::shared_ptr<FileSystem> fs_;
  std::vector<FamilyShare> shares_;
};

}  // namespace varve
