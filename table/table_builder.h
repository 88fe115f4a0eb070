// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes one immutable sorted run: entries in order in, a table file out.

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

struct TableBuildOptions {
  const InternalKeyComparator* icmp = nullptr;
  // No meaning without timestamps. False: the caller leaves them out of keys.
  bool persist_timestamps = true;
  std::string comparator_name;                  // recorded; empty: that of icmp
  std::shared_ptr<const TableFactory> factory;  // says which format the table gets, and its options
  CompressionType compression = kNoCompression;
  CompressionOptions compression_opts;
  const SliceTransform* prefix_extractor = nullptr;
  std::vector<std::shared_ptr<TablePropertiesCollectorFactory>> collector_factories;
  uint64_t sample_for_compression = 0;  // of so many data blocks one; 0: none
  Statistics* statistics = nullptr;
  uint32_t column_family_id = 0;
  std::string column_family_name;
  std::string merge_operator_name = "nullptr";  // recorded only
  int level = -1;                               // of the output; -1 unknown
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
  bool skip_filters = false;
  // The table takes the place of others, most of whose data blocks are in the block cache.
  bool replaces_cached = false;
  bool allow_data_in_errors = false;  // as DBOptions has it
  uint64_t file_number = 0;
  std::string db_id;
  std::string db_session_id;
  std::string db_host_id;
  uint64_t creation_time = 0;       // seconds; oldest ancestor
  uint64_t oldest_key_time = 0;     // seconds
  uint64_t file_creation_time = 0;  // seconds
  // Recorded among those of collectors, which cannot replace them.
  UserCollectedProperties added_properties;
};

// Thread safety: none. Ownership: borrows the file writer and every pointer of the options; the
// caller syncs and closes the file after Finish.
class TableBuilder {
 public:
  // NotSupported or InvalidArgument, naming the option, for what no table can be written with. A
  // database asks when it is opened, so that flushes do not fail later.
  static Status CheckOptions(const TableBuildOptions& options);
  // By the format of options.factory: NotSupported if there is none for it. Checks the options as
  // well.
  static Status Create(const TableBuildOptions& options, WritableFileWriter* file,
                       std::unique_ptr<TableBuilder>* builder);
  // Returns whether such a table, of this size in bytes, is to be read once when it is finished, so
  // that its blocks are in the block cache: the options ask for that, or it replaces tables that
  // were there and the cache has room.
  static bool FillsCache(const TableBuildOptions& options, uint64_t table_bytes);
  virtual ~TableBuilder() = default;

  // A point entry; internal keys strictly ascending. An order violation or any earlier error makes
  // status() bad and the call a no-op.
  virtual void Add(const Slice& internal_key, const Slice& value) = 0;
  // A range tombstone fragment: begin (internal key of type kTypeRangeDeletion), end user key.
  // Ascending among themselves; may come at any time before Finish.
  virtual void AddTombstone(const Slice& begin_internal_key, const Slice& end_user_key) = 0;
  virtual Status Finish() = 0;
  // Nothing touches the file any more.
  virtual void Abandon() = 0;

  virtual Status status() const = 0;
  virtual uint64_t entry_count() const = 0;  // points and tombstones
  // Bytes written so far, or at most as many more as blocks on their way have; exact after Finish.
  virtual uint64_t FileSize() const = 0;
  // FileSize plus what is buffered.
  virtual uint64_t EstimatedFileSize() const = 0;
  // Whether EstimatedFileSize, with nothing on its way, is `bytes` or more: the answer depends on
  // the entries alone. Waits for blocks on their way only where they could decide.
  virtual bool Reaches(uint64_t bytes) = 0;
  virtual uint64_t tail_size() const = 0;  // bytes after the last data block; after Finish
  // Complete after Finish.
  virtual const TableProperties& properties() const = 0;
  // XXH3-based 16-byte unique id (FORMAT.md); empty when identity is unknown. After Finish.
  virtual std::string UniqueId() const = 0;
  // Processor time, in microseconds, that threads of the builder's own took. After Finish.
  virtual uint64_t helper_cpu_micros() const = 0;
  // Whether a collector asks for the file to be compacted soon. After Finish.
  virtual bool NeedsCompaction() const = 0;
};

}  // namespace varve
