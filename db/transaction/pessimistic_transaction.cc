// SPDX-License-Identifier: Apache-2.0

// A pessimistic transaction goes through these states, from its beginning to its end:
//
//              Use (locks)            Prepare             Commit
//    STARTED ------------+--------------------> PREPARED --------> COMMITTED
//       |                |  Commit                  |
//       |                +---------------------> COMMITTED
//       | Rollback: stays STARTED, without locks    | Rollback (logged)
//       | expired, and another took a lock          +------------> ROLLEDBACK
//       +--> LOCKS_STOLEN: only Rollback
//
// Updates are in the batch until Commit, so nothing has to be undone in the database. Commit of an
// unprepared transaction is one DB::Write. Prepare hands the updates to the database (prepared_),
// which logs them and keeps them until they are decided, whatever becomes of this object.
//
// Invariants:
//
// 1. A key is locked before it is read for update or written, and stays locked until the end or a
//    rollback beyond its use. Locks are released after the commit is visible.
// 2. unchanged_since of a lock says since when the key is known to be unchanged by others. It is
//    checked against the snapshot once; while the lock is held no other transaction changes the
//    key, so later uses need no look-up.
// 3. The state moves from STARTED by compare and exchange if the transaction may expire, as a
//    waiter may declare its locks stolen at the same time: only one of the two succeeds
//    (LockOwner::MoveState).
// 4. A failed Commit, Prepare or Rollback of prepared updates leaves the state as it was: the call
//    may be repeated.
// 5. While there are save points, every use of a lock is in uses_; RollbackUses undoes them from
//    the end, so a lock is released exactly if no use from before the save point remains.
// 6. Prepared updates that this object leaves behind (LeavePrepared) keep their locks in the
//    registry: no other transaction may write those keys before they are decided.

#include "db/transaction/pessimistic_transaction.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "db/engine/prepared_transactions.h"
#include "db/write/write_batch_internal.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"

