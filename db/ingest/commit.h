// SPDX-License-Identifier: Apache-2.0
#pragma once

// The second step of an ingestion: the tables get their place in the order of writes and in the
// trees, and become visible, while writers go on.
//
// There are two moments. The first, the order point, decides what is older than the tables and what
// is newer: everything that is in memtables and trees then is older. In the second the tables
// become visible to readers. Between them lie the flush of the memtables that have older entries in
// the tables' ranges, and the write of the MANIFEST. This is correct for these reasons:
//
// 1. Older data lies beneath. A family's tables are placed by the state of its version, memtables
//    and running compactions in one hold of the DB mutex. If nothing overlaps a table's range, the
//    table needs no place in the order, and its entries keep number 0. Otherwise writers are kept
//    out for that hold: a memtable that overlaps the range is switched, and the table gets a number
//    that is newer than all writes before it and older than all after it.
// 2. Newer data lies above. It is in the memtable that the switch has made, or in one that does not
//    overlap the range yet; epochs are given to memtables when they are switched, and to the tables
//    at the order point, so L0 is in the right order however late each comes into it. No flush
//    merges memtables from before the order point with later ones (ImmutableMemTable::ends_table).
//    No compaction begins in the family until the tables are in the tree
//    (TreeAdmission::kAddition), so nothing newer can get beneath them; placing has considered the
//    outputs of running ones.
// 3. Older entries in memtables are flushed before the tables become visible, as readers end their
//    search at the first entry they find, and search memtables first.
// 4. No reader sees half of an ingestion. A reader's super-version has all tables of a family or
//    none. A reader that pins several families pins them again if ingested tables became visible
//    meanwhile (IngestWindows::Rounds).
// 5. Snapshots do not change. One taken before the order point is older than the tables, which get
//    a number if a snapshot exists. None can be taken from there on until the tables are visible
//    (IngestWindows). All other readers hold their super-version as long as their number.
// 6. Transactions learn of the tables: conditional writes are refused between the two moments
//    (CommitPath::BeginAddition), and later use the time at which the tables became visible
//    (IngestedRanges).
// 7. A ReplacedRange removes what was older at the order point: tables whose epochs are below those
//    given there, and the tables of memtables that overlapped the range. Only this commit changes
//    the tree of such a family meanwhile (TreeAdmission::kFamily), and its edit removes the old
//    tables and adds the new ones.
// 8. Tables that are ingested behind all data have no place in the order of writes: whatever is, or
//    comes, above them is newer. Their level is reserved, so no compaction writes to it or drops
//    what must hide their entries.
// 9. All or nothing: the families' edits are one atomic group. An error before it is written leaves
//    nothing; after a failed write the tables stay until it is known what is in force
//    (VersionSet::TableInDoubt). Sources that are to be moved are removed last.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/background/flush_work.h"
#include "db/engine/engine.h"
#include "db/engine/tree_admission.h"
#include "db/ingest/ingestion.h"
#include "db/ingest/placement.h"
#include "db/version/version_edit.h"

namespace varve {

// Commits the ingestions of one call, which were taken from the list of staged ones. Afterwards the
// caller discards them: what was committed is no longer among their files.
class IngestCommit {
 public:
  IngestCommit(Engine* engine, std::vector<std::shared_ptr<Ingestion>> ingestions);
  IngestCommit(const IngestCommit&) = delete;
  IngestCommit& operator=(const IngestCommit&) = delete;

  // Runs the commit; called once. Whatever it returns, nothing is held, waited for or left open
  // afterwards.
  Status Run() noexcept VARVE_EXCLUDES(kDbMutex);
  // Returns false after a refusal that has changed nothing: the ingestions are still as they were.
  bool begun() const { return begun_; }

 private:
  // Holds one family's tables, of all ingestions.
  struct Part {
    explicit Part(const FamilyShare& share)
        : family(share.family),
          behind(share.options.ingest_behind),
          replaced(share.replaced.has_value() ? &*share.replaced : nullptr),
          participant(
              replaced == nullptr ? TreeAdmission::Kind::kAtOnce : TreeAdmission::Kind::kCall,
              family.get()) {}

    // Returns true if a memtable overlaps a table whose options forbid the flush.
    bool ForbidsFlush() const;

