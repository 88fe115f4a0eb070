// SPDX-License-Identifier: Apache-2.0

// The second half of an ingestion: tables that were staged and checked become part of the trees of
// one or several column families, all or none.
//
//    Collect, FlushAhead, NameFiles      no lock is held; writers go on
//    EnterTrees                          a step in each family: no compaction begins there
//    ---- order point: DecideBesideWriters, or DecideAlone with writers stopped -----------------
//      look into the memtables, choose levels, take a sequence number if one is needed
//    MakeDurable                         the edits go to the MANIFEST
//    Show                                new super-versions: readers see the tables
//    CloseWindow, Finish                 snapshots may be taken again; sources are unlinked
//
// The difficulty is the order point. An entry of a table must be newer than every earlier write of
// its key, and older than every later one, although writes go on. In the common case no writer
// waits: if no memtable overlaps the files, the tables are placed beneath the memtables, and a
// later write is newer because it is above. A memtable that overlaps is flushed: a large one before
// the order point, a small one after it, so that writers wait only while it is switched.
//
// Invariants:
//
// 1. From the order point until Show no snapshot is taken (the ingest window), as it would see
//    writes before and after the tables, but not the tables.
// 2. A table gets a sequence number if it must be newer than something that readers can compare it
//    with: data that it overlaps, another file of the call, or a snapshot.
// 3. No table is visible before the edit is durable. After a failure no family has the edits, and
//    the files are removed here or by the deletion of obsolete files.
// 4. A table is placed at the deepest level at which it overlaps nothing in that level and above,
//    so that compactions need not move it.
// 5. Levels are chosen from the version that is current in the hold of the DB mutex that contains
//    the order point; running compactions count with the range of their inputs.
// 6. LeaveTrees is called in every case, and schedules compactions, as the shape may have changed.

#include "db/ingest/commit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "db/background/jobs.h"
#include "db/engine/events.h"
#include "db/ingest/memtable_overlap.h"
#include "db/ingest/staging.h"
#include "db/version/obsolete_file_queue.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Memtables up to this size are flushed after the order point, while new snapshots wait.
constexpr uint64_t kFlushedInWindowBytes = uint64_t{1} << 20;

constexpr size_t kLogLineBytes = 400;
// The epoch of all tables that are ingested behind existing data, as in RocksDB.
constexpr uint64_t kEpochBehind = 1;

KeyRange RangeOf(const InternalKeyComparator& icmp, const NewFile& file) {
  return {true, icmp.KeyOf(file.smallest), icmp.KeyOf(file.largest)};
}

// Sets the sequence number of a bound, unless it is the exclusive end of a range tombstone.
void SetSequence(InternalKey* bound, SequenceNumber sequence) {
  if (bound->sequence() == kMaxSequenceNumber) return;
  const std::string key = bound->user_key().ToString();
  bound->Set(key, sequence, bound->type());
}

}  // namespace

IngestCommit::IngestCommit(Engine* engine, std::vector<std::shared_ptr<Ingestion>> ingestions)
    : e_(*engine), ingestions_(std::move(ingestions)) {}

bool IngestCommit::Part::ForbidsFlush() const {
  if (!in_memory) return false;
  if (replaced != nullptr) return !options.front()->allow_blocking_flush;
  for (size_t i = 0; i < tables.size(); i++) {
    if (to_place.tables[i].in_memory && !options[i]->allow_blocking_flush) return true;
  }
  return false;
}

Status IngestCommit::Join(FamilyShare* share, std::unique_ptr<Part>* part) {
  if (*part == nullptr) {
    *part = std::make_unique<Part>(*share);
  } else if ((*part)->replaced != nullptr || share->replaced.has_value()) {
    return Status::InvalidArgument(
        "CommitFileIngestionHandles: with atomic_replace_range a column family may be in one "
        "handle only",
        share->family->name());
  } else if ((*part)->behind != share->options.ingest_behind) {
    return Status::InvalidArgument(
        "CommitFileIngestionHandles: ingest_behind must be the same in all handles of a column "
        "family",
        share->family->name());
  }
  for (StagedTable& table : share->tables) {
    (*part)->tables.push_back(&table);
    (*part)->options.push_back(&share->options);
    (*part)->to_place.tables.push_back({RangeOf(share->family->icmp(), table.file), false});
    (*part)->edit.new_files.push_back(table.file);
  }
  return Status::OK();
}

