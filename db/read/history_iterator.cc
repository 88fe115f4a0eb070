// SPDX-License-Identifier: Apache-2.0
#include "db/read/history_iterator.h"

#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/read/covered_jump.h"
#include "db/read/version_iterators.h"
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
    if (ExtractValueType(key()) != kTypeValue) return Slice();
    return backward_ ? Slice(saved_value_) : source_->value();
  }
  Status status() const override { return status_; }

  void SeekToFirst() override {
    Guarded([this] { ToFirst(); });
  }
  void SeekToLast() override {
    Guarded([this] { ToLast(); });
  }
  void Seek(const Slice& target) override {
    Guarded([&] { To(target); });
  }
  void SeekForPrev(const Slice& target) override {
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
  // True if the newest entry of a key and timestamp, whose trailer is given, can be shown.
  // Otherwise sets the status.
  bool MayShow(uint64_t trailer) {
    switch (UnpackType(trailer)) {
      case kTypeValue:
      case kTypeDeletion:
      case kTypeSingleDeletion:
      case kTypeDeletionWithTimestamp:
        return true;
      default:
        status_ = Status::NotSupported("iterator: iter_start_ts met an entry of type " +
                                       std::to_string(trailer & 0xff));
        return false;
    }
  }

  // If a tombstone covers the source's entry, moves the older sorted runs to its end (start).
  // Returns false if the entry is still current. Fails the walk if keys are out of order.
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

  // Moves back from an entry that is shown to the newest one of its key and timestamp, and then
  // before that.
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
