// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/open.h"

#include <algorithm>
#include <set>
#include <utility>

#include "db/background/compaction_work.h"
#include "db/background/error_recovery.h"
#include "db/background/events.h"
#include "db/background/flush_work.h"
#include "db/background/holders.h"
#include "db/background/obsolete_files.h"
#include "db/background/options_keeper.h"
#include "db/background/periodic_work.h"
#include "db/background/scrubber.h"
#include "db/background/space_reserve.h"
#include "db/background/table_context.h"
#include "db/background/write_admission.h"
#include "db/background/write_host.h"
#include "db/recovery/identity.h"
#include "db/recovery/log_directory.h"
#include "db/recovery/log_replay.h"
#include "db/recovery/remembered_operators.h"
#include "db/recovery/sanitize.h"
#include "db/recovery/stale_manifest.h"
#include "db/recovery/unknown_counts.h"
#include "db/version/manifest_replay.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/env/absolute_path.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

// A missing directory is made, and its name synced into its parent: without that a power loss could
// take the whole database, however well its files were synced.
IOStatus MakeDirectoryDurably(FileSystem* fs, const std::string& path) {
  if (fs->FileExists(path, IOOptions(), nullptr).ok()) return IOStatus::OK();
  IOStatus s = fs->CreateDirIfMissing(path, IOOptions(), nullptr);
  if (!s.ok()) return s;
  const size_t end = path.find_last_not_of('/');
  const size_t slash = path.rfind('/', end);
  if (slash == std::string::npos) return SyncDirectory(fs, ".");
  return SyncDirectory(fs, slash == 0 ? "/" : path.substr(0, slash));
}

// What the schema accepts may still be more than tables can be written with.
Status CheckFamilyOptions(const DBOptions& db_options, const ColumnFamilyOptions& options) {
  Status s = ValidateOptions(db_options, options);
  if (!s.ok()) return s;
  const ColumnFamilyOptions family = SanitizeFamilyOptions(db_options, options);
  TableBuildOptions build;
  build.table = TableOptionsOf(family);
  build.prefix_extractor = family.prefix_extractor.get();
  build.compression = family.compression;
  build.compression_opts = family.compression_opts;
  const InternalKeyComparator icmp(family.comparator);
  build.icmp = &icmp;
  build.level = family.num_levels - 1;
  return TableBuilder::CheckOptions(build);
}

// How long it may be is asked when the family is made.
Status CheckFamilyName(const std::string& name) {
  return name.empty() ? Status::InvalidArgument("column family", "the name is empty")
                      : Status::OK();
}

// Options of a family that have passed, or will pass, CheckFamilyOptions.
FamilyToOpen ToOpen(const std::string& name, const ColumnFamilyOptions& options) {
  FamilyToOpen family;
  family.name = name;
  family.comparator = options.comparator;
  family.num_levels = DeriveColumnFamilyOptions(options).num_levels;
  family.persist_timestamps = options.persist_user_defined_timestamps;
  family.merge_operator = MergeOperatorName(options);
  family.file_charge = NewCacheCharge(TableOptionsOf(options), CacheEntryRole::kFileMetadata);
  return family;
}

// Adds a family to the MANIFEST. If it has timestamps, the log is told first: a record of the
// family must not stand in a log that does not say so. (That the log names a family which then was
// not made does no harm, as ids are not used twice.)
Status AddFamily(Engine* engine, const FamilyToOpen& family,
                 std::shared_ptr<FamilyVersions>* versions) {
  Engine& e = *engine;
  e.mu.AssertHeld();
  const size_t timestamp_size = family.comparator->timestamp_size();
  if (timestamp_size != 0) {
    const wal::TimestampSizes sizes = {{e.versions->next_family_id(), timestamp_size}};
    MutexUnlock unlock(&e.mu);
    IOStatus s = e.logs->AddTimestampSizes(wal::EncodeTimestampSizes(sizes).front());
    if (!s.ok()) return s;
  }
  return e.versions->CreateFamily(family, e.logs->current_number(), e.directory.get(), versions);
}

