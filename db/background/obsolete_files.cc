// SPDX-License-Identifier: Apache-2.0

// Files become obsolete while the mutex is held, but are deleted without it. For each file type
// there is a criterion:
//
//     table      no Version has it; the last reference puts it into ObsoleteFileQueue
//     log        each family's log number in the MANIFEST is above it
//     MANIFEST   CURRENT names a newer one
//     other      found at opening only (SweepAtOpen); see FORMAT.md for their names
//
// Rules
// 1. An unexplained file is moved to lost/, because it may be the only copy of some data. Only the
//    oldest files beyond a limit are deleted (SweepAtOpen).
// 2. While file deletions are disabled nothing is deleted; obsolete logs are only closed.
// 3. A table that cannot be deleted is queued again. Other files are found by the next opening.
// 4. Holes in blob files (BlobHoles) are punched by purges, after obsolete tables are deleted.
// 5. Files are removed from the lists by the last steps under the mutex, so that a failed
//    allocation does not lose them.

#include "db/background/obsolete_files.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "db/background/short_jobs.h"
#include "db/engine/event_log.h"
#include "db/engine/events.h"
#include "db/version/table_cache.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/probes.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"
#include "util/env/table_space.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// Limits of the files in lost/ of earlier openings, and of those that one opening adds.
constexpr size_t kLostFilesKept = 100;
constexpr uint64_t kLostBytesKept = uint64_t{4} << 30;

// Returns true for files that an SstFileManager deletes at its rate.
bool IsTableOrTrash(const std::string& path) {
  uint64_t number = 0;
  FileType type;
  return ParseFileName(path.substr(path.rfind('/') + 1), &number, &type) &&
         (type == kTableFile || type == kBlobFile || Slice(path).ends_with(kTrashSuffix));
}

// Exists while holes are punched; made and destroyed under the mutex. Copies wait for its end.
class PunchingNow {
 public:
  explicit PunchingNow(DbState* state) VARVE_REQUIRES(kDbMutex) : state_(*state) {
    state_.blob_holes.BeginPunching();
  }
  ~PunchingNow() VARVE_REQUIRES(kDbMutex) {
    state_.blob_holes.EndPunching();
    state_.work.SignalAll();
  }
  PunchingNow(const PunchingNow&) = delete;
  PunchingNow& operator=(const PunchingNow&) = delete;

 private:
  DbState& state_;
};

// Sets *punched to the number of holes that were punched, which are the first ones. Busy: the file
// has more than one name, and the other one may be that of a checkpoint, whose older state needs
// the bytes. After this check no copy by this process gives the file another name
// (BlobHoles::Hold); the option punch_holes_in_blob_files forbids copies by other processes.
IOStatus PunchInto(FileSystem* fs, const std::string& path, const std::vector<ByteRange>& holes,
                   size_t* punched) {
  *punched = 0;
  uint64_t names = 0;
  IOStatus s = fs->NumFileLinks(path, IOOptions(), &names, nullptr);
  if (s.ok() && names != 1) s = IOStatus::Busy("the file has more than one name");
  for (const ByteRange& hole : holes) {
    if (!s.ok()) return s;
    s = fs->PunchHole(path, hole.begin, hole.bytes(), IOOptions(), nullptr);
    if (s.ok()) ++*punched;
  }
  return s;
}

}  // namespace

void ObsoleteFiles::RetireLogs(std::vector<LogSet::Retired>* logs,
                               std::vector<std::string>* paths) {
  // A log that is archived or reused must not have an open writer.
  LogSet::CloseRetired(logs);
  for (const LogSet::Retired& log : *logs) {
    bool stays = false;
    if (archive_.wanted()) {
      // Some writes to a doubtful log have failed, and its readers could not tell which.
      stays = !log.doubtful && archive_.Take(log.number);
    } else if (log.recyclable) {
      DbLock lock(&with_.state.mu);
      stays = with_.new_logs.Keep(log.number);
    }
    if (!stays) paths->push_back(LogFileName(with_.context.WalDirectory(), log.number));
  }
}

