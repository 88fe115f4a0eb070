// SPDX-License-Identifier: Apache-2.0
#pragma once

// A column family at run time: its memtables, its current tables, its options, and the
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
#include "db/db_mutex.h"
#include "db/lock_ranks.h"
#include "db/version/level_shape.h"
#include "db/version/version_set.h"
#include "util/sync/thread_slots.h"

namespace varve {

struct CompactionPlan;
class ColumnFamily;

// Borrowed for one read: the thread's cached super-version, returned to its slot by the destructor.
class ReadGuard {
 public:
  // At a snapshot, if that is not null.
  explicit ReadGuard(ColumnFamily* family, const Snapshot* snapshot = nullptr);
  ~ReadGuard();
  ReadGuard(const ReadGuard&) = delete;
  ReadGuard& operator=(const ReadGuard&) = delete;
  const SuperVersion& operator*() const { return *super_version_; }
  const SuperVersion* operator->() const { return super_version_; }

 private:
  ColumnFamily* const family_;
  const bool of_past_;
  SuperVersion* const super_version_;
};

// Everything of the database that a family needs.
struct FamilyEnvironment {
  // Shares the ownership of all the rest here: handles and iterators may be the last to go.
  std::shared_ptr<DbMutex> db_mutex;
  VersionSet* versions = nullptr;
  // The newest state that stays as it is; may wait for insertions under way.
  std::function<SequenceNumber()> stable_sequence;
  std::function<bool(const Snapshot*)> holds_snapshot;
  // Of the snapshots that users hold; kMaxSequenceNumber: there is none.
  std::function<SequenceNumber()> oldest_snapshot;
  // Asks for MeasureShape once no snapshot is older. True: none is now.
  std::function<bool(SequenceNumber)> await_snapshots;
  // Of each memtable, too: a value pinned there may be the very last to go.
  std::shared_ptr<WriteBufferManager> write_buffer_manager;
  TableCacheOptions table_cache;  // cf_options and icmp are filled in by the family
  SystemClock* clock = nullptr;
  Logger* info_log = nullptr;  // that merge operators are given
  ReferenceCounts* references = nullptr;
};

// A memtable that takes no more writes, on its way to L0.
struct ImmutableMemTable {
  std::shared_ptr<MemTable> mem;
  // Of the table that it becomes, given to it when it was switched: a table that is added to L0
  // later, before this one is flushed, is newer.
  uint64_t epoch_number = kUnknownEpochNumber;
  bool picked = false;  // by a flush under way
  // How many ingestions are under way whose tables are newer than this and older than the next: no
  // table may have entries of both.
  int ends_table = 0;
};

// Locking: the active memtable is replaced only while the commit path is held exclusively *and* the
//   DB mutex is held, so either is enough to read it. An opening has its families to itself, and
//   holds neither.
// Ownership: shared by the family set, handles and iterators.
class ColumnFamily final : public SuperVersionSource,
                           public std::enable_shared_from_this<ColumnFamily> {
 public:
  ColumnFamily(std::shared_ptr<FamilyVersions> versions,
               std::shared_ptr<const ColumnFamilyOptions> options, const FamilyEnvironment& env);
  ~ColumnFamily() override;

  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  // The name of the merge operator that the family was opened with last, or that its options had
  // when RocksDB wrote them; empty: not known. Of the time before this opening.
  const std::string& remembered_merge_operator() const { return remembered_merge_operator_; }
  const InternalKeyComparator& icmp() const { return *versions_->icmp; }
  const Comparator* user_comparator() const { return versions_->icmp->user_comparator(); }
  FamilyVersions* versions() const { return versions_.get(); }
  const TablePathsRef& shared_table_paths() const { return versions_->paths; }
  const TablePaths& table_paths() const { return *versions_->paths; }
  // Tells whose family this is: one database, one mutex.
  const Mutex* db_mutex() const { return env_.db_mutex.get(); }
  // Options do not change in this.
  bool has_merge_operator() const { return has_merge_operator_; }
  // As the options in force say.
  size_t max_successive_merges() const {
    return max_successive_merges_.load(std::memory_order_relaxed);
  }
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }
  void MarkDropped() VARVE_REQUIRES(kDbMutex);