// One opening, step by step. Each step leaves the directory as it was if it fails.
class Opener {
 public:
  explicit Opener(const OpenRequest& request) : request_(request), e_(std::make_shared<Engine>()) {}

  Status Run(std::shared_ptr<Engine>* engine) {
    Status s = RunSteps();
    if (!s.ok()) {
      Unlock();
      e_->ReleaseFamilies();
      LogError(e_->info_log.get(), "open failed: %s", s.ToString().c_str());
      return s;
    }
    *engine = std::move(e_);
    return s;
  }

 private:
  // What throws must leave no lock behind, either.
  Status RunSteps() try {
    Status s = Prepare();
    if (s.ok()) s = LockDirectory();
    if (s.ok()) {
      s = Recover();
      Report(s);
    }
    return s;
  } catch (...) {
    return CaughtException();
  }
  Status Prepare();
  Status Recover();
  void Report(const Status& status);
  Status LockDirectory();
  void Unlock();
  Status FindDatabase();
  Status CreateDatabase();
  Status RecoverVersions();
  Status ReplayLogs();
  Status Install();
  Status Sweep();
  Status KeepLogs();
  Status CreateMissingFamilies();
  Status Start();
  const ColumnFamilyOptions* OptionsOf(const std::string& family) const;
  LogPlace PlaceOfLogs() const;

  const OpenRequest& request_;
  std::shared_ptr<Engine> e_;
  bool was_locked_ = false;           // by somebody, where the directory is now
  std::vector<std::string> entries_;  // of the directory, before anything was made
  std::unique_ptr<LogReplay> replay_;
  std::vector<uint64_t> log_numbers_;
  std::vector<std::string> empty_logs_;  // paths of those that need not stay
  wal::SyncedMark synced_;               // as found
};

Status Opener::Recover() {
  Engine& e = *e_;
  auto lap = [&e, since = e.MonotonicMicros()]() mutable {
    const uint64_t now = e.MonotonicMicros();
    return now - std::exchange(since, now);
  };
  Status s = FindDatabase();
  if (s.ok()) s = RecoverVersions();
  e.recovery.manifest_micros = lap();
  if (s.ok()) s = ReplayLogs();
  e.recovery.logs_micros = lap();
  if (s.ok() && !request_.read_only) s = Install();
  e.recovery.install_micros = lap();
  return s.ok() ? Start() : s;
}

void Opener::Report(const Status& status) {
  Engine& e = *e_;
  RecoveryReport& report = e.recovery;
  report.db_name = e.given_name;
  report.read_only = e.read_only;
  report.status = status;
  report.micros = e.MonotonicMicros() - e.open_micros;
  if (report.clean()) {
    LogInfo(e.info_log.get(), "recovery of %s: %s", e.name.c_str(), report.ToString().c_str());
  } else {
    LogError(e.info_log.get(), "recovery of %s: %s", e.name.c_str(), report.ToString().c_str());
  }
  events::DatabaseRecovered(e);
}

Status Opener::Prepare() {
  Engine& e = *e_;
  e.given_name = request_.name;
  e.read_only = request_.read_only;
  // Users see their options as they gave them.
  e.dynamic = std::make_shared<const DBOptions>(SanitizeOptions(request_.name, request_.options));
  e.env = e.dynamic->env;
  e.fs = e.env->GetFileSystem();
  e.name = AbsolutePath(e.fs.get(), request_.name);
  e.options = SanitizeOptions(e.name, WithAbsolutePaths(e.fs.get(), *e.dynamic));
  e.clock = e.env->GetSystemClock().get();
  e.statistics = e.options.statistics.get();
  e.write_buffer_manager = e.options.write_buffer_manager;
  e.open_micros = e.MonotonicMicros();
  e.file_options = FileOptions(e.options);
  e.session_id = NewSessionId(e.env);
  e.host_name = HostNameForTables(e.options);
  e.level_stats.resize(64);
  e.pacer = std::make_unique<DelayPacer>(e.options.delayed_write_rate);
  e.flush = std::make_unique<FlushWork>(&e);
  e.compaction = std::make_unique<CompactionWork>(&e);
  e.obsolete = std::make_unique<ObsoleteFiles>(&e);
  e.options_keeper = std::make_unique<OptionsKeeper>(&e);
  e.recovery_work = std::make_unique<ErrorRecovery>(&e);
  if (e.name.empty()) return Status::InvalidArgument("open: the database's name is empty");
  std::set<std::string> names;
  for (const ColumnFamilyDescriptor& family : request_.families) {
    Status s = CheckFamilyName(family.name);
    if (!s.ok()) return s;
    if (!names.insert(family.name).second) {
      return Status::InvalidArgument("open: column family named twice", family.name);
    }
    s = CheckFamilyOptions(e.options, family.options);
    if (!s.ok()) return s;
  }
  if (names.count(kDefaultColumnFamilyName) == 0) {
    return Status::InvalidArgument("open: the column family \"default\" is not named");
  }
  return Status::OK();
}

