// SPDX-License-Identifier: Apache-2.0
#include "db/wal/log_set.h"

#include <algorithm>
#include <thread>

#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/sync/futex.h"

namespace varve {

LogSet::LogSet(bool use_fsync, wal::SyncedMarks* marks)
    : use_fsync_(use_fsync), marks_(marks), sync_done_(&mu_) {}

LogSet::~LogSet() = default;

void LogSet::Switch(std::unique_ptr<wal::CommitLog> log, FSDirectory* directory) {
  MutexLock lock(&mu_);
  // A place for it before anything has changed.
  const size_t count = logs_.size();
  logs_.emplace_back();
  // Bytes that manual_wal_flush held back must reach the file before later records reach the next.
  // A failure marks the log, whose owner is told when it is to be synced.
  if (current_ != nullptr) {
    current_->Flush().PermitUncheckedError();
    current_->Seal().PermitUncheckedError();
    // A sync before this has not covered where the file ends now.
    if (current_->recyclable()) logs_[count - 1].synced_bytes = 0;
  }
  current_ = log.get();
  Log& added = logs_.back();
  added.number = log->number();
  added.first_bytes = log->size();
  added.writer = std::move(log);
  directory_ = directory;
  directory_dirty_ = true;
}

IOStatus LogSet::FlushBuffer() {
  return current_->Flush();
}

IOStatus LogSet::AddTimestampSizes(const Slice& payload) {
  IOStatus s = Sync();
  return s.ok() ? current_->AddTimestampSizes(payload) : s;
}

LogSet::Log* LogSet::Find(const wal::CommitLog* log) {
  const auto it = std::find_if(logs_.begin(), logs_.end(),
                               [&](const Log& entry) { return entry.writer.get() == log; });
  return it == logs_.end() ? nullptr : &*it;
}

IOStatus LogSet::SyncLogs(bool current) {
  MutexLock lock(&mu_);
  while (syncing_) sync_done_.Wait();
  return SyncDirty(current);
}

IOStatus LogSet::SyncTo(const wal::LogPlace& place) {
  MutexLock lock(&mu_);
  callers_.fetch_add(1, std::memory_order_relaxed);
  uint64_t round = rounds_begun_ + 1;  // the sync that covers the place
  IOStatus s;
  for (;;) {
    const Log* const log = Find(place.log);
    // A log that is gone was obsolete: what it held is in tables.
    if (log == nullptr || log->synced_ticket >= place.ticket) break;
    if (!syncing_) {
      LetOthersCome();
      s = SyncDirty(/*current=*/true);
      break;
    }
    if (round <= rounds_done_) round = rounds_begun_ + 1;  // it failed, or was of closed logs only
    const uint32_t seen = WordOf(round).load(std::memory_order_relaxed);
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    lock.Unlock();
    FutexWait(WordOf(round), seen);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    if (WasGood(round)) {
      callers_.fetch_sub(1, std::memory_order_relaxed);
      return IOStatus::OK();
    }
    lock.Lock();
  }
  callers_.fetch_sub(1, std::memory_order_relaxed);
  // Who was woken to sync for the next round, and need not, wakes another.
  if (!syncing_) CallNextLeader();
  return s;
}

// Without the mutex: "no" may mean that it has to be looked at with it.
bool LogSet::WasGood(uint64_t round) const {
  return last_good_round_.load(std::memory_order_acquire) >= round &&
         last_bad_round_.load(std::memory_order_relaxed) < round;
}

void LogSet::EndRound(uint64_t round, bool good) {
  rounds_done_ = round;
  (good ? last_good_round_ : last_bad_round_).store(round, std::memory_order_release);
  sync_done_.SignalAll();
  if (sleepers_.load(std::memory_order_relaxed) == 0) return;
  WordOf(round).fetch_add(1, std::memory_order_relaxed);
  FutexWakeAll(WordOf(round));
}

// Of those who came too late for the last round.
void LogSet::CallNextLeader() {
  if (sleepers_.load(std::memory_order_relaxed) == 0) return;
  std::atomic<uint32_t>& word = WordOf(rounds_begun_ + 1);
  word.fetch_add(1, std::memory_order_relaxed);
  FutexWakeOne(word);
}

// Those whom the last sync let go are about to write again: their records are worth a moment, as
// else they wait for this sync to end, and for another. Nobody else begins one meanwhile.
void LogSet::LetOthersCome() {
  const uint64_t expected = released_;
  if (callers_.load(std::memory_order_relaxed) >= expected) return;
  syncing_ = true;
  uint64_t before = 0;
  uint64_t now = callers_.load(std::memory_order_relaxed);
  do {
    before = now;
    MutexUnlock unlock(&mu_);
    std::this_thread::yield();
    now = callers_.load(std::memory_order_relaxed);
  } while (now > before && now < expected);
  syncing_ = false;
  sync_done_.SignalAll();
}

IOStatus LogSet::SyncFiles(const std::vector<Dirty>& dirty, FSDirectory* directory) try {
  IOStatus s;
  for (size_t i = 0; i < dirty.size() && s.ok(); i++) s = dirty[i].log->Sync(use_fsync_);
  if (s.ok() && directory != nullptr) s = directory->Fsync(IOOptions(), nullptr);
  if (s.ok() && marks_ != nullptr && !dirty.empty()) {
    marks_->NoteLog(dirty.back().log->number(), dirty.back().bytes);
  }
  return s;
} catch (...) {
  return status_to_io_status(CaughtException());
}

// Nobody else is syncing. Does not throw: others wait for what comes of it.
IOStatus LogSet::SyncDirty(bool current) try {
  std::vector<Dirty> dirty;
  for (Log& log : logs_) {
    if (!current && &log == &logs_.back()) break;
    if (log.writer == nullptr || log.synced_bytes >= log.bytes()) continue;
    // A mark matters to records behind it, and to the mark in the next log.
    if (&log == &logs_.back() && log.empty()) break;
    if (log.failed()) {
      if (!sync_error_.ok()) return sync_error_;
      return log.writer->Sync(use_fsync_);  // returns at once, with what the log failed with
    }
    dirty.push_back(Dirty{log.writer.get(), log.bytes(), log.writer->last_ticket()});
  }
  FSDirectory* const directory = directory_;
  const bool sync_directory = directory_dirty_ && directory != nullptr;
  if (dirty.empty() && !sync_directory) return IOStatus::OK();
  syncing_ = true;
  const uint64_t round = ++rounds_begun_;
  released_ = callers_.load(std::memory_order_relaxed);
  IOStatus s;
  {
    MutexUnlock unlock(&mu_);
    if (VARVE_CANARY(kSkipLogSync)) dirty.clear();
    s = SyncFiles(dirty, sync_directory ? directory : nullptr);
  }
  syncing_ = false;
  EndRound(round, s.ok() && current);
  CallNextLeader();
  if (!s.ok()) {
    if (sync_error_.ok()) sync_error_ = s;
    return s;
  }
  for (const Dirty& synced : dirty) {
    Log* const log = Find(synced.log);
    if (log == nullptr) continue;
    log->synced_bytes = std::max(log->synced_bytes, synced.bytes);
    log->synced_ticket = std::max(log->synced_ticket, synced.ticket);
  }
  if (sync_directory) directory_dirty_ = false;
  return s;
} catch (...) {
  return status_to_io_status(CaughtException());
}

void LogSet::ExcuseClosed() {
  MutexLock lock(&mu_);
  for (Log& log : logs_) {
    if (&log != &logs_.back()) log.synced_bytes = log.bytes();
  }
  sync_error_ = IOStatus::OK();
}

IOStatus LogSet::SyncNames() {
  MutexLock lock(&mu_);
  while (syncing_) sync_done_.Wait();
  FSDirectory* const directory = directory_;
  if (!directory_dirty_ || directory == nullptr) return IOStatus::OK();
  syncing_ = true;
  lock.Unlock();
  IOStatus s = SyncFiles({}, directory);
  lock.Lock();
  syncing_ = false;
  sync_done_.SignalAll();
  CallNextLeader();
  if (s.ok()) directory_dirty_ = false;
  return s;
}

bool LogSet::AllSynced() const {
  MutexLock lock(&mu_);
  return std::all_of(logs_.begin(), logs_.end(),
                     [](const Log& log) { return log.synced_bytes >= log.bytes(); });
}

void LogSet::AddRecovered(uint64_t number, uint64_t bytes) {
  MutexLock lock(&mu_);
  Log log;
  log.number = number;
  log.recovered_bytes = bytes;
  log.synced_bytes = bytes;
  logs_.push_back(std::move(log));
}

std::vector<uint64_t> LogSet::TakeObsolete(uint64_t min_number, std::vector<uint64_t>* recyclable) {
  std::vector<uint64_t> numbers;
  std::vector<std::unique_ptr<wal::CommitLog>> closing;
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
  for (auto& writer : closing) {
    const bool sound = !writer->failed() && writer->Close().ok();
    if (sound && writer->recyclable() && recyclable != nullptr) {
      recyclable->push_back(writer->number());
    }
  }
  return numbers;
}

IOStatus LogSet::CloseAll(bool sync) {
  IOStatus s;
  if (sync) s = Sync();
  MutexLock lock(&mu_);
  while (syncing_) sync_done_.Wait();
  if (sync && s.ok() && marks_ != nullptr && !logs_.empty()) {
    const Log& last = logs_.back();
    marks_->NoteLog(last.number, last.empty() ? 0 : last.bytes(), /*last=*/true);
  }
  for (Log& log : logs_) {
    if (log.writer == nullptr) continue;
    const bool failed = log.failed();
    IOStatus closed = log.writer->Close();
    if (s.ok() && !failed) s = closed;
    log.recovered_bytes = log.bytes();
    log.writer.reset();
  }
  current_ = nullptr;
  return s;
}

LogSet::LogInfo LogSet::CurrentEnd() const {
  MutexLock lock(&mu_);
  if (logs_.empty() || logs_.back().failed()) return LogInfo{0, 0};
  const uint64_t bytes = logs_.back().bytes();
  return LogInfo{bytes == 0 ? 0 : logs_.back().number, bytes};
}

uint64_t LogSet::current_number() const {
  MutexLock lock(&mu_);
  return logs_.empty() ? 0 : logs_.back().number;
}

uint64_t LogSet::total_bytes() const {
  MutexLock lock(&mu_);
  uint64_t total = 0;
  for (const Log& log : logs_) total += log.bytes();
  return total;
}

uint64_t LogSet::unsynced_bytes() const {
  MutexLock lock(&mu_);
  uint64_t total = 0;
  for (const Log& log : logs_) total += log.bytes() - std::min(log.bytes(), log.synced_bytes);
  return total;
}

uint64_t LogSet::oldest_number() const {
  MutexLock lock(&mu_);
  return logs_.empty() ? 0 : logs_.front().number;
}

bool LogSet::current_empty() const {
  MutexLock lock(&mu_);
  return logs_.empty() || logs_.back().empty();
}

bool LogSet::current_failed() const {
  MutexLock lock(&mu_);
  return logs_.empty() || logs_.back().failed();
}

std::vector<LogSet::LogInfo> LogSet::List() const {
  MutexLock lock(&mu_);
  std::vector<LogInfo> result;
  for (const Log& log : logs_) result.push_back(LogInfo{log.number, log.bytes()});
  return result;
}

}  // namespace varve
