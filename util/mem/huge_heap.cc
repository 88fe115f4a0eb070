// SPDX-License-Identifier: Apache-2.0

// Best fit with boundary tags, in regions of one huge page. Several independent parts: a thread
// moves on to another part when it finds its own busy or full, so that one thread alone uses one.

#include "util/mem/huge_heap.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

#include "util/base/assert.h"
#include "util/mem/huge_pages.h"
#include "util/mem/spare_pages.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kStandardHeapOnly = true;
#elif defined(__has_feature)
constexpr bool kStandardHeapOnly =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kStandardHeapOnly = false;
#endif

constexpr size_t kUnit = 64;
constexpr uint32_t kRegionUnits = kHugePageBytes / kUnit;
constexpr size_t kParts = 8;

// In front of every piece, at a multiple of kUnit. The links are for free ones.
struct Chunk {
  uint32_t units;   // with this header
  uint32_t before;  // units of the chunk before; 0: the first
  uint32_t in_use;
  uint32_t unused;
  Chunk* next;
  Chunk* previous;

  [[nodiscard]] Chunk* Plus(uint32_t n) {
    return reinterpret_cast<Chunk*>(reinterpret_cast<char*>(this) + n * kUnit);
  }
  [[nodiscard]] Chunk* Minus(uint32_t n) {
    return reinterpret_cast<Chunk*>(reinterpret_cast<char*>(this) - n * kUnit);
  }
};
constexpr size_t kHeaderBytes = 16;
static_assert(sizeof(Chunk) <= kUnit);

class Part;

// A huge page: this, chunks, and one that ends it and is always in use.
struct alignas(kUnit) Region {
  Part* part;

  [[nodiscard]] Chunk* first() { return reinterpret_cast<Chunk*>(this + 1); }
  static Region* Of(void* inside) {
    return reinterpret_cast<Region*>(reinterpret_cast<uintptr_t>(inside) & ~(kHugePageBytes - 1));
  }
};
static_assert(sizeof(Region) == kUnit);
constexpr uint32_t kWholeRegion = kRegionUnits - 2;

std::atomic<size_t> mapped_bytes{0};

// So many that they are little beside what is in use.
size_t SparesWanted() {
  return std::min(mapped_bytes.load(std::memory_order_relaxed) / (8 * kHugePageBytes),
                  SparePages::kMost);
}

// Free chunks by size.
class FreeLists {
 public:
  // By size up to the largest piece; larger ones; whole regions, which are broken into last.
  static constexpr uint32_t kLarger = HugeHeap::kMostBytes / kUnit + 1;
  static constexpr uint32_t kWhole = kLarger + 1;
  static constexpr uint32_t kLists = kWhole + 1;

  void Add(Chunk* chunk) {
    const uint32_t i = ListOf(chunk->units);
    chunk->previous = nullptr;
    chunk->next = lists_[i];
    if (chunk->next != nullptr) chunk->next->previous = chunk;
    lists_[i] = chunk;
    any_[i / 64] |= uint64_t{1} << i % 64;
  }
  void Remove(Chunk* chunk) {
    const uint32_t i = ListOf(chunk->units);
    if (chunk->next != nullptr) chunk->next->previous = chunk->previous;
    if (chunk->previous != nullptr) {
      chunk->previous->next = chunk->next;
      return;
    }
    lists_[i] = chunk->next;
    if (chunk->next == nullptr) any_[i / 64] &= ~(uint64_t{1} << i % 64);
  }
  // The smallest that has so many units, which are not above the largest piece's; or null.
  [[nodiscard]] Chunk* Find(uint32_t units) const {
    uint32_t word = units / 64;
    uint64_t bits = any_[word] & (~uint64_t{0} << units % 64);
    while (bits == 0) {
      if (++word == any_.size()) return nullptr;
      bits = any_[word];
    }
    return lists_[word * 64 + static_cast<uint32_t>(std::countr_zero(bits))];
  }

  // A whole region, or null.
  [[nodiscard]] Chunk* AnyWhole() const { return lists_[kWhole]; }

 private:
  static uint32_t ListOf(uint32_t units) {
    return units < kLarger ? units : units < kWholeRegion ? kLarger : kWhole;
  }

  std::array<Chunk*, kLists> lists_{};
  std::array<uint64_t, (kLists + 63) / 64> any_{};
};

// Chunks that were given back last, by size. They stay in use as far as their neighbours know,
// whose memory is looked at neither now nor when the chunk is taken again.
class RecentChunks {
 public:
  static constexpr uint32_t kUnitsMax = 128;
  static constexpr uint32_t kMost = 64;

