// SPDX-License-Identifier: Apache-2.0
#include "db/background/work_paces.h"

#include <algorithm>

namespace varve {

namespace {

// What the end of the room is to be ahead of the end of the work.
constexpr double kEarly = 2;
// So much behind, of the whole work, it hurries.
constexpr double kFarBehind = 0.25;

// Somebody waits for whatever is under way.
bool IsWaitedFor(const Engine& engine) {
  return engine.waiting_calls.load(std::memory_order_relaxed) > 0 ||
         engine.shutting_down.load(std::memory_order_relaxed);
}

}  // namespace

Haste FlushPace::Judge(double taken, double done) {
  const double behind = taken * kEarly - done;
  if (behind <= 0) return Haste::kCalm;
  return behind < kFarBehind ? Haste::kSoon : Haste::kHurry;
}

Haste FlushPace::Judge(uint64_t steps) {
  if (IsWaitedFor(*engine_) || SharedHaste::OfFlushes().nearest() == Haste::kHurry) {
    return Haste::kHurry;
  }
  // Another flush, of whatever database, needs the thread.
  if (engine_->env->GetThreadPoolQueueLen(Env::Priority::HIGH) > 0) return Haste::kHurry;
  double taken = 0;
  for (const FillingMemTable& filling : filling_) {
    const auto room = static_cast<double>(std::max(filling.room, 1)) *
                      static_cast<double>(std::max<uint64_t>(filling.write_buffer_bytes, 1));
    taken = std::max(taken, static_cast<double>(filling.mem->data_bytes()) / room);
  }
  const double done =
      static_cast<double>(steps) / static_cast<double>(std::max<uint64_t>(entries_, 1));
  return Judge(std::min(taken, 1.0), std::min(done, 1.0));
}

Haste CompactionPace::Judge(uint64_t) {
  return IsWaitedFor(*engine_) ? Haste::kHurry : SharedHaste::OfCompactions().nearest();
}

void NotePauses(Engine* engine, const WorkPace& pace) {
  engine->total_pauses.fetch_add(pace.pauses(), std::memory_order_relaxed);
  engine->total_paused_nanos.fetch_add(pace.paused_nanos(), std::memory_order_relaxed);
}

}  // namespace varve
