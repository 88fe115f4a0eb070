// SPDX-License-Identifier: Apache-2.0
#pragma once

// TransactionHost: what transactions ask of the database beyond its public calls.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

#include "db/read/trace_holds.h"

namespace varve {

class ColumnFamilyHandle;
class DB;
class Comparator;
class Snapshot;
class WriteBatch;
struct PreparedSection;
struct ReadOptions;
struct WriteCondition;
struct ColumnFamilyDescriptor;
struct DBOptions;
struct WriteOptions;

// Thread safety: any thread.
class TransactionHost {
 public:
  virtual ~TransactionHost() = default;

  // Asked before a call does anything else, as all that follows goes by the family's id. OK: the
  // handle is one of this database's. InvalidArgument otherwise.
  virtual Status CheckHandle(ColumnFamilyHandle* handle) const = 0;
  // The same for a read: the snapshot of the options is this database's, too, and it is open. What
  // was dropped can be read.
  virtual Status CheckRead(const ReadOptions& options, ColumnFamilyHandle* handle) const = 0;
  // The same for a write, or a lock: the family is not dropped.
  virtual Status CheckUpdate(ColumnFamilyHandle* handle) const = 0;

  // The newest visible write to the key, or to a range it lies in. Every write that has returned is
  // visible. What compactions have dropped is not found, and may have been before it: they keep
  // what tells a held snapshot's state from the present one.
  struct NewestWrite {
    bool found = false;
    SequenceNumber sequence = 0;  // 0 also of a write so old that its number was dropped
  };
  virtual Status FindNewest(ColumnFamilyHandle* family, const Slice& key, NewestWrite* newest) = 0;
  // Whether, by the same means, there is a write with a timestamp above this one, which is of the
  // size that the family's have.
  virtual Status HasNewerTimestamp(ColumnFamilyHandle* family, const Slice& key,
                                   const Slice& timestamp, bool* newer) = 0;
  // Lets the background work of a database begin that was opened by OpenIdle. Throws what starting
  // a thread may throw.
  virtual void StartWork() = 0;
  // From now on writes may be conditional. Cannot be undone.
  virtual void WatchKeys() = 0;
  // DB::Write; Busy, and nothing is written, if the condition refuses.
  virtual Status WriteIf(const WriteOptions& options, WriteBatch* updates,
                         WriteCondition* condition) = 0;
  // Open transactions hold so many bytes more, or less: for the property varve.memory.
  virtual void ChargeTransactions(int64_t bytes) = 0;
  // A transaction of so many updates has committed: for the statistics.
  virtual void CountTransaction(uint64_t updates) = 0;
  // The newest visible sequence, once all that was given out before the call is visible.
  virtual SequenceNumber WaitForAllWrites() = 0;
  // A snapshot beside which keys can be checked: compactions leave a trace of each change after it.
  // nullptr as GetSnapshot.
  virtual const Snapshot* CheckedSnapshot() = 0;
  // The newest change of the family that may have gone without a trace, with files that were
  // deleted for what they held (DeleteFilesInRanges); 0: none. What FindNewest did not find has
  // been counted here before.
  virtual SequenceNumber NewestDroppedWithFiles(ColumnFamilyHandle* family) = 0;
  // A snapshot that tells this timestamp; nullptr as GetSnapshot.
  virtual const Snapshot* TimestampedSnapshot(uint64_t timestamp) = 0;
  // Until ReleaseTraces, compactions leave a trace of each change after what is visible when this
  // has returned. Null: ask for a snapshot.
  virtual TraceHolds::Slot* HoldTraces(const void* holder) = 0;
  virtual void ReleaseTraces(TraceHolds::Slot* slot) = 0;
  // nullptr: there is no such column family.
  virtual const Comparator* ComparatorOf(uint32_t family) = 0;
  // A handle that goes before the database; nullptr: there is no such column family.
  virtual std::unique_ptr<ColumnFamilyHandle> OpenFamily(uint32_t family) = 0;

  // Two-phase commit. The updates are logged, whatever disableWAL says, and found again by name
  // until they are decided. InvalidArgument: the name is that of an undecided section, or the
  // database was opened without DBOptions::allow_2pc.
  virtual Status PrepareSection(const WriteOptions& options, const std::string& name,
                                const WriteBatch& updates, PreparedSection** section) = 0;
  // After OK the section is gone; after a failure it is undecided as before, and either decision
  // may be tried. Of a commit, `updates` come before the section's, and *first is their sequence.
  // The timestamp is for the section's keys; InvalidArgument if it is empty and any needs one.
  virtual Status CommitSection(const WriteOptions& options, PreparedSection* section,
                               const WriteBatch& updates, const Slice& timestamp,
                               SequenceNumber* first) = 0;
  virtual Status RollbackSection(const WriteOptions& options, PreparedSection* section) = 0;
  // Those that no transaction has; from now on they have one.
  virtual std::vector<PreparedSection*> ClaimSections() = 0;
  // The transaction goes, undecided.
  virtual void AbandonSection(PreparedSection* section) = 0;
  virtual bool HasSection(const std::string& name) = 0;
  virtual uint64_t LogOfSection(const PreparedSection* section) = 0;
};

// DB::Open, but for the background work: the caller has its host start that when all that users get
// of the opening is in its place, as what they registered may look there. What a handle of the
// database calls until then is what a recovery calls (db/recovery/README.md).
Status OpenIdle(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db);

}  // namespace varve