  // --- Options: immutable snapshots, replaced as a whole. DB mutex to replace.
  std::shared_ptr<const ColumnFamilyOptions> options() const;  // any thread
  // What is in force is derived from what was asked for: a later change of one option goes by the
  // others as they were set, not as they had to be meanwhile.
  void SetOptions(std::shared_ptr<const ColumnFamilyOptions> options,
                  std::shared_ptr<const ColumnFamilyOptions> as_set);
  // As the opening took them, or as they were set since. Any thread.
  std::shared_ptr<const ColumnFamilyOptions> options_as_set() const;

  // --- Memtables
  MemTable* mem() const { return mem_.get(); }                          // commit path or DB mutex
  const std::shared_ptr<MemTable>& shared_mem() const { return mem_; }  // likewise
  std::shared_ptr<MemTable> NewMemTable(SequenceNumber earliest_seq);
  // Puts one in place of the active memtable, which is empty, as long as there are no readers. With
  // `is_read` as NewMemTable; else one that takes entries faster, and is to be flushed unread.
  void RenewMemTable(bool is_read);
  // Freezes the active memtable and puts `fresh` in its place, for readers too if there are any
  // yet. Commit path and DB mutex. `log_number`: the log that takes the fresh memtable's writes. If
  // it throws, nothing has changed.
  void SwitchMemTable(std::shared_ptr<MemTable> fresh, uint64_t log_number);
  // The tables of all immutable memtables become newer than any that the tree has. For a family
  // whose memtables were filled while another process added tables.
  void RenewEpochs() VARVE_REQUIRES(kDbMutex);
  // Whether the active memtable can tell what keys begin with, which nobody knew when it was made.
  bool ShouldLearnKeyPrefix() const { return mem_->ShouldTellPrefix() && !dropped(); }
  // Then puts one in its place, for readers too, that holds the same and compares keys behind what
  // they have in common. Commit path and DB mutex. Where there is no memory for that, or nothing to
  // be gained, the old one stays.
  void LearnKeyPrefix() VARVE_REQUIRES(kDbMutex);
  // Oldest first.
  std::deque<ImmutableMemTable>& immutables() VARVE_REQUIRES(kDbMutex) { return immutables_; }
  int unflushed_count() const VARVE_REQUIRES(kDbMutex) {
    return static_cast<int>(immutables_.size());
  }
  // Immutables that no flush under way has picked.
  size_t unpicked_count() const VARVE_REQUIRES(kDbMutex);
  // Drops the oldest `n` immutables, which are in tables now; as many of them are kept as history
  // as max_write_buffer_size_to_maintain asks. Does not throw: the tables are in force.
  void DropFlushed(size_t n) VARVE_REQUIRES(kDbMutex);
  // Flushed memtables, oldest first, for conflict checks of transactions: readers find the same
  // entries in tables.
  const std::vector<std::shared_ptr<MemTable>>& history() const VARVE_REQUIRES(kDbMutex) {
    return history_;
  }
  // Releases the oldest of it, as far as all memtables together are beyond what is to be kept, or
  // of all of it.
  void TrimHistory(bool all = false) VARVE_REQUIRES(kDbMutex);
  size_t MemTableBytes() const VARVE_REQUIRES(kDbMutex);  // active and immutable
  size_t HistoryBytes() const VARVE_REQUIRES(kDbMutex);
  // Of memtables that are in neither but live on, because readers have old super-versions.
  size_t PinnedMemTableBytes() VARVE_REQUIRES(kDbMutex);
  // Whether the active memtable holds as many as memtable_max_range_deletions. Commit path or DB
  // mutex.
  bool TooManyRangeDeletions() const {
    const uint32_t most = max_range_deletions_.load(std::memory_order_relaxed);
    return most != 0 && mem_->range_deletion_count() >= most;
  }
  // The oldest log that holds updates of this family that are not in tables.
  uint64_t OldestLogNeeded(uint64_t current_log) const VARVE_REQUIRES(kDbMutex);

