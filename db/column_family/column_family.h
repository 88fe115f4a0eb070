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
#include "db/column_family/unlogged_numbers.h"
#include "db/db_mutex.h"
#include "db/lock_ranks.h"
#include "db/version/level_shape.h"
#include "db/version/version_set.h"
#include "util/sync/thread_slots.h"

namespace varve {

struct CompactionPlan;
class ColumnFamily;

// Borrows the thread's cached super-version for one read; the destructor returns it to its slot.
//
// Thread safety: none; made, used and destroyed in one thread, which does not have the DB mutex.
// Lifetime: the family must outlive it.
class ReadGuard {
 public:
  // Pins the super-version that shows `snapshot`, or the newest one if that is null.
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

// Holds everything of the database that a family needs.
struct FamilyEnvironment {
  // Shares ownership of everything else here: handles and iterators may be destroyed last.
  std::shared_ptr<DbMutex> db_mutex;
  VersionSet* versions = nullptr;
  // Returns the newest state that does not change; may wait for insertions in progress.
  std::function<SequenceNumber()> stable_sequence;
  std::function<bool(const Snapshot*)> holds_snapshot;
  // Returns the oldest snapshot held by users; kMaxSequenceNumber if there is none.
  std::function<SequenceNumber()> oldest_snapshot;
  // Returns true if no snapshot is older than the sequence number. Otherwise asks for a call of
  // MeasureShape when that is so.
  std::function<bool(SequenceNumber)> await_snapshots;
  // Shared by each memtable, too: a value pinned there may be released last of all.
  std::shared_ptr<WriteBufferManager> write_buffer_manager;
  TableCacheOptions table_cache;  // the family fills in cf_options and icmp
  SystemClock* clock = nullptr;
  Logger* info_log = nullptr;  // passed to merge operators
  ReferenceCounts* references = nullptr;
  // Called as a user's handle begins to be destroyed. Does not throw.
  std::function<void(ColumnFamilyHandle*)> handle_deletion;
  QueryTrace* query_trace = nullptr;
};

// A memtable that takes no more writes and waits to be flushed to L0.
struct ImmutableMemTable {
  std::shared_ptr<MemTable> mem;
  // Epoch of the table that it becomes, assigned at the switch: a table that is added to L0 later,
  // before this one is flushed, is newer.
  uint64_t epoch_number = kUnknownEpochNumber;
  bool picked = false;  // true: a running flush has it
  // Number of running ingestions whose tables are newer than this memtable and older than the next
  // one. While it is not 0, no flush may write the two into one table.
  int ends_table = 0;
};

// Locking: the active memtable is replaced only while the commit path is held exclusively *and* the
// DB mutex is held, so either is enough to read it. An opening has exclusive use of its families,
// and holds neither. Ownership: shared by the family set, handles and iterators.
class ColumnFamily final : public SuperVersionSource,
                           public std::enable_shared_from_this<ColumnFamily> {
 public:
  ColumnFamily(std::shared_ptr<FamilyVersions> versions,
               std::shared_ptr<const ColumnFamilyOptions> options, const FamilyEnvironment& env);
  ~ColumnFamily() override;

  uint32_t id() const { return id_; }
  const std::string& name() const { return name_; }
  // Returns the name of the merge operator that the family was opened with last, or that its
  // options had when RocksDB wrote them; empty if unknown. This opening does not change it.
  const std::string& remembered_merge_operator() const { return remembered_merge_operator_; }
  const InternalKeyComparator& icmp() const { return *versions_->icmp; }
  const Comparator* user_comparator() const { return versions_->icmp->user_comparator(); }
  FamilyVersions* versions() const { return versions_.get(); }
  const TablePathsRef& shared_table_paths() const { return versions_->paths; }
  const TablePaths& table_paths() const { return *versions_->paths; }
  // Identifies the family's database, as each has one mutex.
  const Mutex* db_mutex() const { return env_.db_mutex.get(); }
  // Changes of options do not affect this.
  bool has_merge_operator() const { return has_merge_operator_; }
  // False: the family's tables cannot hold range deletions.
  bool takes_range_deletions() const { return takes_range_deletions_; }
  // Returns the value of the current options.
  size_t max_successive_merges() const {
    return max_successive_merges_.load(std::memory_order_relaxed);
  }
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }
  void MarkDropped() VARVE_REQUIRES(kDbMutex);

