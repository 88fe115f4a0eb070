// SPDX-License-Identifier: Apache-2.0

// A slab goes from its home to a MultiGet, and from there, value by value, back:
//
//       Take --> a MultiGet fills the values --> HandOut: out_ = number of values that were found
//         ^                                         |
//         |                              PutBack of each, in any thread: out_ - 1
//         '------------- Keep <------------- the one that makes it 0
//
// A slab that is out owns a reference to its home, which may outlive the database's handle.

#include "db/api/c/c_results.h"

#include <utility>

#include "util/base/assert.h"

namespace varve::c {

namespace {

// Larger buffers are not kept: few values need one.
constexpr size_t kKeptBufferBytes = 1024;

}  // namespace

void ResultSlab::HandOut(std::unique_ptr<ResultSlab> slab, uint32_t handed_out,
                         std::shared_ptr<SpareSlabs> home) {
  VARVE_ASSERT(home != nullptr && handed_out <= kResults);
  VARVE_ASSERT(slab->out_.load(std::memory_order_relaxed) == 0);
  if (handed_out == 0) {
    home->Keep(std::move(slab));
    return;
  }
  // Both stores come before any value is known to another thread.
  slab->home_ = std::move(home);
  slab->out_.store(handed_out, std::memory_order_relaxed);
  (void)slab.release();  // The last PutBack gives it back to its home.
}

void ResultSlab::PutBack(PinnableSlice* value) noexcept {
  VARVE_ASSERT(value >= values_.data() && value < values_.data() + kResults);
  value->Reset();
  // Release: uses of this value happen before the next use; acquire: those of all others, too.
  if (out_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // A slab that is kept must not keep its home alive, which holds it.
  const std::shared_ptr<SpareSlabs> home = std::move(home_);
  home->Keep(std::unique_ptr<ResultSlab>(this));
}

std::shared_ptr<SpareSlabs> MakeSpareSlabs() {
  return std::make_shared<SpareSlabs>();
}

std::unique_ptr<ResultSlab> SpareSlabs::Take() {
  {
    MutexLock lock(&mu_);
    if (count_ != 0) return std::move(slabs_[--count_]);
  }
  return std::make_unique<ResultSlab>();
}

void ResultSlab::DropLargeBuffers() noexcept {
  for (PinnableSlice& value : values_) {
    if (value.GetSelf()->capacity() > kKeptBufferBytes) std::string().swap(*value.GetSelf());
  }
}

void SpareSlabs::Keep(std::unique_ptr<ResultSlab> slab) noexcept {
  VARVE_ASSERT(slab != nullptr && slab->home_ == nullptr);  // It would keep itself alive.
  // Results that were not handed out may have large buffers, too.
  slab->DropLargeBuffers();
  MutexLock lock(&mu_);
  // If there are enough, this one is freed by the destructor of `slab`, after the lock is released.
  if (count_ < kKept) slabs_[count_++] = std::move(slab);
}

}  // namespace varve::c
