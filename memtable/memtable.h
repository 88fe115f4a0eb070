// SPDX-License-Identifier: Apache-2.0
#pragma once

// The mutable sorted run: what has been written to a column family since its last switch.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/status.h"

#include "memtable/memtable_rep.h"
#include "memtable/voided_sequences.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"
#include "util/key/range_tombstone.h"

namespace varve {

class SliceTransform;
class WriteBufferManager;

struct MemTableOptions {
  const MemTableRepType* rep = &kBlockedSkipListRep;
  // Of the largest blocks, 2 MiB at most; 0: an eighth of write_buffer_bytes.
  size_t arena_block_bytes = 0;
  size_t write_buffer_bytes = 64 << 20;
  double prefix_bloom_size_ratio = 0;  // 0: none
  bool whole_key_filtering = false;
  // Of the checksum behind each value: 1, 2, 4 or 8; 0: there are none. Reads then walk to their
  // entries, which takes longer, and fail with Corruption where one is not what was added.
  size_t protection_bytes = 0;
  // What most keys are expected to begin with: CommonPrefix() of tables before. Others are slower.
  std::string expected_prefix;
  bool learns_prefix = false;  // nobody knows what to expect: see ShouldTellPrefix
  std::shared_ptr<const SliceTransform> prefix_extractor;    // may be null
  std::shared_ptr<WriteBufferManager> write_buffer_manager;  // may be null
};

// Thread safety: Add may run in several threads at once; reads need no lock and may run beside it.
//   A reader sees every entry whose Add returned before the read's sequence was published.
// Ownership: shared (std::shared_ptr) by the column family, super-versions and iterators.
class MemTable {
 public:
  MemTable(const InternalKeyComparator& icmp, const MemTableOptions& options, uint64_t id);
  ~MemTable();
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;

  // Adds one entry; keys end with a timestamp if the comparator has them. kTypeRangeDeletion: key
  // is the begin, value the exclusive end, each with the timestamp.
  // Waits for nothing. MemoryLimit when memory cannot be had, TryAgain for an entry of the same
  // key, sequence and type (a representation that reads sort keeps both), InvalidArgument if it
  // is too large for a table (util/key/entry_limits.h).
  Status Add(SequenceNumber seq, ValueType type, const Slice& key, const Slice& value);

  // How many merge operands are on top of the key, given with its timestamp, at `snapshot`; counts
  // no further than `most`.
  size_t CountMerges(const Slice& user_key, SequenceNumber snapshot, size_t most) const;

  // How many entries are worth collecting for one Add.
  static constexpr size_t kAddedTogether = MemTableRep::kAddedTogether;
  // Adds a batch, in whatever order is fastest. On InvalidArgument nothing was added; on
  // MemoryLimit and TryAgain other entries than the one that failed may be in.
  Status Add(std::span<const MemTableEntry> entries);

  // From now on readers and walks find nothing of these sequences, whatever was or will be added to
  // them. No Add of theirs is under way. Once or more, always with the same object, by one thread
  // at a time. Asks for no memory.
  void LeaveOut(const std::shared_ptr<const VoidedSequences>& voided);
  // How many point entries are left out. Looks at each entry if there is anything to leave out.
  // MemoryLimit as Get.
  Status CountLeftOut(uint64_t* count) const;

  // Looks for the newest visible entry; reports covering tombstones first. Returns true when the
  // search is over, which a tombstone alone may bring about. If IsSortedByReads(), the first Get,
  // positioned iterator or estimate after an addition takes time and memory in proportion to the
  // table; the search fails, and an iterator's status is, MemoryLimit if there is none.
  bool Get(PointLookup* lookup) const;
  // Asks for the memory that a Get of each of these is likely to touch, so that the waits overlap.
  void Prefetch(std::span<PointLookup* const> lookups) const;

  // Point entries only. The iterator does not own the memtable: the caller keeps it alive.
  std::unique_ptr<InternalIterator> NewIterator() const;
  // Whether a Seek finds what was added after the first one, and leaves out what is left out. If
  // not, a newer snapshot needs a new iterator.
  bool IteratorsSeeAdditions() const;

  // All range tombstones added so far, in a few lists that are kept between additions; empty when
  // there are none.
  std::vector<std::shared_ptr<const FragmentedTombstones>> RangeTombstones() const;

  // Raises *newest, which may be empty, to the newest timestamp of entries and range tombstones, of
  // which it looks at each. Requires a comparator with timestamps. MemoryLimit as Get.
  Status RaiseToNewestTimestamp(std::string* newest) const;

  [[nodiscard]] bool IsSortedByReads() const;
  // Adds what is here to `other`, which is empty. False: nothing was added, as there are range
  // tombstones here, or sequences that are left out. Nothing is added here meanwhile.
  Status CopyTo(MemTable* other, bool* copied) const;
  // Called once, when the table stops taking writes (all Adds have returned).
  void Freeze();

  uint64_t id() const { return id_; }
  uint64_t entry_count() const;     // point entries and range tombstones
  uint64_t deletion_count() const;  // point deletions
  uint64_t range_deletion_count() const;
  uint64_t data_bytes() const;  // keys and values as added
  // Bytes held: arena and the rest.
  size_t MemoryUsage() const;
  // The same without what the arena has not given out yet.
  uint64_t UsedBytes() const;
  // True once the table is as full as write_buffer_bytes asks; cheap (one relaxed load or two).
  bool ShouldSwitch() const;
  // Whether a table that learns has so many entries that CommonPrefix() should be asked: what it
  // holds then is a small part of what it can hold, and soon copied to one that expects the prefix.
  bool ShouldTellPrefix() const;
  // It has told, or nobody asks any more.
  void StopLearning();
  // It had too few entries: not before it holds twice as much, or never if it is half full then.
  void LearnLater();
  // Either of the two, as cheap as one.
  bool NeedsAttention() const;
  // Changes the budget after creation (dynamic write_buffer_size).
  void SetWriteBufferBytes(size_t bytes);
  SequenceNumber first_seq() const;     // the oldest that was added, 0 if empty
  SequenceNumber earliest_seq() const;  // no entry older than this can be here
  void set_earliest_seq(SequenceNumber seq);
  // Estimated number of entries and bytes within [begin, end) of keys, without timestamps.
  void ApproximateStats(const Slice& begin, const Slice& end, uint64_t* entries,
                        uint64_t* bytes) const;
  // What all keys begin with, shortened a little, so that keys of later tables are likely to begin
  // with it, too. False while there are too few to tell, or the representation cannot.
  bool CommonPrefix(std::string* prefix) const;
  // One that leaves something out is not, whatever else it holds.
  bool Empty() const;

  // The newest log that holds updates of *later* memtables starts here: once this table is flushed,
  // the column family's log number may become this.
  uint64_t next_log_number() const { return next_log_number_; }
  void set_next_log_number(uint64_t number) { next_log_number_ = number; }
  // Whether some of it is in no log: then a copy of tables and logs lacks it. By any thread, before
  // what it adds can be read.
  void NoteUnlogged() {
    if (!has_unlogged()) has_unlogged_.store(true, std::memory_order_relaxed);
  }
  // Of what could be read before; that is what publishes it.
  bool has_unlogged() const { return has_unlogged_.load(std::memory_order_relaxed); }
  // Bytes of timestamp at the end of every key; 0: none.
  size_t timestamp_size() const { return timestamp_size_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  const uint64_t id_;
  const size_t timestamp_size_;
  uint64_t next_log_number_ = 0;
  std::atomic<bool> has_unlogged_{false};
};

}  // namespace varve