  // --- Options: immutable snapshots, replaced as a whole under the DB mutex.
  std::shared_ptr<const ColumnFamilyOptions> options() const;  // any thread
  // Replaces the options. The options in force are derived from those that were set: a later change
  // of one option starts from the others as they were set, not as they were adapted.
  void SetOptions(std::shared_ptr<const ColumnFamilyOptions> options,
                  std::shared_ptr<const ColumnFamilyOptions> as_set);
  // Returns the options as given to the opening or set since. Any thread.
  std::shared_ptr<const ColumnFamilyOptions> options_as_set() const;

  // --- Memtables
  MemTable* mem() const { return mem_.get(); }                          // commit path or DB mutex
  const std::shared_ptr<MemTable>& shared_mem() const { return mem_; }  // guarded like mem()
  std::shared_ptr<MemTable> NewMemTable(SequenceNumber earliest_seq);
  // Replaces the active memtable, which must be empty, before there are readers. With `is_read`,
  // the new one is as NewMemTable makes it; otherwise it takes entries faster, but is only flushed
  // and not read.
  void RenewMemTable(bool is_read);
  // Freezes the active memtable and replaces it by `fresh`, also for readers if there are any yet.
  // Requires commit path and DB mutex. `log_number` is the log with the fresh memtable's writes. If
  // it throws, nothing has changed.
  void SwitchMemTable(std::shared_ptr<MemTable> fresh, uint64_t log_number);
  // Makes the tables of all immutable memtables newer than any table of the tree. For a family
  // whose memtables were filled while another process added tables.
  void RenewEpochs() VARVE_REQUIRES(kDbMutex);
  // True if the active memtable knows the common prefix of its keys, which was unknown when it was
  // made.
  bool ShouldLearnKeyPrefix() const { return mem_->ShouldTellPrefix() && !dropped(); }
  // Replaces the active memtable, also for readers, by a copy that compares keys after their common
  // prefix. Requires commit path and DB mutex. Keeps the old one if memory is out, or if nothing
  // would be gained.
  void LearnKeyPrefix() VARVE_REQUIRES(kDbMutex);
  // Returns the immutables, oldest first.
  std::deque<ImmutableMemTable>& immutables() VARVE_REQUIRES(kDbMutex) { return immutables_; }
  int unflushed_count() const VARVE_REQUIRES(kDbMutex) {
    return static_cast<int>(immutables_.size());
  }
  // Returns the number of immutables that no running flush has picked.
  size_t unpicked_count() const VARVE_REQUIRES(kDbMutex);
  // Drops the oldest `n` immutables, which are in tables now; keeps as many of them as history as
  // max_write_buffer_size_to_maintain asks for. Does not throw, as the tables are in force.
  void DropFlushed(size_t n) VARVE_REQUIRES(kDbMutex);
  // Returns flushed memtables that are kept, oldest first, for properties that count them. No read
  // and no conflict check of a transaction uses them: all find the same entries in tables.
  const std::vector<std::shared_ptr<MemTable>>& history() const VARVE_REQUIRES(kDbMutex) {
    return history_;
  }
  // Releases the oldest history as far as all memtables together exceed what is to be kept, or all
  // of it.
  void TrimHistory(bool all = false) VARVE_REQUIRES(kDbMutex);
  size_t MemTableBytes() const VARVE_REQUIRES(kDbMutex);  // bytes of active and immutable memtables
  size_t HistoryBytes() const VARVE_REQUIRES(kDbMutex);
  // Returns the bytes of other memtables that still exist because readers have old super-versions.
  size_t PinnedMemTableBytes() VARVE_REQUIRES(kDbMutex);
  // True if the active memtable has memtable_max_range_deletions. Requires commit path or DB mutex.
  bool TooManyRangeDeletions() const {
    const uint32_t most = max_range_deletions_.load(std::memory_order_relaxed);
    return most != 0 && mem_->range_deletion_count() >= most;
  }
  // Notes that an ingestion has put entries with these sequence numbers into tables, and into no
  // log.
  void NoteUnlogged(SequenceNumber first, SequenceNumber last) VARVE_REQUIRES(kDbMutex) {
    unlogged_numbers_.Add(first, last);
  }
  // True if the family may have, or may have had, entries with such a number that are in no log.
  // Includes the logged writes of a memtable that has others, too. Does not know of earlier
  // openings.
  bool MayHaveUnlogged(SequenceNumber first, SequenceNumber last) const VARVE_REQUIRES(kDbMutex);
  // Returns the oldest log with updates of this family that are not in tables.
  uint64_t OldestLogNeeded(uint64_t current_log) const VARVE_REQUIRES(kDbMutex);

