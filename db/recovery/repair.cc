// SPDX-License-Identifier: Apache-2.0

// A repair makes a database of what a planner has found readable (repair_plan.h), in such a way
// that a crash, at any moment, leaves the old database, or one that refuses to open until the next
// repair, or the new one. The comment of Repairer has the steps, and what a crash between them
// leaves.
//
// Invariants
// 1. No data that was found is lost: what the new state does not need moves to lost/. Only notes
//    are deleted: traces and records of repairs, and the synced marks of the old state.
// 2. The old CURRENT names the old state until step 3, and nobody can open a half-made one after
//    that: CURRENT is missing until step 5 names the new MANIFEST.
// 3. Files that the repair creates have numbers above all that were found, so an undo knows them by
//    their numbers alone (SetAsideFrom).
// 4. A trace is believed only as long as CURRENT is as it says, and no MANIFEST is newer than the
//    one that it names: otherwise an opening has written since, and undoing would destroy its work.
// 5. The new state is made by an ordinary opening of the planned MANIFEST, with its own replay of
//    logs. No second code decides what a log means.
// 6. The locks of the database and of its directory of logs are held from the planning to the end.

#include "db/recovery/repair.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/engine/output_options.h"
#include "db/recovery/close.h"
#include "db/recovery/database_directory.h"
#include "db/recovery/families.h"
#include "db/recovery/identity.h"
#include "db/recovery/log_directory_lock.h"
#include "db/recovery/open.h"
#include "db/recovery/repair_manifest.h"
#include "db/recovery/repair_plan.h"
#include "db/recovery/sanitize.h"
#include "db/recovery/start_work.h"
#include "db/recovery/table_directories.h"
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

// Maximum size of CURRENT; a longer one names no MANIFEST.
constexpr uint64_t kMaxCurrentTextBytes = 1000;
// Beginnings of the file of step 1 and of its version in step 5, in which the name of the MANIFEST
// follows.
constexpr std::string_view kTraceHeader = "a repair is under way; CURRENT before:\n";
constexpr std::string_view kLastTraceHeader = "a repair comes into force with ";
constexpr std::string_view kLastTraceHeaderEnd = "; CURRENT before:\n";
constexpr uint64_t kMaxTraceBytes = 100 + kMaxCurrentTextBytes;

// Parses the text that WriteTrace wrote. Returns false if it is something else.
bool ParseTrace(std::string_view text, std::string* current_before, uint64_t* manifest) {
  *manifest = 0;
  if (text.starts_with(kTraceHeader)) {
    *current_before = text.substr(kTraceHeader.size());
    return true;
  }
  const size_t end = text.find(kLastTraceHeaderEnd);
  if (!text.starts_with(kLastTraceHeader) || end == std::string_view::npos) return false;
  const std::string name(text.substr(kLastTraceHeader.size(), end - kLastTraceHeader.size()));
  FileType type;
  if (!ParseFileName(name, manifest, &type) || type != kDescriptorFile) return false;
  *current_before = text.substr(end + kLastTraceHeaderEnd.size());
  return true;
}

// The steps, and what a crash between them leaves:
// 1. lost/<N>.dbtmp records that a repair is under way which creates files from number N on, and
//    the old contents of CURRENT. Without it, or once CURRENT has other contents, or there is a
//    newer MANIFEST than that of step 5, there is nothing to undo: the repair is done, or an
//    opening has created files since. An opening deletes it.
// 2. Tables of the MANIFEST that are in lost/ are moved to their places; copies of damaged tables
//    and a MANIFEST with the tree are written, which nothing names yet.
// 3. CURRENT moves to lost/: from now on every opening fails with "CURRENT is missing".
// 4. The directory is opened from that MANIFEST: logs become tables, a MANIFEST is written. Tables
//    whose order is in doubt are merged.
// 5. The file of step 1 names the last MANIFEST, and then CURRENT does. The repair is done.
// 6. The synced marks of before are deleted, and files that the tree does not need move to lost/;
//    last the file of step 1 is deleted. Marks that a crash leaves name no file of the new state,
//    whose numbers are larger.
// A repair that fails before step 5 is undone at once, an interrupted one by the next repair.
class Repairer {
 public:
  Repairer(const RepairRequest& request, RepairReport* report)
      : request_(request), report_(report), name_(request.name) {}

