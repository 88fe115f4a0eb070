// SPDX-License-Identifier: Apache-2.0
#pragma once

// A column family of an open database: its memtables, its current tables, its options, and the
// super-version through which readers see all three.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"

#include "db/column_family/family_work.h"
#include "db/column_family/ingested_ranges.h"
#include "db/column_family/memtable_resolver.h"
#include "db/column_family/stall_counts.h"
#include "db/column_family/super_version_source.h"
#include "db/column_family/unlogged_numbers.h"
#include "db/db_mutex.h"
#include "db/lock_ranks.h"
#include "db/version/level_shape.h"
#include "db/version/version_set.h"
#include "util/sync/thread_slots.h"

namespace varve {

struct CompactionPlan;
class ColumnFamily;

// Borrows the thread's cached super-version for one read; the destructor returns it to the thread's
// slot.
//
// Thread safety: none; must be made, used and destroyed on one thread, without the DB mutex held.
// The family must outlive it.
class ReadGuard {
 public:
  // Pins the super-version that shows `snapshot`, or the newest one if `snapshot` is null.
  explicit ReadGuard(ColumnFamily* family, const Snapshot* snapshot = nullptr);
  ~ReadGuard();
  ReadGuard(const ReadGuard&) = delete;
  ReadGuard& operator=(const ReadGuard&) = delete;
  const SuperVersion& operator*() const { return *super_version_; }
  const SuperVersion* operator->() const { return super_version_; }

 private:
  ColumnFamily* const family_;
  // True if the super-version is one of KeepPast's or the newest, with a reference of its own;
  // false if it was borrowed from the thread's slot.
  const bool of_past_;
  SuperVersion* const super_version_;
};

// The parts of the database that a family needs.
struct FamilyEnvironment {
  // Shares ownership of everything that the other members refer to, since handles and iterators may
  // be destroyed last.
  std::shared_ptr<DbMutex> db_mutex;
  VersionSet* versions = nullptr;
  // Returns the newest sequence number up to which all entries are inserted; may wait for
  // insertions in progress.
  std::function<SequenceNumber()> stable_sequence;
  // Returns true if the snapshot is of this database and was not released.
  std::function<bool(const Snapshot*)> holds_snapshot;
  // Returns the sequence number of the oldest snapshot, or kMaxSequenceNumber if there is none.
  std::function<SequenceNumber()> oldest_snapshot;
  // Returns true if no snapshot is older than the sequence number. Otherwise arranges that
  // MeasureShape is called when that is so.
  std::function<bool(SequenceNumber)> await_snapshots;
  // Also shared by each memtable, since a value pinned in one may be released last.
  std::shared_ptr<WriteBufferManager> write_buffer_manager;
  TableCacheOptions table_cache;  // the family sets icmp, cf_options and family_id
  SystemClock* clock = nullptr;
  Logger* info_log = nullptr;  // passed to merge operators
  ReferenceCounts* references = nullptr;
  // Called when the destruction of a user's handle begins. Must not throw.
  std::function<void(ColumnFamilyHandle*)> handle_deletion;
  QueryTrace* query_trace = nullptr;
};

// A memtable that is not written to any more and waits to be flushed to L0.
struct ImmutableMemTable {
  std::shared_ptr<MemTable> mem;
  // Epoch of the table that a flush makes of it. It is assigned at the switch, since a table that
  // is added to L0 before this memtable is flushed is newer.
  uint64_t epoch_number = kUnknownEpochNumber;
  bool picked = false;  // a running flush has picked it
  // Number of running ingestions whose tables are newer than this memtable and older than the next
  // one. While it is not 0, no flush may write the two into one table.
  int ends_table = 0;
};

// Locking: the active memtable is replaced only while the commit path is held exclusively *and* the
// DB mutex is held, so either is sufficient to read it. An opening has exclusive use of its
// families, and holds neither. Ownership: shared by the family set, handles, iterators and jobs.
class ColumnFamily final : public SuperVersionSource,
                           public std::enable_shared_from_this<ColumnFamily> {
 public:
  ColumnFamily(std::shared_ptr<FamilyVersions> versions,
               std::shared_ptr<const ColumnFamilyOptions> options, const FamilyEnvironment& env);
  ~ColumnFamily() override;

  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  // Returns the name of the merge operator that the family had before this opening, or "" if it is
  // not known.
  const std::string& remembered_merge_operator() const { return remembered_merge_operator_; }
  const InternalKeyComparator& icmp() const { return *versions_->icmp; }
  const Comparator* user_comparator() const { return versions_->icmp->user_comparator(); }
  FamilyVersions* versions() const { return versions_.get(); }
  const TablePathsRef& shared_table_paths() const { return versions_->paths; }
  const TablePaths& table_paths() const { return *versions_->paths; }
  // Returns the DB mutex, which also identifies the family's database.
  const Mutex* db_mutex() const { return env_.db_mutex.get(); }
  // Returns true if the family has a merge operator, which SetOptions cannot change.
  bool has_merge_operator() const { return has_merge_operator_; }
  // Returns false if the family's tables cannot have range deletions.
  bool takes_range_deletions() const { return takes_range_deletions_; }
  // Returns the option's current value, without a lock.
  size_t max_successive_merges() const {
    return max_successive_merges_.load(std::memory_order_relaxed);
  }
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }
  void MarkDropped() VARVE_REQUIRES(kDbMutex);

