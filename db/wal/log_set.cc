// SPDX-License-Identifier: Apache-2.0
#include "db/wal/log_set.h"

#include <algorithm>

namespace varve {

LogSet::LogSet(std::string directory, std::shared_ptr<FileSystem> fs, bool use_fsync)
    : directory_path_(std::move(directory)),
      fs_(std::move(fs)),
      use_fsync_(use_fsync),
      sync_done_(&mu_) {}

LogSet::~LogSet() = default;

void LogSet::Switch(std::unique_ptr<wal::LogWriter> writer, FSDirectory* directory) {
  MutexLock lock(&mu_);
  Log log;
  log.number = writer->log_number();
  log.writer = std::move(writer);
  // Bytes that manual_wal_flush held back must reach the file before later records reach the next.
  if (!logs_.empty() && logs_.back().writer != nullptr && !logs_.back().failed) {
    Log& last = logs_.back();
    if (!last.writer->WriteBuffer().ok()) last.failed = true;
  }
  logs_.push_back(std::move(log));
  directory_ = directory;
  directory_dirty_ = true;
}

IOStatus LogSet::Append(const Slice& record) {
  wal::LogWriter* writer;
  {
    MutexLock lock(&mu_);
    Log& log = logs_.back();
    if (log.failed) {
      return IOStatus::IOError(directory_path_, "the current log failed before and takes no more");
    }
    writer = log.writer.get();
  }
  IOStatus s = writer->AddRecord(record);
  MutexLock lock(&mu_);
  logs_.back().bytes = writer->file_size();
  if (!s.ok()) logs_.back().failed = true;
  return s;
}

IOStatus LogSet::FlushBuffer() {
  MutexLock lock(&mu_);
  Log& log = logs_.back();
  if (log.failed) return IOStatus::IOError(directory_path_, "the current log failed before");
  IOStatus s = log.writer->WriteBuffer();
  if (!s.ok()) log.failed = true;
  return s;
}

IOStatus LogSet::SyncLogs(bool current) {
  MutexLock lock(&mu_);
  while (syncing_) sync_done_.Wait();
  std::vector<std::pair<wal::LogWriter*, uint64_t>> dirty;
  for (Log& log : logs_) {
    if (!current && &log == &logs_.back()) break;
    if (log.writer == nullptr || log.synced_bytes >= log.bytes) continue;
    if (log.failed) {
      return IOStatus::IOError(directory_path_, "a log that failed before cannot be synced");
    }
    dirty.emplace_back(log.writer.get(), log.bytes);
  }
  FSDirectory* const directory = directory_;
  const bool sync_directory = directory_dirty_ && directory != nullptr;
  if (dirty.empty() && !sync_directory) return IOStatus::OK();
  syncing_ = true;
  lock.Unlock();
  IOStatus s;
  size_t done = 0;
  for (; done < dirty.size() && s.ok(); done++) s = dirty[done].first->Sync(use_fsync_);
  if (s.ok() && sync_directory) s = directory->Fsync(IOOptions(), nullptr);
  lock.Lock();
  syncing_ = false;
  sync_done_.SignalAll();
  for (size_t i = 0; i < dirty.size(); i++) {
    auto it = std::find_if(logs_.begin(), logs_.end(),
                           [&](const Log& log) { return log.writer.get() == dirty[i].first; });
    if (it == logs_.end()) continue;
    if (s.ok()) {
      it->synced_bytes = std::max(it->synced_bytes, dirty[i].second);
    } else if (i + 1 >= done) {
      it->failed = true;
    }
  }
  if (s.ok() && sync_directory) directory_dirty_ = false;
  return s;
}

void LogSet::ExcuseClosed() {
  MutexLock lock(&mu_);
  for (Log& log : logs_) {
    if (&log != &logs_.back()) log.synced_bytes = log.bytes;
  }
}

IOStatus LogSet::SyncNames() {
  MutexLock lock(&mu_);
  while (syncing_) sync_done_.Wait();
  FSDirectory* const directory = directory_;
  if (!directory_dirty_ || directory == nullptr) return IOStatus::OK();
  syncing_ = true;
  lock.Unlock();
  IOStatus s = directory->Fsync(IOOptions(), nullptr);
  lock.Lock();
  syncing_ = false;
  sync_done_.SignalAll();
  if (s.ok()) directory_dirty_ = false;
  return s;
}

bool LogSet::AllSynced() const {
  MutexLock lock(&mu_);
  return std::all_of(logs_.begin(), logs_.end(),
                     [](const Log& log) { return log.synced_bytes >= log.bytes; });
}

void LogSet::AddRecovered(uint64_t number, uint64_t bytes) {
  MutexLock lock(&mu_);
  Log log;
  log.number = number;
  log.bytes = bytes;
  log.synced_bytes = bytes;
  logs_.push_back(std::move(log));
}

std::vector<uint64_t> LogSet::TakeObsolete(uint64_t min_number) {
  std::vector<uint64_t> numbers;
  std::vector<std::unique_ptr<wal::LogWriter>> closing;
  {
    MutexLock lock(&mu_);
    while (syncing_) sync_done_.Wait();
    while (logs_.size() > 1 && logs_.front().number < min_number) {
      numbers.push_back(logs_.front().number);
      if (logs_.front().writer != nullptr) closing.push_back(std::move(logs_.front().writer));
      logs_.pop_front();
    }
  }
  // What an obsolete log held is in tables: a failed close loses nothing.
  for (auto& writer : closing) writer->Close().PermitUncheckedError();
  return numbers;
}

IOStatus LogSet::CloseAll(bool sync) {
  IOStatus s;
  if (sync) s = Sync();
  MutexLock lock(&mu_);
  while (syncing_) sync_done_.Wait();
  for (Log& log : logs_) {
    if (log.writer == nullptr) continue;
    IOStatus closed = log.writer->Close();
    if (s.ok() && !log.failed) s = closed;
    log.writer.reset();
  }
  return s;
}

uint64_t LogSet::current_number() const {
  MutexLock lock(&mu_);
  return logs_.empty() ? 0 : logs_.back().number;
}

uint64_t LogSet::total_bytes() const {
  MutexLock lock(&mu_);
  uint64_t total = 0;
  for (const Log& log : logs_) total += log.bytes;
  return total;
}

uint64_t LogSet::unsynced_bytes() const {
  MutexLock lock(&mu_);
  uint64_t total = 0;
  for (const Log& log : logs_) total += log.bytes - log.synced_bytes;
  return total;
}

uint64_t LogSet::oldest_number() const {
  MutexLock lock(&mu_);
  return logs_.empty() ? 0 : logs_.front().number;
}

bool LogSet::current_empty() const {
  MutexLock lock(&mu_);
  return logs_.empty() || logs_.back().bytes == 0;
}

bool LogSet::current_failed() const {
  MutexLock lock(&mu_);
  return logs_.empty() || logs_.back().failed;
}

std::vector<LogSet::LogInfo> LogSet::List() const {
  MutexLock lock(&mu_);
  std::vector<LogInfo> result;
  for (const Log& log : logs_) result.push_back(LogInfo{log.number, log.bytes});
  return result;
}

}  // namespace varve
