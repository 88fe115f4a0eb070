// SPDX-License-Identifier: Apache-2.0
#pragma once

// ExternalTable writes one table file for a program, outside of any database, and describes the
// result.
//
//      Add             points in ascending order, passed to the TableBuilder
//      AddTombstone    range deletions in any order, kept until Finish
//      Finish          tombstones, properties, footer; sync; close; description
//
// Entries have sequence number 0. A database that ingests the table may assign one sequence number
// to all of them; two properties of the table allow that.
//
// A file is deleted unless Finish succeeds. After an error that spoils the file each later call
// returns it, so that a program may check only the last status.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/file_checksum.h"
#include "varve/file_system.h"
#include "varve/sst_file_writer.h"

#include "table/table_builder.h"
#include "util/env/writable_file_writer.h"
#include "util/key/internal_key.h"

namespace varve {

// Names of the properties that distinguish such tables from those of databases. Their values are
// fixed32 and fixed64.
inline constexpr char kExternalVersionProperty[] = "rocksdb.external_sst_file.version";
inline constexpr char kExternalSequenceProperty[] = "rocksdb.external_sst_file.global_seqno";

// Describes the table to write.
struct ExternalTableRequest {
  std::string path;
  std::shared_ptr<FileSystem> fs;
  FileOptions file_options;
  WritableFileWriter::Options writer_options;
  FileChecksumGenFactory* checksum_factory = nullptr;  // Null: no file checksum.
  bool use_fsync = false;
  bool leaves_page_cache = true;  // Drops its data from the page cache.
  // Orders the keys that are added, with their timestamps.
  const InternalKeyComparator* icmp = nullptr;
  // build.icmp orders the keys as they are stored.
  TableBuildOptions build;
};

// Thread safety: none. Ownership: the objects that the request points to must outlive it. The file
// is deleted by the destructor unless Finish returned OK.
class ExternalTable {
 public:
  // Creates the file, replacing an existing one. *table is null after an error. InvalidArgument: an
  // option has a value that no table can have. NotSupported: an option asks for what tables of this
  // library, or of this build, lack. Aborted: the factory of checksums threw. Otherwise an error of
  // the file system.
  static Status Create(const ExternalTableRequest& request, std::unique_ptr<ExternalTable>* table);
  ~ExternalTable();
  ExternalTable(const ExternalTable&) = delete;
  ExternalTable& operator=(const ExternalTable&) = delete;

  // Implement the calls of SstFileWriter: points of all types, range deletions, and the end. Keys
  // are user keys without the timestamp, which is empty if the comparator has none.
  // InvalidArgument: a key of Add does not sort after the last one, `begin` sorts after `end`, the
  // timestamp has the wrong size, or is not the smallest one although timestamps are not stored, or
  // keys and value are too large. Finish must be called at most once; unless `info` is null, it
  // replaces *info if it succeeds.
  Status Add(ValueType type, const Slice& user_key, const Slice& timestamp, const Slice& value);
  Status AddTombstone(const Slice& begin, const Slice& end, const Slice& timestamp);
  Status Finish(ExternalSstFileInfo* info);
  // Makes each later call return `status`, which must not be OK, unless there is an earlier error.
  // Returns the error.
  Status Fail(const Status& status);

  // Returns true if nothing was added.
  [[nodiscard]] bool empty() const { return points_ == 0 && tombstones_.empty(); }
  [[nodiscard]] uint64_t FileSize() const { return builder_->FileSize(); }

 private:
  struct Tombstone {
    std::string begin;  // Internal key, as it is stored.
    std::string end;    // User key, as it is stored.
  };

  explicit ExternalTable(const ExternalTableRequest& request)
      : request_(request), bytewise_(request.icmp->order() == KeyOrder::kBytewise) {}

  // Returns OK if the timestamp has the comparator's size.
  Status CheckTimestamp(const Slice& timestamp) const;
  // Adds a point; `user_key` includes its checked timestamp.
  Status AddWholeKey(ValueType type, const Slice& user_key, const Slice& value);
  [[nodiscard]] Status status() const { return failed_.ok() ? builder_->status() : failed_; }
  // Returns the error for a key that does not sort after the last one.
  Status RefuseOrder(const Slice& user_key) const;
  // Returns the timestamp if the table stores timestamps, or "" if it does not.
  [[nodiscard]] Slice Stored(const Slice& timestamp) const {
    return request_.build.persist_timestamps ? timestamp : Slice();
  }
  // Adds the collected range deletions to the table, in order.
  Status AddTombstones();
  // Syncs and closes the file.
  Status CloseFile();
  // Sets *info for the caller of Finish.
  void Describe(ExternalSstFileInfo* info) const;
  // Returns the facts that an ingestion would otherwise have to read from the table.
  std::shared_ptr<const PreparedFileInfo> Prepare() const;

  const ExternalTableRequest request_;
  const bool bytewise_;
  std::unique_ptr<FileChecksumGenerator> checksum_;  // Null: no file checksum. Outlives file_.
  std::unique_ptr<WritableFileWriter> file_;
  std::unique_ptr<TableBuilder> builder_;
  Status failed_;  // The first error that is not the builder's.

  // First user key and last internal key of the points, with their timestamps.
  std::string first_key_;
  std::string last_key_;
  ValueType first_type_ = kTypeValue;
  // Number of points that were added.
  uint64_t points_ = 0;
  std::string whole_key_;   // Key and timestamp.
  std::string stored_key_;  // Internal key without the timestamp.

  // Range deletions in the order of their addition; they are written at the end.
  std::vector<Tombstone> tombstones_;
  // Smallest and largest user keys of the tombstones, with their timestamps.
  std::string smallest_begin_;
  std::string largest_end_;
  bool finished_ = false;
};

}  // namespace varve
