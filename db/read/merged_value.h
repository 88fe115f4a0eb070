// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the merge operands of the key that a walk shows, and the operator's result.

#include <cstddef>
#include <span>
#include <string>

#include "varve/slice.h"
#include "varve/statistics.h"
#include "varve/status.h"

#include "util/iter/internal_iterator.h"
#include "util/key/merge_caller.h"
#include "util/key/merge_operands.h"

namespace varve {

// The operands stay where they lie: the newest in the batch of entries that the walk is in, the
// others pinned. Before the source moves, Pin must be called.
//
// Thread safety: none. Lifetime: the operands that are not pinned live until the source moves.
class MergedValue {
 public:
  // Must be called before the operands of a key are added. Requires !active().
  void Begin();
  // True from Begin until Clear.
  [[nodiscard]] bool active() const { return active_; }
  // Adds the next older operands.
  void Add(std::span<const BatchEntry> operands) { operands_.AddPinned(operands); }
  // Adds the value below the operands; nothing may be added afterwards.
  void AddBase(const Slice& value) { operands_.AddPinnedBase(value); }
  // Does the same with an entity.
  void AddEntity(const Slice& entity) {
    operands_.AddPinnedBase(entity);
    operands_.SetBaseIsEntity();
  }
  // Pins what was added since the last call, or copies it if the source can't pin.
  void Pin(InternalIterator* source);
  // Calls the operator with all operands, and sets *result and *form. The result lives until the
  // next call of Clear. Requires at least one operand. `key` has no timestamp. Errors: those of
  // MergeCaller::Full.
  Status Merge(const MergeCaller& merger, const Slice& key, Statistics* statistics, Slice* result,
               ValueForm* form);
  // Releases the operands.
  void Clear() {
    active_ = false;
    operands_.Clear();
  }

 private:
  MergeOperands operands_;
  size_t pinned_ = 0;  // number pinned or copied
  std::string buffer_;
  bool active_ = false;
};

}  // namespace varve