  Status Run();

 private:
  Status Prepare();
  Status RunLocked();
  Status Make();
  Status UndoUnfinished();
  Status UndoOne(const std::string& trace, uint64_t first);
  Status WriteTrace(std::string_view header);
  Status HasManifestAfter(uint64_t number, bool* has);
  Status SetAsideFrom(uint64_t first);
  Status ReadCurrentText(const std::string& directory, std::string* text);
  Status CheckHealthy();
  Status Begin();
  Status BringBack();
  Status CopyDamaged();
  Status CopyOne(uint32_t id, PlannedFamily* family, const PlannedFamily::Copy& copy);
  Status HideCurrent();
  Status ShowCurrent();
  Status Reopen();
  Status FindTableDirectories();
  Status MergeDisordered();
  bool IsDisordered(const ColumnFamily& family) const VARVE_REQUIRES(kDbMutex);
  Status CloseMade();
  void DropEngine();
  Status RememberMissing();
  Status Publish();
  Status SetAsideLeftovers();
  Status SetAside(const std::string& directory, const std::string& file);
  OpenRequest MakeOpening() const;
  std::string WalDirectory() const {
    return request_.options.wal_dir.empty() ? name_ : request_.options.wal_dir;
  }
  std::string Lost() const { return name_ + "/lost"; }
  // Returns all directories of the database.
  std::set<std::string> Directories() const {
    std::set<std::string> all = table_directories_;
    all.insert(name_);
    all.insert(WalDirectory());
    return all;
  }

  // True if files of that type in the directory belong to the database.
  bool Holds(const std::string& directory, FileType type) const {
    if (type == kWalFile) return directory == WalDirectory();
    if (type == kDescriptorFile) return directory == name_;
    return (type == kTableFile || type == kBlobFile) &&
           (directory == name_ || table_directories_.contains(directory));
  }

  const RepairRequest& request_;
  RepairReport* const report_;
  const std::string name_;
  DBOptions options_;
  std::shared_ptr<FileSystem> fs_;
  std::set<std::string> table_directories_;  // Besides the database's own.
  RepairPlan plan_;
  uint64_t first_number_ = 0;   // First number of the files that the repair creates.
  std::string current_before_;  // Old contents of CURRENT.
  uint64_t replay_number_ = 0;  // Tables made from logs have numbers from this one on.
  std::shared_ptr<Engine> engine_;
  // Numbers of the files of the new state, which CloseMade takes and which do not move to lost/:
  // tables and blob files, the MANIFEST, and the oldest log that it needs.
  std::set<uint64_t> live_tables_;
  uint64_t live_manifest_ = 0;
  uint64_t live_log_ = 0;
  bool was_locked_ = false;  // True if there was a LOCK file (LogLocation::was_locked).
  std::optional<LogDirectoryLock> logs_lock_;
};

