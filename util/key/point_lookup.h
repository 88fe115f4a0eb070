// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of one point read while it walks from the newest source to the oldest.

#include <cstdint>

#include "varve/cleanable.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "util/key/internal_key.h"

namespace varve {

// Carries a key through memtables and tables and takes what they find.
//
// A source first reports the newest range tombstone that covers the key (CoverWith), then offers
// its entries of the key, newest first (Offer), until Offer says that the search is over.
//
// Thread safety: none. Lifetime: the user key's bytes and *value outlive the lookup.
class PointLookup {
 public:
  enum class State : uint8_t {
    kSearching,  // nothing found so far
    kFound,      // *value holds the answer
    kDeleted,    // the newest visible entry is a deletion, or a range tombstone covers it
    kFailed,     // status() says why
  };

  // value may be null when only existence matters.
  PointLookup(const Slice& user_key, SequenceNumber snapshot, PinnableSlice* value);
  PointLookup(const PointLookup&) = delete;
  PointLookup& operator=(const PointLookup&) = delete;
  ~PointLookup();

  Slice user_key() const { return Slice(buffer_, size_ - 8); }
  // The user key with the trailer of (snapshot, seek type): where a search starts.
  Slice internal_key() const { return Slice(buffer_, size_); }
  SequenceNumber snapshot() const { return snapshot_; }
  State state() const { return state_; }
  const Status& status() const { return status_; }
  // KeyHash64 of the user key, computed once on first use (filters of every table share it).
  uint64_t hash() const {
    if (!hashed_) ComputeHash();
    return hash_;
  }

  // What a source found out before it was its turn, for itself.
  void SetForeseen(const void* source, size_t place) {
    foreseen_by_ = source;
    foreseen_place_ = place;
  }
  bool ForeseenBy(const void* source, size_t* place) const {
    if (foreseen_by_ != source) return false;
    *place = foreseen_place_;
    return true;
  }

  // Reports a visible range tombstone over the key, of the current or an older source.
  void CoverWith(SequenceNumber seq) {
    if (seq > covering_seq_) covering_seq_ = seq;
  }
  SequenceNumber covering_seq() const { return covering_seq_; }

  // Takes the next older visible entry of the key. `pin` (may be null) keeps value's bytes alive
  // when its cleanups are handed on; with a null pin, or a small value, the bytes are copied.
  // Returns true when the search is over.
  bool Offer(uint64_t trailer, const Slice& value, Cleanable* pin);

  // Ends the search as deleted when a tombstone covers everything that older sources may hold.
  // Returns true when the search is over.
  bool EndIfCovered() {
    if (covering_seq_ == 0) return false;
    state_ = State::kDeleted;
    return true;
  }

  void Fail(Status s) {
    status_ = std::move(s);
    state_ = State::kFailed;
  }

  // Sequence number of the entry that ended the search (0 if none).
  SequenceNumber found_seq() const { return found_seq_; }

 private:
  void ComputeHash() const;

  static constexpr size_t kInlineBytes = 128;

  State state_ = State::kSearching;
  mutable bool hashed_ = false;
  mutable uint64_t hash_ = 0;
  SequenceNumber snapshot_;
  SequenceNumber covering_seq_ = 0;
  SequenceNumber found_seq_ = 0;
  const void* foreseen_by_ = nullptr;
  size_t foreseen_place_ = 0;
  PinnableSlice* value_;
  Status status_;
  char* buffer_;  // user key, then the 8-byte trailer; inline_ or heap
  size_t size_;
  char inline_[kInlineBytes];
};

}  // namespace varve
