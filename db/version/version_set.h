// SPDX-License-Identifier: Apache-2.0
#pragma once

// Manages the MANIFEST and the current versions of all column families: recovers them, and installs
// edits atomically, on disk first.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "varve/file_system.h"
#include "varve/options.h"

#include "db/db_mutex.h"
#include "db/version/log_holder.h"
#include "db/version/manifest_point.h"
#include "db/version/obsolete_file_queue.h"
#include "db/version/table_paths.h"
#include "db/version/version.h"
#include "db/version/version_edit.h"
#include "db/version/version_state.h"
#include "db/wal/synced_marks.h"
#include "util/base/assert.h"
#include "util/sync/mutex.h"

namespace varve {

namespace wal {
class LogWriter;
}

class BlobChanges;
class ManifestReplay;
struct ReusableFiles;

// A column family as the MANIFEST knows it. Shared with the run-time column family, which may
// outlive the set.
struct FamilyVersions {
  // The members up to `paths` are constant once the set has the family.
  uint32_t id = 0;
  std::string name;
  std::string comparator_name;
  std::shared_ptr<InternalKeyComparator> icmp;
  int num_levels = 7;
  bool reserves_last_level = false;  // true: for tables that are ingested behind all data
  bool persist_timestamps = true;    // true: tables hold the timestamps of keys that have any
  bool opened = true;                // false: in the MANIFEST, but not named by a read-only opener
  std::shared_ptr<CacheCharge> file_charge;  // see FamilyToOpen
  TablePathsRef paths;                       // null if the family was not opened

  // All updates of the family in logs with smaller numbers are in tables.
  uint64_t log_number VARVE_GUARDED_BY(kDbMutex) = 0;
  VersionRef current VARVE_GUARDED_BY(kDbMutex);
  // Epoch of the next table that is newer than all others (TableFacts::epoch_number).
  uint64_t next_epoch_number VARVE_GUARDED_BY(kDbMutex) = 1;
  // Versions of keys that are older than this timestamp may have been dropped by compactions.
  // Empty: none was, or keys have no timestamps.
  std::string full_history_ts_low VARVE_GUARDED_BY(kDbMutex);
  // Name of the operator that operands were written with; empty: unknown, or there are none.
  std::string merge_operator VARVE_GUARDED_BY(kDbMutex);
  bool dropped VARVE_GUARDED_BY(kDbMutex) = false;

  // Raises the value; does nothing unless `low` is above it, as full_history_ts_low never
  // decreases. `low` must have the size of the comparator's timestamps.
  void RaiseFullHistoryTsLow(const std::string& low) VARVE_REQUIRES(kDbMutex);
};

// One family's part of an atomic change.
struct FamilyEdit {
  FamilyVersions* family = nullptr;
  std::vector<VersionEdit*> edits;  // applied in order as one; LogAndApply sets some members
  // Called, without the mutex, with the files that the edits add, before they are published or the
  // edits are written. Null: it is not called. It must not throw.
  std::function<void(const std::vector<FileRef>&)> made = nullptr;
};

// The state of one opened family in a MANIFEST that is being followed.
struct FollowedTree {
  VersionRef version;
  uint64_t next_epoch_number = 1;
};
// The trees of all opened families, built from a MANIFEST that is being followed.
struct FollowedTrees {
  std::map<uint32_t, FollowedTree> by_family;
  // True if a value that the MANIFEST lacks was invented; then files must not be reused.
  bool made_up = false;
};

// Limits for new families. An existing MANIFEST may exceed them, as other engines have no limits.
inline constexpr size_t kFamiliesMax = 65536;
inline constexpr size_t kFamilyNameBytesMax = 4096;

// Describes a family to open, for recovery.
struct FamilyToOpen {
  std::string name;
  const Comparator* comparator = nullptr;
  int num_levels = 7;
  bool reserves_last_level = false;
  bool persist_timestamps = true;
  std::string merge_operator;  // its name, remembered when the family is created; empty: none
  // Charged for the metadata of the family's files; null: nothing is charged. If the charge is
  // refused, an edit that adds files fails before it is written.
  std::shared_ptr<CacheCharge> file_charge;
  TablePathsRef paths;  // paths of its tables; null: the database's directory
};

// Arguments of a version set. Pointers are not owned, and outlive it.
struct VersionSetOptions {
  std::string db_name;  // directory of the database
  std::shared_ptr<FileSystem> fs;
  FileOptions file_options;
  Temperature write_temperature = Temperature::kUnknown;  // of MANIFESTs
  uint64_t max_manifest_file_size = 1 << 30;
  bool check_table_sizes = true;  // Recover checks sizes; false: only existence
  size_t manifest_preallocation_size = 4 << 20;
  bool use_fsync = false;
  bool read_only = false;
  // Number of the MANIFEST that Recover reads instead of the one in CURRENT; later ones are then
  // written without updating CURRENT, which is left to the caller. 0: the one in CURRENT.
  uint64_t detached_manifest = 0;
  bool write_dbid = true;
  Logger* info_log = nullptr;
  SystemClock* clock = nullptr;
  Statistics* statistics = nullptr;
  wal::SyncedMarks* marks = nullptr;      // told how far the MANIFEST is durable
  const LogHolder* log_holder = nullptr;  // asked which logs must stay in addition
};

// Locking: the opener of a database has exclusive use of the set, so CreateNew and Recover need no
// mutex. LogAndApply, CreateFamily, DropFamily and CloseManifest release it while they write. The
// methods without VARVE_REQUIRES may be called from any thread, except for set_db_id. Ownership:
// the families, versions and files that it returns are shared, and may outlive the set.
// Errors: after a failed append or sync the MANIFEST is abandoned, and the next LogAndApply starts
// a new one with the whole state. Until then the outcome of the failed append is unknown, so the
// tables of that edit stay (TableInDoubt). The caller deletes the tables of any other edit that
// failed, and gives what it tries again another number. LogAndApply, CreateFamily and DropFamily do
// not throw. If memory is out they change nothing, except that a MANIFEST may be in doubt.
class VersionSet {
 public:
  VersionSet(VersionSetOptions options, DbMutex* db_mutex);
  ~VersionSet();