// Derives the options of the repair from those of the request, and finds the table directories.
// Returns NotFound if the directory has no file of a database, besides LOG files and a LOCK.
// Changes nothing and takes no lock.
Status Repairer::Prepare() {
  if (name_.empty()) return Status::InvalidArgument("repair: the database's name is empty");
  options_ = SanitizeOptions(name_, request_.options);
  // Listeners are not called before the repair is done.
  options_.listeners.clear();
  options_.scrub_bytes_per_second = 0;
  options_.reserve_bytes = 0;
  options_.create_if_missing = false;
  options_.error_if_exists = false;
  options_.recycle_log_file_num = 0;
  // Logs must become tables: openings would refuse what a repair tolerates in them.
  options_.avoid_flush_during_recovery = false;
  options_.best_efforts_recovery = false;
  if (options_.wal_recovery_mode != WALRecoveryMode::kSkipAnyCorruptedRecords) {
    options_.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  }
  fs_ = options_.env->GetFileSystem();
  VARVE_RETURN_IF_ERROR(FindTableDirectories());
  std::vector<std::string> entries;
  VARVE_RETURN_IF_ERROR(fs_->GetChildren(name_, IOOptions(), &entries, nullptr));
  for (const auto& [entry, number, type] : FilesAmong(entries)) {
    if (type != kInfoLogFile && type != kDBLockFile) return Status::OK();
  }
  return Status::NotFound("repair: no database here", name_);
}

// Collects the table directories that exist; a missing one has nothing to repair. A directory that
// is another database's own is refused, because the owners of the files in it are unknown.
Status Repairer::FindTableDirectories() {
  std::vector<ColumnFamilyDescriptor> families = request_.column_families;
  if (request_.unknown_cf_opts != nullptr) families.emplace_back("", *request_.unknown_cf_opts);
  VARVE_RETURN_IF_ERROR(CheckNotOfAnother(fs_.get(), name_, WalDirectory(), "logs"));
  for (const std::string& directory : TableDirectories(name_, options_, families)) {
    VARVE_RETURN_IF_ERROR(CheckNotOfAnother(fs_.get(), name_, directory, "tables"));
    const IOStatus s = fs_->FileExists(directory, IOOptions(), nullptr);
    if (s.ok()) table_directories_.insert(directory);
    if (!s.ok() && !IsMissing(s)) return s;
  }
  return Status::OK();
}

// Runs the repair under both locks. The engine of step 4 is closed before they are released,
// because its threads write to the directory.
Status Repairer::Run() {
  VARVE_RETURN_IF_ERROR(Prepare());
  was_locked_ = fs_->FileExists(LockFileName(name_), IOOptions(), nullptr).ok();
  FileLock* lock = nullptr;
  VARVE_RETURN_IF_ERROR(fs_->LockFile(LockFileName(name_), IOOptions(), &lock, nullptr));
  Status s = Guarded([this]() -> Status {
    logs_lock_.emplace(fs_.get());
    VARVE_RETURN_IF_ERROR(logs_lock_->Take(name_, WalDirectory()));
    return RunLocked();
  });
  DropEngine();
  logs_lock_.reset();
  IOStatus unlocked = fs_->UnlockFile(lock, IOOptions(), nullptr);
  return s.ok() ? unlocked : s;
}

// The rest of an interrupted repair is undone first, so that the plan sees the database as it was.
// A plan without anything to do is checked by an opening, because a database may be damaged in ways
// that a survey does not see.
Status Repairer::RunLocked() {
  VARVE_RETURN_IF_ERROR(UndoUnfinished());
  RepairPlanner planner(fs_.get(), name_, options_, &request_.column_families,
                        request_.unknown_cf_opts, was_locked_);
  planner.SetTableDirectories(table_directories_);
  VARVE_RETURN_IF_ERROR(planner.Run(&plan_, report_));
  if (!plan_.needs_repair) VARVE_RETURN_IF_ERROR(CheckHealthy());
  if (report_->healthy || request_.repair.dry_run) return Status::OK();
  Status s = Make();
  if (s.ok()) s = Publish();
  if (s.ok()) return s;
  DropEngine();
  UndoUnfinished().PermitUncheckedError();  // Otherwise the next repair does it.
  return s;
}

