// SPDX-License-Identifier: Apache-2.0

// Opening brings a directory back to the last state that the previous process made durable, or
// refuses and says why.
//
// The MANIFEST tells which tables the database has. Logs tell what was written after those tables.
// Opener::RunSteps does the following; names on the right are functions of this file.
//
//     lock the directory; undo an interrupted restore        TakeDirectory, UndoInterruptedRestore
//     read the durability mark                               MakeVersionSet
//     MANIFEST --> families, versions, tables                RecoverVersions, CheckTablesOpen
//     logs     --> memtables (full ones --> tables of L0)    ReplayLogs
//     ---- up to here files stay as they were, unless a restore was undone -----------------
//     rest of the memtables --> tables of L0                 Install: LogReplay::FlushRest
//     a new log, its name made durable                       Install: BeginLog
//     a new MANIFEST with all of it; CURRENT names it        Install: LogState
//     ---- from here on the new state counts ----------------------------------------------
//     files that the new state proves obsolete go            Install: Sweep
//     write path, super-versions                             Start
//
// A crash before CURRENT names the new MANIFEST leaves the old MANIFEST and the old logs in force,
// so the next opening begins anew; files that nothing names are set aside then. A crash after it
// finds everything that was replayed in tables.
//
// With avoid_flush_during_recovery the memtables and their logs may stay instead of being flushed
// (LogRecovery::KeepLogs). A read-only opening ends before Install and writes nothing. A repair
// runs the same steps over a MANIFEST of its own, and swaps it in at the end (repair.cc).
//
// Invariants
// 1. Only one process writes: the lock is taken before anything is read.
// 2. The synced mark is read before the files that it describes. Bytes up to the mark were durable,
//    so missing ones are damage, and not the effect of a crash.
// 3. Damage is never ignored silently. LogReplay handles it by the recovery mode, and everything
//    that is dropped is in the report (RecoveryReport), even if the opening fails.
// 4. After damage, point-in-time recovery goes on with a later log only if that log proves that
//    nothing is missing in between.
// 5. No number is given out twice: file numbers start above every file that was found, sequence
//    numbers above everything that was replayed, and that a change stream has acknowledged.
// 6. The names of tables, of the new log and of the new MANIFEST are durable before CURRENT names
//    that MANIFEST. So are earlier deletions of tables, which the new MANIFEST does not record.
// 7. No old log is deleted before a durable MANIFEST says that its contents are in tables.
// 8. Background work begins when the caller has its DB (start_work.h), and so do all calls of
//    listeners but those that report the opening and its files (README.md).

#include "db/recovery/open.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/engine/events.h"
#include "db/engine/write_host.h"
#include "db/recovery/complete_version.h"
#include "db/recovery/database_directory.h"
#include "db/recovery/engine_parts.h"
#include "db/recovery/families.h"
#include "db/recovery/file_exchange.h"
#include "db/recovery/identity.h"
#include "db/recovery/log_options.h"
#include "db/recovery/log_recovery.h"
#include "db/recovery/openable_tables.h"
#include "db/recovery/reader_patience.h"
#include "db/recovery/remembered_operators.h"
#include "db/recovery/sanitize.h"
#include "db/recovery/table_directories.h"
#include "db/recovery/unknown_counts.h"
#include "db/version/manifest_replay.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Runs one opening. If a step before Install fails, existing files are unchanged, unless a restore
// was undone. At most new tables that no MANIFEST names are left, or a new database.
class Opener {
 public:
  // `patience` is null unless the opening is read-only.
  Opener(const OpenRequest& request, ReaderPatience* patience)
      : request_(request),
        patience_(patience),
        repairs_(request.repair.has_value()),
        families_(request.families),
        e_(MakeEngine(request)),
        made_(e_->context.fs().get()) {}

  // Must be called once. After a failure, created directories are removed while the lock is still
  // held, and no engine is returned. Exceptions of a step become its status.
  Status Run(std::shared_ptr<Engine>* engine) {
    Status s = Guarded([this] { return RunSteps(); });
    if (s.ok() && overtaken_) s = Status::TryAgain(e_->context.name(), "was changed meanwhile");
    if (!s.ok()) {
      if (s.IsCorruption() && !repairs_) {
        s = Status::CopyAppendMessage(s, "; ", "RepairDB makes a database of what can be read");
      }
      ForgetTables(e_.get());
      made_.Remove();
      Guarded([this] { return e_->context.Unlock(); }).PermitUncheckedError();
      ReleaseFamilies(e_.get());
      if (!overtaken_) {
        LogError(e_->context.info_log(), "open failed: %s", s.ToString().c_str());
      }
      return s;
    }
    made_.Keep();
    *engine = std::move(e_);
    return s;
  }
  // Returns true if a writer in another process may have caused the failure, so that the opening
  // should be retried.
  bool overtaken() const { return overtaken_; }

