// SPDX-License-Identifier: Apache-2.0
#pragma once

// SstFileReader reads a single table, made by SstFileWriter or by a database.
//
//   varve::SstFileReader reader(options);
//   varve::Status s = reader.Open("fruit.sst");
//   const std::unique_ptr<varve::Iterator> it(reader.NewIterator(varve::ReadOptions()));
//   for (it->SeekToFirst(); it->Valid(); it->Next()) Show(it->key(), it->value());

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

// Shows what a database with only this table would show: the newest visible version of each key,
// operands merged by the options' merge_operator, deletions and range deletions applied. For a
// table that a database has ingested, sequence numbers are those in the file, 0 unless
// write_global_seqno was set. If a database uses only a part of the table's key range, the reader
// still shows all of it, as only the MANIFEST has that range.
//
// The options must have the comparator with which the table was written. Reads use env,
// table_factory, comparator, prefix_extractor, merge_operator, statistics, info_log,
// allow_mmap_reads and use_direct_reads.
//
// Thread safety: after Open has returned OK all methods may be called from any thread.
// Ownership: borrows the options' pointers. Iterators and pinned values may outlive the reader.
// Errors: before Open has returned OK each call returns InvalidArgument; calls that return a
// pointer to table data return null, and MayMatch sets all to true. A value that is in a blob file
// is NotSupported for Get and MultiGet, and Corruption for an iterator.
class VARVE_EXPORT SstFileReader {
 public:
  explicit SstFileReader(const Options& options);
  ~SstFileReader();
  SstFileReader(const SstFileReader&) = delete;
  SstFileReader& operator=(const SstFileReader&) = delete;

  // Opens and checks the file: Corruption if it is not a consistent table, InvalidArgument for
  // another comparator, or if a file is open already.
  Status Open(const std::string& file_path);

  // Like DB::NewIterator; the caller owns the result. A snapshot is used for its sequence number.
  Iterator* NewIterator(const ReadOptions& options);

  // Like DB::Get and DB::MultiGet.
  Status Get(const ReadOptions& options, const Slice& key, std::string* value);
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values);
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<PinnableSlice>* values);

  // Sets results[i] to false if the table's filter proves that it has no entry of keys[i]. Keys
  // have no timestamps.
  void MayMatch(const ReadOptions& options, const Slice* keys, size_t num_keys, bool* results);
  void MayMatch(const Slice* keys, size_t num_keys, bool* results) {
    MayMatch(ReadOptions(), keys, num_keys, results);
  }

  // Iterates over every point entry, including deletions and older versions. Keys, also those of
  // seeks, are internal keys: ParseTableIteratorKey parses them, utilities/types_util.h makes them.
  // Returns null before Open has returned OK.
  std::unique_ptr<Iterator> NewTableIterator();
  // *parsed_key points into `raw_table_key`. InvalidArgument if that is not an internal key.
  Status ParseTableIteratorKey(const Slice& raw_table_key, ParsedEntryInfo* parsed_key) const;

  // Returns null before Open has returned OK.
  std::shared_ptr<const TableProperties> GetTableProperties() const;

  // Reads the whole file, bypassing the block cache, and compares each block's checksum.
  Status VerifyChecksum(const ReadOptions& options);
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  // Reads all entries but range deletions. Corruption unless they are in order, found by the
  // table's index, and as many as its properties say; the properties' number of range deletions is
  // believed.
  Status VerifyNumEntries(const ReadOptions& options);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace varve
