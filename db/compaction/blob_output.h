// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps large values out of the tables that a flush or a compaction writes: it puts them into blob
// files. It also writes the values of victims anew: old blob files that are to become garbage as a
// whole, so that they can be deleted.
//
//      entry from the merge          what the table gets           blob files
//      key, value < min_blob_size    the same                      -
//      key, large value              key, reference                value is appended to the file
//                                                                  of new values
//      key, reference to file 7      the same, or, if 7 is a       value is read and appended to
//                                    victim, a new reference       the file of survivors
//
// A value that has survived a collection of garbage is likely to live on, and a new one to die
// soon. In files of their own the new ones die together, and few survivors are written once more.
//
// Each table's references are counted (BlobTally), so that the MANIFEST knows which blob files a
// table needs, and which values a compaction has dropped.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/options.h"

#include "db/blob/blob_cache.h"
#include "db/blob/blob_file_builder.h"
#include "db/compaction/dropped_records.h"
#include "db/compaction/table_output.h"
#include "db/version/blob_file.h"
#include "db/version/blob_file_facts.h"
#include "db/version/version_edit.h"

namespace varve {

// Counts references to blob files, by file.
class BlobTally {
 public:
  // Requires that `reference` was decoded from the value of an entry with this user key.
  void Add(const Slice& user_key, const BlobReference& reference) {
    BlobGarbage& sum = sums_[reference.file_number];
    sum.number = reference.file_number;
    sum.count++;
    sum.bytes += BlobRecordBytes(user_key.size(), reference.size);
  }
  void Add(const std::vector<BlobShare>& shares);
  void Add(const BlobTally& other) { Add(other.Shares()); }
  // True if nothing was counted.
  [[nodiscard]] bool empty() const { return sums_.empty(); }
  // Returns the references, by ascending file.
  [[nodiscard]] std::vector<BlobShare> Shares() const;
  // Returns the references that are counted here and not in `left`, by ascending file. Leaves out
  // files that `present` lacks: they are lost, and no MANIFEST counts garbage of them. Requires
  // that `left` has no more references to any file than this object.
  [[nodiscard]] std::vector<BlobGarbage> Without(const BlobTally& left,
                                                 const BlobFiles& present) const;
  void Clear() { sums_.clear(); }

 private:
  std::map<uint64_t, BlobGarbage> sums_;
};

// Reads the value that an entry's reference leads to into *value. `user_key` is the entry's, with
// its timestamp.
using BlobFetcher = std::function<Status(const Slice& user_key, const Slice& encoded_reference,
                                         PinnableSlice* value)>;

struct BlobOutputOptions {
  // These two are borrowed.
  const TableOutputContext* files = nullptr;  // where and how files are written
  const ColumnFamilyOptions* options = nullptr;
  std::function<uint64_t()> new_file_number;  // may be called from any thread
  uint32_t column_family_id = 0;
  Statistics* statistics = nullptr;
  bool separates = false;  // large values leave the table
  // Returns true for the victims; their values are written anew if `present` has them. Null: none.
  std::function<bool(uint64_t blob_file)> relocates;
  const BlobFiles* present = nullptr;  // borrowed; needed for `relocates` only
  BlobFetcher fetch;                   // used for references only
  const BlobCache* warms = nullptr;    // gets each value that goes to a blob file; may be null
  DroppedRecords* dropped = nullptr;   // is told of the references that are kept; may be null
};

// Return blob files as code that handles tables as well takes them: kind, number and size are set.
[[nodiscard]] NewFile AsDataFile(const BlobFileFacts& blobs);
[[nodiscard]] std::vector<NewFile> AsDataFiles(const std::vector<BlobFileFacts>& files);

// Thread safety: none; used by the thread that fills tables. The destructor deletes the open file,
// and the finished ones unless they were taken.
class BlobOutput {
 public:
  explicit BlobOutput(BlobOutputOptions options);
  ~BlobOutput();
  BlobOutput(const BlobOutput&) = delete;
  BlobOutput& operator=(const BlobOutput&) = delete;

  // Takes a surviving entry, whose internal key is *key, and sets *key and *value to what the table
  // is to hold. Bytes that the call has made live until the next one. Errors: those of `fetch`, and
  // of writing a blob file; *key and *value are undefined then.
  Status Take(Slice* key, Slice* value);
  // Sets file->blob_shares and file->oldest_blob_file_number to what the entries taken since the
  // last call refer to. Requires that these are the entries of the table that `file` describes.
  void DescribeTable(NewFile* file);
  // Ends the open files and makes them durable. Take must not be called any more.
  Status Finish();

  // Gives the finished files, by ascending number, to the caller; the destructor leaves them then.
  [[nodiscard]] std::vector<BlobFileFacts> TakeFiles();
  // Returns what was taken as a reference and left as it was.
  [[nodiscard]] const BlobTally& kept() const { return kept_; }

 private:
  struct OpenFile;
  enum class Age : uint8_t { kNew, kSurvivor };

  // Handles an entry whose value is a reference: counts it, or writes the value anew.
  Status TakeReference(const Slice& user_key, Slice* key, Slice* value);
  // Reads the value of a victim and treats it like a new one.
  Status Relocate(const Slice& user_key, Slice* key, Slice* value);
  // Writes the value into a blob file, unless its codec refuses it: then the entry does not change.
  Status Separate(Age age, const Slice& user_key, Slice* key, Slice* value);
  // Opens a blob file with the next number.
  Status Open(std::unique_ptr<OpenFile>* opened);
  // Ends a file, if it is open, and makes it durable.
  Status Finish(std::unique_ptr<OpenFile>* open);
  // Replaces the type of the entry, in a copy of its key.
  void SetType(Slice* key, ValueType type);
  // Deletes a file of a failed job. Best effort.
  void Delete(const std::string& name) const;
  // True if the value leaves the table (min_blob_size).
  [[nodiscard]] bool IsLarge(const Slice& value) const {
    return options_.separates && !value.empty() && value.size() >= options_.options->min_blob_size;
  }

  const BlobOutputOptions options_;
  // The files that values are appended to, by age; null: none.
  std::array<std::unique_ptr<OpenFile>, 2> open_;
  std::vector<BlobFileFacts> finished_;
  BlobTally kept_;
  // References of the table that is being filled.
  BlobTally of_table_;
  // Hold what the last Take has made: a key with another type, an encoded reference, a value that
  // was read.
  std::string key_;
  std::string reference_;
  PinnableSlice fetched_;
};

}  // namespace varve