 private:
  Status RunSteps();
  bool WasOvertaken(const Status& s);
  void AddStatisticsFamily();
  bool MayBeMissing(const ColumnFamilyDescriptor& family) const;
  Status Recover();
  void Report(const Status& status);
  Status MakeVersionSet();
  Status ChooseVersion();
  Status CreateDatabase();
  Status RecoverVersions();
  Status JudgeRefusal(const Status& s) VARVE_REQUIRES(kDbMutex);
  Status ReplayLogs();
  Status Install();
  // Recovers the named positions of change streams, and keeps the logs that they need.
  Status KeepForPositions() VARVE_EXCLUDES(kDbMutex);
  Status SyncAbsences();
  Status BeginLog();
  void ChooseDbId();
  Status LogState(bool keep_logs) VARVE_REQUIRES(kDbMutex);
  Status CreateMissingFamilies() VARVE_REQUIRES(kDbMutex);
  Status WriteIdentityFile();
  Status Sweep();
  void LogSurplus();
  void NoteTables();
  Status Start();
  LogLocation PlaceOfLogs() const;

  const OpenRequest& request_;
  ReaderPatience* const patience_;
  bool overtaken_ = false;
  const bool repairs_;
  // Families of the request, and the statistics family, which is opened only if it exists.
  std::vector<ColumnFamilyDescriptor> families_;
  bool statistics_unasked_ = false;  // The statistics family is the last of families_.
  std::shared_ptr<Engine> e_;
  MadeDirectories made_;
  bool was_locked_ = false;  // True if the directory had a LOCK file (LogLocation::was_locked).
  // Names in the database's directory, and in all directories of tables, before anything was
  // created.
  std::vector<std::string> entries_;
  DirectoryListing directories_;
  wal::SyncedMark synced_;  // The synced mark when the opening began.
  // Set with best_efforts_recovery, unless a database is created.
  std::optional<CompleteVersion> version_;
  std::unique_ptr<LogRecovery> logs_;
};

// Options are checked before the directory is touched. An interrupted restore is undone before
// anything is read, since the directory has files of two databases until then.
Status Opener::RunSteps() {
  DbContext& context = e_->context;
  if (context.name().empty()) {
    return Status::InvalidArgument("open: the database's name is empty");
  }
  AddStatisticsFamily();
  for (const ColumnFamilyDescriptor& family : request_.families) {
    VARVE_RETURN_IF_ERROR(PrepareTableFactory(family.options));
  }
  VARVE_RETURN_IF_ERROR(CheckFamilies(context.options(), request_.families));
  was_locked_ = context.fs()->FileExists(LockFileName(context.name()), IOOptions(), nullptr).ok();
  if (repairs_) {
    // Nothing may be deleted before the repair has succeeded.
    DbLock lock(&e_->state.mu);
    e_->deletions.Disable();
  }
  VARVE_RETURN_IF_ERROR(TakeDirectory(&context, repairs_, &made_));
  if (!context.read_only() && !repairs_) {
    VARVE_RETURN_IF_ERROR(
        UndoInterruptedRestore(context.fs().get(), context.name(), context.WalDirectory()));
  }
  const Status s = Recover();
  overtaken_ = WasOvertaken(s);
  if (!overtaken_) Report(s);
  return s;
}

// Returns true if a read-only opening should be retried, because a writer in another process may
// have caused its error, or the damage that the recovery mode has tolerated.
bool Opener::WasOvertaken(const Status& s) {
  if (patience_ == nullptr || e_->state.versions == nullptr) return false;
  const RecoveryReport& report = e_->recovery;
  if (s.ok() ? report.clean() : !ReaderPatience::MayPass(s)) return false;
  ReaderPatience::Place place = {report.first_bad_log, report.first_bad_offset,
                                 report.last_sequence};
  {
    DbLock lock(&e_->state.mu);
    place.push_back(e_->state.versions->manifest_file_number());
    place.push_back(e_->state.versions->manifest_file_size());
  }
  return patience_->TriesAgain(e_->context, place);
}

