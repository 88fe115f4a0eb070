// SPDX-License-Identifier: Apache-2.0

// Implements iterators that yield nothing.

#include "varve/iterator.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "util/base/assert.h"

namespace varve {

namespace {

// A caller for whom there is no memory for an iterator still needs one that reports it: this many
// of them can exist at once without an allocation.
constexpr size_t kSpares = 64;
constexpr size_t kSpareBytes = 64;

struct alignas(std::max_align_t) Spare {
  char bytes[kSpareBytes];
};
std::array<Spare, kSpares> spares;
std::array<std::atomic<bool>, kSpares> spare_taken;

// An iterator without entries, which reports a status.
class NothingIterator final : public Iterator {
 public:
  explicit NothingIterator(Status status) : status_(std::move(status)) {}

  // Ordinary memory first. The acquire and release on a spare's flag order its use after the end of
  // its last one, in another thread.
  static void* operator new(size_t size) {
    if (void* const memory = ::operator new(size, std::nothrow)) return memory;
    for (size_t i = 0; i < kSpares; i++) {
      if (!spare_taken[i].exchange(true, std::memory_order_acquire)) return &spares[i];
    }
    throw std::bad_alloc();
  }
  static void operator delete(void* memory) {
    for (size_t i = 0; i < kSpares; i++) {
      if (memory == &spares[i]) return spare_taken[i].store(false, std::memory_order_release);
    }
    ::operator delete(memory);
  }

  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice& /*target*/) override {}
  void SeekForPrev(const Slice& /*target*/) override {}
  void Next() override { VARVE_ASSERT(false); }
  void Prev() override { VARVE_ASSERT(false); }
  Slice key() const override {
    VARVE_ASSERT(false);
    return Slice();
  }
  Slice value() const override {
    VARVE_ASSERT(false);
    return Slice();
  }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

static_assert(sizeof(NothingIterator) <= kSpareBytes);

}  // namespace

Status Iterator::GetProperty(std::string prop_name, std::string* prop) {
  if (prop == nullptr) return Status::InvalidArgument("GetProperty: no place for the answer");
  if (prop_name == "rocksdb.iterator.is-key-pinned") {
    *prop = "0";
    return Status::OK();
  }
  return Status::InvalidArgument("Unidentified property", prop_name);
}

Iterator* NewEmptyIterator() {
  return std::make_unique<NothingIterator>(Status::OK()).release();
}

Iterator* NewErrorIterator(const Status& status) {
  return std::make_unique<NothingIterator>(status).release();
}

}  // namespace varve
