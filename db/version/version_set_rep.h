// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the private parts of VersionSet, shared by the files that implement it.
//
// Changes take turns. A turn is not a lock: its owner releases the DB mutex while it writes the
// MANIFEST, and others queue up meanwhile. When a write fails, nobody knows if the records are in
// force, as the system may have stored a part of them: the set is in doubt. Until a fresh MANIFEST
// is in force, nothing that either outcome may need is deleted.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "db/version/version_set.h"
#include "db/wal/log_writer.h"
#include "util/base/assert.h"
#include "util/sync/mutex.h"

namespace varve {

// Number of levels of a family that was not opened. Its tree has no files.
inline constexpr size_t kLevelsOfUnopened = 7;

struct VersionSet::Rep {
  explicit Rep(DbMutex* mu) : turn_given(mu) {}

  CondVar turn_given;
  std::deque<const Turn*> queue VARVE_GUARDED_BY(kDbMutex);  // the front has the turn

  // Null until the first edit, and while in doubt. Changed under the DB mutex by the thread that
  // has the turn, which writes to it without the mutex.
  std::unique_ptr<wal::LogWriter> manifest;
  bool closed VARVE_GUARDED_BY(kDbMutex) = false;  // no edits are accepted any more
  // While in doubt, the MANIFESTs that CURRENT may name; also failed ones that could not be
  // deleted. They are deleted when a new one is in force.
  std::vector<uint64_t> doubtful_manifests VARVE_GUARDED_BY(kDbMutex);
  std::vector<uint64_t> obsolete_manifests VARVE_GUARDED_BY(kDbMutex);
  // Tables of failed edits that one of these MANIFESTs, or the abandoned one, may have. They become
  // obsolete when a new one is in force.
  std::vector<FileRef> doubtful_tables VARVE_GUARDED_BY(kDbMutex);
  // Tables with numbers below this one may have been new when a sync of their directory failed. The
  // system may have lost their names without reporting that at a later sync, so an edit that adds
  // such a table is refused.
  uint64_t doubtful_tables_end VARVE_GUARDED_BY(kDbMutex) = 0;

  // All versions that were made; those that nobody refers to have expired.
  std::vector<std::weak_ptr<const Version>> versions VARVE_GUARDED_BY(kDbMutex);
  // Number of the next version that is built.
  uint64_t next_version_number VARVE_GUARDED_BY(kDbMutex) = 1;
};

// Gives its owner the right to change the set. The constructor waits, with the DB mutex released,
// until all earlier turns have ended; the turn ends with the scope.
struct VersionSet::Turn {
  explicit Turn(Rep* r) VARVE_REQUIRES(kDbMutex) : rep(r) {
    rep->queue.push_back(this);
    while (rep->queue.front() != this) rep->turn_given.Wait();
  }
  ~Turn() VARVE_REQUIRES(kDbMutex) {
    VARVE_ASSERT(rep->queue.front() == this);
    rep->queue.pop_front();
    rep->turn_given.SignalAll();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  Rep* const rep;
};

// One family's part of a change, from the edits to the new version.
struct VersionSet::FamilyChange {
  // The family that changes; borrowed.
  FamilyVersions* family = nullptr;
  std::vector<VersionEdit*> edits;
  // The version that the edits change, and the one that they lead to.
  VersionRef base;
  VersionRef version;  // null: the files do not change
  // Files of base that the new version lacks.
  std::vector<FileRef> removed;
  // The values of removed blob files that the edits do not count as garbage; written behind them.
  VersionEdit uncounted;
  std::function<void(const std::vector<FileRef>&)> made;
};

// Describes a write to the MANIFEST, which runs without the mutex.
struct VersionSet::ManifestWrite {
  bool fresh = false;                       // goes to a new file, which CURRENT will name
  uint64_t number = 0;                      // the file's number
  std::set<std::string> table_directories;  // directories to sync first
  std::vector<std::string> records;
  std::vector<FileRef> tables;  // added by the records
  FSDirectory* dir = nullptr;
  std::unique_ptr<wal::LogWriter> writer;  // output: writer of a fresh file
  // Outputs after a failure.
  bool in_doubt = false;        // the records may be in force
  bool left_behind = false;     // a fresh file with some of them could not be deleted
  bool names_in_doubt = false;  // the sync of the directories failed
};

}  // namespace varve