namespace varve {

namespace {

// RocksDB's limit.
constexpr size_t kNameBytesMax = 512;

// Number of ids that an object reserves at once, so that a transaction which is begun again and
// again does not access the shared counter each time.
constexpr uint64_t kIdsAtOnce = 16;

// Value of HeldLock::unchanged_since for a key that was locked without a check, so that it is
// unknown since when it is unchanged.
constexpr SequenceNumber kNotChecked = kMaxSequenceNumber;

// Converts milliseconds of the API to microseconds; negative stays negative.
int64_t MicrosOf(int64_t milliseconds) {
  return milliseconds < 0 ? -1 : std::min(milliseconds, INT64_MAX / 1000) * 1000;
}

// Encodes a timestamp for BytewiseComparatorWithU64Ts.
std::string BytesOf(TxnTimestamp timestamp) {
  std::string bytes;
  PutFixed64(&bytes, timestamp);
  return bytes;
}

// Returns the memory of a range lock.
size_t BytesOf(const HeldRange& range) {
  return sizeof(range) + range.range.begin.key.size() + range.range.end.key.size();
}

RangeEnd EndOf(const Endpoint& endpoint) {
  return {endpoint.slice.ToString(),
          endpoint.inf_suffix ? RangeEnd::Place::kAboveAllWithPrefix : RangeEnd::Place::kAt};
}

}  // namespace

TransactionID TakeTransactionIds(uint64_t count) {
  static std::atomic<TransactionID> next{1};
  return next.fetch_add(count, std::memory_order_relaxed);
}

// ---- Locks of a transaction ----

void LocksHeld::Add(HeldLock* lock) {
  VARVE_ASSERT(lock->owner == &owner);
  lock->previous = last;
  lock->next = nullptr;
  (last == nullptr ? first : last->next) = lock;
  last = lock;
  keys++;
}

void LocksHeld::GiveBack(LockTable* table, HeldLock* lock) {
  VARVE_ASSERT(lock->reads == 0 && lock->writes == 0);
  (lock->previous == nullptr ? first : lock->previous->next) = lock->next;
  (lock->next == nullptr ? last : lock->next->previous) = lock->previous;
  keys--;
  table->Unlock(lock);
  owner.Reuse(lock);
}

void LocksHeld::GiveBackLastRange(LockTable* table) {
  range_bytes -= BytesOf(ranges.back());
  table->UnlockRange(&ranges.back());
  ranges.pop_back();
}

// Keys are released before ranges, as LockRanges::Yields relies on it. The memory of the records is
// freed at the end, in one piece, so their `next` can be read until then.
void LocksHeld::GiveAllBack(LockTable* table) {
  for (HeldLock* lock = first; lock != nullptr; lock = lock->next) table->Unlock(lock);
  first = last = nullptr;
  keys = 0;
  while (!ranges.empty()) GiveBackLastRange(table);
  owner.ForgetLocks();
}

TransactionRegistry::~TransactionRegistry() {
  MutexLock lock(&names_mu);
  while (left != nullptr) {
    const std::unique_ptr<LocksHeld> gone(std::exchange(left, left->next));
    gone->GiveAllBack(&locks);
  }
}

// ---- The beginning ----

PessimisticTransaction::~PessimisticTransaction() {
  // The name is removed before the locks, which other threads may read through
  // GetTransactionByName.
  ForgetName();
  if (recovered_) [[unlikely]] {
    MutexLock lock(&registry_->names_mu);
    registry_->recovered.erase(this);
  }
  if (prepared_ != nullptr) {
    LeavePrepared(nullptr);
  } else {
    ReleaseLocks();
    delete held();
  }
}

// Serves new objects, and old ones that are begun again in any state. If the old transaction is
// prepared, its locks stay with its updates (LeavePrepared). Memory for new ones is therefore
// allocated before anything changes.
void PessimisticTransaction::Begin(const WriteOptions& write_options,
                                   const TransactionOptions& options, int64_t default_timeout_ms) {
  auto others = prepared_ == nullptr ? nullptr : std::make_unique<LocksHeld>();
  ForgetName();
  if (prepared_ != nullptr) {
    LeavePrepared(std::move(others));
  } else {
    ReleaseLocks();
  }
  BeginBase(write_options, options.max_write_batch_size);
  const auto life_micros = static_cast<uint64_t>(MicrosOf(options.expiration));
  if (next_id_ == ids_end_) {
    next_id_ = TakeTransactionIds(kIdsAtOnce);
    ids_end_ = next_id_ + kIdsAtOnce;
  }
  owner().Begin(next_id_++, options.expiration > 0 ? LockClockMicros() + life_micros : 0);
  patience_.timeout_micros =
      MicrosOf(options.lock_timeout < 0 ? default_timeout_ms : options.lock_timeout);
  patience_.detect_deadlocks = options.deadlock_detect;
  patience_.detect_after_micros = options.deadlock_timeout_us;
  patience_.detect_depth = options.deadlock_detect_depth;
  skip_concurrency_control_ = options.skip_concurrency_control;
  skip_prepare_ = options.skip_prepare;
  committed_at_ = 0;
  read_timestamp_ = commit_timestamp_ = kMaxTxnTimestamp;
  if (options.set_snapshot) SetSnapshot();
}

// ---- The end ----

Status PessimisticTransaction::CheckActive() {
  const TransactionState state = owner().state();
  if (state == STARTED) [[likely]] {
    return owner().expires_at() == 0 || !owner().ExpiredAt(LockClockMicros()) ? Status::OK()
                                                                              : Status::Expired();
  }
  if (state == LOCKS_STOLEN) return Status::Expired();
  if (state == PREPARED) {
    return Status::InvalidArgument(
        "transaction: it is prepared, so only Commit or Rollback can follow");
  }
  return Status::InvalidArgument("transaction: it has ended");
}

// From the first change of the state on others cannot take the locks, even after the expiration.
// After a failure the state is STARTED again, and they can.
Status PessimisticTransaction::Prepare() try {
  VARVE_RETURN_IF_ERROR(CheckActive());
  VARVE_RETURN_IF_ERROR(CheckWhole());
  if (name_.empty()) return Status::InvalidArgument("Prepare: the transaction has no name");
  if (!owner().MoveState(STARTED, AWAITING_PREPARE)) return Status::Expired();
  Status s = Guarded([&] {
    return host_->PrepareTransaction(write_options_, name_, *batch_.GetWriteBatch(), &prepared_);
  });
  owner().SetState(s.ok() ? PREPARED : STARTED);
  return s;
} catch (...) {
  return CaughtException();
}

// An announced snapshot (SetSnapshotOnNextOperation) is taken here if Commit is the next operation,
// but not by a commit that is refused. Its notifier may have called any method, so prepared_ is
// read again after it, and CommitUnprepared repeats the check.
Status PessimisticTransaction::Commit() {
  if (announced()) [[unlikely]] {
    if (prepared_ == nullptr) VARVE_RETURN_IF_ERROR(CheckCommit());
    VARVE_RETURN_IF_ERROR(CommitsSnapshot());
  }
  return prepared_ != nullptr ? CommitPrepared() : CommitUnprepared();
}

// The expiration is not checked: a prepared transaction does not expire. The database has the
// prepared updates (prepared_); batch_ has a copy of them for reads.
Status PessimisticTransaction::CommitPrepared() {
  VARVE_ASSERT(owner().state() == PREPARED);
  owner().SetState(AWAITING_COMMIT);
  SequenceNumber first = 0;
  const Status s = Guarded([&] {
    const std::string timestamp =
        commit_timestamp_ == kMaxTxnTimestamp ? "" : BytesOf(commit_timestamp_);
    return host_->CommitPrepared(write_options_, prepared_, *GetCommitTimeWriteBatch(), timestamp,
                                 &first);
  });
  if (!s.ok()) {
    owner().SetState(PREPARED);
    return s;
  }
  prepared_ = nullptr;
  committed_at_ = first;
  host_->CountTransaction(batch_.GetWriteBatch()->Count());
  End(COMMITTED);
  return s;
}

Status PessimisticTransaction::CheckCommit() {
  VARVE_RETURN_IF_ERROR(CheckActive());
  VARVE_RETURN_IF_ERROR(CheckWhole());
  if (!skip_prepare_) return Status::TxnNotPrepared();
  if (GetCommitTimeWriteBatch()->Count() == 0) return Status::OK();
  return Status::InvalidArgument(
      "Commit: a commit-time batch, and the transaction is not prepared");
}

// The order is: stamp, which may refuse; claim the state, from which on no waiter takes a lock;
// write; and only when the write is visible release the locks (End).
Status PessimisticTransaction::CommitUnprepared() try {
  VARVE_RETURN_IF_ERROR(CheckCommit());
  WriteBatch* const updates = batch_.GetWriteBatch();
  VARVE_RETURN_IF_ERROR(StampUpdates(updates));
  if (!owner().MoveState(STARTED, AWAITING_COMMIT)) return Status::Expired();
  if (VARVE_CANARY(kUnlockBeforeCommit)) ReleaseLocks();
  if (updates->GetDataSize() > kBatchHeaderBytes) {
    Status s = db_->Write(write_options_, updates);
    if (!s.ok()) {
      owner().SetState(STARTED);
      return s;
    }
    committed_at_ = WriteBatchInternal::Sequence(*updates);
  }
  host_->CountTransaction(updates->Count());
  End(COMMITTED);
  return Status::OK();
} catch (...) {
  if (owner().state() == AWAITING_COMMIT) owner().SetState(STARTED);
  return CaughtException();
}

Status PessimisticTransaction::StampUpdates(WriteBatch* updates) {
  if (!WriteBatchInternal::HasTimestamps(*updates)) [[likely]]
    return Status::OK();
  if (commit_timestamp_ != kMaxTxnTimestamp) {
    return updates->UpdateTimestamps(BytesOf(commit_timestamp_), [this](uint32_t family) {
      const Comparator* const comparator = host_->ComparatorOf(family);
      return comparator == nullptr ? 0 : comparator->timestamp_size();
    });
  }
  uint32_t family = 0;
  size_t timestamp_size = 0;
  if (!WriteBatchInternal::HasUnsetTimestamps(*updates, &family, &timestamp_size)) {
    return Status::OK();  // The caller has set them in the batch.
  }
  return Status::InvalidArgument(
      "Commit: the transaction has updated a column family with timestamps, and "
      "SetCommitTimestamp was not called");
}

Status PessimisticTransaction::CommitAndTryCreateSnapshot(
    std::shared_ptr<TransactionNotifier> notifier, TxnTimestamp ts,
    std::shared_ptr<const Snapshot>* snapshot) try {
  if (snapshot != nullptr) snapshot->reset();
  if (ts != kMaxTxnTimestamp && commit_timestamp_ != kMaxTxnTimestamp && ts != commit_timestamp_) {
    return Status::InvalidArgument(
        "CommitAndTryCreateSnapshot: SetCommitTimestamp was given another timestamp");
  }
  if (ts == kMaxTxnTimestamp && commit_timestamp_ == kMaxTxnTimestamp && snapshot != nullptr) {
    return Status::InvalidArgument("CommitAndTryCreateSnapshot: there is no timestamp");
  }
  if (ts != kMaxTxnTimestamp) VARVE_RETURN_IF_ERROR(SetCommitTimestamp(ts));
  const TxnTimestamp timestamp = commit_timestamp_;
  VARVE_RETURN_IF_ERROR(Commit());
  if (timestamp == kMaxTxnTimestamp) return Status::OK();
  std::shared_ptr<const Snapshot> taken;
  const Status s =
      Guarded([&] { return registry_->snapshots.Create(host_, db_, timestamp, &taken); });
  // The commit is done: without a snapshot *snapshot stays null, and whatever the notifier throws
  // is ignored.
  if (!s.ok()) return Status::OK();
  if (notifier != nullptr) {
    BestEffort([&] { notifier->SnapshotCreated(taken.get()); });
  }
  if (snapshot != nullptr) *snapshot = std::move(taken);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

// A transaction in STARTED continues after a rollback; one that has lost its locks, or was
// prepared, has ended.
Status PessimisticTransaction::Rollback() {
  const TransactionState state = owner().state();
  if (state == COMMITTED || state == ROLLEDBACK) {
    return Status::InvalidArgument("Rollback: the transaction has ended");
  }
  if (prepared_ != nullptr) {
    owner().SetState(AWAITING_ROLLBACK);
    Status s = Guarded([&] { return host_->RollbackPrepared(write_options_, prepared_); });
    if (!s.ok()) {
      owner().SetState(PREPARED);
      return s;
    }
    prepared_ = nullptr;
  } else if (state == STARTED) {
    // The transaction may continue, checked against the same snapshot and read timestamp; its later
    // updates get a new commit timestamp.
    ReleaseLocks();
    ClearUpdates();
    commit_timestamp_ = kMaxTxnTimestamp;
    if (VARVE_CANARY(kRollbackDropsSnapshot)) ClearSnapshot();
    return Status::OK();
  }
  End(ROLLEDBACK);
  return Status::OK();
}

// Replays the prepared updates into this object: each takes its lock beside other recovered ones
// (lock_table.cc, invariant 7), and the batch gets a copy for reads. Updates of families that were
// dropped since are skipped.
Status PessimisticTransaction::Adopt(PreparedTransaction* prepared) {
  prepared_ = prepared;
  patience_.adopts = true;
  Status s = Guarded([&] {
    VARVE_RETURN_IF_ERROR(TakeName(prepared->name));
    BatchReplay replay(this, &families_, BatchReplay::Missing::kSkip);
    return prepared->updates.Iterate(&replay);
  });
  patience_.adopts = false;
  owner().SetState(PREPARED);
  return s;
}

void PessimisticTransaction::ListRecovered() {
  MutexLock lock(&registry_->names_mu);
  registry_->recovered.insert(this);
  recovered_ = true;
}

// The object with the locks moves into the registry's list `left`, and `others` takes its place
// here. The keys stay locked until the registry is destroyed with the TransactionDB.
void PessimisticTransaction::LeavePrepared(std::unique_ptr<LocksHeld> others) noexcept {
  VARVE_ASSERT(prepared_ != nullptr);
  host_->AbandonPrepared(prepared_);
  prepared_ = nullptr;
  if (VARVE_CANARY(kUnlockUndecided)) ReleaseLocks();
  uses_.clear();
  marks_.clear();
  MutexLock lock(&registry_->names_mu);
  LocksHeld* const left = held();
  left->next = registry_->left;
  registry_->left = left;
  held_.store(others.release(), std::memory_order_release);
}

uint64_t PessimisticTransaction::GetLogNumber() const {
  return prepared_ != nullptr ? host_->LogOfPrepared(prepared_) : 0;
}

void PessimisticTransaction::End(TransactionState state) {
  VARVE_ASSERT(state == COMMITTED || state == ROLLEDBACK);
  ForgetName();
  ReleaseLocks();
  ClearUpdates();
  ClearSnapshot();
  owner().SetState(state);
}

void PessimisticTransaction::ReleaseLocks() {
  held()->GiveAllBack(locks_);
  uses_.clear();
  marks_.clear();
}

// ---- Keys ----

// Makes three steps, each of which is undone if a later one fails: it locks the key; takes an
// announced snapshot, which thus includes all changes that were made while the lock was waited for;
// and checks the key against the snapshot.
Status PessimisticTransaction::Use(ColumnFamilyHandle* family, const Slice& key, const KeyUse& use,
                                   UseNote* note) {
  VARVE_RETURN_IF_ERROR(CheckActive());
  if (skip_concurrency_control_) return TakeAnnouncedSnapshot();
  const bool is_plain = IsPlain(family);
  const LockKey lock_key = LockTable::KeyOf(is_plain ? 0 : family->GetID(), key);
  if (use.assume_tracked) return UseTracked(lock_key, use, note);
  const Comparator* const order = is_plain ? plain_order_ : family->GetComparator();
  LockTable::Had had;
  VARVE_RETURN_IF_ERROR(locks_->Lock(&owner(), lock_key, order, use.exclusive, patience_, &had));
  if (had.added) {
    had.held->unchanged_since = kNotChecked;
    held()->Add(had.held);
  }
  Status s = Guarded([&] {
    VARVE_RETURN_IF_ERROR(TakeAnnouncedSnapshot());
    Status valid = use.validate ? Validate(family, had.held) : Status::OK();
    if (valid.ok()) NoteUse(had.held, use.write);
    return valid;
  });
  if (s.ok()) {
    *note = {had.held, use.write, had.added, had.upgraded};
  } else {
    if (VARVE_CANARY(kLoseBusyUpgrade) && had.upgraded) return Status::OK();
    // A use that is refused leaves the lock as it was before: not held, or shared.
    if (had.added) held()->GiveBack(locks_, had.held);
    if (had.upgraded) locks_->Downgrade(had.held);
  }
  return s;
}

void PessimisticTransaction::TakeBack(const UseNote& note) {
  if (note.record == nullptr) return;
  auto* const lock = static_cast<HeldLock*>(note.record);
  if (!marks_.empty()) {
    VARVE_ASSERT(uses_.back().lock == lock);
    uses_.pop_back();
  }
  (note.write ? lock->writes : lock->reads)--;
  if (note.added) {
    held()->GiveBack(locks_, lock);
  } else if (note.upgraded) {
    locks_->Downgrade(lock);
  }
}

Status PessimisticTransaction::UseTracked(const LockKey& key, const KeyUse& use, UseNote* note) {
  bool exclusive = false;
  HeldLock* const held = locks_->Find(&owner(), key, &exclusive);
  if (held == nullptr || (use.exclusive && !exclusive)) {
    return Status::InvalidArgument("transaction: assume_tracked, and the key is not locked so");
  }
  VARVE_RETURN_IF_ERROR(TakeAnnouncedSnapshot());
  NoteUse(held, use.write);
  *note = {.record = held, .write = use.write};
  return Status::OK();
}

Status PessimisticTransaction::Validate(ColumnFamilyHandle* family, HeldLock* lock) {
  if (has_snapshot()) VARVE_RETURN_IF_ERROR(ValidateSequence(family, lock));
  const bool by_timestamp = read_timestamp_ != kMaxTxnTimestamp && registry_->validates_timestamps;
  return by_timestamp ? ValidateTimestamp(family, lock) : Status::OK();
}

Status PessimisticTransaction::ValidateTimestamp(ColumnFamilyHandle* family, const HeldLock* lock) {
  if (family->GetComparator()->timestamp_size() == 0) return Status::OK();
  bool newer = false;
  VARVE_RETURN_IF_ERROR(
      host_->HasNewerTimestamp(family, lock->key.key, BytesOf(read_timestamp_), &newer));
  return newer ? Status::Busy("the key was changed after the transaction's read timestamp")
               : Status::OK();
}

// While the key is locked no other transaction changes it, so a check against an older snapshot
// stays valid.
Status PessimisticTransaction::ValidateSequence(ColumnFamilyHandle* family, HeldLock* lock) {
  const SequenceNumber since = snapshot_sequence();
  if (lock->unchanged_since <= since) return Status::OK();
  // Without any write since the snapshot there is nothing to look up.
  if (db_->GetLatestSequenceNumber() != since) {
    TransactionHost::NewestWrite newest;
    VARVE_RETURN_IF_ERROR(host_->FindNewest(family, lock->key.key, &newest));
    // Files that were deleted with their data (DeleteFilesInRanges) may have had a newer write.
    const bool vanished = host_->NewestDroppedWithFiles(family) > since;
    if (newest.sequence > since || vanished) {
      return Status::Busy("the key was changed after the transaction's snapshot");
    }
  }
  lock->unchanged_since = since;
  return Status::OK();
}

void PessimisticTransaction::NoteUse(HeldLock* lock, bool write) {
  if (!marks_.empty()) uses_.push_back({lock, write});
  (write ? lock->writes : lock->reads)++;
}

void PessimisticTransaction::UndoGetForUpdate(ColumnFamilyHandle* family, const Slice& key) {
  if (prepared_ != nullptr) return;  // A prepared transaction keeps its locks.
  if (!host_->CheckHandle(FamilyOr(family)).ok()) return;
  HeldLock* const lock =
      locks_->Find(&owner(), LockTable::KeyOf(FamilyOr(family)->GetID(), key), nullptr);
  if (lock == nullptr || lock->reads == 0) return;
  if (!marks_.empty()) {
    // Only a read since the newest save point can be undone.
    size_t i = uses_.size();
    while (i > marks_.back().uses && (uses_[i - 1].lock != lock || uses_[i - 1].write)) i--;
    if (i == marks_.back().uses) return;
    uses_[i - 1].lock = nullptr;  // RollbackUses passes over it
  }
  lock->reads--;
  if (lock->reads == 0 && lock->writes == 0) held()->GiveBack(locks_, lock);
}

// ---- Save points ----

void PessimisticTransaction::PushUses() {
  marks_.push_back({uses_.size(), held()->ranges.size()});
}

void PessimisticTransaction::RollbackUses() {
  VARVE_ASSERT(!marks_.empty());
  const UsesMark mark = marks_.back();
  marks_.pop_back();
  while (uses_.size() > mark.uses) {
    const LockUse use = uses_.back();
    uses_.pop_back();
    if (use.lock == nullptr) continue;
    VARVE_ASSERT((use.write ? use.lock->writes : use.lock->reads) > 0);
    (use.write ? use.lock->writes : use.lock->reads)--;
    const bool unused = use.lock->reads == 0 && use.lock->writes == 0;
    if (unused && !VARVE_CANARY(kKeepLockAtRollback)) held()->GiveBack(locks_, use.lock);
  }
  while (held()->ranges.size() > mark.ranges) held()->GiveBackLastRange(locks_);
}

// The uses since the save point now belong to the one before it, or to none.
void PessimisticTransaction::PopUses() {
  marks_.pop_back();
  if (marks_.empty()) uses_.clear();
}

// ---- Ranges ----

// The range is added to the list first, as its address must not change while the lock table refers
// to it.
Status PessimisticTransaction::LockRange(ColumnFamilyHandle* family, RangeEnd begin, RangeEnd end) {
  VARVE_RETURN_IF_ERROR(CheckActive());
  if (!skip_concurrency_control_) {
    HeldRange& range = held()->ranges.emplace_back();
    range.range = {family->GetID(), family->GetComparator(), std::move(begin), std::move(end)};
    range.owner = &owner();
    held()->range_bytes += BytesOf(range);
    Status s = Guarded([&] {
      VARVE_RETURN_IF_ERROR(locks_->LockRange(&range, patience_));
      return TakeAnnouncedSnapshot();
    });
    if (!s.ok()) held()->GiveBackLastRange(locks_);
    return s;
  }
  return TakeAnnouncedSnapshot();
}

Status PessimisticTransaction::GetRangeLock(ColumnFamilyHandle* family, const Endpoint& begin,
                                            const Endpoint& end) {
  return Step(family,
              [&](ColumnFamilyHandle* of) { return LockRange(of, EndOf(begin), EndOf(end)); });
}

Status PessimisticTransaction::DeleteRange(ColumnFamilyHandle* family, const Slice& begin,
                                           const Slice& end) {
  return Step(family, [&](ColumnFamilyHandle* of) -> Status {
    const int order = of->GetComparator()->CompareWithoutTimestamp(begin, false, end, false);
    if (order > 0) return Status::InvalidArgument("DeleteRange: the end is before the beginning");
    if (order == 0) return CheckActive();
    const size_t ranges_before = held()->ranges.size();
    VARVE_RETURN_IF_ERROR(LockRange(of, {begin.ToString(), RangeEnd::Place::kAt},
                                    {end.ToString(), RangeEnd::Place::kBefore}));
    Status s = AddToBatch(kDeleteRangeRecord, of, begin, end);
    // LockRange adds no range if skip_concurrency_control_ is set.
    if (!s.ok() && held()->ranges.size() > ranges_before) held()->GiveBackLastRange(locks_);
    return s;
  });
}

// ---- Timestamps ----

Status PessimisticTransaction::CheckTimestampSize(size_t timestamp_size) const {
  if (timestamp_size == sizeof(TxnTimestamp)) return Status::OK();
  return Status::NotSupported("transaction: a column family with timestamps of " +
                              std::to_string(timestamp_size) + " bytes; only 8 can be");
}

// The timestamp is that of the options, or else that of SetReadTimestampForValidation. With
// enable_udt_validation a read that validates needs the latter, one that does not must not have it,
// and the options must not name another.
Status PessimisticTransaction::TimestampForUpdate(const ReadOptions& options, bool do_validate,
                                                  std::string* timestamp) const {
  const bool has = read_timestamp_ != kMaxTxnTimestamp;
  if (registry_->validates_timestamps && has != do_validate) {
    return Status::InvalidArgument(
        has ? "GetForUpdate: a read timestamp is set, and do_validate is false"
            : "GetForUpdate: do_validate, and SetReadTimestampForValidation was not called");
  }
  const std::string own = BytesOf(read_timestamp_);
  if (options.timestamp != nullptr && registry_->validates_timestamps && has &&
      *options.timestamp != Slice(own)) {
    return Status::InvalidArgument(
        "GetForUpdate: ReadOptions::timestamp is not the one that is validated");
  }
  *timestamp = options.timestamp != nullptr ? options.timestamp->ToString() : own;
  return Status::OK();
}

Status PessimisticTransaction::SetReadTimestampForValidation(TxnTimestamp ts) {
  if (read_timestamp_ != kMaxTxnTimestamp && ts < read_timestamp_) {
    return Status::InvalidArgument(
        "SetReadTimestampForValidation: the timestamp is below the one before");
  }
  if (commit_timestamp_ != kMaxTxnTimestamp && ts != kMaxTxnTimestamp && ts >= commit_timestamp_) {
    return Status::InvalidArgument(
        "SetReadTimestampForValidation: the timestamp is not below that of the commit");
  }
  read_timestamp_ = ts;
  return Status::OK();
}

Status PessimisticTransaction::SetCommitTimestamp(TxnTimestamp ts) {
  if (read_timestamp_ != kMaxTxnTimestamp && ts <= read_timestamp_) {
    return Status::InvalidArgument(
        "SetCommitTimestamp: the timestamp is not above that of the reads");
  }
  commit_timestamp_ = ts;
  return Status::OK();
}

// ---- Settings ----

void PessimisticTransaction::SetLockTimeout(int64_t timeout_ms) {
  patience_.timeout_micros = MicrosOf(timeout_ms);
}

void PessimisticTransaction::SetDeadlockTimeout(int64_t timeout_ms) {
  patience_.detect_after_micros = std::max<int64_t>(MicrosOf(timeout_ms), 0);
}

Status PessimisticTransaction::SetName(const TransactionName& name) try {
  VARVE_RETURN_IF_ERROR(CheckActive());
  if (name.empty() || name.size() > kNameBytesMax) {
    return Status::InvalidArgument("SetName: names have 1 to 512 bytes");
  }
  if (host_->HasPrepared(name)) {
    return Status::InvalidArgument("SetName: a prepared transaction of this name is not decided");
  }
  return TakeName(name);
} catch (...) {
  return CaughtException();
}

Status PessimisticTransaction::TakeName(const TransactionName& name) {
  VARVE_ASSERT(!name.empty());
  MutexLock lock(&registry_->names_mu);
  if (!name_.empty()) return Status::InvalidArgument("SetName: the transaction has a name");
  std::string own = name;
  if (!registry_->names.emplace(name, this).second) {
    return Status::InvalidArgument("SetName: another transaction has the name");
  }
  name_ = std::move(own);
  return Status::OK();
}

TransactionName PessimisticTransaction::GetName() const {
  MutexLock lock(&registry_->names_mu);
  return name_;
}

void PessimisticTransaction::ForgetName() {
  if (name_.empty()) [[likely]]
    return;
  MutexLock lock(&registry_->names_mu);
  registry_->names.erase(name_);
  name_.clear();
}

std::vector<TransactionID> PessimisticTransaction::GetWaitingTxns(uint32_t* family,
                                                                  std::string* key) const {
  LockOwner::LastWait wait;
  if (!locks_->WaitingFor(owner().id(), &wait)) wait = owner().last_wait();
  if (family != nullptr) *family = wait.family;
  if (key != nullptr) *key = std::move(wait.key);
  return std::move(wait.ids);
}

}  // namespace varve
