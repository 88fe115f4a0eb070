// SPDX-License-Identifier: Apache-2.0

// One list has all prepared transactions: open ones (planned, undecided) at its front, decided ones
// behind, in the order of their decisions. So a search for open ones ends at the first decided one.
//
// A decided transaction no longer needs its updates, only the facts that keep logs from deletion:
// its log, that of the decision, and its families. Two decided ones that keep the same logs are as
// good as one (DropIfAlike), so that a stream of small transactions does not make the list long.
//
// Moves between the two parts are splices of the list, which need no memory: a commit that is in
// the log already cannot fail here.

#include "db/engine/prepared_transactions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "db/write/batch_reader.h"
#include "db/write/two_phase_records.h"
#include "db/write/write_batch_internal.h"
#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

namespace {

using PreparedState = PreparedTransaction::State;

// Number of recently decided transactions that are compared; a stream of small ones has few kinds
// at a time.
constexpr int kDecidedCompared = 8;

// Returns true for a transaction that is not decided.
bool IsOpenTransaction(const PreparedTransaction& txn) {
  return txn.state == PreparedState::kPlanned || txn.state == PreparedState::kUndecided;
}

// Returns the families, ascending. Marks and log data, which use no sequence number, are not
// counted and belong to no family.
std::vector<uint32_t> FamiliesOfUpdates(const WriteBatch& updates) {
  std::set<uint32_t> families;
  BatchReader reader(WriteBatchInternal::Contents(updates));
  BatchRecord record;
  while (reader.Next(&record)) {
    if (record.counted) families.insert(record.column_family);
  }
  return {families.begin(), families.end()};
}

PreparedTransaction MakePrepared(const std::string& name, WriteBatch updates, uint64_t now_micros) {
  PreparedTransaction txn;
  txn.name = name;
  txn.families = FamiliesOfUpdates(updates);
  txn.updates = std::move(updates);
  txn.since_micros = now_micros;
  return txn;
}

}  // namespace

std::string ShownName(const std::string& name) {
  const bool printable = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
  return printable ? name : "0x" + Slice(name).ToString(/*hex=*/true);
}

// Adds an open transaction under its name, before its Prepare is logged. An error adds nothing.
Status PreparedTransactions::Plan(const std::string& name, const WriteBatch& updates,
                                  uint64_t now_micros, PreparedTransaction** txn) {
  // The element is made before the mutex is taken; a splice moves it without an allocation. The
  // copy has the batch's bytes without its save points, which the transaction keeps.
  std::list<PreparedTransaction> made;
  made.push_back(MakePrepared(name, WriteBatch(updates.Data()), now_micros));
  MutexLock lock(&mu_);
  for (const PreparedTransaction& other : transactions_) {
    if (!IsOpenTransaction(other)) break;
    if (other.name == name) {
      return Status::InvalidArgument(
          "Prepare: a prepared transaction of this name is not decided yet", ShownName(name));
    }
  }
  transactions_.splice(transactions_.begin(), made);
  *txn = &transactions_.front();
  (*txn)->self = transactions_.begin();
  return Status::OK();
}

void PreparedTransactions::Forget(PreparedTransaction* txn) noexcept {
  std::list<PreparedTransaction> gone;  // destroyed without the mutex
  MutexLock lock(&mu_);
  VARVE_ASSERT(txn->state == PreparedState::kPlanned);
  gone.splice(gone.end(), transactions_, txn->self);
}

void PreparedTransactions::NotePrepared(PreparedTransaction* txn, uint64_t log) noexcept {
  MutexLock lock(&mu_);
  VARVE_ASSERT(txn->state == PreparedState::kPlanned && log != 0);
  txn->state = PreparedState::kUndecided;
  txn->log = log;
}

// Drops the updates, and moves the element behind the undecided ones. Afterwards the pointer in
// `step` may be invalid (DropIfAlike).
void PreparedTransactions::NoteDecided(const TwoPhaseStep& step, uint64_t log) noexcept {
  PreparedTransaction* const txn = step.prepared;
  WriteBatch gone;  // destroyed without the mutex
  MutexLock lock(&mu_);
  VARVE_ASSERT(txn->state == PreparedState::kUndecided && txn->log <= log);
  gone = std::move(txn->updates);
  txn->state = step.kind == TwoPhaseStep::Kind::kCommit ? PreparedState::kCommitted
                                                        : PreparedState::kRolledBack;
  txn->decision_log = log;
  // A decision that a crash may take must not release the log of the prepare.
  txn->durable = step.synced;
  transactions_.splice(transactions_.end(), transactions_, txn->self);
  DropIfAlike(txn);
}

void PreparedTransactions::DropIfAlike(PreparedTransaction* txn) noexcept {
  auto other = txn->self;
  for (int i = 0; i < kDecidedCompared && other != transactions_.begin(); i++) {
    --other;
    if (IsOpenTransaction(*other)) return;
    if (other->state == txn->state && other->log == txn->log &&
        other->decision_log == txn->decision_log && other->families == txn->families) {
      // The one that stays stands for both, so it is durable only if both are.
      other->durable &= txn->durable;
      transactions_.erase(txn->self);
      return;
    }
  }
}

