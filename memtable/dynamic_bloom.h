// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a Bloom filter that is filled while it is read: it uses one cache line for each key.
//
// A memtable asks the filter before it searches the list: most look-ups of keys that are not there
// end with one cache miss. All six bits of a key lie in one line of 64 bytes, chosen by the high
// bits of its hash; that costs a few more wrong answers than bits spread over the whole filter, and
// saves five misses.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace varve {

// Thread safety: all methods may be called from any thread. A key that was added before a read of
// it began, as ordered by whatever publishes the key, is found.
class DynamicBloom {
 public:
  explicit DynamicBloom(size_t bytes)
      : lines_((bytes + sizeof(Line) - 1) / sizeof(Line)), table_(new Line[lines_]) {}

  // Adds a key by its hash. A bit that is set already is not written, so the line stays shared
  // among processors.
  void Add(uint64_t hash) {
    Line& line = table_[LineOf(hash)];
    uint64_t h = hash * kSpread;
    for (int i = 0; i < kProbes; i++, h = h << 9 | h >> 55) {
      const uint64_t bit = uint64_t{1} << (h & 63);
      std::atomic<uint64_t>& word = line.words[h >> 6 & 7];
      // Relaxed: the list publishes the entry after its bits.
      if ((word.load(std::memory_order_relaxed) & bit) == 0) {
        word.fetch_or(bit, std::memory_order_relaxed);
      }
    }
  }

  // Returns false only if the key was not added.
  bool MayContain(uint64_t hash) const {
    const Line& line = table_[LineOf(hash)];
    uint64_t h = hash * kSpread;
    for (int i = 0; i < kProbes; i++, h = h << 9 | h >> 55) {
      if ((line.words[h >> 6 & 7].load(std::memory_order_relaxed) >> (h & 63) & 1) == 0) {
        return false;
      }
    }
    return true;
  }

  // Returns the bytes of the filter.
  size_t MemoryUsage() const { return sizeof(*this) + lines_ * sizeof(Line); }

 private:
  // Bits per key.
  static constexpr int kProbes = 6;
  // An odd number near 2^64 divided by the golden ratio: multiplying by it spreads the hash over
  // all bits.
  static constexpr uint64_t kSpread = 0x9E3779B97F4A7C15u;

  struct alignas(64) Line {
    std::atomic<uint64_t> words[8] = {};
  };

  // Returns the line of a key: the hash scaled to the number of lines.
  size_t LineOf(uint64_t hash) const {
    return static_cast<size_t>(static_cast<unsigned __int128>(hash) * lines_ >> 64);
  }

  // Number of lines; the table has as many.
  const size_t lines_;
  const std::unique_ptr<Line[]> table_;
};

}  // namespace varve
