// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides which entries of a key survive a flush or a compaction: a state machine that is given a
// key's entries, newest first, and answers keep or drop.
//
// Snapshots cut the sequence numbers into stripes: stripe 0 has the entries that the oldest
// snapshot can see, the last stripe those that only new readers can. Of two entries in one stripe
// every reader sees only the newer, so a key needs from each stripe its newest base entry (a value
// or a deletion), and the merge operands above it.
//
//      snapshots at 20 and 50          input, newest first         verdict
//      stripe 2   (50, ...]            put @ 70                    keep: the newest of its stripe
//                                      put @ 61                    hidden by 70
//      stripe 1   (20, 50]             delete @ 44                 keep: snapshot 50 must see it
//      stripe 0   [..., 20]            put @ 18                    keep: snapshot 20 sees it
//                                      put @ 3                     hidden by 18
//
// At the bottom of the tree a deletion in stripe 0 with nothing beneath it has nothing left to
// delete, and goes as well (kExpired).
//
// With timestamps, "a key" means a key with one timestamp, as a reader may ask for every one;
// versions below full_history_ts_low count as one key.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

// Used for one pass over a compaction's input: StartKey before each key, then one judgement for
// each of its entries, newest first. An answer depends on the entries judged before, so none may be
// left out.
//
// Thread safety: none. Inlined, because it runs for every entry of a compaction.
class DropRules {
 public:
  struct Options {
    // Ascending; borrowed.
    std::span<const SequenceNumber> snapshots;
    // True: no level beneath the output holds any key of the inputs.
    bool bottommost = false;
    // Compaction keeps evidence of changes newer than this sequence number, so that transactions
    // can validate; kMaxSequenceNumber: none is kept. Requires that it is one of the snapshots, or
    // at least as new as the first.
    SequenceNumber conflict_check_floor = kMaxSequenceNumber;
  };

  enum class Verdict : uint8_t {
    kKeep,
    kHidden,    // a newer entry of the stripe hides it
    kExpired,   // a deletion with nothing left to delete
    kDropPair,  // a SingleDelete and the value after it: both are dropped
    kKeepPair,  // both stay as conflict evidence; the value's bytes are not needed
    kBroken,    // a SingleDelete above a Delete: the user violated the rules of SingleDelete
  };

  // The entry after a SingleDelete in the input: an older one of the same key, or none.
  struct Follower {
    bool present = false;
    SequenceNumber sequence = 0;
    ValueType type = kTypeValue;
  };

  explicit DropRules(const Options& options) : options_(options) {}

  // Must be called before a key's newest entry.
  void StartKey() {
    base_stripe_ = kNoStripe;
    pair_stripe_ = kNoStripe;
    evidence_stripe_ = kNoStripe;
  }

  // Returns the index of the oldest snapshot that sees the number; their count if none does.
  [[nodiscard]] size_t StripeOf(SequenceNumber sequence) const {
    if (options_.snapshots.empty()) [[likely]]
      return 0;
    const auto it =
        std::lower_bound(options_.snapshots.begin(), options_.snapshots.end(), sequence);
    return static_cast<size_t>(it - options_.snapshots.begin());
  }
  // Returns the newest sequence number that readers of the stripe can see.
  [[nodiscard]] SequenceNumber StripeTop(size_t stripe) const {
    return stripe < options_.snapshots.size() ? options_.snapshots[stripe] : kMaxSequenceNumber;
  }
  // True if only readers newer than every snapshot see the entry.
  [[nodiscard]] bool NoSnapshotSees(size_t stripe) const {
    return stripe == options_.snapshots.size();
  }

  // True if a newer entry of its stripe hides an entry, or, if entries come in the order of
  // timestamps, one of an older stripe: a reader that sees the entry sees that, too. Not for
  // SingleDelete, which may have to outlive the value above it: its own value may be in another
  // file.
  [[nodiscard]] bool Hides(size_t stripe, ValueType type) const {
    return base_stripe_ <= stripe || HidesInStripe(stripe, type);
  }
  // Like Hides, but considers only entries of the same stripe. An entry of an older stripe may be
  // covered by a tombstone that readers of this stripe see, and then hides nothing from them.
  [[nodiscard]] bool HidesInStripe(size_t stripe, ValueType type) const {
    if (base_stripe_ == stripe) return true;
    return pair_stripe_ == stripe && type != kTypeDeletion;
  }

  // True if the last base entry of the key was a value of this stripe: readers of the stripe see
  // that, and nothing that is older.
  [[nodiscard]] bool BuriedByValue(size_t stripe) const {
    return base_stripe_ == stripe && !base_deletes_;
  }