// Adds the family of the statistics history to those that are opened, unless the caller has named
// it, as a writer must open every family in the MANIFEST.
void Opener::AddStatisticsFamily() {
  if (std::ranges::any_of(families_, [](const ColumnFamilyDescriptor& family) {
        return family.name == kStatisticsFamilyName;
      })) {
    return;
  }
  // The family gets little data every few minutes, so small memtables and tables are sufficient. It
  // is opened only if it exists, and not created here.
  ColumnFamilyOptions options;
  options.write_buffer_size = size_t{2} << 20;
  options.target_file_size_base = uint64_t{2} << 20;
  options.max_bytes_for_level_base = uint64_t{10} << 20;
  families_.emplace_back(kStatisticsFamilyName, options);
  statistics_unasked_ = true;
}

// Returns true if the opening may continue although the MANIFEST has no such family: it is created
// later (CreateMissingFamilies), or was not requested.
bool Opener::MayBeMissing(const ColumnFamilyDescriptor& family) const {
  const DbContext& context = e_->context;
  if (family.name == kStatisticsFamilyName) {
    if (statistics_unasked_) return true;
    if (context.options().persist_stats_to_disk && !context.read_only()) return true;
  }
  return context.options().create_missing_column_families && !context.read_only();
}

// Runs the steps that read and write the database, and measures their durations. A read-only
// opening skips Install.
Status Opener::Recover() {
  const DbContext& context = e_->context;
  RecoveryReport& report = e_->recovery;
  auto lap = [&context, since = context.MonotonicMicros()]() mutable {
    const uint64_t now = context.MonotonicMicros();
    return now - std::exchange(since, now);
  };
  Status s = MakeVersionSet();
  if (s.ok()) s = RecoverVersions();
  if (s.ok() && !repairs_) s = CheckTablesOpen(context, &e_->state);
  report.manifest_micros = lap();
  if (s.ok()) s = ReplayLogs();
  report.logs_micros = lap();
  if (s.ok() && !request_.read_only) s = Install();
  report.install_micros = lap();
  return s.ok() ? Start() : s;
}

// Completes the report, writes it to the LOG, and notifies listeners.
void Opener::Report(const Status& status) {
  const DbContext& context = e_->context;
  RecoveryReport& report = e_->recovery;
  report.db_name = context.given_name();
  report.read_only = context.read_only();
  report.status = status;
  report.micros = context.MonotonicMicros() - context.open_micros();
  const std::string text = report.ToString();
  if (report.clean()) {
    LogInfo(context.info_log(), "recovery of %s: %s", context.name().c_str(), text.c_str());
  } else {
    LogError(context.info_log(), "recovery of %s: %s", context.name().c_str(), text.c_str());
  }
  events::DatabaseRecovered(context, report);
}

// Makes the version set and lists the directories; creates the database if there is none and the
// options allow that. A repair has its own MANIFEST, so it does not look for CURRENT or create
// anything.
Status Opener::MakeVersionSet() {
  const DbContext& context = e_->context;
  VersionSetOptions options;
  options.db_name = context.name();
  options.fs = context.fs();
  options.file_options = context.file_options();
  options.write_temperature = context.options().metadata_write_temperature;
  options.max_manifest_file_size = context.options().max_manifest_file_size;
  options.check_table_sizes = !context.options().skip_checking_sst_file_sizes_on_db_open;
  options.use_fsync = context.options().use_fsync;
  options.read_only = context.read_only();
  if (repairs_) options.detached_manifest = request_.repair->manifest_number;
  options.write_dbid = context.options().write_dbid_to_manifest;
  options.info_log = context.info_log();
  options.clock = context.clock();
  options.statistics = context.statistics();
  options.log_holder = &e_->state.prepared;
  if (!context.read_only()) {
    // The marks use the file system without listeners: a write of a mark holds a lock for which a
    // call of a listener would wait.
    e_->state.marks = std::make_unique<wal::SyncedMarks>(context.options().env->GetFileSystem(),
                                                         context.name(), context.clock());
    options.marks = e_->state.marks.get();
  }
  // The mark is read before the logs that it describes, to which another process may append.
  if (!repairs_) synced_ = wal::ReadSyncedMark(context.fs().get(), context.name());
  VARVE_ASSERT(e_->state.versions == nullptr);
  e_->state.versions = std::make_unique<VersionSet>(options, &e_->state.mu);
  VARVE_RETURN_IF_ERROR(context.fs()->GetChildren(context.name(), IOOptions(), &entries_, nullptr));
  directories_[context.name()] = entries_;
  VARVE_RETURN_IF_ERROR(TakeTableDirectories(
      context, families_, context.read_only() ? nullptr : &made_, &directories_));
  LogOptions(context, request_.families, entries_);
  if (repairs_) return Status::OK();
  if (context.options().best_efforts_recovery) VARVE_RETURN_IF_ERROR(ChooseVersion());
  bool found = false;
  VARVE_RETURN_IF_ERROR(FindDatabase(context, version_.has_value(), &found));
  return found ? Status::OK() : CreateDatabase();
}

