// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads one immutable sorted run: point look-ups, ordered walks, facts about the file.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "varve/options.h"
#include "varve/status.h"
#include "varve/table.h"
#include "varve/table_properties.h"

#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"
#include "util/key/range_tombstone.h"

namespace varve {

class CacheCharge;
class RandomAccessFileReader;
class Statistics;

class TableFormat;
class TableReader;

// Arguments of opening a table, for all formats. Raw pointers are not owned, and outlive the
// reader.
struct TableOpenOptions {
  const InternalKeyComparator* icmp = nullptr;  // must outlive the reader
  // Holds the options of tables of its format; a table of another format is read with the defaults
  // of that format. May be null.
  std::shared_ptr<const TableFactory> factory;
  // True: blocks are read from the file even if they are cached, and are not cached.
  bool past_cache = false;
  // The reader keeps a reference. Used for prefix filters if its name matches the table's.
  std::shared_ptr<const SliceTransform> prefix_extractor;
  Statistics* statistics = nullptr;
  std::string file_name;  // used in messages
  int level = -1;         // decides pinning of meta blocks; -1 if unknown
  // Largest sequence number in the table, as the MANIFEST has it; kMaxSequenceNumber: not known.
  // The entries of an ingested table, whose keys have number zero, are shown with it.
  SequenceNumber largest_seq = kMaxSequenceNumber;
  // The 16 bytes in the MANIFEST; empty: not known. Compared if the table has an identity.
  std::string expected_unique_id;
  // False: keys have no timestamps, even if the comparator and the table's properties say
  // otherwise.
  bool timestamps_persisted = true;
  bool skip_filters = false;  // true: the table's filter is not used
  // True: one read at the file's end brings the footer and, mostly, index and filter. False: only
  // the footer.
  bool prefetch_index_and_filter = true;
  // True: data blocks found in the block cache are compared with the checksum of what was read.
  bool check_cached_blocks = false;
  // Charged with MemoryUsage() of the reader while it is open; null: nothing is charged. If the
  // charge is refused, Open returns MemoryLimit.
  std::shared_ptr<CacheCharge> charge;
};

// Arguments of an iterator over a table.
struct TableIterOptions {
  bool for_compaction = false;  // uses a large fixed readahead and does not fill the cache
  bool skip_filters = false;    // true: seeks do not ask the filter for prefixes
  // Prefix mode: a seek to a key whose prefix the filter excludes may end without an entry. True if
  // the key's prefix can be used to skip tables and the caller wants that mode.
  bool prefix_mode = false;
  // Readahead distance of a scan over several tables; 0 at its beginning. The iterator updates it.
  // May be null. Not owned, must outlive the iterator.
  size_t* readahead = nullptr;
  // With prefix_mode: points to a flag that says if the next seek wants prefix mode. Null: every
  // seek does. Not owned, must outlive the iterator.
  const bool* prefix_wanted = nullptr;
  // Grows by the size in the file of each data block that the iterator comes to. May be null. Not
  // owned, must outlive the iterator.
  uint64_t* bytes_visited = nullptr;

  [[nodiscard]] bool WantsPrefix() const { return prefix_wanted == nullptr || *prefix_wanted; }
};

// Stores what PrefetchSpeculatively of a table has found out about a key, for the Get of the same
// table and the same lookup.
struct TableHint {
  const TableReader* table = nullptr;  // null: the hint is empty
  size_t place = 0;                    // meaning is private to the table
};

// Counts what Salvage has met. Salvage adds to the numbers, so the caller passes a new object.
struct SalvageCount {
  uint64_t entries = 0;      // passed to the callback
  uint64_t blocks = 0;       // read
  uint64_t lost_blocks = 0;  // skipped
  uint64_t lost_bytes = 0;   // total size of lost blocks, according to the index
  Status first_error;        // error of the first skipped block
};

// An open table. Thread safety: every method may be called from any thread. Ownership: owned by the
// file's metadata or the table cache; iterators and pinned values keep what they need of the block
// cache but not the reader, which must outlive them.
class TableReader {
 public:
  // Opens a table in the format that its last bytes name, whatever the factory is. *reader is set
  // on success only. Errors name the file. Corruption: the file is no table, is damaged, or is not
  // the one that the options expect. NotSupported: the format, or a form of it, is known but cannot
  // be read. InvalidArgument: no_block_cache is set beside a block_cache. MemoryLimit: the charge
  // is refused. Otherwise the error of a read. Does not compare icmp with
  // properties()->comparator_name: a caller that is not sure of the table's order does.
  static Status Open(const TableOpenOptions& options, std::unique_ptr<RandomAccessFileReader> file,
                     uint64_t file_size, std::unique_ptr<TableReader>* reader);
  virtual ~TableReader() = default;

