// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes fragments of one record to a part of the log that is not mapped, with few system calls and
// without a copy.

#include <array>
#include <cstddef>
#include <cstdint>

#include "varve/io_status.h"
#include "varve/slice.h"

#include "db/wal/log_format.h"
#include "util/env/mapped_file.h"

namespace varve::wal {

// Thread safety: none. The file is not owned; payloads must live until Write.
class GatheredWrite {
 public:
  explicit GatheredWrite(MappedFile* file) : file_(file) {}

  // Adds a fragment that starts at `offset`: its header, of kHeaderBytes, and its payload in two
  // parts. A null header is left out: MappedLog writes the first header of a record last, when the
  // rest of the record is in the file. Writes what was added before if the list is full or the
  // fragment does not follow it.
  IOStatus Add(uint64_t offset, const char* header, const Slice& head, const Slice& tail);
  // Writes what was added.
  IOStatus Write();

 private:
  // Number of fragments written by one call of the file.
  static constexpr size_t kFragmentsMax = 32;

  // Appends a part to the list, unless it is empty.
  void AddPart(const Slice& part);

  MappedFile* const file_;
  // The range of the file that the collected parts fill, without a gap.
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  // Numbers of collected fragments and of parts.
  size_t fragments_ = 0;
  size_t parts_ = 0;
  // Copies of headers, whose originals need not outlive Add.
  std::array<char[kHeaderBytes], kFragmentsMax> headers_;
  std::array<Slice, 3 * kFragmentsMax> list_;
};

}  // namespace varve::wal
