// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the values of a walk that lie in blob files, at once or when they are asked for, and those
// of the entries that follow in one go.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/version/blob_source.h"
#include "db/version/version.h"
#include "util/iter/internal_iterator.h"

namespace varve {

// Holds the value of the entry that the walk shows, or that of the base below merge operands. Once
// some values were read in a row, it also holds the values of entries that the walk has already
// taken from its source and not reached yet: their reads are sorted by file and offset, joined, and
// in flight together where the file system can. A walk that reads no value reads none ahead.
//
// Thread safety: none. Lifetime: options, source and version must outlive it.
class WalkBlobs {
 public:
  WalkBlobs(const ReadOptions& options, BlobSource* source, const Version& version)
      : options_(options), source_(*source), version_(version) {}

  // True if values are read only when they are asked for (allow_unprepared_value).
  [[nodiscard]] bool lazy() const { return options_.allow_unprepared_value; }
  // Copies the reference `encoded` of an entry, and the entry's key: `user_key`, without its
  // timestamp, and `timestamp`.
  void Keep(const Slice& user_key, const Slice& timestamp, const Slice& encoded) {
    active_ = true;
    read_ = false;
    user_key_.assign(user_key.data(), user_key.size());
    user_key_.append(timestamp.data(), timestamp.size());
    encoded_.assign(encoded.data(), encoded.size());
  }
  // True from Keep until Forget.
  [[nodiscard]] bool active() const { return active_; }
  // Sets *value to the value that the reference leads to, which is read unless it was already; it
  // lives until Forget, or Read after another Keep. Requires active(). `following` has the entries
  // to which the walk goes next, as far as they are known and within its bounds; those above the
  // sequence number `visible` are not read ahead. Errors: those of BlobSource::Get.
  Status Read(std::span<const BatchEntry> following, SequenceNumber visible, Slice* value);
  // True if the next Read of a value that is not there would look at entries that follow.
  [[nodiscard]] bool LooksAhead() const {
    return reads_in_a_row_ >= kReadsBeforeAhead && options_.read_tier != kBlockCacheTier;
  }
  // Forgets what was read ahead, as the walk moves elsewhere.
  void Restart() {
    ahead_.clear();
    reads_in_a_row_ = 0;
    window_ = kFirstWindow;
  }
  // Releases the value.
  void Forget() {
    active_ = false;
    value_.Reset();
  }

 private:
  // Values read one after the other before the next ones are read ahead of the walk.
  static constexpr uint32_t kReadsBeforeAhead = 2;
  // Entries that are read ahead at first, and at most: the number doubles from one time to the
  // next, so that short scans read little for nothing.
  static constexpr size_t kFirstWindow = 4;
  static constexpr size_t kLastWindow = 64;
  // Bytes in blob files that may be read ahead.
  static constexpr uint64_t kAheadBytes = uint64_t{4} << 20;

  // A value that was read before the walk has reached its entry.
  struct Ahead {
    std::string user_key;  // With its timestamp.
    std::string encoded;
    PinnableSlice value;
    Status status;
  };

  // Takes the value, and the status of its read, from what was read ahead. Returns false if it is
  // not there.
  bool TakeAhead(Status* status);
  // Reads the values of the entries that follow, as many as window_ allows.
  void ReadAhead(std::span<const BatchEntry> following, SequenceNumber visible);

  const ReadOptions& options_;
  BlobSource& source_;
  const Version& version_;
  bool active_ = false;
  bool read_ = false;
  std::string user_key_;  // With its timestamp.
  // The reference of the entry, and its value once it is read.
  std::string encoded_;
  PinnableSlice value_;
  std::deque<Ahead> ahead_;  // in the order of the walk
  uint32_t reads_in_a_row_ = 0;
  // Number of entries to look at the next time.
  size_t window_ = kFirstWindow;
};

}  // namespace varve