// Takes the steps 1 to 4 (see the comment of Repairer): everything but bringing the repair into
// force. Of the old database, only tables from lost/ are back at their places, and CURRENT is in
// lost/ at the end.
Status Repairer::Make() {
  VARVE_RETURN_IF_ERROR(Begin());
  VARVE_RETURN_IF_ERROR(MakeDirectoryDurably(fs_.get(), WalDirectory()));
  VARVE_RETURN_IF_ERROR(logs_lock_->Take(name_, WalDirectory()));
  VARVE_RETURN_IF_ERROR(BringBack());
  VARVE_RETURN_IF_ERROR(CopyDamaged());
  const uint64_t manifest = plan_.next_file_number++;
  VARVE_RETURN_IF_ERROR(WriteRepairManifest(fs_.get(), name_, plan_, manifest));
  VARVE_RETURN_IF_ERROR(HideCurrent());
  live_manifest_ = manifest;
  VARVE_RETURN_IF_ERROR(Reopen());
  VARVE_RETURN_IF_ERROR(MergeDisordered());
  return CloseMade();
}

// Reads CURRENT in that directory. The text is empty if it cannot name a MANIFEST.
Status Repairer::ReadCurrentText(const std::string& directory, std::string* text) {
  const Status s =
      ReadFileToString(fs_.get(), CurrentFileName(directory), kMaxCurrentTextBytes, text);
  if (!s.ok()) text->clear();
  return IsMissing(s) || s.IsCorruption() ? Status::OK() : s;
}

// Undoes what interrupted repairs have left: each has a trace in lost/, the file of step 1. With
// dry_run nothing is changed, and Incomplete says that there is something to undo.
Status Repairer::UndoUnfinished() {
  std::vector<std::string> names;
  IOStatus s = fs_->GetChildren(Lost(), IOOptions(), &names, nullptr);
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  for (const auto& [name, first, type] : FilesAmong(names, kTempFile)) {
    VARVE_RETURN_IF_ERROR(UndoOne(Lost() + "/" + name, first));
  }
  return Status::OK();
}

// The old contents of CURRENT decide whether there is something to undo: if CURRENT has them still,
// or is hidden, the repair never came into force. Then its files, numbered from `first` on, are set
// aside, and CURRENT returns. Otherwise only its trace is deleted. If this fails, the trace is
// still there, and the next repair begins the undoing anew.
Status Repairer::UndoOne(const std::string& trace, uint64_t first) {
  std::string text;
  const Status s = ReadFileToString(fs_.get(), trace, kMaxTraceBytes, &text);
  if (!s.ok() && !s.IsCorruption()) return s;
  std::string before;
  uint64_t manifest = 0;
  bool used_since = false;
  const bool begun = ParseTrace(text, &before, &manifest);
  if (manifest != 0) VARVE_RETURN_IF_ERROR(HasManifestAfter(manifest, &used_since));
  if (begun && !used_since) {
    std::string current;
    std::string hidden;
    VARVE_RETURN_IF_ERROR(ReadCurrentText(name_, &current));
    VARVE_RETURN_IF_ERROR(ReadCurrentText(Lost(), &hidden));
    const bool hides = current.empty() && !before.empty() && hidden == before;
    if (current == before || hides) {
      if (request_.repair.dry_run) {
        return Status::Incomplete("repair: one that was interrupted has to be made first", name_);
      }
      VARVE_RETURN_IF_ERROR(SetAsideFrom(first));
    }
    if (hides) VARVE_RETURN_IF_ERROR(ShowCurrent());
  }
  if (request_.repair.dry_run) return Status::OK();
  // Without the trace nothing could bring CURRENT back, so its name is durable first.
  VARVE_RETURN_IF_ERROR(SyncDirectory(fs_.get(), name_));
  VARVE_RETURN_IF_ERROR(fs_->DeleteFile(trace, IOOptions(), nullptr));
  return SyncDirectory(fs_.get(), Lost());
}

