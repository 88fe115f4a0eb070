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
  };

  // `merge` is borrowed and may have no operator: then operands do not change.
  explicit MergeCollector(const MergeCaller* merge)
      : merge_(merge), wants_single_operand_(merge->WantsSingleOperand()) {}
  MergeCollector(const MergeCollector&) = delete;
  MergeCollector& operator=(const MergeCollector&) = delete;

  void Start();
  // Adds an operand, whose bytes must live until the end of the round, or until Own.
  void Add(SequenceNumber sequence, const Slice& operand) {
    entries_.push_back({sequence, operand, kBorrowed});
  }
  void AddCopy(SequenceNumber sequence, const Slice& operand);
  // Copies the operands added so far.
  void Own();
  [[nodiscard]] size_t size() const { return entries_.size(); }  // entries to be taken

  // Merges the operands, at least one, into one entry with the newest one's sequence number, if
  // possible. Returns Corruption, with the operands unchanged, if the operator failed where it must
  // not. `value` is that of the base, and must live to the end of the round.
  Status Merge(const Slice& user_key, Base base, const Slice& value);
  // Leaves all operands unchanged.
  void Leave() { Settle(); }
  // Merges a single operand without a base, outside of rounds. *result lives until the next call.
  Status MergeAlone(const Slice& user_key, const Slice& operand, Slice* result);
  [[nodiscard]] bool wants_single_operand() const { return wants_single_operand_; }
  // Returns the type of all entries: kTypeValue (of one entry) or kTypeMerge.
  [[nodiscard]] ValueType type() const { return type_; }

  // Returns the next entry, newest first; the value lives until Start. Returns false if there are
  // no more.
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
    size_t owned_at;  // offset of its bytes in owned_; kBorrowed: they are elsewhere
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
  // The operands as the operator wants them, oldest first.
  std::vector<Slice> operands_;
  std::deque<Slice> partial_operands_;
};

}  // namespace varve
