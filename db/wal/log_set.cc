// SPDX-License-Identifier: Apache-2.0

// The log set holds the logs that recovery would still need. Writers append to the newest, the
// current log; the set makes logs durable, and gives up those whose contents are in tables.
//
//      oldest                                              current
//     +-----------+   +-----------+   +-----------+   +-----------+
//     | 12        |   | 15        |   | 17        |   | 19        |
//     | recovered |   | closed    |   | sealed,   |   | written   |
//     |           |   | (durable) |   | not yet   |   | by all    |
//     |           |   |           |   | durable   |   | writers   |
//     +-----------+   +-----------+   +-----------+   +-----------+
//       ^ TakeObsolete takes from here        Switch adds there ^
//
// A memtable switch appends a new log (Switch) and seals the one before: it is truncated to its
// records and not written any more. A sealed log is closed once it is durable or its contents are
// in tables. When every family's log number has passed a log, TakeObsolete removes it.
//
// Many writers with WriteOptions::sync share syncs. Syncs are numbered rounds, of which one runs at
// a time. A writer that finds no round running begins one, which covers everything that was
// reserved before. A writer that finds round r running cannot know whether it is covered, and waits
// for round r + 1:
//
//     round 7   |begin ------- fdatasync ------- end|
//     writer A    SyncTo: sleeps on round 8 ........|leads ------- round 8 ------- end|
//     writer B         SyncTo: sleeps on round 8 ..............................returns|
//
// Invariants
// 1. Logs are in ascending order of their numbers. Only the last one is written.
// 2. Tickets decide what is durable, never sizes. A log is durable up to the ticket that its last
//    good sync covered: the last one whose record was wholly in the file when that sync began.
// 3. At most one round runs. A round ends, whatever is thrown, because others wait for it.
// 4. Writers sleep only for the running round and the next one.
// 5. After a failed sync the logs that it was to make durable are in doubt: the system may have
//    discarded what it could not write, and may report success for the next sync. Every sync that
//    depends on them returns the error, until their contents are in tables (MarkClosedFlushed).
// 6. A sync of the directory covers the names that existed when it began. Such syncs do not
//    overlap, because the system would report a failure to only one of two.
// 7. Only a prefix of the logs becomes obsolete: never the current log, nor one that is unsealed,
//    busy, pinned (it is being copied) or held (it is being read), nor any log after such a one.
// 8. While a thread uses a log without the mutex, to sync or close it, the log is busy and stays.

#include "db/wal/log_set.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/probes.h"
#include "util/sync/futex.h"