  // --- Versions
  // Makes the current memtables, version and options what new readers see, and measures the shape
  // anew. If it throws, readers go on with what they had: the same data, as long as the active
  // memtable is the same.
  void InstallSuperVersion() VARVE_REQUIRES(kDbMutex);
  // Of super-versions installed from now on.
  void set_sequence_limit(SequenceNumber limit) VARVE_REQUIRES(kDbMutex) {
    sequence_limit_ = limit;
  }
  const VersionRef& current() const VARVE_REQUIRES(kDbMutex) { return versions_->current; }
  const LevelShape& shape() const VARVE_REQUIRES(kDbMutex) { return shape_; }
  // As it is now, files that are marked or being compacted included.
  LevelShape ComputeShape() const VARVE_REQUIRES(kDbMutex);
  // Measures it anew, as time has passed or snapshots have gone.
  void MeasureShape() VARVE_REQUIRES(kDbMutex);
  TableCache* table_cache() const { return table_cache_.get(); }
  const std::shared_ptr<TableCache>& shared_table_cache() const { return table_cache_; }

  // --- Readers
  // A super-version for one short read on this thread; give it back with Return.
  SuperVersion* Borrow();
  void Return(SuperVersion* super_version);
  SuperVersion* AcquireSuperVersion() override;  // counted; Unref it
  // That which shows the snapshot; null: the newest. Counted.
  SuperVersion* AcquireAt(const Snapshot* snapshot);
  bool keeps_past() const { return keeps_past_.load(std::memory_order_acquire); }
  // Of a database that another process writes, whose tables keep nothing for snapshots here: keeps
  // the super-version, which a newer one is about to replace, for the snapshots that there are; and
  // lets go of those that no snapshot of these, ascending, needs any more.
  void KeepPast(const std::vector<SequenceNumber>& snapshots) VARVE_REQUIRES(kDbMutex);
  SequenceNumber VisibleSequence() override;
  bool Holds(const Snapshot* snapshot) const override { return env_.holds_snapshot(snapshot); }
  ReferenceCounts* references() override { return env_.references; }
  uint64_t SuperVersionNumber() const override {
    return super_version_number_.load(std::memory_order_acquire);
  }

  // The newest entry of files that were, or are about to be, deleted for what they held. Only
  // grows.
  SequenceNumber newest_dropped_with_files() const {
    return newest_dropped_with_files_.load(std::memory_order_acquire);
  }
  void NoteDroppedWithFiles(SequenceNumber largest) VARVE_REQUIRES(kDbMutex) {
    if (largest <= newest_dropped_with_files()) return;
    newest_dropped_with_files_.store(largest, std::memory_order_release);
  }

  // Where tables were ingested lately.
  IngestedRanges& ingested_ranges() { return ingested_ranges_; }

  // --- Scheduling state
  bool flush_requested VARVE_GUARDED_BY(kDbMutex) = false;  // asked for, not picked yet
  // Each of other immutables; they are installed in order.
  int flushes_running VARVE_GUARDED_BY(kDbMutex) = 0;
  bool compaction_queued VARVE_GUARDED_BY(kDbMutex) = false;
  std::vector<const CompactionPlan*> running_compactions VARVE_GUARDED_BY(kDbMutex);
  WriteStallCondition stall_condition VARVE_GUARDED_BY(kDbMutex) = WriteStallCondition::kNormal;
  WriteStallCause stall_cause VARVE_GUARDED_BY(kDbMutex) = WriteStallCause::kNone;
  StallCounts stall_counts VARVE_GUARDED_BY(kDbMutex);
  // From which an automatic compaction failed, and none has succeeded since; -1: there is none.
  int failed_compaction_level VARVE_GUARDED_BY(kDbMutex) = -1;
  FamilyWork work VARVE_GUARDED_BY(kDbMutex);  // since the opening, or ResetStats

 private:
  static void ReleaseSlot(void* super_version);

  const uint32_t id_;
  const std::string name_;
  const std::string remembered_merge_operator_;
  const std::shared_ptr<FamilyVersions> versions_;
  const FamilyEnvironment env_;
  std::atomic<SequenceNumber> newest_dropped_with_files_{0};
  IngestedRanges ingested_ranges_;
  const bool has_merge_operator_;
  std::shared_ptr<TableCache> table_cache_;
  // Read by writers before they check the family; set once under the DB mutex.
  std::atomic<bool> dropped_{false};

  mutable Mutex options_mu_{lock_ranks::kFamilyOptions};
  std::shared_ptr<const ColumnFamilyOptions> options_ VARVE_GUARDED_BY(options_mu_);
  std::shared_ptr<const ColumnFamilyOptions> options_as_set_ VARVE_GUARDED_BY(options_mu_);

