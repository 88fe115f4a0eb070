// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names open readers of tables and blob files in the cache that max_open_files bounds.

#include <cstdint>

#include "varve/slice.h"

#include "util/coding/fixed.h"

namespace varve {

// A reader's key in the limited cache: the file's number, which is unique in the database.
class ReaderKey {
 public:
  explicit ReaderKey(uint64_t file_number) { EncodeFixed64(bytes_ + 8, file_number); }
  Slice slice() const { return Slice(bytes_, sizeof(bytes_)); }
  // Returns the number of the file whose reader has this key.
  static uint64_t NumberIn(const Slice& key) { return DecodeFixed64(key.data() + 8); }

 private:
  char bytes_[16] = {};
};

}  // namespace varve
