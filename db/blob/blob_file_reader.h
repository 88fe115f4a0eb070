// SPDX-License-Identifier: Apache-2.0
#pragma once

// BlobFileReader reads values of one blob file, and checks everything that it reads.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "varve/file_system.h"
#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/blob/blob_file_format.h"
#include "db/blob/blob_reference.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

class FilePrefetcher;
class Statistics;
class SystemClock;

// Options of opening a blob file and of its reads.
struct BlobFileOpenOptions {
  std::shared_ptr<FileSystem> fs;
  FileOptions file_options;
  uint32_t column_family_id = 0;  // family that must have written the file
  // The three may be null. They are not owned, and must outlive the reader.
  Statistics* statistics = nullptr;
  SystemClock* clock = nullptr;
  RateLimiter* rate_limiter = nullptr;
};

// Bounds what may be missing in a blob file: its garbage, which are the records that no table
// refers to, as a version counts it. Garbage may have been given back to the file system as holes,
// whose bytes read as zeros (punch_holes_in_blob_files).
struct HoleBudget {
  uint64_t count = 0;  // number of records
  uint64_t bytes = 0;  // bytes of these records
};

// One value to read.
struct BlobRead {
  Slice user_key;  // with its timestamp
  BlobReference reference;
  PinnableSlice* value = nullptr;  // result; must not be pinned before
  Status status;                   // result
  uint64_t bytes_read = 0;         // result: bytes of the file that were read for this value
};

// Files and references are not trusted: wrong ones give Corruption with file and offset. Nothing
// outside of the file's records is read, and no more memory is allocated than the file's bytes, or
// a value that they can decompress to, need.
//
// Thread safety: all methods may be called from any thread.
class BlobFileReader {
 public:
  // Opens the file at `path`, and checks header and footer. `expected_size` is the size in the
  // MANIFEST, or kAnySize if it is not known.
  //
  // Errors: Corruption if the file has another size, or is not a finished blob file of that family;
  // NotSupported for a compression that is not built in; those of the file system.
  static constexpr uint64_t kAnySize = 0;
  static Status Open(const BlobFileOpenOptions& options, uint64_t number, const std::string& path,
                     uint64_t expected_size, std::unique_ptr<BlobFileReader>* reader);

  // Reads one value, and decompresses it. Unless options.verify_checksums is false, checks the
  // record's header, key and checksum. *value, which must not be pinned before, owns its bytes,
  // and does not depend on the reader. `prefetcher` belongs to one scan over this file, and may be
  // null, as may `bytes_read`.
  //
  // Corruption: the reference is not valid for this file, or the record is damaged. Incomplete:
  // options.read_tier is kBlockCacheTier. TimedOut: options.deadline has passed. MemoryLimit: there
  // is no memory for the value. Otherwise an error of the file system.
  Status Get(const ReadOptions& options, const Slice& user_key, const BlobReference& reference,
             FilePrefetcher* prefetcher, PinnableSlice* value, uint64_t* bytes_read) const;

  // Reads many values, given in any order; each gets its own status. Neighbouring records are read
  // together.
  void MultiGet(const ReadOptions& options, std::span<BlobRead*> reads) const;

  // The values wanted from one file among several.
  struct FileBatch {
    const BlobFileReader* file = nullptr;
    std::vector<BlobRead*> reads;  // in any order
  };
  // Does the work of MultiGet for each file, with concurrent reads of all files where the system
  // supports that. Requires that each file appears once.
  static void MultiGetFiles(const ReadOptions& options, std::span<FileBatch> batches);

  [[nodiscard]] uint64_t number() const { return number_; }
  [[nodiscard]] uint64_t file_size() const { return file_size_; }
  [[nodiscard]] uint64_t blob_count() const { return blob_count_; }
  [[nodiscard]] CompressionType compression() const { return compression_; }
  [[nodiscard]] const std::string& file_name() const { return file_->file_name(); }

  // Reads every record, and checks that records fill the file, their checksums, and their number in
  // the footer. Reads at least options.readahead_size bytes at once. `pace`, which may be empty, is
  // called with the size of each record after it, and with what a search for a record reads; an
  // error that it returns ends the call.
  //
  // Up to `most` may be missing, as it is where holes were punched into garbage
  // (punch_holes_in_blob_files): then at least one block of zeros, or zeros at the beginning of a
  // record, stand for it, and the check goes on behind them. It may be punched meanwhile.
  using PaceReads = std::function<Status(uint64_t bytes)>;
  Status VerifyChecksums(const ReadOptions& options, const PaceReads& pace,
                         const HoleBudget& most = {}) const;

  // Returns the open file. Afterwards only the destructor may be called.
  [[nodiscard]] std::unique_ptr<RandomAccessFileReader> TakeFile() { return std::move(file_); }

