// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the mutable sorted run: what has been written to a column family since its last memtable
// switch.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/status.h"

#include "memtable/invalidated_sequences.h"
#include "memtable/memtable_rep.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"
#include "util/key/range_tombstone.h"

namespace varve {

class SliceTransform;
class WriteBufferManager;

// Arguments of a memtable. Pointers are not owned, and outlive it.
struct MemTableOptions {
  const MemTableRepType* rep = &kBlockedSkipListRep;
  // Bytes of the largest blocks, 2 MiB at most; 0 is an eighth of write_buffer_bytes.
  size_t arena_block_bytes = 0;
  size_t write_buffer_bytes = 64 << 20;
  double prefix_bloom_size_ratio = 0;  // 0 is no filter.
  bool whole_key_filtering = false;
  // Bytes of the checksum behind each value: 1, 2, 4 or 8; 0 is none. With checksums, reads walk to
  // their entries, which takes longer, and return Corruption if an entry is not what was added.
  size_t protection_bytes = 0;
  // The expected beginning of most keys: CommonPrefix() of earlier tables. Other keys are slower.
  std::string expected_prefix;
  bool learns_prefix = false;  // No prefix is known yet: see ShouldTellPrefix.
  std::shared_ptr<const SliceTransform> prefix_extractor;    // May be null.
  std::shared_ptr<WriteBufferManager> write_buffer_manager;  // May be null.
};

// Holds the entries and range tombstones that were added to it, until they are flushed to a table
// file.
//
// Thread safety: Add may run in several threads at once; reads need no lock and may run
// concurrently with it. A reader sees every entry whose Add returned before the read's sequence was
// published. LeaveOut, CopyTo and Freeze have requirements of their own.
//
// Ownership: shared (std::shared_ptr) by the column family, super-versions and iterators.
class MemTable {
 public:
  // Creates an empty memtable. Throws std::bad_alloc.
  MemTable(const InternalKeyComparator& icmp, const MemTableOptions& options, uint64_t id);
  ~MemTable();
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;

  // Adds one entry; `user_key` ends with a timestamp if the comparator has them. For
  // kTypeRangeDeletion, `user_key` is the begin and `value` the exclusive end, each with the
  // timestamp. Does not block. After an error the entry is not in. MemoryLimit: there is no memory.
  // InvalidArgument: the entry is too large for a table (util/key/entry_limits.h). Aborted: the
  // comparator threw. TryAgain: there is an entry with the same key, sequence and type; if
  // IsSortedByReads(), both entries are kept instead, since no duplicate is looked for.
  Status Add(SequenceNumber seq, ValueType type, const Slice& user_key, const Slice& value);

  // Returns the number of merge operands on top of the key, given with its timestamp, at
  // `snapshot`; counts no further than `most`.
  size_t CountMerges(const Slice& user_key, SequenceNumber snapshot, size_t most) const;

  // Number of entries that are worth collecting for one Add.
  static constexpr size_t kAddedTogether = MemTableRep::kAddedTogether;
  // Adds a batch, in the fastest order; errors are those of the other Add. After InvalidArgument
  // nothing was added; after any other error, entries other than the one that failed may be in.
  Status Add(std::span<const MemTableEntry> entries);

  // Hides all entries of these sequences from reads and walks from now on, and of those sequences
  // that are added to the object later. Requires that no Add of theirs is in progress or follows.
  // May be called repeatedly, always with the same object, by one thread at a time. Allocates no
  // memory.
  void LeaveOut(const std::shared_ptr<const InvalidatedSequences>& invalidated);
  // Sets *count to the number of point entries left out. Visits each entry if anything is left out.
  // MemoryLimit: IsSortedByReads(), and there is no memory for the sort.
  Status CountLeftOut(uint64_t* count) const;

  // Looks for the newest visible entry; reports covering tombstones first. Returns true if the
  // search is over, which a tombstone alone may cause. If IsSortedByReads(), the first Get,
  // positioned iterator or estimate after an addition takes time and memory in proportion to the
  // table; without that memory the lookup fails with MemoryLimit, as does an iterator's status.
  // Throws std::bad_alloc, and what the comparator throws.
  bool Get(PointLookup* lookup) const;
  // Prefetches the memory that a Get of each of these probably touches, so that the waits overlap.
  void Prefetch(std::span<PointLookup* const> lookups) const;

  // Returns an iterator over point entries. It does not own the memtable: the caller keeps it
  // alive.
  std::unique_ptr<InternalIterator> NewIterator() const;
  // True if a Seek finds what was added after the first one, and hides what is left out. If false,
  // a newer snapshot needs a new iterator.
  bool IteratorsSeeAdditions() const;

