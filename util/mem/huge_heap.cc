// SPDX-License-Identifier: Apache-2.0

// Implements a best-fit allocator with boundary tags, in regions of one huge page. It has several
// independent parts: a thread moves to another part when its own is locked or full, so that a
// single thread uses one.

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

// Begins a chunk: an allocated piece, or free memory, at a multiple of kUnit. A piece's bytes begin
// in place of the links, which only chunks in FreeLists and RecentChunks have.
struct Chunk {
  uint32_t units;   // Includes this header.
  uint32_t before;  // Units of the chunk before; 0 for the first.
  uint32_t in_use;  // 1, or 0 for a free chunk, which its neighbours may be merged with.
  uint32_t unused;  // Makes the header kHeaderBytes long.
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

// A huge page: this header, chunks, and a last chunk that is always in use.
struct alignas(kUnit) Region {
  Part* part;

  [[nodiscard]] Chunk* first() { return reinterpret_cast<Chunk*>(this + 1); }
  static Region* Of(void* inside) {
    return reinterpret_cast<Region*>(reinterpret_cast<uintptr_t>(inside) & ~(kHugePageBytes - 1));
  }
};
static_assert(sizeof(Region) == kUnit);
// Units of the chunk of an empty region: all but the region's header and the last chunk.
constexpr uint32_t kWholeRegion = kRegionUnits - 2;

std::atomic<size_t> mapped_bytes{0};

// Returns the number of spare pages, which is small compared with what is in use.
size_t SparesWanted() {
  return std::min(mapped_bytes.load(std::memory_order_relaxed) / (8 * kHugePageBytes),
                  SparePages::kMost);
}

// The free chunks, by size.
class FreeLists {
 public:
  // One list for each size up to kExact units, 64 KiB; one for each factor of two above that; and
  // one for whole regions, which are split last.
  static constexpr uint32_t kExact = 1023;
  static constexpr uint32_t kWhole =
      kExact + static_cast<uint32_t>(std::bit_width(kRegionUnits / (kExact + 1)));
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
  // Returns a chunk of at least `units`, or null: the smallest up to 64 KiB, and above that one of
  // the smaller ones.
  [[nodiscard]] Chunk* Find(uint32_t units) const {
    uint32_t least = ListOf(units);
    if (least > kExact) {
      // Only some chunks of this list are large enough, and all of those that follow.
      Chunk* chunk = lists_[least];
      for (int i = 0; i < kTried && chunk != nullptr; i++, chunk = chunk->next) {
        if (chunk->units >= units) return chunk;
      }
      least++;
    }
    uint32_t word = least / 64;
    uint64_t bits = any_[word] & (~uint64_t{0} << least % 64);
    while (bits == 0) {
      if (++word == any_.size()) return nullptr;
      bits = any_[word];
    }
    return lists_[word * 64 + static_cast<uint32_t>(std::countr_zero(bits))];
  }

  // Returns a whole region, or null.
  [[nodiscard]] Chunk* AnyWhole() const { return lists_[kWhole]; }

 private:
  // Number of chunks that are looked at in a list whose chunks may be too small. Each costs a cache
  // miss under the lock of the part.
  static constexpr int kTried = 8;

  static uint32_t ListOf(uint32_t units) {
    if (units <= kExact) return units;
    if (units == kWholeRegion) return kWhole;
    return kExact + static_cast<uint32_t>(std::bit_width(units / (kExact + 1)));
  }

  std::array<Chunk*, kLists> lists_{};
  std::array<uint64_t, (kLists + 63) / 64> any_{};
};

// The chunks that were freed last, by size. Their neighbours see them as in use, so that neither
// freeing nor reusing one touches the neighbours' memory.
class RecentChunks {
 public:
  static constexpr uint32_t kUnitsMax = 128;
  static constexpr uint32_t kMost = 64;

  // Returns null if there is none of that size.
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

// One of the independent parts of the heap: its regions, and the free chunks in them.
class alignas(64) Part {
 public:
  [[nodiscard]] Mutex& mutex() VARVE_RETURN_CAPABILITY(mu_) { return mu_; }

