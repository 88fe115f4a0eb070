// SPDX-License-Identifier: Apache-2.0
#pragma once

// The MANIFEST and the current versions of all column families: recovers them, and installs edits
// atomically, on disk first.

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

class ManifestReplay;

// A column family as the MANIFEST knows it. Shared with the run-time column family, which may
// outlive the set.
struct FamilyVersions {
  // Constant once the set has the family.
  uint32_t id = 0;
  std::string name;
  std::string comparator_name;
  std::shared_ptr<InternalKeyComparator> icmp;
  int num_levels = 7;
  bool persist_timestamps = true;  // tables hold the timestamps of keys, if keys have any
  bool opened = true;              // false: in the MANIFEST, but not named by a read-only opener
  std::shared_ptr<CacheCharge> file_charge;  // see FamilyToOpen
  TablePathsRef paths;                       // null unless it was opened

  // Updates in logs below it are all in tables.
  uint64_t log_number VARVE_GUARDED_BY(kDbMutex) = 0;
  VersionRef current VARVE_GUARDED_BY(kDbMutex);
  uint64_t next_epoch_number VARVE_GUARDED_BY(kDbMutex) = 1;
  // Versions of keys below this timestamp may be gone; empty: none is, or keys have no timestamps.
  std::string full_history_ts_low VARVE_GUARDED_BY(kDbMutex);
  // Its name, with which operands were written; empty: not known, or there are none.
  std::string merge_operator VARVE_GUARDED_BY(kDbMutex);
  bool dropped VARVE_GUARDED_BY(kDbMutex) = false;

  // Does nothing unless it is above the present one: full_history_ts_low never decreases. `low` has
  // the size of the comparator's timestamps.
  void RaiseFullHistoryTsLow(const std::string& low) VARVE_REQUIRES(kDbMutex);
};

// One family's part of an atomic change.
struct FamilyEdit {
  FamilyVersions* family = nullptr;
  std::vector<VersionEdit*> edits;  // applied in order as one; LogAndApply fills in numbers
  // Called, without the mutex, with the files that the edits add, before anybody else meets them
  // and before the edits are written. Null: nobody wants to know. It must not throw.
  std::function<void(const std::vector<FileRef>&)> made = nullptr;
};

// What a MANIFEST that grows says at one moment, of the families that were opened.
struct FollowedTree {
  VersionRef version;
  uint64_t next_epoch_number = 1;
};
struct FollowedTrees {
  std::map<uint32_t, FollowedTree> by_family;
  // Something that the MANIFEST does not say was made up; files must not be used again.
  bool made_up = false;
};

// Limits of what may be made. A MANIFEST may have more, as others have none.
inline constexpr size_t kFamiliesMax = 65536;
inline constexpr size_t kFamilyNameBytesMax = 4096;

// What recovery has to know about the families to open.
struct FamilyToOpen {
  std::string name;
  const Comparator* comparator = nullptr;
  int num_levels = 7;
  bool persist_timestamps = true;
  std::string merge_operator;  // its name, remembered when the family is made; empty: none
  // What the metadata of the family's files are charged to; null: nothing. An edit that adds files
  // fails, before it is written, if that is refused.
  std::shared_ptr<CacheCharge> file_charge;
  TablePathsRef paths;  // of its tables; null: the database's directory
};

struct VersionSetOptions {
  std::string db_name;  // directory
  std::shared_ptr<FileSystem> fs;
  FileOptions file_options;
  uint64_t max_manifest_file_size = 1 << 30;
  bool check_table_sizes = true;  // by Recover; false: only that the tables are there
  size_t manifest_preallocation_size = 4 << 20;
  bool use_fsync = false;
  bool read_only = false;
  // Not 0: Recover reads this MANIFEST, whatever CURRENT says, and later ones are written without
  // CURRENT naming them. That is left to the caller.
  uint64_t detached_manifest = 0;
  bool write_dbid = true;
  Logger* info_log = nullptr;
  SystemClock* clock = nullptr;
  Statistics* statistics = nullptr;
  wal::SyncedMarks* marks = nullptr;      // told how far the MANIFEST is durable
  const LogHolder* log_holder = nullptr;  // asked which logs stay, beside those of families
};