Status IngestCommit::Collect() {
  std::map<uint32_t, std::unique_ptr<Part>> parts;
  for (const auto& ingestion : ingestions_) {
    for (FamilyShare& share : ingestion->shares()) {
      VARVE_RETURN_IF_ERROR(Join(&share, &parts[share.family->id()]));
    }
  }
  for (auto& [id, part] : parts) {
    part->edit.column_family = id;
    const auto options = part->family->options();
    // Such a family reserves its last level for ingest_behind, so all other tables go above it.
    const bool above = options->cf_allow_ingest_behind && !part->behind;
    part->last_level = options->num_levels - (above ? 2 : 1);
    part->to_place.Arrange(part->family->icmp());
    parts_.push_back(std::move(part));
  }
  return Status::OK();
}

Status IngestCommit::Run() noexcept {
  const Status s = Guarded([this] { return RunSteps(); });
  // The commit was refused before it began: nothing has to be undone, and the caller may hold the
  // DB mutex.
  if (!begun_) return s;
  CloseWindow();
  DbLock lock(&e_.state.mu);
  if (!in_force_) GiveUp();
  LeaveTrees();
  return s;
}

Status IngestCommit::RunSteps() {
  const DbContext& context = e_.context;
  const StopWatch watch(context.clock(), context.statistics(), INGEST_EXTERNAL_FILE_RUN_MICROS);
  VARVE_RETURN_IF_ERROR(RefuseHeldUp("IngestExternalFile",
                                     ActiveWork::kFlush | ActiveWork::kIngestion, &e_.lifecycle));
  const ActiveWork active(ActiveWork::kIngestion, &e_.lifecycle, "an ingestion");
  VARVE_RETURN_IF_ERROR(Collect());
  VARVE_RETURN_IF_ERROR(FlushAhead());
  VARVE_RETURN_IF_ERROR(NameFiles());
  {
    DbLock lock(&e_.state.mu);
    VARVE_RETURN_IF_ERROR(EnterTrees());
    bool decided = false;
    VARVE_RETURN_IF_ERROR(DecideBesideWriters(&decided));
    if (!decided) {
      DbUnlock unlock(&e_.state.mu);
      VARVE_RETURN_IF_ERROR(DecideAlone());
    }
    if (VARVE_CANARY(kPublishIngestedEarly)) {
      DbUnlock unlock(&e_.state.mu);
      CloseWindow();
    }
    VARVE_RETURN_IF_ERROR(MakeDurable());
    Show();
  }
  CloseWindow();
  Finish();
  DbLock lock(&e_.state.mu);
  e_.stalls.Tell();
  return Status::OK();
}

// ---- Before the order point ----

// Families are entered in the order of their ids, and stay entered, so that two ingestions cannot
// deadlock. If another thread waits for an ingest window to close, that thread goes first.
Status IngestCommit::EnterTrees() {
  for (const auto& part : parts_) {
    e_.tree.Enter(&part->participant);
    part->entered = true;
    const auto extent = part->replaced == nullptr ? TreeAdmission::Extent::kAddition
                                                  : TreeAdmission::Extent::kFamily;
    while (!e_.tree.Ask(&part->participant, extent) || e_.state.ingest_windows.Awaited()) {
      if (e_.lifecycle.shutting_down()) {
        return Status::ShutdownInProgress("IngestExternalFile: the database is being closed");
      }
      if (!e_.tree.MayWait(&part->participant)) {
        return Status::Busy("IngestExternalFile",
                            "called back from a change of the tree that it would wait for");
      }
      e_.state.work.AwaitWork();
    }
    e_.tree.Begin(&part->participant);
    part->in_step = true;
  }
  return Status::OK();
}