  // Writes the first MANIFEST of a new database (default family only) and CURRENT, and recovers it.
  Status CreateNew(const FamilyToOpen& default_family, const std::string& db_id);

  // Reads CURRENT and its MANIFEST, and replaces the state of this set. Read-write: every family of
  // the MANIFEST must be named (InvalidArgument lists the others). Refuses comparators of another
  // name (except as in comparator_change.h), levels beyond num_levels in a family that reserves its
  // last level, missing or wrong-sized table files (Corruption lists them), overlapping levels, and
  // a MANIFEST shorter than `known` says. Does not look at blob files. Remembers those tables and
  // blob files of `present` that edits removed. With `point`, which is borrowed, reads that
  // MANIFEST only up to that point and ignores `known`. Writes nothing. After an error the set must
  // not be used.
  Status Recover(const std::vector<FamilyToOpen>& families, const wal::SyncedMark& known = {},
                 const std::set<uint64_t>& present = {}, const ManifestPoint* point = nullptr);
  // Sets *names to the families of the MANIFEST that CURRENT names, in the order of their ids.
  // Writes nothing, and needs no set.
  static Status ListFamilies(const std::string& db_name, FileSystem* fs,
                             std::vector<std::string>* names);

  // Builds the trees of all opened families as of the replay's current position, without showing
  // them to readers. Used with Follow instead of Recover if another process writes the MANIFEST:
  // the same replay reads on as the MANIFEST grows. With an error the set is as before, and *trees
  // undefined.
  Status BuildFollowed(ManifestReplay* replay, FollowedTrees* trees) VARVE_REQUIRES(kDbMutex);
  // Makes these trees, and the numbers that the replay has read, the current state. Families that
  // were created since the first call are ignored; dropped ones are marked (dropped) and leave the
  // set.
  void Follow(ManifestReplay* replay, uint64_t manifest_number, const FollowedTrees& trees)
      VARVE_REQUIRES(kDbMutex);
  // Sets *families to the present families, and adds to *files those of their current versions, for
  // the next replay to reuse (ManifestReplay::Succeed).
  void CopyReferences(std::map<uint32_t, std::shared_ptr<FamilyVersions>>* families,
                      ReusableFiles* files) VARVE_EXCLUDES(kDbMutex);