// Locking: what opens a database has the set to itself; CreateNew and Recover need no mutex.
//   LogAndApply, CreateFamily, DropFamily and CloseManifest release it while they write.
// Errors: after a failed append or sync the MANIFEST is abandoned; the next LogAndApply starts a
//   new one that holds the whole state. A failed append's outcome is not known until then, so the
//   tables of that edit stay (TableInDoubt); the caller deletes those of any other edit that
//   failed, and makes what it offers again under another number. LogAndApply, CreateFamily and
//   DropFamily do not throw; what fails for lack of memory has changed nothing, but for a MANIFEST
//   that is in doubt then.
class VersionSet {
 public:
  VersionSet(VersionSetOptions options, DbMutex* db_mutex);
  ~VersionSet();

  // Writes the first MANIFEST of a new database (default family only) and CURRENT, and recovers it.
  Status CreateNew(const FamilyToOpen& default_family, const std::string& db_id);

  // Reads CURRENT and its MANIFEST, in place of all that this set held. Read-write: every family of
  // the MANIFEST must be named (InvalidArgument lists those that are not). Refuses comparators of
  // another name (but for what comparator_change.h allows), levels beyond num_levels, missing or
  // wrong-sized table files (Corruption lists them), blob files, overlapping levels, and a MANIFEST
  // that lacks what is `known` of it. Of tables that edits removed it remembers those that are
  // among `present`. With `point`, which is borrowed, it reads that MANIFEST as far as it says, and
  // holds nothing that is known against it. Nothing is written.
  Status Recover(const std::vector<FamilyToOpen>& families, const wal::SyncedMark& known = {},
                 const std::set<uint64_t>& present = {}, const ManifestPoint* point = nullptr);
  static Status ListFamilies(const std::string& db_name, FileSystem* fs,
                             std::vector<std::string>* names);

  // Instead of Recover, where another process writes the MANIFEST, and replay goes on as it grows:
  // the trees that the replay stands at, which nobody sees yet.
  Status BuildFollowed(ManifestReplay* replay, FollowedTrees* trees) VARVE_REQUIRES(kDbMutex);
  // Puts them in force, with all that the replay says. Families that were made since the first call
  // are left out; those that were dropped are forgotten, and marked so.
  void Follow(ManifestReplay* replay, uint64_t manifest_number, const FollowedTrees& trees)
      VARVE_REQUIRES(kDbMutex);
  // What the next replay may use again.
  void TakeFollowed(std::map<uint32_t, std::shared_ptr<FamilyVersions>>* families,
                    std::unordered_map<uint64_t, FileRef>* files) VARVE_EXCLUDES(kDbMutex);

  // Logs all edits (one atomic group when there are several), syncs, then installs the new
  // versions. Serialises concurrent callers in order of arrival. The directory (`dir`, or opened
  // for it when null) is fsynced before an edit that adds files, whose names it makes durable, and
  // around a new MANIFEST. With new_manifest a fresh MANIFEST with the whole state is started
  // first. Edits of families dropped meanwhile are left out; ColumnFamilyDropped if that leaves
  // nothing. Fills in: numbers of the whole database, epochs of files without one (new L0 files in
  // the order given, others inherit the oldest of the files deleted with them).
  Status LogAndApply(std::vector<FamilyEdit> edits, FSDirectory* dir, bool new_manifest = false)
      VARVE_REQUIRES(kDbMutex);

  // While it is not known which MANIFEST is in force: writes a fresh one, with the state as it is.
  // After an OK CURRENT names what manifest_file_number says, and what is tried again makes no
  // tables for one that cannot be had.
  Status EndDoubt(FSDirectory* dir) VARVE_REQUIRES(kDbMutex);

  // The id that the family made next will have.
  uint32_t next_family_id() const VARVE_REQUIRES(kDbMutex) { return max_family_id_ + 1; }
  // Adds a family; *family points into the set. The options' comparator and level count are taken.
  // Its tables, if it has any, come into force with it or not at all; they have epochs. Corruption,
  // and nothing was written: these cannot be.
  Status CreateFamily(const FamilyToOpen& family, uint64_t log_number, FSDirectory* dir,
                      std::shared_ptr<FamilyVersions>* result,
                      const std::vector<NewFile>& tables = {}) VARVE_REQUIRES(kDbMutex);
  // The family's files become obsolete; they go when the last reference to its versions is
  // released.
  Status DropFamily(FamilyVersions* family, FSDirectory* dir) VARVE_REQUIRES(kDbMutex);