// Chooses the newest state whose tables all exist, for best_efforts_recovery, and reports the
// losses. If there is no MANIFEST, version_ stays empty, and the caller may create a database; but
// if there is a CURRENT, returns Corruption.
Status Opener::ChooseVersion() {
  const DbContext& context = e_->context;
  CompleteVersion version;
  VARVE_RETURN_IF_ERROR(FindCompleteVersion(context, families_, synced_, entries_,
                                            FormerDirectories(PlaceOfLogs()), &version));
  if (version.point.manifest == 0) {
    const IOStatus current =
        context.fs()->FileExists(CurrentFileName(context.name()), IOOptions(), nullptr);
    if (!current.ok()) return Status::OK();
    return Status::Corruption(context.name(), "no MANIFEST tells of a whole database");
  }
  RecoveryReport& report = e_->recovery;
  report.tables_missing = version.tables;
  report.families_set_back = version.families;
  if (version.set_back()) {
    report.first_bad_reason = version.reason;
    if (!version.tables.empty()) {
      report.first_bad_file = version.tables.front();
    } else if (!version.bad_manifest.empty()) {
      report.first_bad_file = version.bad_manifest;
      report.first_bad_offset = version.bad_offset;
    } else {
      report.first_bad_file = DescriptorFileName(context.name(), version.point.manifest);
    }
  }
  version_ = std::move(version);
  return Status::OK();
}

// Creates the first MANIFEST of a new database. Refuses a directory with data. Uses the id of a
// readable IDENTITY file, which a program may have written.
Status Opener::CreateDatabase() {
  const DbContext& context = e_->context;
  for (const auto& [directory, names] : directories_) {
    VARVE_RETURN_IF_ERROR(CheckHoldsNoData(PlaceOfLogs(), directory, names));
  }
  synced_ = {};  // The mark belongs to a database that was destroyed here.
  std::string db_id;
  if (!ReadIdentity(context.fs().get(), context.name(), &db_id).ok())
    db_id = NewDbId(context.env());
  const auto is_default = [](const auto& family) {
    return family.name == kDefaultColumnFamilyName;
  };
  const auto family = std::ranges::find_if(request_.families, is_default);
  DbLock lock(&e_->state.mu);
  VARVE_ASSERT(family != request_.families.end());
  return e_->state.versions->CreateNew(ToOpen(context, *family), db_id);
}

// Returns the error of VersionSet::Recover, or InvalidArgument instead if missing tables are in
// directories that the options lack. Never returns OK. Requires that the version set still has the
// state that was read.
Status Opener::JudgeRefusal(const Status& s) {
  if (!s.IsCorruption() && !s.IsInvalidArgument()) return s;
  const DbContext& context = e_->context;
  const FormerDirectories former(PlaceOfLogs());
  std::string unnamed;
  for (const ColumnFamilyDescriptor& family : families_) {
    if (unnamed.empty()) unnamed = former.WithUnnamed(family.name, *ToOpen(context, family).paths);
  }
  if (s.IsInvalidArgument()) {
    return unnamed.empty() ? s : Status::CopyAppendMessage(s, "; its tables were in ", unnamed);
  }
  bool missing = false;
  for (const auto& [id, family] : e_->state.versions->families()) {
    for (int level = 0; level < family->current->non_empty_levels(); level++) {
      for (const FileRef& file : family->current->level(level).files()) {
        uint64_t bytes = 0;
        const IOStatus found = file->UseFile([&](const std::string& path) {
          return context.fs()->GetFileSize(path, IOOptions(), &bytes, nullptr);
        });
        if (!IsMissing(found)) continue;
        missing = true;
        VARVE_RETURN_IF_ERROR(former.CheckNotThere(family->name, *family->paths, *file));
      }
    }
  }
  return missing ? Status::CopyAppendMessage(
                       s, "; ", "if they are elsewhere, db_paths or cf_paths must name where")
                 : s;
}

