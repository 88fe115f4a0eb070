// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which entries a reader sees, and what the newest of them says of its key.
//
//      key k, reader at 70:     k@85 put      too new
//                               k@66 put      visible: the newest that is, so it decides
//                               k@40 delete   hidden
//      with [a, m) deleted @68:               k is covered, as 68 > 66
//
// Both the newest version and the newest range tombstone over it count, whichever is newer. An
// older version never decides, except below a merge operand.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/base/assert.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/range_tombstone.h"

namespace varve {

// A reader sees the entries up to its sequence number. With timestamps it sees only those of them
// that are not after its timestamp, and an entry that a tombstone covers is not visible: the next
// version, of an older timestamp, may have been written later than the tombstone. A `key` is always
// a user key without timestamp, and a `trailer` that of an entry's internal key: its sequence
// number and type. A BatchEntry is an entry as a source returns it, many at once.
//
// Thread safety: none. Lifetime: comparator, tombstones and timestamp must outlive it. Tombstones
// may be added at any time; answers need all that may cover the key that is asked for.
class EntryVisibility {
 public:
  // Says what the newest visible entry makes of its key.
  enum class Verdict : uint8_t {
    kLive,
    kDeleted,
    kCovered,    // deleted by a range tombstone
    kReference,  // live, and the entry refers to its value in a blob file
    kEntity,     // live, and the entry's value is an entity
    kOperand,    // a merge operand: the entries below it count, too
    kRefused,    // of a type that cannot be read, see RefusalOf
  };
  // Position of a seek's target among the versions of a key.
  enum class Place : uint8_t {
    kFirst,    // before all
    kVisible,  // at the newest that may be visible
    kLast,     // after all
  };

  // `timestamp` is that of the reader; unused without timestamps.
  void Init(const InternalKeyComparator* icmp, TombstoneSet* tombstones, const Slice* timestamp) {
    icmp_ = icmp;
    tombstones_ = tombstones;
    as_of_ = icmp->timestamp_size() != 0 ? *timestamp : Slice();
    VARVE_ASSERT(as_of_.size() == icmp->timestamp_size());
  }
  // Sets the reader's sequence number, for the tombstones as well.
  void SetSequence(SequenceNumber sequence) {
    sequence_ = sequence;
    tombstones_->SetReader(sequence);
  }

  // Returns the newest sequence number that the reader sees.
  [[nodiscard]] SequenceNumber sequence() const { return sequence_; }
  [[nodiscard]] bool has_timestamps() const { return !as_of_.empty(); }
  [[nodiscard]] bool has_tombstones() const { return !tombstones_->empty(); }
  [[nodiscard]] TombstoneSet* tombstones() const { return tombstones_; }

  // True if the reader may see the entry, as far as its number and timestamp go.
  [[nodiscard]] bool IsVisible(const BatchEntry& entry) const {
    const SequenceNumber sequence = ExtractSequence(entry.key());
    return sequence <= sequence_ && (!has_timestamps() || IsVisibleInTime(entry, sequence));
  }
  // True if the entry is a value that the reader sees. Requires that there are no timestamps, and
  // that no tombstone covers the entry.
  [[nodiscard]] bool IsVisibleValue(const BatchEntry& entry) const {
    const uint64_t trailer = ExtractTrailer(entry.key());
    return UnpackType(trailer) == kTypeValue && UnpackSequence(trailer) <= sequence_;
  }
  // True if the entry's timestamp is after the reader's. Requires timestamps.
  [[nodiscard]] bool IsOfLaterTime(const BatchEntry& entry) const {
    return icmp_->CompareTimestamp(TimestampOf(entry), as_of_) > 0;
  }
  // Returns the entry's timestamp; empty without timestamps.
  [[nodiscard]] Slice TimestampOf(const BatchEntry& entry) const {
    return icmp_->TimestampOf(ExtractUserKey(entry.key()));
  }
  // True if a tombstone newer than the entry with that trailer covers the key.
  [[nodiscard]] bool IsCovered(const Slice& key, uint64_t trailer) const {
    return tombstones_->MaxCoveringSeq(key, sequence_) > UnpackSequence(trailer);
  }

  // Judges the newest visible entry of a key.
  [[nodiscard]] Verdict Judge(const Slice& key, uint64_t trailer) const {
    if (IsCovered(key, trailer)) [[unlikely]]
      return Verdict::kCovered;
    switch (UnpackType(trailer)) {
      [[likely]] case kTypeValue : return Verdict::kLive;
      case kTypeDeletion:
      case kTypeSingleDeletion:
      case kTypeDeletionWithTimestamp:
        return Verdict::kDeleted;
      case kTypeMerge:
        return Verdict::kOperand;
      case kTypeBlobIndex:
        return Verdict::kReference;
      case kTypeWideColumnEntity:
        return Verdict::kEntity;
      default:
        return Verdict::kRefused;
    }
  }
  // Returns the error of an iterator that meets an entry which Judge refuses.
  [[nodiscard]] static Status RefusalOf(uint64_t trailer);

  // Sets *target to the internal key by which a seek finds that place among the key's versions.
  void SetTarget(const Slice& key, Place place, std::string* target) const;

 private:
  // Does the part of IsVisible that concerns timestamps and tombstones over the entry.
  [[nodiscard]] bool IsVisibleInTime(const BatchEntry& entry, SequenceNumber sequence) const;

  // Set by Init; both are borrowed.
  const InternalKeyComparator* icmp_ = nullptr;
  TombstoneSet* tombstones_ = nullptr;
  SequenceNumber sequence_ = 0;
  Slice as_of_;  // empty without timestamps
};

}  // namespace varve