// No Transaction object has the prepared transaction until one claims it (Claim).
void PreparedTransactions::AddRecovered(const std::string& name, WriteBatch updates, uint64_t log,
                                        uint64_t now_micros) {
  std::list<PreparedTransaction> made;
  made.push_back(MakePrepared(name, std::move(updates), now_micros));
  PreparedTransaction& txn = made.front();
  txn.state = PreparedState::kUndecided;
  txn.claimed = false;
  txn.log = log;
  MutexLock lock(&mu_);
  transactions_.splice(transactions_.begin(), made);
  txn.self = transactions_.begin();
}

std::vector<PreparedTransaction*> PreparedTransactions::Claim() {
  std::vector<PreparedTransaction*> claimed;
  MutexLock lock(&mu_);
  claimed.reserve(transactions_.size());
  for (PreparedTransaction& txn : transactions_) {
    if (txn.state != PreparedState::kUndecided || txn.claimed) continue;
    txn.claimed = true;
    claimed.push_back(&txn);
  }
  return claimed;
}

void PreparedTransactions::Abandon(PreparedTransaction* txn) noexcept {
  MutexLock lock(&mu_);
  VARVE_ASSERT(txn->state == PreparedState::kUndecided);
  txn->claimed = false;
}

bool PreparedTransactions::Has(const std::string& name) const {
  MutexLock lock(&mu_);
  return std::ranges::any_of(transactions_, [&](const PreparedTransaction& txn) {
    return IsOpenTransaction(txn) && txn.name == name;
  });
}

uint64_t PreparedTransactions::LogOf(const PreparedTransaction* txn) const {
  MutexLock lock(&mu_);
  return txn->log;
}

bool PreparedTransactions::InUse() const {
  MutexLock lock(&mu_);
  return !transactions_.empty();
}

void PreparedTransactions::NoteDurable(uint64_t log) noexcept {
  MutexLock lock(&mu_);
  for (PreparedTransaction& txn : transactions_) {
    if (!IsOpenTransaction(txn) && txn.decision_log < log) txn.durable = true;
  }
}

// Goes through the states in the order of a transaction's life. A dropped family is not among
// `families`, and needs no log.
bool PreparedTransactions::HoldsLog(const PreparedTransaction& txn, const FamilyLogs& families) {
  // Nothing is logged yet.
  if (txn.state == PreparedState::kPlanned) return false;
  // A power loss may take a decision that is not durable, and the transaction is undecided again.
  if (txn.state == PreparedState::kUndecided || !txn.durable) return true;
  // A durable rollback needs nothing: a recovery that misses both records has the same result.
  if (txn.state == PreparedState::kRolledBack) return false;
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (VARVE_CANARY(kLeaveCommitLog)) return false;
  // A commit needs the updates in its prepare record until every family of them has them in tables:
  // its log number is then above that of the commit.
  return std::ranges::any_of(txn.families, [&](uint32_t id) {
    const auto family = families.find(id);
    return family != families.end() && family->second <= txn.decision_log;
  });
}

void PreparedTransactions::Prune(const FamilyLogs& families) noexcept {
  MutexLock lock(&mu_);
  for (auto it = transactions_.begin(); it != transactions_.end();) {
    const bool over = !IsOpenTransaction(*it) && !HoldsLog(*it, families);
    it = over ? transactions_.erase(it) : std::next(it);
  }
}

uint64_t PreparedTransactions::OldestLogHeld(const FamilyLogs& families) const {
  MutexLock lock(&mu_);
  uint64_t oldest = UINT64_MAX;
  for (const PreparedTransaction& txn : transactions_) {
    if (HoldsLog(txn, families)) oldest = std::min(oldest, txn.log);
  }
  return oldest;
}

// Planned ones have no record yet, and decided ones need none.
std::vector<std::string> PreparedTransactions::MakeRecordsAgain(SequenceNumber next) const {
  std::vector<std::string> records;
  MutexLock lock(&mu_);
  for (const PreparedTransaction& txn : transactions_) {
    if (txn.state != PreparedState::kUndecided) continue;
    WriteBatch record = MakePrepareRecord(txn.updates, txn.name, /*again=*/true);
    // The record uses no number; it carries the next one, as the first prepare record did.
    WriteBatchInternal::SetSequence(&record, next);
    records.push_back(record.Data());
  }
  return records;
}

void PreparedTransactions::MovedTo(uint64_t log) noexcept {
  MutexLock lock(&mu_);
  for (PreparedTransaction& txn : transactions_) {
    if (txn.state == PreparedState::kUndecided) txn.log = log;
    if (!IsOpenTransaction(txn) && txn.decision_log < log) txn.durable = true;
  }
}

std::vector<PreparedTransactions::Info> PreparedTransactions::Undecided() const {
  std::vector<Info> result;
  MutexLock lock(&mu_);
  for (const PreparedTransaction& txn : transactions_) {
    if (txn.state != PreparedState::kUndecided) continue;
    result.push_back({txn.name, txn.since_micros, txn.log, txn.updates.GetDataSize(), txn.claimed});
  }
  return result;
}

}  // namespace varve