void ObsoleteFiles::CloseObsoleteLogs() {
  const uint64_t min_log = with_.state.versions->min_log_number_to_keep();
  DbUnlock unlock(&with_.state.mu);
  with_.state.logs->CloseKept(min_log);
}

void ObsoleteFiles::DeleteKeptLogs() {
  std::vector<std::string> paths;
  {
    DbLock lock(&with_.state.mu);
    while (const uint64_t number = with_.new_logs.TakeKept()) {
      paths.push_back(LogFileName(with_.context.WalDirectory(), number));
    }
  }
  Delete(paths);
}

void ObsoleteFiles::Delete(const std::vector<std::string>& paths) {
  TableSpace* const space = with_.context.table_space();
  for (const std::string& path : paths) {
    const IOStatus s = space != nullptr && IsTableOrTrash(path)
                           ? space->DeleteLeftover(path)
                           : with_.context.fs()->DeleteFile(path, IOOptions(), nullptr);
    if (IsMissing(s)) continue;
    VARVE_PROBE_FILE_DELETED(path.c_str(), s);
    if (s.ok()) continue;
    LogWarn(with_.context.info_log(), "could not delete obsolete %s: %s", path.c_str(),
            s.ToString().c_str());
  }
}

// A failed deletion is retried by the next purge.
std::vector<uint64_t> ObsoleteFiles::DeleteTables(
    std::vector<std::unique_ptr<FileMetaData>> tables) {
  std::map<std::string, std::vector<uint64_t>> gone;  // keyed by directory
  for (std::unique_ptr<FileMetaData>& table : tables) {
    const Status s = Guarded([&] { return DeleteTable(table.get()); });
    if (!s.ok()) {
      with_.state.versions->obsolete_files()->Requeue(std::move(table));
    } else {
      BestEffort([&] { gone[table->paths->directory(table->path_id)].push_back(table->number); });
    }
  }
  std::vector<uint64_t> durably;
  BestEffort([&] {
    for (const auto& [directory, numbers] : gone) {
      // The database's own directory is synced with the MANIFEST that forgets the tables.
      const bool own = directory == with_.context.name();
      if (!own && !SyncDirectory(with_.context.fs().get(), directory).ok()) continue;
      durably.insert(durably.end(), numbers.begin(), numbers.end());
    }
  });
  return durably;
}

IOStatus ObsoleteFiles::DeleteTableFile(const std::string& path) const {
  TableSpace* const space = with_.context.table_space();
  if (space != nullptr) return space->Delete(path);
  IOStatus s = with_.context.fs()->DeleteFile(path, IOOptions(), nullptr);
  if (s.ok()) RecordTick(with_.context.statistics(), FILES_DELETED_IMMEDIATELY);
  return s;
}

Status ObsoleteFiles::DeleteTable(FileMetaData* table) {
  VARVE_ASSERT(table->number != 0);
  // The reader, and its entry in the cache of open tables, must be removed before the file.
  table->CloseTable();
  table->opened_ahead.reset();
  if (with_.context.limited_tables() != nullptr)
    TableCache::Evict(with_.context.limited_tables().get(), table->number);
  std::string path;
  const IOStatus s = table->UseFile([&](const std::string& name) {
    path = name;
    return DeleteTableFile(name);
  });
  if (IsMissing(s)) return Status::OK();
  VARVE_PROBE_FILE_DELETED(path.c_str(), s);
  if (!s.ok()) {
    LogWarn(with_.context.info_log(), "could not delete obsolete %s: %s", path.c_str(),
            s.ToString().c_str());
  }
  const int job = table->notes.last_job != 0 ? table->notes.last_job : with_.state.NextJobId();
  event_log::FileDeleted(with_.context, table->kind, job, table->number, s);
  events::DataFileDeleted(with_.context, table->kind, path, job, s);
  return s;
}