  // Returns all range tombstones added so far, in a few lists that are kept between additions;
  // empty if there are none.
  std::vector<std::shared_ptr<const FragmentedTombstones>> RangeTombstones() const;

  // Raises *newest, which may be empty, to the newest timestamp of entries and range tombstones;
  // visits all of them. Requires a comparator with timestamps. Returns the status of a walk over
  // all entries: MemoryLimit as CountLeftOut, and Corruption if protection_bytes are set and an
  // entry is damaged.
  Status RaiseToNewestTimestamp(std::string* newest) const;

  // True if the representation sorts what was added when it is read (VectorRepFactory): then many
  // small reads are slow.
  [[nodiscard]] bool IsSortedByReads() const;
  // Adds all entries to `other`, which must be empty, and sets *copied to true. If this table has
  // range tombstones or sequences that are left out, sets *copied to false, adds nothing and
  // returns OK. Returns the errors of Add and of a walk over all entries; then *copied is false,
  // and `other` has a part of the entries and must not be used. Requires that nothing is added to
  // this table meanwhile.
  Status CopyTo(MemTable* other, bool* copied) const;
  // Must be called when the table stops taking writes (all Adds have returned). Tells the write
  // buffer manager, if there is one, that the memory will be freed; a later call does nothing.
  void Freeze();

  // Returns the number given at creation. Of two memtables of a family, the one with the larger
  // number is newer.
  uint64_t id() const { return id_; }
  uint64_t entry_count() const;     // Number of point entries and range tombstones.
  uint64_t deletion_count() const;  // Number of point deletions.
  // Returns the number of range tombstones.
  uint64_t range_deletion_count() const;
  // Returns the bytes of internal keys and values, and the memory of range tombstones.
  uint64_t data_bytes() const;
  // Returns the bytes held: arena and the rest.
  size_t MemoryUsage() const;
  // MemoryUsage without the unused part of the arena.
  uint64_t UsedBytes() const;
  // True once the table is as full as write_buffer_bytes asks; cheap (one relaxed load or two).
  bool ShouldSwitch() const;
  // True if a table that learns its prefix has enough entries to call CommonPrefix(). It then is
  // still small, and soon copied to one that expects the prefix.
  bool ShouldTellPrefix() const;
  // Stops learning: the prefix is known, or not wanted any more.
  void StopLearning();
  // Postpones learning after too few entries: until the table holds twice as much, or for ever if
  // it is half full then.
  void LearnLater();
  // True if ShouldSwitch() or ShouldTellPrefix(); as cheap as one of them.
  bool NeedsAttention() const;
  // Changes the budget after creation (dynamic write_buffer_size).
  void SetWriteBufferBytes(size_t bytes);
  SequenceNumber first_seq() const;     // Oldest sequence that was added, 0 if empty.
  SequenceNumber earliest_seq() const;  // No entry older than this can be here.
  // Sets earliest_seq(). Must be called before the table is shared.
  void set_earliest_seq(SequenceNumber seq);
  // Estimates the number of entries, and their bytes, within [begin, end), which are keys without
  // timestamps.
  void ApproximateStats(const Slice& begin, const Slice& end, uint64_t* entries,
                        uint64_t* bytes) const;
  // Sets *prefix to the common prefix of all keys, shortened a little, so that keys of later tables
  // probably begin with it, too. Returns false, and leaves *prefix, while there are too few keys,
  // or if the representation does not support this.
  bool CommonPrefix(std::string* prefix) const;
  // True if nothing was added. A table that leaves sequences out (LeaveOut) counts as non-empty,
  // whatever else it has.
  bool Empty() const;

  // Number of the first log that holds updates of *later* memtables: once this table is flushed,
  // the column family's log number may become this.
  uint64_t next_log_number() const { return next_log_number_; }
  void set_next_log_number(uint64_t number) { next_log_number_ = number; }
  // Records that some entries are in no log, so that a copy of tables and logs lacks them. Any
  // thread may call it, before these entries can be read.
  void NoteUnlogged() {
    if (!has_unlogged()) has_unlogged_.store(true, std::memory_order_relaxed);
  }
  // True if entries that were readable before this call are in no log; their visibility publishes
  // the flag.
  bool has_unlogged() const { return has_unlogged_.load(std::memory_order_relaxed); }
  // Returns the bytes of the timestamp at the end of every key; 0 if none.
  size_t timestamp_size() const { return timestamp_size_; }

 private:
  // The representation, its arena and the counters; see memtable.cc.
  struct State;
  std::unique_ptr<State> state_;
  const uint64_t id_;
  const size_t timestamp_size_;
  uint64_t next_log_number_ = 0;
  std::atomic<bool> has_unlogged_{false};
};

}  // namespace varve