  // What a fresh MANIFEST would say now.
  VersionState State() const VARVE_REQUIRES(kDbMutex);
  const std::map<uint32_t, std::shared_ptr<FamilyVersions>>& families() const
      VARVE_REQUIRES(kDbMutex) {
    return families_;
  }
  std::shared_ptr<FamilyVersions> FindFamily(uint32_t id) const VARVE_REQUIRES(kDbMutex);
  std::shared_ptr<FamilyVersions> FindFamily(const std::string& name) const
      VARVE_REQUIRES(kDbMutex);

  uint64_t NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t next_file_number() const { return next_file_number_.load(std::memory_order_relaxed); }
  void MarkFileNumberUsed(uint64_t number);
  uint64_t manifest_file_number() const VARVE_REQUIRES(kDbMutex) { return manifest_file_number_; }
  // MANIFESTs that a newer one, in force and durable, has replaced. Hands each number out once.
  std::vector<uint64_t> TakeObsoleteManifests() VARVE_REQUIRES(kDbMutex);
  // How much of that file says what is in force now: no edit that is being written, or has failed.
  uint64_t manifest_file_size() const VARVE_REQUIRES(kDbMutex) { return manifest_file_size_; }
  // Syncs and closes the MANIFEST, after the edits under way; later ones get ShutdownInProgress.
  Status CloseManifest() VARVE_REQUIRES(kDbMutex);
  // Whether an edit that failed adds this table, and a MANIFEST that may be read has that edit: as
  // after a failed append or sync. The file stays until a fresh MANIFEST is in force, and is
  // obsolete then.
  bool TableInDoubt(uint64_t number) const VARVE_REQUIRES(kDbMutex);
  const std::string& db_id() const { return db_id_; }
  void set_db_id(const std::string& id) { db_id_ = id; }

  // Newest sequence that readers may see (published with release by the write path).
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  void set_last_sequence(SequenceNumber seq) {
    VARVE_ASSERT(seq <= kMaxSequenceNumber);
    last_sequence_.store(seq, std::memory_order_release);
  }

  // Older logs are not needed, and the MANIFEST says so.
  uint64_t min_log_number_to_keep() const VARVE_REQUIRES(kDbMutex) {
    return min_log_number_to_keep_;
  }
  void set_min_log_number_to_keep(uint64_t n) VARVE_REQUIRES(kDbMutex) {
    min_log_number_to_keep_ = n;
  }
  // Of the families that are there and opened. The MANIFEST may not know yet.
  LogHolder::FamilyLogs FamilyLogs() const VARVE_REQUIRES(kDbMutex);
  // The smallest of them: older logs hold nothing that is not in tables.
  uint64_t MinLogNumber() const VARVE_REQUIRES(kDbMutex);
  // The same, but for logs that stay for something else.
  uint64_t OldestLogNeeded() const VARVE_REQUIRES(kDbMutex);

  // Tables that a logged edit removed, in this opening or before, and whose files may be there
  // still: a MANIFEST keeps knowing them, so that no later opening wonders about them.
  const std::set<uint64_t>& gone_tables() const VARVE_REQUIRES(kDbMutex) { return gone_tables_; }
  void NoteGoneTables(std::set<uint64_t> tables) VARVE_REQUIRES(kDbMutex) {
    gone_tables_ = std::move(tables);
  }
  void ForgetGoneTable(uint64_t number) VARVE_REQUIRES(kDbMutex) { gone_tables_.erase(number); }

  // Of logs below MinLogNumber, those that an opening asked for and did not find were never put
  // into tables. [first, end) are some more of them.
  void NoteUnreadLogs(uint64_t first, uint64_t end) VARVE_REQUIRES(kDbMutex);
  bool WasUnread(uint64_t log) const VARVE_REQUIRES(kDbMutex);

  // What VersionEdit::ttl_clock said last; 0: nothing has.
  uint64_t ttl_clock() const VARVE_REQUIRES(kDbMutex) { return ttl_clock_; }
  // Named positions of change streams, as the MANIFEST has them, by name.
  const std::map<std::string, ChangePosition>& change_positions() const VARVE_REQUIRES(kDbMutex) {
    return change_positions_;
  }
  // Puts one in place of what its name had, durably. As LogAndApply.
  Status StoreChangePosition(const ChangePosition& position, FSDirectory* dir)
      VARVE_REQUIRES(kDbMutex);

  // Whether the MANIFEST that was recovered is known to have lost nothing at its end.
  bool recovered_whole() const { return recovered_whole_; }

