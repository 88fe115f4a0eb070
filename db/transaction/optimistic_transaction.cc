// SPDX-License-Identifier: Apache-2.0

// Commit validates in a loop:
//
//      limits: each key must be unchanged since its number
//      WriteIf: the commit path compares the limits with its stamps, under its lock
//         allowed  -> the write has its place; done
//         refused  -> LookUp: wait until all assigned writes are visible, look each key up
//                       changed   -> Busy
//                       unchanged -> the limits rise to what was visible; try again
//
// A refusal is no proof of a conflict, because keys share stamps. The look-up decides, and each
// round knows more than the last one.

#include "db/transaction/optimistic_transaction.h"

#include <algorithm>
#include <utility>

#include "db/write/write_batch_internal.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// A commit returns Busy after so many attempts, between which others have written to its buckets.
constexpr int kTriesMax = 1000;

// True if keys of the family are equal only if their bytes are.
bool BytesDecideIn(ColumnFamilyHandle* family) {
  return !family->GetComparator()->CanKeysWithDifferentByteContentsBeEqual();
}

}  // namespace

void OptimisticTransaction::Begin(const WriteOptions& write_options,
                                  const OptimisticTransactionOptions& options) {
  BeginBase(write_options, /*max_batch_bytes=*/0);
  ForgetUses();
  committed_at_ = 0;
  state_ = STARTED;
  if (options.set_snapshot) SetSnapshot();
}

Status OptimisticTransaction::CheckActive() {
  return state_ == STARTED ? Status::OK() : Status::InvalidArgument("transaction: it has ended");
}

// ---- Keys ----

// Tracks the key with the newest sequence number at which it is known to be unchanged: that of the
// snapshot, or the newest visible one. Everything that may fail for lack of memory comes before
// *note is changed.
Status OptimisticTransaction::Use(ColumnFamilyHandle* family, const Slice& key, const KeyUse& use,
                                  UseNote* note) {
  VARVE_RETURN_IF_ERROR(CheckActive());
  VARVE_RETURN_IF_ERROR(TakeAnnouncedSnapshot());
  if (!use.validate) return Status::OK();
  const bool is_plain = IsPlain(family);
  const uint32_t id = is_plain ? 0 : family->GetID();
  const uint64_t hash = KeyStamps::HashOf(id, key, /*bytes_decide=*/true);
  const uint64_t bucket =
      is_plain || BytesDecideIn(family) ? hash : KeyStamps::HashOf(id, key, /*bytes_decide=*/false);
  if (use.assume_tracked && tracked_.Find(id, key, hash) == nullptr) {
    return Status::InvalidArgument("transaction: assume_tracked, and the key is not tracked");
  }
  // The hold must exist before the number is read: changes between the two would otherwise leave no
  // evidence.
  VARVE_RETURN_IF_ERROR(HoldEvidence());
  const SequenceNumber now = has_snapshot() ? snapshot_sequence() : db_->GetLatestSequenceNumber();
  if (!marks_.empty() && uses_.size() == uses_.capacity()) uses_.reserve(2 * uses_.size() + 1);
  bool added = false;
  TrackedKey* const tracked = tracked_.FindOrAdd(id, key, hash, bucket, &added);
  if (added) {
    tracked->unchanged_since = now;
    tracked->was_read = false;
  }
  // A key that was used before keeps the older of the two numbers: Commit has to find it unchanged
  // since the first use.
  *note = {tracked, use.write, added, /*upgraded=*/false, tracked->unchanged_since};
  tracked->unchanged_since = std::min(tracked->unchanged_since, now);
  if (!marks_.empty()) uses_.push_back({tracked, use.write});
  (use.write ? tracked->writes : tracked->reads)++;
  return Status::OK();
}

// A record that the use has added stays, unused, as after UndoGetForUpdate.
void OptimisticTransaction::TakeBack(const UseNote& note) {
  if (note.record == nullptr) return;
  auto* const tracked = static_cast<TrackedKey*>(note.record);
  if (!marks_.empty()) {
    VARVE_ASSERT(uses_.back().key == tracked);
    uses_.pop_back();
  }
  (note.write ? tracked->writes : tracked->reads)--;
  tracked->unchanged_since = note.unchanged_since;
}