void IngestCommit::LeaveTrees() noexcept {
  for (const auto& part : parts_) {
    if (part->in_step) e_.tree.End(&part->participant);
    if (part->entered) e_.tree.Leave(&part->participant);
    part->in_step = part->entered = false;
  }
  for (const auto& part : parts_) {
    BestEffort([&] {
      e_.state.mu.AssertHeld();
      if (!part->family->dropped()) e_.jobs->compaction.Schedule(part->family.get());
    });
  }
}

// Only an optimization: memtables that are flushed now need not be flushed while new snapshots
// wait.
Status IngestCommit::FlushAhead() {
  std::vector<ColumnFamily*> large;
  {
    DbLock lock(&e_.state.mu);
    begun_ = true;
    VARVE_RETURN_IF_ERROR(CheckWritable());
    VARVE_RETURN_IF_ERROR(LookIntoMemTables());
    for (const auto& part : parts_) {
      if (!part->in_memory) continue;
      if (part->ForbidsFlush()) return CheckPlaces(*part);  // It returns that error.
      // While background work is paused no job would do the flush. It is left to MakeDurable, which
      // flushes in this thread.
      if (e_.tree.paused() > 0) continue;
      // Entries of a replaced range can only be removed as whole tables, so they are always
      // flushed.
      if (part->replaced != nullptr || part->family->MemTableBytes() > kFlushedInWindowBytes)
        large.push_back(part->family.get());
    }
  }
  if (large.empty()) return Status::OK();
  return e_.jobs->flush.FlushFamilies(large, FlushOptions(), FlushReason::kExternalFileIngestion);
}

Status IngestCommit::NameFiles() {
  FileSystem* const fs = e_.context.fs().get();
  for (const auto& part : parts_) {
    for (StagedTable* const table : part->tables) {
      std::string name = part->family->table_paths().FileName(table->file);
      VARVE_RETURN_IF_ERROR(fs->RenameFile(table->path, name, IOOptions(), nullptr));
      table->path = std::move(name);
    }
  }
  return Status::OK();
}

// ---- The order point ----

Status IngestCommit::CheckWritable() {
  for (const auto& part : parts_) {
    if (part->family->dropped()) {
      return Status::InvalidArgument("IngestExternalFile: the column family was dropped",
                                     part->family->name());
    }
  }
  VARVE_RETURN_IF_ERROR(e_.lifecycle.CheckOpen());
  return e_.errors.state().writes_stopped() ? e_.errors.state().error() : Status::OK();
}

Status IngestCommit::LookInto(const MemTable& mem, Part* part) {
  const InternalKeyComparator& icmp = part->family->icmp();
  if (part->replaced != nullptr) {
    VARVE_RETURN_IF_ERROR(part->replaced->LookInto(icmp, mem, &part->in_memory));
  }
  return MarkOverlapped(mem, icmp, &part->to_place, &part->in_memory);
}

Status IngestCommit::LookIntoMemTables() {
  for (const auto& part : parts_) {
    ColumnFamily& family = *part->family;
    for (TableToPlace& table : part->to_place.tables) table.in_memory = false;
    part->in_memory = false;
    if (part->behind) continue;  // All memtables are above such tables.
    VARVE_RETURN_IF_ERROR(LookInto(*family.mem(), part.get()));
    for (const ImmutableMemTable& imm : family.immutables()) {
      VARVE_RETURN_IF_ERROR(LookInto(*imm.mem, part.get()));
    }
  }
  return Status::OK();
}

