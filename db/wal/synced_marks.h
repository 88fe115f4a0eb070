// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far the logs and the MANIFEST are known to be durable, kept outside of them: without that, a
// file that lost its end to rot, or to a copy that was cut short, looks as a crash leaves it.
// Owns the small file that holds it; its bytes are in FORMAT.md.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"
#include "varve/system_clock.h"

#include "util/sync/io_mutex.h"

namespace varve::wal {

// All zero: nothing is known.
struct SyncedMark {
  uint64_t log = 0;        // every record of older logs is durable, and of this one ...
  uint64_t log_bytes = 0;  // ... so many bytes
  uint64_t manifest = 0;   // in force, and so many bytes of it durable
  uint64_t manifest_bytes = 0;
};

// Reads the newest whole mark of a database. What cannot be read knows nothing: the file only adds
// to what is found out otherwise, and other programs delete it.
SyncedMark ReadSyncedMark(FileSystem* fs, const std::string& db_name);

// Keeps the marks of an open database. A mark is written after what it says became true, and never
// synced, so whatever a crash leaves of the file is true as well. No failure reaches the database,
// and nothing is thrown: the first one ends the marking.
// Thread-safe.
class SyncedMarks {
 public:
  // Where nobody synced for so long, each sync is noted at once; of those that follow faster, as on
  // a file system in memory, one in such a time is. Bounds the cost of a note, which is a call to
  // the system.
  static constexpr uint64_t kBetweenNotesNanos = 100 * 1000;

  SyncedMarks(std::shared_ptr<FileSystem> fs, std::string db_name, SystemClock* clock);
  ~SyncedMarks();

  // Begins the file anew. Notes before are kept in memory, and written with the first one after.
  void Begin();
  // `last`: this is the last note of all, and written whatever the time.
  void NoteLog(uint64_t log, uint64_t bytes, bool last = false);
  void NoteManifest(uint64_t manifest, uint64_t bytes);

 private:
  void Write() VARVE_REQUIRES(mu_);

  const std::shared_ptr<FileSystem> fs_;
  const std::string db_name_;
  SystemClock* const clock_;
  // Of no rank: held over I/O, in which a file system of the user may call the database.
  IoMutex mu_;
  SyncedMark mark_ VARVE_GUARDED_BY(mu_);
  uint64_t written_ VARVE_GUARDED_BY(mu_) = 0;        // marks so far
  uint64_t written_nanos_ VARVE_GUARDED_BY(mu_) = 0;  // when the last one was
  std::unique_ptr<FSRandomRWFile> file_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve::wal
