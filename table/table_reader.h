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

class TableReader;
class BlockTableReader;

struct TableOpenOptions {
  const InternalKeyComparator* icmp = nullptr;  // outlives the reader
  std::shared_ptr<const TableFactory> factory;  // says which format the table has, and its options
  // Blocks are read from the file whatever is cached, and not cached.
  bool past_cache = false;
  // The reader keeps a share; used for prefix filters when its name matches the table's.
  std::shared_ptr<const SliceTransform> prefix_extractor;
  Statistics* statistics = nullptr;
  std::string file_name;  // for messages
  uint64_t file_number = 0;
  int level = -1;  // decides pinning of meta blocks; -1 unknown
  SequenceNumber largest_seq =
      kMaxSequenceNumber;          // from the MANIFEST: sets an external file's sequence
  std::string expected_unique_id;  // 16 bytes or empty: compared when the table has an identity
  // False: keys have no timestamps, whatever the comparator and the table's properties say.
  bool timestamps_persisted = true;
  bool skip_filters = false;
  bool prefetch_index_and_filter = true;
  // Data blocks that are taken from the block cache are compared with what was read.
  bool check_cached_blocks = false;
  // What MemoryUsage() of the reader is charged to while it is open; null: nothing. Opening is
  // MemoryLimit if that is refused.
  std::shared_ptr<CacheCharge> charge;
};

struct TableIterOptions {
  bool for_compaction = false;  // large fixed readahead, no cache fill
  bool skip_filters = false;
  // Set while the key's prefix can be used to skip tables and the caller wants prefix mode.
  bool prefix_mode = false;
  // The distance that a scan over several tables reads ahead, 0: it begins. Kept up to date by the
  // iterator. May be null. Not owned, outlives the iterator.
  size_t* readahead = nullptr;
  // With prefix_mode: whether the seek to come wants it, as of that seek. Null: each does. Not
  // owned, outlives the iterator.
  const bool* prefix_wanted = nullptr;
  // Is raised by the bytes that data blocks take in the file as the iterator comes to them. May be
  // null. Not owned, outlives the iterator.
  uint64_t* bytes_visited = nullptr;

  [[nodiscard]] bool WantsPrefix() const { return prefix_wanted == nullptr || *prefix_wanted; }
};

// What a table has found out about a key ahead of its turn, for its own Get.
struct TableHint {
  const TableReader* table = nullptr;  // null: nothing
  size_t place = 0;                    // what it means the table knows
};

// What Salvage met.
struct SalvageCount {
  uint64_t entries = 0;      // handed over
  uint64_t blocks = 0;       // read
  uint64_t lost_blocks = 0;  // passed over
  uint64_t lost_bytes = 0;   // of them, as the index gives their sizes
  Status first_error;        // of the first one passed over
};

// Thread safety: every method may be called from any thread.
// Ownership: owned by the file's metadata or the table cache; iterators and pinned values keep what
// they need of the block cache but not the reader: it outlives them.
class TableReader {
 public:
  // By the format of options.factory. NotSupported if there is none for it.
  static Status Open(const TableOpenOptions& options, std::unique_ptr<RandomAccessFileReader> file,
                     uint64_t file_size, std::unique_ptr<TableReader>* reader);
  virtual ~TableReader() = default;

  // Reports covering tombstones, then offers entries of the key, newest first. OK unless the file
  // could not be read; then the lookup has failed too. With read_tier kBlockCacheTier returns
  // Incomplete where a read would be needed. `hint`, if it is of this table, is of this lookup.
  virtual Status Get(const ReadOptions& options, PointLookup* lookup,
                     const TableHint& hint) const = 0;
  Status Get(const ReadOptions& options, PointLookup* lookup) const {
    return Get(options, lookup, TableHint());
  }

  // Asks for the memory that Get begins with, if the caller has something else to do before.
  virtual void Prefetch(const PointLookup& /*lookup*/) const {}
  // The same for the table that is asked last, which has the key more often than not: asks for its
  // data too. Calls no comparator of the user. *hint is then for Get.
  virtual void PrefetchSpeculatively(const PointLookup& /*lookup*/, TableHint* /*hint*/) const {}
  // This table if MultiGetFromTables takes its look-ups through stages; null: one after the other.
  virtual const BlockTableReader* staged() const { return nullptr; }
  // False only when the filter proves that no entry of the key is here (no I/O but for the filter).
  virtual bool KeyMayMatch(const ReadOptions& options, const PointLookup& lookup) const = 0;

  // Point entries. `options` is borrowed and outlives the iterator. Honours iterate_upper_bound for
  // readahead and block skipping only; the caller enforces bounds.
  virtual std::unique_ptr<InternalIterator> NewIterator(const ReadOptions& options,
                                                        const TableIterOptions& iter) const = 0;

  // Null when the table has none. Sequence overrides are applied.
  virtual const std::shared_ptr<const FragmentedTombstones>& tombstones() const = 0;

  virtual const std::shared_ptr<const TableProperties>& properties() const = 0;
  // Before it is shared: every entry has this sequence number from now on, whatever the file says.
  virtual void SetSequence(SequenceNumber sequence) = 0;
  // No key has a newer one. Empty: not known, or keys have none.
  virtual const std::string& newest_timestamp() const = 0;
  // Approximate byte offset in the file where the key's data starts.
  virtual uint64_t ApproximateOffsetOf(const ReadOptions& options,
                                       const Slice& internal_key) const = 0;
  // Returns an estimate of the share of the data blocks that are in the block cache, from 0 to 1.
  // 0 where it is not known: for partitioned indexes and caches of a program's own.
  virtual double CachedShare() const { return 0; }
  // The file is obsolete: what the block cache has of its data gives its room to others. Blocks of
  // a partitioned index, or of one that is only cached, stay until they are evicted.
  virtual void ForgetBlocks() const {}

  // Reads everything that the file has, past the cache, and checks every block's checksum: data,
  // index, filter (also one that is not used), tombstones, properties, and that the footer still
  // is what it was.
  // `pace`, which may be empty, is told after each block how many bytes were read; what it
  // returns, unless OK, ends the reading.
  using PaceReads = std::function<Status(uint64_t bytes)>;
  virtual Status VerifyChecksum(const ReadOptions& options, const PaceReads& pace) const = 0;
  Status VerifyChecksum(const ReadOptions& options) const { return VerifyChecksum(options, {}); }
  // What the file has of point entries, block by block and past the cache, in order and as
  // NewIterator shows them. A block that cannot be read, or that is not well formed, is passed over
  // and counted. Ends early with the error that `take` returns; an index that cannot be read ends
  // it, too, and counts as one block.
  using TakeEntry = std::function<Status(const Slice& internal_key, const Slice& value)>;
  virtual Status Salvage(const TakeEntry& take, SalvageCount* count) const = 0;
  // What opening takes on trust of a table that somebody else has made: that the index is in order,
  // and that its blocks lie one after the other. Reads the index alone.
  virtual Status CheckIndex(const ReadOptions& /*options*/) const {
    return Status::NotSupported("TableReader::CheckIndex");
  }
  // That, and every data block past the cache: that its entries are well formed and in order, and
  // that the index leads to them. Each entry is handed to `take` as NewIterator shows it; what that
  // returns, unless OK, ends the reading. `pace` is as for VerifyChecksum.
  virtual Status CheckEntries(const ReadOptions& /*options*/, const TakeEntry& /*take*/,
                              const PaceReads& /*pace*/) const {
    return Status::NotSupported("TableReader::CheckEntries");
  }
  // Anonymous memory held outside the block cache.
  virtual size_t MemoryUsage() const = 0;
};

}  // namespace varve
