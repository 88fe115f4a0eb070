// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a long-lived reader with its next super-version and sequence number.

#include <atomic>
#include <cstdint>

#include "varve/types.h"

#include "db/column_family/super_version.h"

namespace varve {

// Counts what users hold of a database, for Close. Relaxed: exact once no thread takes or releases
// references any more. Has its own cache line: every iterator writes here, and every look-up reads
// the neighbouring data.
struct alignas(64) ReferenceCounts {
  std::atomic<int64_t> iterators{0};
  std::atomic<int64_t> handles{0};  // excludes the DB's own handle of the default family
};

// Implemented by the column family. Thread safety: all methods may be called from any thread.
class SuperVersionSource {
 public:
  virtual ~SuperVersionSource() = default;
  // Returns the newest super-version with a reference: the caller must call Unref.
  virtual SuperVersion* AcquireSuperVersion() = 0;
  // Returns the newest sequence number that a new reader may see.
  virtual SequenceNumber VisibleSequence() = 0;
  // Returns a number that grows with each new super-version (cheap: one atomic load).
  virtual uint64_t SuperVersionNumber() const = 0;
  // True if the snapshot is held here. Needs two loads from it.
  virtual bool Holds(const Snapshot* /*snapshot*/) const { return true; }
  // Returns the counters, which live as long as the source, or null if there are none.
  virtual ReferenceCounts* references() { return nullptr; }
};

}  // namespace varve
