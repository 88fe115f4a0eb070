// SPDX-License-Identifier: Apache-2.0
#pragma once

// A named position in a change stream, as the MANIFEST stores it (FORMAT.md).

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

// Limits the named positions of a database, as every new MANIFEST repeats all of them in one
// record. A MANIFEST that has more is read all the same.
inline constexpr size_t kChangePositionsMax = 10000;

// Plain data.
struct ChangePosition {
  std::string name;
  bool dropped = false;     // true: there is no position of that name any more
  SequenceNumber next = 0;  // the first sequence number not delivered yet
  uint64_t log = 0;         // logs from this one on have these changes
  uint64_t max_bytes = 0;   // limit of logs kept for this alone; 0: none
  // Limit of seconds without a move while any are kept for this alone; 0: none.
  uint64_t max_seconds = 0;
  // Not 0: logs were deleted, and with them the changes of these sequence numbers.
  SequenceNumber first_lost = 0;
  SequenceNumber last_lost = 0;

  bool expired() const { return first_lost != 0; }
  // Appends the encoded position.
  void EncodeTo(std::string* dst) const;
  // Sets all members. Returns false, with the members undefined, for bytes that are none.
  bool DecodeFrom(const Slice& bytes);
};

}  // namespace varve