// Without a hold a compaction might drop the newer version that proves a change, or a deletion with
// all that it deleted. A snapshot of the transaction holds evidence by itself; it is shared here,
// so that it does so even after ClearSnapshot. Otherwise one of the database's slots for holds is
// taken, which costs less than a snapshot, or a snapshot if no slot is free.
Status OptimisticTransaction::HoldEvidence() {
  if (has_snapshot()) {
    // An earlier hold or snapshot goes back as far as this one.
    if (snapshot_sequence() >= evidence_since_) return Status::OK();
    evidence_.push_back(GetTimestampedSnapshot());
    evidence_since_ = snapshot_sequence();
    return Status::OK();
  }
  if (evidence_since_ != kMaxSequenceNumber) return Status::OK();
  evidence_hold_ = host_->HoldEvidence(this);
  if (evidence_hold_ != nullptr) {
    evidence_since_ = db_->GetLatestSequenceNumber();
    return Status::OK();
  }
  std::shared_ptr<const Snapshot> held = NewSnapshot();
  if (held == nullptr) {
    return Status::MemoryLimit(
        "transaction: nothing could be taken that shows changes of its keys; try again");
  }
  const SequenceNumber since = held->GetSequenceNumber();
  evidence_.push_back(std::move(held));
  evidence_since_ = since;
  return Status::OK();
}

TrackedKey* OptimisticTransaction::Find(ColumnFamilyHandle* family, const Slice& key) const {
  const uint32_t id = family->GetID();
  return tracked_.Find(id, key, KeyStamps::HashOf(id, key, /*bytes_decide=*/true));
}

// If the transaction itself has written the key, tracked or not, the value may be its own and says
// nothing about the database.
void OptimisticTransaction::NoteFound(ColumnFamilyHandle* family, const Slice& key) {
  TrackedKey* const found = Find(family, key);
  if (found == nullptr || found->writes != 0 || IsInBatch(family, key)) return;
  found->was_read = true;
}

// The record stays, unused; Commit passes over keys that are not in use.
void OptimisticTransaction::UndoGetForUpdate(ColumnFamilyHandle* family, const Slice& key) {
  if (!host_->CheckHandle(FamilyOr(family)).ok()) return;
  TrackedKey* const tracked = Find(FamilyOr(family), key);
  if (tracked == nullptr || tracked->reads == 0) return;
  if (!marks_.empty()) {
    // Only a read since the newest save point can be undone.
    size_t i = uses_.size();
    while (i > marks_.back() && (uses_[i - 1].key != tracked || uses_[i - 1].write)) i--;
    if (i == marks_.back()) return;
    uses_[i - 1].key = nullptr;
  }
  tracked->reads--;
}

void OptimisticTransaction::RollbackUses() {
  VARVE_ASSERT(!marks_.empty());
  const size_t mark = marks_.back();
  marks_.pop_back();
  while (uses_.size() > mark) {
    const TrackedUse use = uses_.back();
    uses_.pop_back();
    if (use.key == nullptr) continue;
    VARVE_ASSERT((use.write ? use.key->writes : use.key->reads) > 0);
    (use.write ? use.key->writes : use.key->reads)--;
  }
}

void OptimisticTransaction::PopUses() {
  marks_.pop_back();
  if (marks_.empty()) uses_.clear();
}

// ---- The end ----

Status OptimisticTransaction::CheckCommit() {
  VARVE_RETURN_IF_ERROR(CheckActive());
  VARVE_RETURN_IF_ERROR(CheckWhole());
  if (GetCommitTimeWriteBatch()->Count() == 0) return Status::OK();
  return Status::InvalidArgument(
      "Commit: a commit-time batch, and the transaction is not prepared");
}

