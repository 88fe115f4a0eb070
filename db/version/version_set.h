// SPDX-License-Identifier: Apache-2.0
#pragma once

// The MANIFEST and the current versions of all column families: recovers them, and installs edits
// atomically, on disk first.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "varve/file_system.h"
#include "varve/options.h"

#include "db/version/obsolete_file_queue.h"
#include "db/version/version.h"
#include "db/version/version_edit.h"
#include "db/wal/synced_marks.h"
#include "util/sync/mutex.h"

namespace varve {

namespace wal {
class LogWriter;
}

// A column family as the MANIFEST knows it. Guarded by the DB mutex, but for what is constant.
// Shared with the run-time column family, which may outlive the set.
struct FamilyVersions {
  uint32_t id = 0;                              // constant
  std::string name;                             // constant
  std::string comparator_name;                  // constant
  std::unique_ptr<InternalKeyComparator> icmp;  // constant
  int num_levels = 7;                           // constant
  uint64_t log_number = 0;                      // updates in logs below it are all in tables
  VersionRef current;
  uint64_t next_epoch_number = 1;
  // Versions of keys below this timestamp may be gone; empty: none is, or keys have no timestamps.
  std::string full_history_ts_low;
  bool persist_timestamps = true;  // constant; tables hold the timestamps of keys, if keys have any
  std::string merge_operator;      // of whoever wrote operands; empty: not known, or there are none
  bool dropped = false;
  std::shared_ptr<CacheCharge> file_charge;  // constant; see FamilyToOpen
  bool opened = true;  // false: in the MANIFEST, but not named by a read-only opener

  // Nothing for a mark that is not above the one that there is: it never goes back. `low` has the
  // size of the comparator's timestamps.
  void RaiseFullHistoryTsLow(const std::string& low);
};

// One family's part of an atomic change.
struct FamilyEdit {
  FamilyVersions* family = nullptr;
  std::vector<VersionEdit*> edits;  // applied in order as one; LogAndApply fills in numbers
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
  // CURRENT naming them. That is left to whoever set it.
  uint64_t detached_manifest = 0;
  bool write_dbid = true;
  Logger* info_log = nullptr;
  SystemClock* clock = nullptr;
  wal::SyncedMarks* marks = nullptr;  // told how far the MANIFEST is durable
};

// Locking: the DB mutex guards everything but the atomics; LogAndApply releases it while it writes.
// Errors: after a failed append or sync the MANIFEST is abandoned; the next LogAndApply starts a
//   new one that holds the whole state. (A failed append's outcome is not known until then.)
//   LogAndApply, CreateFamily and DropFamily do not throw; what fails for want of memory has
//   changed nothing, but for a MANIFEST that is in doubt then.
class VersionSet {
 public:
  VersionSet(VersionSetOptions options, Mutex* db_mutex);
  ~VersionSet();

  // Writes the first MANIFEST of a new database (default family only) and CURRENT, and recovers it.
  Status CreateNew(const FamilyToOpen& default_family, const std::string& db_id);

  // Reads CURRENT and its MANIFEST, in place of all that this set held. Read-write: every family of
  // the MANIFEST must be named (InvalidArgument lists those that are not). Refuses comparators of
  // another name (but for what comparator_change.h allows), levels beyond num_levels, missing or
  // wrong-sized table files (Corruption lists them), blob files, overlapping levels, and a MANIFEST
  // that lacks what is `known` of it. Of tables that edits removed it remembers those that are
  // among `present`. Nothing is written.
  Status Recover(const std::vector<FamilyToOpen>& families, const wal::SyncedMark& known = {},
                 const std::set<uint64_t>& present = {});
  static Status ListFamilies(const std::string& db_name, FileSystem* fs,
                             std::vector<std::string>* names);

  // Logs all edits (one atomic group when there are several), syncs, then installs the new
  // versions. Serialises concurrent callers in order of arrival. The directory (`dir`, or opened
  // for it when null) is fsynced before an edit that adds files, whose names it makes durable, and
  // around a new MANIFEST. With new_manifest a fresh MANIFEST with the whole state is started
  // first. Edits of families dropped meanwhile are left out; ColumnFamilyDropped if that leaves
  // nothing. Fills in: numbers of the whole database, epochs of files without one (new L0 files in
  // the order given, others inherit the oldest of the files deleted with them).
  Status LogAndApply(std::vector<FamilyEdit> edits, FSDirectory* dir, bool new_manifest = false);

  // The id that the family made next will have.
  uint32_t next_family_id() const { return max_family_id_ + 1; }
  // Adds a family; *family points into the set. The options' comparator and level count are taken.
  Status CreateFamily(const FamilyToOpen& family, uint64_t log_number, FSDirectory* dir,
                      std::shared_ptr<FamilyVersions>* result);
  // The family's files become obsolete; they go when the last holder of its versions lets go.
  Status DropFamily(FamilyVersions* family, FSDirectory* dir);

  const std::map<uint32_t, std::shared_ptr<FamilyVersions>>& families() const { return families_; }
  std::shared_ptr<FamilyVersions> FindFamily(uint32_t id) const;
  std::shared_ptr<FamilyVersions> FindFamily(const std::string& name) const;