Status Opener::LockDirectory() {
  Engine& e = *e_;
  was_locked_ = e.fs->FileExists(LockFileName(e.name), IOOptions(), nullptr).ok();
  if (request_.read_only) {
    e.info_log = e.options.info_log;
    return Status::OK();
  }
  if (request_.repair.has_value()) {
    // Nothing goes before the repair is over.
    e.file_deletions_disabled = 1;
  } else if (e.options.create_if_missing) {
    IOStatus s = MakeDirectoryDurably(e.fs.get(), e.name);
    if (s.ok()) s = MakeDirectoryDurably(e.fs.get(), e.WalDirectory());
    if (!s.ok()) return s;
  } else {
    IOStatus s = e.fs->FileExists(CurrentFileName(e.name), IOOptions(), nullptr);
    if (s.IsNotFound()) {
      return Status::InvalidArgument(e.name, "does not exist (create_if_missing is false)");
    }
  }
  IOStatus s;
  if (!request_.repair.has_value()) {
    s = e.fs->LockFile(LockFileName(e.name), IOOptions(), &e.lock, nullptr);
  }
  if (!s.ok()) return s;
  if (e.options.info_log == nullptr) {
    Status logged = CreateInfoLog(e.options, e.name, &e.info_log);
    if (!logged.ok()) return logged;
  } else {
    e.info_log = e.options.info_log;
  }
  s = e.fs->NewDirectory(e.name, IOOptions(), &e.directory, nullptr);
  if (s.ok()) s = e.fs->NewDirectory(e.WalDirectory(), IOOptions(), &e.wal_directory, nullptr);
  return s;
}

void Opener::Unlock() {
  if (e_->lock == nullptr) return;
  const auto unlock = [this] { return e_->fs->UnlockFile(e_->lock, IOOptions(), nullptr); };
  Guarded(unlock).PermitUncheckedError();
  e_->lock = nullptr;
}

Status Opener::FindDatabase() {
  Engine& e = *e_;
  VersionSetOptions options;
  options.db_name = e.name;
  options.fs = e.fs;
  options.file_options = e.file_options;
  options.max_manifest_file_size = e.options.max_manifest_file_size;
  options.check_table_sizes = !e.options.skip_checking_sst_file_sizes_on_db_open;
  options.use_fsync = e.options.use_fsync;
  options.read_only = e.read_only;
  if (request_.repair.has_value()) options.detached_manifest = request_.repair->manifest_number;
  options.write_dbid = e.options.write_dbid_to_manifest;
  options.info_log = e.info_log.get();
  options.clock = e.clock;
  if (!e.read_only) {
    e.marks = std::make_unique<wal::SyncedMarks>(e.fs, e.name, e.clock);
    options.marks = e.marks.get();
  }
  // Before what it is about, which another process may be adding to.
  if (!request_.repair.has_value()) synced_ = wal::ReadSyncedMark(e.fs.get(), e.name);
  e.versions = std::make_unique<VersionSet>(options, &e.mu);
  IOStatus s = e.fs->GetChildren(e.name, IOOptions(), &entries_, nullptr);
  if (!s.ok() || request_.repair.has_value()) return s;
  s = e.fs->FileExists(CurrentFileName(e.name), IOOptions(), nullptr);
  if (s.ok()) {
    if (e.options.error_if_exists && !e.read_only) {
      return Status::InvalidArgument(e.name, "exists (error_if_exists is true)");
    }
    return Status::OK();
  }
  if (!s.IsNotFound()) return s;
  if (e.read_only || !e.options.create_if_missing) {
    return Status::InvalidArgument(e.name, "does not exist: there is no CURRENT");
  }
  return CreateDatabase();
}

