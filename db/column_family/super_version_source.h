// SPDX-License-Identifier: Apache-2.0
#pragma once

// SuperVersionSource provides iterators with super-versions and sequence numbers.

#include <atomic>
#include <cstdint>

#include "varve/types.h"

#include "db/column_family/super_version.h"

namespace varve {

class QueryTrace;

// Counts the iterators and handles of a database that users have not deleted yet, for Close. The
// counts are relaxed, and exact once no thread makes or deletes any. Has its own cache line, since
// every iterator writes here.
struct alignas(64) ReferenceCounts {
  std::atomic<int64_t> iterators{0};
  std::atomic<int64_t> handles{0};  // excludes the DB's own handle of the default family
};

// Implemented by ColumnFamily and SingleTable. Thread-safe.
class SuperVersionSource {
 public:
  virtual ~SuperVersionSource() = default;
  // Returns the newest super-version with a reference: the caller must call Unref.
  virtual SuperVersion* AcquireSuperVersion() = 0;
  // Returns the sequence number for a new reader without a snapshot.
  virtual SequenceNumber VisibleSequence() = 0;
  // Returns a number that grows with each new super-version (cheap: one atomic load).
  virtual uint64_t SuperVersionNumber() const = 0;
  // Returns true if the snapshot is of this database and was not released. Cheap.
  virtual bool Holds(const Snapshot* /*snapshot*/) const { return true; }
  // Returns the counters, which live as long as the source, or null if there are none.
  virtual ReferenceCounts* references() { return nullptr; }

  // Return the trace that records seeks, or null, and the family's id in it.
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
