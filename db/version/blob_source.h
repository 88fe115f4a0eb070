// SPDX-License-Identifier: Apache-2.0
#pragma once

// Resolves references to blob files: finds the file in a version, opens it once, asks the blob
// cache, and reads.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "varve/cache.h"
#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/blob/blob_cache.h"
#include "db/blob/blob_file_reader.h"
#include "db/version/version.h"
#include "util/sync/io_mutex.h"

namespace varve {

// Options that are the same for every blob file of the family.
struct BlobSourceOptions {
  BlobFileOpenOptions open;
  TablePathsRef paths;  // directories of the files
  // The cache of open table readers, as max_open_files counts both kinds; null: unlimited.
  std::shared_ptr<Cache> limited;
  std::shared_ptr<Cache> cache;             // ColumnFamilyOptions::blob_cache
  std::shared_ptr<BlobCacheCharge> charge;  // of that cache; null: none
  bool shows_keys = false;                  // messages of errors may show keys
};

// Returns the error of reading the value of an entry, with the size of the user key, or with the
// key itself if `shows_key`.
Status BlobErrorOfKey(const Status& s, const Slice& user_key, bool shows_key);

// Keeps a reader open while it exists.
using BlobReaderPin = std::shared_ptr<const BlobFileReader>;

// A value to read, of an entry of type kTypeBlobIndex.
struct BlobRequest {
  Slice user_key;  // with its timestamp
  Slice encoded;   // the entry's value: the reference
  PinnableSlice* value = nullptr;
  Status status;  // out
};

// The blob files of one family.
//
// Thread safety: all methods may be called from any thread. Errors: Corruption, naming file, offset
// and key, for a reference that cannot be followed: to a file that the version does not have, that
// is missing, cut or changed. Incomplete if the value is not in the cache and kBlockCacheTier
// forbids the read.
class BlobSource {
 public:
  explicit BlobSource(BlobSourceOptions options);

  // Resets *value and gives it the value's own bytes, from the cache if it has them; else reads
  // them, and keeps them in the cache if options.fill_cache allows it. `user_key` is the entry's,
  // with its timestamp, and `encoded` the reference, which may lie in *value.
  Status Get(const ReadOptions& options, const Version& version, const Slice& user_key,
             const Slice& encoded, PinnableSlice* value);
  // Does the same for several values, and reads those of each file in the order of their offsets.
  // Requires user_key, encoded and value of each request, and sets *value and status.
  void MultiGet(const ReadOptions& options, const Version& version,
                std::span<BlobRequest> requests);
  // Sets *pin to the reader of the file, which the version that has the file must outlive.
  Status Pin(const ReadOptions& options, const BlobFile& file, BlobReaderPin* pin);
  // Sets *reader to the reader of the file. The reader then belongs to the BlobFile, and lives as
  // long as any version has the file, even if max_open_files limits open files.
  Status FindReader(const ReadOptions& options, const BlobFile& file,
                    const BlobFileReader** reader);
  // Returns the family's cache of values; null: there is none.
  [[nodiscard]] const BlobCache* cache() const { return cache_.get(); }

 private:
  // Finds the reader of a reference.
  Status Locate(const ReadOptions& options, const Version& version, const BlobReference& reference,
                BlobReaderPin* pin);
  // Opens the file. Corruption: it is missing.
  Status Open(const BlobFile& file, std::unique_ptr<BlobFileReader>* reader);
  // Does Pin for a reader that counts against max_open_files.
  Status PinLimited(const ReadOptions& options, const BlobFile& file, BlobReaderPin* pin);

  // Returns true, and sets *value, if the cache of values has the value.
  [[nodiscard]] bool FindCached(const Slice& user_key, const BlobReference& reference,
                                PinnableSlice* value) const {
    return cache_ != nullptr && cache_->Find(user_key, reference, value);
  }
  // Keeps a value that was read, if it may be kept.
  void Keep(const ReadOptions& options, const Slice& user_key, const BlobReference& reference,
            PinnableSlice* value) const {
    if (cache_ != nullptr && options.fill_cache) cache_->Keep(user_key, reference, value);
  }

  const BlobSourceOptions options_;
  const std::unique_ptr<const BlobCache> cache_;
  IoMutex opening_;  // held over I/O; has no rank, as those of TableCache
};

}  // namespace varve
