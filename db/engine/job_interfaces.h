// SPDX-License-Identifier: Apache-2.0
#pragma once

// What parts of the engine, and jobs among themselves, ask of background jobs: no more than each of
// them uses, so that a test can stand in for the rest. The jobs are in db/background/.

#include <vector>

#include "varve/listener.h"
#include "varve/options.h"
#include "varve/status.h"

#include "db/db_mutex.h"

namespace varve {

class ColumnFamily;

// What writers ask of flushing before they enter the commit path.
class MemTableFlusher {
 public:
  virtual ~MemTableFlusher() = default;

  // Whether SwitchFullMemTables would find something to do that writes must wait for: a memtable is
  // full, or logs or memory are too large.
  virtual bool AnythingFull() VARVE_REQUIRES(kDbMutex) = 0;
  // Or something that makes later writes faster.
  virtual bool AnythingDue() VARVE_REQUIRES(kDbMutex) = 0;
  // When any of that is so. The commit path is held exclusively.
  virtual Status SwitchFullMemTables() VARVE_REQUIRES(kDbMutex) = 0;
  // Families that stop writes with memtables that nobody has asked to flush yet (they wait to be
  // merged with more, which will not come): asks, and hands requests to threads.
  virtual void FlushStopped() VARVE_REQUIRES(kDbMutex) = 0;
};

// What a compaction of a range asks of flushing.
class RangeFlusher {
 public:
  virtual ~RangeFlusher() = default;

  // Whether one more table of the family in L0 would make writes stall, and there is work under way
  // that may change that.
  virtual bool WouldStall(const ColumnFamily& family) const VARVE_REQUIRES(kDbMutex) = 0;
  // Flush() of the API. The caller keeps the families alive.
  virtual Status FlushFamilies(const std::vector<ColumnFamily*>& families,
                               const FlushOptions& options, FlushReason reason)
      VARVE_EXCLUDES(kDbMutex) = 0;
};

class CompactionScheduler {
 public:
  virtual ~CompactionScheduler() = default;

  // Queues the family when its shape asks for work, and hands queued ones to background threads.
  virtual void Schedule(ColumnFamily* family) VARVE_REQUIRES(kDbMutex) = 0;
  virtual void ScheduleAll() VARVE_REQUIRES(kDbMutex) = 0;
  // Something is compacted now, or waits to be.
  virtual bool Busy() const VARVE_REQUIRES(kDbMutex) = 0;
  // Something is compacted now, or will be with nobody asking. Calls that wait themselves, as
  // before a flush, are not counted.
  virtual bool MayMakeRoom() const VARVE_REQUIRES(kDbMutex) = 0;
};

class FilePurger {
 public:
  virtual ~FilePurger() = default;

  // Closes and deletes what is obsolete by now, unless deletions are disabled. Releases the DB
  // mutex while files go.
  virtual void Purge() VARVE_REQUIRES(kDbMutex) = 0;
};

// Calls jobs that have something to do every so often.
class JobTimer {
 public:
  virtual ~JobTimer() = default;

  // False: nothing is ever due.
  virtual bool ticks() const = 0;
  // Something may be due now. From any thread.
  virtual void Wake() = 0;
};

class RecoveryStarter {
 public:
  virtual ~RecoveryStarter() = default;

  // Starts the thread that tries to recover from an error until it helps, if it is not there. May
  // release the DB mutex.
  virtual void StartRetrying() VARVE_REQUIRES(kDbMutex) = 0;
  // What stood in the way may be gone: the next attempt is due.
  virtual void Hurry() VARVE_REQUIRES(kDbMutex) = 0;
};

}  // namespace varve