  // Logs all edits (one atomic group if there are several), syncs, then installs the new versions.
  // Serialises concurrent callers in order of arrival. The directory (`dir`, or opened here if
  // null) is fsynced before an edit that adds files, to make their names durable, and around a new
  // MANIFEST. With new_manifest, first starts a fresh MANIFEST with the whole state. Skips edits of
  // families dropped meanwhile, and returns ColumnFamilyDropped if none is left. Sets in the edits
  // column_family, atomic_group_remaining, the numbers of the whole database, blob_garbage (to what
  // the new version counts), and the epochs of files without one (new L0 files in the order given,
  // others get the oldest epoch of the files deleted with them).
  Status LogAndApply(std::vector<FamilyEdit> edits, FSDirectory* dir, bool new_manifest = false)
      VARVE_REQUIRES(kDbMutex);

  // Ends the doubt about which MANIFEST is in force: writes a fresh one with the current state.
  // After OK, CURRENT names manifest_file_number. Called before a retry, so that no tables are made
  // for a MANIFEST that cannot be written.
  Status EndDoubt(FSDirectory* dir) VARVE_REQUIRES(kDbMutex);

  // Returns InvalidArgument if CreateFamily would refuse the family before it takes an id.
  Status CheckCanBeMade(const FamilyToOpen& family) const VARVE_REQUIRES(kDbMutex);
  // Returns the id of the next family to be created.
  uint32_t next_family_id() const VARVE_REQUIRES(kDbMutex) { return max_family_id_ + 1; }
  // Adds a family, and sets *result to it, which is shared with the set. `tables`, which must have
  // epochs, are installed with the family or not at all. InvalidArgument: CheckCanBeMade refuses
  // the family. Corruption, with nothing written: the tables are impossible.
  Status CreateFamily(const FamilyToOpen& family, uint64_t log_number, FSDirectory* dir,
                      std::shared_ptr<FamilyVersions>* result,
                      const std::vector<NewFile>& tables = {}) VARVE_REQUIRES(kDbMutex);
  // Drops a family. Its files become obsolete, and are deleted when the last reference to its
  // versions is released. InvalidArgument: it is the default family. ColumnFamilyDropped: the set
  // does not have it any more.
  Status DropFamily(FamilyVersions* family, FSDirectory* dir) VARVE_REQUIRES(kDbMutex);

  // Returns the state that a fresh MANIFEST would contain now.
  VersionState State() const VARVE_REQUIRES(kDbMutex);
  const std::map<uint32_t, std::shared_ptr<FamilyVersions>>& families() const
      VARVE_REQUIRES(kDbMutex) {
    return families_;
  }
  // Return the family with this id, or of this name; null if there is none.
  std::shared_ptr<FamilyVersions> FindFamily(uint32_t id) const VARVE_REQUIRES(kDbMutex);
  std::shared_ptr<FamilyVersions> FindFamily(const std::string& name) const
      VARVE_REQUIRES(kDbMutex);

  // Returns a number that no file has, and that is never returned again.
  uint64_t NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t next_file_number() const { return next_file_number_.load(std::memory_order_relaxed); }
  // Makes NewFileNumber return only larger numbers than this one. Any thread.
  void MarkFileNumberUsed(uint64_t number);
  uint64_t manifest_file_number() const VARVE_REQUIRES(kDbMutex) { return manifest_file_number_; }
  // Returns the MANIFESTs that a newer one, durable and in force, has replaced. Returns each number
  // once.
  std::vector<uint64_t> TakeObsoleteManifests() VARVE_REQUIRES(kDbMutex);
  // Returns how many bytes at the beginning of MANIFEST manifest_file_number() describe the current
  // state. What is behind them belongs to an edit that is being written or has failed.
  uint64_t manifest_file_size() const VARVE_REQUIRES(kDbMutex) { return manifest_file_size_; }
  // Waits for edits in progress, then syncs and closes the MANIFEST; later edits get
  // ShutdownInProgress.
  Status CloseManifest() VARVE_REQUIRES(kDbMutex);
  // True if a failed edit adds this table and a MANIFEST that may be read has that edit, as after a
  // failed append or sync. The file stays until a fresh MANIFEST is in force, and is obsolete then.
  bool TableInDoubt(uint64_t number) const VARVE_REQUIRES(kDbMutex);
  const std::string& db_id() const { return db_id_; }
  void set_db_id(const std::string& id) { db_id_ = id; }