// Sets *has to whether there is a MANIFEST with a larger number: then an opening has written since,
// because each that writes makes a MANIFEST.
Status Repairer::HasManifestAfter(uint64_t number, bool* has) {
  std::vector<std::string> entries;
  VARVE_RETURN_IF_ERROR(fs_->GetChildren(name_, IOOptions(), &entries, nullptr));
  *has = std::ranges::any_of(FilesAmong(entries, kDescriptorFile),
                             [number](const NamedFile& file) { return file.number > number; });
  return Status::OK();
}

// Moves the files that a repair creates, with numbers from `first` on, to lost/. Deletes nothing:
// if the trace should be wrong, the files are still there.
Status Repairer::SetAsideFrom(uint64_t first) {
  for (const std::string& directory : Directories()) {
    std::vector<std::string> entries;
    const IOStatus s = fs_->GetChildren(directory, IOOptions(), &entries, nullptr);
    if (!s.ok() && !IsMissing(s)) return s;
    for (const auto& [entry, number, type] : FilesAmong(entries)) {
      if (number < first) continue;
      if (Holds(directory, type)) VARVE_RETURN_IF_ERROR(SetAside(directory, entry));
    }
  }
  return Status::OK();
}

Status Repairer::ShowCurrent() {
  return fs_->RenameFile(Lost() + "/CURRENT", CurrentFileName(name_), IOOptions(), nullptr);
}

OpenRequest Repairer::MakeOpening() const {
  OpenRequest opening;
  opening.options = options_;
  opening.name = name_;
  for (const auto& [id, family] : plan_.families) {
    opening.families.emplace_back(family.state.name, family.options);
  }
  return opening;
}

// Called when all files were read and found sound. The database is healthy if an opening in the
// strictest mode succeeds as well; a read-only one takes no lock and writes nothing. Corruption is
// no error here: report_->healthy stays false, and the repair goes on.
Status Repairer::CheckHealthy() {
  OpenRequest opening = MakeOpening();
  opening.read_only = true;
  opening.options.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  std::shared_ptr<Engine> engine;
  const Status s = OpenEngine(opening, &engine);
  if (s.IsCorruption()) return Status::OK();
  VARVE_RETURN_IF_ERROR(s);
  report_->healthy = true;
  VARVE_RETURN_IF_ERROR(CloseEngine(engine.get()));
  ReleaseFamilies(engine.get());
  return Status::OK();
}

// Step 1. Reserves the numbers of the trace, from which on all files of the repair are numbered.
Status Repairer::Begin() {
  VARVE_ASSERT(first_number_ == 0 && plan_.next_file_number > 0);
  first_number_ = plan_.next_file_number;
  plan_.next_file_number += 2;  // The second is that of the trace's temporary file.
  VARVE_RETURN_IF_ERROR(fs_->CreateDirIfMissing(Lost(), IOOptions(), nullptr));
  VARVE_RETURN_IF_ERROR(SyncDirectory(fs_.get(), name_));
  VARVE_RETURN_IF_ERROR(ReadCurrentText(name_, &current_before_));
  return WriteTrace(kTraceHeader);
}

Status Repairer::WriteTrace(std::string_view header) {
  const std::string trace = std::to_string(first_number_) + ".dbtmp";
  const std::string temporary = std::to_string(first_number_ + 1) + ".dbtmp";
  return WriteFileDurably(fs_.get(), Lost(), temporary, trace,
                          std::string(header) + current_before_);
}

// Moves tables back to where the MANIFEST has them, where they stay even if the repair fails.
Status Repairer::BringBack() {
  for (const auto& [from, to] : plan_.returning) {
    VARVE_RETURN_IF_ERROR(fs_->RenameFile(from, to, IOOptions(), nullptr));
    VARVE_RETURN_IF_ERROR(SyncDirectory(fs_.get(), to.substr(0, to.rfind('/'))));
    VARVE_RETURN_IF_ERROR(SyncDirectory(fs_.get(), from.substr(0, from.rfind('/'))));
  }
  return Status::OK();
}

