// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which entries of a key survive a flush or a compaction: a state machine that is told a key's
// entries, newest first, and says keep or drop.
//
// Snapshots cut the sequence numbers into stripes: stripe 0 holds what the oldest snapshot can see,
// the last one what only new readers can. No reader can tell two entries of one stripe apart but by
// the newer one, so of each stripe a key needs its newest base entry (a value or a deletion), and
// the merge operands above it.
//
// With timestamps "a key" is a key with one timestamp, as a reader may ask for every one; versions
// below full_history_ts_low count as one key.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

// Thread safety: none. Inlined: it runs for every entry of a compaction.
class DropRules {
 public:
  struct Options {
    // Ascending; borrowed.
    std::span<const SequenceNumber> snapshots;
    // No level beneath the output holds any key of the inputs.
    bool bottommost = false;
    // Somebody will ask whether a key was changed after this; kMaxSequenceNumber: nobody. One of
    // the snapshots, or not older than the first.
    SequenceNumber traces_since = kMaxSequenceNumber;
  };

  enum class Verdict : uint8_t {
    kKeep,
    kHidden,    // a newer entry of the stripe makes it invisible
    kExpired,   // a deletion with nothing left to delete
    kDropPair,  // a SingleDelete and the value after it: both go
    kKeepPair,  // both stay, as a trace; of the value nobody reads the bytes
    kBroken,    // a SingleDelete above a Delete: the user broke the rules of SingleDelete
  };

  // What follows a SingleDelete in the input: an older entry of the same key, or nothing.
  struct Follower {
    bool present = false;
    SequenceNumber sequence = 0;
    ValueType type = kTypeValue;
  };

  explicit DropRules(const Options& options) : options_(options) {}

  // Before a key's newest entry.
  void StartKey() {
    base_stripe_ = kNoStripe;
    pair_stripe_ = kNoStripe;
    trace_stripe_ = kNoStripe;
  }

  [[nodiscard]] size_t StripeOf(SequenceNumber sequence) const {
    if (options_.snapshots.empty()) [[likely]]
      return 0;
    const auto it =
        std::lower_bound(options_.snapshots.begin(), options_.snapshots.end(), sequence);
    return static_cast<size_t>(it - options_.snapshots.begin());
  }
  // The newest number that readers of the stripe can see.
  [[nodiscard]] SequenceNumber StripeTop(size_t stripe) const {
    return stripe < options_.snapshots.size() ? options_.snapshots[stripe] : kMaxSequenceNumber;
  }
  // True when only readers newer than every snapshot see the entry.
  [[nodiscard]] bool NoSnapshotSees(size_t stripe) const {
    return stripe == options_.snapshots.size();
  }

  // Whether a newer entry of its stripe hides an entry, or, where entries come in the order of
  // timestamps, of an older one: a reader that sees the entry sees that, too. Not for SingleDelete,
  // which may have to outlive the value above it: its own value may be in another file.
  [[nodiscard]] bool Hides(size_t stripe, ValueType type) const {
    return base_stripe_ <= stripe || HidesInStripe(stripe, type);
  }
  // The same by an entry of its own stripe alone. One of an older stripe may be under a tombstone
  // that readers of this one see, and then is as if it were not there for them.
  [[nodiscard]] bool HidesInStripe(size_t stripe, ValueType type) const {
    if (base_stripe_ == stripe) return true;
    return pair_stripe_ == stripe && type != kTypeDeletion;
  }

  // Whether newer entries of its stripe, among them a value and no Delete after that, decide what
  // is read where an entry of the stripe stands.
  [[nodiscard]] bool BuriedByValue(size_t stripe) const {
    return base_stripe_ == stripe && !base_deletes_;
  }