// A directory without CURRENT is a new database only if it holds no data: what is left of an
// interrupted creation is a MANIFEST and temporary files.
Status Opener::CreateDatabase() {
  Engine& e = *e_;
  std::string manifests;
  std::string data;
  for (const std::string& entry : entries_) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(entry, &number, &type)) continue;
    if (type == kDescriptorFile) manifests += " " + entry;
    if (type == kTableFile || type == kWalFile || type == kBlobFile) data = entry;
  }
  if (!data.empty()) {
    return Status::Corruption(e.name, "CURRENT is missing, but there is data (" + data +
                                          "); MANIFESTs found:" + manifests +
                                          ". Nothing was changed");
  }
  Status logs = CheckNoLogs(PlaceOfLogs());
  if (!logs.ok()) return logs;
  synced_ = {};  // left of one that was destroyed
  Status found = ReadIdentity(e.fs.get(), e.name, &e.options_db_id);
  if (!found.ok()) e.options_db_id = NewDbId(e.env);
  const std::string& family = kDefaultColumnFamilyName;
  MutexLock lock(&e.mu);
  return e.versions->CreateNew(ToOpen(family, *OptionsOf(family)), e.options_db_id);
}

Status Opener::RecoverVersions() {
  Engine& e = *e_;
  std::vector<FamilyToOpen> wanted;
  for (const ColumnFamilyDescriptor& descriptor : request_.families) {
    wanted.push_back(ToOpen(descriptor.name, descriptor.options));
  }
  std::set<uint64_t> tables;
  for (const std::string& name : entries_) {
    uint64_t number = 0;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == kTableFile) tables.insert(number);
  }
  MutexLock lock(&e.mu);
  Status s = e.versions->Recover(wanted, synced_, tables);
  if (s.ok()) s = CheckMergeOperators(request_, &e);
  if (!s.ok()) return s;
  if (e.options.max_open_files > 0) {
    e.limited_tables =
        TableCache::NewLimitedCache(static_cast<int>(TablesFor(e.options.max_open_files)));
  }
  for (const ColumnFamilyDescriptor& descriptor : request_.families) {
    std::shared_ptr<FamilyVersions> versions = e.versions->FindFamily(descriptor.name);
    if (versions == nullptr) {
      if (e.options.create_missing_column_families && !e.read_only) continue;
      return Status::InvalidArgument(
          "column family not found (create_missing_column_families is false)", descriptor.name);
    }
    e.families.Add(MakeFamily(&e, std::move(versions), descriptor.options));
  }
  return Status::OK();
}

const ColumnFamilyOptions* Opener::OptionsOf(const std::string& family) const {
  for (const ColumnFamilyDescriptor& descriptor : request_.families) {
    if (descriptor.name == family) return &descriptor.options;
  }
  return nullptr;
}

LogPlace Opener::PlaceOfLogs() const {
  const Engine& e = *e_;
  return {e.fs.get(), e.LogFileOptions(), e.name, e.WalDirectory(), was_locked_};
}