Status IngestCommit::Place() {
  const bool any_snapshot = e_.state.snapshots.count() > 0;
  for (const auto& part : parts_) {
    const ColumnFamily& family = *part->family;
    const VersionRef& version = family.current();
    PlacementGround ground;
    ground.icmp = &family.icmp();
    ground.version = version.get();
    ground.running = &family.running_compactions;
    ground.style = family.options()->compaction_style;
    ground.base_level = family.shape().base_level;
    // Above a reserved level every table needs a sequence number, to differ from those that are
    // ingested behind.
    ground.all_need_it = version->reserves_last_level();
    ground.behind = part->behind;
    ground.replaced = part->replaced;
    if (part->replaced != nullptr) {
      VARVE_RETURN_IF_ERROR(part->replaced->FindTables(*version, UINT64_MAX, &part->gone));
    }
    part->places = PlaceTables(ground, part->to_place);
    if (any_snapshot && !part->behind) {
      for (size_t i = 0; i < part->places.size(); i++) {
        part->places[i].needs_sequence |= part->options[i]->snapshot_consistency;
      }
    }
    VARVE_RETURN_IF_ERROR(CheckPlaces(*part));
  }
  return Status::OK();
}

// Checks that the tables can go beneath all data. Entries above them with sequence number 0 could
// not be distinguished from theirs.
Status IngestCommit::CheckBehind(const Part& part) {
  const Version& version = *part.family->current();
  for (int level = 0; level < version.usable_levels(); level++) {
    for (const FileRef& file : version.level(level).files()) {
      if (file->smallest_seq != 0) continue;
      return Status::InvalidArgument(
          "IngestExternalFile: ingest_behind",
          "table " + file->FileName() + " in L" + std::to_string(level) +
              " may have entries without sequence numbers, from before cf_allow_ingest_behind");
    }
  }
  for (size_t i = 0; i < part.places.size(); i++) {
    if (!part.places[i].stopped) continue;
    return Status::InvalidArgument(part.tables[i]->source,
                                   "overlaps a table in the last level, so that it cannot be "
                                   "ingested behind it");
  }
  if (!part.to_place.any_overlap()) return Status::OK();
  return Status::NotSupported(
      "IngestExternalFile: ingest_behind with files that overlap each other");
}

// Refuses places that the options forbid.
Status IngestCommit::CheckPlaces(const Part& part) const {
  if (part.behind) return CheckBehind(part);
  const std::string family = "IngestExternalFile: column family " + part.family->name();
  if (part.ForbidsFlush()) {
    return Status::InvalidArgument(
        family, "a memtable overlaps the files, and allow_blocking_flush is false");
  }
  if (std::ranges::any_of(part.tables, &StagedTable::db_generated))
    VARVE_RETURN_IF_ERROR(CheckOwnSequences(part));
  for (size_t i = 0; i < part.places.size(); i++) {
    const TablePlace& place = part.places[i];
    const IngestExternalFileOptions& options = *part.options[i];
    const bool for_snapshots = options.snapshot_consistency && e_.state.snapshots.count() > 0;
    if (part.tables[i]->db_generated && (place.stopped || for_snapshots)) {
      return Status::InvalidArgument(part.tables[i]->source,
                                     "is of a database and keeps its sequence numbers: nothing in "
                                     "this one may overlap it, and with snapshot_consistency no "
                                     "snapshot be held");
    }
    if (options.fail_if_not_bottommost_level && place.level != part.last_level) {
      return Status::TryAgain(part.tables[i]->source,
                              "cannot go to the last level, and fail_if_not_bottommost_level is "
                              "set: compact the range first");
    }
    if (!place.needs_sequence) continue;
    if (!options.allow_global_seqno) {
      return Status::InvalidArgument(part.tables[i]->source,
                                     "needs a sequence number, as it overlaps data, another file, "
                                     "or a snapshot is held, and allow_global_seqno is false");
    }
    if (part.family->icmp().timestamp_size() != 0 && place.overlaps) {
      return Status::InvalidArgument(part.tables[i]->source,
                                     "overlaps data or another file, which files with timestamps "
                                     "must not");
    }
  }
  return Status::OK();
}

