// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides what a compaction does with blob files, and reads the values that its inputs refer to.

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "varve/options.h"

#include "db/blob/blob_file_reader.h"
#include "db/compaction/plan.h"
#include "db/version/table_cache.h"
#include "util/env/file_prefetcher.h"

namespace varve {

// Says what one compaction does with values; a plain value, computed once for each job.
struct BlobPolicy {
  bool separates = false;       // large values of the output go into blob files
  bool has_references = false;  // an input table refers to blob files
  // Values in the blob files of these numbers, ascending, are written anew.
  std::vector<uint64_t> victims;
  // So are values in all blob files with numbers below this one.
  uint64_t relocate_below = 0;
  // True if values in the blob file of this number are written anew.
  [[nodiscard]] bool Relocates(uint64_t blob_file) const {
    return blob_file < relocate_below || std::ranges::binary_search(victims, blob_file);
  }
  [[nodiscard]] bool IsNeeded() const { return separates || has_references; }
};

// Returns the smallest number of a blob file that is too young for garbage collection with this age
// cutoff: the oldest floor(cutoff * n) of n files have smaller ones.
uint64_t BlobCutoff(const BlobFiles& files, double age_cutoff);

// Returns the policy of a compaction. Automatic compactions of the leveled style write the values
// of victims anew (db/version/blob_victims); all others write anew what is old by the age cutoff,
// which is that of the options or of the CompactRange call. `persists_timestamps` is false if the
// tables leave out timestamps: then no values are separated, as blob files store whole keys.
BlobPolicy BlobPolicyOf(const ColumnFamilyOptions& options, const CompactionPlan& plan,
                        bool persists_timestamps);

// Returns the most bytes that the values of a compaction may need in blob files: all that its
// inputs hold if they leave the tables, and what is written anew. Tables with unknown shares may
// refer to all that lives in their oldest blob file and in younger ones.
uint64_t MostBlobBytes(const BlobPolicy& policy, const CompactionPlan& plan);

// Reads values of old entries in the order of keys, which is about that of each blob file.
//
// Thread safety: none. Lifetime: cache and version must outlive it.
class BlobInputs {
 public:
  // `readahead` is in bytes; 0: each value is read alone. Messages show keys if `shows_keys`.
  BlobInputs(TableCache* cache, const Version* version, const ReadOptions& options,
             uint64_t readahead, bool shows_keys)
      : cache_(cache),
        version_(version),
        options_(options),
        readahead_(readahead),
        shows_keys_(shows_keys) {}

  // True for a reference to a file that the version does not have, as a repair leaves it. No later
  // attempt would find the value.
  [[nodiscard]] bool IsLost(const Slice& encoded_reference) const;
  // Reads the value that an entry with this user key, given with its timestamp, refers to into
  // *value. Returns Corruption for a reference that leads nowhere, and the errors of opening and
  // reading the blob file. They name the file, the offset and the key; if the reference itself is
  // ill-formed, the table.
  Status Get(const Slice& user_key, const Slice& encoded_reference, PinnableSlice* value);

  [[nodiscard]] uint64_t blobs_read() const { return blobs_read_; }
  [[nodiscard]] uint64_t bytes_read() const { return bytes_read_; }

 private:
  // Does what Get does, with errors that do not name the key.
  Status Read(const Slice& user_key, const Slice& encoded_reference, PinnableSlice* value);

  TableCache* const cache_;
  const Version* const version_;
  const ReadOptions options_;
  const uint64_t readahead_;
  const bool shows_keys_;
  std::map<uint64_t, FilePrefetcher> prefetchers_;  // by file, with readahead only
  uint64_t blobs_read_ = 0;
  uint64_t bytes_read_ = 0;
};

}  // namespace varve
