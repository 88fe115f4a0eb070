// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads PlainTables. Opening walks over all rows once, which checks them and builds the index; so
// the table answers all that a block-based one does, whatever index and filter its file has.
//
// A look-up asks the filter, if there is one, finds the last indexed row that is not behind the
// key, and walks from there to the key's versions. If the file is mapped, rows are used where they
// lie; otherwise the span between two indexed rows is read. A mapped table of kPlain also has a map
// of its keys, which leads a look-up to its row at once, and answers instead of the filter.

#include <cstdint>
#include <memory>
#include <string>

#include "table/filter/filter_bits.h"
#include "table/plain/plain_index.h"
#include "table/plain/plain_key_map.h"
#include "table/plain/plain_row.h"
#include "table/reader/table_tail.h"
#include "table/table_reader.h"
#include "util/env/random_access_file_reader.h"
#include "util/mem/cache_charge.h"

namespace varve {

struct PlainTableOpenOptions : TableOpenOptions {
  PlainTableOptions table;  // the factory's options
};

// Holds everything that opening has found out. Pointers are not owned, and outlive the reader.
struct PlainTableParts {
  std::unique_ptr<RandomAccessFileReader> file;
  std::string name;
  const InternalKeyComparator* icmp = nullptr;
  Statistics* statistics = nullptr;
  // Says how keys are stored in rows; read from the table's properties.
  PlainRowForm form;
  uint64_t data_end = 0;  // rows lie before this offset
  Slice mapped;           // all rows, if the file is mapped; else empty
  PlainIndex index;
  PlainKeyMap keys;          // built only if `mapped` is set; finds rows by the hash of their key
  bool filters = false;      // true if a filter is wanted, and there are keys
  std::string filter_block;  // empty: there is no filter, or the map of keys replaces it
  // The filter, which points into filter_block.
  FilterBits filter;
  std::shared_ptr<const TableProperties> properties;
  // kMaxSequenceNumber: keys keep their stored sequence numbers.
  SequenceNumber override_seq = kMaxSequenceNumber;
};

// Thread safety: like TableReader.
class PlainTableReader final : public TableReader {
 public:
  // Opens the table whose last bytes are `tail`. See TableReader::Open. Corruption also for rows
  // that are malformed or out of order. NotSupported also for a comparator with timestamps.
  static Status Open(const PlainTableOpenOptions& options, const TableTail& tail,
                     std::unique_ptr<RandomAccessFileReader> file, uint64_t file_size,
                     std::unique_ptr<TableReader>* reader);
  explicit PlainTableReader(std::unique_ptr<PlainTableParts> parts) : parts_(std::move(parts)) {}

  const TableFormat& format() const override;
  using TableReader::Get;
  Status Get(const ReadOptions& options, PointLookup* lookup, const TableHint& hint) const override;
  void Prefetch(const PointLookup& lookup) const override {
    if (parts_->keys.built()) {
      parts_->keys.Prefetch(lookup.hash());
    } else if (HasFilter()) {
      parts_->filter.Prefetch(lookup.hash());
    }
  }
  void PrefetchSpeculatively(const PointLookup& lookup, TableHint* hint) const override;
  bool KeyMayMatch(const ReadOptions& /*options*/, const PointLookup& lookup) const override {
    if (parts_->keys.built()) return parts_->keys.MayHave(lookup.hash());
    return !HasFilter() || MatchesFilter(lookup);
  }
  std::unique_ptr<InternalIterator> NewIterator(const ReadOptions& options,
                                                const TableIterOptions& iter) const override;
  const std::shared_ptr<const FragmentedTombstones>& tombstones() const override {
    return no_tombstones_;
  }
  const std::shared_ptr<const TableProperties>& properties() const override {
    return parts_->properties;
  }
  void SetSequence(SequenceNumber sequence) override { parts_->override_seq = sequence; }
  const std::string& newest_timestamp() const override { return no_timestamp_; }
  uint64_t ApproximateOffsetOf(const ReadOptions& options,
                               const Slice& internal_key) const override;
  using TableReader::VerifyChecksum;
  // The format has no checksums: reads all rows, and checks their form and order.
  Status VerifyChecksum(const ReadOptions& options, const PaceReads& pace) const override;
  Status Salvage(const TakeEntry& take, SalvageCount* count) const override;
  // The index was built from the rows.
  Status CheckIndex(const ReadOptions& /*options*/) const override { return Status::OK(); }
  Status CheckEntries(const ReadOptions& options, const TakeEntry& take,
                      const PaceReads& pace) const override;
  size_t MemoryUsage() const override;

