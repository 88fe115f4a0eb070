// SPDX-License-Identifier: Apache-2.0

// All sources are merged in the order of internal keys: a key's timestamps from the newest on, and
// for each timestamp its entries from the newest sequence number on. Of the entries of one key and
// timestamp only the newest visible one is shown.
//
// Forward that is the first one met; the others are stepped over when the walk goes on
// (SkipVersion). Backward it is the last one met: the walk copies each visible entry until key or
// timestamp change (SaveNewest), and the source is then before all of them. A change of direction
// is a seek.
//
// Unlike UserKeyWalk it steps over no deletions, because they are shown, and merges nothing. The
// options that would need more are refused when the iterator is made.

#include "db/read/history_iterator.h"

#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/read/covered_jump.h"
#include "db/read/version_iterators.h"
#include "db/version/blob_source.h"
#include "db/version/entry_place.h"
#include "table/iterator/merging_iterator.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/key/range_tombstone.h"

namespace varve {

namespace {

Status CheckOptions(const ReadOptions& options) {
  const char* refused = nullptr;
  if (options.tailing) refused = "tailing";
  if (options.prefix_same_as_start) refused = "prefix_same_as_start";
  if (options.max_skippable_internal_keys != 0) refused = "max_skippable_internal_keys";
  if (options.auto_refresh_iterator_with_snapshot) refused = "auto_refresh_iterator_with_snapshot";
  if (options.read_tier == kPersistedTier) refused = "read_tier kPersistedTier";
  if (refused == nullptr) return Status::OK();
  return Status::NotSupported(std::string("iterator: ReadOptions::") + refused +
                              " beside iter_start_ts");
}

ReadOptions InTotalOrder(ReadOptions options) {
  options.total_order_seek = true;
  return options;
}

// Forward, the source is on the entry that is shown. Backward, it is before all entries of that key
// and timestamp, and the entry shown was copied.
class HistoryIterator final : public Iterator {
 public:
  // The tombstones need the timestamp and the number of the reader before sources add to them. If a
  // table cannot be opened, the iterator is over an empty source with that error for good.
  HistoryIterator(const ReadOptions& options, IteratorHold hold, SequenceNumber sequence)
      : hold_(std::move(hold)),
        options_(InTotalOrder(options)),
        icmp_(*hold_.super_version().version().icmp()),
        sequence_(sequence),
        tombstones_(icmp_) {
    jump_.Init(&icmp_, &tombstones_);
    tombstones_.SetTimestampLimit({*options_.timestamp, /*inclusive=*/true});
    tombstones_.SetReader(sequence);
    std::vector<std::unique_ptr<InternalIterator>> sources;
    bool prefix_wanted = false;
    size_t memtables = 0;
    Status s = AddSuperVersionIterators(options_, hold_.super_version(), &tombstones_, &sources,
                                        &prefix_wanted, &memtables);
    source_ = s.ok()
                  ? NewMergingIterator(&icmp_, std::move(sources), MergeAhead::kNothing, memtables)
                  : NewEmptyInternalIterator(s);
    status_ = std::move(s);
  }

  bool Valid() const override { return valid_; }
  Slice key() const override {
    VARVE_ASSERT(valid_);
    return backward_ ? Slice(saved_key_) : source_->key();
  }
  Slice timestamp() const override { return icmp_.TimestampOf(ExtractUserKey(key())); }
  Slice value() const override {
    VARVE_ASSERT(valid_);
    if (ExtractValueType(key()) == kTypeBlobIndex) return blob_;
    if (ExtractValueType(key()) != kTypeValue) return Slice();
    return backward_ ? Slice(saved_value_) : source_->value();
  }
  // There are no entities with timestamps.
  const WideColumns& columns() const override {
    columns_.assign(1, WideColumn(kDefaultWideColumnName, value()));
    return columns_;
  }
  Status status() const override { return status_; }

  void SeekToFirst() override {
    Guarded([this] { ToFirst(); });
  }
  void SeekToLast() override {
    Guarded([this] { ToLast(); });
  }
  void Seek(const Slice& target) override {
    hold_.TraceSeek(kTraceIteratorSeek, target, options_);
    Guarded([&] { To(target); });
  }
  void SeekForPrev(const Slice& target) override {
    hold_.TraceSeek(kTraceIteratorSeekForPrev, target, options_);
    Guarded([&] { ToBefore(target); });
  }
  void Next() override {
    if (valid_) Guarded([this] { ToNext(); });
  }
  void Prev() override {
    if (valid_) Guarded([this] { ToPrev(); });
  }