Status Opener::ReplayLogs() {
  Engine& e = *e_;
  e.logs = std::make_unique<LogSet>(e.options.use_fsync, e.marks.get());
  std::vector<std::string> names;
  IOStatus io = e.fs->GetChildren(e.WalDirectory(), IOOptions(), &names, nullptr);
  if (!io.ok()) return io;
  const uint64_t min_log =
      std::max(e.versions->MinLogNumber(), e.versions->min_log_number_to_keep());
  e.versions->set_min_log_number_to_keep(min_log);
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || type != kWalFile) continue;
    if (number > kMaxFoundFileNumber) continue;  // nobody has made that
    if (!e.read_only) e.versions->MarkFileNumberUsed(number);
    if (number >= min_log) log_numbers_.push_back(number);
  }
  // It may come back.
  if (!e.read_only && synced_.log <= kMaxFoundFileNumber)
    e.versions->MarkFileNumberUsed(synced_.log);
  for (const std::string& name : entries_) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || number > kMaxFoundFileNumber) continue;
    if (type != kTableFile && type != kOptionsFile) continue;
    // A table that no MANIFEST names keeps its number: it is set aside, not written over. And the
    // newest OPTIONS file has the largest.
    if (!e.read_only) e.versions->MarkFileNumberUsed(number);
  }
  std::sort(log_numbers_.begin(), log_numbers_.end());
  if (Status s = CheckLogDirectory(PlaceOfLogs(), log_numbers_, min_log); !s.ok()) return s;
  if (request_.error_if_wal_file_exists && !log_numbers_.empty()) {
    return Status::Corruption(e.WalDirectory(), "holds logs, and error_if_wal_file_exists is set");
  }
  const bool repairs = request_.repair.has_value();
  replay_ = std::make_unique<LogReplay>(&e, synced_, repairs);
  Status s = replay_->Run(log_numbers_, min_log);
  if (s.ok() && !repairs && (log_numbers_.empty() || log_numbers_.front() != min_log)) {
    const ReplayedRange replayed{replay_->first_sequence(), replay_->max_sequence()};
    s = CheckManifestIsNotStale(e, entries_, replayed);
  }
  if (s.ok())
    e.versions->set_last_sequence(std::max(e.versions->last_sequence(), replay_->max_sequence()));
  return s;
}

// From here on files are written: tables of what was replayed, a log, a MANIFEST.
Status Opener::Install() {
  Engine& e = *e_;
  const bool keep_logs = e.options.avoid_flush_during_recovery && !replay_->wrote_tables() &&
                         replay_->damaged_logs().empty() && !replay_->stopped_early();
  Status s;
  if (!keep_logs) s = replay_->FlushRest();
  if (!s.ok()) return s;
  BestEffort([&e] { ReadUnknownCounts(&e); });
  MutexLock lock(&e.mu);
  if (keep_logs) s = KeepLogs();
  if (!s.ok()) return s;
  s = e.flush->StartNewLog(/*force=*/true);
  // The MANIFEST is about to ask for it. In the database's own directory both names go together.
  if (s.ok() && e.WalDirectory() != e.name) s = e.logs->SyncNames();
  if (!s.ok()) return s;
  if (e.versions->db_id().empty()) {
    std::string id;
    if (!ReadIdentity(e.fs.get(), e.name, &id).ok()) id = NewDbId(e.env);
    e.versions->set_db_id(id);
  }
  for (const auto& [first, end] : replay_->UnreadLogs(e.logs->current_number())) {
    e.versions->NoteUnreadLogs(first, end);
  }
  std::vector<FamilyEdit> edits;
  std::vector<std::unique_ptr<VersionEdit>> owned;
  for (const auto& [id, family] : e.families.all()) {
    auto edit = std::make_unique<VersionEdit>();
    auto it = replay_->edits().find(id);
    if (it != replay_->edits().end()) *edit = it->second;
    edit->column_family = id;
    if (!keep_logs || family->mem()->Empty()) edit->log_number = e.logs->current_number();
    const std::string merge_operator = MergeOperatorName(*family->options());
    if (!merge_operator.empty() && merge_operator != family->versions()->merge_operator) {
      edit->merge_operator = merge_operator;
    }
    edits.push_back(FamilyEdit{family->versions(), {edit.get()}});
    owned.push_back(std::move(edit));
  }
  s = e.versions->LogAndApply(std::move(edits), e.directory.get(), /*new_manifest=*/true);
  if (s.ok()) s = CreateMissingFamilies();
  lock.Unlock();
  if (s.ok()) e.marks->Begin();  // what the old ones told of is in force, or was lost
  if (s.ok() && e.options.write_identity_file) {
    std::string id;
    if (!ReadIdentity(e.fs.get(), e.name, &id).ok() || id != e.versions->db_id()) {
      s = WriteIdentity(e.fs.get(), e.name, e.versions->db_id());
    }
  }
  return s.ok() && !request_.repair.has_value() ? Sweep() : s;
}

