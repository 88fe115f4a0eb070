// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads one table by itself: one that SstFileWriter has made, or one of a database's.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "varve/export.h"
#include "varve/iterator.h"
#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/table_properties.h"
#include "varve/types.h"

namespace varve {

// Shows what a database would show that has this table alone: the newest visible version of each
// key, operands merged by the options' merge_operator, deletions and deleted ranges applied. Of a
// table that a database has ingested the sequence numbers are those in the file, 0 unless
// write_global_seqno was set; and of one that a database has cut to a part of its range all is
// shown, as only the database's MANIFEST tells.
//
// The options must have the comparator that the table was written with. Those that reads use are
// env, table_factory, comparator, prefix_extractor, merge_operator, statistics, info_log, and
// allow_mmap_reads and use_direct_reads.
//
// Thread safety: once Open has returned OK all methods from any thread.
// Ownership: borrows the options' pointers. Iterators and pinned values may outlive the reader.
// Errors: before Open has returned OK each call is InvalidArgument.
class VARVE_EXPORT SstFileReader {
 public:
  explicit SstFileReader(const Options& options);
  ~SstFileReader();
  SstFileReader(const SstFileReader&) = delete;
  SstFileReader& operator=(const SstFileReader&) = delete;

  // Opens the file, and looks at what it is: Corruption if that is no table, or one whose parts
  // contradict each other, InvalidArgument for another comparator, or if a file is open already.
  Status Open(const std::string& file_path);

  // As DB::NewIterator; owned by the caller. A snapshot stands for its sequence number.
  Iterator* NewIterator(const ReadOptions& options);

  // As DB::Get and DB::MultiGet.
  Status Get(const ReadOptions& options, const Slice& key, std::string* value);
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values);

  // results[i]: false if the table's filter proves that it has no entry of the key. Keys have no
  // timestamps.
  void MayMatch(const ReadOptions& options, const Slice* keys, size_t num_keys, bool* results);
  void MayMatch(const Slice* keys, size_t num_keys, bool* results) {
    MayMatch(ReadOptions(), keys, num_keys, results);
  }

  // Every point entry, deletions and older versions too. Keys are internal keys, which
  // ParseTableIteratorKey takes apart, and so are the targets of seeks: utilities/types_util.h
  // makes them. Null before Open has returned OK.
  std::unique_ptr<Iterator> NewTableIterator();
  // *parsed_key points into `raw_table_key`. InvalidArgument if that is no internal key.
  Status ParseTableIteratorKey(const Slice& raw_table_key, ParsedEntryInfo* parsed_key) const;

  // Null before Open has returned OK.
  std::shared_ptr<const TableProperties> GetTableProperties() const;

  // Reads the whole file, past the block cache, and compares each block's checksum.
  Status VerifyChecksum(const ReadOptions& options);
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  // Reads all entries: Corruption unless they are in order, found by the table's index, and as many
  // as its properties say.
  Status VerifyNumEntries(const ReadOptions& options);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace varve
