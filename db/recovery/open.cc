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
//     ---- up to here, files that were found stay as they were ----------------------------
//     rest of the memtables --> tables of L0                 Install: LogReplay::FlushRest
//     a new log, its name made durable                       Install: BeginLog
//     a new MANIFEST with all of it; CURRENT names it        Install: LogState
//     ---- from here on the new state counts ----------------------------------------------
//     files that the new state proves obsolete go            Install: Sweep
//     write path, super-versions                             Start
//
// A crash before CURRENT names the new MANIFEST leaves the old MANIFEST and the old logs in force,
// so the next opening begins anew; tables that nothing names are set aside then. A crash after it
// finds everything that was replayed in tables.
//
// With avoid_flush_during_recovery the memtables and their logs may stay instead of being flushed
// (LogRecovery::KeepLogs). A read-only opening ends before Install and writes nothing. A repair
// runs the same steps over a MANIFEST of its own, and swaps it in at the end (repair.cc).
//
// Invariants
// 1. One process writes: the lock is taken before anything is read.
// 2. The durability mark is read before the files that it describes. What lies below it was
//    durable, so if it is missing that is damage, and no crash.
// 3. Damage is never passed silently. LogReplay judges it by the recovery mode; whatever is dropped
//    is in the report (RecoveryReport), also if the opening is refused.
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

// Runs one opening, step by step. Until Install, a step that fails leaves every file that was found
// as it was, and at most new tables that nothing names.
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

  // Called once. A failure takes the opening back as far as other processes can see it: new
  // directories go while the lock still keeps others out, and the engine is not returned.
  // Exceptions of a step become its status, so that they release the lock too.
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
  // True if a writer in another process may be the reason for the failure, so that the opening
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
  // Recovers the named positions, and keeps the logs that they need.
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
  // Contents of the database's directory, and of all with tables, before anything was created.
  std::vector<std::string> entries_;
  DirectoryListing directories_;
  wal::SyncedMark synced_;  // Mark that the opening found.
  // Set with best_efforts_recovery, unless a database is created.
  std::optional<CompleteVersion> version_;
  std::unique_ptr<LogRecovery> logs_;
};

// The options are checked before the directory is touched. A restore that was interrupted is undone
// before anything is read, since until then the directory's files are those of two databases.
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
    // Nothing may be deleted before the repair is over.
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

// Decides whether a read-only opening should be tried again, because a writer in another process
// may have caused what it met: an error, or damage that the recovery mode tolerated. The place says
// how far this try came, so that the next one can be compared with it.
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
// it: a writer must open every family that the MANIFEST has.
void Opener::AddStatisticsFamily() {
  if (std::ranges::any_of(families_, [](const ColumnFamilyDescriptor& family) {
        return family.name == kStatisticsFamilyName;
      })) {
    return;
  }
  // The family gets a little data every few minutes, so small memtables and tables will do. Usually
  // it does not exist; it is opened if it does, and not created here.
  ColumnFamilyOptions options;
  options.write_buffer_size = size_t{2} << 20;
  options.target_file_size_base = uint64_t{2} << 20;
  options.max_bytes_for_level_base = uint64_t{10} << 20;
  families_.emplace_back(kStatisticsFamilyName, options);
  statistics_unasked_ = true;
}

// True if an opening may go on although the MANIFEST has no such family: it is created later
// (CreateMissingFamilies), or nobody asked for it.
bool Opener::MayBeMissing(const ColumnFamilyDescriptor& family) const {
  const DbContext& context = e_->context;
  if (family.name == kStatisticsFamilyName) {
    if (statistics_unasked_) return true;
    if (context.options().persist_stats_to_disk && !context.read_only()) return true;
  }
  return context.options().create_missing_column_families && !context.read_only();
}

// Runs the steps that read and write the database, and measures them. An opening that only reads
// does without Install.
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

// Completes the report, and writes it to the LOG and to the listeners.
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

// Makes the version set and lists the directories; creates the database if there is none to recover
// and the options say so. The families are read later (RecoverVersions). A repair names its own
// MANIFEST, so it neither looks for CURRENT nor creates anything.
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
  options.log_holder = &e_->state.sections;
  if (!context.read_only()) {
    // Listeners are not told of the marks: a note holds a lock that a call of theirs would wait
    // for.
    e_->state.marks = std::make_unique<wal::SyncedMarks>(context.options().env->GetFileSystem(),
                                                         context.name(), context.clock());
    options.marks = e_->state.marks.get();
  }
  // Read before the logs that it describes, which another process may be appending to.
  if (!repairs_) synced_ = wal::ReadSyncedMark(context.fs().get(), context.name());
  VARVE_ASSERT(e_->state.versions == nullptr);
  e_->state.versions = std::make_unique<VersionSet>(options, &e_->state.mu);
  VARVE_RETURN_IF_ERROR(context.fs()->GetChildren(context.name(), IOOptions(), &entries_, nullptr));
  directories_[context.name()] = entries_;
  VARVE_RETURN_IF_ERROR(TakeTableDirectories(context, families_, &made_, &directories_));
  LogOptions(context, request_.families, entries_);
  if (repairs_) return Status::OK();
  if (context.options().best_efforts_recovery) VARVE_RETURN_IF_ERROR(ChooseVersion());
  bool found = false;
  VARVE_RETURN_IF_ERROR(FindDatabase(context, version_.has_value(), &found));
  return found ? Status::OK() : CreateDatabase();
}