// No listener is called in between, as it might make a copy, which waits for the end. Obsolete
// tables go first, also those that another purge has taken from the queue: a repair without a
// MANIFEST would take them for live ones, which refer to holes. The last of these purges punches.
void ObsoleteFiles::PunchReadyHoles() {
  BlobHoles& holes = with_.state.blob_holes;
  if (holes.empty() || !with_.deletions.allowed()) return;
  if (deleting_ > 0 || !with_.state.versions->obsolete_files()->Empty()) return;
  std::vector<VersionRef> held;
  std::vector<BlobHoles::Task> tasks;
  // After an exception, too, both are released without the mutex.
  BestEffort([&] {
    AssumeDbMutexHeld();
    held = with_.state.versions->LiveVersions();
    const auto wanted = [this](uint32_t id) {
      AssumeDbMutexHeld();
      const auto& families = with_.state.families.all();
      const auto family = families.find(id);
      return family != families.end() && !family->second->dropped() &&
             family->second->options()->punch_holes_in_blob_files;
    };
    holes.TakeReady(held, wanted, &tasks);
  });
  const PunchingNow punching(&with_.state);
  DbUnlock unlock(&with_.state.mu);
  // These may be the last references to files.
  held.clear();
  BestEffort([&] { PunchHoles(tasks); });
  tasks.clear();
}

void ObsoleteFiles::PunchHoles(const std::vector<BlobHoles::Task>& tasks) {
  for (const BlobHoles::Task& task : tasks) {
    if (task.holes.empty() || no_holes_.load(std::memory_order_relaxed)) continue;
    const std::string path = task.file->file()->FileName();
    size_t punched = 0;
    const IOStatus s = PunchInto(with_.context.fs().get(), path, task.holes, &punched);
    if (s.IsNotSupported()) no_holes_.store(true, std::memory_order_relaxed);
    uint64_t bytes = 0;
    for (size_t i = 0; i < punched; i++) bytes += task.holes[i].bytes();
    if (punched > 0) {
      LogInfo(with_.context.info_log(), "%s: %llu bytes of dropped values were given back",
              path.c_str(), static_cast<unsigned long long>(bytes));
    }
    if (!s.ok()) {
      LogWarn(with_.context.info_log(), "%s: %zu holes were not punched: %s", path.c_str(),
              task.holes.size() - punched, s.ToString().c_str());
    }
    DbLock lock(&with_.state.mu);
    BlobHoles& holes = with_.state.blob_holes;
    holes.CountPunched(bytes);
    if (!s.ok() && !s.IsBusy() && !s.IsNotSupported()) holes.CountError();
    for (size_t i = punched; i < task.holes.size(); i++) {
      holes.Return(task.file->number(), task.holes[i]);
    }
  }
}

class ObsoleteFiles::DeletingNow {
 public:
  explicit DeletingNow(ObsoleteFiles* files) VARVE_REQUIRES(kDbMutex) : files_(*files) {
    files_.deleting_++;
  }
  ~DeletingNow() VARVE_REQUIRES(kDbMutex) { files_.deleting_--; }
  DeletingNow(const DeletingNow&) = delete;
  DeletingNow& operator=(const DeletingNow&) = delete;

 private:
  ObsoleteFiles& files_;
};

// Takes the lists under the mutex, deletes without it, and then forgets the tables whose deletion
// is durable. Tables that cannot be deleted are queued again; other files are left to the next
// opening.
void ObsoleteFiles::Purge() {
  with_.state.mu.AssertHeld();
  if (!with_.deletions.allowed()) return CloseObsoleteLogs();
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  const uint64_t early = VARVE_CANARY(kDeleteLogEarly) ? 1 : 0;
  std::vector<std::string> paths;
  for (uint64_t number : with_.state.versions->TakeObsoleteManifests()) {
    paths.push_back(DescriptorFileName(with_.context.name(), number));
  }
  // Positions that expire keep no logs any more, so these go with the others.
  ExpirePositions();
  // Uses the number in the MANIFEST, since an opening reports logs from there on as missing.
  std::vector<LogSet::Retired> logs =
      with_.state.logs->TakeObsolete(with_.state.versions->min_log_number_to_keep() + early);
  // This comes last: TakeAll empties the queue, and its tables would be lost if an allocation
  // between here and DeleteTables failed.
  std::vector<std::unique_ptr<FileMetaData>> tables =
      with_.state.versions->obsolete_files()->TakeAll();
  if (logs.empty() && paths.empty() && tables.empty()) return PunchReadyHoles();
  const bool makes_room = !tables.empty();
  std::vector<uint64_t> gone;
  {
    const DeletingNow deleting(this);
    DbUnlock unlock(&with_.state.mu);
    RetireLogs(&logs, &paths);
    Delete(paths);
    with_.state.logs->NoteGone(logs);
    gone = DeleteTables(std::move(tables));
    if (!logs.empty() && archive_.wanted()) archive_.Purge(with_.state.logs->oldest_held());
  }
  // Only tables whose deletion is durable may be forgotten: a file that reappears after a crash
  // must still be known as obsolete.
  for (uint64_t number : gone) with_.state.versions->ForgetGoneTable(number);
  // If space is what an error waits for, there may be some now.
  if (makes_room) with_.errors.HurryRecovery();
  PunchReadyHoles();
}