  // --- Versions. Shows the current memtables, version and options to new readers, and measures the
  // shape anew. If it throws, readers continue with what they had: the same data, as long as the
  // active memtable is the same.
  void InstallSuperVersion() VARVE_REQUIRES(kDbMutex);
  // Sets the limit of super-versions installed from now on.
  void set_sequence_limit(SequenceNumber limit) VARVE_REQUIRES(kDbMutex) {
    sequence_limit_ = limit;
  }
  const VersionRef& current() const VARVE_REQUIRES(kDbMutex) { return versions_->current; }
  const LevelShape& shape() const VARVE_REQUIRES(kDbMutex) { return shape_; }
  // Computes the current shape, considering files that are marked or being compacted.
  LevelShape ComputeShape() const VARVE_REQUIRES(kDbMutex);
  // Measures the shape anew, because time has passed or snapshots were released.
  void MeasureShape() VARVE_REQUIRES(kDbMutex);
  TableCache* table_cache() const { return table_cache_.get(); }
  const std::shared_ptr<TableCache>& shared_table_cache() const { return table_cache_; }

  // --- Readers. Borrow returns the newest super-version for one short read of this thread, which
  // must give it back with Return, in the same thread. Both must be called without the DB mutex.
  SuperVersion* Borrow();
  void Return(SuperVersion* super_version);
  SuperVersion* AcquireSuperVersion() override;  // has a reference; call Unref
  // Returns the super-version that shows the snapshot; null: the newest. Adds a reference.
  SuperVersion* AcquireAt(const Snapshot* snapshot);
  bool keeps_past() const { return keeps_past_.load(std::memory_order_acquire); }
  // Keeps the super-version, which a newer one is about to replace, for the existing snapshots; and
  // releases those that none of `snapshots`, ascending, needs any more. Used for a database that
  // another process writes, whose tables keep nothing for snapshots here.
  void KeepPast(const std::vector<SequenceNumber>& snapshots) VARVE_REQUIRES(kDbMutex);
  SequenceNumber VisibleSequence() override;
  bool Holds(const Snapshot* snapshot) const override { return env_.holds_snapshot(snapshot); }
  ReferenceCounts* references() override { return env_.references; }
  // To be called as a user's handle begins to be destroyed.
  void TellHandleDeletion(ColumnFamilyHandle* handle) {
    if (env_.handle_deletion) env_.handle_deletion(handle);
  }
  uint64_t SuperVersionNumber() const override {
    return super_version_number_.load(std::memory_order_acquire);
  }

  // Returns the newest sequence number in files that were, or are about to be, deleted because of
  // their contents. Never decreases.
  SequenceNumber newest_dropped_with_files() const {
    return newest_dropped_with_files_.load(std::memory_order_acquire);
  }
  // Must be called before an edit that deletes such a file, with its largest sequence number.
  void NoteDroppedWithFiles(SequenceNumber largest) VARVE_REQUIRES(kDbMutex) {
    if (largest <= newest_dropped_with_files()) return;
    newest_dropped_with_files_.store(largest, std::memory_order_release);
  }

  // Returns the ranges where tables were ingested recently.
  IngestedRanges& ingested_ranges() { return ingested_ranges_; }

  // --- Scheduling state.
  bool flush_requested VARVE_GUARDED_BY(kDbMutex) = false;  // requested and not picked yet
  // Number of running flushes. Each has picked other immutables; they are installed in order.
  int flushes_running VARVE_GUARDED_BY(kDbMutex) = 0;
  bool compaction_queued VARVE_GUARDED_BY(kDbMutex) = false;
  std::vector<const CompactionPlan*> running_compactions VARVE_GUARDED_BY(kDbMutex);
  WriteStallCondition stall_condition VARVE_GUARDED_BY(kDbMutex) = WriteStallCondition::kNormal;
  WriteStallCause stall_cause VARVE_GUARDED_BY(kDbMutex) = WriteStallCause::kNone;
  StallCounts stall_counts VARVE_GUARDED_BY(kDbMutex);
  // Level at which an automatic compaction failed, with no success since; -1: none.
  int failed_compaction_level VARVE_GUARDED_BY(kDbMutex) = -1;
  FamilyWork work VARVE_GUARDED_BY(kDbMutex);  // since the opening, or ResetStats