Status OptimisticTransaction::Commit() try {
  VARVE_RETURN_IF_ERROR(CheckCommit());
  if (announced()) [[unlikely]] {
    // The notifier may have ended or changed the transaction, so it is checked again.
    VARVE_RETURN_IF_ERROR(CommitsSnapshot());
    VARVE_RETURN_IF_ERROR(CheckCommit());
  }
  WriteBatch* const updates = batch_.GetWriteBatch();
  // Without updates there is no write to carry the condition, and the look-up alone decides.
  if (updates->GetDataSize() <= kBatchHeaderBytes) {
    VARVE_RETURN_IF_ERROR(LookUp());
  } else {
    VARVE_RETURN_IF_ERROR(WriteIfUnchanged(updates));
    committed_at_ = WriteBatchInternal::Sequence(*updates);
  }
  host_->CountTransaction(updates->Count());
  End(COMMITTED);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

// The limits are compared in the same hold of a lock in which the write gets its number
// (db/write/key_stamps.h), so no other write can come between the check and the write.
Status OptimisticTransaction::WriteIfUnchanged(WriteBatch* updates) {
  limits_.clear();
  for (const TrackedKey* key = tracked_.first(); key != nullptr; key = key->next) {
    if (key->in_use()) limits_.push_back({key->bucket, key->unchanged_since});
  }
  for (int tries = 0; tries < kTriesMax; tries++) {
    WriteCondition condition{limits_};
    Status s = host_->WriteIf(write_options_, updates, &condition);
    if (!condition.refused) return s;
    VARVE_RETURN_IF_ERROR(LookUp());
  }
  return Status::Busy("Commit: others keep changing keys beside those of the transaction");
}

Status OptimisticTransaction::LookUp() {
  limits_.clear();
  if (tracked_.first() == nullptr) return Status::OK();
  // The look-ups below see every write up to this number, so the next attempt is refused only by
  // the stamps of later writes.
  const SequenceNumber known = host_->WaitForAllWrites();
  for (const TrackedKey* key = tracked_.first(); key != nullptr; key = key->next) {
    if (!key->in_use()) continue;
    ColumnFamilyHandle* const family = families_.Find(key->family);
    TransactionHost::NewestWrite newest{.found = true};
    // For a dropped family the write returns the error.
    if (family != nullptr) VARVE_RETURN_IF_ERROR(host_->FindNewest(family, key->key, &newest));
    // A key that was read and is not found any more, or whose family has lost files since then, may
    // have changed without leaving evidence.
    const bool vanished =
        (key->was_read && !newest.found) ||
        (family != nullptr && host_->NewestDroppedWithFiles(family) > key->unchanged_since);
    if (newest.sequence > key->unchanged_since || vanished) {
      return Status::Busy("Commit: a key was changed after the transaction read or wrote it");
    }
    limits_.push_back({key->bucket, std::max(known, key->unchanged_since)});
  }
  return Status::OK();
}

// The transaction may continue, and is checked against the same snapshot.
Status OptimisticTransaction::Rollback() {
  VARVE_RETURN_IF_ERROR(CheckActive());
  ClearUpdates();
  ForgetUses();
  return Status::OK();
}

void OptimisticTransaction::End(TransactionState state) {
  ClearUpdates();
  ClearSnapshot();
  ForgetUses();
  state_ = state;
}

void OptimisticTransaction::ForgetUses() {
  tracked_.Clear();
  uses_.clear();
  marks_.clear();
  evidence_.clear();
  if (evidence_hold_ != nullptr) host_->ReleaseEvidence(std::exchange(evidence_hold_, nullptr));
  evidence_since_ = kMaxSequenceNumber;
}

// ---- Calls that are not supported ----

Status OptimisticTransaction::Prepare() {
  // The message is RocksDB's, as programs compare it.
  return Status::InvalidArgument("Two phase commit not supported for optimistic transactions",
                                 "Prepare");
}

Status OptimisticTransaction::SetName(const TransactionName& /*name*/) {
  return Status::InvalidArgument("SetName: optimistic transactions have no names");
}

Status OptimisticTransaction::GetRangeLock(ColumnFamilyHandle* /*family*/,
                                           const Endpoint& /*begin*/, const Endpoint& /*end*/) {
  return Status::NotSupported("GetRangeLock: optimistic transactions have no locks");
}

// The range is not checked by Commit, because the transaction has read nothing of it.
Status OptimisticTransaction::DeleteRange(ColumnFamilyHandle* family, const Slice& begin,
                                          const Slice& end) {
  return Step(family, [&](ColumnFamilyHandle* of) -> Status {
    VARVE_RETURN_IF_ERROR(CheckActive());
    const int order = of->GetComparator()->Compare(begin, end);
    if (order > 0) return Status::InvalidArgument("DeleteRange: the end is before the beginning");
    if (order == 0) return Status::OK();
    VARVE_RETURN_IF_ERROR(TakeAnnouncedSnapshot());
    return AddToBatch(kDeleteRangeRecord, of, begin, end);
  });
}

std::vector<TransactionID> OptimisticTransaction::GetWaitingTxns(uint32_t* family,
                                                                 std::string* key) const {
  if (family != nullptr) *family = 0;
  if (key != nullptr) key->clear();
  return {};
}

}  // namespace varve