  // --- Options are immutable objects, which are replaced as a whole under the DB mutex.
  std::shared_ptr<const ColumnFamilyOptions> options() const;  // any thread
  // Replaces the options. `options` are the effective ones, adapted from those that were set,
  // `as_set`; a later change of one option starts from the latter.
  void SetOptions(std::shared_ptr<const ColumnFamilyOptions> options,
                  std::shared_ptr<const ColumnFamilyOptions> as_set);
  // Returns the options as they were passed to the opening or set since. Thread-safe.
  std::shared_ptr<const ColumnFamilyOptions> options_as_set() const;

  // --- Memtables
  MemTable* mem() const { return mem_.get(); }                          // commit path or DB mutex
  const std::shared_ptr<MemTable>& shared_mem() const { return mem_; }  // guarded like mem()
  // Makes an empty memtable with the current options, for entries from that sequence number on.
  std::shared_ptr<MemTable> NewMemTable(SequenceNumber earliest_seq);
  // Replaces the active memtable. Requires that it is empty, and that no super-version was
  // installed yet. If `is_read`, the new one is that of NewMemTable; otherwise it has faster
  // inserts. Requires in that case that the entries are flushed before anything reads them.
  void RenewMemTable(bool is_read);
  // Makes the active memtable immutable and replaces it by `fresh`, which must be empty, also for
  // readers. The first call sets the first memtable, and ignores `log_number`. Requires the commit
  // path and the DB mutex. `log_number` is the log with the fresh memtable's writes. If it throws,
  // nothing has changed.
  void SwitchMemTable(std::shared_ptr<MemTable> fresh, uint64_t log_number);
  // Assigns new epochs to all immutable memtables, so that their tables are newer than all tables
  // of the tree. Used by a promotion, as another process has added tables meanwhile.
  void RenewEpochs() VARVE_REQUIRES(kDbMutex);
  // Returns true if the active memtable has learned the common prefix of its keys, so that
  // LearnKeyPrefix should be called.
  bool ShouldLearnKeyPrefix() const { return mem_->ShouldTellPrefix() && !dropped(); }
  // Replaces the active memtable, also for readers, by a copy that compares keys after their common
  // prefix. Requires the commit path and the DB mutex. Keeps the old one if an allocation fails, or
  // there is no common prefix.
  void LearnKeyPrefix() VARVE_REQUIRES(kDbMutex);
  // Returns the immutable memtables, oldest first.
  std::deque<ImmutableMemTable>& immutables() VARVE_REQUIRES(kDbMutex) { return immutables_; }
  int unflushed_count() const VARVE_REQUIRES(kDbMutex) {
    return static_cast<int>(immutables_.size());
  }
  // Returns the number of immutables that no running flush has picked.
  size_t unpicked_count() const VARVE_REQUIRES(kDbMutex);
  // Drops the oldest `n` immutable memtables, which are in tables now; keeps them as history up to
  // max_write_buffer_size_to_maintain. Does not throw, as the tables are installed already.
  void DropFlushed(size_t n) VARVE_REQUIRES(kDbMutex);
  // Returns flushed memtables that are kept, oldest first. They are only counted by properties:
  // reads and conflict checks use the tables.
  const std::vector<std::shared_ptr<MemTable>>& history() const VARVE_REQUIRES(kDbMutex) {
    return history_;
  }
  // Releases the oldest history while all memtables together exceed
  // max_write_buffer_size_to_maintain, or all of it.
  void TrimHistory(bool all = false) VARVE_REQUIRES(kDbMutex);
  size_t MemTableBytes() const VARVE_REQUIRES(kDbMutex);  // bytes of active and immutable memtables
  size_t HistoryBytes() const VARVE_REQUIRES(kDbMutex);
  // Returns the bytes of memtables that exist only because readers pin old super-versions.
  size_t PinnedMemTableBytes() VARVE_REQUIRES(kDbMutex);
  // Returns true if the active memtable has memtable_max_range_deletions or more. Requires the
  // commit path or the DB mutex.
  bool TooManyRangeDeletions() const {
    const uint32_t most = max_range_deletions_.load(std::memory_order_relaxed);
    return most != 0 && mem_->range_deletion_count() >= most;
  }
  // Records that an ingestion has added entries with these sequence numbers, which are in no log.
  void NoteUnlogged(SequenceNumber first, SequenceNumber last) VARVE_REQUIRES(kDbMutex) {
    unlogged_numbers_.Add(first, last);
  }
  // Returns true if the family may have, or may have had, unlogged entries with one of these
  // sequence numbers. All numbers of a memtable with unlogged writes count. Earlier openings are
  // not known.
  bool MayHaveUnlogged(SequenceNumber first, SequenceNumber last) const VARVE_REQUIRES(kDbMutex);
  // Returns the number of the oldest log with updates of this family that are not in tables;
  // `current_log` if there are none.
  uint64_t OldestLogNeeded(uint64_t current_log) const VARVE_REQUIRES(kDbMutex);

