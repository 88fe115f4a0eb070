// SPDX-License-Identifier: Apache-2.0
#pragma once

// Creates a table file, fills it through a TableBuilder, makes it durable, and describes it.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "varve/file_checksum.h"
#include "varve/file_system.h"
#include "varve/options.h"

#include "db/version/table_paths.h"
#include "db/version/version_edit.h"
#include "table/table_builder.h"
#include "util/base/assert.h"
#include "util/env/writable_file_writer.h"

namespace varve {

class RateLimiter;
class TableReader;

// Settings that all tables written by a database share.
struct TableOutputContext {
  TablePathsRef paths;
  uint32_t path_id = 0;  // index into `paths`
  std::shared_ptr<FileSystem> fs;
  FileOptions file_options;
  SystemClock* clock = nullptr;
  RateLimiter* rate_limiter = nullptr;
  const std::atomic<bool>* limit_lifted = nullptr;  // null: the limiter is always used
  Env::IOPriority io_priority = Env::IO_LOW;
  // Bytes written between two hints to the system to write them to the disk; 0: no hints.
  uint64_t bytes_per_sync = 0;
  // Size of the buffer in front of the file.
  size_t file_buffer_bytes = 1 << 20;
  bool use_fsync = false;
  bool use_direct_io = false;
  FileChecksumGenFactory* checksum_factory = nullptr;  // null: no checksums of whole files
  bool read_back = false;   // true: reads each new table, and compares it to what was added
  bool time_files = false;  // fills in TableOutput::times; needs the clock
  // Called with the path of each table, or blob file, before it is created, from any thread; may be
  // null. Must not throw.
  std::function<void(const std::string& path)> on_create;
  std::function<void(const std::string& path)> on_create_blobs;

  // Creates the file of a table or of blobs at `path` with these settings; `writer` adds histograms
  // and statistics. Calls `created`, which may be null, before. Sets *checksum to what computes
  // that of the whole file, null if none is wanted; it must outlive the file.
  Status CreateFile(const std::string& path, WritableFileWriter::Options writer,
                    const std::function<void(const std::string& path)>& created,
                    std::unique_ptr<FileChecksumGenerator>* checksum,
                    std::unique_ptr<WritableFileWriter>* file) const;
};

// Used in this order: Create, Add for all point entries in the order of internal keys, AddTombstone
// for all tombstones, Finish. The file is deleted by the destructor unless Finish returned OK.
//
// Thread safety: none; one thread at a time. The pointers in the context and the options must
// outlive it.
class TableOutput {
 public:
  // Creates the file, whose name comes from build.file_number. Refuses options that no table can be
  // built with before it does so. With an error *output is null, and no file is left.
  static Status Create(const TableOutputContext& context, const TableBuildOptions& build,
                       std::unique_ptr<TableOutput>* output);
  ~TableOutput();

  // Returns the builder, for its size and status. Entries are added through Add.
  TableBuilder* builder() { return builder_.get(); }
  // Adds a point entry to the table and updates the file's bounds and sequence range. Errors show
  // in builder()->status() and fail Finish.
  void Add(const Slice& internal_key, const Slice& value) {
    VARVE_ASSERT(!finished_);
    if (order_without_timestamp_ != nullptr) [[unlikely]]
      return AddWithoutTimestamp(internal_key, value);
    if (!has_entry_ || first_point_.empty()) [[unlikely]] {
      first_point_.assign(internal_key.data(), internal_key.size());
    }
    last_point_.assign(internal_key.data(), internal_key.size());
    NoteSequence(ExtractSequence(internal_key));
    has_entry_ = true;
    if (context_.read_back) [[unlikely]]
      added_.Add(internal_key, value);
    builder_->Add(internal_key, value);
  }
  // Notes that the next entry is older than an earlier one of the same key.
  void NoteHidden() {
    VARVE_ASSERT(has_entry_);
    hidden_++;
  }
  // Adds a range tombstone [begin, end) of sequence number `seq`, given as keys without timestamps
  // and already cut to the file's range. Begins must ascend; of tombstones with equal begins the
  // newest comes first.
  void AddTombstone(const Slice& begin, const Slice& end, SequenceNumber seq,
                    const Slice& timestamp = Slice());
  // True if neither an entry nor a tombstone was added.
  bool empty() const { return !has_entry_; }

  // Finishes the table, syncs and closes the file, compares it to what was added if the context
  // asks for that (read_back), and reads it into the block cache if TableBuilder::FillsCache says
  // so. Then sets *file to its description, but leaves level and epoch as they were. With an error
  // *file does not change, and the destructor deletes the file. InvalidArgument: nothing was added.
  Status Finish(NewFile* file);
  // Returns the times of writing the file, with time_files.
  const FileWriteTimes& times() const { return times_; }

 private:
  // A digest of point entries in their order, which any change of one would change.
  struct EntryDigest {
    uint64_t count = 0;
    uint64_t hash = 0;
    // Adds an entry to the digest.
    void Add(const Slice& internal_key, const Slice& value);
    bool operator==(const EntryDigest& other) const = default;
  };

  TableOutput(const TableOutputContext& context, const TableBuildOptions& build);
  // Widens the file's range of sequence numbers.
  void NoteSequence(SequenceNumber seq) {
    smallest_seq_ = seq < smallest_seq_ ? seq : smallest_seq_;
    largest_seq_ = seq > largest_seq_ ? seq : largest_seq_;
  }
  // Adds an entry without the key's timestamp; the bounds have the oldest timestamp, as for
  // readers.
  void AddWithoutTimestamp(const Slice& internal_key, const Slice& value);
  // Syncs and closes the file.
  Status CloseFile();
  // Opens the finished table as readers will; `cached`: blocks go into the block cache.
  Status OpenAgain(const NewFile& file, bool cached, std::unique_ptr<TableReader>* table) const;
  // Compares the table with what was added. Corruption if they differ.
  Status ReadBack(const NewFile& file) const;
  // Reads the table into the block cache. Best effort.
  void FillCache(const NewFile& file) const;
  // Sets the bounds of points and tombstones together. Returns false if a key is no internal key.
  bool SetBounds(NewFile* file) const;

  const TableOutputContext context_;
  const TableBuildOptions build_;
  // The order of the table's keys if their timestamps are left out; else null.
  std::unique_ptr<const InternalKeyComparator> order_without_timestamp_;
  std::string key_without_timestamp_;
  // Path of the file.
  std::string file_name_;
  std::unique_ptr<FileChecksumGenerator> checksum_;  // the file's, if wanted; must outlive it
  FileWriteTimes times_;                             // must outlive the file
  std::unique_ptr<WritableFileWriter> file_;
  std::unique_ptr<TableBuilder> builder_;
  // Internal keys of the first and the last point entry; empty without points.
  std::string first_point_;
  std::string last_point_;
  // The tombstones' first begin, at its newest sequence number, and their largest end.
  InternalKey first_tombstone_;
  InternalKey last_tombstone_end_;
  SequenceNumber smallest_seq_ = kMaxSequenceNumber;
  SequenceNumber largest_seq_ = 0;
  // Number of entries that a newer one of the same key hides from new readers.
  uint64_t hidden_ = 0;
  EntryDigest added_;  // used with read_back
  bool has_entry_ = false;
  bool finished_ = false;
};

}  // namespace varve
