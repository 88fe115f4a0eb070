// SPDX-License-Identifier: Apache-2.0
#include "db/background/obsolete_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "db/background/events.h"
#include "db/version/table_cache.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Of what earlier openings moved to lost/, this much stays, and so much one brings.
constexpr size_t kLostFilesKept = 100;
constexpr uint64_t kLostBytesKept = uint64_t{4} << 30;

}  // namespace

// As many logs as recycle_log_file_num says wait for a later log to take their files over.
void ObsoleteFiles::RetireLogs(std::vector<LogSet::Retired> logs, std::vector<std::string>* paths) {
  Engine& e = *engine_;
  LogSet::CloseRetired(&logs);
  MutexLock lock(&e.mu);
  for (const LogSet::Retired& log : logs) {
    if (log.recyclable && kept_logs_.size() < e.options.recycle_log_file_num) {
      kept_logs_.push_back(log.number);
    } else {
      paths->push_back(LogFileName(e.WalDirectory(), log.number));
    }
  }
}

void ObsoleteFiles::CloseObsoleteLogs() {
  Engine& e = *engine_;
  const uint64_t min_log = e.versions->min_log_number_to_keep();
  MutexUnlock unlock(&e.mu);
  e.logs->CloseKept(min_log);
}

uint64_t ObsoleteFiles::TakeKeptLog() {
  engine_->mu.AssertHeld();
  if (kept_logs_.empty()) return 0;
  const uint64_t number = kept_logs_.front();
  kept_logs_.pop_front();
  return number;
}

void ObsoleteFiles::DeleteKeptLogs() {
  Engine& e = *engine_;
  std::vector<std::string> paths;
  {
    MutexLock lock(&e.mu);
    while (const uint64_t number = TakeKeptLog()) {
      paths.push_back(LogFileName(e.WalDirectory(), number));
    }
  }
  Delete(paths);
}

// What cannot be deleted waits for the next opening, which knows that it is obsolete.
void ObsoleteFiles::Delete(const std::vector<std::string>& paths) {
  Engine& e = *engine_;
  for (const std::string& path : paths) {
    const IOStatus s = e.fs->DeleteFile(path, IOOptions(), nullptr);
    if (s.ok() || IsMissing(s)) continue;
    LogWarn(e.info_log.get(), "could not delete obsolete %s: %s", path.c_str(),
            s.ToString().c_str());
  }
}

// Of a table only this opening knows that: the next purge tries again.
std::vector<uint64_t> ObsoleteFiles::DeleteTables(
    std::vector<std::unique_ptr<FileMetaData>> tables) {
  std::vector<uint64_t> gone;
  for (std::unique_ptr<FileMetaData>& table : tables) {
    const Status s = Guarded([&] { return DeleteTable(table.get()); });
    if (!s.ok()) {
      engine_->versions->obsolete_files()->GiveBack(std::move(table));
    } else {
      BestEffort([&] { gone.push_back(table->number); });
    }
  }
  return gone;
}

Status ObsoleteFiles::DeleteTable(FileMetaData* table) {
  Engine& e = *engine_;
  table->CloseTable();
  if (e.limited_tables != nullptr) TableCache::Evict(e.limited_tables.get(), table->number);
  std::string path = TableFileName(e.name, table->number);
  IOStatus s = e.fs->DeleteFile(path, IOOptions(), nullptr);
  if (IsMissing(s)) {
    path = LevelDbTableFileName(e.name, table->number);
    s = e.fs->DeleteFile(path, IOOptions(), nullptr);
  }
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) {
    LogWarn(e.info_log.get(), "could not delete obsolete %s: %s", path.c_str(),
            s.ToString().c_str());
  }
  if (events::Wanted(e)) {
    TableFileDeletionInfo info;
    info.db_name = e.given_name;
    info.file_path = path;
    info.job_id = table->last_job != 0 ? table->last_job : e.NextJobId();
    info.status = s;
    events::TableFileDeleted(e, info);
  }
  return s;
}

void ObsoleteFiles::Purge() {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  if (e.file_deletions_disabled > 0 || e.files_kept > 0) return CloseObsoleteLogs();
  const uint64_t early = VARVE_CANARY(kDeleteLogEarly) ? 1 : 0;
  std::vector<std::string> paths;
  for (uint64_t number : e.versions->TakeObsoleteManifests()) {
    paths.push_back(DescriptorFileName(e.name, number));
  }
  // What the MANIFEST says: an opening that asks for a log which is gone takes it for lost.
  std::vector<LogSet::Retired> logs =
      e.logs->TakeObsolete(e.versions->min_log_number_to_keep() + early);
  // Last: what is taken must not be lost for want of memory.
  std::vector<std::unique_ptr<FileMetaData>> tables = e.versions->obsolete_files()->TakeAll();
  if (logs.empty() && paths.empty() && tables.empty()) return;
  std::vector<uint64_t> gone;
  {
    MutexUnlock unlock(&e.mu);
    gone = DeleteTables(std::move(tables));
    RetireLogs(std::move(logs), &paths);
    Delete(paths);
  }
  for (uint64_t number : gone) e.versions->ForgetGoneTable(number);
}