// Of what earlier openings left.
Status Opener::Sweep() {
  Engine& e = *e_;
  const bool reserved =
      std::find(entries_.begin(), entries_.end(), kReserveFileName) != entries_.end();
  if (reserved && e.options.reserve_bytes == 0) SpaceReserve::RemoveFile(&e);
  return e.obsolete->SweepAtOpen(entries_, replay_->damaged_logs(), empty_logs_, &e.recovery);
}

// The logs that were replayed stay, but for those without batches, of which each opening would
// leave one. They end where their last records do: zeros behind them, which a
// mapped log that was not closed has, are no business of other readers.
Status Opener::KeepLogs() {
  Engine& e = *e_;
  // Between logs that stay, one without batches may be what the next one's mark asks for.
  uint64_t last_held = 0;
  for (uint64_t number : log_numbers_) {
    if (replay_->HeldBatches(number)) last_held = number;
  }
  for (uint64_t number : log_numbers_) {
    const std::string path = LogFileName(e.WalDirectory(), number);
    if (number > last_held) {
      empty_logs_.push_back(path);
      continue;
    }
    const uint64_t end = replay_->LogEnd(number);
    uint64_t bytes = 0;
    IOStatus s = e.fs->GetFileSize(path, IOOptions(), &bytes, nullptr);
    if (s.ok() && bytes > end) s = e.fs->Truncate(path, end, IOOptions(), nullptr);
    if (s.IsNotSupported()) s = IOStatus::OK();  // nothing was ever mapped on such a file system
    // Later syncs cover new logs only: what this one holds must be durable before they promise
    // more.
    if (s.ok()) {
      s = e.fs->SyncFile(path, e.LogFileOptions(), IOOptions(), e.options.use_fsync, nullptr);
    }
    if (!s.ok()) return s;
    e.logs->AddRecovered(number, end);
  }
  return Status::OK();
}

Status Opener::CreateMissingFamilies() {
  Engine& e = *e_;
  for (const ColumnFamilyDescriptor& descriptor : request_.families) {
    if (e.families.FindByName(descriptor.name) != nullptr) continue;
    std::shared_ptr<FamilyVersions> versions;
    Status s = AddFamily(&e, ToOpen(descriptor.name, descriptor.options), &versions);
    if (!s.ok()) return s;
    e.families.Add(MakeFamily(&e, std::move(versions), descriptor.options));
  }
  return Status::OK();
}

Status Opener::Start() {
  Engine& e = *e_;
  e.host = std::make_unique<WriteHost>(&e);
  e.admission = std::make_unique<WriteAdmission>(&e);
  CommitOptions commit;
  if (e.options.unordered_write) commit.mode = CommitMode::kUnordered;
  commit.insert_one_at_a_time = !e.options.allow_concurrent_memtable_write;
  e.commit = NewCommitPath(commit, e.host.get(), e.versions->last_sequence());
  {
    MutexLock lock(&e.mu);
    for (const auto& [id, family] : e.families.all()) family->InstallSuperVersion();
    e.UpdateStalls();
  }
  if (e.read_only) return Status::OK();
  e.write_buffer_manager->Join(e.flush.get());
  if (request_.repair.has_value()) return Status::OK();
  return OptionsChanged(&e);
}

}  // namespace

Status OptionsChanged(Engine* engine) {
  const Status s = Guarded([engine] { return engine->options_keeper->Changed(); });
  return engine->options.fail_if_options_file_error ? s : Status::OK();
}

