// SPDX-License-Identifier: Apache-2.0
#pragma once

// The second step of an ingestion: the tables get their place in the order of writes and in the LSM
// trees, and become visible, while writers go on.
//
// Two moments matter. At the first, the order point, everything in memtables and trees counts as
// older than the tables, and every later write as newer. At the second, the tables become visible
// to readers. Between them the memtables with older entries in the tables' ranges are flushed, and
// the MANIFEST is written. This is correct because of these invariants:
//
// 1. Older data lies beneath. A family's tables are placed by the state of its version, memtables
//    and running compactions in one hold of the DB mutex. If nothing overlaps a table's range, its
//    entries keep sequence number 0. Otherwise writers are blocked during that hold: a memtable
//    that overlaps the range is switched, and the table gets a sequence number above those of all
//    earlier writes and below those of all later ones.
// 2. Newer data lies above. It is in the memtable that the switch has made, or in one that does not
//    overlap the range yet. Tables of L0 are ordered by their epochs, a larger one being newer;
//    epochs are given to memtables when they are switched, and to the ingested tables at the order
//    point, so L0 is in the right order whichever is added first. No flush merges
//    memtables from before the order point with later ones (ImmutableMemTable::ends_table). No
//    compaction begins in the family until the tables are in the tree (TreeAdmission's
//    Extent::kAddition), so nothing newer can get beneath them; placing has considered the outputs
//    of running ones.
// 3. Older entries in memtables are flushed before the tables become visible, since readers search
//    memtables first and stop at the first entry of a key.
// 4. No reader sees half of an ingestion. A reader's super-version has all tables of a family or
//    none. A reader that pins the super-versions of several families repeats that if ingested
//    tables became visible meanwhile (IngestWindows::Rounds).
// 5. Snapshots do not change. One taken before the order point is older than the tables, which get
//    a number if a snapshot exists. None can be taken from there on until the tables are visible
//    (IngestWindows). All other readers hold their super-version as long as their number.
// 6. Transactions detect conflicts with the tables: conditional writes are refused between the two
//    moments (CommitPath::BeginAddition), and later compare with the sequence number at which the
//    tables became visible (IngestedRanges).
// 7. A ReplacedRange removes what was older at the order point: tables whose epochs are below those
//    given there, and the tables of memtables that overlapped the range. Only this commit changes
//    the tree of such a family meanwhile (TreeAdmission's Extent::kFamily), and its edit removes
//    the old tables and adds the new ones.
// 8. Tables that are ingested behind all data need no place in the order of writes: everything
//    above them is newer. Their level is reserved, so no compaction writes to it or drops what must
//    hide their entries.
// 9. An ingestion is atomic: the families' edits are one atomic group of the MANIFEST. An error
//    before it is written leaves nothing; after a failed write the tables stay until it is known
//    whether the MANIFEST has the edits (VersionSet::TableInDoubt). The sources of a move are
//    removed last.

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

// Commits the ingestions of one call, which are no longer in the list of staged ones. Afterwards
// the caller must discard them; that deletes only files that were not committed.
class IngestCommit {
 public:
  IngestCommit(Engine* engine, std::vector<std::shared_ptr<Ingestion>> ingestions);
  IngestCommit(const IngestCommit&) = delete;
  IngestCommit& operator=(const IngestCommit&) = delete;

  // Runs the commit; must be called once. After any result no lock, wait or ingest window of it
  // remains.
  Status Run() noexcept VARVE_EXCLUDES(kDbMutex);
  // Returns false if Run refused the commit before it changed anything.
  bool begun() const { return begun_; }

