// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by compaction_work.cc and manual_compaction.cc: participants of the admission that change
// a family's tree, their steps, and calls that track how tables change.

#include <algorithm>
#include <utility>

#include "db/background/compaction_work.h"
#include "db/compaction/remainder.h"
#include "db/engine/tree_admission.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"

namespace varve {

// Registers a participant of the admission while the object lives.
class CompactionWork::Participant {
 public:
  Participant(CompactionWork* work, TreeAdmission::Kind kind, ColumnFamily* family)
      VARVE_REQUIRES(kDbMutex)
      : work_(work), family_(family), member_(kind, family) {
    work_->tree_.Enter(&member_);
  }
  ~Participant() VARVE_REQUIRES(kDbMutex) {
    work_->tree_.Leave(&member_);
    work_->Report(Guarded([this] {
      work_->state_.mu.AssertHeld();
      work_->Dispatch();
    }));
  }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  ColumnFamily* family() const { return family_; }
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

// A running plan: while the object lives, no other plan takes its inputs. It must be created in the
// hold in which the plan was made.
class CompactionWork::Step {
 public:
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

// Registers a call that is told of all compactions of its family, while the object lives.
class CompactionWork::Followed {
 public:
  Followed(CompactionWork* work, const ColumnFamily* family, Remainder remainder)
      VARVE_REQUIRES(kDbMutex)
      : work_(work), family_(family), remainder_(std::move(remainder)) {
    work_->followed_.push_back(this);
  }
  ~Followed() VARVE_REQUIRES(kDbMutex) { std::erase(work_->followed_, this); }
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;

  void Note(const ColumnFamily& family, const Remainder::Work& work) {
    if (&family == family_) remainder_.Note(work);
  }
  const Remainder& remainder() const { return remainder_; }

 private:
  CompactionWork* const work_;
  const ColumnFamily* const family_;
  Remainder remainder_;
};

}  // namespace varve
