// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares what parts of the engine, and jobs among themselves, need of background jobs: only what
// each of them uses, so that a test can replace the rest. The jobs are in db/background/.

#include <vector>

#include "varve/listener.h"
#include "varve/options.h"
#include "varve/status.h"

#include "db/db_mutex.h"

namespace varve {

class ColumnFamily;

// Declares what writers need of flushing before they enter the commit path.
class MemTableFlusher {
 public:
  virtual ~MemTableFlusher() = default;

  // True if SwitchFullMemTables would find work that writes must wait for: a memtable is full, or
  // logs or memory are too large.
  virtual bool AnythingFull() VARVE_REQUIRES(kDbMutex) = 0;
  // True if AnythingFull is, or if SwitchFullMemTables would find work that only makes later writes
  // faster.
  virtual bool AnythingDue() VARVE_REQUIRES(kDbMutex) = 0;
  // Switches what is full, and requests the flushes that follow. Must be called if AnythingFull or
  // AnythingDue is true. Requires that the caller keeps writers out (CommitPath::EnterExclusive).
  // Releases the mutex while it begins a new log. An error that it returns was already reported to
  // the error handler.
  virtual Status SwitchFullMemTables() VARVE_REQUIRES(kDbMutex) = 0;
  // Requests a flush of each family whose number of memtables stops writes, unless one is requested
  // or running: its memtables may be waiting to be merged with more
  // (min_write_buffer_number_to_merge), which will not come. Hands the requests to threads.
  virtual void FlushStopped() VARVE_REQUIRES(kDbMutex) = 0;
};

// Declares what a compaction of a range needs of flushing.
class RangeFlusher {
 public:
  virtual ~RangeFlusher() = default;

  // True if one more L0 table of the family would make writes stall, and work in progress may
  // change that.
  virtual bool WouldStall(const ColumnFamily& family) const VARVE_REQUIRES(kDbMutex) = 0;
  // Implements Flush() of the API. The caller keeps the families alive.
  virtual Status FlushFamilies(const std::vector<ColumnFamily*>& families,
                               const FlushOptions& options, FlushReason reason)
      VARVE_EXCLUDES(kDbMutex) = 0;
};

// Declares what flushes, writers and changes of families need of compactions.
class CompactionScheduler {
 public:
  virtual ~CompactionScheduler() = default;

  // Queues the family if its tree needs a compaction, and hands queued ones to background threads.
  // ScheduleAll does so for all families.
  virtual void Schedule(ColumnFamily* family) VARVE_REQUIRES(kDbMutex) = 0;
  virtual void ScheduleAll() VARVE_REQUIRES(kDbMutex) = 0;
  // True if a compaction runs or waits.
  virtual bool Busy() const VARVE_REQUIRES(kDbMutex) = 0;
  // True if a compaction runs, or will run by itself. Does not count a manual call that runs no
  // plan at present, for example while it waits for a flush, nor queued families while an error
  // awaits Resume().
  virtual bool MayMakeRoom() const VARVE_REQUIRES(kDbMutex) = 0;
};

// Declares what jobs need of the deletion of files.
class FilePurger {
 public:
  virtual ~FilePurger() = default;

  // Closes and deletes what is obsolete now, unless deletions are disabled. Releases the DB mutex
  // while files are deleted.
  virtual void Purge() VARVE_REQUIRES(kDbMutex) = 0;
};

// Calls jobs periodically.
class JobTimer {
 public:
  virtual ~JobTimer() = default;

  // Returns false if there are no periodic jobs.
  virtual bool ticks() const = 0;
  // Notes that a job may be due now. Any thread.
  virtual void Wake() = 0;
};

// Declares what error handling needs of the thread that recovers.
class RecoveryStarter {
 public:
  virtual ~RecoveryStarter() = default;

  // Starts the thread that retries recovery until it succeeds, unless it runs. May release the DB
  // mutex.
  virtual void StartRetrying() VARVE_REQUIRES(kDbMutex) = 0;
  // Notes that the obstacle may be gone: makes the next attempt due.
  virtual void Hurry() VARVE_REQUIRES(kDbMutex) = 0;
};

}  // namespace varve