 private:
  // The tables that all ingestions of the call add to one family.
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
    const bool behind;                          // ingest_behind, equal for all tables.
    const ReplacedRange* const replaced;        // Null: nothing is replaced.
    std::vector<std::pair<int, FileRef>> gone;  // Tables in the replaced range.
    int last_level = 0;                // The deepest level that the tables may be placed in.
    std::vector<StagedTable*> tables;  // Oldest first.
    // The options of each table.
    std::vector<const IngestExternalFileOptions*> options;
    TablesToPlace to_place;
    std::vector<TablePlace> places;
    bool in_memory = false;  // A memtable overlaps some table.
    VersionEdit edit;        // Adds the tables in the same order.
    // Tables added to the tree without an open reader.
    std::vector<std::pair<int, FileRef>> closed;
    bool in_force = false;  // The MANIFEST has the edit, and the family was not dropped.
    // Smallest and largest user key that the ingestion changes, for IngestedRanges.
    std::pair<std::string, std::string> changed;
    // Asks TreeAdmission for leave to change the family's tree; the change is one step.
    TreeAdmission::Participant participant;
    bool entered = false;  // The participant must leave.
    bool in_step = false;  // Its step has begun, and must be ended.
  };

  // Runs all steps. If one fails, Run undoes the earlier ones.
  Status RunSteps() VARVE_EXCLUDES(kDbMutex);
  // Groups the tables of all ingestions by family into parts_.
  Status Collect();
  // Adds a share to the part of its family, which is made if *part is null.
  static Status Join(FamilyShare* share, std::unique_ptr<Part>* part);
  // Waits until tables may be added to the trees, and prevents conflicting changes until
  // LeaveTrees.
  Status EnterTrees() VARVE_REQUIRES(kDbMutex);
  // Undoes what EnterTrees has done, also if it has failed, and schedules compactions.
  void LeaveTrees() noexcept VARVE_REQUIRES(kDbMutex);
  // Flushes large overlapping memtables before the order point, so that new snapshots need not wait
  // for that.
  Status FlushAhead() VARVE_EXCLUDES(kDbMutex);
  // Renames staged files to tables in the directory of the family.
  Status NameFiles() VARVE_EXCLUDES(kDbMutex);

  // Makes the decisions of the order point while writers run. Sets *decided to false, and changes
  // nothing, if writers must be blocked for it (DecideAlone).
  Status DecideBesideWriters(bool* decided) VARVE_REQUIRES(kDbMutex);
  // Makes them while writers are blocked; also takes sequence numbers, and switches memtables.
  Status DecideAlone() VARVE_EXCLUDES(kDbMutex);
  // Returns an error if a family was dropped, the database is being closed, or writes are stopped.
  Status CheckWritable() VARVE_REQUIRES(kDbMutex);
  // Marks the tables and parts that a memtable overlaps. LookInto does so for one memtable.
  Status LookIntoMemTables() VARVE_REQUIRES(kDbMutex);
  static Status LookInto(const MemTable& mem, Part* part);
  // Chooses a level for each table, and checks it by the options.
  Status Place() VARVE_REQUIRES(kDbMutex);
  // Check the places of a part by its options; that its tables can go beneath all data; and that
  // tables which keep their sequence numbers are ordered by these.
  Status CheckPlaces(const Part& part) const VARVE_REQUIRES(kDbMutex);
  static Status CheckBehind(const Part& part) VARVE_REQUIRES(kDbMutex);
  static Status CheckOwnSequences(const Part& part);
  // Returns true if a table needs a sequence number, or a memtable must be switched.
  bool AnyNeedsOrder() const;
  // Returns how many sequence numbers above `before` must be taken.
  uint64_t SequencesNeeded(SequenceNumber before) const;
  // Switches the memtables that must be flushed before the tables become visible.
  Status SwitchOverlapped() VARVE_REQUIRES(kDbMutex);
  // Takes that many sequence numbers, and begins the time in which no snapshot can be taken.
  void OpenWindow(uint64_t sequences) VARVE_REQUIRES(kDbMutex);
  // Sets levels, epochs and sequence numbers in the edits. `first` is the first of the `sequences`
  // numbers that were taken.
  void FillInEdits(SequenceNumber first, uint64_t sequences) VARVE_REQUIRES(kDbMutex);

  // ---- From the order point on ----
  // Adds the deletion of the tables in replaced ranges to the edits.
  Status RemoveReplaced() VARVE_REQUIRES(kDbMutex);
  // Allocates all memory that CloseWindow needs, so that it cannot fail.
  void PrepareClosing();
  // Flushes the switched memtables, and writes the edits to the MANIFEST.
  Status MakeDurable() VARVE_REQUIRES(kDbMutex);
  // Writes the sequence numbers into the files, for which write_global_seqno asks.
  Status WriteSequences() VARVE_EXCLUDES(kDbMutex);
  // Puts the readers that were opened for inspection into the table cache, for the files of the new
  // version.
  static void AdoptReaders(Part* part, const std::vector<FileRef>& files);
  // Installs super-versions with the tables, which makes them visible.
  void Show() VARVE_REQUIRES(kDbMutex);
  // Ends what OpenWindow has begun, if it was called: snapshots can be taken again.
  void CloseWindow() noexcept VARVE_EXCLUDES(kDbMutex);
  // Cleans up after a failure. Files that the MANIFEST may name are kept from being discarded.
  void GiveUp() noexcept VARVE_REQUIRES(kDbMutex);

  // ---- After the tables are visible; errors are not returned ----
  // Runs the following steps.
  void Finish() VARVE_EXCLUDES(kDbMutex);
  // Opens the readers of the part's tables in `closed`.
  static void OpenClosed(Part* part);
  // Deletes the sources of tables that were moved.
  void RemoveSources();
  // Writes the part's tables to the info log.
  void Log(const Part& part) const;
  // Calls Log and the event listeners.
  void TellListeners();

  Engine& e_;
  const std::vector<std::shared_ptr<Ingestion>> ingestions_;
  std::vector<std::unique_ptr<Part>> parts_;  // By family id.
  std::vector<FlushWork::Frozen> frozen_;     // Memtables to flush.
  bool window_open_ = false;                  // No snapshot can be taken (OpenWindow).
  bool in_force_ = false;                     // The MANIFEST has the edits.
  // True once RunSteps has taken the DB mutex. Before that there is nothing to undo, and the
  // calling thread may hold the mutex.
  bool begun_ = false;
};

}  // namespace varve
