// SPDX-License-Identifier: Apache-2.0
#pragma once

// The private parts of VersionSet, shared by the files that implement it.

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

struct VersionSet::Rep {
  explicit Rep(DbMutex* mu) : turn_given(mu) {}

  CondVar turn_given;
  std::deque<const Turn*> queue VARVE_GUARDED_BY(kDbMutex);  // the front has the turn

  // Null until the first edit, and in doubt. Changed under the DB mutex by the thread that has the
  // turn, which writes to it without.
  std::unique_ptr<wal::LogWriter> manifest;
  bool closed VARVE_GUARDED_BY(kDbMutex) = false;  // no edit follows
  // MANIFESTs of which CURRENT may name any while it is in doubt, and failed ones that could not be
  // deleted; they go when a new one is in force.
  std::vector<uint64_t> doubtful_manifests VARVE_GUARDED_BY(kDbMutex);
  std::vector<uint64_t> obsolete_manifests VARVE_GUARDED_BY(kDbMutex);
  // Tables of edits that failed, and that one of these MANIFESTs, or the abandoned one, may hold:
  // they become obsolete when a new one is in force.
  std::vector<FileRef> doubtful_tables VARVE_GUARDED_BY(kDbMutex);
  // A sync of the directory failed when tables with smaller numbers may have been new: the system
  // may have dropped their names, and no later sync would say so.
  uint64_t doubtful_tables_end VARVE_GUARDED_BY(kDbMutex) = 0;

  std::vector<std::weak_ptr<const Version>> versions VARVE_GUARDED_BY(kDbMutex);
  uint64_t next_version_number VARVE_GUARDED_BY(kDbMutex) = 1;
};

// The right to change the set: given in the order of asking, kept until the end of the scope.
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

// One family's part of a change on its way from the edits to the new version.
struct VersionSet::FamilyChange {
  FamilyVersions* family = nullptr;
  std::vector<VersionEdit*> edits;
  VersionRef base;
  VersionRef version;  // null: the files stay as they are
  std::vector<FileRef> removed;
  std::function<void(const std::vector<FileRef>&)> made;
};

// What is written without the mutex.
struct VersionSet::ManifestWrite {
  bool fresh = false;                       // a new file, which CURRENT is switched to
  uint64_t number = 0;                      // of the file that is written
  std::set<std::string> table_directories;  // with names that are to be made durable first
  std::vector<std::string> records;
  std::vector<FileRef> tables;  // that the records add
  FSDirectory* dir = nullptr;
  std::unique_ptr<wal::LogWriter> writer;  // out, of a fresh file
  // Out, after a failure.
  bool in_doubt = false;        // the records may be in force
  bool left_behind = false;     // a fresh file with some of them could not be deleted
  bool names_in_doubt = false;  // the sync of the directories failed
};

}  // namespace varve
