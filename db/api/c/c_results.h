// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds values that were read together and are handed out one by one, without an allocation for
// each.

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

// Holds the results of one batched read. Each result that was handed out is given back by itself;
// with the last one the slab returns to its home, which keeps or frees it.
//
// Thread safety: PutBack from any thread; the rest only by the reading thread.
class ResultSlab {
 public:
  static constexpr size_t kResults = 64;

  ResultSlab() {
    for (size_t i = 0; i < kResults; ++i) handles_[i] = {&values_[i], this};
  }
  ResultSlab(const ResultSlab&) = delete;
  ResultSlab& operator=(const ResultSlab&) = delete;

  // Returns the places for the values of a MultiGet of at most kResults keys.
  PinnableSlice* values() { return values_.data(); }
  // Returns the handle of the i-th value.
  rocksdb_pinnableslice_t* handle(size_t i) { return &handles_[i]; }

  // Hands out `handed_out` results, each of which must be given back once by PutBack. The last one
  // returns the slab to `home`. The caller must not use the slab any more.
  static void HandOut(std::unique_ptr<ResultSlab> slab, uint32_t handed_out,
                      std::shared_ptr<SpareSlabs> home);
  // Gives one result back: releases what its value pins. The last one returns the slab to its home.
  void PutBack(PinnableSlice* value) noexcept;

 private:
  friend class SpareSlabs;
  // Frees large buffers of values, so that an idle slab keeps little memory.
  void DropLargeBuffers() noexcept;

  // Number of results that the caller has. The decrement to zero publishes their release to the
  // next user.
  std::atomic<uint32_t> out_{0};
  std::shared_ptr<SpareSlabs> home_;
  std::array<PinnableSlice, kResults> values_;
  std::array<rocksdb_pinnableslice_t, kResults> handles_;
};

// Keeps slabs for the next batched read, with the buffers that their values have grown.
//
// Thread safety: all methods from any thread. Ownership: shared by the database's handle and the
// slabs in use, which may outlive it.
class SpareSlabs final : private ForkWatch {
 public:
  SpareSlabs() { Watch(&mu_); }
  ~SpareSlabs() { Forget(); }

  // Returns a spare slab or a new one. Throws std::bad_alloc.
  std::unique_ptr<ResultSlab> Take();
  // Keeps a slab without results for the next Take, or frees it if there are enough.
  void Keep(std::unique_ptr<ResultSlab> slab) noexcept;

 private:
  static constexpr size_t kKept = 8;

  Mutex mu_;  // A leaf: no other lock is taken under it.
  std::array<std::unique_ptr<ResultSlab>, kKept> slabs_ VARVE_GUARDED_BY(mu_);
  size_t count_ VARVE_GUARDED_BY(mu_) = 0;
};

// Holds a result that was read alone.
struct SingleResult : rocksdb_pinnableslice_t {
  SingleResult() : rocksdb_pinnableslice_t{&rep, nullptr} {}
  explicit SingleResult(PinnableSlice&& from)
      : rocksdb_pinnableslice_t{&rep, nullptr}, rep(std::move(from)) {}

  PinnableSlice rep;
};

}  // namespace varve::c
