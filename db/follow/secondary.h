// SPDX-License-Identifier: Apache-2.0
#pragma once

// Secondary brings a database that another process, the primary, writes up to date on request. It
// reads new records of the MANIFEST and the logs, and then makes them visible for all families at
// once.
//
//      primary's MANIFEST --ReadManifest--> manifest_ --Prepare--> trees_ (tables open)
//                                                                     |
//      primary's logs ------ReadOn--------> memtables, invisible      | Install: one hold of
//                                              |                      | the DB mutex, one limit
//                                              '-----------+----------'
//                                                          v
//                                             super-versions that readers see
//
// 1. Nothing in the primary's directories is written, renamed, truncated, locked or deleted. Tables
//    are opened before they become visible, so they stay readable after the primary has deleted
//    them.
// 2. An attempt reads the MANIFEST to its end, opens the tables that it names, and then reads the
//    logs. If a table or log is missing, the attempt is repeated (ReaderPatience): it is an error
//    only if the newest state of the MANIFEST still names the file. The attempt is also repeated if
//    the MANIFEST has new records after the logs were read, since a log may have been flushed and
//    deleted meanwhile.
// 3. Super-versions of all families are installed in one hold of the DB mutex, with one sequence
//    limit. Readers see no entry above the limit of their super-version, so entries that are
//    inserted into memtables later are invisible. The limit never decreases.
// 4. A memtable holds entries of one log. It is dropped when its family's log number is above that
//    log's, in the hold of the mutex that installs the tables with its entries.
// 5. The primary's compactions do not know the snapshots of this process. So families keep the
//    super-versions that were current when existing snapshots were taken.

#include <cstdint>
#include <memory>
#include <vector>

#include "varve/secondary.h"

#include "db/engine/engine.h"
#include "db/follow/linked_tables.h"
#include "db/follow/log_follower.h"
#include "db/follow/manifest_follower.h"
#include "util/sync/io_mutex.h"

namespace varve {

// Thread-safe; calls are serialized.
class Secondary {
 public:
  // `engine` is borrowed, and must have a version set, and no families yet. `links` is the file
  // system through which a follower opens tables, or null for a secondary.
  Secondary(Engine* engine, std::vector<ColumnFamilyDescriptor> families,
            std::shared_ptr<LinkedTables> links);

  // Creates the families, and catches up; must be called once. InvalidArgument: one of `families`
  // does not exist.
  Status Open();
  // Makes the newest state visible. After an error the visible state is unchanged.
  Status CatchUp();
  // Implements DB::GetSecondaryLag. Reads the logs that were not applied.
  Status Lag(SecondaryLag* lag);
  // Makes this secondary the primary, but does not start background work. After an error it stays a
  // secondary, which cannot catch up any more if files were already changed.
  Status Promote(const PromoteOptions& options);

 private:
  // Makes one attempt to reach the newest state. Returns TryAgain if the primary was faster.
  Status TryOnce() VARVE_EXCLUDES(kDbMutex);
  // Reads new records of the MANIFEST, and sets trees_are_old_ if there were any.
  Status ReadManifest() VARVE_EXCLUDES(kDbMutex);
  // Creates the wanted families at the first catch-up, when the MANIFEST has been read.
  Status MakeFamilies() VARVE_REQUIRES(kDbMutex);
  // Builds the families' versions from the MANIFEST, and opens their tables.
  Status Prepare() VARVE_EXCLUDES(kDbMutex);
  // Makes everything that was read visible.
  void Install() VARVE_EXCLUDES(kDbMutex);
  // Removes families that the primary has dropped; their handles stay usable.
  void RemoveDropped() VARVE_REQUIRES(kDbMutex);
  // Removes links to tables that no version has any more.
  void RemoveLinks() VARVE_EXCLUDES(kDbMutex);
  // Drops memtables whose entries are in tables.
  void DropFlushed(ColumnFamily* family) VARVE_REQUIRES(kDbMutex);
  // Returns the newest sequence number in the tables.
  SequenceNumber NewestIn(const FollowedTrees& trees) const;
  // Does the work of CatchUp. Requires mu_.
  Status CatchUpLocked();
  // Does the work of Promote once the primary's lock is held. Requires mu_.
  Status PromoteLocked();

  Engine* const engine_;
  const std::vector<ColumnFamilyDescriptor> wanted_;
  const std::shared_ptr<LinkedTables> links_;
  // Serializes calls. It has no lock rank, since it is held during I/O, and a user's file system
  // may call the database.
  IoMutex mu_;
  // Remember how far the MANIFEST and the logs were read.
  ManifestFollower manifest_;
  LogFollower logs_;
  // The versions that Prepare has last built from the MANIFEST.
  FollowedTrees trees_;
  bool trees_are_old_ = true;  // The MANIFEST has newer records than trees_.
  bool prepared_ = false;      // trees_ are not installed yet.
  bool installed_ = true;      // The last Install ran to its end.
  // The newest sequence number that readers see.
  SequenceNumber limit_ = 0;
  Status ended_;                // If not OK: why it cannot catch up any more.
  uint64_t newest_micros_ = 0;  // Monotonic time of the last full catch-up.
};

}  // namespace varve