 private:
  // Turns an exception, of a comparator or for lack of memory, into an error of the iterator.
  template <typename Move>
  void Guarded(Move move) {
    Status s = varve::Guarded(move);
    if (s.ok()) [[likely]]
      return;
    valid_ = false;
    status_ = std::move(s);
  }

  void ToFirst() {
    if (options_.iterate_lower_bound != nullptr) return To(*options_.iterate_lower_bound);
    Start(/*backward=*/false);
    source_->SeekToFirst();
    FindForward();
  }
  void To(const Slice& target) {
    Start(/*backward=*/false);
    const Slice* const lower = options_.iterate_lower_bound;
    const bool clamps = lower != nullptr && icmp_.CompareKey(target, *lower) < 0;
    source_->Seek(icmp_.FirstInternalKey(clamps ? *lower : target).Encode());
    FindForward();
  }
  void ToLast() {
    Start(/*backward=*/true);
    if (options_.iterate_upper_bound != nullptr) {
      source_->SeekForPrev(icmp_.FirstInternalKey(*options_.iterate_upper_bound).Encode());
    } else {
      source_->SeekToLast();
    }
    FindBackward();
  }
  void ToBefore(const Slice& target) {
    const Slice* const upper = options_.iterate_upper_bound;
    if (upper != nullptr && icmp_.CompareKey(target, *upper) >= 0) return ToLast();
    Start(/*backward=*/true);
    const InternalKey last(icmp_.LastUserKey(target), 0, kValueTypeForSeekForPrev);
    source_->SeekForPrev(last.Encode());
    FindBackward();
  }
  void ToNext() {
    saved_key_ = key().ToString();
    if (backward_) {
      Start(/*backward=*/false);
      source_->Seek(saved_key_);
    }
    SkipVersion();
    FindForward();
  }
  // After a forward move the source is on the shown entry, and is moved before all entries of that
  // key and timestamp. After a backward move SaveNewest has left it there already.
  void ToPrev() {
    if (!backward_) {
      const InternalKey first(ExtractUserKey(key()), kMaxSequenceNumber, kValueTypeForSeek);
      Start(/*backward=*/true);
      source_->SeekForPrev(first.Encode());
    }
    FindBackward();
  }

  void Start(bool backward) {
    valid_ = false;
    backward_ = backward;
    jump_.Forget();
    status_ = Status::OK();
  }
  [[nodiscard]] bool IsSavedVersion() const {
    return source_->Valid() &&
           icmp_.CompareUserKey(ExtractUserKey(source_->key()), ExtractUserKey(saved_key_)) == 0;
  }
  // Moves after the other entries of the key and timestamp of saved_key_.
  void SkipVersion() {
    VARVE_ASSERT(!backward_ && !saved_key_.empty());
    while (IsSavedVersion()) source_->Next();
  }

  // True if the source's entry is visible.
  bool Shows() {
    const Slice user_key = ExtractUserKey(source_->key());
    const Slice timestamp = icmp_.TimestampOf(user_key);
    const uint64_t trailer = ExtractTrailer(source_->key());
    return UnpackSequence(trailer) <= sequence_ &&
           icmp_.CompareTimestamp(timestamp, *options_.timestamp) <= 0 &&
           icmp_.CompareTimestamp(timestamp, *options_.iter_start_ts) >= 0 &&
           tombstones_.MaxCoveringSeq(icmp_.WithoutTimestamp(user_key), sequence_) <=
               UnpackSequence(trailer);
  }
  // True if the newest entry of a key and timestamp, whose trailer is given, can be shown. If not,
  // status_ says why.
  bool MayShow(uint64_t trailer) {
    switch (UnpackType(trailer)) {
      case kTypeValue:
      case kTypeDeletion:
      case kTypeSingleDeletion:
      case kTypeDeletionWithTimestamp:
        return true;
      case kTypeBlobIndex:
        return ReadBlob();
      default:
        status_ = Status::NotSupported("iterator: iter_start_ts met an entry of type " +
                                       std::to_string(trailer & 0xff));
        return false;
    }
  }

