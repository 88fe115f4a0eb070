// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of one point read while it walks from the newest source to the oldest.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "varve/cleanable.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "util/coding/fixed.h"
#include "util/key/internal_key.h"
#include "util/key/merge_operands.h"

namespace varve {

class FragmentedTombstones;
class MergeCaller;

// What a read with a timestamp sees: versions that are not newer.
struct ReadTimestamp {
  const InternalKeyComparator* icmp = nullptr;  // null: the column family has no timestamps
  Slice timestamp;                              // of the comparator's size
};

// Carries a key through memtables and tables and takes what they find.
//
// A source first reports the newest range tombstone that covers the key (CoverWith), then offers
// its entries of the key, newest first (Offer), until Offer says that the search is over.
//
// With timestamps, entries of a key come in the order of their timestamps within a source, the
// newest first, and what a tombstone covers is as if it were not there. Between sources the order
// may be another: out_of_order() tells.
//
// Merge operands are collected; the search goes on below them. Once it is over, or there is no
// source left, operands() says whether there are any: then the answer is what they make of the base
// below them (db/read/merge_read.h), and *value is as it was.
//
// Thread safety: none. Lifetime: *value, the merger, the timestamp and its order outlive the
// lookup.
class PointLookup {
 public:
  enum class State : uint8_t {
    kSearching,  // nothing found so far
    kFound,      // *value holds the answer
    kDeleted,    // the newest visible entry is a deletion, or a range tombstone covers it
    kFailed,     // status() says why
    kMerging,    // operands() has all that is to be merged
  };

  // value may be null when only existence matters. merger: for what the operator says to operands
  // on the way; null: there is none, and operands end the search as InvalidArgument.
  PointLookup(const Slice& key, SequenceNumber snapshot, PinnableSlice* value,
              const MergeCaller* merger = nullptr, const ReadTimestamp& as_of = {})
      : snapshot_(snapshot),
        value_(value),
        result_(value),
        size_(key.size() + as_of.timestamp.size() + kInternalKeyTrailerBytes),
        key_bytes_(key.size()),
        icmp_(as_of.icmp),
        as_of_(as_of.timestamp),
        merger_(merger) {
    // After the trailer there is room for another timestamp.
    const size_t bytes = size_ + as_of.timestamp.size();
    buffer_ = bytes <= kInlineBytes ? inline_ : new char[bytes];
    memcpy(buffer_, key.data(), key.size());
    if (icmp_ != nullptr) [[unlikely]] {
      memcpy(buffer_ + key_bytes_, as_of.timestamp.data(), as_of.timestamp.size());
    }
    EncodeFixed64(buffer_ + size_ - kInternalKeyTrailerBytes,
                  PackSequenceAndType(snapshot, kValueTypeForSeek));
  }
  PointLookup(const PointLookup&) = delete;
  PointLookup& operator=(const PointLookup&) = delete;
  ~PointLookup() {
    const bool long_key = buffer_ != inline_;
    const bool merging = operands_ != nullptr;
    if (static_cast<int>(long_key) | static_cast<int>(merging)) [[unlikely]]
      Free();
  }

  // Without the timestamp.
  Slice key() const { return Slice(buffer_, key_bytes_); }
  // Key, timestamp of the read, and the trailer of (snapshot, seek type): where a search starts.
  Slice internal_key() const { return Slice(buffer_, size_); }
  SequenceNumber snapshot() const { return snapshot_; }
  // Whether the read sees an entry of the key. `user_key` is the entry's, with its timestamp, which
  // the lookup remembers if it sees it.
  bool Sees(const Slice& user_key, uint64_t trailer) {
    if (UnpackSequence(trailer) > snapshot_) return false;
    return icmp_ == nullptr || SeesTimestampOf(user_key, trailer);
  }
  // For as long as the lookup is in a table whose keys have no timestamps, which makes all of them
  // the oldest: internal_key() has none, either. Nothing to do for a read without timestamps.
  void EnterKeysWithoutTimestamp();
  void LeaveKeysWithoutTimestamp();
  // Empty without timestamps.
  [[nodiscard]] const Slice& as_of() const { return as_of_; }
  [[nodiscard]] bool has_timestamp() const { return icmp_ != nullptr; }
  // Of the last entry that was not covered; empty: there was none.
  [[nodiscard]] Slice last_timestamp() const {
    return has_last_ ? Slice(LastTimestamp(), as_of_.size()) : Slice();
  }
  // Whether the answer may be another by the order of timestamps: a source had, or may have, a
  // version whose timestamp is newer than that of one in a newer source.
  [[nodiscard]] bool out_of_order() const { return out_of_order_; }
  void SetOutOfOrder() { out_of_order_ = true; }
  // Forgets all that was found: the search begins again.
  void Restart();
  // Where to put the timestamp of the entry that decides; null: not asked for.
  void ReportTimestamp(std::string* timestamp) { timestamp_ = timestamp; }
  State state() const { return state_; }
  const Status& status() const { return status_; }
  // KeyHash64 of the key, computed once on first use (filters of every table share it).
  uint64_t hash() const {
    if (!hashed_) ComputeHash();
    return hash_;
  }

