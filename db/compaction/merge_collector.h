// SPDX-License-Identifier: Apache-2.0
#pragma once

// The merge operands of one key between two snapshots, and what a flush or a compaction makes of
// them: a value where what they apply to is known, otherwise as few operands as the user's operator
// can make.

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

// One round for each run of operands: Start, Add or AddCopy newest first, Merge or Leave, then Take
// until it says no. Used again, it allocates nothing for runs as small as those before.
//
// Thread safety: none.
class MergeCollector {
 public:
  // What the operands apply to.
  enum class Base : uint8_t {
    kUnknown,  // not seen: it may be deeper
    kNone,
    kValue,
  };

  // `merge`, borrowed, may be without an operator: then operands stay as they are.
  explicit MergeCollector(const MergeCaller* merge)
      : merge_(merge), wants_single_operand_(merge->WantsSingleOperand()) {}
  MergeCollector(const MergeCollector&) = delete;
  MergeCollector& operator=(const MergeCollector&) = delete;

  void Start();
  // The bytes live until the end of the round, or until Own.
  void Add(SequenceNumber sequence, const Slice& operand) {
    entries_.push_back({sequence, operand, kBorrowed});
  }
  void AddCopy(SequenceNumber sequence, const Slice& operand);
  // Copies what was added so far.
  void Own();
  [[nodiscard]] size_t size() const { return entries_.size(); }  // entries to be taken, or left

  // Makes one entry of the operands, at least one, with the newest one's sequence, if it can.
  // Corruption: the operator failed on what it must be able to do, and the operands are as they
  // were. `value` is the base's, and lives to the end of the round.
  Status Merge(const Slice& user_key, Base base, const Slice& value);
  // All operands stay as they are.
  void Leave() { Settle(); }
  // Merges a single operand on nothing, outside of rounds. *result lives until the next call.
  Status MergeAlone(const Slice& user_key, const Slice& operand, Slice* result);
  [[nodiscard]] bool wants_single_operand() const { return wants_single_operand_; }
  // Of all entries: kTypeValue, of one, or kTypeMerge.
  [[nodiscard]] ValueType type() const { return type_; }

  // The next entry, newest first; the value lives until Start. False: there are no more.
  bool Take(SequenceNumber* sequence, Slice* value) {
    if (taken_ == entries_.size()) return false;
    *sequence = entries_[taken_].sequence;
    *value = entries_[taken_].value;
    taken_++;
    return true;
  }

 private:
  static constexpr size_t kBorrowed = SIZE_MAX;

  struct Entry {
    SequenceNumber sequence;
    Slice value;
    size_t owned_at;  // where in owned_ its bytes are; kBorrowed: they are elsewhere
  };

  void Settle();
  bool MergePartly(const Slice& user_key);
  void Become(ValueType type, const Slice& value);

  const MergeCaller* const merge_;
  const bool wants_single_operand_;
  std::vector<Entry> entries_;  // newest first
  size_t borrowed_from_ = 0;    // entries before it are owned
  size_t taken_ = 0;
  ValueType type_ = kTypeMerge;
  std::string owned_;
  std::string merged_;
  // As the operator wants them, oldest first.
  std::vector<Slice> operands_;
  std::deque<Slice> partial_operands_;
};

}  // namespace varve
