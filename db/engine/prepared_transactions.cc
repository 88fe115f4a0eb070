// SPDX-License-Identifier: Apache-2.0

// One list has all of them: open ones (planned, undecided) at its front, decided ones behind, in
// the order of their decisions. So a search for open ones ends at the first decided one.
//
// A decided one no longer needs its updates, only the facts that keep logs from deletion: its log,
// that of the decision, and its families. Two decided ones that keep the same logs are as good as
// one (DropIfAlike), so that a stream of small transactions does not make the list long.
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

using SectionState = PreparedSection::State;

// Number of recently decided transactions that are compared; a stream of small ones has few kinds
// at a time.
constexpr int kSectionsCompared = 8;

bool IsOpenSection(const PreparedSection& section) {
  return section.state == SectionState::kPlanned || section.state == SectionState::kUndecided;
}

std::vector<uint32_t> FamiliesOfSection(const WriteBatch& updates) {
  std::set<uint32_t> families;
  BatchReader reader(WriteBatchInternal::Contents(updates));
  BatchRecord record;
  while (reader.Next(&record)) {
    if (record.counted) families.insert(record.column_family);
  }
  return {families.begin(), families.end()};
}

PreparedSection MakeSection(const std::string& name, WriteBatch updates, uint64_t now_micros) {
  PreparedSection section;
  section.name = name;
  section.families = FamiliesOfSection(updates);
  section.updates = std::move(updates);
  section.since_micros = now_micros;
  return section;
}

}  // namespace

std::string ShownName(const std::string& name) {
  const bool printable = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
  return printable ? name : "0x" + Slice(name).ToString(/*hex=*/true);
}

// Adds an open transaction under its name, before its Prepare is logged. An error adds nothing.
Status PreparedSections::Plan(const std::string& name, const WriteBatch& updates,
                              uint64_t now_micros, PreparedSection** section) {
  // The element is made before the mutex is taken; a splice moves it without an allocation. The
  // copy has the batch's bytes without its save points, which the transaction keeps.
  std::list<PreparedSection> made;
  made.push_back(MakeSection(name, WriteBatch(updates.Data()), now_micros));
  MutexLock lock(&mu_);
  for (const PreparedSection& other : sections_) {
    if (!IsOpenSection(other)) break;
    if (other.name == name) {
      return Status::InvalidArgument(
          "Prepare: a prepared transaction of this name is not decided yet", ShownName(name));
    }
  }
  sections_.splice(sections_.begin(), made);
  *section = &sections_.front();
  (*section)->self = sections_.begin();
  return Status::OK();
}

void PreparedSections::Forget(PreparedSection* section) noexcept {
  std::list<PreparedSection> gone;  // destroyed without the mutex
  MutexLock lock(&mu_);
  VARVE_ASSERT(section->state == SectionState::kPlanned);
  gone.splice(gone.end(), sections_, section->self);
}

void PreparedSections::NotePrepared(PreparedSection* section, uint64_t log) noexcept {
  MutexLock lock(&mu_);
  VARVE_ASSERT(section->state == SectionState::kPlanned && log != 0);
  section->state = SectionState::kUndecided;
  section->log = log;
}

// Drops the updates, and moves the element behind the undecided ones. Afterwards the pointer in
// `step` may be invalid (DropIfAlike).
void PreparedSections::NoteDecided(const SectionStep& step, uint64_t log) noexcept {
  PreparedSection* const section = step.section;
  WriteBatch gone;  // destroyed without the mutex
  MutexLock lock(&mu_);
  VARVE_ASSERT(section->state == SectionState::kUndecided && section->log <= log);
  gone = std::move(section->updates);
  section->state = step.kind == SectionStep::Kind::kCommit ? SectionState::kCommitted
                                                           : SectionState::kRolledBack;
  section->decision_log = log;
  // A decision that a crash may take must not release the log of the prepare.
  section->durable = step.synced;
  sections_.splice(sections_.end(), sections_, section->self);
  DropIfAlike(section);
}

void PreparedSections::DropIfAlike(PreparedSection* section) noexcept {
  auto other = section->self;
  for (int i = 0; i < kSectionsCompared && other != sections_.begin(); i++) {
    --other;
    if (IsOpenSection(*other)) return;
    if (other->state == section->state && other->log == section->log &&
        other->decision_log == section->decision_log && other->families == section->families) {
      // The one that stays stands for both, so it is durable only if both are.
      other->durable &= section->durable;
      sections_.erase(section->self);
      return;
    }
  }
}

