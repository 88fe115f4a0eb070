// SPDX-License-Identifier: Apache-2.0
#include "db/background/obsolete_files.h"

#include <algorithm>
#include <set>

#include "db/background/events.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"

namespace varve {

std::vector<std::string> ObsoleteFiles::Collect() {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  std::vector<std::string> paths;
  if (e.file_deletions_disabled > 0) return paths;
  for (uint64_t number : e.versions->obsolete_files()->TakeAll()) {
    paths.push_back(TableFileName(e.name, number));
    for (const auto& [id, family] : e.families.all()) family->table_cache()->Evict(number);
  }
  for (uint64_t number : e.logs->TakeObsolete(e.versions->MinLogNumber())) {
    paths.push_back(LogFileName(e.WalDirectory(), number));
  }
  for (uint64_t number : e.versions->TakeObsoleteManifests()) {
    paths.push_back(DescriptorFileName(e.name, number));
  }
  return paths;
}

void ObsoleteFiles::Delete(const std::vector<std::string>& paths) {
  Engine& e = *engine_;
  for (const std::string& path : paths) {
    IOStatus s = e.fs->DeleteFile(path, IOOptions(), nullptr);
    if (IsMissing(s)) continue;
    if (!s.ok()) {
      LogWarn(e.info_log.get(), "could not delete obsolete %s: %s", path.c_str(),
              s.ToString().c_str());
    }
    if (events::Wanted(e) && path.size() > 4 && path.compare(path.size() - 4, 4, ".sst") == 0) {
      TableFileDeletionInfo info;
      info.db_name = e.name;
      info.file_path = path;
      info.status = s;
      events::TableFileDeleted(e, info);
    }
  }
}

void ObsoleteFiles::Purge() {
  Engine& e = *engine_;
  const std::vector<std::string> paths = Collect();
  if (paths.empty()) return;
  MutexUnlock unlock(&e.mu);
  Delete(paths);
}

Status ObsoleteFiles::SweepAtOpen(const std::vector<std::string>& directory_entries,
                                  const std::vector<uint64_t>& damaged_logs,
                                  std::vector<std::string>* set_aside) {
  Engine& e = *engine_;
  std::set<uint64_t> live_tables;
  e.versions->AddLiveFiles(&live_tables);
  std::vector<std::string> doomed;
  std::vector<std::string> unexplained;
  for (const std::string& name : directory_entries) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(name, &number, &type)) continue;
    const std::string path = e.name + "/" + name;
    switch (type) {
      case kTableFile:
        if (live_tables.count(number) == 0) unexplained.push_back(name);
        break;
      case kDescriptorFile:
        if (number != e.versions->manifest_file_number()) doomed.push_back(path);
        break;
      case kTempFile:
        doomed.push_back(path);
        break;
      default:
        break;
    }
  }
  Status s = SweepLogs(damaged_logs, &doomed, set_aside);
  if (s.ok()) s = SetAside(e.name, unexplained, set_aside);
  if (s.ok()) Delete(doomed);
  return s;
}

// Logs below every family's log number hold nothing that is not in tables. Damaged ones are kept
// aside, since bytes in them were not replayed.
Status ObsoleteFiles::SweepLogs(const std::vector<uint64_t>& damaged_logs,
                                std::vector<std::string>* doomed,
                                std::vector<std::string>* set_aside) {
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
        std::find(damaged_logs.begin(), damaged_logs.end(), number) != damaged_logs.end();
    if (is_damaged) {
      damaged.push_back(name);
    } else {
      doomed->push_back(e.WalDirectory() + "/" + name);
    }
  }
  return SetAside(e.WalDirectory(), damaged, set_aside);
}

Status ObsoleteFiles::SetAside(const std::string& directory, const std::vector<std::string>& names,
                               std::vector<std::string>* set_aside) {
  if (names.empty()) return Status::OK();
  Engine& e = *engine_;
  const std::string lost = directory + "/lost";
  IOStatus s = e.fs->CreateDirIfMissing(lost, IOOptions(), nullptr);
  for (const std::string& name : names) {
    if (!s.ok()) break;
    s = e.fs->RenameFile(directory + "/" + name, lost + "/" + name, IOOptions(), nullptr);
    if (!s.ok()) break;
    set_aside->push_back(lost + "/" + name);
    LogWarn(e.info_log.get(), "%s: nothing explains this file; it was moved to %s", name.c_str(),
            lost.c_str());
  }
  if (s.ok()) s = SyncDirectory(e.fs.get(), lost);
  if (s.ok()) s = SyncDirectory(e.fs.get(), directory);
  return s;
}

}  // namespace varve