  // Of an entry that is neither hidden nor covered by a range tombstone of its stripe, and no
  // SingleDelete. `may_exist_deeper` is called for deletions only.
  template <typename MayExistDeeper>
  [[nodiscard]] Verdict Judge(size_t stripe, ValueType type, MayExistDeeper&& may_exist_deeper) {
    VARVE_ASSERT(stripe <= options_.snapshots.size() && type != kTypeSingleDeletion);
    if (type == kTypeMerge) return Verdict::kKeep;
    base_stripe_ = stripe;
    base_deletes_ = type == kTypeDeletion;
    if (type == kTypeDeletion && stripe == 0 && !may_exist_deeper()) return Verdict::kExpired;
    return Verdict::kKeep;
  }

  // Of a SingleDelete that no range tombstone of its stripe covers.
  template <typename MayExistDeeper>
  [[nodiscard]] Verdict JudgeSingleDelete(SequenceNumber sequence, size_t stripe,
                                          const Follower& next, MayExistDeeper&& may_exist_deeper) {
    VARVE_ASSERT(stripe == StripeOf(sequence));
    const bool buried = base_stripe_ == stripe;  // newer entries of the stripe decide what is read
    if (buried && base_deletes_) return Verdict::kHidden;
    // One in a stripe is enough.
    const bool is_trace = !buried && pair_stripe_ != stripe &&
                          (sequence > options_.traces_since || trace_stripe_ == stripe);
    if (next.present && StripeOf(next.sequence) == stripe) {
      switch (next.type) {
        case kTypeSingleDeletion:
          // Either of them does the same for readers.
          if (!is_trace) return Verdict::kHidden;
          trace_stripe_ = stripe;
          return Verdict::kKeep;
        case kTypeDeletion:
          return buried ? JudgeBuried(stripe, may_exist_deeper) : Verdict::kBroken;
        case kTypeMerge:
          // Not allowed either; deletes the operand and whatever it applies to.
          if (buried) return JudgeBuried(stripe, may_exist_deeper);
          base_stripe_ = stripe;
          base_deletes_ = true;
          return Verdict::kKeep;
        default:
          break;
      }
      if (buried) return Verdict::kDropPair;
      pair_stripe_ = stripe;
      // Without its value a SingleDelete would stand above what is older, which may be a Delete.
      return is_trace ? Verdict::kKeepPair : Verdict::kDropPair;
    }
    if (stripe == 0 && !may_exist_deeper()) return Verdict::kExpired;
    return Verdict::kKeep;
  }

  // An operand that was kept was merged into a value.
  void BecameValue(size_t stripe) {
    VARVE_ASSERT(stripe <= options_.snapshots.size());
    base_stripe_ = stripe;
    base_deletes_ = false;
  }

  // A filter turned the entry judged last, which was kept, into a deletion.
  template <typename MayExistDeeper>
  [[nodiscard]] Verdict BecameDeletion(size_t stripe, MayExistDeeper&& may_exist_deeper) {
    base_stripe_ = stripe;
    base_deletes_ = true;
    return stripe == 0 && !may_exist_deeper() ? Verdict::kExpired : Verdict::kKeep;
  }

  // Whether a kept entry's sequence number may become 0: no reader can tell, and tables shrink.
  [[nodiscard]] bool MayZero(size_t stripe, ValueType type) const {
    return options_.bottommost && stripe == 0 &&
           (type == kTypeValue || type == kTypeWideColumnEntity);
  }

 private:
  static constexpr size_t kNoStripe = SIZE_MAX;

  // Of a SingleDelete under a value, with what it must not stand above. Where that value may have
  // become sequence 0, nothing may come after it.
  template <typename MayExistDeeper>
  Verdict JudgeBuried(size_t stripe, MayExistDeeper&& may_exist_deeper) {
    return stripe == 0 && !may_exist_deeper() ? Verdict::kHidden : Verdict::kKeep;
  }

  Options options_;
  size_t base_stripe_ = kNoStripe;  // of the key's last base entry
  bool base_deletes_ = false;       // it is a Delete
  // Of the last SingleDelete that met its value. Older values there are none of the readers'
  // business; older deletions are, for they may have work in deeper levels.
  size_t pair_stripe_ = kNoStripe;
  // Of a SingleDelete that was kept as a trace above an older one, which then has to stay, too.
  size_t trace_stripe_ = kNoStripe;
};

}  // namespace varve