  // --- Versions. Makes the current memtables, version and options visible to new readers, and
  // recomputes the shape. If it throws, readers continue with the old super-version, which has the
  // same data as long as the active memtable is the same.
  void InstallSuperVersion() VARVE_REQUIRES(kDbMutex);
  // Sets the sequence limit of super-versions installed from now on.
  void set_sequence_limit(SequenceNumber limit) VARVE_REQUIRES(kDbMutex) {
    sequence_limit_ = limit;
  }
  const VersionRef& current() const VARVE_REQUIRES(kDbMutex) { return versions_->current; }
  const LevelShape& shape() const VARVE_REQUIRES(kDbMutex) { return shape_; }
  // Returns the current shape: scores and due files of the levels, considering files that are
  // marked or being compacted.
  LevelShape ComputeShape() const VARVE_REQUIRES(kDbMutex);
  // Recomputes shape(), because time has passed or snapshots were released.
  void MeasureShape() VARVE_REQUIRES(kDbMutex);
  TableCache* table_cache() const { return table_cache_.get(); }
  const std::shared_ptr<TableCache>& shared_table_cache() const { return table_cache_; }

  // --- Readers. Borrow returns the newest super-version for one short read of this thread, which
  // must pass it to Return. Both must be called without the DB mutex.
  SuperVersion* Borrow();
  void Return(SuperVersion* super_version);
  SuperVersion* AcquireSuperVersion() override;  // adds a reference; call Unref
  // Returns the super-version that shows the snapshot, or the newest one if `snapshot` is null.
  // Adds a reference, which the caller releases with Unref.
  SuperVersion* AcquireAt(const Snapshot* snapshot);
  // Returns true if super-versions are kept for snapshots (KeepPast).
  bool keeps_past() const { return keeps_past_.load(std::memory_order_acquire); }
  // Keeps the current super-version, which is about to be replaced, for the existing snapshots, and
  // releases kept ones that none of `snapshots`, which ascend, needs. Used by secondaries, since
  // the primary's compactions do not know their snapshots.
  void KeepPast(const std::vector<SequenceNumber>& snapshots) VARVE_REQUIRES(kDbMutex);
  SequenceNumber VisibleSequence() override;
  bool Holds(const Snapshot* snapshot) const override { return env_.holds_snapshot(snapshot); }
  ReferenceCounts* references() override { return env_.references; }
  // Must be called when the destruction of a user's handle begins.
  void TellHandleDeletion(ColumnFamilyHandle* handle) {
    if (env_.handle_deletion) env_.handle_deletion(handle);
  }
  uint64_t SuperVersionNumber() const override {
    return super_version_number_.load(std::memory_order_acquire);
  }