  // Reports covering tombstones to `lookup`, then offers it the entries of the key, newest first.
  // Returns OK unless the file could not be read or is malformed; then the lookup has failed with
  // the same error. With read_tier kBlockCacheTier, returns Incomplete if a read would be needed.
  // If `hint` is of this table, it must be of this lookup.
  virtual Status Get(const ReadOptions& options, PointLookup* lookup,
                     const TableHint& hint) const = 0;
  Status Get(const ReadOptions& options, PointLookup* lookup) const {
    return Get(options, lookup, TableHint());
  }

  // Prefetches the memory that Get begins with. Useful if the caller has other work to do before
  // Get.
  virtual void Prefetch(const PointLookup& /*lookup*/) const {}
  // Does what Prefetch does, and prefetches the key's data too. It is called for the last table of
  // the lookup, which usually has the key. Does not call a user comparator. Sets *hint, which is to
  // be passed to Get, or leaves it as it is if there is nothing to pass.
  virtual void PrefetchSpeculatively(const PointLookup& /*lookup*/, TableHint* /*hint*/) const {}
  // Returns the table's format, which looks up several keys in several of its tables at once.
  virtual const TableFormat& format() const = 0;
  // Returns false only if the filter proves that no entry of the key is in this table. Does no I/O
  // but for the filter.
  virtual bool KeyMayMatch(const ReadOptions& options, const PointLookup& lookup) const = 0;

  // Returns an iterator over point entries, whose keys and targets are internal keys. `options` is
  // borrowed and must outlive the iterator; `iter` is copied. Honours iterate_upper_bound for
  // readahead and block skipping only; the caller enforces bounds.
  virtual std::unique_ptr<InternalIterator> NewIterator(const ReadOptions& options,
                                                        const TableIterOptions& iter) const = 0;

  // Returns the range tombstones, with sequence overrides applied, or null if the table has none.
  virtual const std::shared_ptr<const FragmentedTombstones>& tombstones() const = 0;

  // Returns the table's properties, never null.
  virtual const std::shared_ptr<const TableProperties>& properties() const = 0;
  // Gives every entry, and every range tombstone, this sequence number, whatever the file says.
  // Requires that no other thread and no iterator uses the reader yet.
  virtual void SetSequence(SequenceNumber sequence) = 0;
  // Returns an upper bound of the keys' timestamps. Empty if it is unknown or keys have none.
  virtual const std::string& newest_timestamp() const = 0;
  // Returns the approximate byte offset in the file of the key's data; the end of all data for a
  // key behind it, or if the index cannot be read.
  virtual uint64_t ApproximateOffsetOf(const ReadOptions& options,
                                       const Slice& internal_key) const = 0;
  // Returns an estimate of the share of the data blocks that are in the block cache, from 0 to 1; 0
  // where it is not known, for partitioned indexes and caches of a program's own.
  virtual double CachedShare() const { return 0; }
  // Drops the table's data blocks from the block cache; called when the file is obsolete. Blocks of
  // a partitioned index, or of one that is only cached, stay until they are evicted.
  virtual void ForgetBlocks() const {}

  // Reads the whole file, past the cache, and checks every block's checksum: data, index, filter
  // (also one that is not used), tombstones and properties. Also checks that the footer has not
  // changed since the file was opened. `pace` may be empty; it is called after each block with the
  // number of bytes read, and any error it returns ends the reading.
  using PaceReads = std::function<Status(uint64_t bytes)>;
  virtual Status VerifyChecksum(const ReadOptions& options, const PaceReads& pace) const = 0;
  Status VerifyChecksum(const ReadOptions& options) const { return VerifyChecksum(options, {}); }
  // Passes the file's point entries to `take`, with their internal keys, block by block, in order
  // and as NewIterator shows them. Compares each block's checksum in the file, even if the block is
  // cached, and puts none into the cache. Skips and counts each block that cannot be read or is
  // malformed; entries before the damage in a malformed block may have been passed. Ends early with
  // the error that `take` returns. An index that cannot be read on ends it with OK, and counts as
  // one block.
  using TakeEntry = std::function<Status(const Slice& internal_key, const Slice& value)>;
  virtual Status Salvage(const TakeEntry& take, SalvageCount* count) const = 0;
  // Checks what opening takes on trust, for tables made by others: that the separators of the index
  // ascend, and that its blocks follow each other in the file and do not overlap. Reads only the
  // index. Corruption: that is not so. NotSupported: the format has no such check.
  virtual Status CheckIndex(const ReadOptions& /*options*/) const {
    return Status::NotSupported("TableReader::CheckIndex");
  }
  // Does what CheckIndex does, then gets every data block, from the cache if it is there, and
  // checks that its entries are well formed and in order, and that the index leads to them. Puts no
  // block into the cache. Passes each entry to `take` as NewIterator shows it; any error it returns
  // ends the reading. `pace` is as for VerifyChecksum.
  virtual Status CheckEntries(const ReadOptions& /*options*/, const TakeEntry& /*take*/,
                              const PaceReads& /*pace*/) const {
    return Status::NotSupported("TableReader::CheckEntries");
  }
  // Returns the bytes of anonymous memory held outside the block cache.
  virtual size_t MemoryUsage() const = 0;
};

}  // namespace varve