// Reads the MANIFEST, and makes the ColumnFamily of each family in it, with an empty memtable.
// VersionSet::Recover refuses a MANIFEST with families that the request lacks, unless the opening
// is read-only. A family that only the request has is created later if MayBeMissing.
Status Opener::RecoverVersions() {
  DbContext& context = e_->context;
  DbState& state = e_->state;
  std::vector<FamilyToOpen> wanted;
  for (const ColumnFamilyDescriptor& family : families_) {
    wanted.push_back(ToOpen(context, family));
  }
  DbLock lock(&state.mu);
  VARVE_ASSERT(state.families.all().empty());
  const Status s = state.versions->Recover(wanted, synced_, TablesIn(directories_),
                                           version_ ? &version_->point : nullptr);
  if (!s.ok()) return JudgeRefusal(s);
  VARVE_RETURN_IF_ERROR(CheckMergeOperators(families_, context, state));
  const int max_open_files = context.options().max_open_files;
  if (max_open_files > 0) {
    context.set_limited_tables(
        TableCache::NewLimitedCache(static_cast<int>(TablesFor(max_open_files))));
  }
  for (const ColumnFamilyDescriptor& family : families_) {
    std::shared_ptr<FamilyVersions> versions = state.versions->FindFamily(family.name);
    if (versions == nullptr) {
      if (MayBeMissing(family)) continue;
      return Status::InvalidArgument(
          "column family not found (create_missing_column_families is false)", family.name);
    }
    state.families.Add(MakeFamily(e_.get(), std::move(versions), family.options));
  }
  return Status::OK();
}

LogLocation Opener::PlaceOfLogs() const {
  const DbContext& context = e_->context;
  return {context.fs().get(), context.LogFileOptions(), context.name(), context.WalDirectory(),
          was_locked_};
}

Status Opener::ReplayLogs() {
  DbState& state = e_->state;
  VARVE_ASSERT(state.logs == nullptr && logs_ == nullptr);
  state.logs = std::make_unique<LogSet>(e_->context.options().use_fsync, state.marks.get());
  logs_ = std::make_unique<LogRecovery>(
      LogReplay::Parts{e_->context, e_->options, state, e_->recovery},
      LogRecovery::Wanted{synced_, PlaceOfLogs(), directories_, repairs_,
                          request_.error_if_wal_file_exists, version_ && version_->set_back()});
  return logs_->Replay();
}

// Writes the files of an open database: tables of replayed data that is still in memory, a log, and
// a MANIFEST. Logs that are kept are added to the log set before the new log, as numbers must
// ascend, and before Sweep, which deletes the others. A failure before LogState leaves tables and a
// log that no MANIFEST names; after a later one the next opening continues from the new state.
Status Opener::Install() {
  VARVE_ASSERT(!e_->context.read_only() && e_->state.marks != nullptr);
  // Invariant 5.
  VARVE_ASSERT(e_->state.versions->last_sequence() >= logs_->replay().max_sequence());
  const bool keep_logs = logs_->CanKeepLogs();
  if (!keep_logs) VARVE_RETURN_IF_ERROR(logs_->replay().FlushRest());
  BestEffort([this] { ReadUnknownCounts(e_->context, &e_->state); });
  if (!repairs_) VARVE_RETURN_IF_ERROR(KeepForPositions());
  if (keep_logs) VARVE_RETURN_IF_ERROR(logs_->KeepLogs());
  VARVE_RETURN_IF_ERROR(SyncAbsences());
  VARVE_RETURN_IF_ERROR(BeginLog());
  ChooseDbId();
  {
    DbLock lock(&e_->state.mu);
    VARVE_RETURN_IF_ERROR(LogState(keep_logs));
    VARVE_RETURN_IF_ERROR(CreateMissingFamilies());
  }
  // The data of the old marks is in the new state, or was reported as lost. In a repair they stay
  // valid until it is finished.
  if (!repairs_) e_->state.marks->Begin();
  VARVE_RETURN_IF_ERROR(WriteIdentityFile());
  return repairs_ ? Status::OK() : Sweep();
}

