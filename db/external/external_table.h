// SPDX-License-Identifier: Apache-2.0
#pragma once

// ExternalTable is a table that a program writes, outside of any database: one file, from its
// creation to its last sync, and its description.
//
//      Add             key order, sequence number 0          TableBuilder
//      AddTombstone    collected, as they come in any order
//      Finish          tombstones, properties, footer; sync; close; description
//
// Entries have sequence number 0. The database that ingests the table gives all of them one number,
// which replaces that; the properties say so.
//
// A file without Finish is of no use, and deleted. After an error each later call returns it, so
// that a program may check only the last status.

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

// Properties that only such tables have, not those of databases. Their values are fixed32 and
// fixed64.
inline constexpr char kExternalVersionProperty[] = "rocksdb.external_sst_file.version";
inline constexpr char kExternalSequenceProperty[] = "rocksdb.external_sst_file.global_seqno";

// Says how such a table is made.
struct ExternalTableRequest {
  std::string path;
  std::shared_ptr<FileSystem> fs;
  FileOptions file_options;
  WritableFileWriter::Options writer_options;
  FileChecksumGenFactory* checksum_factory = nullptr;  // null: no checksums of whole files
  bool use_fsync = false;
  bool leaves_page_cache = true;  // Applies to its data, once it is finished.
  // Orders the keys that are added, with their timestamps.
  const InternalKeyComparator* icmp = nullptr;
  // build.icmp orders the keys as they are stored.
  TableBuildOptions build;
};

// Thread safety: none. Ownership: what the request points to outlives it. The file is deleted by
// the destructor unless Finish returned OK.
class ExternalTable {
 public:
  // Creates the file, in place of any other one of that name.
  static Status Create(const ExternalTableRequest& request, std::unique_ptr<ExternalTable>* table);
  ~ExternalTable();
  ExternalTable(const ExternalTable&) = delete;
  ExternalTable& operator=(const ExternalTable&) = delete;

  // Implement the calls of SstFileWriter, for all kinds of points.
  Status Add(ValueType type, const Slice& user_key, const Slice& timestamp, const Slice& value);
  Status AddTombstone(const Slice& begin, const Slice& end, const Slice& timestamp);
  Status Finish(ExternalSstFileInfo* info);
  // Makes each later call return `status`, which is not OK.
  Status Fail(const Status& status);

  // True if Finish would have nothing to write.
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
  // Adds a point whose key includes its checked timestamp.
  Status AddWholeKey(ValueType type, const Slice& user_key, const Slice& value);
  [[nodiscard]] Status status() const { return failed_.ok() ? builder_->status() : failed_; }
  // Returns the error for a key that does not come after the last one.
  Status RefuseOrder(const Slice& user_key) const;
  // Returns the part of a timestamp that the table holds.
  [[nodiscard]] Slice Stored(const Slice& timestamp) const {
    return request_.build.persist_timestamps ? timestamp : Slice();
  }
  // Adds the collected range deletions to the table, in order.
  Status AddTombstones();
  // Syncs and closes the file.
  Status CloseFile();
  // Fills in what the caller gets to know of the table.
  void Describe(ExternalSstFileInfo* info) const;
  // Returns what an ingestion of the table would otherwise have to read from it.
  std::shared_ptr<const PreparedFileInfo> Prepare() const;

  const ExternalTableRequest request_;
  const bool bytewise_;
  std::unique_ptr<FileChecksumGenerator> checksum_;  // The file's, if wanted; outlives it.
  std::unique_ptr<WritableFileWriter> file_;
  std::unique_ptr<TableBuilder> builder_;
  Status failed_;  // Besides errors that the builder has met.

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
