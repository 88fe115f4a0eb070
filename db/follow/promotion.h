// SPDX-License-Identifier: Apache-2.0
#pragma once

// A secondary takes the place of its primary, whose process is gone.
//
// 1. The primary's lock is held before anything is looked at: nobody writes any more, so what the
//    logs and the MANIFEST have not by now will not come.
// 2. Until all is known to be there nothing is changed: what had been durable and cannot be read
//    (db/wal/synced_marks.h) refuses the promotion, as an opening is the place to judge losses.
// 3. Memtables stay as they are, and so do the logs that they came from, cut off behind their last
//    records: nothing is replayed, and nothing is flushed.
// 4. What is prepared is there to be decided. The log of a section stays as long as that of its
//    commit, which is replayed with it.
// 5. The new log and the new MANIFEST are there before the database says that it can be written.

#include <cstdint>
#include <vector>

#include "db/engine/engine.h"
#include "db/follow/log_follower.h"
#include "db/follow/manifest_follower.h"
#include "db/recovery/table_directories.h"

namespace varve {

// Used once, with the lock held, and the secondary caught up to the end. Thread safety: none.
class Promotion {
 public:
  Promotion(Engine* engine, const std::vector<ColumnFamilyDescriptor>& families,
            ManifestFollower* manifest, LogFollower* logs)
      : engine_(*engine), wanted_(families), manifest_(*manifest), logs_(*logs) {}

  // Whether it may be. Changes nothing.
  Status Check() VARVE_EXCLUDES(kDbMutex);
  // Makes the engine a writer's, but for its background work. After an error the files are those of
  // a whole database, and the engine is good for reading alone.
  Status Run() VARVE_EXCLUDES(kDbMutex);

 private:
  Status CheckFamilies() VARVE_EXCLUDES(kDbMutex);
  Status CheckSections() const;
  Status CheckNothingLost() const;
  Status NoteFiles() VARVE_EXCLUDES(kDbMutex);
  void TakeSections();
  Status KeepLogs() VARVE_EXCLUDES(kDbMutex);
  Status LogState() VARVE_REQUIRES(kDbMutex);

  Engine& engine_;
  const std::vector<ColumnFamilyDescriptor>& wanted_;
  ManifestFollower& manifest_;
  LogFollower& logs_;
  DirectoryListing directories_;
};

}  // namespace varve