  // Returns the newest sequence number that readers may see (published with release by the write
  // path).
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  void set_last_sequence(SequenceNumber seq) {
    VARVE_ASSERT(seq <= kMaxSequenceNumber);
    last_sequence_.store(seq, std::memory_order_release);
  }

  // Logs with smaller numbers are not needed, and the MANIFEST says so.
  uint64_t min_log_number_to_keep() const VARVE_REQUIRES(kDbMutex) {
    return min_log_number_to_keep_;
  }
  void set_min_log_number_to_keep(uint64_t n) VARVE_REQUIRES(kDbMutex) {
    min_log_number_to_keep_ = n;
  }
  // Returns the logs of the open families. The MANIFEST may not have them yet.
  LogHolder::FamilyLogs FamilyLogs() const VARVE_REQUIRES(kDbMutex);
  // Returns the smallest of them: all data of older logs is in tables.
  uint64_t MinLogNumber() const VARVE_REQUIRES(kDbMutex);
  // Returns MinLogNumber, or an older log if that must stay for another reason.
  uint64_t OldestLogNeeded() const VARVE_REQUIRES(kDbMutex);

  // Tables and blob files that a logged edit removed, in this opening or before, and that may
  // exist. A fresh MANIFEST keeps the list, so that a later opening knows about them.
  const std::set<uint64_t>& gone_tables() const VARVE_REQUIRES(kDbMutex) { return gone_tables_; }
  void NoteGoneTables(std::set<uint64_t> tables) VARVE_REQUIRES(kDbMutex) {
    gone_tables_ = std::move(tables);
  }
  void ForgetGoneTable(uint64_t number) VARVE_REQUIRES(kDbMutex) { gone_tables_.erase(number); }

  // Notes that logs [first, end), below MinLogNumber, were looked for by an opening and not found,
  // so their data was never put into tables.
  void NoteUnreadLogs(uint64_t first, uint64_t end) VARVE_REQUIRES(kDbMutex);
  // Returns true if the log is in such a range.
  bool WasUnread(uint64_t log) const VARVE_REQUIRES(kDbMutex);

  // Returns the last VersionEdit::ttl_clock; 0 if there was none.
  uint64_t ttl_clock() const VARVE_REQUIRES(kDbMutex) { return ttl_clock_; }
  // Returns the named positions of change streams in the MANIFEST, by name.
  const std::map<std::string, ChangePosition>& change_positions() const VARVE_REQUIRES(kDbMutex) {
    return change_positions_;
  }
  // Stores a position, replacing the one of the same name, durably. Locks and errors are as for
  // LogAndApply.
  Status StoreChangePosition(const ChangePosition& position, FSDirectory* dir)
      VARVE_REQUIRES(kDbMutex);

  // True if the recovered MANIFEST is known to be complete at its end.
  bool recovered_whole() const { return recovered_whole_; }

  // Returns the versions of all families which may still have readers. The caller must release them
  // without the DB mutex: a reader may release one meanwhile, and the last reference closes files.
  std::vector<VersionRef> LiveVersions() const VARVE_REQUIRES(kDbMutex);
  // Adds the numbers of tables and blob files in these versions (for checks and purging), and sets
  // *held to the versions, which the caller must release as said above.
  void AddLiveFiles(std::set<uint64_t>* numbers, std::vector<VersionRef>* held) const
      VARVE_REQUIRES(kDbMutex);
  const std::shared_ptr<ObsoleteFileQueue>& obsolete_files() const { return obsolete_files_; }

 private:
  struct Turn;
  struct Rep;
  struct FamilyChange;
  struct ManifestWrite;

