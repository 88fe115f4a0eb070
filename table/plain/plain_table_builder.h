// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes PlainTables, which RocksDB reads, too: rows, properties, metaindex and footer. Index and
// filter are left to the reader.

#include <cstdint>
#include <memory>
#include <string>

#include "table/builder/property_collectors.h"
#include "table/plain/plain_row.h"
#include "table/table_builder.h"

namespace varve {

struct PlainTableBuildOptions : TableBuildOptions {
  PlainTableOptions table;  // the factory's options
};

// Collects rows in a buffer, and appends that to the file whenever it is large. The file of a
// builder that has failed is of no use; the caller deletes it.
//
// Thread safety: none. Lifetime: the file and what the options point to must outlive it.
class PlainTableBuilder final : public TableBuilder {
 public:
  // These do for a PlainTable what the functions of TableBuilder do for any format.
  static Status CheckOptions(const PlainTableBuildOptions& options);
  static Status Create(const PlainTableBuildOptions& options, WritableFileWriter* file,
                       std::unique_ptr<TableBuilder>* builder);

  void Add(const Slice& internal_key, const Slice& value) override;
  // Fails with NotSupported: the format has no place for range deletions.
  void AddTombstone(const Slice& begin_internal_key, const Slice& end_user_key) override;
  Status Finish() override;
  void Abandon() override { closed_ = true; }

  Status status() const override { return status_; }
  uint64_t entry_count() const override { return properties_.num_entries; }
  uint64_t FileSize() const override { return written_ + buffer_.size(); }
  uint64_t EstimatedFileSize() const override { return FileSize(); }
  // Also true for a table that comes near the format's limit, whatever `bytes` is.
  bool Reaches(uint64_t bytes) override;
  uint64_t tail_size() const override { return tail_size_; }
  const TableProperties& properties() const override { return properties_; }
  std::string UniqueId() const override;
  uint64_t helper_cpu_micros() const override { return 0; }
  bool NeedsCompaction() const override { return collectors_.needs_compaction(); }

 private:
  // Requires options that have passed CheckOptions.
  PlainTableBuilder(const PlainTableBuildOptions& options, WritableFileWriter* file);

  // Returns the reason why the format cannot hold the entry, or OK.
  Status CheckEntry(const Slice& internal_key, const Slice& value) const;
  // Keeps the first error, and closes the builder.
  void Fail(const Status& status);
  // Writes the rows collected so far to the file.
  Status WriteBuffer();
  // Writes properties, metaindex and footer.
  Status WriteTail();
  // Sets the properties that are known at the end.
  void FillProperties();

  const PlainTableBuildOptions options_;
  WritableFileWriter* const file_;
  PlainRowWriter rows_;
  PropertyCollectors collectors_;
  std::string buffer_;    // not yet in the file
  uint64_t written_ = 0;  // bytes given to the file
  // Internal key of the last entry, for the check of order.
  std::string last_key_;
  // Bounds of the entries' sequence numbers, for the properties.
  SequenceNumber smallest_seq_ = kMaxSequenceNumber;
  SequenceNumber largest_seq_ = 0;
  // Bytes after the rows; set by WriteTail.
  uint64_t tail_size_ = 0;
  TableProperties properties_;
  Status status_;
  bool closed_ = false;    // after an error, Finish or Abandon: Add does nothing
  bool finished_ = false;  // after a Finish that returned OK: the table has an identity
};

}  // namespace varve