 private:
  // Releases the reference that a thread's slot has (slots_).
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
  // Writers read it before they check the family; set once under the DB mutex.
  std::atomic<bool> dropped_{false};

  mutable Mutex options_mu_{lock_ranks::kFamilyOptions};
  std::shared_ptr<const ColumnFamilyOptions> options_ VARVE_GUARDED_BY(options_mu_);
  std::shared_ptr<const ColumnFamilyOptions> options_as_set_ VARVE_GUARDED_BY(options_mu_);

  // Learns from the active memtable the common prefix of keys that the next one will expect.
  void NoteKeyPrefix();
  void MoveToLearned() VARVE_REQUIRES(kDbMutex);
  // Makes *mem the active memtable, also for readers, and freezes the former one, to which *mem
  // points afterwards. If it throws, nothing has changed.
  void Activate(std::shared_ptr<MemTable>* mem);
  std::shared_ptr<MemTable> MakeMemTable(const MemTableOptions& mem_options,
                                         SequenceNumber earliest_seq);
  void AddReleased(const std::shared_ptr<MemTable>& mem) VARVE_REQUIRES(kDbMutex);

  // These four change under the commit path and the DB mutex.
  std::shared_ptr<MemTable> mem_;
  uint64_t next_memtable_id_ = 1;
  // Common prefix of the keys of all memtables so far.
  std::string key_prefix_;
  bool key_prefix_known_ = false;

  std::deque<ImmutableMemTable> immutables_ VARVE_GUARDED_BY(kDbMutex);
  std::vector<std::shared_ptr<MemTable>> history_ VARVE_GUARDED_BY(kDbMutex);
  // Sequence numbers of which some may be in no log, outside of the active memtable: a switch adds
  // those of the memtable that was active, if it has unlogged writes.
  UnloggedNumbers unlogged_numbers_ VARVE_GUARDED_BY(kDbMutex);
  // Memtables dropped from the two lists above; some still exist. Both vectors have capacity for
  // all that may be added.
  std::vector<std::weak_ptr<const MemTable>> released_ VARVE_GUARDED_BY(kDbMutex);
  // Copies from the current options, as writers read them without the options' lock.
  std::atomic<uint32_t> max_range_deletions_;
  std::atomic<size_t> max_successive_merges_;

  SuperVersion* super_version_ VARVE_GUARDED_BY(kDbMutex) = nullptr;  // has one reference
  SequenceNumber sequence_limit_ VARVE_GUARDED_BY(kDbMutex) = kMaxSequenceNumber;
  // Keyed by their limits, with a reference each. The flag, stored with release, says if there are
  // any.
  std::map<SequenceNumber, SuperVersion*> past_ VARVE_GUARDED_BY(kDbMutex);
  std::atomic<bool> keeps_past_{false};
  // Tells holders of an old super-version that a newer one exists; stored with release.
  std::atomic<uint64_t> super_version_number_{0};
  ThreadSlots slots_;
  LevelShape shape_ VARVE_GUARDED_BY(kDbMutex);
};

// The handle that users get. Keeps the family alive, even after it was dropped or the database was
// closed. Its methods may be called from any thread.
class ColumnFamilyHandleImpl final : public ColumnFamilyHandle {
 public:
  // `counted`: true for a user's handle.
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
  const Mutex* const db_mutex_;  // the family's; stored here to save look-ups a cache line
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
  // Returns how many families were removed so far. Any thread. It lets a caller detect that a
  // family was dropped between a look-up and its use: the number is read before the look-up, and
  // compared on the commit path.
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
  // Returns true once after a Find that met a memtable that needs attention, usually a full one.
  bool TakeFullFlag() {
    return full_.load(std::memory_order_relaxed) &&
           full_.exchange(false, std::memory_order_relaxed);
  }
  // Sets the number of the log that is being replayed; 0: none.
  void set_replayed_log(uint64_t number) { replayed_log_ = number; }

 private:
  // Guards changes of by_id_ against reads from any thread.
  mutable Mutex mu_{lock_ranks::kFamilySet};
  std::map<uint32_t, std::shared_ptr<ColumnFamily>> by_id_;
  ColumnFamily* default_ = nullptr;
  uint64_t replayed_log_ = 0;
  std::atomic<uint64_t> removals_{0};
  // Only a hint; the reader of the flag takes the DB mutex.
  std::atomic<bool> full_{false};
};

}  // namespace varve