Status Repairer::CopyDamaged() {
  for (auto& [id, family] : plan_.families) {
    for (const PlannedFamily::Copy& copy : family.copies) {
      VARVE_RETURN_IF_ERROR(CopyOne(id, &family, copy));
    }
  }
  return Status::OK();
}

// Writes what can be read of a damaged table to a new table, which gets its place in the tree: the
// level, path and epoch that the MANIFEST has for it, or those that the planner chose. A table
// without a readable entry (NotFound) gets no copy. The damaged one stays where it is until step 6.
Status Repairer::CopyOne(uint32_t id, PlannedFamily* family, const PlannedFamily::Copy& copy) {
  TableSurveyContext context;
  context.fs = fs_.get();
  context.options = &family->options;
  context.icmp = family->icmp.get();
  TableOutputContext output;
  output.paths = family->paths;
  output.fs = fs_;
  output.file_options = FileOptions(options_);
  output.clock = options_.env->GetSystemClock().get();
  output.use_fsync = options_.use_fsync;
  output.checksum_factory = options_.file_checksum_gen_factory.get();
  TableBuildOptions build;
  build.icmp = family->icmp.get();
  build.factory = family->options.table_factory;
  build.compression = family->options.compression;
  build.compression_opts = family->options.compression_opts;
  build.prefix_extractor = family->options.prefix_extractor.get();
  build.column_family_id = id;
  build.column_family_name = family->state.name;
  build.reason = TableFileCreationReason::kRecovery;
  build.file_number = plan_.next_file_number++;
  build.db_id = plan_.manifest.db_id;
  build.db_session_id = NewSessionId(options_.env);
  build.db_host_id = HostNameForTables(options_);
  const NewFile& origin = copy.was_known ? copy.known : copy.damaged.file;
  output.path_id = origin.path_id;
  build.level = origin.level;
  NewFile file;
  file.level = origin.level;
  file.epoch_number = origin.epoch_number;
  const NewFile* const known = copy.was_known ? &copy.known : nullptr;
  const Status s = CopyReadableEntries(context, copy.damaged, known, output, build, &file);
  if (s.IsNotFound()) return Status::OK();
  VARVE_RETURN_IF_ERROR(s);
  plan_.measured_tables.insert(file.number);
  if (!copy.was_known) plan_.found_tables.insert(file.number);
  family->state.files[file.number] = std::move(file);
  return Status::OK();
}

// Step 3. lost/ is synced first: a power loss may leave CURRENT under both names, never under none.
Status Repairer::HideCurrent() {
  const std::string current = CurrentFileName(name_);
  IOStatus s = fs_->FileExists(current, IOOptions(), nullptr);
  if (IsMissing(s)) return Status::OK();
  if (s.ok()) s = fs_->RenameFile(current, Lost() + "/CURRENT", IOOptions(), nullptr);
  if (s.ok()) s = SyncDirectory(fs_.get(), Lost());
  if (s.ok()) s = SyncDirectory(fs_.get(), name_);
  return s;
}

// Step 4, up to the open database. Its threads are started because MergeDisordered compacts. Tables
// that the replay of logs makes get numbers from replay_number_ on.
Status Repairer::Reopen() {
  OpenRequest opening = MakeOpening();
  opening.repair = RepairOpening{live_manifest_};
  VARVE_ASSERT(engine_ == nullptr && live_manifest_ >= first_number_);
  replay_number_ = plan_.next_file_number;
  VARVE_RETURN_IF_ERROR(OpenEngine(opening, &engine_));
  StartBackgroundWork(engine_.get(), nullptr, {});
  return Status::OK();
}

