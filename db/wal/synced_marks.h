// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores outside the logs and the MANIFEST how much of them is known to be durable. Otherwise a
// file that lost its end to corruption or an incomplete copy would look like one after a crash.
// Owns the small file that stores this; FORMAT.md describes its bytes.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"
#include "varve/system_clock.h"

#include "util/sync/io_mutex.h"

namespace varve::wal {

// Says what is durable. All zero: nothing is known.
struct SyncedMark {
  uint64_t log = 0;             // Number of a log; every record of older ones is durable.
  uint64_t log_bytes = 0;       // Bytes of that log that are durable.
  uint64_t manifest = 0;        // Number of the MANIFEST in force.
  uint64_t manifest_bytes = 0;  // Bytes of it that are durable.
};

// Reads the newest whole mark of a database. If it cannot be read, nothing is known: the file only
// supplements other evidence, and other programs delete it.
SyncedMark ReadSyncedMark(FileSystem* fs, const std::string& db_name);

// Writes the marks of an open database. A mark is written after it became true, and never synced,
// so whatever a crash leaves of the file is true too. No error of the file system reaches the
// database: the first one ends the marking. Thread safety: any thread. `clock` must outlive the
// object.
class SyncedMarks {
 public:
  // A sync of a log is written only if this time has passed since the last one that was; a later
  // one includes it. This limits the cost of notes, which are system calls, where syncs take less
  // time than this, as on a file system in memory.
  static constexpr uint64_t kBetweenNotesNanos = 100 * 1000;

  SyncedMarks(std::shared_ptr<FileSystem> fs, std::string db_name, SystemClock* clock);
  ~SyncedMarks();

  // Creates the file anew, and writes what was noted before this call. Without it nothing is
  // written.
  void Begin();
  // Notes that the log is durable up to `bytes`. If `last` is set, this is the last note, and is
  // written regardless of the time.
  void NoteLog(uint64_t log, uint64_t bytes, bool last = false);
  // Notes that the MANIFEST is durable up to `bytes`.
  void NoteManifest(uint64_t manifest, uint64_t bytes);

 private:
  // Writes mark_ into the file, and counts it.
  void Write() VARVE_REQUIRES(mu_);

  const std::shared_ptr<FileSystem> fs_;
  const std::string db_name_;
  SystemClock* const clock_;
  // Has no rank: it is held over I/O, in which a user's file system may call the database.
  IoMutex mu_;
  SyncedMark mark_ VARVE_GUARDED_BY(mu_);
  uint64_t written_ VARVE_GUARDED_BY(mu_) = 0;        // Number of marks so far.
  uint64_t written_nanos_ VARVE_GUARDED_BY(mu_) = 0;  // Time of the last one.
  std::unique_ptr<FSRandomRWFile> file_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve::wal
