// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tables written by a program, one sorted file after the other, to be ingested into a database
// (DB::IngestExternalFile) or read with SstFileReader.

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

namespace varve {

class ColumnFamilyHandle;
class Comparator;

// A column of an entity. Entities are not supported: see PutEntity.
class WideColumn {
 public:
  WideColumn() = default;
  WideColumn(const Slice& name, const Slice& value) : name_(name), value_(value) {}

  const Slice& name() const { return name_; }
  const Slice& value() const { return value_; }

 private:
  Slice name_;
  Slice value_;
};
using WideColumns = std::vector<WideColumn>;

// What SstFileWriter::Finish says of the file. Keys are user keys, with their timestamps.
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

  std::string file_path;  // As Open was given it.

  // Of points; both empty if there is none.
  std::string smallest_key;
  std::string largest_key;

  // The smallest begin and the largest end, which is exclusive, of the deleted ranges; both empty
  // if there is none.
  std::string smallest_range_del_key;
  std::string largest_range_del_key;

  // Of the whole file, with DBOptions::file_checksum_gen_factory; else both are empty.
  std::string file_checksum;
  std::string file_checksum_func_name;

  SequenceNumber sequence_number = 0;  // Of all entries of the file.
  uint64_t file_size = 0;              // Bytes.
  uint64_t num_entries = 0;            // Points.
  uint64_t num_range_del_entries = 0;
  int32_t version = 0;  // Of the form of such files: 2.
};

// Points come in strictly ascending order of the comparator, an equal key is refused; deleted
// ranges come in any order, and may overlap. A deleted range never hides a point of the same file.
//
// The table gets the options' bottommost_compression, if set, else the last of
// compression_per_level, else compression, with CompressionOptions::parallel_threads threads that
// compress beside the caller's. The options' table_factory, comparator, prefix_extractor,
// table_properties_collector_factories, env, rate_limiter and file_checksum_gen_factory are used as
// by a database.
//
// Errors: what a call refuses as InvalidArgument changes nothing, and the file goes on. After any
//   other error each call returns that error, up to Finish, which deletes the file. A writer that
//   is destroyed before Finish returned OK deletes it, too. What a comparator or a collector throws
//   becomes such an error: Aborted.
// Thread safety: none.
// Ownership: borrows the options' pointers and the comparator. The column family's handle is used
//   by the constructor only.
class VARVE_EXPORT SstFileWriter {
 public:
  // column_family: the one that the files are for, recorded in them; other families refuse them.
  // Null: any.
  // invalidate_page_cache: the file's data leave the operating system's page cache when the file is
  // finished; what an ingestion reads stays.
  // io_priority: of the writes at the rate limiter of env_options, or else of the options.
  // IO_TOTAL: they are not limited.
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                ColumnFamilyHandle* column_family = nullptr, bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL);
  // Older form: the comparator in place of the options'.
  SstFileWriter(const EnvOptions& env_options, const Options& options,
                const Comparator* user_comparator, ColumnFamilyHandle* column_family = nullptr,
                bool invalidate_page_cache = true,
                Env::IOPriority io_priority = Env::IOPriority::IO_TOTAL);
  ~SstFileWriter();
  SstFileWriter(const SstFileWriter&) = delete;
  SstFileWriter& operator=(const SstFileWriter&) = delete;

  // Begins a file. One that is there is replaced: if it has other names, as one that was ingested
  // by link has, those keep what they have. InvalidArgument: another file is not finished, or the
  // options are such that no table can be written; then no file is made.
  Status Open(const std::string& file_path, Temperature temperature = Temperature::kUnknown);

  // A value for the key, in the second form at a timestamp. InvalidArgument: the key does not sort
  // after the one before it; key or value is too large (together 4 GiB less 66 KiB); or there is a
  // timestamp where the comparator has none, none where it has, or one of another size. With
  // persist_user_defined_timestamps false only the smallest timestamp is taken, and not stored.
  Status Put(const Slice& user_key, const Slice& value);
  Status Put(const Slice& user_key, const Slice& timestamp, const Slice& value);

  // An operand for the options' merge operator, or that of the family which takes the file.
  // InvalidArgument as Put, and under a comparator with timestamps.
  Status Merge(const Slice& user_key, const Slice& value);

  // NotSupported.
  Status PutEntity(const Slice& user_key, const WideColumns& columns);

  // As Put.
  Status Delete(const Slice& user_key);
  Status Delete(const Slice& user_key, const Slice& timestamp);

  // Deletes all keys in [begin_key, end_key) of the database that takes the file, in the second
  // form up to a timestamp; the keys have none. OK and nothing where both are equal;
  // InvalidArgument where the end is before the begin.
  Status DeleteRange(const Slice& begin_key, const Slice& end_key);
  Status DeleteRange(const Slice& begin_key, const Slice& end_key, const Slice& timestamp);

  // Completes the file, makes its content durable (not its name: sync the directory for that) and
  // closes it; then Open may begin the next. InvalidArgument, and the file goes on, if nothing was
  // added. On any other error the file is deleted. *file_info, unless null, is set with OK alone.
  Status Finish(ExternalSstFileInfo* file_info = nullptr);

  // Bytes written to the file so far; its size once it is finished. 0 before the first Open.
  uint64_t FileSize();

  // Whether these are properties of a file that an SstFileWriter, of this library or of RocksDB,
  // has written.
  static bool CreatedBySstFileWriter(const TableProperties& properties);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace varve