// True if a table that the MANIFEST did not have, or that was made from a log, lies over a table
// whose entries are not all older: then its place in the tree does not tell which data is newer.
// Files are compared in pairs, in the order in which a reader searches them; a repair may take that
// long.
bool Repairer::IsDisordered(const ColumnFamily& family) const {
  const Version& version = *family.versions()->current;
  const InternalKeyComparator& icmp = family.icmp();
  std::vector<FileRef> files;  // Ordered as readers search them.
  for (int level = 0; level < version.num_levels(); level++) {
    const auto& of_level = version.level(level).files();
    files.insert(files.end(), of_level.begin(), of_level.end());
  }
  const auto placed_here = [this](const FileMetaData& file) {
    return plan_.found_tables.count(file.number) > 0 || file.number >= replay_number_;
  };
  for (size_t i = 0; i < files.size(); i++) {
    for (size_t j = i + 1; j < files.size(); j++) {
      const FileMetaData& upper = *files[i];
      const FileMetaData& lower = *files[j];
      if (!placed_here(upper) && !placed_here(lower)) continue;
      if (upper.smallest_seq > lower.largest_seq) continue;
      if (icmp.CompareKey(icmp.KeyOf(upper.smallest), icmp.KeyOf(lower.largest)) <= 0 &&
          icmp.CompareKey(icmp.KeyOf(lower.smallest), icmp.KeyOf(upper.largest)) <= 0) {
        return true;
      }
    }
  }
  return false;
}

// Compacts each family whose order is in doubt into its last level, where sequence numbers alone
// have decided which entries are newer. If the MANIFEST is whole and no given-up table returns,
// every table's place is known and nothing is done.
Status Repairer::MergeDisordered() {
  std::vector<ColumnFamily*> disordered;
  {
    DbLock lock(&engine_->state.mu);
    for (const auto& [id, family] : engine_->state.families.all()) {
      const bool in_doubt = !plan_.manifest.whole || plan_.takes_given_up;
      if (in_doubt && IsDisordered(*family)) disordered.push_back(family.get());
    }
  }
  for (ColumnFamily* family : disordered) {
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    VARVE_RETURN_IF_ERROR(engine_->jobs->compaction.CompactRange(family, all, nullptr, nullptr));
    report_->reordered.push_back(family->name());
  }
  return Status::OK();
}

// The numbers of live files are taken after the closing, when no job changes the tree any more.
Status Repairer::CloseMade() {
  VARVE_ASSERT(engine_ != nullptr);
  Engine& e = *engine_;
  LogWarn(e.context.info_log(), "repair: %s", report_->ToString().c_str());
  VARVE_RETURN_IF_ERROR(CloseEngine(&e));
  {
    DbLock lock(&e.state.mu);
    for (const auto& [id, family] : e.state.families.all()) {
      const Version& version = *family->versions()->current;
      for (int level = 0; level < version.num_levels(); level++) {
        for (const FileRef& file : version.level(level).files()) live_tables_.insert(file->number);
      }
      for (const BlobFileState& file : version.blob_files()) live_tables_.insert(file.number());
    }
    live_manifest_ = e.state.versions->manifest_file_number();
    live_log_ = e.state.versions->MinLogNumber();
  }
  DropEngine();
  return Status::OK();
}

void Repairer::DropEngine() {
  if (engine_ == nullptr) return;
  CloseEngine(engine_.get()).PermitUncheckedError();  // Closes it again if it is closed already.
  ReleaseFamilies(engine_.get());
  engine_.reset();
}

// Writes the tables that this repair gives up to a MANIFEST in lost/ (kGivenUpId), from which a
// later repair may take them back, and deletes the older such records. plan_.missing also has what
// those name and is still missing; tables that this repair has taken back are not in it, so they
// are not taken twice. This is done before the repair comes into force: afterwards a crash would
// leave no trace of what is missing.
Status Repairer::RememberMissing() {
  if (!plan_.missing.empty()) {
    RepairPlan record;
    record.manifest.db_id = kGivenUpId;
    record.families = std::move(plan_.missing);
    // The record takes the number of the trace, which no other MANIFEST has.
    record.next_file_number = first_number_ + 1;
    VARVE_RETURN_IF_ERROR(WriteRepairManifest(fs_.get(), Lost(), record, first_number_));
  }
  for (const uint64_t number : plan_.records) {
    const IOStatus s = fs_->DeleteFile(DescriptorFileName(Lost(), number), IOOptions(), nullptr);
    if (!s.ok() && !IsMissing(s)) return s;
  }
  return plan_.records.empty() ? Status::OK() : SyncDirectory(fs_.get(), Lost());
}