void StartBackgroundWork(Engine* engine) {
  Engine& e = *engine;
  if (e.read_only) return;
  if (e.options.reserve_bytes > 0) e.reserve = std::make_unique<SpaceReserve>(&e);
  MutexLock lock(&e.mu);
  e.env->IncBackgroundThreadsIfNeeded(e.MaxFlushes(), Env::Priority::HIGH);
  e.env->IncBackgroundThreadsIfNeeded(e.MaxCompactions(), Env::Priority::LOW);
  e.obsolete->StartListening();
  e.obsolete->Purge();
  e.compaction->ScheduleAll();
  MutexUnlock unlock(&e.mu);
  if (e.options.scrub_bytes_per_second > 0) {
    e.scrubber = std::make_unique<Scrubber>(&e);
    e.scrubber->Start();
  }
}

std::shared_ptr<ColumnFamily> MakeFamily(Engine* engine, std::shared_ptr<FamilyVersions> versions,
                                         const ColumnFamilyOptions& options) {
  Engine& e = *engine;
  FamilyEnvironment env;
  env.db_mutex = std::shared_ptr<Mutex>(e.shared_from_this(), &e.mu);
  env.versions = e.versions.get();
  env.stable_sequence = [engine] {
    engine->commit->WaitUntilVisible();
    return engine->versions->last_sequence();
  };
  env.oldest_snapshot = [engine] { return engine->snapshots.oldest(); };
  env.await_snapshots = [engine](SequenceNumber seq) { return engine->snapshots.AwaitOldest(seq); };
  env.write_buffer_manager = e.write_buffer_manager;
  env.clock = e.clock;
  env.info_log = e.info_log.get();
  env.holders = &e.holders;
  env.table_cache.db_path = e.name;
  env.table_cache.fs = e.fs;
  env.table_cache.file_options = e.file_options;
  env.table_cache.statistics = e.statistics;
  env.table_cache.clock = e.clock;
  env.table_cache.limited = e.limited_tables;
  env.table_cache.verify_unique_id = e.options.verify_sst_unique_id_in_manifest;
  auto family = std::make_shared<ColumnFamily>(
      std::move(versions),
      std::make_shared<const ColumnFamilyOptions>(SanitizeFamilyOptions(e.options, options)), env);
  family->SwitchMemTable(family->NewMemTable(e.versions->last_sequence() + 1), 0);
  return family;
}

Status OpenEngine(const OpenRequest& request, std::shared_ptr<Engine>* engine) {
  OpenRequest with_caches = request;
  for (ColumnFamilyDescriptor& family : with_caches.families) GiveBlockCache(&family.options);
  return Opener(with_caches).Run(engine);
}

Status CreateFamilyInEngine(Engine* engine, const std::string& name,
                            const ColumnFamilyOptions& given,
                            std::unique_ptr<ColumnFamilyHandle>* handle) {
  Engine& e = *engine;
  Status s = CheckFamilyName(name);
  if (s.ok()) s = CheckFamilyOptions(e.options, given);
  if (!s.ok()) return s;
  ColumnFamilyOptions options = given;
  GiveBlockCache(&options);
  MutexLock lock(&e.mu);
  if (e.families.FindByName(name) != nullptr) {
    return Status::InvalidArgument("create column family: it exists already", name);
  }
  std::shared_ptr<FamilyVersions> versions;
  s = AddFamily(&e, ToOpen(name, options), &versions);
  if (s.IsInvalidArgument()) return s;  // nothing was written
  if (!s.ok()) return e.ReportedError(s, BackgroundErrorReason::kManifestWrite);
  s = Guarded([&] {
    std::shared_ptr<ColumnFamily> family = MakeFamily(&e, versions, options);
    family->InstallSuperVersion();
    *handle = std::make_unique<ColumnFamilyHandleImpl>(family);
    e.families.Add(std::move(family));
  });
  if (s.ok()) return s;
  // The MANIFEST has a family that nobody could reach.
  handle->reset();
  Status dropped = e.versions->DropFamily(versions.get(), e.directory.get());
  if (!dropped.ok()) e.ReportError(dropped, BackgroundErrorReason::kManifestWrite);
  return s;
}

namespace {

// What no log holds goes into tables, also when background work was paused or cancelled before.
Status FlushForClose(Engine* engine) {
  Engine& e = *engine;
  {
    MutexLock lock(&e.mu);
    if (e.dynamic->avoid_flush_during_shutdown) return Status::OK();
  }
  return e.flush->FlushAllHere(FlushReason::kShutDown);
}

}  // namespace

