// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the state of one point read while it searches from the newest source to the oldest.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "varve/cleanable.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/key/internal_key.h"
#include "util/key/merge_operands.h"

namespace varve {

class FragmentedTombstones;
class MergeCaller;

// The timestamp of a read, which sees only versions that are not newer.
struct ReadTimestamp {
  const InternalKeyComparator* icmp = nullptr;  // Null: the column family has no timestamps.
  Slice timestamp;                              // Has the comparator's size.
};

// Carries a key through memtables and tables and collects what they find.
//
// A source first reports the newest range tombstone that covers the key (CoverWith), then offers
// its entries of the key, newest first (Offer), until Offer says that the search is over.
//
// With timestamps, a source offers entries of a key by descending timestamp, and covered entries
// count as absent. Different sources may overlap in timestamps: out_of_order() tells.
//
// Merge operands are collected, and the search goes on below them. Once it is over, or there is no
// source left, operands() says if there are any: then the result is their merge onto the base below
// them (db/read/merge_read.h), and *value is unchanged.
//
// Thread safety: none. Lifetime: *value, the merger, the timestamp and its comparator outlive the
// lookup.
class PointLookup {
 public:
  enum class State : uint8_t {
    kSearching,  // nothing found so far, or only operands
    kFound,      // *value holds the result
    kDeleted,    // the newest visible entry is a deletion, or a range tombstone covers it
    kFailed,     // status() has the error
    kMerging,    // operands() has all that is to be merged
    kReference,  // *value holds the reference to a blob file, which the caller resolves
  };

  // `key` is a user key without its timestamp, and is copied. `value` may be null if only existence
  // matters. `merger` decides if the operands found so far are enough; if it is null, an operand
  // ends the search with InvalidArgument.
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
    // There is room for another timestamp after the trailer.
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

  // Returns the key without the timestamp.
  Slice key() const { return Slice(buffer_, key_bytes_); }
  // Returns the target of a search: the key, the timestamp of the read, and the trailer of
  // (snapshot, seek type).
  Slice internal_key() const { return Slice(buffer_, size_); }
  // Returns the newest sequence number that the read sees.
  SequenceNumber snapshot() const { return snapshot_; }
  // True if the read sees an entry of the key. `user_key` is that of the entry, with its timestamp.
  // The lookup remembers the timestamp of the last entry that it sees and that no tombstone covers.
  bool Sees(const Slice& user_key, uint64_t trailer) {
    if (UnpackSequence(trailer) > snapshot_) return false;
    return icmp_ == nullptr || SeesTimestampOf(user_key, trailer);
  }
  // Enclose the search of a table whose keys have no timestamps, which makes all of them the
  // oldest: internal_key() has none meanwhile. They do nothing for a read without timestamps.
  void EnterKeysWithoutTimestamp();
  void LeaveKeysWithoutTimestamp();
  // Returns the timestamp of the read; empty without timestamps.
  [[nodiscard]] const Slice& as_of() const { return as_of_; }
  [[nodiscard]] bool has_timestamp() const { return icmp_ != nullptr; }
  // Returns the timestamp of the last entry that was not covered; empty if there was none.
  [[nodiscard]] Slice last_timestamp() const {
    return has_last_ ? Slice(LastTimestamp(), as_of_.size()) : Slice();
  }
  // True if the order of timestamps may change the result: a source had, or may have, a version
  // with a newer timestamp than one in a newer source.
  [[nodiscard]] bool out_of_order() const { return out_of_order_; }
  void SetOutOfOrder() { out_of_order_ = true; }
  // Discards all that was found, so that the search can begin again.
  void Restart();
  // Sets where to store the timestamp of the entry that decides; null if it is not wanted.
  void ReportTimestamp(std::string* timestamp) { timestamp_ = timestamp; }
  State state() const { return state_; }
  const Status& status() const { return status_; }
  // Returns KeyHash64 of the key, computed once on first use (filters of all tables share it).
  uint64_t hash() const {
    if (!hashed_) ComputeHash();
    return hash_;
  }

  // Applies ReadOptions::ignore_range_deletions: if true, the tombstone lists of sources report
  // nothing from now on. Point reads look at that option only here.
  void IgnoreTombstones(bool ignore) { ignores_tombstones_ = ignore; }

  // Reports a visible range tombstone over the key, of the current or an older source.
  void CoverWith(SequenceNumber seq) {
    if (seq > covering_seq_) covering_seq_ = seq;
  }
  // Reports the newest visible tombstone of a source; does nothing if tombstones are ignored.
  void CoverWith(const FragmentedTombstones& tombstones);
  SequenceNumber covering_seq() const { return covering_seq_; }

  // Takes the next older visible entry of the key. `pin` can keep the value's bytes alive; it is
  // null for memtables, whose bytes live as long as the super-version. Small values and those of
  // memtables are copied. Returns true if the search of this source is over (see TakeDeferred).
  bool Offer(uint64_t trailer, const Slice& value, ValuePin* pin);
  // Like Offer for one of many operands of a memtable, without a call of the operator or the user.
  // Returns false if it is another entry, which must be offered.
  bool TakeOperand(uint64_t trailer, const Slice& value) {
    if (!TakesAllOperands()) return false;
    if (UnpackType(trailer) != kTypeMerge || UnpackSequence(trailer) < covering_seq_) return false;
    found_seq_ = UnpackSequence(trailer);
    operands_->Add(value, nullptr);
    return true;
  }
  // Like TakeOperand for several consecutive operands, of which the oldest has that trailer.
  // Returns false, and takes none, if a tombstone covers some of them. Requires TakesAllOperands().
  bool TakeOperands(uint64_t oldest_trailer, std::span<const Slice> values) {
    if (UnpackSequence(oldest_trailer) < covering_seq_) return false;
    found_seq_ = UnpackSequence(oldest_trailer);
    operands_->AddFromMemTable(values);
    return true;
  }
  // True if the caller wants every operand unconditionally.
  bool TakesAllOperands() const { return operands_ != nullptr && operands_->WantsAll(); }

