// SPDX-License-Identifier: Apache-2.0
#pragma once

// The private parts of VersionSet, shared by the files that implement it.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "db/version/version_set.h"
#include "db/wal/log_writer.h"
#include "util/sync/mutex.h"

namespace varve {

// Guarded by the DB mutex, but for `manifest`, which whoever has the turn uses without it.
struct VersionSet::Rep {
  explicit Rep(Mutex* mu) : turn_given(mu) {}

  CondVar turn_given;
  std::deque<const Turn*> queue;  // the front has the turn

  std::unique_ptr<wal::LogWriter> manifest;  // null until the first edit, and in doubt
  bool in_doubt = false;
  bool closed = false;  // no edit follows
  // MANIFESTs of which CURRENT may name any while it is in doubt; they go when a new one is in
  // force.
  std::vector<uint64_t> doubtful_manifests;
  std::vector<uint64_t> obsolete_manifests;
  // A sync of the directory failed when tables with smaller numbers may have been new: the system
  // may have dropped their names, and no later sync would say so.
  uint64_t doubtful_tables_end = 0;

  std::vector<std::weak_ptr<const Version>> versions;
  uint64_t next_version_number = 1;
};

// The right to change the set: given in the order of asking, kept until the end of the scope. The
// DB mutex is held at both ends.
struct VersionSet::Turn {
  explicit Turn(Rep* r) : rep(r) {
    rep->queue.push_back(this);
    while (rep->queue.front() != this) rep->turn_given.Wait();
  }
  ~Turn() {
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
};

// What is written without the mutex.
struct VersionSet::ManifestWrite {
  bool fresh = false;       // a new file, which CURRENT is switched to
  uint64_t number = 0;      // of that file
  bool adds_files = false;  // their names are to be made durable first
  std::vector<std::string> records;
  FSDirectory* dir = nullptr;
  std::unique_ptr<wal::LogWriter> writer;  // out, of a fresh file
  bool in_doubt = false;                   // out, after a failure: the records may be in force
  bool names_in_doubt = false;             // out: the directory's sync for them failed
};

}  // namespace varve
