// SPDX-License-Identifier: Apache-2.0
#pragma once

// Promotion turns a secondary into the primary, after the primary's process has ended. Invariants:
//
// 1. The database's lock is held during all checks, so no process writes, and the logs and the
//    MANIFEST do not grow.
// 2. Nothing is changed before all data is known to exist. If data that was durable cannot be read
//    (db/wal/synced_marks.h), the promotion is refused, as only an opening handles losses.
// 3. Memtables are kept, and so are the logs that they came from, truncated after their last
//    records. Nothing is replayed or flushed.
// 4. Prepared transactions can be decided afterwards. The log of a committed one is kept as long as
//    that of its commit, as a replay needs both.
// 5. The new log and the new MANIFEST exist before the database accepts writes.

#include <cstdint>
#include <vector>

#include "db/engine/engine.h"
#include "db/follow/log_follower.h"
#include "db/follow/manifest_follower.h"
#include "db/recovery/table_directories.h"

namespace varve {

// Used for one promotion, with the database's lock held, after the secondary has caught up
// completely. `families` are those with which the secondary was opened. Borrows its arguments.
// Thread safety: none.
class Promotion {
 public:
  Promotion(Engine* engine, const std::vector<ColumnFamilyDescriptor>& families,
            ManifestFollower* manifest, LogFollower* logs)
      : engine_(*engine), wanted_(families), manifest_(*manifest), logs_(*logs) {}

  // Returns OK if the secondary may be promoted. Changes nothing. InvalidArgument: some families
  // are not open, or there are prepared transactions without allow_2pc. NotSupported: RocksDB has
  // left undecided transactions of WRITE_PREPARED. Corruption: durable data is lost.
  Status Check() VARVE_EXCLUDES(kDbMutex);
  // Makes the engine a writer, but does not start background work. Requires that Check returned OK.
  // After an error the files still form a complete database. The engine is then readable, but must
  // neither catch up nor be promoted again, as Run has taken the prepared updates from `logs`.
  Status Run() VARVE_EXCLUDES(kDbMutex);

 private:
  // Check the conditions of Check: all families are open; prepared transactions can be decided; all
  // durable data was read.
  Status CheckFamilies() VARVE_EXCLUDES(kDbMutex);
  Status CheckPrepared() const;
  Status CheckNothingLost() const;

  // ---- Steps of Run, in this order ----
  // Lists the files: no new file gets the number of an existing one, and removed tables that still
  // exist are noted for the new MANIFEST.
  Status NoteFiles(MadeDirectories* made) VARVE_EXCLUDES(kDbMutex);
  // Makes prepared transactions those of this process, which can be decided here.
  void TakePrepared();
  // Cuts logs after the last record that was read, makes them durable, and keeps those needed.
  Status KeepLogs() VARVE_EXCLUDES(kDbMutex);
  // Writes the new MANIFEST.
  Status LogState() VARVE_REQUIRES(kDbMutex);

  Engine& engine_;
  const std::vector<ColumnFamilyDescriptor>& wanted_;
  ManifestFollower& manifest_;
  LogFollower& logs_;
  DirectoryListing directories_;  // Set by NoteFiles.
};

}  // namespace varve
