// SPDX-License-Identifier: Apache-2.0

// The archive is a directory of renamed logs. It has no state in memory: each call lists the
// directory anew, which is rare and cheap, and so sees what programs have deleted there themselves.

#include "db/engine/log_archive.h"

#include <algorithm>

#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"

namespace varve {

std::string LogArchive::PathOf(uint64_t number) const {
  return LogFileName(ArchivalDirectory(context_.WalDirectory()), number);
}

Status LogArchive::List(std::vector<uint64_t>* numbers) const {
  numbers->clear();
  std::vector<std::string> names;
  const IOStatus s = context_.fs()->GetChildren(ArchivalDirectory(context_.WalDirectory()),
                                                IOOptions(), &names, nullptr);
  if (!s.ok()) return IsMissing(s) ? Status::OK() : Status(s);
  for (const auto& [name, number, type] : FilesAmong(names, kWalFile)) {
    numbers->push_back(number);
  }
  std::ranges::sort(*numbers);
  return Status::OK();
}

// A rename keeps the file's bytes and its number; readers that have it open do not notice.
bool LogArchive::Take(uint64_t number) const {
  FileSystem* const fs = context_.fs().get();
  const std::string directory = ArchivalDirectory(context_.WalDirectory());
  IOStatus s = fs->CreateDirIfMissing(directory, IOOptions(), nullptr);
  const std::string path = LogFileName(context_.WalDirectory(), number);
  if (s.ok()) s = fs->RenameFile(path, PathOf(number), IOOptions(), nullptr);
  if (s.ok()) return true;
  LogWarn(context_.info_log(), "could not move %s to %s: %s", path.c_str(), directory.c_str(),
          s.ToString().c_str());
  return false;
}

std::vector<LogArchive::Archived> LogArchive::Describe() const {
  std::vector<uint64_t> numbers;
  std::vector<Archived> logs;
  if (!List(&numbers).ok()) return logs;
  FileSystem* const fs = context_.fs().get();
  for (uint64_t number : numbers) {
    Archived log;
    log.number = number;
    const std::string path = PathOf(number);
    // A log that a program has deleted since the listing is left out.
    if (!fs->GetFileSize(path, IOOptions(), &log.bytes, nullptr).ok()) continue;
    if (!fs->GetFileModificationTime(path, IOOptions(), &log.modified, nullptr).ok()) continue;
    logs.push_back(log);
  }
  return logs;
}

// A clock that was set back makes no log old.
bool LogArchive::IsTooOld(const Archived& log, uint64_t now) const {
  const uint64_t ttl = context_.options().WAL_ttl_seconds;
  return ttl != 0 && now > log.modified && now - log.modified > ttl;
}

// Deletes from the oldest on. A log without bytes is deleted too, as it has nothing for readers.
void LogArchive::Purge(uint64_t oldest_held) const {
  int64_t time = 0;
  if (!context_.clock()->GetCurrentTime(&time).ok() || time < 0) return;
  const std::vector<Archived> logs = Describe();
  uint64_t largest = 0;
  for (const Archived& log : logs) largest = std::max(largest, log.bytes);
  size_t most = logs.size();
  const uint64_t megabytes = context_.options().WAL_size_limit_MB;
  if (megabytes != 0 && largest != 0) {
    const uint64_t limit = megabytes > UINT64_MAX >> 20 ? UINT64_MAX : megabytes << 20;
    // The size limit becomes a number of files, as if all were as large as the largest.
    most = static_cast<size_t>(std::min<uint64_t>(most, limit / largest));
  }
  for (size_t i = 0; i < logs.size(); i++) {
    const Archived& log = logs[i];
    // A LogHold keeps this log, and all that follow, since they ascend.
    if (log.number >= oldest_held) break;
    const bool too_many = logs.size() - i > most;
    if (!too_many && log.bytes != 0 && !IsTooOld(log, static_cast<uint64_t>(time))) continue;
    const std::string path = PathOf(log.number);
    const IOStatus s = context_.fs()->DeleteFile(path, IOOptions(), nullptr);
    if (s.ok() || IsMissing(s)) continue;
    LogWarn(context_.info_log(), "could not delete archived %s: %s", path.c_str(),
            s.ToString().c_str());
  }
}

// With a ttl, a log stays for at most about half as long again. Without one, or with a long one, a
// purge every ten minutes is enough.
uint64_t LogArchive::purge_period_micros() const {
  constexpr uint64_t kSecond = 1000 * 1000;
  constexpr uint64_t kMostSeconds = 600;
  const uint64_t ttl = context_.options().WAL_ttl_seconds;
  if (ttl == 0) return kMostSeconds * kSecond;
  return std::clamp<uint64_t>(ttl / 2, 1, kMostSeconds) * kSecond;
}

}  // namespace varve
