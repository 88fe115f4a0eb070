// SPDX-License-Identifier: Apache-2.0
#include "util/mem/spare_pages.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "util/base/assert.h"
#include "util/mem/huge_pages.h"

namespace varve {

namespace {

// There is nothing to do until Wake is called.
constexpr uint64_t kLongMicros = 3600ull * 1000 * 1000;

}  // namespace

SparePages& SparePages::Default() {
  static SparePages* const instance = std::make_unique<SparePages>().release();
  return *instance;
}

char* SparePages::Take() noexcept {
  const MutexLock lock(&mu_);
  return count_ > 0 ? std::exchange(pages_[--count_], nullptr) : nullptr;
}

void SparePages::Refill(size_t wanted) noexcept {
  VARVE_ASSERT(wanted <= kMost);
  {
    const MutexLock lock(&mu_);
    wanted_ = wanted;
    if (count_ >= wanted_) return;
  }
  // The timer calls a client once after Add by itself. Only later refills need a Wake.
  if (!has_thread_.load(std::memory_order_relaxed) && !has_thread_.exchange(true)) {
    if (!SharedTimer::Default().Add(this)) has_thread_ = false;
  } else {
    SharedTimer::Default().Wake(this);
  }
}

bool SparePages::Give(char* page) noexcept {
  const MutexLock lock(&mu_);
  if (count_ >= wanted_) return false;
  pages_[count_++] = page;
  return true;
}

char* SparePages::TakeSurplus(size_t wanted) noexcept {
  const MutexLock lock(&mu_);
  wanted_ = std::min(wanted_, wanted);
  return count_ > wanted_ ? std::exchange(pages_[--count_], nullptr) : nullptr;
}

uint64_t SparePages::OnTime() noexcept {
  for (;;) {
    {
      const MutexLock lock(&mu_);
      if (count_ >= wanted_) return kLongMicros;
    }
    char* page = nullptr;
    try {
      page = AllocateHugePages(kHugePageBytes);
    } catch (const std::bad_alloc&) {
      return kLongMicros;
    }
    // Makes the kernel provide and clear the page now, in this thread.
    *static_cast<volatile char*>(page) = 0;
    if (!Give(page)) FreePages(page, kHugePageBytes);
  }
}

}  // namespace varve