  uint64_t NewFileNumber() { return next_file_number_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t next_file_number() const { return next_file_number_.load(std::memory_order_relaxed); }
  void MarkFileNumberUsed(uint64_t number);
  uint64_t manifest_file_number() const { return manifest_file_number_; }
  // MANIFESTs that a newer one, in force and durable, has replaced. Hands each number out once.
  std::vector<uint64_t> TakeObsoleteManifests();
  // How much of that file says what is in force now: no edit that is being written, or has failed.
  uint64_t manifest_file_size() const { return manifest_file_size_; }
  // Syncs and closes the MANIFEST, after the edits under way; later ones get ShutdownInProgress.
  // Lets go of the DB mutex meanwhile.
  Status CloseManifest();
  // True after an append or a sync of the MANIFEST failed, until a fresh one is in force: whether
  // the failed edit is on disk is not known, so files it names must stay.
  bool manifest_in_doubt() const;
  const std::string& db_id() const { return db_id_; }
  void set_db_id(const std::string& id) { db_id_ = id; }

  // Newest sequence that readers may see (published with release by the write path).
  SequenceNumber last_sequence() const { return last_sequence_.load(std::memory_order_acquire); }
  void set_last_sequence(SequenceNumber seq) {
    last_sequence_.store(seq, std::memory_order_release);
  }

  // Older logs are not needed, and the MANIFEST says so.
  uint64_t min_log_number_to_keep() const { return min_log_number_to_keep_; }
  void set_min_log_number_to_keep(uint64_t n) { min_log_number_to_keep_ = n; }
  // Smallest log number over live families: older logs hold nothing that is not in tables. The
  // MANIFEST may not know yet.
  uint64_t MinLogNumber() const;

  // Tables that a logged edit removed, in this opening or before, and whose files may be there
  // still: a MANIFEST keeps knowing them, so that no later opening wonders about them.
  const std::set<uint64_t>& gone_tables() const { return gone_tables_; }
  void ForgetGoneTable(uint64_t number) { gone_tables_.erase(number); }

  // Of logs below MinLogNumber, those that an opening asked for and did not find were never put
  // into tables. [first, end) are some more of them.
  void NoteUnreadLogs(uint64_t first, uint64_t end);
  bool WasUnread(uint64_t log) const;

  // Whether the MANIFEST that was recovered is known to have lost nothing at its end.
  bool recovered_whole() const { return recovered_whole_; }

  // Table numbers referenced by any Version that is still alive anywhere (for checks and purging).
  void AddLiveFiles(std::set<uint64_t>* numbers) const;
  const std::shared_ptr<ObsoleteFileQueue>& obsolete_files() const { return obsolete_files_; }
  // Micros (monotonic) of the last edit that reached the disk; 0 if none since open.
  uint64_t last_edit_micros() const { return last_edit_micros_; }

 private:
  struct Turn;
  struct Rep;
  struct FamilyChange;
  struct ManifestWrite;

  // Requires the mutex and the turn.
  Status WriteEdits(const std::vector<VersionEdit*>& edits, FSDirectory* dir, bool new_manifest);
  // Refuses tables whose names are in doubt, but for those that are only moved.
  Status CheckNames(const VersionEdit& edit) const;
  // Without the mutex.
  IOStatus WriteManifest(ManifestWrite* write);
  size_t TimestampSizeOf(uint32_t family) const;  // 0 for one that is not there
  void FillInEpochs(FamilyChange* change);
  void PlanMinLog(const std::vector<FamilyChange>& changes, std::vector<VersionEdit*>* edits,
                  VersionEdit* extra) const;
  void StampEdits(const std::vector<VersionEdit*>& edits);
  Status BuildVersions(std::vector<FamilyChange>* changes);
  void MakeRoomToInstall(const std::vector<FamilyChange>& changes);
  void Install(std::vector<FamilyChange>* changes);
  Status EncodeSnapshot(std::vector<std::string>* records) const;
  Status VerifyTables() const;
  Status CheckNotCut(const wal::SyncedMark& known, uint64_t manifest, uint64_t end) const;
  void SetCurrent(FamilyVersions* family, VersionRef version);

  const VersionSetOptions options_;
  Mutex* const mu_;
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> families_;
  std::shared_ptr<ObsoleteFileQueue> obsolete_files_;
  // Source of all file numbers; unique allocation is all that relaxed increments must give.
  std::atomic<uint64_t> next_file_number_{2};
  // Published with release after an insertion is complete, read with acquire by readers.
  std::atomic<SequenceNumber> last_sequence_{0};
  uint64_t manifest_file_number_ = 0;
  uint64_t manifest_file_size_ = 0;
  uint64_t min_log_number_to_keep_ = 0;
  uint64_t last_edit_micros_ = 0;
  uint32_t max_family_id_ = 0;
  SequenceNumber logged_sequence_ = 0;  // of the newest record: they never decrease
  std::string db_id_;
  std::set<uint64_t> gone_tables_;
  std::vector<std::pair<uint64_t, uint64_t>> unread_logs_;  // ascending
  bool recovered_whole_ = false;
  std::unique_ptr<Rep> rep_;
};

}  // namespace varve