namespace varve {

LogSet::LogSet(bool use_fsync, wal::SyncedMarks* marks)
    : use_fsync_(use_fsync), marks_(marks), sync_done_(&mu_), directory_done_(&mu_) {}

LogSet::~LogSet() = default;

// The new log is in the list before the old one is sealed, because sealing is I/O, for which the
// mutex is released.
void LogSet::Switch(std::unique_ptr<wal::CommitLog> log, FSDirectory* directory) {
  const std::shared_ptr<wal::CommitLog> next = std::move(log);
  std::shared_ptr<wal::CommitLog> before;
  {
    MutexLock lock(&mu_);
    VARVE_ASSERT(logs_.empty() || logs_.back().number < next->number());  // Invariant 1.
    if (!logs_.empty()) before = logs_.back().writer;
    Log& added = logs_.emplace_back();
    added.number = next->number();
    added.first_ticket = next->last_ticket();
    added.name = ++names_;
    added.writer = next;
    current_ = next.get();
    directory_ = directory;
  }
  if (before == nullptr) return;
  // The log remembers a failure, which its owner learns when the log is synced.
  // Sealed without the mutex, as that may write; `sealed` tells others when it is over.
  before->Seal().PermitUncheckedError();
  MutexLock lock(&mu_);
  if (Log* const left = Find(before.get()); left != nullptr) left->sealed = true;
  CallWaker();
}

IOStatus LogSet::FlushCurrent() {
  std::shared_ptr<wal::CommitLog> log;
  {
    MutexLock lock(&mu_);
    if (!logs_.empty()) log = logs_.back().writer;
  }
  return log == nullptr ? IOStatus::OK() : log->Flush();
}

IOStatus LogSet::FlushBuffers() {
  std::vector<std::shared_ptr<wal::CommitLog>> open;
  {
    MutexLock lock(&mu_);
    for (const Log& log : logs_) {
      if (log.writer != nullptr && !log.flushed) open.push_back(log.writer);
    }
  }
  for (const auto& log : open) {
    IOStatus s = log->Flush();
    if (!s.ok()) return s;
  }
  return IOStatus::OK();
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

// Any sync that begins after this call covers everything it must.
IOStatus LogSet::SyncLogs(bool current) {
  MutexLock lock(&mu_);
  // A round that runs already may have begun before the caller's records were written.
  const uint64_t round = rounds_begun_ + 1;
  while (syncing_ && !HasSucceeded(round)) sync_done_.Wait();
  return HasSucceeded(round) ? IOStatus::OK() : SyncDirty(current);
}

IOStatus LogSet::SyncClosed() {
  IOStatus s = SyncLogs(/*current=*/false);
  if (s.ok()) CloseKept(/*min_number=*/0);
  return s;
}

// A caller either finds its record durable, or leads a round, or sleeps until the round that covers
// its record ends (see the drawing above). Sleepers are woken for two reasons: their round has
// ended, or one of them is to lead it; so each looks again.
IOStatus LogSet::SyncTo(const wal::LogReservation& place) {
  MutexLock lock(&mu_);
  callers_.fetch_add(1, std::memory_order_relaxed);
  sync_requests_++;
  uint64_t round = rounds_begun_ + 1;  // The sync that covers the place.
  IOStatus s;
  for (;;) {
    const Log* const log = Find(place.log);
    // A log that is gone was obsolete: its contents are in tables.
    if (log == nullptr || log->synced.ticket >= place.ticket) break;
    if (!syncing_) {
      AwaitOtherWriters();
      s = SyncDirty(/*current=*/true);
      break;
    }
    if (round <= rounds_done_) round = rounds_begun_ + 1;  // It failed, or was of closed logs only.
    VARVE_ASSERT(round == rounds_begun_ || round == rounds_begun_ + 1);  // Invariant 4.
    const uint32_t seen = FutexOf(round).load(std::memory_order_relaxed);
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    lock.Unlock();
    FutexWait(FutexOf(round), seen);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    if (HasSucceeded(round)) {
      callers_.fetch_sub(1, std::memory_order_relaxed);
      return IOStatus::OK();
    }
    lock.Lock();
  }
  callers_.fetch_sub(1, std::memory_order_relaxed);
  // A thread that was woken to do the next sync, but need not, wakes another.
  if (!syncing_) CallNextLeader();
  return s;
}

// May be called without the mutex. False does not mean that the round failed: a later one may have
// failed since, so the caller takes the mutex and looks at the log itself.
bool LogSet::HasSucceeded(uint64_t round) const {
  return last_good_round_.load(std::memory_order_acquire) >= round &&
         last_bad_round_.load(std::memory_order_relaxed) < round;
}

void LogSet::EndRound(uint64_t round, bool good) {
  VARVE_ASSERT(round == rounds_begun_ && round > rounds_done_);  // Invariant 3.
  rounds_done_ = round;
  (good ? last_good_round_ : last_bad_round_).store(round, std::memory_order_release);
  sync_done_.SignalAll();
  if (sleepers_.load(std::memory_order_relaxed) == 0) return;
  FutexOf(round).fetch_add(1, std::memory_order_relaxed);
  FutexWakeAll(FutexOf(round));
}

// Wakes one of those who came too late for the last round.
void LogSet::CallNextLeader() {
  if (sleepers_.load(std::memory_order_relaxed) == 0) return;
  std::atomic<uint32_t>& word = FutexOf(rounds_begun_ + 1);
  word.fetch_add(1, std::memory_order_relaxed);
  FutexWakeOne(word);
}

// Waits a moment for writers that the last round released and that are about to write again,
// because otherwise they would wait for this round and another. It stops when as many callers are
// there as the last round had, or no further one has come during a yield. syncing_ keeps others
// from beginning a round meanwhile, although none has a number yet.
void LogSet::AwaitOtherWriters() {
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

IOStatus LogSet::SyncFiles(std::vector<Dirty>* dirty) try {
  IOStatus s;
  for (size_t i = 0; i < dirty->size() && s.ok(); i++) {
    s = (*dirty)[i].log->Sync(use_fsync_, &(*dirty)[i].covered);
  }
  return s;
} catch (...) {
  return status_to_io_status(CaughtException());
}

IOStatus LogSet::Doubt(bool current) const {
  for (const Log& log : logs_) {
    if (&log == &logs_.back() && !current) break;
    if (log.in_doubt) return sync_error_;
  }
  return IOStatus::OK();
}

// A log that has failed ends the collection with its error: no sync can help it.
IOStatus LogSet::CollectDirty(bool current, std::vector<Dirty>* dirty) {
  IOStatus s = Doubt(current);
  if (!s.ok()) return s;
  for (const Log& log : logs_) {
    const bool last = &log == &logs_.back();
    if (last && !current) break;
    if (log.durable()) continue;
    // A current log without records has at most a predecessor record. That matters only to records
    // after it, and to the predecessor record of the next log.
    if (last && log.empty()) break;
    if (log.failed()) {
      if (!sync_error_.ok()) return sync_error_;
      return log.writer->Sync(use_fsync_);  // Returns the log's failure at once.
    }
    dirty->push_back(Dirty{log.writer, {}});
  }
  return s;
}

// Makes one round. The order matters to a crash and to waiters: the files are synced, then the
// directory, then the mark says so, then the result is noted at each log, and last the waiters are
// woken. If nothing needs a sync, no round begins. Does not throw, as others wait for the result.
IOStatus LogSet::SyncDirty(bool current) try {
  VARVE_ASSERT(!syncing_);  // Invariant 3.
  std::vector<Dirty> dirty;
  IOStatus s = CollectDirty(current, &dirty);
  if (!s.ok() || (dirty.empty() && DirtyDirectory() == nullptr)) return s;
  // Marked under the mutex: a busy log is neither closed nor taken as obsolete while it is synced.
  for (const Dirty& log : dirty) Find(log.log.get())->busy = true;
  syncing_ = true;
  const uint64_t round = ++rounds_begun_;
  released_ = callers_.load(std::memory_order_relaxed);
  {
    MutexUnlock unlock(&mu_);
    // A static probe, for tracing programs; a canary is a bug that only test builds plant
    // (util/base/probes.h and canary.h).
    VARVE_PROBE_LOG_SYNC_BEGIN(round, dirty.size());
    if (!VARVE_CANARY(kSkipLogSync)) s = SyncFiles(&dirty);
  }
  // The round must end whatever is thrown, because others wait for it.
  try {
    if (s.ok()) s = SyncDirectory();
    // A sync of the directory by another thread (SyncNames) may have failed meanwhile.
    if (s.ok()) s = Doubt(current);
  } catch (...) {
    s = IOStatus::Aborted();
  }
  // The mark comes after the sync that proves it, and before any waiter hears of that. It is only
  // evidence, so a clock that throws there fails no sync.
  if (s.ok() && marks_ != nullptr && !dirty.empty()) {
    MutexUnlock unlock(&mu_);
    const Dirty& newest = dirty.back();
    BestEffort([&] { marks_->NoteLog(newest.log->number(), newest.covered.bytes); });
  }
  VARVE_PROBE_LOG_SYNC_END(round, s);
  syncing_ = false;
  NoteSynced(dirty, s);
  EndRound(round, s.ok() && current);
  CallNextLeader();
  return s;
} catch (...) {
  return status_to_io_status(CaughtException());
}

// Waiters for this sync get an error even if there is no memory for its text.
void LogSet::RememberError(const IOStatus& error) noexcept {
  if (!sync_error_.ok()) return;
  try {
    sync_error_ = error;
  } catch (...) {
    sync_error_ = IOStatus::Aborted();
  }
}

// Notes at each log of a round what the round has made durable, or that the log is in doubt. A sync
// that is retried after a failure may succeed only because the system has discarded what it could
// not write, so a log stays in doubt until it is flushed.
void LogSet::NoteSynced(const std::vector<Dirty>& dirty, const IOStatus& result) {
  for (const Dirty& synced : dirty) {
    Log* const log = Find(synced.log.get());
    VARVE_ASSERT(log != nullptr && log->busy);                                  // Invariant 8.
    VARVE_ASSERT(!result.ok() || synced.covered.ticket >= log->synced.ticket);  // Invariant 2.
    log->busy = false;
    if (result.ok()) log->synced = synced.covered;
    log->in_doubt |= !result.ok() && !log->flushed;
    log->was_in_doubt |= log->in_doubt;
  }
  if (!result.ok()) RememberError(result);
  CallWaker();
}

FSDirectory* LogSet::DirtyDirectory() const {
  return synced_names_ < names_ ? directory_ : nullptr;
}

// At most one thread syncs the directory, without the mutex (invariant 6). If that fails, the logs
// whose names it was to make durable are in doubt. May be called when all names are durable.
IOStatus LogSet::SyncDirectory() {
  while (syncing_directory_) directory_done_.Wait();
  FSDirectory* const directory = DirtyDirectory();
  if (directory == nullptr) return IOStatus::OK();
  const uint64_t names = names_;
  IOStatus s;
  syncing_directory_ = true;
  {
    MutexUnlock unlock(&mu_);
    s = status_to_io_status(Guarded([&] { return directory->Fsync(IOOptions(), nullptr); }));
  }
  syncing_directory_ = false;
  VARVE_ASSERT(synced_names_ < names && names <= names_);  // Invariant 6.
  directory_done_.SignalAll();
  if (s.ok()) {
    synced_names_ = names;
  } else {
    for (Log& log : logs_) {
      log.in_doubt |= log.name > synced_names_ && log.name <= names && !log.flushed;
      log.was_in_doubt |= log.in_doubt;
    }
    RememberError(s);
  }
  return s;
}

// Takes no part in the rounds, and does not wait for one: the thread that is about to switch logs
// keeps writers out meanwhile.
IOStatus LogSet::SyncNames() {
  MutexLock lock(&mu_);
  return SyncDirectory();
}

void LogSet::MarkClosedFlushed() {
  MutexLock lock(&mu_);
  for (Log& log : logs_) {
    if (&log == &logs_.back()) break;
    log.flushed = true;
    log.in_doubt = false;
  }
  // Only the current log may still be in doubt.
  if (logs_.empty() || !logs_.back().in_doubt) sync_error_ = IOStatus::OK();
}

bool LogSet::AllSynced() const {
  MutexLock lock(&mu_);
  return std::ranges::all_of(logs_, &Log::durable);
}

void LogSet::AddRecovered(uint64_t number, uint64_t bytes) {
  MutexLock lock(&mu_);
  VARVE_ASSERT(current_ == nullptr);
  Log log;
  log.number = number;
  log.closed_bytes = bytes;
  log.sealed = true;
  logs_.push_back(std::move(log));
}

// Stops at the first log that must stay, as only a prefix may go. left_obsolete_ then remembers
// that the waker is due.
std::vector<LogSet::Retired> LogSet::TakeObsolete(uint64_t min_number) {
  std::vector<Retired> taken;
  MutexLock lock(&mu_);
  taken.reserve(logs_.size());  // So that taken logs are not lost for lack of memory.
  while (logs_.size() > 1 && logs_.front().number < min_number) {
    const Log& log = logs_.front();
    const bool held = log.pins > 0 || (!held_.empty() && *held_.begin() <= log.number);
    left_obsolete_ = !log.sealed || log.busy || held;
    if (left_obsolete_) break;
    leaving_.insert(log.number);
    taken.push_back(Retired{log.number, log.writer, log.recyclable, log.doubtful()});
    logs_.pop_front();
  }
  return taken;
}

void LogSet::NoteGone(const std::vector<Retired>& taken) noexcept {
  MutexLock lock(&mu_);
  for (const Retired& log : taken) leaving_.erase(log.number);
}

void LogSet::SetWaker(std::function<void()> waker) {
  MutexLock lock(&mu_);
  waker_ = std::move(waker);
}

void LogSet::CallWaker() {
  if (std::exchange(left_obsolete_, false) && waker_ != nullptr) waker_();
}

// Returns the logs that the caller must close; the set has no writer for them any more. They stay
// in the set, marked busy until CloseKept has closed them.
std::vector<LogSet::Retired> LogSet::TakeKept(uint64_t min_number) {
  std::vector<Retired> taken;
  MutexLock lock(&mu_);
  taken.reserve(logs_.size());  // So that every log marked busy is returned.
  for (Log& log : logs_) {
    if (&log == &logs_.back()) break;
    if (log.writer == nullptr || !log.sealed || log.busy || log.pins > 0) continue;
    const bool idle = log.durable() && !log.failed();
    if (!idle && log.number >= min_number) continue;
    taken.push_back(Retired{log.number, log.writer, false, false});
    // Both are asked of the writer, which leaves the set here.
    log.closed_bytes = log.bytes();
    log.was_in_doubt |= log.failed();
    log.busy = true;
    log.writer.reset();
  }
  return taken;
}

// The contents of an obsolete log are in tables, those of a durable one on disk: a failed close
// loses nothing.
void LogSet::CloseRetired(std::vector<Retired>* logs) {
  for (Retired& log : *logs) {
    if (log.writer == nullptr) continue;
    const bool sound = !log.writer->failed() && Guarded([&] { return log.writer->Close(); }).ok();
    log.recyclable = sound && log.writer->recyclable();
    log.writer.reset();
  }
}

// Takes the logs under the mutex, closes them without it, and then makes them idle again.
void LogSet::CloseKept(uint64_t min_number) {
  std::vector<Retired> kept = TakeKept(min_number);
  if (kept.empty()) return;
  CloseRetired(&kept);
  MutexLock lock(&mu_);
  for (const Retired& closed : kept) {
    const auto it = std::ranges::find(logs_, closed.number, &Log::number);
    VARVE_ASSERT(it != logs_.end() && it->busy && it->writer == nullptr);  // Invariant 8.
    it->busy = false;
    it->recyclable = closed.recyclable;
  }
  CallWaker();
}

// Each log is closed without the mutex, as that is I/O. syncing_ and `busy` keep every other thread
// from syncing, closing or removing a log meanwhile.
IOStatus LogSet::CloseAll(bool sync) {
  IOStatus s;
  if (sync) s = Sync();
  MutexLock lock(&mu_);
  while (syncing_) sync_done_.Wait();
  VARVE_ASSERT(std::ranges::none_of(logs_, &Log::busy));
  syncing_ = true;
  if (sync && s.ok() && marks_ != nullptr && !logs_.empty()) {
    const uint64_t number = logs_.back().number;
    const uint64_t bytes = logs_.back().synced.bytes;
    MutexUnlock unlock(&mu_);
    marks_->NoteLog(number, bytes, /*last=*/true);
  }
  for (Log& log : logs_) {
    if (log.writer == nullptr) continue;
    // Asked before the file is closed, as the error of an earlier failure is not returned again.
    const bool failed = log.failed();
    log.busy = true;
    IOStatus closed;
    {
      MutexUnlock unlock(&mu_);
      closed = log.writer->Close();
    }
    log.busy = false;
    if (s.ok() && !failed) s = closed;
    log.closed_bytes = log.bytes();
    log.was_in_doubt |= failed;
    log.writer.reset();
  }
  current_ = nullptr;
  syncing_ = false;
  sync_done_.SignalAll();
  return s;
}

// A log whose file a later log may reuse is not settled: a copy that is a link to the file would
// change with it.
std::vector<LogSet::PinnedLog> LogSet::Pin(uint64_t oldest) {
  std::vector<PinnedLog> pinned;
  MutexLock lock(&mu_);
  pinned.reserve(logs_.size());
  for (Log& log : logs_) {
    if (log.number < oldest) continue;
    const bool reusable = log.recyclable || (log.writer != nullptr && log.writer->recyclable());
    const bool settled = log.sealed && log.durable() && !log.failed() && !reusable;
    pinned.push_back(PinnedLog{log.number, log.bytes(), settled, log.writer});
    log.pins++;
  }
  return pinned;
}

IOStatus LogSet::HandOver(std::vector<PinnedLog>* logs) {
  for (PinnedLog& log : *logs) {
    if (log.writer == nullptr) continue;
    IOStatus s = log.writer->HandOver(&log.bytes);
    if (!s.ok()) return s;
  }
  return IOStatus::OK();
}

void LogSet::Unpin(const std::vector<PinnedLog>& logs) noexcept {
  MutexLock lock(&mu_);
  for (const PinnedLog& pinned : logs) {
    const auto it = std::ranges::find(logs_, pinned.number, &Log::number);
    VARVE_ASSERT(it != logs_.end() && it->pins > 0);  // Invariant 7.
    it->pins--;
  }
  CallWaker();
}

void LogSet::Hold(uint64_t from) {
  MutexLock lock(&mu_);
  held_.insert(from);
}

void LogSet::LetGo(uint64_t from) noexcept {
  MutexLock lock(&mu_);
  const auto it = held_.find(from);
  VARVE_ASSERT(it != held_.end());
  held_.erase(it);
  CallWaker();
}

uint64_t LogSet::oldest_held() const {
  MutexLock lock(&mu_);
  return held_.empty() ? UINT64_MAX : *held_.begin();
}

// Asks the writer of the log without the mutex, because that may wait for threads that store
// records.
bool LogSet::View(uint64_t number, LogView* view) const {
  std::shared_ptr<wal::CommitLog> writer;
  {
    MutexLock lock(&mu_);
    const auto it = std::ranges::lower_bound(logs_, number, {}, &Log::number);
    if (it == logs_.end()) return false;
    writer = it->writer;
    view->number = it->number;
    view->bytes = it->closed_bytes;
    view->synced_bytes = it->durable() ? it->bytes() : it->synced.bytes;
    view->current = current_ != nullptr && &*it == &logs_.back();
    view->recovered = it->name == 0;
    view->doubtful = it->doubtful();
  }
  view->held_back = writer == nullptr ? 0 : writer->held_back();
  if (writer != nullptr) view->bytes = writer->WholeEnd();
  view->synced_bytes = std::min(view->synced_bytes, view->bytes);
  return true;
}

void LogSet::NoteDoubtful() {
  MutexLock lock(&mu_);
  if (!logs_.empty()) logs_.back().was_in_doubt = true;
}

LogSet::LogInfo LogSet::CurrentEnd() const {
  MutexLock lock(&mu_);
  if (logs_.empty() || logs_.back().failed()) return LogInfo{0, 0};
  const uint64_t bytes = logs_.back().bytes();
  return LogInfo{bytes == 0 ? 0 : logs_.back().number, bytes};
}

uint64_t LogSet::held_back() const {
  MutexLock lock(&mu_);
  const bool open = !logs_.empty() && logs_.back().writer != nullptr;
  return open ? logs_.back().writer->held_back() : 0;
}

uint64_t LogSet::current_number() const {
  MutexLock lock(&mu_);
  return logs_.empty() ? 0 : logs_.back().number;
}

uint64_t LogSet::sync_requests() const {
  MutexLock lock(&mu_);
  return sync_requests_;
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
  for (const Log& log : logs_) {
    if (!log.durable()) total += log.bytes() - std::min(log.bytes(), log.synced.bytes);
  }
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

std::vector<uint64_t> LogSet::ListWithLeaving() const {
  MutexLock lock(&mu_);
  std::vector<uint64_t> numbers(leaving_.begin(), leaving_.end());
  for (const Log& log : logs_) numbers.push_back(log.number);
  return numbers;
}

}  // namespace varve
