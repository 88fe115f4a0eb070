// SPDX-License-Identifier: Apache-2.0
#pragma once

// A named position in what was written, as the MANIFEST keeps it (FORMAT.md).

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/types.h"

namespace varve {

// Plain data.
struct ChangePosition {
  std::string name;
  bool dropped = false;     // there is none of that name any more
  SequenceNumber next = 0;  // the first that is wanted
  uint64_t log = 0;         // from this one on logs have them
  uint64_t max_bytes = 0;   // of logs that nothing else needs; 0: no bound
  uint64_t max_seconds = 0;
  // Not 0: logs have gone, and with them these numbers.
  SequenceNumber first_lost = 0;
  SequenceNumber last_lost = 0;

  bool expired() const { return first_lost != 0; }
  void EncodeTo(std::string* dst) const;
  bool DecodeFrom(const Slice& bytes);
};

}  // namespace varve
