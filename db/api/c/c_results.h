// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values that the C API hands out one by one though they were read together: without an allocation
// for each of them.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "db/api/c/c_types.h"
#include "util/sync/fork_watch.h"
#include "util/sync/mutex.h"

namespace varve::c {

class SpareSlabs;

// The results of one batched read. Each that was handed out is given back by itself; the last one
// takes the slab along.
//
// Thread safety: PutBack from any thread; the rest is for the thread that reads.
class ResultSlab {
 public:
  static constexpr size_t kResults = 64;

  ResultSlab() {
    for (size_t i = 0; i < kResults; ++i) handles_[i] = {&values_[i], this};
  }
  ResultSlab(const ResultSlab&) = delete;
  ResultSlab& operator=(const ResultSlab&) = delete;

  // Where a MultiGet of at most kResults keys puts its values.
  PinnableSlice* values() { return values_.data(); }
  rocksdb_pinnableslice_t* handle(size_t i) { return &handles_[i]; }

  // `handed_out` results will be given back, each once. The slab is not to be touched any more.
  static void HandOut(std::unique_ptr<ResultSlab> slab, uint32_t handed_out,
                      std::shared_ptr<SpareSlabs> home);
  void PutBack(PinnableSlice* value) noexcept;

 private:
  friend class SpareSlabs;
  void DropLargeBuffers() noexcept;

  // Results that the caller has. The decrement to zero publishes their release to the next user.
  std::atomic<uint32_t> out_{0};
  std::shared_ptr<SpareSlabs> home_;
  std::array<PinnableSlice, kResults> values_;
  std::array<rocksdb_pinnableslice_t, kResults> handles_;
};

// Slabs that wait for the next batched read, with the buffers that their values have grown.
//
// Thread safety: all methods from any thread. Ownership: shared by the database's handle and the
// slabs under way, which may outlive it.
class SpareSlabs final : private ForkWatch {
 public:
  SpareSlabs() { Watch(&mu_); }
  ~SpareSlabs() { Forget(); }

  // A spare one or a new one. Throws std::bad_alloc.
  std::unique_ptr<ResultSlab> Take();
  void Keep(std::unique_ptr<ResultSlab> slab) noexcept;

 private:
  static constexpr size_t kKept = 8;

  Mutex mu_;  // leaf
  std::array<std::unique_ptr<ResultSlab>, kKept> slabs_ VARVE_GUARDED_BY(mu_);
  size_t count_ VARVE_GUARDED_BY(mu_) = 0;
};

// A result that was read alone.
struct SingleResult : rocksdb_pinnableslice_t {
  SingleResult() : rocksdb_pinnableslice_t{&rep, nullptr} {}
  explicit SingleResult(PinnableSlice&& from)
      : rocksdb_pinnableslice_t{&rep, nullptr}, rep(std::move(from)) {}

  PinnableSlice rep;
};

}  // namespace varve::c