void ObsoleteFiles::StartListening() {
  VARVE_ASSERT(!listening_);
  listening_ = true;
  with_.state.versions->obsolete_files()->SetWaker([this] { PurgeSoon(); });
  with_.state.logs->SetWaker([this] { PurgeSoon(); });
}

void ObsoleteFiles::PurgeKeptSoon() noexcept {
  archive_due_.store(archive_.wanted(), std::memory_order_release);
  PurgeSoon();
}

uint64_t ObsoleteFiles::kept_period_micros() const {
  const uint64_t archive = archive_.wanted() ? archive_.purge_period_micros() : UINT64_MAX;
  // Idle positions are looked for twice within the shortest time that one may be idle, but at least
  // every ten minutes, and at most once a second.
  const uint64_t seconds = with_.state.positions.shortest_bound_seconds();
  const uint64_t positions =
      seconds == 0 ? UINT64_MAX : std::clamp<uint64_t>(seconds / 2, 1, 600) * 1000 * 1000;
  const uint64_t period = std::min(archive, positions);
  return period == UINT64_MAX ? 0 : period;
}

void ObsoleteFiles::ExpirePositions() {
  if (with_.state.positions.empty()) return;
  int64_t now = 0;
  if (!with_.context.clock()->GetCurrentTime(&now).ok() || now < 0) return;
  const VersionSet& versions = *with_.state.versions;
  const bool any =
      with_.state.positions.Expire(versions.min_log_number_to_keep(), with_.state.logs->List(),
                                   versions.last_sequence(), static_cast<uint64_t>(now));
  if (!any) return;
  // Streams that wait for changes must learn of it.
  with_.state.updates.Notify();
  // The expiry is stored and reported by a purge job (TellExpired). None may be scheduled before
  // StartListening; the first one after it reports what expired earlier, too.
  if (listening_) PurgeSoon();
}

// If its expiry cannot be stored, a position expires again in the next opening.
void ObsoleteFiles::TellExpired() {
  for (const ChangePosition& position : with_.state.positions.TakeExpired()) {
    with_.state.versions->StoreChangePosition(position, with_.context.directory())
        .PermitUncheckedError();
    DbUnlock unlock(&with_.state.mu);
    LogWarn(with_.context.info_log(),
            "change stream '%s' has expired: the logs of sequence numbers %llu to %llu go",
            position.name.c_str(), static_cast<unsigned long long>(position.first_lost),
            static_cast<unsigned long long>(position.last_lost));
    ChangeStreamExpiryInfo info;
    info.name = position.name;
    info.first_lost = position.first_lost;
    info.last_lost = position.last_lost;
    events::ChangeStreamExpired(with_.context, info);
  }
}

// At most one job waits at a time, which also serves later requests.
void ObsoleteFiles::PurgeSoon() noexcept {
  // Close purges itself, and a child of fork() must not purge.
  if (with_.lifecycle.shutting_down()) return;
  if (scheduled_.exchange(true, std::memory_order_acq_rel)) return;
  jobs_.fetch_add(1, std::memory_order_relaxed);
  const Status s = Guarded([&] {
    Env* const env = with_.context.env();
    env->Schedule(&ObsoleteFiles::RunPurge, this, PoolOfShortJobs(env), this);
  });
  if (s.ok()) return;
  // The next purge deletes the files.
  jobs_.fetch_sub(1, std::memory_order_relaxed);
  scheduled_.store(false, std::memory_order_release);
}