void ObsoleteFiles::StartListening() {
  listening_ = true;
  engine_->versions->obsolete_files()->SetWaker([this] { PurgeSoon(); });
  engine_->logs->SetWaker([this] { PurgeSoon(); });
}

void ObsoleteFiles::PurgeSoon() noexcept {
  Engine& e = *engine_;
  // Close purges, and in a child of fork() nobody does.
  if (e.shutting_down.load(std::memory_order_acquire)) return;
  if (scheduled_.exchange(true, std::memory_order_acq_rel)) return;
  jobs_.fetch_add(1, std::memory_order_relaxed);
  const Status s =
      Guarded([&] { e.env->Schedule(&ObsoleteFiles::RunPurge, this, Env::Priority::HIGH, this); });
  if (s.ok()) return;
  // The next job of any kind finds the file.
  jobs_.fetch_sub(1, std::memory_order_relaxed);
  scheduled_.store(false, std::memory_order_release);
}

void ObsoleteFiles::RunPurge(void* self) {
  auto* const files = static_cast<ObsoleteFiles*>(self);
  Engine& e = *files->engine_;
  // Whatever comes from here on needs another one.
  files->scheduled_.store(false, std::memory_order_release);
  const MutexLock lock(&e.mu);
  if (!e.shutting_down.load(std::memory_order_acquire)) {
    // Without memory for that files stay for the next purge.
    BestEffort([files] { files->Purge(); });
  }
  files->jobs_.fetch_sub(1, std::memory_order_relaxed);
  e.background_changed.SignalAll();
}

void ObsoleteFiles::Stop() {
  if (!listening_) return;
  Engine& e = *engine_;
  e.versions->obsolete_files()->SetWaker(nullptr);
  e.logs->SetWaker(nullptr);
  MutexLock lock(&e.mu);
  // Others do no longer ask for one. The threads may be busy with other databases.
  BestEffort([&] {
    jobs_.fetch_sub(e.env->UnSchedule(this, Env::Priority::HIGH), std::memory_order_relaxed);
  });
  while (jobs_.load(std::memory_order_relaxed) > 0) e.background_changed.Wait();
  BestEffort([this] { Purge(); });
}

Status ObsoleteFiles::SweepAtOpen(const std::vector<std::string>& directory_entries,
                                  const std::vector<uint64_t>& damaged_logs,
                                  const std::vector<std::string>& empty_logs,
                                  RecoveryReport* report) {
  Engine& e = *engine_;
  std::set<uint64_t> live_tables;
  e.versions->AddLiveFiles(&live_tables);
  std::vector<std::string> doomed = empty_logs;
  std::vector<std::string> unexplained;
  for (const std::string& name : directory_entries) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type)) continue;
    const std::string path = e.name + "/" + name;
    switch (type) {
      case kTableFile:
        if (live_tables.count(number) != 0) break;
        if (e.versions->gone_tables().contains(number) || VARVE_CANARY(kDeleteUnexplained)) {
          doomed.push_back(path);
        } else {
          unexplained.push_back(name);
        }
        break;
      case kDescriptorFile:
        if (number != e.versions->manifest_file_number()) doomed.push_back(path);
        break;
      case kTempFile:
        if (name != kSyncedMarksBaseName) doomed.push_back(path);
        break;
      default:
        break;
    }
  }
  Status s = SweepLogs(damaged_logs, &doomed, report);
  if (!s.ok()) return s;
  LimitUnexplained(&unexplained, &doomed);
  SetAside(e.name, unexplained, report);
  Delete(doomed);
  return s;
}

void ObsoleteFiles::LimitUnexplained(std::vector<std::string>* tables,
                                     std::vector<std::string>* doomed) {
  Engine& e = *engine_;
  // A MANIFEST that lost its end may have named them.
  if (!e.versions->recovered_whole()) return;
  std::vector<std::pair<uint64_t, std::string>> newest_first;
  for (const std::string& name : *tables) {
    uint64_t number = 0;
    FileType type;
    ParseFileName(name, &number, &type);
    newest_first.emplace_back(number, name);
  }
  std::sort(newest_first.rbegin(), newest_first.rend());
  tables->clear();
  const size_t kept = CountKept(e.name, newest_first);
  for (size_t i = 0; i < newest_first.size(); i++) {
    const std::string& name = newest_first[i].second;
    if (i < kept) {
      tables->push_back(name);
      continue;
    }
    const std::string path = e.name + "/" + name;
    LogWarn(e.info_log.get(), "%s: of many that nothing explains it is among the oldest, and goes",
            path.c_str());
    doomed->push_back(path);
  }
}

