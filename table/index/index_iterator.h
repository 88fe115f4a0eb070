// SPDX-License-Identifier: Apache-2.0
#pragma once

// A front-to-back walk over a stored index block, in each of its forms.

#include <cstdint>
#include <string>

#include "varve/slice.h"

#include "table/format/block_handle.h"

namespace varve {

// How an index block is stored; the same for all index blocks of a file.
struct IndexForm {
  bool user_keys = false;     // separators without sequence number and type
  bool delta_values = false;  // handles as differences, and no value length
  bool first_keys = false;    // each entry also has its block's first internal key
};

// Every step is checked against the block's end, as the block may hold any bytes.
//
// Thread safety: none. Lifetime: the block outlives it; key() lives until the next step.
class IndexIterator {
 public:
  IndexIterator(const Slice& block, const IndexForm& form);

  // Moves to the next entry, the first one at first. False at the end or at damage.
  [[nodiscard]] bool Next();
  [[nodiscard]] Slice key() const { return Slice(key_); }
  [[nodiscard]] const BlockHandle& handle() const { return handle_; }
  // Empty unless the form has them.
  [[nodiscard]] Slice first_key() const { return first_key_; }
  // What is wrong with the block; null if nothing.
  [[nodiscard]] const char* damage() const { return damage_; }

 private:
  bool Fail(const char* what) {
    damage_ = what;
    return false;
  }
  bool ParseHandle(Slice* in, bool whole);

  const IndexForm form_;
  const char* pos_ = nullptr;
  const char* end_ = nullptr;  // of the entries
  std::string key_;
  BlockHandle handle_;
  Slice first_key_;
  const char* damage_ = nullptr;
};

}  // namespace varve