  // Null if there is none of that size.
  Chunk* Take(uint32_t units) {
    if (units > kUnitsMax || lists_[units] == nullptr) return nullptr;
    count_--;
    return std::exchange(lists_[units], lists_[units]->next);
  }
  // Requires room for one more, and a size up to kUnitsMax.
  void Add(Chunk* chunk) {
    count_++;
    chunk->next = std::exchange(lists_[chunk->units], chunk);
  }
  [[nodiscard]] uint32_t count() const { return count_; }

 private:
  std::array<Chunk*, kUnitsMax + 1> lists_{};
  uint32_t count_ = 0;
};

class alignas(64) Part {
 public:
  [[nodiscard]] Mutex& mutex() VARVE_RETURN_CAPABILITY(mu_) { return mu_; }

  // Null when there is no room.
  char* Allocate(uint32_t units) VARVE_REQUIRES(mu_) {
    turns_ = std::min(turns_ + 1, kTurnsMost);
    if (Chunk* const recent = recent_.Take(units)) return Data(recent);
    Chunk* chunk = free_.Find(units);
    if (chunk == nullptr && recent_.count() != 0) {
      JoinRecent();
      chunk = free_.Find(units);
    }
    if (chunk == nullptr) return nullptr;
    if (chunk->units == kWholeRegion) empty_--;
    free_.Remove(chunk);
    if (chunk->units > units) {
      Chunk* const rest = chunk->Plus(units);
      rest->units = chunk->units - units;
      rest->before = units;
      rest->in_use = 0;
      rest->Plus(rest->units)->before = rest->units;
      chunk->units = units;
      free_.Add(rest);
    }
    chunk->in_use = 1;
    return Data(chunk);
  }

  // Where pieces come and go in turns, the next one asked for is as large as one that went lately:
  // blocks of a full cache are. Where they only go, nothing is kept.
  void Free(Chunk* chunk) VARVE_REQUIRES(mu_) {
    VARVE_ASSERT(chunk->in_use == 1);
    if (chunk->units > RecentChunks::kUnitsMax) return Join(chunk);
    if (turns_ == 0 || recent_.count() == RecentChunks::kMost) JoinRecent();
    if (turns_ == 0) return Join(chunk);
    turns_--;
    recent_.Add(chunk);
  }

  // An empty region that is to be given back, or null.
  //
  // A quarter of what is in use is kept. Memory from the system costs more than what is done with
  // it: its pages are cleared first. And what one owner gives back another asks for, as a rule:
  // blocks of tables that went, of those that took their place.
  Region* TakeExcess() VARVE_REQUIRES(mu_) {
    if (empty_ <= std::max<size_t>((regions_ - empty_) / 4, 1)) return nullptr;
    Chunk* const chunk = free_.AnyWhole();
    free_.Remove(chunk);
    regions_--;
    empty_--;
    return Region::Of(chunk);
  }

  bool AddRegion() VARVE_REQUIRES(mu_) {
    char* memory = SparePages::Default().Take();
    try {
      if (memory == nullptr) memory = AllocateHugePages(kHugePageBytes);
    } catch (const std::bad_alloc&) {
      return false;
    }
    mapped_bytes.fetch_add(kHugePageBytes, std::memory_order_relaxed);
    regions_++;
    empty_++;
    auto* const region = new (memory) Region{this};
    Chunk* const chunk = region->first();
    chunk->units = kWholeRegion;
    chunk->before = 0;
    chunk->in_use = 0;
    Chunk* const end = chunk->Plus(kWholeRegion);
    end->before = kWholeRegion;
    end->in_use = 1;
    free_.Add(chunk);
    return true;
  }

 private:
  static constexpr uint32_t kTurnsMost = 256;

  static char* Data(Chunk* chunk) { return reinterpret_cast<char*>(chunk) + kHeaderBytes; }

  void JoinRecent() VARVE_REQUIRES(mu_) {
    for (uint32_t units = 0; recent_.count() != 0; units++) {
      while (Chunk* const chunk = recent_.Take(units)) Join(chunk);
    }
  }

  // Makes it free, and one with free neighbours.
  void Join(Chunk* chunk) VARVE_REQUIRES(mu_) {
    chunk->in_use = 0;
    Chunk* const after = chunk->Plus(chunk->units);
    if (after->in_use == 0) {
      free_.Remove(after);
      chunk->units += after->units;
    }
    if (chunk->before != 0 && chunk->Minus(chunk->before)->in_use == 0) {
      Chunk* const before = chunk->Minus(chunk->before);
      free_.Remove(before);
      before->units += chunk->units;
      chunk = before;
    }
    chunk->Plus(chunk->units)->before = chunk->units;
    free_.Add(chunk);
    if (chunk->units == kWholeRegion) empty_++;
  }