    std::shared_ptr<ColumnFamily> family;
    const bool behind;                          // The same for all tables (ingest_behind).
    const ReplacedRange* const replaced;        // Null: nothing is replaced.
    std::vector<std::pair<int, FileRef>> gone;  // Tables in the replaced range.
    int last_level = 0;
    std::vector<StagedTable*> tables;  // Oldest first.
    // Each table has the options of its handle.
    std::vector<const IngestExternalFileOptions*> options;
    TablesToPlace to_place;
    std::vector<TablePlace> places;
    bool in_memory = false;  // A memtable overlaps some table.
    VersionEdit edit;        // Has the tables, in the same order.
    // Tables added to the tree without an open reader.
    std::vector<std::pair<int, FileRef>> closed;
    bool in_force = false;
    // IngestedRanges gets the first and the last key of what the ingestion changes.
    std::pair<std::string, std::string> changed;
    TreeAdmission::Participant participant;
    bool entered = false;
    bool in_step = false;
  };

  // Runs all steps. If one fails, Run undoes what it has begun.
  Status RunSteps() VARVE_EXCLUDES(kDbMutex);
  Status Collect();
  // Adds a share to the part of its family.
  static Status Join(FamilyShare* share, std::unique_ptr<Part>* part);
  // Waits until tables may be added to the trees, and keeps others from changing them.
  Status EnterTrees() VARVE_REQUIRES(kDbMutex);
  void LeaveTrees() noexcept VARVE_REQUIRES(kDbMutex);
  // Flushes large overlapping memtables ahead, so that snapshots do not wait for that.
  Status FlushAhead() VARVE_EXCLUDES(kDbMutex);
  // Renames staged files to tables in the directory of the family.
  Status NameFiles() VARVE_EXCLUDES(kDbMutex);

  // Makes the decisions of the order point while writers run. False, with nothing changed: writers
  // must be kept out for it.
  Status DecideBesideWriters(bool* decided) VARVE_REQUIRES(kDbMutex);
  Status DecideAlone() VARVE_EXCLUDES(kDbMutex);
  Status CheckWritable() VARVE_REQUIRES(kDbMutex);
  Status LookIntoMemTables() VARVE_REQUIRES(kDbMutex);
  static Status LookInto(const MemTable& mem, Part* part);
  Status Place() VARVE_REQUIRES(kDbMutex);
  Status CheckPlaces(const Part& part) const VARVE_REQUIRES(kDbMutex);
  static Status CheckBehind(const Part& part) VARVE_REQUIRES(kDbMutex);
  static Status CheckOwnSequences(const Part& part);
  // True if a table needs a number, or a memtable has to be switched.
  bool AnyNeedsOrder() const;
  uint64_t SequencesNeeded(SequenceNumber before) const;
  // Switches the memtables that must be flushed before the tables are shown.
  Status SwitchOverlapped() VARVE_REQUIRES(kDbMutex);
  void OpenWindow(uint64_t sequences) VARVE_REQUIRES(kDbMutex);
  void FillInEdits(SequenceNumber first, uint64_t sequences) VARVE_REQUIRES(kDbMutex);

  // ---- From the order point on ----
  Status RemoveReplaced() VARVE_REQUIRES(kDbMutex);
  // Allocates all that CloseWindow needs.
  void PrepareClosing();
  Status MakeDurable() VARVE_REQUIRES(kDbMutex);
  Status WriteSequences() VARVE_EXCLUDES(kDbMutex);
  // Gives the readers that were opened for inspection to the files that the version will have.
  static void AdoptReaders(Part* part, const std::vector<FileRef>& files);
  void Show() VARVE_REQUIRES(kDbMutex);
  void CloseWindow() noexcept VARVE_EXCLUDES(kDbMutex);
  // Cleans up after a failure: files that may be in force are not discarded with the rest.
  void GiveUp() noexcept VARVE_REQUIRES(kDbMutex);

  void Finish() VARVE_EXCLUDES(kDbMutex);
  static void OpenClosed(Part* part);
  void RemoveSources();
  void Log(const Part& part) const;
  void TellListeners();

  Engine& e_;
  const std::vector<std::shared_ptr<Ingestion>> ingestions_;
  std::vector<std::unique_ptr<Part>> parts_;  // By family id.
  std::vector<FlushWork::Frozen> frozen_;     // Memtables to flush.
  bool window_open_ = false;
  bool in_force_ = false;
  // True once RunSteps has taken the DB mutex: before that, the caller itself may hold it, and
  // there is nothing to undo.
  bool begun_ = false;
};

}  // namespace varve
