// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Snapshot is a state of the DB that stays readable until it is released.
//
//   varve::ManagedSnapshot now(db);
//   varve::ReadOptions options;
//   options.snapshot = now.snapshot();
//   varve::Status s = db->Get(options, "key", &value);  // later writes are not seen
//
// A snapshot costs no copy of data: it keeps compactions from dropping the versions that it sees.
// One that is forgotten lets the database grow.

#include <cstdint>

#include "varve/export.h"
#include "varve/types.h"

namespace varve {

class DB;

/// A state of the database. It is made by DB::GetSnapshot(), and released by DB::ReleaseSnapshot(),
/// never deleted. Immutable, so any number of threads may use it.
class Snapshot {
 public:
  /// Returns the sequence number of the newest write that the snapshot shows.
  virtual SequenceNumber GetSequenceNumber() const = 0;
  /// Returns the time of creation in seconds since 1970.
  virtual int64_t GetUnixTime() const = 0;
  /// Returns the timestamp that TransactionDB::CreateTimestampedSnapshot gave it; UINT64_MAX: none.
  virtual uint64_t GetTimestamp() const = 0;

 protected:
  virtual ~Snapshot() = default;
};

/// Holds a snapshot for a scope. The DB must outlive it.
class VARVE_EXPORT ManagedSnapshot {
 public:
  /// Takes a new snapshot.
  explicit ManagedSnapshot(DB* db);
  /// Takes ownership of `_snapshot`, a snapshot of `db`; may be null.
  ManagedSnapshot(DB* db, const Snapshot* _snapshot);
  ManagedSnapshot(const ManagedSnapshot&) = delete;
  ManagedSnapshot& operator=(const ManagedSnapshot&) = delete;
  /// Releases the snapshot.
  ~ManagedSnapshot();

  /// Returns the snapshot, which belongs to this object; null if none could be taken
  /// (DB::GetSnapshot).
  const Snapshot* snapshot() { return snapshot_; }

 private:
  DB* db_;
  const Snapshot* snapshot_;
};

}  // namespace varve