void ObsoleteFiles::RunPurge(void* self) {
  static_cast<ObsoleteFiles*>(self)->PurgeInJob();
}

// Purges, reports expired positions, and purges the archive if that is due. Stop waits for the end
// of the job.
void ObsoleteFiles::PurgeInJob() {
  const ActiveWork active(ActiveWork::kBackground, &with_.lifecycle, "the deletion of files,");
  // A later request needs another job.
  scheduled_.store(false, std::memory_order_release);
  const DbLock lock(&with_.state.mu);
  if (!with_.lifecycle.shutting_down()) {
    // If an allocation fails, the next purge deletes the files.
    BestEffort([this] {
      with_.state.mu.AssertHeld();
      Purge();
      TellExpired();
      if (!archive_due_.exchange(false) || !with_.deletions.allowed()) return;
      DbUnlock unlock(&with_.state.mu);
      archive_.Purge(with_.state.logs->oldest_held());
    });
  }
  VARVE_ASSERT(jobs_.load(std::memory_order_relaxed) > 0);
  jobs_.fetch_sub(1, std::memory_order_relaxed);
  with_.state.work.SignalAll();
}

// Files that the last purge cannot delete are left to the next opening.
void ObsoleteFiles::Stop() {
  if (!listening_) return;
  // From here on no purge is requested, so that the wait for jobs ends.
  with_.state.versions->obsolete_files()->SetWaker(nullptr);
  with_.state.logs->SetWaker(nullptr);
  DbLock lock(&with_.state.mu);
  // Jobs that wait are cancelled, as the threads may be busy with other databases.
  BestEffort([&] {
    jobs_.fetch_sub(TakeBackShortJobs(with_.context.env(), this), std::memory_order_relaxed);
  });
  while (jobs_.load(std::memory_order_relaxed) > 0) with_.state.work.Wait();
  BestEffort([this] {
    with_.state.mu.AssertHeld();
    Purge();
  });
}

// Files that cannot be moved or deleted are left to the next opening.
Status ObsoleteFiles::SweepAtOpen(const Leftovers& leftovers, RecoveryReport* report) {
  VARVE_ASSERT(!listening_);
  std::vector<std::string> doomed = leftovers.empty_logs;
  Status s = SweepLogs(leftovers.damaged_logs, &doomed, report);
  if (!s.ok()) return s;
  for (const auto& [directory, entries] : leftovers.directories) {
    std::vector<std::string> unexplained;
    SortOut(leftovers, directory, &doomed, &unexplained);
    LimitUnexplained(directory, &unexplained, &doomed);
    SetAside(directory, unexplained, report);
  }
  Delete(doomed);
  for (const auto& [directory, entries] : leftovers.directories) {
    if (std::ranges::find(entries, kStagingBaseName) != entries.end()) UnlinkStaged(directory);
  }
  DeleteTracesOfRepairs();
  return s;
}

// A staged file may be a hard link to a user's file, so it is only unlinked.
void ObsoleteFiles::UnlinkStaged(const std::string& directory) {
  FileSystem* const fs = with_.context.fs().get();
  const std::string staging = StagingDirectory(directory);
  std::vector<std::string> names;
  if (!fs->GetChildren(staging, IOOptions(), &names, nullptr).ok()) return;
  for (const auto& [name, number, type] : FilesAmong(names, kTableFile)) {
    fs->DeleteFile(staging + "/" + name, IOOptions(), nullptr).PermitUncheckedError();
  }
  // The deletion fails, and should, if the directory has other files.
  fs->DeleteDir(staging, IOOptions(), nullptr).PermitUncheckedError();
}

