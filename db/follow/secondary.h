// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database that another process writes, brought up to date on request: MANIFEST and logs are
// followed, and their contents come into force for all families at one moment.
//
//      primary's MANIFEST --ReadManifest--> manifest_ --Prepare--> trees_ (tables open)
//                                                                     |
//      primary's logs ------ReadOn--------> memtables, invisible      | Install: one hold of
//                                              |                      | the DB mutex, one limit
//                                              '-----------+----------'
//                                                          v
//                                             super-versions that readers see
//
// 1. In the primary's directories nothing is written, renamed, cut off, locked or deleted. Tables
//    are open before they are in force, so they stay readable whatever the primary deletes.
// 2. A try reads the MANIFEST to its end, opens the tables that it names, then reads the logs. If a
//    table or a log is missing, the MANIFEST is read again (ReaderPatience): only files that its
//    newest state still names are missing. The same is done if the MANIFEST has new records after
//    the logs were read: a log that came and went unseen meanwhile has its entries in tables that
//    these records name.
// 3. Super-versions of all families are installed in one hold of the mutex, with one limit: readers
//    see nothing newer, so entries that are applied meanwhile are invisible, and no reader sees new
//    tables at an old moment. The limit never decreases.
// 4. A memtable holds entries of one log. It is dropped when its family's log number is above that
//    log's, in the same hold of the mutex in which the tables that have its entries come.
// 5. Tables keep no old entries for snapshots that are taken here. While there are snapshots,
//    families keep the super-versions that show them.

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

// Thread safety: all methods from any thread; one at a time works.
class Secondary {
 public:
  // `engine` is borrowed, has a version set, and no families yet.
  // `links` belongs to a follower, whose engine opens tables through it; else null.
  Secondary(Engine* engine, std::vector<ColumnFamilyDescriptor> families,
            std::shared_ptr<LinkedTables> links);

  // Makes the families, and shows the newest state; called once. Returns InvalidArgument if one of
  // `families` does not exist.
  Status Open();
  // Brings it to the newest state. On an error the state stays as it was.
  Status CatchUp();
  // Measures how far it is behind the primary: bytes and numbers of the logs that were not applied,
  // and the time since the last full catch-up. Reads the rest of the logs for it.
  Status Lag(SecondaryLag* lag);
  // Makes it the primary, but for its background work. On an error it stays a secondary; if files
  // were written already, one that catches up no more.
  Status Promote(const PromoteOptions& options);

 private:
  // Makes one attempt to reach the newest state. Returns TryAgain if the primary was faster.
  Status TryOnce() VARVE_EXCLUDES(kDbMutex);
  // Reads new records of the MANIFEST, and notes if there were any.
  Status ReadManifest() VARVE_EXCLUDES(kDbMutex);
  // Creates the wanted families at the first catch-up, when the MANIFEST has said which exist.
  Status MakeFamilies() VARVE_REQUIRES(kDbMutex);
  // Builds the trees that the MANIFEST describes now, and opens the tables.
  Status Prepare() VARVE_EXCLUDES(kDbMutex);
  // Brings everything that was read into force.
  void Install() VARVE_EXCLUDES(kDbMutex);
  // Removes families that the primary has dropped; their handles stay usable.
  void RemoveDropped() VARVE_REQUIRES(kDbMutex);
  // Removes links to tables that no version has any more.
  void RemoveLinks() VARVE_EXCLUDES(kDbMutex);
  // Drops memtables that are in tables now.
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
  // Has no rank: it is held over I/O, in which a file system of the user may call the database.
  IoMutex mu_;
  // Both followers remember how far they have read.
  ManifestFollower manifest_;
  LogFollower logs_;
  // The trees that the MANIFEST described when Prepare last built them.
  FollowedTrees trees_;
  bool trees_are_old_ = true;  // The MANIFEST has records that trees_ were built without.
  bool prepared_ = false;      // trees_ are not in force yet.
  bool installed_ = true;      // The last Install ran to its end.
  // The newest sequence number that readers see.
  SequenceNumber limit_ = 0;
  Status ended_;                // Why it catches up no more.
  uint64_t newest_micros_ = 0;  // Monotonic time of the last full catch-up.
};

}  // namespace varve