// Steps 5 and 6. The trace names the MANIFEST before CURRENT does: a crash in between leaves no
// CURRENT, and the next repair undoes this one; a crash after it leaves CURRENT changed, and the
// new state stays.
Status Repairer::Publish() {
  VARVE_ASSERT(engine_ == nullptr && live_manifest_ >= first_number_);
  VARVE_RETURN_IF_ERROR(RememberMissing());
  VARVE_RETURN_IF_ERROR(WriteTrace(std::string(kLastTraceHeader) +
                                   DescriptorFileBaseName(live_manifest_) +
                                   std::string(kLastTraceHeaderEnd)));
  VARVE_RETURN_IF_ERROR(SetCurrentFile(fs_.get(), name_, live_manifest_));
  const IOStatus s = fs_->DeleteFile(SyncedMarksFileName(name_), IOOptions(), nullptr);
  if (!s.ok() && !IsMissing(s)) return s;
  VARVE_RETURN_IF_ERROR(SetAsideLeftovers());
  const std::string trace = Lost() + "/" + std::to_string(first_number_) + ".dbtmp";
  VARVE_RETURN_IF_ERROR(fs_->DeleteFile(trace, IOOptions(), nullptr));
  return SyncDirectory(fs_.get(), Lost());
}

// Moves a file to lost/ beneath its directory, durably, and reports it. A file of the same name
// there is replaced.
Status Repairer::SetAside(const std::string& directory, const std::string& file) {
  VARVE_ASSERT(!directory.empty() && !file.empty());
  const std::string lost = directory + "/lost";
  const std::string to = lost + "/" + file;
  VARVE_RETURN_IF_ERROR(fs_->CreateDirIfMissing(lost, IOOptions(), nullptr));
  VARVE_RETURN_IF_ERROR(fs_->RenameFile(directory + "/" + file, to, IOOptions(), nullptr));
  report_->set_aside.push_back(to);
  VARVE_RETURN_IF_ERROR(SyncDirectory(fs_.get(), lost));
  return SyncDirectory(fs_.get(), directory);
}

// Moves the files that the new state does not name to lost/: damaged and unknown tables, MANIFESTs
// but the new one, and logs whose contents are now in tables.
Status Repairer::SetAsideLeftovers() {
  for (const std::string& directory : Directories()) {
    std::vector<std::string> entries;
    VARVE_RETURN_IF_ERROR(fs_->GetChildren(directory, IOOptions(), &entries, nullptr));
    for (const auto& [entry, number, type] : FilesAmong(entries)) {
      if (!Holds(directory, type)) continue;
      const bool is_data = type == kTableFile || type == kBlobFile;
      const bool leftover = (is_data && live_tables_.count(number) == 0) ||
                            (type == kDescriptorFile && number != live_manifest_) ||
                            (type == kWalFile && number < live_log_);
      if (leftover) VARVE_RETURN_IF_ERROR(SetAside(directory, entry));
    }
  }
  return Status::OK();
}

}  // namespace

Status RunRepair(const RepairRequest& request, RepairReport* report) {
  RepairReport unused;
  if (report == nullptr) report = &unused;
  *report = RepairReport();
  Env* const env = request.options.env != nullptr ? request.options.env : Env::Default();
  RepairRequest absolute = request;
  absolute.name = AbsolutePath(env->GetFileSystem().get(), request.name);
  absolute.options = WithAbsolutePaths(env->GetFileSystem().get(), request.options);
  return Repairer(absolute, report).Run();
}

}  // namespace varve