// The section belongs to no Transaction object until one claims it (Claim).
void PreparedSections::AddRecovered(const std::string& name, WriteBatch updates, uint64_t log,
                                    uint64_t now_micros) {
  std::list<PreparedSection> made;
  made.push_back(MakeSection(name, std::move(updates), now_micros));
  PreparedSection& section = made.front();
  section.state = SectionState::kUndecided;
  section.claimed = false;
  section.log = log;
  MutexLock lock(&mu_);
  sections_.splice(sections_.begin(), made);
  section.self = sections_.begin();
}

std::vector<PreparedSection*> PreparedSections::Claim() {
  std::vector<PreparedSection*> claimed;
  MutexLock lock(&mu_);
  claimed.reserve(sections_.size());
  for (PreparedSection& section : sections_) {
    if (section.state != SectionState::kUndecided || section.claimed) continue;
    section.claimed = true;
    claimed.push_back(&section);
  }
  return claimed;
}

void PreparedSections::Abandon(PreparedSection* section) noexcept {
  MutexLock lock(&mu_);
  VARVE_ASSERT(section->state == SectionState::kUndecided);
  section->claimed = false;
}

bool PreparedSections::Has(const std::string& name) const {
  MutexLock lock(&mu_);
  return std::ranges::any_of(sections_, [&](const PreparedSection& section) {
    return IsOpenSection(section) && section.name == name;
  });
}

uint64_t PreparedSections::LogOf(const PreparedSection* section) const {
  MutexLock lock(&mu_);
  return section->log;
}

bool PreparedSections::InUse() const {
  MutexLock lock(&mu_);
  return !sections_.empty();
}

void PreparedSections::NoteDurable(uint64_t log) noexcept {
  MutexLock lock(&mu_);
  for (PreparedSection& section : sections_) {
    if (!IsOpenSection(section) && section.decision_log < log) section.durable = true;
  }
}

// Follows the state: nothing is logged, undecided, decided but perhaps not durably, rolled back,
// committed. A dropped family is not among `families`, and needs no log.
bool PreparedSections::HoldsLog(const PreparedSection& section, const FamilyLogs& families) {
  if (section.state == SectionState::kPlanned) return false;
  if (section.state == SectionState::kUndecided || !section.durable) return true;
  // A durable rollback needs nothing: a recovery that misses both records has the same result.
  if (section.state == SectionState::kRolledBack) return false;
  if (VARVE_CANARY(kLeaveCommitLog)) return false;
  // A commit needs the updates in its prepare record until every family of them has tables with
  // them.
  return std::ranges::any_of(section.families, [&](uint32_t id) {
    const auto family = families.find(id);
    return family != families.end() && family->second <= section.decision_log;
  });
}

void PreparedSections::Prune(const FamilyLogs& families) noexcept {
  MutexLock lock(&mu_);
  for (auto it = sections_.begin(); it != sections_.end();) {
    const bool over = !IsOpenSection(*it) && !HoldsLog(*it, families);
    it = over ? sections_.erase(it) : std::next(it);
  }
}

uint64_t PreparedSections::OldestLogHeld(const FamilyLogs& families) const {
  MutexLock lock(&mu_);
  uint64_t oldest = UINT64_MAX;
  for (const PreparedSection& section : sections_) {
    if (HoldsLog(section, families)) oldest = std::min(oldest, section.log);
  }
  return oldest;
}

// Planned ones have no record yet, and decided ones need none.
std::vector<std::string> PreparedSections::MakeRecordsAgain(SequenceNumber next) const {
  std::vector<std::string> records;
  MutexLock lock(&mu_);
  for (const PreparedSection& section : sections_) {
    if (section.state != SectionState::kUndecided) continue;
    WriteBatch record = MakePrepareRecord(section.updates, section.name, /*again=*/true);
    // The record uses no number; it carries the next one, as the first prepare record did.
    WriteBatchInternal::SetSequence(&record, next);
    records.push_back(record.Data());
  }
  return records;
}

void PreparedSections::MovedTo(uint64_t log) noexcept {
  MutexLock lock(&mu_);
  for (PreparedSection& section : sections_) {
    if (section.state == SectionState::kUndecided) section.log = log;
    if (!IsOpenSection(section) && section.decision_log < log) section.durable = true;
  }
}

std::vector<PreparedSections::Info> PreparedSections::Undecided() const {
  std::vector<Info> result;
  MutexLock lock(&mu_);
  for (const PreparedSection& section : sections_) {
    if (section.state != SectionState::kUndecided) continue;
    result.push_back({section.name, section.since_micros, section.log,
                      section.updates.GetDataSize(), section.claimed});
  }
  return result;
}

}  // namespace varve