  // ReadOptions::ignore_range_deletions: whether sources' lists of tombstones report none from now
  // on. The one place where point reads look at that option.
  void IgnoreTombstones(bool ignore) { ignores_tombstones_ = ignore; }

  // Reports a visible range tombstone over the key, of the current or an older source.
  void CoverWith(SequenceNumber seq) {
    if (seq > covering_seq_) covering_seq_ = seq;
  }
  // The same of the newest visible one of a source; nothing if tombstones are ignored.
  void CoverWith(const FragmentedTombstones& tombstones);
  SequenceNumber covering_seq() const { return covering_seq_; }

  // Takes the next older visible entry of the key. `pin` keeps value's bytes alive if a share is
  // taken. It is null for memtables, whose bytes live as long as the super-version. Small values
  // are copied, and those of memtables. Returns true when the search is over.
  bool Offer(uint64_t trailer, const Slice& value, ValuePin* pin);
  // The same for one of the many operands of a memtable that nobody is asked about. False: it is
  // something else, and is to be offered.
  bool TakeOperand(uint64_t trailer, const Slice& value) {
    if (!TakesAllOperands()) return false;
    if (UnpackType(trailer) != kTypeMerge || UnpackSequence(trailer) < covering_seq_) return false;
    found_seq_ = UnpackSequence(trailer);
    operands_->Add(value, nullptr);
    return true;
  }
  // The same for several that follow each other. False: not all of them can be taken in this way.
  bool TakeOperands(uint64_t oldest_trailer, std::span<const Slice> values) {
    if (UnpackSequence(oldest_trailer) < covering_seq_) return false;
    found_seq_ = UnpackSequence(oldest_trailer);
    operands_->AddFromMemTable(values);
    return true;
  }
  // Whether the caller wants every operand there is, whatever it is.
  bool TakesAllOperands() const { return operands_ != nullptr && operands_->WantsAll(); }

  // Null unless there are operands. With kDeleted and kSearching, too, there may be some: then
  // nothing is below them.
  MergeOperands* operands() const { return operands_; }
  // Hands them over to the caller.
  MergeOperands* TakeOperands() { return std::exchange(operands_, nullptr); }
  // Before the search: collects all operands and the base into `operands`, which the lookup owns
  // from now on, instead of a value. `whole_through`: no insertion of an entry up to this sequence
  // number is under way; beyond it, a read of unordered writes may miss some that come later.
  void CollectInto(MergeOperands* operands, SequenceNumber whole_through) {
    operands_ = operands;
    value_ = nullptr;
    whole_through_ = whole_through;
  }
  // Whether what the search finds around an entry with this trailer is all that will ever be there.
  bool IsWholeAt(uint64_t trailer) const { return UnpackSequence(trailer) <= whole_through_; }

  // Ends the search as deleted when a tombstone covers everything that older sources may hold.
  // Returns true when the search is over.
  bool EndIfCovered() {
    if (covering_seq_ == 0) return false;
    state_ = State::kDeleted;
    return true;
  }

  // Operands call the user's operator, which must not happen within an epoch: there, offering one
  // ends the search, and says so here, once. The block is to be searched again under a reference.
  bool TakeDeferred() { return std::exchange(deferred_, false); }

  void Fail(Status s) {
    status_ = std::move(s);
    state_ = State::kFailed;
  }

  // Sequence number of the entry that ended the search (0 if none).
  SequenceNumber found_seq() const { return found_seq_; }

 private:
  void ComputeHash() const;
  bool SeesTimestampOf(const Slice& user_key, uint64_t trailer);
  void Report(const Slice& timestamp);
  void NoteLast(const Slice& timestamp);
  [[nodiscard]] char* LastTimestamp() const {
    return buffer_ + key_bytes_ + as_of_.size() + kInternalKeyTrailerBytes;
  }
  bool OfferOperand(const Slice& value, ValuePin* pin);
  void Free();

  static constexpr size_t kInlineBytes = 112;

  State state_ = State::kSearching;
  mutable bool hashed_ = false;
  bool deferred_ = false;
  bool has_last_ = false;
  bool ignores_tombstones_ = false;
  bool out_of_order_ = false;
  mutable uint64_t hash_ = 0;
  SequenceNumber snapshot_;
  SequenceNumber covering_seq_ = 0;
  SequenceNumber found_seq_ = 0;
  SequenceNumber whole_through_ = 0;
  PinnableSlice* value_;  // null also while there are operands
  PinnableSlice* const result_;
  Status status_;
  char* buffer_;  // key, timestamp, the 8-byte trailer, and a timestamp; inline_ or heap
  size_t size_;
  size_t key_bytes_;
  const InternalKeyComparator* const icmp_;  // null without timestamps
  Slice as_of_;
  bool in_keys_without_timestamp_ = false;
  std::string* timestamp_ = nullptr;
  MergeOperands* operands_ = nullptr;  // owned
  const MergeCaller* const merger_;
  char inline_[kInlineBytes];
};

}  // namespace varve
