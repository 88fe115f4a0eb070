// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes one immutable sorted run: takes entries in order and produces a table file.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/advanced_options.h"
#include "varve/status.h"
#include "varve/table.h"
#include "varve/table_properties.h"
#include "varve/types.h"

#include "util/key/internal_key.h"

namespace varve {

class SliceTransform;
class Statistics;
class WritableFileWriter;

// Arguments of building a table, for all formats. Pointers are not owned, and outlive the builder.
struct TableBuildOptions {
  const InternalKeyComparator* icmp = nullptr;  // required
  // False: the caller leaves timestamps out of keys. Has no meaning without timestamps.
  bool persist_timestamps = true;
  std::string comparator_name;                  // name to record; empty: that of icmp
  std::shared_ptr<const TableFactory> factory;  // decides the table's format and its options
  CompressionType compression = kNoCompression;
  CompressionOptions compression_opts;
  const SliceTransform* prefix_extractor = nullptr;
  std::vector<std::shared_ptr<TablePropertiesCollectorFactory>> collector_factories;
  uint64_t sample_for_compression = 0;  // samples one of this many data blocks; 0: none
  Statistics* statistics = nullptr;
  uint32_t column_family_id = 0;
  std::string column_family_name;
  std::string merge_operator_name = "nullptr";  // only recorded
  int level = -1;                               // level of the output; -1 if unknown
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
  bool skip_filters = false;  // true: the table gets no filter
  // The table takes the place of others, most of whose data blocks are in the block cache.
  bool replaces_cached = false;
  bool allow_data_in_errors = false;  // same meaning as in DBOptions
  uint64_t file_number = 0;
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  uint64_t creation_time = 0;       // seconds; that of the oldest ancestor
  uint64_t oldest_key_time = 0;     // seconds
  uint64_t file_creation_time = 0;  // seconds
  // Recorded among the properties of collectors, which cannot replace them.
  UserCollectedProperties added_properties;
};

// Writes a table from entries in ascending order. Thread safety: none. Ownership: borrows the file
// writer and every pointer of the options; the caller syncs and closes the file after Finish.
class TableBuilder {
 public:
  // Returns OK if tables can be written with these options. NotSupported: the factory is null or of
  // an unknown format, or an option asks for something that the format, this library or this build
  // lacks. InvalidArgument: icmp is null, an option is out of its range, or it needs another one
  // that is not set. The message names the option. A database calls this when it is opened, so that
  // flushes do not fail later.
  static Status CheckOptions(const TableBuildOptions& options);
  // Creates the builder for the format of options.factory. Returns the errors of CheckOptions,
  // which it calls; *builder is null then. Writes nothing to the file.
  static Status Create(const TableBuildOptions& options, WritableFileWriter* file,
                       std::unique_ptr<TableBuilder>* builder);
  // Returns whether such a table, of this size in bytes, is to be read once when it is finished, so
  // that its blocks are in the block cache: prepopulate_block_cache asks for that, or the table
  // replaces tables that were there (replaces_cached) and the cache has room.
  static bool FillsCache(const TableBuildOptions& options, uint64_t table_bytes);
  virtual ~TableBuilder() = default;

  // Adds a point entry. Requires strictly ascending internal keys. After an order violation or any
  // earlier error, status() is bad and the call does nothing.
  virtual void Add(const Slice& internal_key, const Slice& value) = 0;
  // Adds a range tombstone: `begin_internal_key` is of type kTypeRangeDeletion, `end_user_key` is
  // exclusive, and both have the timestamp if keys have one. Requires that no begin sorts before
  // the previous one; may be called at any time before Finish.
  virtual void AddTombstone(const Slice& begin_internal_key, const Slice& end_user_key) = 0;
  // Writes what is buffered and all that follows the data. Must be called once, after the last
  // entry. Returns the first error of any call; then the file is of no use.
  virtual Status Finish() = 0;
  // Gives the table up: waits for the builder's threads, after which nothing touches the file any
  // more. May be called instead of Finish, or after it has failed.
  virtual void Abandon() = 0;

  // Returns the first error; nothing is accepted after it.
  virtual Status status() const = 0;
  virtual uint64_t entry_count() const = 0;  // number of points and tombstones
  // Returns the bytes written so far. Blocks that are still being compressed count with an upper
  // bound of their sizes. Exact after Finish.
  virtual uint64_t FileSize() const = 0;
  // Returns FileSize plus the bytes that are buffered.
  virtual uint64_t EstimatedFileSize() const = 0;
  // True if EstimatedFileSize will be `bytes` or more when all blocks are compressed, so that the
  // answer depends on the entries alone and not on the threads. Waits for blocks that are still
  // being compressed only if they could change the answer.
  virtual bool Reaches(uint64_t bytes) = 0;
  virtual uint64_t tail_size() const = 0;  // bytes after the last data block; valid after Finish
  // Returns the table's properties, which are complete after Finish.
  virtual const TableProperties& properties() const = 0;
  // Returns the 16-byte unique id based on XXH3 (FORMAT.md), or an empty string if the identity is
  // unknown. Valid after Finish.
  virtual std::string UniqueId() const = 0;
  // Returns the processor time, in microseconds, used by the builder's own threads. Valid after
  // Finish.
  virtual uint64_t helper_cpu_micros() const = 0;
  // True if a collector wants the file to be compacted soon. Valid after Finish.
  virtual bool NeedsCompaction() const = 0;
};

// Returns `factory` if it is null or its tables can hold range deletions, else a new factory of
// block-based tables with default options.
std::shared_ptr<const TableFactory> FactoryWithTombstones(
    const std::shared_ptr<const TableFactory>& factory);

}  // namespace varve
