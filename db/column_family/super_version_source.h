// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a long-lived reader with its next super-version and sequence number.

#include <atomic>
#include <cstdint>

#include "varve/types.h"

#include "db/column_family/super_version.h"

namespace varve {

class QueryTrace;

// Counts the iterators and handles of a database that users have not deleted yet, for Close. The
// counts are relaxed, and exact once no thread makes or deletes any more. Has its own cache line:
// every iterator writes here, and every look-up reads the neighbouring data.
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
  // True if the snapshot is of this database and was not released. Cheap: two loads from it.
  virtual bool Holds(const Snapshot* /*snapshot*/) const { return true; }
  // Returns the counters, which live as long as the source, or null if there are none.
  virtual ReferenceCounts* references() { return nullptr; }

  // Return where seeks are noted, null if they are not, and the family's id for those notes.
  QueryTrace* query_trace() const { return query_trace_; }
  uint32_t traced_family() const { return traced_family_; }

 protected:
  void SetTrace(QueryTrace* trace, uint32_t family) {
    query_trace_ = trace;
    traced_family_ = family;
  }

 private:
  QueryTrace* query_trace_ = nullptr;
  uint32_t traced_family_ = 0;
};

}  // namespace varve