  // Judges an entry that is neither hidden, nor covered by a range tombstone of its stripe, nor a
  // SingleDelete. `may_exist_deeper` says if a deeper level may hold the key; it is called for
  // deletions only.
  template <typename MayExistDeeper>
  [[nodiscard]] Verdict Judge(size_t stripe, ValueType type, MayExistDeeper&& may_exist_deeper) {
    VARVE_ASSERT(stripe <= options_.snapshots.size() && type != kTypeSingleDeletion);
    if (type == kTypeMerge) return Verdict::kKeep;
    base_stripe_ = stripe;
    base_deletes_ = type == kTypeDeletion;
    if (type == kTypeDeletion && stripe == 0 && !may_exist_deeper()) return Verdict::kExpired;
    return Verdict::kKeep;
  }

  // Judges a SingleDelete that no range tombstone of its stripe covers.
  template <typename MayExistDeeper>
  [[nodiscard]] Verdict JudgeSingleDelete(SequenceNumber sequence, size_t stripe,
                                          const Follower& next, MayExistDeeper&& may_exist_deeper) {
    VARVE_ASSERT(stripe == StripeOf(sequence));
    const bool buried = base_stripe_ == stripe;  // newer entries of the stripe decide what is read
    if (buried && base_deletes_) return Verdict::kHidden;
    // One entry per stripe is enough as conflict evidence.
    const bool is_evidence =
        !buried && pair_stripe_ != stripe &&
        (sequence > options_.conflict_check_floor || evidence_stripe_ == stripe);
    if (next.present && StripeOf(next.sequence) == stripe) {
      switch (next.type) {
        case kTypeSingleDeletion:
          // For readers both have the same effect.
          if (!is_evidence) return Verdict::kHidden;
          evidence_stripe_ = stripe;
          return Verdict::kKeep;
        case kTypeDeletion:
          return buried ? JudgeBuried(stripe, may_exist_deeper) : Verdict::kBroken;
        case kTypeMerge:
          // A SingleDelete over a merge operand breaks its contract, too. It is treated as a
          // deletion of the operand and of what the operand applies to.
          if (buried) return JudgeBuried(stripe, may_exist_deeper);
          base_stripe_ = stripe;
          base_deletes_ = true;
          return Verdict::kKeep;
        default:
          break;
      }
      if (buried) return Verdict::kDropPair;
      pair_stripe_ = stripe;
      // Without its value a SingleDelete would be above older entries, which may be a Delete.
      return is_evidence ? Verdict::kKeepPair : Verdict::kDropPair;
    }
    if (stripe == 0 && !may_exist_deeper()) return Verdict::kExpired;
    return Verdict::kKeep;
  }

  // Notes that a kept operand was merged into a value.
  void BecameValue(size_t stripe) {
    VARVE_ASSERT(stripe <= options_.snapshots.size());
    base_stripe_ = stripe;
    base_deletes_ = false;
  }

  // Handles a filter that turned the last judged entry, which was kept, into a deletion.
  template <typename MayExistDeeper>
  [[nodiscard]] Verdict BecameDeletion(size_t stripe, MayExistDeeper&& may_exist_deeper) {
    base_stripe_ = stripe;
    base_deletes_ = true;
    return stripe == 0 && !may_exist_deeper() ? Verdict::kExpired : Verdict::kKeep;
  }

  // True if a kept entry's sequence number may become 0: no reader can notice, and tables shrink.
  [[nodiscard]] bool MayZero(size_t stripe, ValueType type) const {
    return options_.bottommost && stripe == 0 &&
           (type == kTypeValue || type == kTypeBlobIndex || type == kTypeWideColumnEntity);
  }

 private:
  static constexpr size_t kNoStripe = SIZE_MAX;

  // Judges a SingleDelete that is under a newer value of its stripe, and above a Delete or a merge
  // operand, which it is not meant for. It is kept, so that what lies deeper stays deleted, unless
  // nothing can lie deeper: then the value above may have got sequence number 0, and no entry of
  // the key may come after it.
  template <typename MayExistDeeper>
  Verdict JudgeBuried(size_t stripe, MayExistDeeper&& may_exist_deeper) {
    return stripe == 0 && !may_exist_deeper() ? Verdict::kHidden : Verdict::kKeep;
  }

  Options options_;
  size_t base_stripe_ = kNoStripe;  // stripe of the key's last base entry
  bool base_deletes_ = false;       // that entry is a deletion
  // Stripe of the last SingleDelete that met its value. Older values in it do not concern readers;
  // older deletions do, as they may delete data in deeper levels.
  size_t pair_stripe_ = kNoStripe;
  // Stripe of a SingleDelete that was kept as conflict evidence above an older one, which then must
  // stay too.
  size_t evidence_stripe_ = kNoStripe;
};

}  // namespace varve