  // Table numbers referenced by any Version that is still alive anywhere (for checks and purging).
  void AddLiveFiles(std::set<uint64_t>* numbers) const VARVE_REQUIRES(kDbMutex);
  // Of that family; somebody may read them.
  std::vector<VersionRef> LiveVersions(const FamilyVersions& family) const VARVE_REQUIRES(kDbMutex);
  const std::shared_ptr<ObsoleteFileQueue>& obsolete_files() const { return obsolete_files_; }

 private:
  struct Turn;
  struct Rep;
  struct FamilyChange;
  struct ManifestWrite;

  // With the turn. `tables` are those that the edits add, `made` is the family that they make, or
  // null.
  Status WriteEdits(const std::vector<VersionEdit*>& edits, std::vector<FileRef> tables,
                    FSDirectory* dir, bool new_manifest, const FamilyVersions* made = nullptr)
      VARVE_REQUIRES(kDbMutex);
  Status CheckCanBeMade(const FamilyToOpen& family) const VARVE_REQUIRES(kDbMutex);
  Status BuildFirstVersion(const FamilyVersions& family, const VersionEdit& tables,
                           VersionRef* version, std::vector<FileRef>* files)
      VARVE_REQUIRES(kDbMutex);
  // What follows from a failed write.
  void AfterFailure(ManifestWrite* write, const IOStatus& error) VARVE_REQUIRES(kDbMutex);
  void KeepDoubtfulTables(std::vector<FileRef> tables) VARVE_REQUIRES(kDbMutex);
  void ReleaseDoubtfulTables() VARVE_REQUIRES(kDbMutex);
  // Refuses tables whose names are in doubt, but for those that are only moved.
  Status CheckNames(const VersionEdit& edit, const TablePaths& paths, ManifestWrite* write) const
      VARVE_REQUIRES(kDbMutex);
  // With the turn; the mutex is not needed.
  IOStatus WriteManifest(ManifestWrite* write);
  // Null for one that is not there. `made` is about to be.
  const FamilyVersions* FamilyOf(const VersionEdit& edit, const FamilyVersions* made) const
      VARVE_REQUIRES(kDbMutex);
  void FillInEpochs(FamilyChange* change) VARVE_REQUIRES(kDbMutex);
  void PlanMinLog(const std::vector<FamilyChange>& changes, std::vector<VersionEdit*>* edits,
                  VersionEdit* extra) const VARVE_REQUIRES(kDbMutex);
  void FillInNumbers(const std::vector<VersionEdit*>& edits) VARVE_REQUIRES(kDbMutex);
  // *added gets the tables that the families do not have yet.
  Status BuildVersions(std::vector<FamilyChange>* changes, std::vector<FileRef>* added)
      VARVE_REQUIRES(kDbMutex);
  void MakeRoomToInstall(const std::vector<FamilyChange>& changes) VARVE_REQUIRES(kDbMutex);
  void Install(std::vector<FamilyChange>* changes) VARVE_REQUIRES(kDbMutex);
  Status VerifyTables() const VARVE_REQUIRES(kDbMutex);
  Status CheckNotCut(const wal::SyncedMark& known, uint64_t manifest, uint64_t end) const
      VARVE_REQUIRES(kDbMutex);
  void SetCurrent(FamilyVersions* family, VersionRef version) VARVE_REQUIRES(kDbMutex);

  const VersionSetOptions options_;
  DbMutex* const mu_;
  const std::shared_ptr<ObsoleteFileQueue> obsolete_files_;
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> families_ VARVE_GUARDED_BY(kDbMutex);
  // Source of all file numbers; unique allocation is all that relaxed increments must give.
  std::atomic<uint64_t> next_file_number_{2};
  // Published with release after an insertion is complete, read with acquire by readers.
  std::atomic<SequenceNumber> last_sequence_{0};
  uint64_t manifest_file_number_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t manifest_file_size_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint64_t min_log_number_to_keep_ VARVE_GUARDED_BY(kDbMutex) = 0;
  uint32_t max_family_id_ VARVE_GUARDED_BY(kDbMutex) = 0;
  // Of the newest record: they never decrease.
  SequenceNumber logged_sequence_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::set<uint64_t> gone_tables_ VARVE_GUARDED_BY(kDbMutex);
  std::vector<std::pair<uint64_t, uint64_t>> unread_logs_ VARVE_GUARDED_BY(kDbMutex);  // ascending
  uint64_t ttl_clock_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::map<std::string, ChangePosition> change_positions_ VARVE_GUARDED_BY(kDbMutex);
  std::string db_id_;             // constant once the database is open
  bool recovered_whole_ = false;  // likewise
  const std::unique_ptr<Rep> rep_;
};

}  // namespace varve
