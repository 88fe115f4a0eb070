// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the end of a table file, whose last eight bytes say which format the table has.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

class RandomAccessFileReader;
struct TableOpenOptions;

// Holds the last bytes of a file of at least kMinBytes, as ReadTableTail sets them. Not movable:
// `bytes` may refer to `buffer`.
struct TableTail {
  // No table of any format is shorter.
  static constexpr uint64_t kMinBytes = 48;

  TableTail() = default;
  TableTail(const TableTail&) = delete;
  TableTail& operator=(const TableTail&) = delete;

  // Returns the number that names the table's format.
  [[nodiscard]] uint64_t magic() const;

  std::string buffer;
  Slice bytes;          // refers to `buffer`, or to the mapping of the file
  uint64_t offset = 0;  // position of `bytes` in the file
  bool mapped = false;
};

// Sets the members of *tail: reads the footer and, with options.prefetch_index_and_filter, what
// usually lies before it. Requires a new `tail`. Corruption, which names the file: it is too short.
// Otherwise the error of the read.
Status ReadTableTail(const TableOpenOptions& options, const RandomAccessFileReader& file,
                     uint64_t file_size, TableTail* tail);

}  // namespace varve
