// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a secondary the primary, after the primary's process has ended.
//
// 1. The primary's lock is held before any check: no process writes any more, so the logs and the
//    MANIFEST will not grow.
// 2. Nothing is changed until everything is known to exist: data that was durable and cannot be
//    read (db/wal/synced_marks.h) refuses the promotion, as losses are for an opening to judge.
// 3. Memtables stay as they are, and so do the logs that they came from, cut off behind their last
//    records: nothing is replayed, and nothing is flushed.
// 4. Prepared transactions can be decided. The log of one stays as long as that of its commit,
//    which is replayed with it.
// 5. The new log and the new MANIFEST exist before the database accepts writes.

#include <cstdint>
#include <vector>

#include "db/engine/engine.h"
#include "db/follow/log_follower.h"
#include "db/follow/manifest_follower.h"
#include "db/recovery/table_directories.h"

namespace varve {

// Used once, with the lock held, after the secondary has caught up to the end. What it is given
// must outlive it. Thread safety: none.
class Promotion {
 public:
  Promotion(Engine* engine, const std::vector<ColumnFamilyDescriptor>& families,
            ManifestFollower* manifest, LogFollower* logs)
      : engine_(*engine), wanted_(families), manifest_(*manifest), logs_(*logs) {}

  // Returns OK if it may be promoted. Changes nothing.
  Status Check() VARVE_EXCLUDES(kDbMutex);
  // Makes the engine a writer's, but for its background work. After an error the files are those of
  // a whole database, and the engine can only be read.
  Status Run() VARVE_EXCLUDES(kDbMutex);

 private:
  // The conditions of Check, each with its own message.
  Status CheckFamilies() VARVE_EXCLUDES(kDbMutex);
  Status CheckSections() const;
  Status CheckNothingLost() const;
  // The steps of Run, in this order.
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