// Sequence numbers that a stream may have returned before a crash are not used again.
Status Opener::KeepForPositions() {
  std::vector<ChangePosition> positions;  // The named positions of change streams.
  {
    DbLock lock(&e_->state.mu);
    VersionSet& versions = *e_->state.versions;
    for (const auto& [name, position] : versions.change_positions()) {
      // A crash may have lost writes that the stream has returned, as they were not logged or not
      // synced. The stream would not return new writes with the same numbers.
      versions.set_last_sequence(
          std::max(versions.last_sequence(), std::max<SequenceNumber>(position.next, 1) - 1));
      positions.push_back(position);
    }
  }
  int64_t now = 0;
  if (!e_->context.clock()->GetCurrentTime(&now).ok() || now < 0) now = 0;
  e_->state.positions.Recover(positions, e_->state.logs.get(), static_cast<uint64_t>(now));
  return logs_->KeepForPositions();
}

// Syncs the directories of tables, because the new MANIFEST does not record deleted tables, which
// must not reappear. The database's own directory is synced with that MANIFEST.
Status Opener::SyncAbsences() {
  for (const auto& [directory, names] : directories_) {
    if (directory == e_->context.name()) continue;
    const IOStatus s = SyncDirectory(e_->context.fs().get(), directory);
    if (!s.ok() && !IsMissing(s)) return s;
  }
  return Status::OK();
}

// Creates the first log of this opening. A kept log that is stamped (new_logs.h) is recorded
// before.
Status Opener::BeginLog() {
  DbContext& context = e_->context;
  VARVE_RETURN_IF_ERROR(made_.Make(context.WalDirectory()));
  VARVE_RETURN_IF_ERROR(context.OpenLogDirectory());
  {
    DbLock lock(&e_->state.mu);
    if (logs_->CanKeepLogs() && logs_->replay().met_stamped_log()) e_->new_logs.NoteStamped();
    VARVE_RETURN_IF_ERROR(e_->new_logs.Start(/*force=*/true));
  }
  // The log's name must be durable before the MANIFEST names it. In the database's own directory
  // both names are synced together.
  if (context.WalDirectory() == context.name()) return Status::OK();
  return e_->state.logs->SyncNames();
}

// If the MANIFEST has no database id, uses that of a readable IDENTITY file, or else a new one.
// LogState stores it.
void Opener::ChooseDbId() {
  {
    DbLock lock(&e_->state.mu);
    if (!e_->state.versions->db_id().empty()) return;
  }
  const DbContext& context = e_->context;
  std::string id;
  if (!ReadIdentity(context.fs().get(), context.name(), &id).ok()) id = NewDbId(context.env());
  DbLock lock(&e_->state.mu);
  e_->state.versions->set_db_id(id);
}

// Writes the state to a new MANIFEST, which CURRENT then names, except in a repair: for each family
// the tables that the replay made, and the first log that it needs. That is the new log, unless its
// memtable keeps replayed entries (`keep_logs`), which are in the old logs.
Status Opener::LogState(bool keep_logs) {
  DbState& state = e_->state;
  const LogReplay& replay = logs_->replay();
  const uint64_t current_log = state.logs->current_number();
  for (const auto& [first, end] : replay.UnreadLogs(current_log)) {
    state.versions->NoteUnreadLogs(first, end);
  }
  VARVE_ASSERT(current_log != 0);  // Invariant 6: the log exists before the MANIFEST names it.
  std::vector<FamilyEdit> edits;
  std::vector<std::unique_ptr<VersionEdit>> owned;
  for (const auto& [id, family] : state.families.all()) {
    auto edit = std::make_unique<VersionEdit>();
    const auto replayed = replay.edits().find(id);
    if (replayed != replay.edits().end()) *edit = replayed->second;
    edit->column_family = id;
    if (!keep_logs || family->mem()->Empty()) edit->log_number = current_log;
    const std::string merge_operator = MergeOperatorName(*family->options());
    if (!merge_operator.empty() && merge_operator != family->versions()->merge_operator) {
      edit->family.merge_operator = merge_operator;
    }
    edits.push_back(FamilyEdit{family->versions(), {edit.get()}});
    owned.push_back(std::move(edit));
  }
  return state.versions->LogAndApply(std::move(edits), e_->context.directory(),
                                     /*new_manifest=*/true);
}

