// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Snapshot: a state of the DB that stays readable until it is released.

#include <cstdint>

#include "varve/export.h"
#include "varve/types.h"

namespace varve {

class DB;

/// From DB::GetSnapshot(); released by DB::ReleaseSnapshot(), never deleted. Immutable, so any
/// number of threads may use it.
class Snapshot {
 public:
  /// The newest write that is visible.
  virtual SequenceNumber GetSequenceNumber() const = 0;
  /// When it was taken, seconds since 1970.
  virtual int64_t GetUnixTime() const = 0;
  /// User timestamp of a timestamped snapshot, otherwise the maximum.
  virtual uint64_t GetTimestamp() const = 0;

 protected:
  virtual ~Snapshot() = default;
};

/// Holds a snapshot for a scope. The DB must outlive it.
class VARVE_EXPORT ManagedSnapshot {
 public:
  /// Takes a new one.
  explicit ManagedSnapshot(DB* db);
  /// Takes `_snapshot` over.
  ManagedSnapshot(DB* db, const Snapshot* _snapshot);
  ManagedSnapshot(const ManagedSnapshot&) = delete;
  ManagedSnapshot& operator=(const ManagedSnapshot&) = delete;
  ~ManagedSnapshot();

  const Snapshot* snapshot() { return snapshot_; }

 private:
  DB* db_;
  const Snapshot* snapshot_;
};

}  // namespace varve