// Checks that files of databases, which keep their sequence numbers, are ordered by these as the
// arguments are.
Status IngestCommit::CheckOwnSequences(const Part& part) {
  for (size_t i = 0; i < part.tables.size(); i++) {
    const StagedTable& table = *part.tables[i];
    for (size_t older = 0; older < i && part.places[i].overlaps; older++) {
      const StagedTable& other = *part.tables[older];
      if (!table.db_generated && !other.db_generated) continue;
      const std::vector<TableToPlace>& placed = part.to_place.tables;
      if (!placed[i].range.Overlaps(part.family->icmp(), placed[older].range)) continue;
      const bool both = table.db_generated && other.db_generated;
      if (both && table.file.smallest_seq > other.file.largest_seq) continue;
      return Status::InvalidArgument(
          table.source, "overlaps " + other.source + ", and is not newer by its sequence numbers");
    }
  }
  return Status::OK();
}

// Writers must be blocked if the tables need an exact place in the order of writes. With change
// streams every ingestion does, as it takes a sequence number for them (SequencesNeeded).
bool IngestCommit::AnyNeedsOrder() const {
  return !e_.state.positions.empty() || std::ranges::any_of(parts_, [](const auto& part) {
    return (part->replaced != nullptr && part->in_memory) ||
           std::ranges::any_of(part->places, &TablePlace::needs_sequence) ||
           std::ranges::any_of(part->tables, &StagedTable::db_generated);
  });
}

// While the log is locked (LockWAL) the database must not change, so DecideAlone is used, which
// waits in the commit path.
Status IngestCommit::DecideBesideWriters(bool* decided) {
  VARVE_RETURN_IF_ERROR(CheckWritable());
  VARVE_RETURN_IF_ERROR(LookIntoMemTables());
  VARVE_RETURN_IF_ERROR(Place());
  *decided = !AnyNeedsOrder() && !e_.log_gate.locked() && !e_.log_gate.locking();
  if (!*decided) return Status::OK();
  OpenWindow(0);
  FillInEdits(0, 0);
  return Status::OK();
}

Status IngestCommit::DecideAlone() {
  const ExclusiveCommit exclusive(e_.state.commit.get());
  const PerfTimer<&PerfContext::file_ingestion_blocking_live_writes_nanos> timer;
  DbLock lock(&e_.state.mu);
  VARVE_RETURN_IF_ERROR(CheckWritable());
  VARVE_RETURN_IF_ERROR(LookIntoMemTables());
  VARVE_RETURN_IF_ERROR(Place());
  VARVE_RETURN_IF_ERROR(SwitchOverlapped());
  // The switch may have released the mutex. No write came in between, but trees may have changed.
  VARVE_RETURN_IF_ERROR(CheckWritable());
  VARVE_RETURN_IF_ERROR(Place());
  const SequenceNumber before = e_.state.versions->last_sequence();
  const uint64_t needed = SequencesNeeded(before);
  OpenWindow(needed);
  FillInEdits(before + 1, needed);
  return Status::OK();
}

// Returns how many sequence numbers must be taken above `before`. Files of databases keep their
// own, which must be covered. If there are change streams, at least one is taken, as they notice an
// ingestion by a gap in the numbers.
uint64_t IngestCommit::SequencesNeeded(SequenceNumber before) const {
  uint64_t needed = e_.state.positions.empty() ? 0 : 1;
  for (const auto& part : parts_) {
    uint64_t of_part = 0;
    for (size_t i = 0; i < part->tables.size(); i++) {
      const StagedTable& table = *part->tables[i];
      if (!table.db_generated) {
        if (part->places[i].needs_sequence) of_part++;
      } else if (table.file.largest_seq > before) {
        needed = std::max(needed, table.file.largest_seq - before);
      }
    }
    needed = std::max(needed, of_part);
  }
  return needed;
}