  // Returns the newest sequence number in files that were, or are about to be, deleted with entries
  // that no tombstone deletes (DeleteFilesInRanges). Conflict checks use it. Never decreases.
  SequenceNumber newest_dropped_with_files() const {
    return newest_dropped_with_files_.load(std::memory_order_acquire);
  }
  // Must be called with the largest sequence number of such a file before the edit that deletes it.
  void NoteDroppedWithFiles(SequenceNumber largest) VARVE_REQUIRES(kDbMutex) {
    if (largest <= newest_dropped_with_files()) return;
    newest_dropped_with_files_.store(largest, std::memory_order_release);
  }

  // Returns the ranges of recently ingested tables.
  IngestedRanges& ingested_ranges() { return ingested_ranges_; }

  // --- Scheduling state.
  bool flush_requested VARVE_GUARDED_BY(kDbMutex) = false;  // requested and not picked yet
  // Number of running flushes. Each has picked different memtables; their tables are installed in
  // order.
  int flushes_running VARVE_GUARDED_BY(kDbMutex) = 0;
  bool compaction_queued VARVE_GUARDED_BY(kDbMutex) = false;  // in the queue of CompactionWork
  std::vector<const CompactionPlan*> running_compactions VARVE_GUARDED_BY(kDbMutex);
  WriteStallCondition stall_condition VARVE_GUARDED_BY(kDbMutex) = WriteStallCondition::kNormal;
  WriteStallCause stall_cause VARVE_GUARDED_BY(kDbMutex) = WriteStallCause::kNone;
  StallCounts stall_counts VARVE_GUARDED_BY(kDbMutex);
  // Start level of an automatic compaction that has failed, with no success since; -1: none.
  int failed_compaction_level VARVE_GUARDED_BY(kDbMutex) = -1;
  FamilyWork work VARVE_GUARDED_BY(kDbMutex);  // since the opening, or ResetStats

 private:
  // Releases the reference in a thread's slot (slots_).
  static void ReleaseSlot(void* super_version);

  const uint32_t id_;
  const std::string name_;
  const std::string remembered_merge_operator_;
  const std::shared_ptr<FamilyVersions> versions_;
  const FamilyEnvironment env_;
  std::atomic<SequenceNumber> newest_dropped_with_files_{0};
  IngestedRanges ingested_ranges_;
  const bool has_merge_operator_;
  const bool takes_range_deletions_;
  std::shared_ptr<TableCache> table_cache_;
  // Set once under the DB mutex; writers read it without a lock.
  std::atomic<bool> dropped_{false};

  mutable Mutex options_mu_{lock_ranks::kFamilyOptions};
  std::shared_ptr<const ColumnFamilyOptions> options_ VARVE_GUARDED_BY(options_mu_);
  std::shared_ptr<const ColumnFamilyOptions> options_as_set_ VARVE_GUARDED_BY(options_mu_);

  // Updates key_prefix_ from the active memtable's keys, for the next memtable.
  void NoteKeyPrefix();
  // Replaces the active memtable by a copy that knows key_prefix_, unless copying is not
  // worthwhile.
  void MoveToLearned() VARVE_REQUIRES(kDbMutex);
  // Makes *mem the active memtable, also for readers, and the former one, to which *mem points
  // afterwards, immutable. If it throws, nothing has changed.
  void Activate(std::shared_ptr<MemTable>* mem);
  std::shared_ptr<MemTable> MakeMemTable(const MemTableOptions& mem_options,
                                         SequenceNumber earliest_seq);
  // Adds the memtable, of which readers may still have references, to released_.
  void AddReleased(const std::shared_ptr<MemTable>& mem) VARVE_REQUIRES(kDbMutex);

  // These four change under the commit path and the DB mutex.
  std::shared_ptr<MemTable> mem_;
  uint64_t next_memtable_id_ = 1;
  // Common prefix of the keys of all memtables so far.
  std::string key_prefix_;
  bool key_prefix_known_ = false;

  std::deque<ImmutableMemTable> immutables_ VARVE_GUARDED_BY(kDbMutex);
  std::vector<std::shared_ptr<MemTable>> history_ VARVE_GUARDED_BY(kDbMutex);
  // Sequence numbers that may be unlogged, except those of the active memtable: a switch adds those
  // of the memtable that was active if it has unlogged writes.
  UnloggedNumbers unlogged_numbers_ VARVE_GUARDED_BY(kDbMutex);
  // Memtables that were dropped from the two lists above, of which readers may still hold some.
  // Both vectors have capacity for all memtables that may be added.
  std::vector<std::weak_ptr<const MemTable>> released_ VARVE_GUARDED_BY(kDbMutex);
  // Copies of current options, which writers read without options_mu_.
  std::atomic<uint32_t> max_range_deletions_;
  std::atomic<size_t> max_successive_merges_;