// An interrupted repair leaves a trace, a temporary file in lost/, from which the next repair
// undoes it (db/recovery/repair.cc). A trace is invalid once an opening has begun to create files.
void ObsoleteFiles::DeleteTracesOfRepairs() {
  const std::string lost = with_.context.name() + "/lost";
  std::vector<std::string> names;
  if (!with_.context.fs()->GetChildren(lost, IOOptions(), &names, nullptr).ok()) return;
  std::vector<std::string> traces;
  for (const auto& [name, number, type] : FilesAmong(names, kTempFile)) {
    traces.push_back(lost + "/" + name);
  }
  if (traces.empty()) return;
  Delete(traces);
  SyncDirectory(with_.context.fs().get(), lost).PermitUncheckedError();
}

// Logs are handled by SweepLogs, and files of other types stay.
void ObsoleteFiles::SortOut(const Leftovers& leftovers, const std::string& directory,
                            std::vector<std::string>* doomed,
                            std::vector<std::string>* unexplained) {
  const bool own = directory == with_.context.name();
  std::vector<VersionRef> held;  // Released without the mutex.
  DbLock lock(&with_.state.mu);
  const VersionSet& versions = *with_.state.versions;
  std::set<uint64_t> live_tables;
  versions.AddLiveFiles(&live_tables, &held);
  for (const auto& [name, number, type] : FilesAmong(leftovers.directories.at(directory))) {
    if (!own && !IsTableOrTrash(name)) continue;
    const std::string path = directory + "/" + name;
    switch (type) {
      case kTableFile:
      case kBlobFile:
        if (live_tables.count(number) != 0) break;
        if (versions.gone_tables().contains(number) || VARVE_CANARY(kDeleteUnexplained)) {
          doomed->push_back(path);
        } else {
          unexplained->push_back(name);
        }
        break;
      case kDescriptorFile:
        if (number == versions.manifest_file_number()) break;
        if (leftovers.keep_manifests) {
          unexplained->push_back(name);
        } else {
          doomed->push_back(path);
        }
        break;
      case kTempFile:
        if (name != kSyncedMarksBaseName) doomed->push_back(path);
        break;
      default:
        break;
    }
  }
}

// Keeps the newest files, up to the limits, in `unexplained`.
void ObsoleteFiles::LimitUnexplained(const std::string& directory,
                                     std::vector<std::string>* unexplained,
                                     std::vector<std::string>* doomed) {
  // A MANIFEST that has lost its end may have named the files, so all of them are kept.
  if (!with_.state.versions->recovered_whole()) return;
  std::vector<std::pair<uint64_t, std::string>> newest_first;
  for (const std::string& name : *unexplained) {
    uint64_t number = 0;
    FileType type;
    ParseFileName(name, &number, &type);
    newest_first.emplace_back(number, name);
  }
  std::sort(newest_first.rbegin(), newest_first.rend());
  unexplained->clear();
  const size_t kept = CountKept(directory, newest_first);
  for (size_t i = 0; i < newest_first.size(); i++) {
    const std::string& name = newest_first[i].second;
    if (i < kept) {
      unexplained->push_back(name);
      continue;
    }
    const std::string path = directory + "/" + name;
    LogWarn(with_.context.info_log(),
            "%s: of many that nothing explains it is among the oldest, and goes", path.c_str());
    doomed->push_back(path);
  }
}

// The newest file is kept even if it exceeds the limit of bytes.
size_t ObsoleteFiles::CountKept(const std::string& directory,
                                const std::vector<std::pair<uint64_t, std::string>>& newest_first) {
  uint64_t bytes = 0;
  size_t kept = 0;
  for (const auto& [number, name] : newest_first) {
    uint64_t size = 0;
    with_.context.fs()
        ->GetFileSize(directory + "/" + name, IOOptions(), &size, nullptr)
        .PermitUncheckedError();
    bytes += size;
    if (kept == kLostFilesKept || (kept > 0 && bytes > kLostBytesKept)) break;
    kept++;
  }
  return kept;
}