// With atomic_flush, all families are switched and flushed together. Each memtable that the switch
// has frozen ends a table (ends_table), until it is flushed or GiveUp takes that back: no flush
// merges it with later memtables, whose entries are newer than the ingested tables.
Status IngestCommit::SwitchOverlapped() {
  const bool together = e_.context.options().atomic_flush;
  std::vector<ColumnFamily*> families;
  const bool any = std::ranges::any_of(parts_, &Part::in_memory);
  if (!any) return Status::OK();
  if (together) {
    for (const auto& [id, family] : e_.state.families.all()) families.push_back(family.get());
  } else {
    for (const auto& part : parts_) {
      if (part->in_memory) families.push_back(part->family.get());
    }
  }
  VARVE_RETURN_IF_ERROR(e_.jobs->flush.SwitchMemTables(families));
  frozen_.reserve(families.size());
  for (ColumnFamily* const family : families) {
    if (family->dropped() || family->immutables().empty()) continue;
    ImmutableMemTable& last = family->immutables().back();
    frozen_.push_back({family->shared_from_this(), last.mem->id()});
    last.ends_table++;
  }
  return Status::OK();
}

// Sequence numbers are taken and the window is opened in one hold of the DB mutex, so that code
// under the mutex sees both or neither.
void IngestCommit::OpenWindow(uint64_t sequences) {
  const SequenceNumber first = e_.state.commit->BeginAddition(sequences);
  VARVE_ASSERT(sequences == 0 || first + sequences == e_.state.versions->last_sequence() + 1);
  (void)first;
  e_.state.ingest_windows.Open();
  window_open_ = true;
}

// Tables get ascending sequence numbers and epochs in the order of the arguments, so later ones are
// newer.
void IngestCommit::FillInEdits(SequenceNumber first, uint64_t sequences) {
  for (const auto& part : parts_) {
    SequenceNumber next = first;
    for (size_t i = 0; i < part->tables.size(); i++) {
      NewFile& file = part->edit.new_files[i];
      file.level = part->places[i].level;
      file.epoch_number =
          part->behind ? kEpochBehind : part->family->versions()->next_epoch_number++;
      file.marked_for_compaction = part->tables[i]->only_tombstone;
      if (part->places[i].needs_sequence && !part->tables[i]->db_generated) {
        file.smallest_seq = file.largest_seq = next++;
        SetSequence(&file.smallest, file.largest_seq);
        SetSequence(&file.largest, file.largest_seq);
      } else if (part->tables[i]->db_generated) {
        next = std::max(next, file.largest_seq + 1);
      }
    }
    // The numbers are in no log. A change stream that meets the gap finds out from this note which
    // families have used them; a family that needed none is noted with the first, for the streams.
    if (sequences > 0) part->family->NoteUnlogged(first, std::max(next - 1, first));
  }
}

// ---- From the order point on ----

// Runs after the flush, so the version has the tables of memtables from before the order point.
// Tables of later memtables are recognized by their epochs, and stay.
Status IngestCommit::RemoveReplaced() {
  for (const auto& part : parts_) {
    if (part->replaced == nullptr) continue;
    const uint64_t epochs_end = part->edit.new_files.front().epoch_number;
    VARVE_RETURN_IF_ERROR(
        part->replaced->FindTables(*part->family->current(), epochs_end, &part->gone));
    part->edit.deleted_files.clear();
    for (const auto& [level, file] : part->gone) {
      part->edit.deleted_files.emplace_back(level, file->number);
    }
  }
  return Status::OK();
}

void IngestCommit::PrepareClosing() {
  for (const auto& part : parts_) {
    if (!part->to_place.hull.set) continue;
    KeyRange all = part->to_place.hull;
    for (const auto& [level, file] : part->gone) all.Include(part->family->icmp(), *file);
    part->changed = {all.smallest.ToString(), all.largest.ToString()};
    part->family->ingested_ranges().PrepareAdd();
  }
}

