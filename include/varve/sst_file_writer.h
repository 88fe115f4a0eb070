// SPDX-License-Identifier: Apache-2.0
#pragma once

// SstFileWriter writes tables, one sorted file at a time, to be ingested into a database
// (DB::IngestExternalFile) or read with SstFileReader.
//
//   varve::SstFileWriter writer(varve::EnvOptions(), options);
//   varve::Status s = writer.Open("fruit.sst");
//   if (s.ok()) s = writer.Put("apple", "green");
//   if (s.ok()) s = writer.Put("banana", "yellow");  // in ascending order
//   if (s.ok()) s = writer.Finish();
//   if (s.ok()) s = db->IngestExternalFile({"fruit.sst"}, varve::IngestExternalFileOptions());

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/advanced_options.h"
#include "varve/env.h"
#include "varve/export.h"
#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/table_properties.h"
#include "varve/types.h"
#include "varve/wide_columns.h"

namespace varve {

class ColumnFamilyHandle;
class Comparator;
// PreparedFileInfo is opaque.
struct PreparedFileInfo;

// Result of SstFileWriter::Finish. Keys are user keys, with their timestamps.
struct ExternalSstFileInfo {
  ExternalSstFileInfo() = default;
  ExternalSstFileInfo(const std::string& _file_path, const std::string& _smallest_key,
                      const std::string& _largest_key, SequenceNumber _sequence_number,
                      uint64_t _file_size, uint64_t _num_entries, int32_t _version)
      : file_path(_file_path),
        smallest_key(_smallest_key),
        largest_key(_largest_key),
        sequence_number(_sequence_number),
        file_size(_file_size),
        num_entries(_num_entries),
        version(_version) {}

  // Path of the file, as it was given to Open.
  std::string file_path;

  // Smallest and largest point key; both empty if there is none.
  std::string smallest_key;
  std::string largest_key;

  // Smallest begin and largest end (exclusive) of range deletions; both empty if there is none.
  std::string smallest_range_del_key;
  std::string largest_range_del_key;

  // Checksum of the whole file, with DBOptions::file_checksum_gen_factory; else both are empty.
  std::string file_checksum;
  std::string file_checksum_func_name;

  // Sequence number of all entries.
  SequenceNumber sequence_number = 0;
  // Size of the file in bytes.
  uint64_t file_size = 0;
  // Number of point entries.
  uint64_t num_entries = 0;
  // Number of range deletions.
  uint64_t num_range_del_entries = 0;
  // Format version of such files, which is 2.
  int32_t version = 0;

  // Pass it in IngestExternalFileArg::file_infos to save reads of the file during its ingestion, as
  // long as the file does not change. Null with a comparator that has timestamps.
  std::shared_ptr<const PreparedFileInfo> prepared_file_info;
};

// Point entries must come in strictly ascending order of the comparator; range deletions come in
// any order, and may overlap. A range deletion never hides a point entry of the same file.
//
// The table is compressed with the options' bottommost_compression if it is set, else with the last
// of compression_per_level, else with compression. CompressionOptions::parallel_threads threads
// compress beside the caller's. The options' table_factory, comparator, prefix_extractor,
// table_properties_collector_factories, env, rate_limiter and file_checksum_gen_factory are used as
// by a database.
//
// Errors: a call that returns InvalidArgument changes nothing, and the file can be continued. After
//   any other error each call returns that error, up to Finish, which deletes the file. A writer
//   destroyed before Finish returned OK deletes it, too. Exceptions of a comparator or a collector
//   become such an error: Aborted.
// Thread safety: none.
// Ownership: borrows the options' pointers and the comparator. Only the constructor uses the column
//   family's handle.
class VARVE_EXPORT SstFileWriter {
 public:
  // column_family: the target of the files, which is stored in them. Other column families refuse
  //   them. Null: any may take them.
  // invalidate_page_cache: removes the file's data from the operating system's page cache when the
  //   file is finished, except what an ingestion reads.
  // io_priority: priority of the writes at the rate limiter of env_options, or else of the options.
  //   IO_TOTAL: they are not limited.
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                ColumnFamilyHandle* column_family = nullptr, bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL);
  // Older form, with the comparator as an argument instead of the options'.
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                const Comparator* user_comparator, ColumnFamilyHandle* column_family = nullptr,
                bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL);
  ~SstFileWriter();
  SstFileWriter(const SstFileWriter&) = delete;
  SstFileWriter& operator=(const SstFileWriter&) = delete;

  // Begins a file, replacing an existing one; other hard links of that, made by an ingestion for
  // instance, keep the old content. InvalidArgument, without creating a file: another file is not
  // finished, or no table can be written with the options.
  Status Open(const std::string& file_path, Temperature temperature = Temperature::kUnknown);

  // Adds a value for the key, in the second form at a timestamp. Here and below, `user_key` has no
  // timestamp. InvalidArgument: the key does not sort after the previous one; key and value are too
  // large (together 4 GiB less 66 KiB); or a timestamp is missing, has another size, or is given
  // although the comparator has none. With persist_user_defined_timestamps false only the smallest
  // timestamp is allowed, and it is not stored.
  Status Put(const Slice& user_key, const Slice& value);
  Status Put(const Slice& user_key, const Slice& timestamp, const Slice& value);

  // Adds an operand for the merge operator of the options, or of the column family that ingests the
  // file. InvalidArgument like Put, and for a comparator with timestamps.
  Status Merge(const Slice& user_key, const Slice& value);

  // Adds an entity of these columns, in any order. Corruption if two columns have one name;
  // InvalidArgument like Put, and for a comparator with timestamps.
  Status PutEntity(const Slice& user_key, const WideColumns& columns);

  // Adds a deletion of the key; errors as for Put.
  Status Delete(const Slice& user_key);
  Status Delete(const Slice& user_key, const Slice& timestamp);

  // Deletes all keys in [begin_key, end_key) of the database that ingests the file, in the second
  // form up to a timestamp; the keys themselves have none. OK without effect if both are equal;
  // InvalidArgument if the end is before the begin.
  Status DeleteRange(const Slice& begin_key, const Slice& end_key);
  Status DeleteRange(const Slice& begin_key, const Slice& end_key, const Slice& timestamp);

  // Completes the file, makes its content durable (not its name: sync the directory for that) and
  // closes it; Open may then begin the next. InvalidArgument, with the file still open, if nothing
  // was added. On any other error the file is deleted. *file_info, unless null, is set only with
  // OK.
  Status Finish(ExternalSstFileInfo* file_info = nullptr);

  // Returns the bytes written to the file so far, its size when finished. 0 before the first Open.
  uint64_t FileSize();

  // Returns true if the properties are those of a file written by an SstFileWriter of this library
  // or of RocksDB.
  static bool CreatedBySstFileWriter(const TableProperties& properties);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace varve
