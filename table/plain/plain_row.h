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

// Longest prefix that a row may leave out: otherwise a small file whose rows of a few bytes all
// share one long prefix could ask for keys of any total size.
inline constexpr size_t kPlainSharedBytesMax = 64 * 1024;

// One byte in place of a row's trailer (sequence number and type, eight bytes) if the row is a
// value with sequence number zero. A trailer begins with its type, and no entry type has this
// number.
inline constexpr char kPlainZeroTrailer = static_cast<char>(0xff);

// Walks forward over rows, whose bytes are not trusted: each step is checked against the end.
//
// Thread safety: none. Lifetime: the bytes must outlive it.
class PlainRowCursor {
 public:
  // Says what a part of a key holds with kPrefix. The numbers are on disk.
  enum class KeyPart : uint8_t {
    kFull = 0,              // the whole key
    kPrefixOfPrevious = 1,  // how many bytes of the last full key are the prefix; a kSuffix follows
    kSuffix = 2,            // what follows the prefix that the last row had as well
  };

  // Begins at bytes.data(), which is the first byte of a row, at `offset` of the file. `shared` is
  // the prefix for a first row that is stored as kSuffix; it is copied.
  PlainRowCursor(const PlainRowForm& form, const Slice& bytes, uint64_t offset,
                 const Slice& shared = Slice())
      : form_(form),
        begin_(bytes.data()),
        pos_(begin_),
        end_(begin_ + bytes.size()),
        offset_(offset),
        key_buffer_(shared.data(), shared.size()),
        shared_bytes_(shared.size()) {}

  // Moves to the next row; the first call moves to the first one. Returns false at the end, where
  // problem() is null, and at a row that is malformed or reaches beyond the end: problem() is then
  // not null, and the row's offset is next_offset().
  [[nodiscard]] bool Next();

  // The calls from here to row_offset() are for the current row, after Next has returned true.
  // Returns the user key, which lives until the next step.
  [[nodiscard]] const Slice& user_key() const { return user_key_; }
  // Returns the key's beginning that the row leaves out, which lives until the next step, and the
  // rest, which lies in the row.
  [[nodiscard]] Slice shared_part() const { return Slice(user_key_.data(), key_shared_bytes_); }
  [[nodiscard]] const Slice& stored_part() const { return stored_part_; }
  // Returns sequence number and type, packed as in an internal key.
  [[nodiscard]] uint64_t trailer() const { return trailer_; }
  [[nodiscard]] const Slice& value() const { return value_; }
  // True if a new cursor can begin with this row, given shared_part(). False for a row that says
  // how long the prefix is: it needs the full key before it.
  [[nodiscard]] bool starts_alone() const { return part_ != KeyPart::kPrefixOfPrevious; }
  [[nodiscard]] uint64_t row_offset() const { return row_offset_; }
  // Returns the offset in the file of the row that Next will move to.
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

  // Sets problem() and cut_off(), and returns false. The cursor stays where it is.
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
  // With kPrefix: the last key that was stored in full; after its group's second row, the prefix
  // and the current row's suffix.
  std::string key_buffer_;
  // Number of bytes of the key buffer that suffixes follow.
  size_t shared_bytes_;
  // Size of the full key in the key buffer; 0 once another row has used the buffer.
  size_t full_bytes_ = 0;
  // The current row.
  KeyPart part_ = KeyPart::kFull;
  Slice user_key_;
  Slice stored_part_;
  size_t key_shared_bytes_ = 0;  // bytes of user_key_ that the row leaves out
  uint64_t trailer_ = 0;
  Slice value_;
  const char* problem_ = nullptr;
  bool cut_off_ = false;
};

// Encodes rows. Thread safety: none.
class PlainRowWriter {
 public:
  // With kPrefix, neighbouring keys with one prefix leave it out, and each `full_key_interval`-th
  // of them is stored in full (0 is taken for 1: all are). `prefix_extractor` must outlive the
  // writer; null: all keys are stored in full.
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