Status IngestCommit::MakeDurable() {
  VARVE_RETURN_IF_ERROR(e_.jobs->flush.FlushFrozen(frozen_, FlushReason::kExternalFileIngestion));
  {
    DbUnlock unlock(&e_.state.mu);
    VARVE_RETURN_IF_ERROR(WriteSequences());
  }
  VARVE_RETURN_IF_ERROR(RemoveReplaced());
  PrepareClosing();
  std::vector<FamilyEdit> edits;
  for (const auto& part : parts_) {
    const auto made = [each = part.get()](const std::vector<FileRef>& files) {
      BestEffort([&] { AdoptReaders(each, files); });
    };
    edits.push_back(FamilyEdit{part->family->versions(), {&part->edit}, made});
  }
  Status s = e_.state.versions->LogAndApply(std::move(edits), e_.context.directory());
  if (s.ok()) {
    in_force_ = true;
    for (const auto& part : parts_) {
      // A family that was dropped meanwhile has no version that owns the tables.
      part->in_force = !part->family->versions()->dropped;
      if (!part->in_force) continue;
      // From here on the family owns the files, so Discard must not delete them.
      for (StagedTable* const table : part->tables) table->path.clear();
    }
    return s;
  }
  if (s.IsIOError() || s.IsNoSpace()) {
    s = e_.errors.Reported(s, BackgroundErrorReason::kManifestWrite);
  }
  return s;
}

// With write_global_seqno, writes the sequence numbers into the files, which are copies and have a
// field for it.
Status IngestCommit::WriteSequences() {
  for (const auto& part : parts_) {
    for (size_t i = 0; i < part->tables.size(); i++) {
      if (!part->options[i]->write_global_seqno) continue;
      StagedTable& table = *part->tables[i];
      NewFile& file = part->edit.new_files[i];
      const uint64_t at = table.properties->external_sst_file_global_seqno_offset;
      if (file.largest_seq == 0) continue;
      // The offset is a property of the file, which is not trusted. A table that could be opened is
      // longer than a number.
      if (at == 0 || at > table.file.size - sizeof(uint64_t)) {
        return Status::InvalidArgument(table.source, "has no room for a sequence number");
      }
      VARVE_RETURN_IF_ERROR(WriteSequence(e_.context, table.path, at, file.largest_seq));
      // The contents have changed, so the checksum has too.
      VARVE_RETURN_IF_ERROR(FillInChecksum(e_.context, &table));
      file.checksum = table.file.checksum;
    }
  }
  return Status::OK();
}

// A reader that was opened for inspection is reused if the table is at the expected level. At
// another level a reader may keep other parts of the table in memory, so OpenClosed opens the table
// again.
void IngestCommit::AdoptReaders(Part* part, const std::vector<FileRef>& files) {
  std::unordered_map<uint64_t, size_t> by_number;
  for (size_t i = 0; i < part->tables.size(); i++) by_number[part->tables[i]->file.number] = i;
  for (const FileRef& file : files) {
    const auto it = by_number.find(file->number);
    if (it == by_number.end()) continue;
    StagedTable& table = *part->tables[it->second];
    const int level = part->edit.new_files[it->second].level;
    // A table of the last level is opened by its first read, unless the option asks for more.
    const bool opens_ahead = level != part->last_level ||
                             part->options[it->second]->prefetch_lmax_index_and_filter_blocks;
    if (!opens_ahead) continue;
    if (table.expected_level != level || table.reader == nullptr) {
      part->closed.emplace_back(level, file);
      continue;
    }
    // In the file of an SstFileWriter all entries have number 0, which the reader replaces.
    if (file->largest_seq != 0 && !table.db_generated) table.reader->SetSequence(file->largest_seq);
    part->family->table_cache()->Adopt(file.get(), std::move(table.reader));
  }
}

// Must run in the hold of the mutex in which LogAndApply returned.
void IngestCommit::Show() {
  e_.state.ingest_windows.BeginShowing();
  for (const auto& part : parts_) {
    if (!part->in_force) continue;
    e_.errors.InstallSuperVersion(part->family.get()).PermitUncheckedError();
  }
  e_.state.ingest_windows.EndShowing();
  e_.stalls.Update();
  BestEffort([this] {
    AssumeDbMutexHeld();
    for (const auto& part : parts_) {
      if (!part->in_force) continue;
      for (const NewFile& file : part->edit.new_files) {
        e_.context.NoteTable(part->family->table_paths(), file);
        part->family->work.CountIngested(file.level, file.size, file.counts.entries);
      }
    }
  });
}

