// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the parts of one open database share. No behaviour of its own: each part works on it.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/listener.h"
#include "varve/write_buffer_manager.h"

#include "db/background/error_state.h"
#include "db/background/open_calls.h"
#include "db/background/tree_admission.h"
#include "db/column_family/column_family.h"
#include "db/read/live_snapshots.h"
#include "db/version/version_set.h"
#include "db/wal/log_set.h"
#include "db/write/commit_path.h"
#include "db/write/write_stall.h"
#include "util/env/writable_file_writer.h"
#include "util/metrics/cache_entry_stats.h"
#include "util/sync/give_way.h"
#include "util/sync/mutex.h"

namespace varve {

class CompactionWork;
class ErrorRecovery;
class FlushWork;
class ObsoleteFiles;
class OptionsKeeper;
class PeriodicWork;
class Scrubber;
class SpaceReserve;
class VoidedSequences;
class WriteAdmission;

// The property varve.recovery.
struct RecoveryReport : RecoveryInfo {
  // Names and values, in the order in which they are shown.
  std::vector<std::pair<std::string, std::string>> Fields() const;
  std::string ToString() const;
  // Nothing was dropped, lost, missing or left behind.
  bool clean() const;
};

// Counts of one level's compactions since open (property stats).
struct LevelCompactionStats {
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t bytes_moved = 0;
  uint64_t micros = 0;
  uint64_t count = 0;
  uint64_t entries_in = 0;
  uint64_t entries_dropped = 0;
};

// Ownership: shared by the DB and by its families, so that iterators and handles that outlive the
// DB still find what they point to. The families are let go of when the DB is (ReleaseFamilies).
// Locking order: commit path (exclusive or head) -> mu -> leaf mutexes (log set, snapshots,
// queues). No I/O and no user callback runs under mu.
struct Engine : public std::enable_shared_from_this<Engine> {
  Engine();
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // --- Constant after open
  DB* db = nullptr;        // what listeners are given; set before background work starts
  std::string name;        // directory; absolute where the file system knows of such paths
  std::string given_name;  // as the user wrote it
  DBOptions options;       // as opened, sanitised, paths as in `name`; dynamic ones: see `dynamic`
  Env* env = nullptr;
  std::shared_ptr<FileSystem> fs;
  SystemClock* clock = nullptr;
  std::shared_ptr<Logger> info_log;
  Statistics* statistics = nullptr;
  std::shared_ptr<WriteBufferManager> write_buffer_manager;
  FileOptions file_options;
  std::unique_ptr<FSDirectory> directory;
  std::unique_ptr<FSDirectory> wal_directory;
  FileLock* lock = nullptr;   // of the directory; null when read-only
  std::string options_db_id;  // drawn or read for a database that is being made
  std::string session_id;     // 20 characters
  std::string host_name;
  bool read_only = false;
  uint64_t open_micros = 0;
  std::shared_ptr<Cache> limited_tables;  // null: open files unlimited
  CacheEntryStatsCollector cache_stats;   // of block caches; thread-safe
  std::unique_ptr<CommitHost> host;
  std::unique_ptr<WriteAdmission> admission;
  std::unique_ptr<CommitPath> commit;
  RecoveryReport recovery;
  std::unique_ptr<wal::SyncedMarks> marks;  // outlives the logs and the version set

  // --- Guarded by mu (or as their classes say)
  Mutex mu;
  CondVar background_changed{
      &mu};  // a job ended, an error was set or lifted, a stall may have ended
  TreeAdmission tree{[this] { background_changed.SignalAll(); }};  // and whether work is paused
  // Of the writers that are stopped: whoever ends that, for whatever reason, wakes one of them, and
  // each wakes the next as it goes on.
  CondVar stop_ended{&mu};
  bool stop_watched = false;                 // one of them looks from time to time, for all
  std::shared_ptr<const DBOptions> dynamic;  // the current values of all options
  std::unique_ptr<VersionSet> versions;
  ColumnFamilySet families;
  LiveSnapshots snapshots;
  std::unique_ptr<LogSet> logs;
  ErrorState errors;
  // What memtables leave out since the last recovery, of which each takes a share. Not null.
  std::shared_ptr<VoidedSequences> voided;
  std::unique_ptr<DelayPacer> pacer;
  int delayed_families = 0;
  int stopped_families = 0;
  std::string stall_reason;      // of the worst condition now; empty when none
  uint64_t stall_since = 0;      // when this stall, of whatever families, began; 0: none
  uint64_t last_debt_bytes = 0;  // pending compaction bytes of the most indebted delayed family
  int stalled_writers = 0;       // that wait now, and since when the first of them does
  uint64_t writers_stalled_since = 0;
  uint64_t total_stall_micros = 0;  // wall time with a writer waiting, without the one under way
  uint64_t total_delayed_writes = 0;
  uint64_t total_stopped_writes = 0;
  uint64_t memory_stalls = 0;  // writes that waited for the write-buffer manager, and how long
  uint64_t memory_stall_micros = 0;
  std::map<uint32_t, StallCounts> stall_counts;  // by family
  bool switching_memtables = false;              // a writer is at it; others need not
  DelayPacer low_priority_pacer{2 << 20};
  int file_deletions_disabled = 0;  // by users
  int files_kept = 0;               // by calls that read files by their names, for their time
  int wal_locked = 0;               // calls of LockWAL in force
  bool wal_locking = false;         // one waits for the commit path; others wait for it
  std::vector<LevelCompactionStats> level_stats;
  uint64_t flush_count = 0;
  uint64_t flush_bytes = 0;
  SharedHaste::Wish flush_haste{&SharedHaste::OfFlushes()};
  SharedHaste::Wish compaction_haste{&SharedHaste::OfCompactions()};
  enum class Closing : uint8_t { kNo, kUnderWay, kOver } closing = Closing::kNo;
  Status close_status;  // what Close came to, once it is over