  void NoteKeyPrefix();
  void MoveToLearned() VARVE_REQUIRES(kDbMutex);
  // Puts *mem in place of the active memtable, for readers too, and freezes that, which is in *mem
  // then. If it throws, nothing has changed.
  void Activate(std::shared_ptr<MemTable>* mem);
  std::shared_ptr<MemTable> MakeMemTable(const MemTableOptions& mem_options,
                                         SequenceNumber earliest_seq);
  void AddReleased(const std::shared_ptr<MemTable>& mem) VARVE_REQUIRES(kDbMutex);

  // These four change under the commit path and the DB mutex.
  std::shared_ptr<MemTable> mem_;
  uint64_t next_memtable_id_ = 1;
  // What keys of all memtables so far began with.
  std::string key_prefix_;
  bool key_prefix_known_ = false;

  std::deque<ImmutableMemTable> immutables_ VARVE_GUARDED_BY(kDbMutex);
  std::vector<std::shared_ptr<MemTable>> history_ VARVE_GUARDED_BY(kDbMutex);
  // Of the former two; some live on. Both have room for all that may come.
  std::vector<std::weak_ptr<const MemTable>> released_ VARVE_GUARDED_BY(kDbMutex);
  // Of the options in force; here, as writers look at it without their lock. Only a number.
  std::atomic<uint32_t> max_range_deletions_;
  std::atomic<size_t> max_successive_merges_;

  SuperVersion* super_version_ VARVE_GUARDED_BY(kDbMutex) = nullptr;  // one reference held
  SequenceNumber sequence_limit_ VARVE_GUARDED_BY(kDbMutex) = kMaxSequenceNumber;
  // By their limits; a reference each. The flag, published with release, tells that there is any.
  std::map<SequenceNumber, SuperVersion*> past_ VARVE_GUARDED_BY(kDbMutex);
  std::atomic<bool> keeps_past_{false};
  // Tells holders of an old super-version that a newer one exists; published with release.
  std::atomic<uint64_t> super_version_number_{0};
  ThreadSlots slots_;
  LevelShape shape_ VARVE_GUARDED_BY(kDbMutex);
};

// The handle that users hold: keeps the family alive, also after it was dropped.
class ColumnFamilyHandleImpl final : public ColumnFamilyHandle {
 public:
  // `counted`: it is a user's.
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
  const Mutex* const db_mutex_;  // of the family; here, so that look-ups touch one line less
  const bool counted_;
};

// All live families by id.
//
// Locking: changed while the commit path is held exclusively and the DB mutex is held; read under
//   either. Find and FindById are for those, writers on the commit path among them; ComparatorOf,
//   NameOf and HasMergeOperator are for any thread.
class ColumnFamilySet final : public MemTableResolver {
 public:
  void Add(std::shared_ptr<ColumnFamily> family);
  void Remove(uint32_t id);
  // At the end: families share the ownership of what owns this set.
  void Clear();
  // How many families have been removed. Any thread: who reads it, and then finds a family that a
  // look on the commit path misses, finds there that it has changed.
  uint64_t removals() const { return removals_.load(std::memory_order_acquire); }
  ColumnFamily* FindById(uint32_t id) const;
  ColumnFamily* FindByName(const std::string& name) const;
  const std::map<uint32_t, std::shared_ptr<ColumnFamily>>& all() const { return by_id_; }

  MemTable* Find(uint32_t column_family) override;
  const Comparator* ComparatorOf(uint32_t column_family) override;
  std::string NameOf(uint32_t column_family) override;
  bool HasMergeOperator(uint32_t column_family) override;
  bool IsAlreadyInTables(uint32_t column_family) override;
  // True once after a Find that met a memtable that needs attention: a full one, as a rule.
  bool TakeFullFlag() {
    return full_.load(std::memory_order_relaxed) &&
           full_.exchange(false, std::memory_order_relaxed);
  }
  // While a log is replayed: its number; 0 otherwise.
  void set_replayed_log(uint64_t number) { replayed_log_ = number; }

 private:
  // Guards changes of by_id_ against those of any thread.
  mutable Mutex mu_{lock_ranks::kFamilySet};
  std::map<uint32_t, std::shared_ptr<ColumnFamily>> by_id_;
  ColumnFamily* default_ = nullptr;
  uint64_t replayed_log_ = 0;
  std::atomic<uint64_t> removals_{0};
  // Only a hint to look; the reader of the flag takes the DB mutex.
  std::atomic<bool> full_{false};
};

}  // namespace varve