void IngestCommit::OpenClosed(Part* part) {
  const ObsoleteFileQueue::LeaveOpen leave_open;  // This may be the last reference.
  BestEffort([&] {
    for (const auto& [level, file] : part->closed) {
      TableRef table;
      part->family->table_cache()
          ->Find(file.get(), level, ReadOptions(), &table)
          .PermitUncheckedError();
    }
  });
  part->closed.clear();
}

// Makes the sequence numbers visible, and allows snapshots again. Does nothing if the window is not
// open.
void IngestCommit::CloseWindow() noexcept {
  if (!window_open_) return;
  window_open_ = false;
  const SequenceNumber seen_from = e_.state.commit->EndAddition();
  for (const auto& part : parts_) {
    if (!in_force_ || !part->to_place.hull.set) continue;
    part->family->ingested_ranges().Add(std::move(part->changed), seen_from);
  }
  DbLock lock(&e_.state.mu);
  e_.state.ingest_windows.Close();
}

// The switched memtables are left to an ordinary flush. Files are deleted with the ingestion,
// unless a MANIFEST may name them.
void IngestCommit::GiveUp() noexcept {
  for (const FlushWork::Frozen& frozen : frozen_) {
    for (ImmutableMemTable& imm : frozen.family->immutables()) {
      if (imm.mem->id() == frozen.memtable) imm.ends_table--;
    }
  }
  frozen_.clear();
  for (const auto& part : parts_) {
    part->closed.clear();
    for (StagedTable* const table : part->tables) {
      // The version set owns files that the MANIFEST may name.
      if (e_.state.versions->TableInDoubt(table->file.number)) table->path.clear();
      BestEffort([&] { part->family->table_cache()->Evict(table->file.number); });
    }
  }
}

// ---- After the tables are visible ----

void IngestCommit::RemoveSources() {
  for (const auto& part : parts_) {
    for (const StagedTable* const table : part->tables) {
      if (!table->moves || !part->in_force) continue;
      const IOStatus s = e_.context.fs()->DeleteFile(table->source, IOOptions(), nullptr);
      if (s.ok() || IsMissing(s)) continue;
      LogWarn(e_.context.info_log(), "[%s] ingested, but the source is left over: %s",
              part->family->name().c_str(), s.ToString().c_str());
    }
  }
}

// Logs several tables in a line, as a bulk load may have thousands.
void IngestCommit::Log(const Part& part) const {
  std::string line;
  for (size_t i = 0; i < part.tables.size(); i++) {
    const NewFile& file = part.edit.new_files[i];
    line += (line.empty() ? "" : ", ") + part.tables[i]->source + " as #" +
            std::to_string(file.number) + " in L" + std::to_string(file.level) + " at sequence " +
            std::to_string(file.largest_seq);
    if (line.size() < kLogLineBytes && i + 1 < part.tables.size()) continue;
    LogInfo(e_.context.info_log(), "[%s] ingested %s", part.family->name().c_str(), line.c_str());
    line.clear();
  }
}

void IngestCommit::TellListeners() {
  for (const auto& part : parts_) {
    if (!part->in_force) continue;
    Log(*part);
    if (!events::Wanted(e_.context)) continue;
    for (size_t i = 0; i < part->tables.size(); i++) {
      const StagedTable& table = *part->tables[i];
      const NewFile& file = part->edit.new_files[i];
      ExternalFileIngestionInfo info;
      info.cf_name = part->family->name();
      info.external_file_path = table.source;
      info.internal_file_path = part->family->table_paths().FileName(file);
      info.global_seqno = file.largest_seq;
      info.table_properties = *table.properties;
      events::ExternalFileIngested(e_.context, info);
    }
  }
}

// The tables are committed, so errors here are not returned.
void IngestCommit::Finish() {
  for (const auto& part : parts_) OpenClosed(part.get());
  BestEffort([this] { RemoveSources(); });
  BestEffort([this] { TellListeners(); });
}

}  // namespace varve