// Chooses the newest state whose tables all exist, for best_efforts_recovery, and reports what is
// lost by that. Without a MANIFEST to choose from, version_ stays empty, and the caller may create
// a database; but if there is a CURRENT, it must have had one, and that is Corruption.
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

// Creates the first MANIFEST of a database that does not exist. Refuses a directory that holds data
// of one. Keeps the id of a readable IDENTITY file, which a program may have placed there.
Status Opener::CreateDatabase() {
  const DbContext& context = e_->context;
  for (const auto& [directory, names] : directories_) {
    VARVE_RETURN_IF_ERROR(CheckHoldsNoData(PlaceOfLogs(), directory, names));
  }
  synced_ = {};  // The mark that was found belongs to a database that was destroyed here.
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

// Returns the error of a MANIFEST that was refused, made more precise: missing tables may be in
// directories that the options lack. The version set still has what was read of the MANIFEST. Never
// returns OK.
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

// Reads the MANIFEST, and makes the run-time object of each family that it has, with an empty
// memtable. VersionSet::Recover refuses a MANIFEST with families that the request lacks, unless the
// opening is read-only. A family that only the request has is created later, if it may be missing.
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

// Writes the files of an open database: tables of replayed data that is still in memory, a log, a
// MANIFEST. Logs that must stay are in the log set before the new log, as their numbers ascend, and
// before Sweep, which deletes the others. A failure before LogState leaves tables and a log that no
// MANIFEST names; a later one leaves the new state in force, and the next opening goes on from it.
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
  // The state of the old marks is now in force, or was reported as lost. They stay valid until a
  // repair is finished.
  if (!repairs_) e_->state.marks->Begin();
  VARVE_RETURN_IF_ERROR(WriteIdentityFile());
  return repairs_ ? Status::OK() : Sweep();
}

// Makes the named positions of change streams known, and keeps the logs that they need. Sequence
// numbers that a stream may have given out before a crash are not used again.
Status Opener::KeepForPositions() {
  std::vector<ChangePosition> positions;  // The named positions of change streams.
  {
    DbLock lock(&e_->state.mu);
    VersionSet& versions = *e_->state.versions;
    for (const auto& [name, position] : versions.change_positions()) {
      // A crash may have taken numbers that the reader of the stream has seen, as they were not
      // logged or not synced. It would not see new writes with the same numbers.
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

// Syncs the directories of tables, because the next MANIFEST does not record deleted tables, and
// none may reappear. The database's own directory is synced with that MANIFEST.
Status Opener::SyncAbsences() {
  for (const auto& [directory, names] : directories_) {
    if (directory == e_->context.name()) continue;
    const IOStatus s = SyncDirectory(e_->context.fs().get(), directory);
    if (!s.ok() && !IsMissing(s)) return s;
  }
  return Status::OK();
}

// Creates the log that the database will write. If an old log that stays is stamped (new_logs.h),
// that is noted first.
Status Opener::BeginLog() {
  DbContext& context = e_->context;
  VARVE_RETURN_IF_ERROR(made_.Make(context.WalDirectory()));
  VARVE_RETURN_IF_ERROR(context.OpenLogDirectory());
  {
    DbLock lock(&e_->state.mu);
    if (logs_->CanKeepLogs() && logs_->replay().met_stamped_log()) e_->new_logs.NoteStamped();
    VARVE_RETURN_IF_ERROR(e_->new_logs.Start(/*force=*/true));
  }
  // The MANIFEST will name the log, so its name must be durable. In the database's own directory
  // both names are synced together.
  if (context.WalDirectory() == context.name()) return Status::OK();
  return e_->state.logs->SyncNames();
}

// Gives a database whose MANIFEST has no id that of a readable IDENTITY file, or else a new one.
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

// Writes the state to a new MANIFEST, to which CURRENT then points (except in a repair): for each
// family the tables that the replay made, and the first log that it needs. That is the new log,
// unless its memtable keeps replayed entries (`keep_logs`), which only the old logs have.
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

// Creates the families of the request that the MANIFEST lacks, one edit each: a crash in between
// leaves some of them, and the next opening creates the rest. The statistics family is created only
// if it is asked for, by name or by persist_stats_to_disk.
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

// Writes the database's id to IDENTITY unless it is there. The MANIFEST's id is the valid one.
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

// Reports the tables and blob files to the SST file manager.
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

// Logs which families have tables beneath the levels of their options.
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

// Makes the recovered database usable. The memtables are complete, so from here on readers may see
// them. Background work begins later (start_work.h). Writes the OPTIONS file, unless this is a
// read-only opening or a repair.
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
    // Each try begins with a new engine; ReaderPatience bounds their number.
    ReaderPatience patience;
    for (;;) {
      Opener opener(request, &patience);
      Status s = opener.Run(engine);
      if (!opener.overtaken()) return s;
    }
  });
}

}  // namespace varve