 private:
  // The bytes of the file that are read for one value.
  struct Extent {
    uint64_t offset = 0;
    size_t bytes = 0;
    size_t before_value = 0;  // header and key; 0: the value alone is read
  };
  // Neighbouring extents that are read together.
  struct Region {
    uint64_t offset = 0;
    size_t bytes = 0;
    size_t first = 0;  // index of its first read in the sorted reads
    size_t count = 0;
    std::unique_ptr<char[]> buffer;
  };
  struct BatchPart;

  BlobFileReader(std::unique_ptr<RandomAccessFileReader> file, uint64_t number, uint64_t file_size,
                 const BlobFileOpenOptions& options);
  Status ReadFrame(uint32_t column_family_id);
  Status CheckHeader(uint32_t column_family_id, const BlobFileHeader& header) const;
  // Sets *extent to the bytes to read. Corruption: the reference is not valid for this file.
  Status Locate(const ReadOptions& options, const Slice& user_key, const BlobReference& reference,
                Extent* extent) const;
  // Checks the bytes of an extent and sets *stored to the value in them.
  Status CheckRecord(const Extent& extent, const Slice& bytes, const Slice& user_key,
                     Slice* stored) const;
  // Checks the bytes, and sets *value to the value in them. If `buffer` is not null, it owns the
  // bytes, and is pinned in *value; otherwise they are copied.
  Status Deliver(const Extent& extent, const Slice& bytes, const Slice& user_key,
                 std::unique_ptr<char[]> buffer, PinnableSlice* value) const;
  Status Decompress(const Slice& stored, uint64_t offset, PinnableSlice* value) const;
  // Reads and checks the header of the record at `offset`, and that the record fits into the file.
  Status VerifyHeader(uint64_t offset, FilePrefetcher* prefetcher, const IOOptions& io,
                      BlobRecordHeader* header) const;
  Status VerifyRecord(uint64_t offset, FilePrefetcher* prefetcher, const IOOptions& io,
                      uint64_t* record_bytes) const;
  // A hole that a check has passed over.
  struct Hole {
    uint64_t next = 0;     // offset of the first record behind it, or the end of all records
    uint64_t window = 0;   // end of the block behind it, in which `next` usually is
    uint64_t records = 0;  // sound ones before it
    uint64_t bytes = 0;    // from the record that it begins in to `next`
  };
  // One search for a hole or for the next record; everything that it needs.
  struct Search;
  // Passes over the record at `offset`, which failed its check, if it belongs to a hole. `*hole` is
  // the last one before, and *count the sound records until now. Sets both anew; leaves them, so
  // that hole->next is not behind `offset`, if the record is damaged. Holes may grow by `most`
  // bytes.
  Status PassHole(uint64_t offset, uint64_t most, const IOOptions& io, const PaceReads& pace,
                  uint64_t* count, Hole* hole) const;
  // Looks for a hole that takes bytes of the record at `offset`, which failed its check, and for
  // the next record, at most `most` bytes behind `offset`. Sets *hole except for its `records`;
  // hole->bytes is 0 if there is none.
  Status SkipHole(uint64_t offset, uint64_t most, Search* search, Hole* hole) const;
  // Sets *found to whether a sound header begins at `at`, or the records end there.
  Status FindHeader(uint64_t at, Search* search, bool* found) const;
  // Looks for a record that begins behind `offset` and not behind hole.window, since the one at
  // `offset`, which failed its check, may lie in a value. Sets *next to it, or to the end of all
  // records; to `offset` if there is none.
  Status SearchOn(uint64_t offset, const Hole& hole, Search* search, uint64_t* next) const;
  // Sets *end to the end of a block of zeros that takes bytes of the record at `offset`; to
  // `offset` if there is none.
  Status FindZeros(uint64_t offset, Search* search, uint64_t* end) const;
  // Sets *zero to whether the `n` bytes at `at` are zeros; there are at most kHoleBlock.
  Status AllZero(uint64_t at, uint64_t n, Search* search, bool* zero) const;
  [[nodiscard]] Status Corrupt(const std::string& what, uint64_t offset) const;
  void Count(uint64_t bytes) const;
  // Collect plans the reads of one file's batch. Complete, after these were made, sets the values.
  void Collect(const ReadOptions& options, FileBatch* batch, BatchPart* part) const;
  void Complete(const ReadOptions& options, BatchPart* part) const;

  std::unique_ptr<RandomAccessFileReader> file_;  // null after TakeFile
  const uint64_t number_;
  const uint64_t file_size_;
  Statistics* const statistics_;
  SystemClock* const clock_;
  CompressionType compression_ = kNoCompression;
  uint64_t blob_count_ = 0;
};

}  // namespace varve
