// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the rows of a PlainTable, which follow each other without blocks, restart points or
// checksums (FORMAT.md, "PlainTable").

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/slice_transform.h"
#include "varve/table.h"
#include "varve/types.h"

#include "util/key/internal_key.h"

namespace varve {

// Describes how all rows of a table are stored.
struct PlainRowForm {
  EncodingType encoding = kPlain;
  uint32_t key_bytes = 0;  // with kPlain, length of every user key; 0: each row has its own
};

// Limit of what a key may share with the one before it, so that few bytes cannot make many.
inline constexpr size_t kPlainSharedBytesMax = 64 * 1024;

// Replaces the eight bytes of a value with sequence number zero. No entry type has this number.
inline constexpr char kPlainZeroTrailer = static_cast<char>(0xff);

// Walks forward over rows of any content. Each step is checked against the end.
//
// Thread safety: none. Lifetime: the bytes must outlive it.
class PlainRowCursor {
 public:
  // Says how a key of kPrefix is stored, or begins to be.
  enum class KeyPart : uint8_t { kFull = 0, kPrefixOfPrevious = 1, kSuffix = 2 };

  // Begins at bytes.data(), which is the first byte of a row, at `offset` of the file. `shared` is
  // what the row's key begins with if only its suffix is stored.
  PlainRowCursor(const PlainRowForm& form, const Slice& bytes, uint64_t offset,
                 const Slice& shared = Slice())
      : form_(form),
        begin_(bytes.data()),
        pos_(begin_),
        end_(begin_ + bytes.size()),
        offset_(offset),
        key_buffer_(shared.data(), shared.size()),
        shared_bytes_(shared.size()) {}

  // Returns the part of the key that is shared, and the part that its row stores.
  [[nodiscard]] Slice shared_part() const { return Slice(user_key_.data(), key_shared_bytes_); }
  [[nodiscard]] const Slice& stored_part() const { return stored_part_; }
  // Moves to the next row; the first call moves to the first one. Returns false at the end and at a
  // row that is malformed or reaches beyond the end: problem() is then not null, and the row's
  // offset is next_offset().
  [[nodiscard]] bool Next();

  // Returns the user key, which lives until the next step.
  [[nodiscard]] const Slice& user_key() const { return user_key_; }
  [[nodiscard]] uint64_t trailer() const { return trailer_; }
  [[nodiscard]] const Slice& value() const { return value_; }
  // True if the row can be read without those before it, but for the first shared_bytes() of its
  // key.
  [[nodiscard]] bool starts_alone() const { return part_ != KeyPart::kPrefixOfPrevious; }
  [[nodiscard]] size_t shared_bytes() const {
    return part_ == KeyPart::kSuffix ? shared_bytes_ : 0;
  }
  [[nodiscard]] uint64_t row_offset() const { return row_offset_; }
  [[nodiscard]] uint64_t next_offset() const {
    return offset_ + static_cast<uint64_t>(pos_ - begin_);
  }
  // Says what is wrong with the row at next_offset(); null if nothing is.
  [[nodiscard]] const char* problem() const { return problem_; }
  // True if that row only reaches beyond the end, so that more bytes may make it whole.
  [[nodiscard]] bool cut_off() const { return cut_off_; }

  // Continues in other bytes, which begin at next_offset(), after a row that reaches beyond the end
  // of what was there.
  void Continue(const Slice& bytes);

 private:
  class Parts;

  // Sets problem() and cut_off(), and returns false. The cursor stays before the row.
  bool Fail(const char* problem, bool cut_off = false);
  // Reads a key of kPrefix from *in. Sets *part to its kind, *shared to the number of bytes that it
  // shares with the key buffer, which has as many, and *rest to the bytes that the row stores.
  // Changes no member. Returns false if the key's parts are none that the format has; a key that is
  // cut off makes only *in fail.
  bool ReadPrefixedKey(Parts* in, KeyPart* part, size_t* shared, Slice* rest) const;

  const PlainRowForm form_;
  const char* begin_;
  const char* pos_;  // next row
  const char* end_;
  uint64_t offset_;  // of begin_ in the file
  uint64_t row_offset_ = 0;
  // The last key that was stored in full, or what later keys share of it; then the current suffix.
  std::string key_buffer_;
  // Number of bytes of the key buffer that suffixes follow.
  size_t shared_bytes_;
  // Size of the full key in the key buffer; 0 once another row has used the buffer.
  size_t full_bytes_ = 0;
  KeyPart part_ = KeyPart::kFull;
  Slice user_key_;
  Slice stored_part_;
  size_t key_shared_bytes_ = 0;
  uint64_t trailer_ = 0;
  Slice value_;
  const char* problem_ = nullptr;
  bool cut_off_ = false;
};

// Appends rows to a buffer. Thread safety: none.
class PlainRowWriter {
 public:
  // `prefix_extractor` may be null, and must outlive the writer; with kPrefix, keys of one prefix
  // share it, and each `full_key_interval`-th of them is stored in full.
  PlainRowWriter(const PlainRowForm& form, const SliceTransform* prefix_extractor,
                 size_t full_key_interval);

  // Appends a row to *rows. Requires a sound internal key, whose user key has form.key_bytes bytes
  // unless that is 0.
  void Append(const Slice& internal_key, const Slice& value, std::string* rows);

 private:
  // Appends a key in the encoding that stores a prefix once.
  void AppendPrefixedKey(const Slice& user_key, std::string* rows);

  const PlainRowForm form_;
  const SliceTransform* const prefix_extractor_;
  const size_t full_key_interval_;
  std::string prefix_;     // shared by the current group of keys
  size_t group_size_ = 0;  // number of keys in the group; 0: there is none
};

}  // namespace varve
