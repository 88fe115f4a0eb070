// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the merge operands of one key between two snapshots for a flush or a compaction, and
// merges them: into a value if their base is known, otherwise into as few operands as the user's
// operator can make.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "util/key/internal_key.h"
#include "util/key/merge_caller.h"

namespace varve {

// Used in rounds, one for each run of operands: Start, Add or AddCopy newest first, Merge or Leave,
// then Take until it returns false. A reused object allocates nothing for runs as small as earlier
// ones.
//
// Thread safety: none.
class MergeCollector {
 public:
  // Says what the operands apply to.
  enum class Base : uint8_t {
    kUnknown,  // not seen: it may be deeper
    kNone,
    kValue,
    kEntity,
  };

  // `merge` is borrowed and may have no operator: then operands do not change.
  explicit MergeCollector(const MergeCaller* merge)
      : merge_(merge), wants_single_operand_(merge->WantsSingleOperand()) {}
  MergeCollector(const MergeCollector&) = delete;
  MergeCollector& operator=(const MergeCollector&) = delete;

  // Begins a round: forgets all entries.
  void Start();
  // Adds an operand, whose bytes must live until the end of the round, or until Own.
  void Add(SequenceNumber sequence, const Slice& operand) {
    entries_.push_back({sequence, operand, kBorrowed});
  }
  void AddCopy(SequenceNumber sequence, const Slice& operand);
  // Copies the operands added so far.
  void Own();
  [[nodiscard]] size_t size() const { return entries_.size(); }  // entries to be taken

  // Merges the operands, at least one, into one entry with the newest one's sequence number. With
  // an unknown base they become one operand if the operator can merge operands with each other, and
  // otherwise stay; they also stay without an operator. With a known base, returns the error of
  // MergeCaller::Full, with the operands unchanged. `user_key` has no timestamp. `value` is that of
  // the base, and must live to the end of the round; it is not used with kUnknown and kNone.
  Status Merge(const Slice& user_key, Base base, const Slice& value);
  // Leaves all operands unchanged.
  void Leave() { Settle(); }
  // Merges a single operand without a base, outside of rounds. Sets *result to the value, and *type
  // to the type, of the entry that results; *result lives until the next call. `user_key` has no
  // timestamp. Errors: those of MergeCaller::Full; both are undefined then.
  Status MergeAlone(const Slice& user_key, const Slice& operand, Slice* result, ValueType* type);
  [[nodiscard]] bool wants_single_operand() const { return wants_single_operand_; }
  // Returns the type of all entries: kTypeMerge or, of one entry, kTypeValue or
  // kTypeWideColumnEntity.
  [[nodiscard]] ValueType type() const { return type_; }

  // Sets *sequence and *value to the next entry, newest first; the value lives until Start. Returns
  // false if there are no more.
  bool Take(SequenceNumber* sequence, Slice* value) {
    if (taken_ == entries_.size()) return false;
    *sequence = entries_[taken_].sequence;
    *value = entries_[taken_].value;
    taken_++;
    return true;
  }

 private:
  // Marks an entry whose bytes belong to the caller.
  static constexpr size_t kBorrowed = SIZE_MAX;

  struct Entry {
    SequenceNumber sequence;
    Slice value;
    size_t owned_at;  // offset of its bytes in owned_; kBorrowed: they are elsewhere
  };

  // Points the entries at their copies, which do not move any more in this round.
  void Settle();
  // Merges all operands into one, without a base. Returns false if the operator cannot.
  bool MergePartly(const Slice& user_key);
  // Makes one entry of all, with the newest one's sequence number.
  void Become(ValueType type, const Slice& value);

  const MergeCaller* const merge_;
  const bool wants_single_operand_;
  std::vector<Entry> entries_;  // newest first
  size_t borrowed_from_ = 0;    // entries before it are owned
  // Number of entries that Take has returned.
  size_t taken_ = 0;
  // The type of what Take returns.
  ValueType type_ = kTypeMerge;
  // Bytes of the owned entries, one after the other, and the operator's result.
  std::string owned_;
  std::string merged_;
  // The operands as the operator wants them, oldest first.
  std::vector<Slice> operands_;
  std::deque<Slice> partial_operands_;
};

}  // namespace varve