  // Reads the value to which the entry that is about to be shown refers. Returns false, with the
  // error in status_, if it cannot be read.
  bool ReadBlob() {
    const SuperVersion& super_version = hold_.super_version();
    const Slice entry = backward_ ? Slice(saved_key_) : source_->key();
    const Slice encoded = backward_ ? Slice(saved_value_) : source_->value();
    const Version& version = super_version.version();
    TableCache* const cache = super_version.table_cache();
    status_ = cache->blobs().Get(options_, version, ExtractUserKey(entry), encoded, &blob_);
    if (status_.ok()) return true;
    status_ = NameTableOfEntry(status_, options_, version, cache, icmp_.KeyOf(entry), sequence_);
    return false;
  }

  // If a tombstone covers the source's entry, moves the older sorted runs to the tombstone's end
  // (backward, its start). Returns false if the entry is still the source's current one, so that
  // the caller must step over it. Sets status_ to Corruption if keys are out of order.
  bool LeaveCovered() {
    if (tombstones_.empty() || options_.read_tier == kBlockCacheTier) return false;
    CoveredJump::Place place;
    place.internal = source_->key();
    place.key = icmp_.KeyOf(place.internal);
    place.backward = backward_;
    place.bound = backward_ ? options_.iterate_lower_bound : options_.iterate_upper_bound;
    const size_t key_bytes = place.internal.size();
    const CoveredJump::Result result = jump_.Leave(source_.get(), place, sequence_);
    if (result == CoveredJump::Result::kOutOfOrder) {
      status_ = Status::Corruption("iterator: keys are out of order around one of " +
                                   std::to_string(key_bytes) + " bytes");
    }
    return result == CoveredJump::Result::kBeyond || result == CoveredJump::Result::kOutOfOrder;
  }

  // Moves from the source's entry to the first one that is shown. Entries that are not shown are
  // left by a jump where a tombstone allows it, else one by one.
  void FindForward() {
    valid_ = false;
    const Slice* const upper = options_.iterate_upper_bound;
    while (source_->Valid()) {
      if (upper != nullptr && icmp_.CompareKey(icmp_.KeyOf(source_->key()), *upper) >= 0) return;
      if (!Shows()) {
        if (!LeaveCovered()) source_->Next();
        if (!status_.ok()) return;
        continue;
      }
      valid_ = MayShow(ExtractTrailer(source_->key()));
      return;
    }
    status_ = source_->status();
  }

  // Does the same backward, where the newest entry of a key and timestamp comes last, so that it is
  // saved before it can be shown.
  void FindBackward() {
    valid_ = false;
    const Slice* const lower = options_.iterate_lower_bound;
    while (source_->Valid()) {
      if (lower != nullptr && icmp_.CompareKey(icmp_.KeyOf(source_->key()), *lower) < 0) return;
      if (!Shows()) {
        if (!LeaveCovered()) source_->Prev();
        if (!status_.ok()) return;
        continue;
      }
      valid_ = SaveNewest() && MayShow(ExtractTrailer(saved_key_));
      return;
    }
    status_ = source_->status();
  }

  // Saves the newest shown entry of the present entry's key and timestamp. A backward walk meets it
  // last of these, as versions of a key lie newest first. Leaves the source before all of them.
  bool SaveNewest() {
    VARVE_ASSERT(backward_ && source_->Valid());
    do {
      saved_key_ = source_->key().ToString();
      saved_value_ = source_->value().ToString();
      do {
        source_->Prev();
      } while (IsSavedVersion() && !Shows());
    } while (IsSavedVersion());
    // An entry that could not be read may have been newer.
    if (status_.ok()) status_ = source_->status();
    return status_.ok();
  }

  const IteratorHold hold_;  // destroyed last
  const ReadOptions options_;
  const InternalKeyComparator& icmp_;
  const SequenceNumber sequence_;
  TombstoneSet tombstones_;
  std::unique_ptr<InternalIterator> source_;
  bool valid_ = false;
  bool backward_ = false;
  std::string saved_key_;
  std::string saved_value_;
  PinnableSlice blob_;  // value of the shown entry, if that is a reference
  mutable WideColumns columns_;
  CoveredJump jump_;
  Status status_;
};

}  // namespace

Iterator* NewHistoryIterator(const ReadOptions& options, IteratorHold hold,
                             SequenceNumber sequence) {
  if (const Status s = CheckOptions(options); !s.ok()) return NewErrorIterator(s);
  if (VARVE_CANARY(kForgetHistoryIterator)) hold.source().references()->iterators.fetch_sub(1);
  return std::make_unique<HistoryIterator>(options, std::move(hold), sequence).release();
}

}  // namespace varve
