// SPDX-License-Identifier: Apache-2.0

// Implements a list of pieces, and its timer.

#include "util/mem/warm_pages.h"

#include <algorithm>
#include <new>
#include <utility>

#include "util/mem/huge_pages.h"

namespace varve {

namespace {

// Builds with the address or thread sanitizer keep nothing, so that accesses to freed memory fail.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeepsNothing = true;
#elif defined(__has_feature)
constexpr bool kKeepsNothing = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kKeepsNothing = false;
#endif

constexpr uint64_t kWarmMicros = 1000 * 1000;
// There is nothing to do until Wake is called.
constexpr uint64_t kUntilWokenMicros = uint64_t{3600} * 1000 * 1000;

}  // namespace

WarmPages& WarmPages::Default() {
  static auto* const instance = new WarmPages();
  return *instance;
}

WarmPages::WarmPages() {
  pieces_.reserve(kMostBytes / kLeastBytes);
  Watch(&mu_);
}

char* WarmPages::Take(size_t bytes) noexcept {
  if (bytes_.load(std::memory_order_relaxed) == 0) return nullptr;
  const MutexLock lock(&mu_);
  const auto found = std::find_if(pieces_.rbegin(), pieces_.rend(),
                                  [bytes](const Piece& piece) { return piece.bytes == bytes; });
  if (found == pieces_.rend()) return nullptr;
  char* const data = found->data;
  pieces_.erase(std::prev(found.base()));
  const size_t left = this->bytes() - bytes;
  bytes_.store(left, std::memory_order_relaxed);
  least_ = std::min(least_, left);
  return data;
}

bool WarmPages::Keep(char* data, size_t bytes) noexcept {
  if (kKeepsNothing || bytes < kLeastBytes || bytes > kMostBytes) return false;
  // Without a timer nothing would go back to the system.
  if (!has_timer_.load(std::memory_order_relaxed) && !StartTimer()) return false;
  bool wake = false;
  {
    const MutexLock lock(&mu_);
    const size_t before = this->bytes();
    if (bytes > kMostBytes - before) return false;
    pieces_.push_back(Piece{data, bytes});
    bytes_.store(before + bytes, std::memory_order_relaxed);
    wake = !std::exchange(awake_, true);
  }
  if (wake) SharedTimer::Default().Wake(this);
  return true;
}

bool WarmPages::StartTimer() noexcept {
  if (has_timer_.exchange(true)) return true;
  {
    const MutexLock lock(&mu_);
    awake_ = true;
  }
  const bool added = SharedTimer::Default().Add(this);
  if (!added) has_timer_ = false;
  return added;
}

std::vector<WarmPages::Piece> WarmPages::TakeIdle() {
  std::vector<Piece> idle;
  const MutexLock lock(&mu_);
  // So many bytes were kept at every moment since the last call, so nobody has needed them.
  size_t sum = 0;
  auto end = pieces_.begin();
  while (end != pieces_.end() && sum + end->bytes <= least_) sum += (end++)->bytes;
  idle.assign(pieces_.begin(), end);
  pieces_.erase(pieces_.begin(), end);
  least_ = bytes() - sum;
  bytes_.store(least_, std::memory_order_relaxed);
  awake_ = least_ != 0;
  return idle;
}

uint64_t WarmPages::OnTime() noexcept {
  try {
    for (const Piece& piece : TakeIdle()) FreePages(piece.data, piece.bytes);
  } catch (const std::bad_alloc&) {
    // The list could not be copied; the next call tries again.
  }
  const MutexLock lock(&mu_);
  return awake_ ? kWarmMicros : kUntilWokenMicros;
}

// The timer has no clients in the child.
void WarmPages::InChild() {
  has_timer_.store(false, std::memory_order_relaxed);
}

}  // namespace varve
