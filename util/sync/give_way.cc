// SPDX-License-Identifier: Apache-2.0

// A job works in pieces, each of about a quarter of a millisecond to a millisecond of processor
// time. Between two pieces it judges anew how urgent its work is and, unless that says to hurry,
// rests: it sleeps if threads wait for processors, and yields otherwise. A piece is measured in
// processor time where the system tells it, so that time in which others ran or a device worked
// does not count. The clock is read every stride_ steps, and the stride adapts so that a piece
// contains several looks.

#include "util/sync/give_way.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "util/sync/cpu_demand.h"

namespace varve {

namespace {

// The processor time of a piece of work, and the rest after it while others wait, for each urgency.
// Beside threads that compute all the time that leaves 25 %, 50 % and 66 % of a processor to the
// work, and others wait no longer than a piece. Urgent work never rests, but asks again if it is
// still urgent.
constexpr std::array<uint64_t, kUrgencies> kPieceNanos = {250'000, 250'000, 500'000, 1'000'000};
constexpr std::array<std::chrono::nanoseconds, kUrgencies> kRests = {
    std::chrono::microseconds(750), std::chrono::microseconds(250), std::chrono::microseconds(250),
    std::chrono::microseconds(0)};

// Number of steps that may turn out to be long before that is noticed.
constexpr uint32_t kMaxStride = 64;

constexpr uint64_t PieceOf(Urgency urgency) {
  return kPieceNanos[static_cast<size_t>(urgency)];
}

// A yield is not enough: the scheduler may give the processor back to the same thread at once.
void Rest(Urgency urgency) {
  if (ProcessorsAreShort()) {
    std::this_thread::sleep_for(kRests[static_cast<size_t>(urgency)]);
  } else {
    std::this_thread::yield();
  }
}

}  // namespace

constinit thread_local GiveWay* GiveWay::here_ = nullptr;

GiveWay::GiveWay(WorkPace* pace, Part part) : outer_(here_), pace_(pace), part_(part) {
  if (pace_ == nullptr) {
    here_ = nullptr;
    return;
  }
  if (part_ == Part::kLeader) pace_->JudgeAgain(0);
  looked_ = pace_->clock()->NowNanos();
  BeginPiece(looked_);
  here_ = this;
}

void GiveWay::BeginPiece(uint64_t now) {
  piece_began_ = now;
  piece_began_cpu_ = pace_->clock()->CPUNanos();
}

// Steps may take nanoseconds, or milliseconds with large values or a user's code. A stride that
// took more than a quarter of a piece shrinks at once to about an eighth of it; one that took less
// than a sixteenth doubles.
void GiveWay::AdaptStride(uint64_t took, uint64_t piece) {
  if (took > piece / 4) {
    stride_ = std::max<uint32_t>(static_cast<uint32_t>(stride_ * (piece / 8) / took), 1);
  } else if (took < piece / 16) {
    stride_ = std::min(stride_ * 2, kMaxStride);
  }
}

void GiveWay::Look() {
  SystemClock* const clock = pace_->clock();
  steps_ += stride_;
  const uint64_t now = clock->NowNanos();
  const uint64_t piece = PieceOf(pace_->urgency());
  AdaptStride(now - looked_, piece);
  looked_ = now;
  until_look_ = stride_;
  if (now - piece_began_ < piece) return;
  const uint64_t cpu = clock->CPUNanos();
  const uint64_t used = cpu - piece_began_cpu_;
  if (cpu != 0 && used < piece - piece / 4) {
    // Others have had the processor meanwhile, or the thread waited for a device: the piece is not
    // over.
    piece_began_ = now - used;
    return;
  }
  if (part_ == Part::kLeader) pace_->JudgeAgain(steps_);
  if (pace_->urgency() != Urgency::kHurry) {
    Rest(pace_->urgency());
    looked_ = clock->NowNanos();
    pace_->NotePause(looked_ - now);
  }
  BeginPiece(looked_);
}

SharedUrgency& SharedUrgency::OfFlushes() {
  static SharedUrgency* const instance = std::make_unique<SharedUrgency>().release();
  return *instance;
}

SharedUrgency& SharedUrgency::OfCompactions() {
  static SharedUrgency* const instance = std::make_unique<SharedUrgency>().release();
  return *instance;
}

SharedUrgency::SharedUrgency() {
  Watch(&mu_);
}

SharedUrgency::~SharedUrgency() {
  Forget();
}

void SharedUrgency::UpdateNearest() {
  Urgency nearest = Urgency::kCalm;
  for (const Urgency urgency : {Urgency::kSoon, Urgency::kPressing, Urgency::kHurry}) {
    if (wishes_[static_cast<size_t>(urgency)] > 0) nearest = urgency;
  }
  nearest_.store(nearest, std::memory_order_relaxed);
}

void SharedUrgency::Wish::Set(Urgency urgency) {
  if (urgency == urgency_) return;
  const MutexLock lock(&of_->mu_);
  // A wish that the parent process counted is not among the child's.
  if (urgency_ != Urgency::kCalm && generation_ == of_->generation_) {
    of_->wishes_[static_cast<size_t>(urgency_)]--;
  }
  if (urgency != Urgency::kCalm) of_->wishes_[static_cast<size_t>(urgency)]++;
  urgency_ = urgency;
  generation_ = of_->generation_;
  of_->UpdateNearest();
}

void SharedUrgency::InChild() {
  wishes_ = {};
  generation_++;
  nearest_.store(Urgency::kCalm, std::memory_order_relaxed);
}

}  // namespace varve