  // --- Parts
  std::unique_ptr<FlushWork> flush;
  std::unique_ptr<CompactionWork> compaction;
  std::unique_ptr<ObsoleteFiles> obsolete;
  std::unique_ptr<OptionsKeeper> options_keeper;
  std::unique_ptr<ErrorRecovery> recovery_work;
  std::unique_ptr<PeriodicWork> periodic;  // null when read-only
  std::unique_ptr<Scrubber> scrubber;      // null: none was asked for
  std::unique_ptr<SpaceReserve> reserve;   // likewise

  // Set when Close begins; background jobs look at it often. Release/acquire.
  std::atomic<bool> shutting_down{false};
  // Set under mu, before anything else that Close does. Also set in the child that a fork() makes:
  // there the engine is dead (fork_guard.h).
  std::atomic<bool> closed{false};
  OpenCalls calls;
  std::atomic<bool> forked{false};        // that is why it is closed
  std::shared_ptr<Engine> kept_by_child;  // itself, once the child's DB goes: it stays for ever
  HolderCounts holders;
  // A write with disableWAL was made: Close flushes. Only ever set; read by Close.
  std::atomic<bool> has_unlogged_data{false};
  // Set when the next writer has to look at stalls or full memtables, by whoever changes one of
  // these (release); read relaxed by writers: they take mu before they act.
  std::atomic<bool> attention{false};
  // Whether WriteRefusal would give an error. Changed under mu; read relaxed by the commit path,
  // which takes mu before it tells the reason.
  std::atomic<bool> refuses_writes{false};

  // Calls that wait for background work, which then gives way to nobody. Changed under mu, read
  // relaxed.
  std::atomic<int> waiting_calls{0};

  // How often jobs gave way, and how long others had their processors. For people; relaxed.
  std::atomic<uint64_t> total_pauses{0};
  std::atomic<uint64_t> total_paused_nanos{0};

  std::atomic<int> next_job_id{1};  // only unique numbers matter

  // For durations: the wall clock may step.
  uint64_t MonotonicMicros() const { return clock->NowNanos() / 1000; }
  int NextJobId() { return next_job_id.fetch_add(1, std::memory_order_relaxed); }
  const std::string& WalDirectory() const {
    return options.wal_dir.empty() ? name : options.wal_dir;
  }
  FileOptions LogFileOptions() const;
  WritableFileWriter::Options LogWriterOptions() const;  // requires mu
  int MaxFlushes() const;  // at once, from max_background_jobs and its older forms
  int MaxCompactions() const;

  // A family by handle. Null and *status set when the handle is null or another database's. A
  // dropped family is still there as long as it has a handle.
  ColumnFamily* Resolve(ColumnFamilyHandle* handle, Status* status) const;
  // Nothing of this engine refers to a family any more; its work has ended.
  void ReleaseFamilies();
  // With shutting_down set: jobs that wait for a thread of the environment's will not come to it.
  // Requires mu. Does not throw.
  void TakeBackJobs();
  // Forgets what memtables left out: they are in tables. Requires mu.
  void ForgetVoided();
  // Why no write may be made now, or OK; keeps refuses_writes in step, and lets stopped writers
  // know. Requires mu.
  Status WriteRefusal();
  // What calls do that wait for background work: until background_changed is signalled, at most so
  // long. Requires mu.
  void AwaitWork();
  void AwaitWorkFor(uint64_t micros);
  // Judges every family's stall rules anew, and how near to a stall the nearest is. Requires mu;
  // lets go of it to tell listeners. Does not throw.
  void UpdateStalls();
  // Shows readers the family as it is now. The change is in force whatever this answers: what fails
  // for want of memory is a background error, and recovery from it does this again. Requires mu.
  Status ShowChange(ColumnFamily* family);
  // The stall in force for people: reason, length and what ends it; empty when there is none.
  // Requires mu.
  std::string DescribeStall() const;
  // Wall time that writers have waited, the wait under way included. Requires mu.
  uint64_t StallMicros() const;
  // Reports an error of background work or of a commit; starts recovery when it can help. Requires
  // mu; lets go of it to tell people. Does not throw.
  void ReportError(const Status& error, BackgroundErrorReason reason);
  // The same; the answer is the error with its severity, for whoever called.
  [[nodiscard]] Status ReportedError(const Status& error, BackgroundErrorReason reason);
  // One attempt to get from a soft or hard error back to work. Takes mu and the commit path itself.
  Status Resume();

 private:
  void DescribeVerdict(const ColumnFamily& family, const StallVerdict& verdict,
                       const StallInput& input, std::vector<WriteStallInfo>* changes);
  void NoteVerdict(const ColumnFamily& family, const StallVerdict& verdict);
  void TellStallChanges(bool stalled, uint64_t lasted, const std::vector<WriteStallInfo>& changes);
};

}  // namespace varve