// However large it is, the newest stays.
size_t ObsoleteFiles::CountKept(const std::string& directory,
                                const std::vector<std::pair<uint64_t, std::string>>& newest_first) {
  uint64_t bytes = 0;
  size_t kept = 0;
  for (const auto& [number, name] : newest_first) {
    uint64_t size = 0;
    engine_->fs->GetFileSize(directory + "/" + name, IOOptions(), &size, nullptr)
        .PermitUncheckedError();
    bytes += size;
    if (kept == kLostFilesKept || (kept > 0 && bytes > kLostBytesKept)) break;
    kept++;
  }
  return kept;
}

// Logs below every family's log number hold nothing that is not in tables. Damaged ones are kept
// aside, since bytes in them were not replayed, and so are those that were not there when they were
// to be replayed.
Status ObsoleteFiles::SweepLogs(const std::vector<uint64_t>& damaged_logs,
                                std::vector<std::string>* doomed, RecoveryReport* report) {
  Engine& e = *engine_;
  std::vector<std::string> names;
  IOStatus s = e.fs->GetChildren(e.WalDirectory(), IOOptions(), &names, nullptr);
  if (!s.ok()) return s;
  const uint64_t min_log = e.versions->MinLogNumber();
  std::vector<std::string> damaged;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || type != kWalFile || number >= min_log) continue;
    const bool is_damaged =
        std::find(damaged_logs.begin(), damaged_logs.end(), number) != damaged_logs.end() ||
        e.versions->WasUnread(number);
    if (is_damaged) {
      damaged.push_back(name);
    } else {
      doomed->push_back(e.WalDirectory() + "/" + name);
    }
  }
  SetAside(e.WalDirectory(), damaged, report);
  return Status::OK();
}

// The recovered state needs none of these files: what fails here is told, and no reason to refuse.
void ObsoleteFiles::SetAside(const std::string& directory, const std::vector<std::string>& names,
                             RecoveryReport* report) {
  if (names.empty()) return;
  Engine& e = *engine_;
  const std::string lost = directory + "/lost";
  IOStatus s = e.fs->CreateDirIfMissing(lost, IOOptions(), nullptr);
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    const std::string aside = lost + "/" + name;
    const IOStatus moved = s.ok() ? e.fs->RenameFile(path, aside, IOOptions(), nullptr) : s;
    if (moved.ok()) {
      report->files_set_aside.push_back(aside);
      LogWarn(e.info_log.get(), "%s: nothing explains this file; it was moved to %s", name.c_str(),
              lost.c_str());
    } else {
      report->files_not_moved.push_back(path);
      LogError(e.info_log.get(), "%s: nothing explains this file, and it stays: %s", name.c_str(),
               moved.ToString().c_str());
    }
  }
  if (s.ok()) s = SyncDirectory(e.fs.get(), lost);
  if (s.ok()) s = SyncDirectory(e.fs.get(), directory);
  if (s.ok()) TrimLost(lost, names);
}

// Every kill may leave unfinished tables, so lost/ would grow for ever. What goes are the oldest
// files there (numbers are never used twice, and grow); what this opening brought always stays, so
// whoever reads its report finds the files.
void ObsoleteFiles::TrimLost(const std::string& lost, const std::vector<std::string>& brought) {
  Engine& e = *engine_;
  std::vector<std::string> entries;
  if (!e.fs->GetChildren(lost, IOOptions(), &entries, nullptr).ok()) return;
  std::vector<std::pair<uint64_t, std::string>> earlier;
  for (const std::string& name : entries) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type) || (type != kTableFile && type != kWalFile)) continue;
    if (std::find(brought.begin(), brought.end(), name) == brought.end()) {
      earlier.emplace_back(number, name);
    }
  }
  std::sort(earlier.rbegin(), earlier.rend());
  for (size_t i = CountKept(lost, earlier); i < earlier.size(); i++) {
    const std::string path = lost + "/" + earlier[i].second;
    const IOStatus s = e.fs->DeleteFile(path, IOOptions(), nullptr);
    LogWarn(e.info_log.get(), "%s: the oldest of what was set aside goes: %s", path.c_str(),
            s.ToString().c_str());
  }
}

}  // namespace varve
