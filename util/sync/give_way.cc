// SPDX-License-Identifier: Apache-2.0
#include "util/sync/give_way.h"

#include <algorithm>
#include <memory>
#include <thread>

namespace varve {

namespace {

// Of processor time, by haste. Somebody who computes all the time gives up one piece per tick, of
// 4 ms say, which leaves 6 %, 20 % or 33 % of that processor to the work. Who hurries gives up
// nothing, but asks as often whether it still has to.
constexpr std::array<uint64_t, kHastes> kPieceNanos = {250'000, 1'000'000, 2'000'000, 1'000'000};

// So many steps may turn out to be long ones before that is noticed.
constexpr uint32_t kMaxStride = 64;

constexpr uint64_t PieceOf(Haste haste) {
  return kPieceNanos[static_cast<size_t>(haste)];
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

// Steps may take nanoseconds, or, with large values or a user's code in them, milliseconds.
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
  const uint64_t piece = PieceOf(pace_->haste());
  AdaptStride(now - looked_, piece);
  looked_ = now;
  until_look_ = stride_;
  if (now - piece_began_ < piece) return;
  const uint64_t cpu = clock->CPUNanos();
  const uint64_t used = cpu - piece_began_cpu_;
  if (cpu != 0 && used < piece - piece / 4) {
    // Others have had the processor meanwhile, or a device was waited for: the turn is not over.
    piece_began_ = now - used;
    return;
  }
  if (part_ == Part::kLeader) pace_->JudgeAgain(steps_);
  if (pace_->haste() != Haste::kHurry) {
    std::this_thread::yield();
    looked_ = clock->NowNanos();
    pace_->NotePause(looked_ - now);
  }
  BeginPiece(looked_);
}

SharedHaste& SharedHaste::OfFlushes() {
  static SharedHaste* const instance = std::make_unique<SharedHaste>().release();
  return *instance;
}

SharedHaste& SharedHaste::OfCompactions() {
  static SharedHaste* const instance = std::make_unique<SharedHaste>().release();
  return *instance;
}

SharedHaste::SharedHaste() {
  Watch(&mu_);
}

SharedHaste::~SharedHaste() {
  Forget();
}

void SharedHaste::UpdateNearest() {
  Haste nearest = Haste::kCalm;
  for (const Haste haste : {Haste::kSoon, Haste::kPressing, Haste::kHurry}) {
    if (wishes_[static_cast<size_t>(haste)] > 0) nearest = haste;
  }
  nearest_.store(nearest, std::memory_order_relaxed);
}

void SharedHaste::Wish::Set(Haste haste) {
  if (haste == haste_) return;
  const MutexLock lock(&of_->mu_);
  // A wish that the parent of this process counted is not among the child's.
  if (haste_ != Haste::kCalm && generation_ == of_->generation_) {
    of_->wishes_[static_cast<size_t>(haste_)]--;
  }
  if (haste != Haste::kCalm) of_->wishes_[static_cast<size_t>(haste)]++;
  haste_ = haste;
  generation_ = of_->generation_;
  of_->UpdateNearest();
}

void SharedHaste::InChild() {
  wishes_ = {};
  generation_++;
  nearest_.store(Haste::kCalm, std::memory_order_relaxed);
}

}  // namespace varve
