// SPDX-License-Identifier: Apache-2.0
#pragma once

// The second step of an ingestion: the tables get their place in the order of writes and in the
// trees, and come into sight, while writers go on.
//
// There are two moments. In the first, the order point, it is decided what is older than the
// tables, and what is newer: what is in memtables and trees then is older. In the second the tables
// are shown to readers. Between them lie the flush of the memtables that have something older in
// the tables' ranges, and the write of the MANIFEST. Why that is right:
//
// 1. What is older lies beneath. A family's tables are placed by what its version, its memtables
//    and the compactions under way are in one hold of the DB mutex. If nothing has anything in a
//    table's range, the table needs no place in the order, and its entries keep number 0. Otherwise
//    writers are kept out for that hold: a memtable with something in the range is switched, and
//    the table gets a number that is newer than all writes before it and older than all after it.
// 2. What is newer lies above. It is in the memtable that the switch has made, or in one that has
//    nothing in the range yet; epochs are given to memtables when they are switched, and to the
//    tables at the order point, so L0 is in the right order however late each comes into it. No
//    flush merges memtables of before with such of after (ImmutableMemTable::ends_table). No
//    compaction begins in the family until the tables are in the tree (TreeAdmission::kAddition),
//    so nothing newer can get beneath them; what those under way will put where was looked at.
// 3. What is older in memtables is flushed before the tables are shown, as readers end their search
//    at the first entry they find, and look into memtables first.
// 4. Nobody sees a half. A reader's super-version has all tables of a family or none. Who pins
//    several families does it again if ingested tables came into sight meanwhile
//    (IngestWindows::Rounds).
// 5. Snapshots do not change. One taken before the order point is older than the tables, which get
//    a number if there is any. None can be taken from there on until the tables are shown
//    (IngestWindows). All other readers hold their super-version as long as their number.
// 6. Transactions hear of the tables: conditional writes are refused between the two moments
//    (CommitPath::BeginAddition), and then go by the time at which the tables were shown
//    (IngestedRanges).
// 7. What is replaced (ReplacedRange) is what was older at the order point: tables whose epochs are
//    below those given there, and those that memtables became which had something in the range. Of
//    such a family nobody else changes the tree meanwhile (TreeAdmission::kFamily), and its edit
//    takes them away and adds the new ones.
// 8. All or nothing: the families' edits are one atomic group. What fails before it is written
//    leaves nothing; after a failed write the tables stay until it is known what is in force
//    (VersionSet::TableInDoubt). Sources that are to be moved go last.

#include <memory>
#include <utility>
#include <vector>

#include "db/background/flush_work.h"
#include "db/engine/engine.h"
#include "db/engine/tree_admission.h"
#include "db/ingest/ingestion.h"
#include "db/ingest/placement.h"
#include "db/version/version_edit.h"

namespace varve {

// One call's commit of ingestions that were taken from the list of staged ones. What is left of
// them when this goes is discarded by their owners.
class IngestCommit {
 public:
  IngestCommit(Engine* engine, std::vector<std::shared_ptr<Ingestion>> ingestions);
  IngestCommit(const IngestCommit&) = delete;
  IngestCommit& operator=(const IngestCommit&) = delete;

  // Once. Whatever it returns, nothing is held, waited for or left open afterwards.
  Status Run() noexcept VARVE_EXCLUDES(kDbMutex);

 private:
  // One family's tables, of all ingestions.
  struct Part {
    explicit Part(const FamilyShare& share)
        : family(share.family),
          options(share.options),
          replaced(share.replaced.has_value() ? &*share.replaced : nullptr),
          party(replaced == nullptr ? TreeAdmission::Kind::kAtOnce : TreeAdmission::Kind::kCall,
                family.get()) {}

    std::shared_ptr<ColumnFamily> family;
    IngestExternalFileOptions options;
    const ReplacedRange* const replaced;        // null: nothing is
    std::vector<std::pair<int, FileRef>> gone;  // what is in it
    int last_level = 0;
    std::vector<StagedTable*> tables;  // oldest first
    TablesToPlace to_place;
    std::vector<TablePlace> places;
    bool in_memory = false;  // some table is overlapped by a memtable
    VersionEdit edit;        // with the tables, in the same order
    // What stands in the tree then, without an open reader.
    std::vector<std::pair<int, FileRef>> closed;
    bool in_force = false;
    TreeAdmission::Party party;
    bool entered = false;
    bool in_step = false;
  };

  // All steps. What one that fails has begun is ended by Run.
  Status RunSteps() VARVE_EXCLUDES(kDbMutex);
  Status Collect();
  // Waits until the trees may be added to; nobody else begins to change them then.
  Status EnterTrees() VARVE_REQUIRES(kDbMutex);
  void LeaveTrees() noexcept VARVE_REQUIRES(kDbMutex);
  // Large memtables that overlap: snapshots shall not wait until they are flushed.
  Status FlushAhead() VARVE_EXCLUDES(kDbMutex);
  // Staged files get names of tables, in the directory of the family.
  Status NameFiles() VARVE_EXCLUDES(kDbMutex);

  // The order point. False, with nothing changed: writers must be kept out for it.
  Status DecideBesideWriters(bool* decided) VARVE_REQUIRES(kDbMutex);
  Status DecideAlone() VARVE_EXCLUDES(kDbMutex);
  Status CheckWritable() VARVE_REQUIRES(kDbMutex);
  Status LookIntoMemTables() VARVE_REQUIRES(kDbMutex);
  static Status LookInto(const MemTable& mem, Part* part);
  Status Place() VARVE_REQUIRES(kDbMutex);
  Status CheckPlaces(const Part& part) const VARVE_REQUIRES(kDbMutex);
  static Status CheckOwnSequences(const Part& part);
  // Whether a table needs a number, or a memtable has to be switched.
  bool AnyNeedsOrder() const;
  uint64_t SequencesNeeded(SequenceNumber before) const;
  // Switches the memtables that must be flushed before the tables are shown.
  Status SwitchOverlapped() VARVE_REQUIRES(kDbMutex);
  void OpenWindow(uint64_t sequences) VARVE_REQUIRES(kDbMutex);
  void FillInEdits(SequenceNumber first) VARVE_REQUIRES(kDbMutex);

  // From the order point on.
  Status RemoveReplaced() VARVE_REQUIRES(kDbMutex);
  Status MakeDurable() VARVE_REQUIRES(kDbMutex);
  Status WriteSequences() VARVE_EXCLUDES(kDbMutex);
  // Gives what was opened to be looked into to the files that the version will have.
  static void AdoptReaders(Part* part, const std::vector<FileRef>& files);
  void Show() VARVE_REQUIRES(kDbMutex);
  void CloseWindow() noexcept VARVE_EXCLUDES(kDbMutex);
  // Of what has failed: files that may be in force are not discarded with the rest.
  void GiveUp() noexcept VARVE_REQUIRES(kDbMutex);

  void Finish() VARVE_EXCLUDES(kDbMutex);
  static void OpenClosed(Part* part);
  void RemoveSources();
  void Log(const Part& part) const;
  void TellListeners();

  Engine& e_;
  const std::vector<std::shared_ptr<Ingestion>> ingestions_;
  std::vector<std::unique_ptr<Part>> parts_;  // by family id
  std::vector<FlushWork::Frozen> frozen_;     // what is to be flushed
  bool window_open_ = false;
  bool in_force_ = false;
  bool begun_ = false;  // this thread can take the mutex
};

}  // namespace varve
