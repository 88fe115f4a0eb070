// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a long-lived reader gets its next super-version and sequence from.

#include <atomic>
#include <cstdint>

#include "varve/types.h"

#include "db/column_family/super_version.h"

namespace varve {

// What users hold of a database, counted for Close. Relaxed: exact once nobody takes or gives back
// any more. Alone in its cache line: every iterator writes here, and what lies beside it is read by
// every look-up.
struct alignas(64) ReferenceCounts {
  std::atomic<int64_t> iterators{0};
  std::atomic<int64_t> handles{0};  // without the default family's that the DB itself has
};

// Implemented by the column family. Thread safety: all methods from any thread.
class SuperVersionSource {
 public:
  virtual ~SuperVersionSource() = default;
  // The newest super-version, counted: the caller calls Unref.
  virtual SuperVersion* AcquireSuperVersion() = 0;
  // Newest sequence that a new reader may see.
  virtual SequenceNumber VisibleSequence() = 0;
  // Grows with each new super-version (cheap: one atomic load).
  virtual uint64_t SuperVersionNumber() const = 0;
  // Whether the snapshot is held here. Two loads from it.
  virtual bool Holds(const Snapshot* /*snapshot*/) const { return true; }
  // Null: nobody counts. Lives as long as the source.
  virtual ReferenceCounts* references() { return nullptr; }
};

}  // namespace varve