// Creates the families of the request that the MANIFEST lacks, by one edit each: after a crash the
// next opening creates the rest. The statistics family is created only if it was named, or with
// persist_stats_to_disk.
Status Opener::CreateMissingFamilies() {
  const bool keeps_statistics = e_->context.options().persist_stats_to_disk && !repairs_;
  for (const ColumnFamilyDescriptor& family : families_) {
    if (e_->state.families.FindByName(family.name) != nullptr) continue;
    const bool unasked = statistics_unasked_ && family.name == kStatisticsFamilyName;
    if (unasked && !keeps_statistics) continue;
    std::shared_ptr<FamilyVersions> versions;
    VARVE_RETURN_IF_ERROR(AddToManifest(e_.get(), ToOpen(e_->context, family), &versions));
    e_->state.families.Add(MakeFamily(e_.get(), std::move(versions), family.options));
  }
  return Status::OK();
}

// Writes the database's id to IDENTITY unless it has that id. The id in the MANIFEST takes
// precedence.
Status Opener::WriteIdentityFile() {
  const DbContext& context = e_->context;
  if (!context.options().write_identity_file) return Status::OK();
  std::string db_id;
  {
    DbLock lock(&e_->state.mu);
    db_id = e_->state.versions->db_id();
  }
  std::string id;
  const bool there = ReadIdentity(context.fs().get(), context.name(), &id).ok() && id == db_id;
  return there ? Status::OK() : WriteIdentity(context.fs().get(), context.name(), db_id);
}

// Deletes files that earlier openings have left.
Status Opener::Sweep() {
  const bool reserved = std::ranges::find(entries_, kReserveFileName) != entries_.end();
  if (reserved && e_->context.options().reserve_bytes == 0) e_->jobs->reserve.RemoveFile();
  return e_->jobs->obsolete.SweepAtOpen({directories_, logs_->replay().damaged_logs(),
                                         logs_->empty_logs(), version_ && version_->set_back()},
                                        &e_->recovery);
}

// Adds the tables and blob files to the SstFileManager.
void Opener::NoteTables() {
  e_->state.mu.AssertHeld();
  for (const auto& [id, family] : e_->state.families.all()) {
    const VersionRef version = family->current();
    for (int level = 0; level < version->num_levels(); level++) {
      for (const FileRef& file : version->level(level).files()) {
        e_->context.NoteTable(family->table_paths(), *file);
      }
    }
    for (const BlobFileState& file : version->blob_files()) {
      e_->context.NoteTable(family->table_paths(), *file.blobs->file());
    }
  }
}

// Logs which families have tables in levels beyond num_levels.
void Opener::LogSurplus() {
  std::string names;
  {
    DbLock lock(&e_->state.mu);
    for (const auto& [id, family] : e_->state.families.all()) {
      if (family->current()->surplus_levels() > 0) names += " " + family->name();
    }
  }
  if (names.empty()) return;
  LogInfo(e_->context.info_log(),
          "tables lie deeper than num_levels, and compactions move them up, in:%s", names.c_str());
}

// Makes the write path and installs super-versions, so that the database can be used. Background
// work begins later (start_work.h). Writes the OPTIONS file, unless this is a read-only opening or
// a repair.
Status Opener::Start() {
  Engine& e = *e_;
  MakeWritePath(&e);
  BestEffort([&] { LogSurplus(); });
  {
    DbLock lock(&e.state.mu);
    for (const auto& [id, family] : e.state.families.all()) family->InstallSuperVersion();
    e.stalls.Update();
    if (!e.context.read_only()) NoteTables();
  }
  if (e.context.read_only() || repairs_) return Status::OK();
  return e.jobs->options_keeper.Changed();
}

}  // namespace

Status OpenEngine(const OpenRequest& request, std::shared_ptr<Engine>* engine) {
  return Guarded([&] {
    if (!request.read_only || request.repair.has_value()) {
      return Opener(request, nullptr).Run(engine);
    }
    // Each attempt uses a new engine; ReaderPatience limits their number.
    ReaderPatience patience;
    for (;;) {
      Opener opener(request, &patience);
      Status s = opener.Run(engine);
      if (!opener.overtaken()) return s;
    }
  });
}

}  // namespace varve
