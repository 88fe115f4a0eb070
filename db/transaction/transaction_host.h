// SPDX-License-Identifier: Apache-2.0
#pragma once

// TransactionHost declares what transactions need from the database beyond its public calls.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "db/read/evidence_holds.h"

namespace varve {

class ColumnFamilyHandle;
class DB;
class Comparator;
class Snapshot;
class WriteBatch;
struct PreparedTransaction;
struct ReadOptions;
struct WriteCondition;
struct ColumnFamilyDescriptor;
struct DBOptions;
struct WriteOptions;

// Thread safety: any thread.
class TransactionHost {
 public:
  virtual ~TransactionHost() = default;

  // Returns OK if the handle is one of this database's, otherwise InvalidArgument. It must be
  // called before the calls that use only the family's id.
  virtual Status CheckHandle(ColumnFamilyHandle* handle) const = 0;
  // Like CheckHandle, for a read: also checks that the snapshot of the options is this database's
  // and that the database is open. Dropped families can be read.
  virtual Status CheckRead(const ReadOptions& options, ColumnFamilyHandle* handle) const = 0;
  // Like CheckHandle, for a write or a lock: also checks that the family is not dropped.
  virtual Status CheckUpdate(ColumnFamilyHandle* handle) const = 0;

  // Describes the newest visible write to a key, or to a range that contains it.
  struct NewestWrite {
    bool found = false;
    SequenceNumber sequence = 0;  // 0 also for a write so old that its number was dropped.
  };
  // Sets both members of *newest to the newest write of the user key, which has no timestamp. Every
  // write that has returned is visible. Writes that compactions have dropped are not found;
  // compactions keep what distinguishes the state of a held snapshot from the present one.
  virtual Status FindNewest(ColumnFamilyHandle* family, const Slice& key, NewestWrite* newest) = 0;
  // Sets *newer to whether the user key, given without timestamp, may have a write with a timestamp
  // above this one, which has the size of the family's. It is true, too, if `timestamp` lies before
  // full_history_ts_low, as nothing is known of that time.
  virtual Status HasNewerTimestamp(ColumnFamilyHandle* family, const Slice& key,
                                   const Slice& timestamp, bool* newer) = 0;
  // Starts the background work of a database that OpenIdle opened. May throw the exceptions of
  // starting a thread.
  virtual void StartWork() = 0;
  // Allows conditional writes (WriteIf): from now on every write records which keys it changes.
  // Cannot be undone.
  virtual void WatchKeys() = 0;
  // Works like DB::Write; returns Busy, with nothing written, if the condition refuses.
  virtual Status WriteIf(const WriteOptions& options, WriteBatch* updates,
                         WriteCondition* condition) = 0;
  // Adds to the bytes that open transactions hold (negative: subtracts), for the property
  // varve.memory.
  virtual void ChargeTransactions(int64_t bytes) = 0;
  // Counts a committed transaction with that many updates in the statistics.
  virtual void CountTransaction(uint64_t updates) = 0;
  // Waits until all sequence numbers assigned before the call are visible, then returns the newest
  // visible one.
  virtual SequenceNumber WaitForAllWrites() = 0;
  // Returns a snapshot that allows conflict checks: compactions keep evidence of each change after
  // it. Returns nullptr in the cases of GetSnapshot.
  virtual const Snapshot* CheckedSnapshot() = 0;
  // Returns the sequence number of the newest change of the family that may have been lost without
  // evidence when files were deleted (DeleteFilesInRanges); 0: none. A change that FindNewest has
  // missed for that reason is included in the result of a later call of this.
  virtual SequenceNumber NewestDroppedWithFiles(ColumnFamilyHandle* family) = 0;
  // Returns a snapshot whose GetTimestamp() is `timestamp`; nullptr in the cases of GetSnapshot.
  virtual const Snapshot* TimestampedSnapshot(uint64_t timestamp) = 0;
  // Makes compactions keep evidence of each change after the visible sequence number at the return,
  // until ReleaseEvidence. Returns null if the caller must take a snapshot instead.
  virtual EvidenceHolds::Slot* HoldEvidence(const void* holder) = 0;
  // Ends a hold of HoldEvidence.
  virtual void ReleaseEvidence(EvidenceHolds::Slot* slot) = 0;
  // Returns the comparator of the column family with this id; nullptr if there is none.
  virtual const Comparator* ComparatorOf(uint32_t family) = 0;
  // Returns a handle of the column family with this id, which must be destroyed before the
  // database; nullptr if there is none.
  virtual std::unique_ptr<ColumnFamilyHandle> OpenFamily(uint32_t family) = 0;

  // The calls below are for two-phase commit. A PreparedTransaction is a prepared transaction as
  // the database keeps it: its name and updates, until it is committed or rolled back (decided).

  // Prepares a transaction: logs the updates, even with disableWAL, and sets *prepared, which is
  // the database's and can be found by name until it is decided. InvalidArgument: an undecided
  // transaction has the name, or the database was opened without DBOptions::allow_2pc.
  virtual Status PrepareTransaction(const WriteOptions& options, const std::string& name,
                                    const WriteBatch& updates, PreparedTransaction** prepared) = 0;
  // Decide a prepared transaction. After OK *prepared no longer exists; after a failure it is still
  // undecided, and either decision may be tried. A commit inserts `updates`, then those that were
  // prepared, and sets *first to the sequence number of the first one. `timestamp` is set in the
  // prepared keys that have one; InvalidArgument if it is empty and a key needs one.
  virtual Status CommitPrepared(const WriteOptions& options, PreparedTransaction* prepared,
                                const WriteBatch& updates, const Slice& timestamp,
                                SequenceNumber* first) = 0;
  virtual Status RollbackPrepared(const WriteOptions& options, PreparedTransaction* prepared) = 0;
  // Claims and returns the prepared transactions that no Transaction object has.
  virtual std::vector<PreparedTransaction*> ClaimPrepared() = 0;
  // Gives up a claim: called when a Transaction is destroyed while its prepared updates are
  // undecided.
  virtual void AbandonPrepared(PreparedTransaction* prepared) = 0;
  // True if an undecided prepared transaction has this name.
  virtual bool HasPrepared(const std::string& name) = 0;
  // Returns the number of the log that holds the prepared updates.
  virtual uint64_t LogOfPrepared(const PreparedTransaction* prepared) = 0;
};

// Works like DB::Open, but does not start background work: the caller lets its host start it when
// everything that users get from the opening is in place, because user callbacks may use it. Until
// then calls on the database are limited to those of a recovery (db/recovery/README.md).
Status OpenIdle(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db);

}  // namespace varve