  Mutex mu_;  // without a rank: all parts are locked over a fork()
  FreeLists free_ VARVE_GUARDED_BY(mu_);
  RecentChunks recent_ VARVE_GUARDED_BY(mu_);
  // So many may be given back before another is asked for.
  uint32_t turns_ VARVE_GUARDED_BY(mu_) = 0;
  size_t regions_ VARVE_GUARDED_BY(mu_) = 0;
  size_t empty_ VARVE_GUARDED_BY(mu_) = 0;  // of them
};

using PartArray = std::array<Part, kParts>;
PartArray& Parts();

// A child of fork has no threads that could unlock what they held.
void LockAll() VARVE_NO_THREAD_SAFETY_ANALYSIS {
  for (Part& part : Parts()) part.mutex().Lock();
  SparePages::Default().mutex().Lock();
}
void UnlockAll() VARVE_NO_THREAD_SAFETY_ANALYSIS {
  SparePages::Default().mutex().Unlock();
  for (Part& part : Parts()) part.mutex().Unlock();
}

// Never destroyed: what lies in them may outlive everything.
PartArray& Parts() {
  static PartArray* const parts = [] {
    auto* const made = new PartArray;
    // Without memory for that only children of fork have cause to complain.
    (void)pthread_atfork(&LockAll, &UnlockAll, &UnlockAll);
    return made;
  }();
  return *parts;
}

thread_local uint32_t my_part = 0;

// In a part that nobody is busy with; null: there is none, or no room.
char* AllocateInIdlePart(uint32_t units, bool grows) {
  for (uint32_t i = 0; i < kParts; i++) {
    const uint32_t p = (my_part + i) % kParts;
    Part& part = Parts()[p];
    if (!part.mutex().TryLock()) continue;
    char* const data = !grows || part.AddRegion() ? part.Allocate(units) : nullptr;
    part.mutex().Unlock();
    if (data == nullptr && grows) return nullptr;
    if (data == nullptr) continue;
    my_part = p;
    return data;
  }
  return nullptr;
}

char* AllocateInOwnPart(uint32_t units) {
  Part& part = Parts()[my_part];
  const MutexLock lock(&part.mutex());
  char* const data = part.Allocate(units);
  return data != nullptr || !part.AddRegion() ? data : part.Allocate(units);
}

}  // namespace

char* HugeHeap::Allocate(size_t bytes) {
  if (kStandardHeapOnly || bytes > kMostBytes) {
    // Aligned as promised.
    auto* const memory = static_cast<char*>(operator new (bytes + kHeaderBytes,
                                                          std::align_val_t{kUnit}, std::nothrow));
    return memory == nullptr ? nullptr : memory + kHeaderBytes;
  }
  const auto units = static_cast<uint32_t>((bytes + kHeaderBytes + kUnit - 1) / kUnit);
  // Room that there is, in whatever part, comes before more memory from the system.
  if (char* const data = AllocateInIdlePart(units, /*grows=*/false)) return data;
  char* data = AllocateInIdlePart(units, /*grows=*/true);
  if (data == nullptr) data = AllocateInOwnPart(units);
  SparePages::Default().Refill(SparesWanted());
  return data;
}

void HugeHeap::Free(char* data, size_t bytes) {
  if (kStandardHeapOnly || bytes > kMostBytes) {
    operator delete (data - kHeaderBytes, std::align_val_t{kUnit});
    return;
  }
  Part& part = *Region::Of(data)->part;
  Region* excess = nullptr;
  {
    const MutexLock lock(&part.mutex());
    part.Free(reinterpret_cast<Chunk*>(data - kHeaderBytes));
    excess = part.TakeExcess();
  }
  if (excess == nullptr) return;
  auto* const page = reinterpret_cast<char*>(excess);
  if (!SparePages::Default().Give(page)) FreePages(page, kHugePageBytes);
  mapped_bytes.fetch_sub(kHugePageBytes, std::memory_order_relaxed);
}

size_t HugeHeap::OccupiedBytes(size_t bytes) {
  return (bytes + kHeaderBytes + kUnit - 1) / kUnit * kUnit;
}

size_t HugeHeap::MappedBytes() {
  return mapped_bytes.load(std::memory_order_relaxed);
}

}  // namespace varve