  // Returns what opening has found out, for iterators.
  [[nodiscard]] const PlainTableParts& parts() const { return *parts_; }
  // Sets *rows to the bytes from offset `begin` to `end`, in the mapping or in *buffer. A read
  // counts as `activity` unless the options name one. Requires begin <= end <= data_end.
  // Incomplete: the file is not mapped, and options.read_tier is kBlockCacheTier. TimedOut:
  // options.deadline has passed. Otherwise the error of the read.
  Status ReadRows(const ReadOptions& options, Env::IOActivity activity, uint64_t begin,
                  uint64_t end, std::string* buffer, Slice* rows) const;
  // Returns the trailer that readers see.
  [[nodiscard]] uint64_t ShownTrailer(uint64_t stored) const {
    return parts_->override_seq == kMaxSequenceNumber
               ? stored
               : PackSequenceAndType(parts_->override_seq, UnpackType(stored));
  }
  // Returns Corruption that names the file, the offset and the problem.
  [[nodiscard]] Status Malformed(const char* problem, uint64_t offset) const;
  // Charges the reader's memory to `charge`; called once, before the reader is shared. MemoryLimit:
  // the charge is refused.
  Status ChargeTo(std::shared_ptr<CacheCharge> charge);

 private:
  [[nodiscard]] bool HasFilter() const { return !parts_->filter_block.empty(); }
  [[nodiscard]] bool MatchesFilter(const PointLookup& lookup) const {
    return parts_->filter.MayMatch(lookup.hash());
  }
  // Counts an answer of the filter, or of the map of keys in its place.
  void CountFilter(bool may_match) const;
  // Finds the key's rows by the map of keys, and offers them to the lookup. Sets *may_match to
  // false if the map has no such key, else to true. Sets *matched as Search does.
  Status SearchByHash(const ReadOptions& options, PointLookup* lookup, bool* may_match,
                      bool* matched) const;
  // Offers the rows from `offset` on if they are the key's. Returns true if that ends the search of
  // the table, with its result in *status; false if the row is another key's. Sets *matched as
  // Search does.
  bool OfferRowsAt(const ReadOptions& options, uint32_t offset, PointLookup* lookup, bool* matched,
                   Status* status) const;
  // Walks from the indexed row before the key to the key's versions, and offers these to the
  // lookup. Sets *matched to true if there is one, and leaves it otherwise.
  Status Search(const ReadOptions& options, PointLookup* lookup, bool* matched) const;
  // Offers the rows of span number `span`, whose bytes are `rows`. Sets *over to true if no later
  // span has rows that the lookup still wants, and *matched to true if a row has the key. Requires
  // that *over is false; leaves both otherwise. Corruption: a row is malformed.
  Status SearchSpan(const Slice& rows, size_t span, PointLookup* lookup, bool* matched,
                    bool* over) const;

  const std::unique_ptr<PlainTableParts> parts_;
  // Always null: the format has no range deletions.
  const std::shared_ptr<const FragmentedTombstones> no_tombstones_;
  const std::string no_timestamp_;
  ChargedBytes charged_;
};

// Walks over all rows of a file from the first one on, in reads of options.readahead_size, or 1
// MiB; rows of a mapped file are used where they lie.
//
// Thread safety: none. Lifetime: the parts must outlive it, and their form, data_end and mapping
// must be known when it is made.
class PlainRowScan {
 public:
  PlainRowScan(const PlainTableParts& parts, const ReadOptions& options);

  // Moves to the next row; the first call moves to the first one. Returns false at the end and
  // after an error.
  [[nodiscard]] bool Next();
  // Returns the current row, whose key and value live until the next step.
  [[nodiscard]] const PlainRowCursor& row() const { return cursor_; }
  // Returns OK at the end of the rows; Corruption, with file and offset, for a malformed row; or
  // the error of a read.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  // Reads the next part of the file, from the row that the last part cut off. Requires that the
  // rows were not read to their end. Returns false, with status_ set, if the read fails.
  bool ReadOn();

  const PlainTableParts& parts_;
  IOOptions io_;
  // The part that was read last, and the one before it, in which the row that was shown last lies.
  std::string buffers_[2];
  size_t read_bytes_;  // size of the next read
  // Offset up to which the file was read.
  uint64_t read_end_ = 0;
  PlainRowCursor cursor_;
  Status status_;
};

// Returns Corruption for the row at an offset of the table's file, with the file's name.
[[nodiscard]] Status MalformedPlainRow(const PlainTableParts& parts, const char* problem,
                                       uint64_t offset);

}  // namespace varve