  // Asks for the whole entity, if the key has one, instead of its default column. Requires that the
  // search has not begun.
  void WantEntity() { wants_entity_ = true; }
  [[nodiscard]] bool wants_entity() const { return wants_entity_; }
  // Says if *value is an entity in its stored form; plain unless the whole entity was asked for.
  [[nodiscard]] ValueForm form() const {
    return is_entity_ ? ValueForm::kEntity : ValueForm::kPlain;
  }
  // Sets form(). Requires that the caller has set *value to the result of a merge, which has that
  // form.
  void SetForm(ValueForm form) { is_entity_ = form == ValueForm::kEntity; }

  // True if the base below the operands is a reference to a blob file.
  [[nodiscard]] bool base_is_reference() const { return base_is_reference_; }

  // Returns null unless there are operands. There may also be some with kDeleted and kSearching:
  // then nothing is below them.
  MergeOperands* operands() const { return operands_; }
  // Transfers the operands to the caller.
  MergeOperands* TakeOperands() { return std::exchange(operands_, nullptr); }
  // Collects all operands and the base into `operands`, which the lookup then owns, instead of a
  // value. Requires that the search has not begun. Requires also that no insertion of an entry up
  // to the sequence number `whole_through` is in progress; beyond that number, a read of unordered
  // writes may miss entries that come later.
  void CollectInto(MergeOperands* operands, SequenceNumber whole_through) {
    operands_ = operands;
    value_ = nullptr;
    whole_through_ = whole_through;
  }
  // True if no more entries can appear at or below the sequence number of this trailer.
  bool IsWholeAt(uint64_t trailer) const { return UnpackSequence(trailer) <= whole_through_; }

  // Ends the search as deleted if a tombstone covers everything that older sources may hold.
  // Returns true if the search is over.
  bool EndIfCovered() {
    if (covering_seq_ == 0) return false;
    state_ = State::kDeleted;
    return true;
  }

  // True, once, if Offer ended the search at an operand because the thread was in an Epoch::Guard
  // (util/sync/epoch.h). Operands call the user's operator, which must not happen there: the caller
  // searches the block again outside of it, under a reference.
  bool TakeDeferred() { return std::exchange(deferred_, false); }

  // Says that the caller has put the value in the place of the reference.
  void SetValueRead() {
    VARVE_ASSERT(state_ == State::kReference);
    state_ = State::kFound;
  }
  void Fail(Status s) {
    status_ = std::move(s);
    state_ = State::kFailed;
  }

  // Sequence number of the entry that ended the search (0 if none).
  SequenceNumber found_seq() const { return found_seq_; }

 private:
  // Computes hash_.
  void ComputeHash() const;
  // Does the part of Sees that concerns timestamps.
  bool SeesTimestampOf(const Slice& user_key, uint64_t trailer);
  // Stores the timestamp where ReportTimestamp said.
  void Report(const Slice& timestamp);
  // Stores last_timestamp(), and updates out_of_order().
  void NoteLast(const Slice& timestamp);
  [[nodiscard]] char* LastTimestamp() const {
    return buffer_ + key_bytes_ + as_of_.size() + kInternalKeyTrailerBytes;
  }
  // Take an entry of that kind; return true if the search is over.
  bool OfferOperand(const Slice& value, ValuePin* pin);
  bool OfferEntity(const Slice& entity, ValuePin* pin);
  // Sets *value, by a copy or a pin.
  void TakeValue(const Slice& value, ValuePin* pin);
  // Frees what most lookups do not have: a long key's memory, and operands.
  void Free();

  // Bytes of the target that need no allocation.
  static constexpr size_t kInlineBytes = 112;

  State state_ = State::kSearching;
  mutable bool hashed_ = false;
  bool deferred_ = false;
  bool has_last_ = false;
  bool ignores_tombstones_ = false;
  bool out_of_order_ = false;
  bool base_is_reference_ = false;
  bool wants_entity_ : 1 = false;
  bool is_entity_ : 1 = false;
  mutable uint64_t hash_ = 0;
  SequenceNumber snapshot_;
  // Newest tombstone over the key that was met; 0: none.
  SequenceNumber covering_seq_ = 0;
  SequenceNumber found_seq_ = 0;
  SequenceNumber whole_through_ = 0;
  PinnableSlice* value_;  // Also null while there are operands.
  PinnableSlice* const result_;
  Status status_;
  char* buffer_;  // Key, timestamp, the 8-byte trailer, and another timestamp; inline_ or heap.
  size_t size_;
  size_t key_bytes_;
  const InternalKeyComparator* const icmp_;  // Null without timestamps.
  Slice as_of_;
  bool in_keys_without_timestamp_ = false;
  std::string* timestamp_ = nullptr;
  MergeOperands* operands_ = nullptr;  // Owned.
  const MergeCaller* const merger_;
  char inline_[kInlineBytes];
};

}  // namespace varve