  // Allocates a chunk of `units` times kUnit bytes, header included: the last freed one of that
  // size, else the smallest that fits, whose rest becomes a free chunk. Returns null if this part
  // has no room.
  char* Allocate(uint32_t units) VARVE_REQUIRES(mu_) {
    recent_allowance_ = std::min(recent_allowance_ + 1, kAllowanceMost);
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

  // Frees a chunk. Where allocations and frees alternate, as in a full cache, the next allocation
  // usually has a recent size, so the chunk is kept. Where there are only frees, nothing is kept.
  void Free(Chunk* chunk) VARVE_REQUIRES(mu_) {
    VARVE_ASSERT(chunk->in_use == 1);
    if (chunk->units > RecentChunks::kUnitsMax) return Join(chunk);
    if (recent_allowance_ == 0 || recent_.count() == RecentChunks::kMost) JoinRecent();
    if (recent_allowance_ == 0) return Join(chunk);
    recent_allowance_--;
    recent_.Add(chunk);
  }

  // Returns an empty region that is to be unmapped, or null.
  //
  // A quarter of what is in use is kept: fresh memory from the system is cleared first, which costs
  // more than its use, and what one owner frees another usually allocates soon, as new tables'
  // blocks replace those of old ones.
  Region* TakeExcess() VARVE_REQUIRES(mu_) {
    if (empty_ <= std::max<size_t>((regions_ - empty_) / 4, 1)) return nullptr;
    Chunk* const chunk = free_.AnyWhole();
    free_.Remove(chunk);
    regions_--;
    empty_--;
    return Region::Of(chunk);
  }

  // Adds an empty region. Returns false if there is no memory.
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
  static constexpr uint32_t kAllowanceMost = 256;

  static char* Data(Chunk* chunk) { return reinterpret_cast<char*>(chunk) + kHeaderBytes; }

  // Joins all chunks that were kept in recent_.
  void JoinRecent() VARVE_REQUIRES(mu_) {
    for (uint32_t units = 0; recent_.count() != 0; units++) {
      while (Chunk* const chunk = recent_.Take(units)) Join(chunk);
    }
  }

  // Marks the chunk free and merges it with its free neighbours.
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

  Mutex mu_;  // Unranked: all parts are locked over a fork().
  FreeLists free_ VARVE_GUARDED_BY(mu_);
  RecentChunks recent_ VARVE_GUARDED_BY(mu_);
  // Number of freed chunks that may be kept in recent_. Each allocation lets one more be kept, and
  // each chunk that is kept uses one up.
  uint32_t recent_allowance_ VARVE_GUARDED_BY(mu_) = 0;
  size_t regions_ VARVE_GUARDED_BY(mu_) = 0;
  size_t empty_ VARVE_GUARDED_BY(mu_) = 0;  // Empty ones among regions_.
};

using PartArray = std::array<Part, kParts>;
PartArray& Parts();

// Locks everything before a fork: the child has no threads that could unlock what they held.
void LockAll() VARVE_NO_THREAD_SAFETY_ANALYSIS {
  for (Part& part : Parts()) part.mutex().Lock();
  SparePages::Default().mutex().Lock();
}
void UnlockAll() VARVE_NO_THREAD_SAFETY_ANALYSIS {
  SparePages::Default().mutex().Unlock();
  for (Part& part : Parts()) part.mutex().Unlock();
}

// Never destroyed: other objects may be freed into the parts later than any destructor.
PartArray& Parts() {
  static PartArray* const parts = [] {
    auto* const made = new PartArray;
    // If this fails for lack of memory, only children of fork are affected.
    (void)pthread_atfork(&LockAll, &UnlockAll, &UnlockAll);
    return made;
  }();
  return *parts;
}

thread_local uint32_t my_part = 0;  // the part that this thread allocated from last

// Allocates in the first part, from the thread's own on, that no thread has locked and that has
// room. With `grows`, allocates in the first one that is not locked, after adding a region to it.
// Returns null if there is no such part, or no memory.
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

// Waits for the lock of the thread's own part. Returns null if there is no memory.
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
  // Free memory of any part is used before more memory is mapped.
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
  mapped_bytes.fetch_sub(kHugePageBytes, std::memory_order_relaxed);
  SparePages& spares = SparePages::Default();
  if (char* const surplus = spares.TakeSurplus(SparesWanted())) {
    FreePages(surplus, kHugePageBytes);
  }
  if (!spares.Give(page)) FreePages(page, kHugePageBytes);
}

size_t HugeHeap::OccupiedBytes(size_t bytes) {
  return (bytes + kHeaderBytes + kUnit - 1) / kUnit * kUnit;
}

size_t HugeHeap::MappedBytes() {
  return mapped_bytes.load(std::memory_order_relaxed);
}

}  // namespace varve
