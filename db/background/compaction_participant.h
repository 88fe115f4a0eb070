// SPDX-License-Identifier: Apache-2.0
#pragma once

// Classes that compaction_work.cc, compaction_run.cc and manual_compaction.cc share: participants
// of TreeAdmission that change a family's tree, their steps, and calls that follow how tables
// change.
//
//      Participant   registered in TreeAdmission from the beginning of a job or call to its end
//         Step       one running plan: its inputs are marked, so that no other plan takes them
//         Step       the next plan, made from the version that the first one left
//      Followed      CompactRange: is notified of every compaction of the family, so that it knows
//                    which data of its beginning is still to be compacted
//
// All are objects on the stack, so that an exception or an early return undoes their effects. They
// are created and destroyed under the DB mutex, which is released while a plan runs.

#include <algorithm>
#include <utility>

#include "db/background/compaction_work.h"
#include "db/compaction/remainder.h"
#include "db/engine/tree_admission.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"

namespace varve {

// Registers a participant in the admission while the object lives.
class CompactionWork::Participant {
 public:
  // Enters the admission. The destructor leaves it, and starts jobs that waited for this one.
  Participant(CompactionWork* work, TreeAdmission::Kind kind, ColumnFamily* family)
      VARVE_REQUIRES(kDbMutex)
      : work_(work), family_(family), member_(kind, family) {
    work_->tree_.Enter(&member_);
  }
  ~Participant() VARVE_REQUIRES(kDbMutex) {
    work_->tree_.Leave(&member_);
    // Jobs may have waited for this participant.
    work_->Report(Guarded([this] {
      work_->state_.mu.AssertHeld();
      work_->Dispatch();
    }));
  }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  // Returns the family whose tree the participant changes.
  ColumnFamily* family() const { return family_; }
  // Forward to the admission (TreeAdmission::Ask, Withdraw and MayWait).
  [[nodiscard]] bool Ask(TreeAdmission::Extent extent = TreeAdmission::Extent::kPlan)
      VARVE_REQUIRES(kDbMutex) {
    return work_->tree_.Ask(&member_, extent);
  }
  void Withdraw() VARVE_REQUIRES(kDbMutex) { work_->tree_.Withdraw(&member_); }
  [[nodiscard]] bool MayWait() VARVE_REQUIRES(kDbMutex) { return work_->tree_.MayWait(&member_); }

 private:
  friend class Step;

  CompactionWork* const work_;
  ColumnFamily* const family_;
  TreeAdmission::Participant member_;
};

// A running plan: while the object lives, no other plan takes its inputs. The mutex must not have
// been released since the plan was made.
class CompactionWork::Step {
 public:
  // Marks the plan's inputs, and lists it among the family's running plans; the destructor undoes
  // both.
  Step(Participant* participant, CompactionPlan* plan) VARVE_REQUIRES(kDbMutex)
      : participant_(participant), plan_(plan) {
    participant_->family_->running_compactions.push_back(plan);
    participant_->work_->tree_.Begin(&participant_->member_);
    Mark(true);
  }
  ~Step() VARVE_REQUIRES(kDbMutex) {
    Mark(false);
    const size_t erased = std::erase(participant_->family_->running_compactions, plan_);
    VARVE_ASSERT(erased == 1);
    participant_->work_->tree_.End(&participant_->member_);
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  // Sets being_compacted of all inputs, each of which must have the other value.
  void Mark(bool marked) {
    for (CompactionInputLevel& level : plan_->inputs) {
      for (FileRef& file : level.files) {
        VARVE_ASSERT(file->notes.being_compacted != marked);
        file->notes.being_compacted = marked;
      }
    }
  }

  Participant* const participant_;
  CompactionPlan* const plan_;
};

// Registers a CompactRange call, which learns while the object lives what every compaction of its
// family makes of the tables that the call has to compact.
class CompactionWork::Followed {
 public:
  // Begins the notifications, which the destructor ends.
  Followed(CompactionWork* work, const ColumnFamily* family, Remainder remainder)
      VARVE_REQUIRES(kDbMutex)
      : work_(work), family_(family), remainder_(std::move(remainder)) {
    work_->followed_.push_back(this);
  }
  ~Followed() VARVE_REQUIRES(kDbMutex) { std::erase(work_->followed_, this); }
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;

  // Called for each compaction of any family before it is installed.
  void Note(const ColumnFamily& family, const Remainder::Work& work) {
    if (&family == family_) remainder_.Note(work);
  }
  // Returns the data that the call still has to compact.
  const Remainder& remainder() const { return remainder_; }

 private:
  CompactionWork* const work_;
  const ColumnFamily* const family_;
  Remainder remainder_;
};

}  // namespace varve