  // Writes the edits to the MANIFEST, or to a fresh one, without showing anything to readers.
  // Requires the turn. `tables` are those that the edits add; `made` is the family that they
  // create, or null.
  Status WriteEdits(const std::vector<VersionEdit*>& edits, std::vector<FileRef> tables,
                    FSDirectory* dir, bool new_manifest, const FamilyVersions* made = nullptr)
      VARVE_REQUIRES(kDbMutex);
  // Builds the version with which CreateFamily begins, from the tables that `tables` adds.
  Status BuildFirstVersion(const FamilyVersions& family, const VersionEdit& tables,
                           VersionRef* version, std::vector<FileRef>* files)
      VARVE_REQUIRES(kDbMutex);
  // Handles the consequences of a failed write.
  void AfterFailure(ManifestWrite* write, const IOStatus& error) VARVE_REQUIRES(kDbMutex);
  // Keep the tables of a failed edit, and let them go once a fresh MANIFEST ends the doubt.
  void KeepDoubtfulTables(std::vector<FileRef> tables) VARVE_REQUIRES(kDbMutex);
  void ReleaseDoubtfulTables() VARVE_REQUIRES(kDbMutex);
  // Rejects tables whose names are in doubt, except those that are only moved.
  Status CheckNames(const VersionEdit& edit, const TablePaths& paths, ManifestWrite* write) const
      VARVE_REQUIRES(kDbMutex);
  // Requires the turn, but not the mutex.
  IOStatus WriteManifest(ManifestWrite* write);
  // Returns the edit's family, or null if it does not exist. `made` is about to be created.
  const FamilyVersions* FamilyOf(const VersionEdit& edit, const FamilyVersions* made) const
      VARVE_REQUIRES(kDbMutex);
  // Sets the epochs of new files that have none.
  void FillInEpochs(FamilyChange* change) VARVE_REQUIRES(kDbMutex);
  // If the changes leave logs behind, adds the number of the oldest one still needed to one of the
  // edits, or makes *extra a record for it and adds that.
  void PlanMinLog(const std::vector<FamilyChange>& changes, std::vector<VersionEdit*>* edits,
                  VersionEdit* extra) const VARVE_REQUIRES(kDbMutex);
  // Puts the next file number and the last sequence number into every edit.
  void FillInNumbers(const std::vector<VersionEdit*>& edits) VARVE_REQUIRES(kDbMutex);
  // Sets the new version of each change whose edits change files, and adds to *added the files that
  // the families do not have yet.
  Status BuildVersions(std::vector<FamilyChange>* changes, std::vector<FileRef>* added)
      VARVE_REQUIRES(kDbMutex);
  // Takes over what the builder has decided about blob files.
  static void TakeBlobFiles(const BlobChanges& blobs, FamilyChange* change,
                            std::vector<FileRef>* added);
  // Allocates all memory that Install needs, so that it cannot fail.
  void MakeRoomToInstall(const std::vector<FamilyChange>& changes) VARVE_REQUIRES(kDbMutex);
  // Makes the new versions current, and the removed files obsolete.
  void Install(std::vector<FamilyChange>* changes) VARVE_REQUIRES(kDbMutex);
  // Returns Corruption if tables of the current versions are missing or, with check_table_sizes,
  // have another size than the MANIFEST says.
  Status VerifyTables() const VARVE_REQUIRES(kDbMutex);
  // Returns Corruption if the MANIFEST with that number ends at `end`, and the mark `known` says
  // that more of it, or a newer one, was durable.
  Status CheckNotCut(const wal::SyncedMark& known, uint64_t manifest, uint64_t end) const
      VARVE_REQUIRES(kDbMutex);
  // Makes the version current, and remembers it for LiveVersions.
  void SetCurrent(FamilyVersions* family, VersionRef version) VARVE_REQUIRES(kDbMutex);

  const VersionSetOptions options_;
  DbMutex* const mu_;
  const std::shared_ptr<ObsoleteFileQueue> obsolete_files_;
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> families_ VARVE_GUARDED_BY(kDbMutex);
  // Source of all file numbers. Relaxed increments suffice, as the numbers must only be unique.
  std::atomic<uint64_t> next_file_number_{2};
  // Stored with release after an insertion is complete, loaded with acquire by readers.
  std::atomic<SequenceNumber> last_sequence_{0};
  uint64_t manifest_file_number_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t manifest_file_size_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t min_log_number_to_keep_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint32_t max_family_id_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Sequence number in the newest record; never decreases.
  SequenceNumber logged_sequence_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::set<uint64_t> gone_tables_ VARVE_GUARDED_BY(kDbMutex);
  std::vector<std::pair<uint64_t, uint64_t>> unread_logs_ VARVE_GUARDED_BY(kDbMutex);  // ascending
  uint64_t ttl_clock_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::map<std::string, ChangePosition> change_positions_ VARVE_GUARDED_BY(kDbMutex);
  std::string db_id_;             // constant once the database is open
  bool recovered_whole_ = false;  // constant then, too
  const std::unique_ptr<Rep> rep_;
};

}  // namespace varve
