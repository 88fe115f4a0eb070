// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores which bytes of one file belong to a set, such as the records that nobody refers to.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace varve {

// The bytes from `begin` to before `end`.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  [[nodiscard]] uint64_t bytes() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

// A set of bytes, kept as ranges that are sorted, and neither overlap nor touch: neighbours become
// one range when they are added. Each takes about 64 bytes of memory.
//
// Thread safety: none.
class ByteRanges {
 public:
  // Add bytes, or take them away; an empty range changes nothing. It does not matter which of the
  // bytes were in the set before.
  void Add(const ByteRange& range);
  void Add(const ByteRanges& other);
  void Remove(const ByteRange& range);
  void Remove(const ByteRanges& other);
  // Returns the bytes of all whole blocks of the file that lie in one of the ranges. `block` is the
  // size of a block, a power of two.
  [[nodiscard]] ByteRanges WholeBlocks(uint64_t block) const;
  // Returns the ranges in ascending order.
  [[nodiscard]] std::vector<ByteRange> List() const;
  // Returns the number of ranges.
  [[nodiscard]] size_t size() const { return ranges_.size(); }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

  bool operator==(const ByteRanges&) const = default;

 private:
  std::map<uint64_t, uint64_t> ranges_;  // from begin to end
};

}  // namespace varve
