// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks forward over a stored index block, in each of its forms.

#include <cstdint>
#include <string>

#include "varve/slice.h"

#include "table/format/block_handle.h"

namespace varve {

// Says how an index block is stored; all index blocks of a file have the same form.
struct IndexForm {
  bool user_keys = false;     // separators without sequence number and type
  bool delta_values = false;  // handles are differences, without value lengths
  bool first_keys = false;    // each entry also has its block's first internal key
};

// Checks every step against the block's end, as the block may hold any bytes.
//
// Thread safety: none. Lifetime: the block must outlive it; key() lives until the next step.
class IndexIterator {
 public:
  IndexIterator(const Slice& block, const IndexForm& form);

  // Moves to the next entry; the first call moves to the first one. Returns false at the end, and
  // at damage, which damage() then tells. key() is the entry's separator, a user key or an internal
  // key as the form says. Handles are not compared with the file's size.
  [[nodiscard]] bool Next();
  [[nodiscard]] Slice key() const { return Slice(key_); }
  [[nodiscard]] const BlockHandle& handle() const { return handle_; }
  // Returns the first key, which is empty unless the form has first keys.
  [[nodiscard]] Slice first_key() const { return first_key_; }
  // Returns a description of the block's damage, or null.
  [[nodiscard]] const char* damage() const { return damage_; }

 private:
  bool Fail(const char* what) {
    damage_ = what;
    return false;
  }
  // Sets handle_ from the front of *in, which loses those bytes; `whole` is false where the handle
  // is stored as a difference from the one before. Returns false if it is malformed.
  bool ParseHandle(Slice* in, bool whole);

  const IndexForm form_;
  const char* pos_ = nullptr;
  const char* end_ = nullptr;  // end of the entries
  std::string key_;
  BlockHandle handle_;
  Slice first_key_;
  // Says what is wrong with the block; null: nothing.
  const char* damage_ = nullptr;
};

}  // namespace varve