namespace {

// True for the one who closes, when nobody enters any more. All others wait until that is done, or
// are told what stands against it.
bool BeginClose(Engine* engine, WhenHeld when, Status* status) try {
  Engine& e = *engine;
  MutexLock lock(&e.mu);
  const auto somebody_is_at_it = [&] {
    return e.closing == Engine::Closing::kUnderWay ||
           (e.closing == Engine::Closing::kNo && when == WhenHeld::kRefuse && e.wal_locking);
  };
  while (somebody_is_at_it()) e.background_changed.Wait();
  if (e.closing == Engine::Closing::kOver) {
    *status = e.close_status;
    return false;
  }
  if (when == WhenHeld::kRefuse) {
    if (e.snapshots.count() > 0) {
      *status = Status::Aborted("close: not given back are", DescribeHolders(e));
    } else if (e.wal_locked > 0) {
      *status = Status::Aborted("close: LockWAL is in force");
    }
    if (!status->ok()) return false;
  }
  e.closing = Engine::Closing::kUnderWay;
  e.closed.store(true, std::memory_order_release);
  if (!VARVE_CANARY(kCallsBesideClose)) e.calls.Shut();
  return true;
} catch (...) {
  *status = CaughtException();
  return false;
}

// What was inside when Close began has ended when this returns, writes and all other calls.
Status EndCalls(Engine* engine) {
  Engine& e = *engine;
  // What writes have left is flushed.
  e.commit->Shutdown();
  Status s;
  if (!e.read_only && e.has_unlogged_data.load(std::memory_order_acquire)) {
    s = Guarded([&e] { return FlushForClose(&e); });
  }
  {
    MutexLock lock(&e.mu);
    e.shutting_down.store(true, std::memory_order_release);
    e.TakeBackJobs();
    e.WriteRefusal().PermitUncheckedError();
    e.background_changed.SignalAll();
  }
  if (!VARVE_CANARY(kCallsBesideClose)) e.calls.WaitUntilAllLeft();
  return s;
}

}  // namespace

Status CloseEngine(Engine* engine, WhenHeld when) noexcept {
  Engine& e = *engine;
  Status s;
  if (!BeginClose(engine, when, &s)) return s;
  s = EndCalls(engine);
  if (e.scrubber != nullptr) e.scrubber->Stop();
  if (e.periodic != nullptr) e.periodic->Stop();
  const Status options = e.options_keeper->Stop();
  if (e.options.fail_if_options_file_error) s.UpdateIfOk(options);
  if (e.recovery_work != nullptr) e.recovery_work->Stop();
  e.write_buffer_manager->Leave(e.flush.get());
  {
    MutexLock lock(&e.mu);
    while (e.flush->scheduled() > 0 || e.compaction->Running() > 0) e.background_changed.Wait();
    e.flush->ClearQueue();
  }
  if (!e.read_only) {
    e.obsolete->Stop();
    s.UpdateIfOk(Guarded([&e] { return e.logs->CloseAll(/*sync=*/true); }));
    s.UpdateIfOk(Guarded([&e] { e.obsolete->DeleteKeptLogs(); }));
    const auto close_manifest = [&e] {
      MutexLock lock(&e.mu);
      return e.versions->CloseManifest();
    };
    s.UpdateIfOk(Guarded(close_manifest));
  }
  if (e.lock != nullptr) {
    s.UpdateIfOk(Guarded([&e] { return e.fs->UnlockFile(e.lock, IOOptions(), nullptr); }));
    e.lock = nullptr;
  }
  BestEffort([&] { LogInfo(e.info_log.get(), "closed: %s", s.ToString().c_str()); });
  MutexLock lock(&e.mu);
  BestEffort([&] { e.close_status = s; });
  e.closing = Engine::Closing::kOver;
  // Whoever keeps the closed database keeps nobody's work in a hurry.
  e.flush_haste.Set(Haste::kCalm);
  e.compaction_haste.Set(Haste::kCalm);
  e.background_changed.SignalAll();
  return s;
}

}  // namespace varve