// Logs below every family's log number, whose data is in tables, are deleted, or archived if there
// is an archive. Two kinds of logs are moved to lost/ instead: damaged ones, since a part of them
// was not replayed; and those that an earlier opening did not find (WasUnread), since they were
// never replayed. Other logs from `held` on are kept, because the position of a change stream may
// need them (LogHold).
Status ObsoleteFiles::SweepLogs(const std::vector<uint64_t>& damaged_logs,
                                std::vector<std::string>* doomed, RecoveryReport* report) {
  std::vector<std::string> names;
  IOStatus s =
      with_.context.fs()->GetChildren(with_.context.WalDirectory(), IOOptions(), &names, nullptr);
  if (!s.ok()) return s;
  std::vector<std::string> damaged;
  std::vector<uint64_t> to_archive;
  {
    DbLock lock(&with_.state.mu);
    const uint64_t min_log = with_.state.versions->OldestLogNeeded();
    const uint64_t held = with_.state.logs->oldest_held();
    // Recovery may have kept logs for a family that does not need them. They are removed from the
    // log set, since their files are deleted or moved below.
    with_.state.logs->NoteGone(with_.state.logs->TakeObsolete(min_log));
    for (const auto& [name, number, type] : FilesAmong(names, kWalFile)) {
      if (number >= min_log) continue;
      const bool is_damaged = std::ranges::find(damaged_logs, number) != damaged_logs.end() ||
                              with_.state.versions->WasUnread(number);
      if (is_damaged) {
        damaged.push_back(name);
      } else if (number >= held) {
        continue;
      } else if (archive_.wanted()) {
        to_archive.push_back(number);
      } else {
        doomed->push_back(with_.context.WalDirectory() + "/" + name);
      }
    }
  }
  SetAside(with_.context.WalDirectory(), damaged, report);
  for (uint64_t number : to_archive) {
    if (archive_.Take(number)) continue;
    doomed->push_back(LogFileName(with_.context.WalDirectory(), number));
  }
  return Status::OK();
}

// The recovered state does not need these files, so a failure is reported, but does not make the
// opening fail.
void ObsoleteFiles::SetAside(const std::string& directory, const std::vector<std::string>& names,
                             RecoveryReport* report) {
  if (names.empty()) return;
  const std::string lost = directory + "/lost";
  IOStatus s = with_.context.fs()->CreateDirIfMissing(lost, IOOptions(), nullptr);
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    const std::string aside = lost + "/" + name;
    const IOStatus moved =
        s.ok() ? with_.context.fs()->RenameFile(path, aside, IOOptions(), nullptr) : s;
    if (moved.ok()) {
      report->files_set_aside.push_back(aside);
      LogWarn(with_.context.info_log(), "%s: nothing explains this file; it was moved to %s",
              name.c_str(), lost.c_str());
    } else {
      report->files_not_moved.push_back(path);
      LogError(with_.context.info_log(), "%s: nothing explains this file, and it stays: %s",
               name.c_str(), moved.ToString().c_str());
    }
  }
  if (s.ok()) s = SyncDirectory(with_.context.fs().get(), lost);
  if (s.ok()) s = SyncDirectory(with_.context.fs().get(), directory);
  if (s.ok()) TrimLost(lost, names);
}

// Each crash may leave unfinished tables, so lost/ would grow without limit. The oldest files are
// those with the smallest numbers. Files of this opening are always kept, since its report names
// them.
void ObsoleteFiles::TrimLost(const std::string& lost, const std::vector<std::string>& brought) {
  std::vector<std::string> entries;
  if (!with_.context.fs()->GetChildren(lost, IOOptions(), &entries, nullptr).ok()) return;
  std::vector<std::pair<uint64_t, std::string>> earlier;
  for (const auto& [name, number, type] : FilesAmong(entries)) {
    if (type != kTableFile && type != kBlobFile && type != kWalFile) continue;
    if (std::find(brought.begin(), brought.end(), name) == brought.end()) {
      earlier.emplace_back(number, name);
    }
  }
  std::sort(earlier.rbegin(), earlier.rend());
  for (size_t i = CountKept(lost, earlier); i < earlier.size(); i++) {
    const std::string path = lost + "/" + earlier[i].second;
    const IOStatus s = with_.context.fs()->DeleteFile(path, IOOptions(), nullptr);
    LogWarn(with_.context.info_log(), "%s: the oldest of what was set aside goes: %s", path.c_str(),
            s.ToString().c_str());
  }
}

}  // namespace varve