  SuperVersion* super_version_ VARVE_GUARDED_BY(kDbMutex) = nullptr;  // has one reference
  SequenceNumber sequence_limit_ VARVE_GUARDED_BY(kDbMutex) = kMaxSequenceNumber;
  // Super-versions kept by KeepPast, by their sequence limits, with a reference each. The flag,
  // stored with release, is true if there are any.
  std::map<SequenceNumber, SuperVersion*> past_ VARVE_GUARDED_BY(kDbMutex);
  std::atomic<bool> keeps_past_{false};
  // Number of the newest super-version, by which holders of an older one recognize that; stored
  // with release.
  std::atomic<uint64_t> super_version_number_{0};
  ThreadSlots slots_;
  LevelShape shape_ VARVE_GUARDED_BY(kDbMutex);
};

// The handle of users. Keeps the family alive, even after it was dropped or the database was
// closed. Thread-safe.
class ColumnFamilyHandleImpl final : public ColumnFamilyHandle {
 public:
  // `counted` is true for a user's handle, which Close and listeners know of.
  explicit ColumnFamilyHandleImpl(std::shared_ptr<ColumnFamily> family, bool counted = true);
  ~ColumnFamilyHandleImpl() override;
  const std::string& GetName() const override;
  uint32_t GetID() const override;
  Status GetDescriptor(ColumnFamilyDescriptor* descriptor) override;
  const Comparator* GetComparator() const override;

  const std::shared_ptr<ColumnFamily>& family() const { return family_; }
  bool BelongsTo(const Mutex* db_mutex) const { return db_mutex_ == db_mutex; }

 private:
  const std::shared_ptr<ColumnFamily> family_;
  // The family's; stored here so that look-ups touch one cache line less.
  const Mutex* const db_mutex_;
  const bool counted_;
};

// All live families by id.
//
// Locking: changed while the commit path is held exclusively and the DB mutex is held; read under
// either. Find and FindById require that, and writers on the commit path may call them;
// ComparatorOf, NameOf, HasMergeOperator and CheckRangeDeletions may be called from any thread.
class ColumnFamilySet final : public MemTableResolver {
 public:
  void Add(std::shared_ptr<ColumnFamily> family);
  void Remove(uint32_t id);
  // Must be called at the end, as families share the ownership of what owns this set.
  void Clear();
  // Returns how many families were removed so far. Thread-safe. A caller can detect that a family
  // was dropped between its look-up and its use: it reads the number before the look-up, and
  // compares it on the commit path.
  uint64_t removals() const { return removals_.load(std::memory_order_acquire); }
  ColumnFamily* FindById(uint32_t id) const;
  ColumnFamily* FindByName(const std::string& name) const;
  const std::map<uint32_t, std::shared_ptr<ColumnFamily>>& all() const { return by_id_; }

  MemTable* Find(uint32_t column_family) override;
  const Comparator* ComparatorOf(uint32_t column_family) override;
  std::string NameOf(uint32_t column_family) override;
  bool HasMergeOperator(uint32_t column_family) override;
  Status CheckRangeDeletions(uint32_t column_family) override;
  bool IsAlreadyInTables(uint32_t column_family) override;
  // Returns true, and resets the flag, if Find has found a memtable that needs attention, usually a
  // full one.
  bool TakeFullFlag() {
    return full_.load(std::memory_order_relaxed) &&
           full_.exchange(false, std::memory_order_relaxed);
  }
  // Sets the number of the log that is being replayed, or 0 for none.
  void set_replayed_log(uint64_t number) { replayed_log_ = number; }

 private:
  // Guards changes of by_id_ against reads from any thread.
  mutable Mutex mu_{lock_ranks::kFamilySet};
  std::map<uint32_t, std::shared_ptr<ColumnFamily>> by_id_;
  // Family 0, which FindById returns without a search; null before its Add and after Clear.
  ColumnFamily* default_ = nullptr;
  uint64_t replayed_log_ = 0;
  std::atomic<uint64_t> removals_{0};
  // True if a memtable may need attention. A hint: callers of TakeFullFlag check under the DB
  // mutex.
  std::atomic<bool> full_{false};
};

}  // namespace varve
