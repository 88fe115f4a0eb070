// SPDX-License-Identifier: Apache-2.0
// Implements defaults of the RateLimiter interface, and GenericRateLimiter.

#include "util/env/rate_limiter.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "varve/status.h"

#include "util/metrics/statistics.h"

namespace varve {

RateLimiter::~RateLimiter() = default;

Status RateLimiter::SetSingleBurstBytes(int64_t /*single_burst_bytes*/) {
  return Status::NotSupported("this rate limiter has a fixed burst size");
}

void RateLimiter::Request(int64_t /*bytes*/, Env::IOPriority /*pri*/) {}

void RateLimiter::Request(int64_t bytes, Env::IOPriority pri, Statistics* /*stats*/) {
  Request(bytes, pri);
}

void RateLimiter::Request(int64_t bytes, Env::IOPriority pri, Statistics* stats, OpType op_type) {
  if (IsRateLimited(op_type)) Request(bytes, pri, stats);
}

// Grants at most one burst, so that a large read or write lets others in between its pieces, but at
// least one aligned unit, without which direct I/O could not go on.
size_t RateLimiter::RequestToken(size_t bytes, size_t alignment, Env::IOPriority io_priority,
                                 Statistics* stats, OpType op_type) {
  if (io_priority >= Env::IO_TOTAL || !IsRateLimited(op_type)) return bytes;
  const auto burst = static_cast<size_t>(std::max<int64_t>(GetSingleBurstBytes(), 0));
  bytes = std::min(bytes, burst);
  if (alignment > 0) bytes = std::max(alignment, bytes - bytes % alignment);
  // An alignment above the burst is requested in several steps, each within the contract.
  for (size_t asked = 0; asked < bytes;) {
    const size_t step = burst == 0 ? bytes : std::min(burst, bytes - asked);
    Request(static_cast<int64_t>(step), io_priority, stats, op_type);
    asked += step;
  }
  return bytes;
}

Status RateLimiter::GetTotalPendingRequests(int64_t* /*total_pending_requests*/,
                                            Env::IOPriority /*pri*/) const {
  return Status::NotSupported("this rate limiter does not count pending requests");
}

bool RateLimiter::IsRateLimited(OpType op_type) {
  switch (mode_) {
    case Mode::kReadsOnly:
      return op_type == OpType::kRead;
    case Mode::kWritesOnly:
      return op_type == OpType::kWrite;
    case Mode::kAllIo:
      break;
  }
  return true;
}

namespace {

constexpr int64_t kMicrosPerSecond = 1000 * 1000;
constexpr int64_t kMaxPeriodUs = 60 * kMicrosPerSecond;
// Keeps rate * period, the tokens of one refill in millionths of a byte, within 62 bits.
constexpr int64_t kMaxRate = INT64_MAX / 4 / kMaxPeriodUs;
static_assert(kMaxRate > int64_t{16} << 30, "the cap must lie above any device");
constexpr int64_t kMaxBurst = int64_t{1} << 40;

// Auto-tuning: the rate is adjusted every kTunePeriods periods. The measure of demand is the share
// of periods that began with a waiting request; between the two limits the rate stays.
constexpr int64_t kTunePeriods = 100;
constexpr int64_t kLowMarkPercent = 50;
constexpr int64_t kHighMarkPercent = 90;
constexpr int64_t kAdjustPercent = 5;
constexpr int64_t kTuneRange = 20;

}  // namespace

GenericRateLimiter::GenericRateLimiter(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                       int32_t fairness, Mode mode,
                                       std::shared_ptr<SystemClock> clock, bool auto_tuned,
                                       int64_t single_burst_bytes)
    : RateLimiter(mode),
      clock_(std::move(clock)),
      refill_period_us_(std::clamp<int64_t>(refill_period_us, 1, kMaxPeriodUs)),
      fairness_(std::clamp<int32_t>(fairness, 1, 100)),
      auto_tuned_(auto_tuned),
      single_burst_bytes_(std::clamp<int64_t>(single_burst_bytes, 0, kMaxBurst)),
      max_rate_(std::clamp<int64_t>(rate_bytes_per_sec, 1, kMaxRate)),
      next_refill_us_(NowMicros()),
      last_tune_us_(next_refill_us_) {
  {
    MutexLock lock(&mutex_);
    // Tuning starts in the middle, from where it can follow demand either way.
    SetRate(auto_tuned_ ? max_rate_ / 2 : max_rate_);
  }
  Watch(&mutex_);
}

// The waiters lie on stacks of threads that the child does not have.
void GenericRateLimiter::InChild() {
  for (std::deque<Waiter*>& queue : queues_) queue.clear();
  has_leader_ = false;
}

void GenericRateLimiter::SetBytesPerSecond(int64_t bytes_per_second) {
  MutexLock lock(&mutex_);
  max_rate_ = std::clamp<int64_t>(bytes_per_second, 1, kMaxRate);
  SetRate(auto_tuned_ ? max_rate_ / 2 : max_rate_);
}

// The two numbers are published one after the other, and a reader between them sees a burst of the
// old rate, which is harmless.
void GenericRateLimiter::SetRate(int64_t bytes_per_second) {
  const int64_t rate = std::max<int64_t>(bytes_per_second, 1);
  rate_bytes_per_sec_.store(rate, std::memory_order_relaxed);
  refill_bytes_.store(std::max<int64_t>(rate * refill_period_us_ / kMicrosPerSecond, 1),
                      std::memory_order_relaxed);
}

Status GenericRateLimiter::SetSingleBurstBytes(int64_t single_burst_bytes) {
  if (single_burst_bytes < 0) {
    return Status::InvalidArgument("single_burst_bytes must not be negative");
  }
  single_burst_bytes_.store(std::min(single_burst_bytes, kMaxBurst), std::memory_order_relaxed);
  return Status::OK();
}

int64_t GenericRateLimiter::GetSingleBurstBytes() const {
  const int64_t burst = single_burst_bytes_.load(std::memory_order_relaxed);
  return burst > 0 ? burst : refill_bytes_.load(std::memory_order_relaxed);
}

// Each burst queues anew, so a large request does not keep later ones of its priority waiting for
// all of it. The statistics are told outside the mutex, because they may be a program's own.
void GenericRateLimiter::Request(int64_t bytes, Env::IOPriority pri, Statistics* stats) {
  const auto index = static_cast<size_t>(std::clamp<int>(pri, Env::IO_LOW, Env::IO_USER));
  uint64_t drains = 0;
  {
    MutexLock lock(&mutex_);
    if (auto_tuned_) TuneIfDue();
    ++total_requests_[index];
    int64_t left = std::max<int64_t>(bytes, 0);
    while (left > 0) {
      const int64_t burst = std::min(left, GetSingleBurstBytes());
      drains += RequestBurst(burst, index);
      left -= burst;
    }
  }
  if (drains > 0) RecordTick(stats, NUMBER_RATE_LIMITER_DRAINS, drains);
}

uint64_t GenericRateLimiter::RequestBurst(int64_t bytes, size_t pri) {
  RefillIfDue();
  total_bytes_[pri] += bytes;
  const int64_t taken = std::min(available_, bytes);  // 0 while others wait, by invariant 1.
  available_ -= taken;
  if (taken == bytes) return 0;

  // From here until `granted` this stack frame is in a queue. HandOut takes it out before it
  // signals, so the frame may go as soon as the flag is seen.
  Waiter self(bytes - taken, &mutex_);
  queues_[pri].push_back(&self);
  uint64_t refills = 0;
  while (!self.granted) {
    if (has_leader_) {
      self.cv.Wait();
    } else {
      LeadUntilRefill(&self);
      ++refills;
    }
  }
  // A waiter that leaves while there is no leader passes the lead on: the leader that was served,
  // and also a waiter that was woken to lead but was served before it ran.
  if (!has_leader_) {
    Waiter* const next = AnyWaiter();
    if (next != nullptr) next->cv.Signal();
  }
  return refills;
}

// Sleeps once, until the next refill, and hands out what has arrived. May return early.
void GenericRateLimiter::LeadUntilRefill(Waiter* self) {
  has_leader_ = true;
  const uint64_t now = NowMicros();
  if (now < next_refill_us_) {
    // Refills are timed by the monotonic clock, while TimedWait wants a time of day. If the latter
    // is set meanwhile, the sleep is too short or too long once, and the next look finds the right
    // number of periods.
    const uint64_t deadline = clock_->NowMicros() + (next_refill_us_ - now);
    clock_->TimedWait(&self->cv, std::chrono::microseconds(deadline));
  }
  has_leader_ = false;
  RefillIfDue();
}

// Refills stay on a fixed grid, so that a late wake-up does not lower the rate; an idle limiter
// saves up at most one refill, or one burst if that is more.
void GenericRateLimiter::RefillIfDue() {
  const uint64_t now = NowMicros();
  if (now < next_refill_us_) return;
  const auto period = static_cast<uint64_t>(refill_period_us_);
  const uint64_t periods = 1 + (now - next_refill_us_) / period;
  next_refill_us_ += periods * period;
  if (AnyWaiter() != nullptr) ++drains_;

  const int64_t capacity =
      std::max(refill_bytes_.load(std::memory_order_relaxed), GetSingleBurstBytes());
  const int64_t per_period =
      rate_bytes_per_sec_.load(std::memory_order_relaxed) * refill_period_us_;
  // After this many periods the bucket is full anyway. The bound also keeps the product in range:
  // it is at most 2 * capacity millions plus one period.
  const int64_t enough = 1 + capacity / std::max<int64_t>(per_period / kMicrosPerSecond, 1);
  const auto counted = static_cast<int64_t>(std::min(periods, static_cast<uint64_t>(enough)));
  fraction_ += counted * per_period;
  available_ = std::min(available_ + fraction_ / kMicrosPerSecond, capacity);
  fraction_ %= kMicrosPerSecond;
  HandOut();
}

// A waiter may be served in several refills; it stays at the front of its queue with what it lacks.
// Ends with an empty bucket or with no waiter left, which is invariant 1.
void GenericRateLimiter::HandOut() {
  for (const size_t pri : DrawOrder()) {
    std::deque<Waiter*>& queue = queues_[pri];
    while (!queue.empty() && available_ > 0) {
      Waiter* const first = queue.front();
      const int64_t share = std::min(available_, first->missing);
      available_ -= share;
      first->missing -= share;
      if (first->missing > 0) return;  // The bucket is empty.
      first->granted = true;
      queue.pop_front();
      first->cv.Signal();
    }
  }
}

// Returns the priorities, highest first, except that each lower one is randomly swapped with its
// neighbour. User requests are never passed.
GenericRateLimiter::PriorityOrder GenericRateLimiter::DrawOrder() {
  PriorityOrder order = {Env::IO_USER, Env::IO_HIGH, Env::IO_MID, Env::IO_LOW};
  // From the lowest up, so one draw can carry IO_LOW past both IO_MID and IO_HIGH; no priority
  // starves.
  for (size_t i = order.size() - 1; i >= 2; --i) {
    if (OneInFairness()) std::swap(order[i], order[i - 1]);
  }
  return order;
}

bool GenericRateLimiter::OneInFairness() {
  // This is Marsaglia's xorshift with 32 bits: fairness needs no better randomness.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  return random_ % static_cast<uint32_t>(fairness_) == 0;
}

GenericRateLimiter::Waiter* GenericRateLimiter::AnyWaiter() const {
  for (size_t pri = queues_.size(); pri > 0; --pri) {
    if (!queues_[pri - 1].empty()) return queues_[pri - 1].front();
  }
  return nullptr;
}

// Follows demand between max_rate_ / kTuneRange and max_rate_. The rate falls to the lowest at once
// if no refill found a waiting request, falls by 5 % below kLowMarkPercent, rises by 5 % above
// kHighMarkPercent (by at least 1 byte a second), and otherwise stays. Only a request tunes, so an
// idle limiter is tuned at its next request, over a longer interval.
void GenericRateLimiter::TuneIfDue() {
  const uint64_t now = NowMicros();
  const auto interval = static_cast<uint64_t>(kTunePeriods * refill_period_us_);
  if (now < last_tune_us_ + interval) return;
  const auto periods =
      static_cast<int64_t>((now - last_tune_us_) / static_cast<uint64_t>(refill_period_us_));
  const int64_t drained_percent = drains_ * 100 / periods;
  last_tune_us_ = now;
  const bool idle = drains_ == 0;
  drains_ = 0;

  const int64_t lowest = std::max<int64_t>(max_rate_ / kTuneRange, 1);
  const int64_t rate = rate_bytes_per_sec_.load(std::memory_order_relaxed);
  // kMaxRate leaves room for the products.
  if (idle) {
    SetRate(lowest);
  } else if (drained_percent < kLowMarkPercent) {
    SetRate(std::max(lowest, rate * 100 / (100 + kAdjustPercent)));
  } else if (drained_percent > kHighMarkPercent) {
    SetRate(std::min(max_rate_, std::max(rate + 1, rate * (100 + kAdjustPercent) / 100)));
  }
}

int64_t GenericRateLimiter::Sum(const std::array<int64_t, kPriorities>& per_priority,
                                Env::IOPriority pri) {
  const auto index = static_cast<size_t>(std::max<int>(pri, Env::IO_LOW));
  if (index < kPriorities) return per_priority[index];
  int64_t sum = 0;
  for (const int64_t value : per_priority) sum += value;
  return sum;
}

int64_t GenericRateLimiter::GetTotalBytesThrough(Env::IOPriority pri) const {
  MutexLock lock(&mutex_);
  return Sum(total_bytes_, pri);
}

int64_t GenericRateLimiter::GetTotalRequests(Env::IOPriority pri) const {
  MutexLock lock(&mutex_);
  return Sum(total_requests_, pri);
}

Status GenericRateLimiter::GetTotalPendingRequests(int64_t* total_pending_requests,
                                                   Env::IOPriority pri) const {
  if (total_pending_requests == nullptr) {
    return Status::InvalidArgument("GetTotalPendingRequests: no place for the result");
  }
  MutexLock lock(&mutex_);
  std::array<int64_t, kPriorities> waiting{};
  for (size_t i = 0; i < queues_.size(); ++i) waiting[i] = static_cast<int64_t>(queues_[i].size());
  *total_pending_requests = Sum(waiting, pri);
  return Status::OK();
}

RateLimiter* NewGenericRateLimiter(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                   int32_t fairness, RateLimiter::Mode mode, bool auto_tuned,
                                   int64_t single_burst_bytes) {
  return std::make_unique<GenericRateLimiter>(rate_bytes_per_sec, refill_period_us, fairness, mode,
                                              SystemClock::Default(), auto_tuned,
                                              single_burst_bytes)
      .release();
}

}  // namespace varve
