// SPDX-License-Identifier: Apache-2.0

// Rows of kPlain have their whole key. Rows of kPrefix come in groups with one prefix:
//
//     first row     full key
//     second row    length of the prefix, then the suffix
//     others        the suffix
//
// So the second row needs the first one, and a later one needs only the prefix, which the cursor
// keeps in key_buffer_. Next checks everything before it changes the cursor: after a problem the
// cursor is still before the bad row.

#include "table/plain/plain_row.h"

#include <algorithm>

#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/coding/reader.h"
#include "util/coding/varint.h"

namespace varve {

namespace {

// A part of a key begins with a byte that holds its kind in two bits and its length in six. If all
// six are set, the rest of the length follows.
constexpr unsigned kPartShift = 6;
constexpr uint8_t kLengthMask = 0x3f;

void AppendPart(PlainRowCursor::KeyPart part, size_t bytes, std::string* rows) {
  const auto kind = static_cast<uint8_t>(static_cast<uint8_t>(part) << kPartShift);
  if (bytes < kLengthMask) {
    rows->push_back(static_cast<char>(kind | bytes));
    return;
  }
  rows->push_back(static_cast<char>(kind | kLengthMask));
  PutVarint32(rows, static_cast<uint32_t>(bytes - kLengthMask));
}

}  // namespace

// Reads the parts of one row.
class PlainRowCursor::Parts : public BoundedReader {
 public:
  using BoundedReader::BoundedReader;

  // Reads the kind and the length of a part of a key.
  void KindAndLength(uint8_t* kind, uint64_t* bytes) {
    const uint8_t first = U8();
    *kind = first >> kPartShift;
    *bytes = first & kLengthMask;
    if (*bytes == kLengthMask) *bytes += Varint32();
  }

  uint64_t Trailer() {
    if (remaining() > 0 && rest()[0] == kPlainZeroTrailer) {
      Skip(1);
      return PackSequenceAndType(0, kTypeValue);
    }
    return Fixed64();
  }
};

bool PlainRowCursor::Fail(const char* problem, bool cut_off) {
  problem_ = problem;
  cut_off_ = cut_off;
  return false;
}

// A key of kPrefix has one of three forms, each part of which has a kind (KeyPart) and a length:
//
//   first of a group    full, length, key
//   second              prefix of previous, length | suffix, length, rest
//   later ones          suffix, length, rest
//
// The second form says how many bytes of the full key before it are the prefix of the group.
bool PlainRowCursor::ReadPrefixedKey(Parts* in, KeyPart* part, size_t* shared, Slice* rest) const {
  uint8_t kind = 0;
  uint64_t bytes = 0;
  in->KindAndLength(&kind, &bytes);
  *part = static_cast<KeyPart>(kind);
  if (*part == KeyPart::kFull) {
    *rest = in->Bytes(bytes);
    *shared = 0;
    return true;
  }
  *shared = shared_bytes_;
  if (*part == KeyPart::kPrefixOfPrevious) {
    if (bytes > full_bytes_ || bytes > kPlainSharedBytesMax) return false;
    *shared = static_cast<size_t>(bytes);
    in->KindAndLength(&kind, &bytes);
  }
  *rest = in->Bytes(bytes);
  return !in->ok() || kind == static_cast<uint8_t>(KeyPart::kSuffix);
}

// Reads the row into local variables first, then checks it, and then makes it the current one.
bool PlainRowCursor::Next() {
  if (pos_ == end_) return false;
  Parts in(Slice(pos_, static_cast<size_t>(end_ - pos_)));
  KeyPart part = KeyPart::kFull;
  size_t shared = 0;
  Slice key;
  if (form_.encoding == kPlain) {
    key = in.Bytes(form_.key_bytes != 0 ? form_.key_bytes : in.Varint32());
  } else if (!ReadPrefixedKey(&in, &part, &shared, &key)) {
    return Fail("a row's key is no full key, prefix or suffix");
  }
  const uint64_t trailer = in.Trailer();
  const Slice value = in.LengthPrefixed();
  if (!in.ok()) return Fail("a row reaches beyond the end", /*cut_off=*/true);
  const uint8_t type = UnpackType(trailer);
  if (!IsEntryType(type) || type == kTypeRangeDeletion) return Fail("a row has no type of entries");

  // The row is sound: only from here on the cursor's state changes, so that a row which was cut off
  // can be read again after Continue.
  problem_ = nullptr;
  row_offset_ = next_offset();
  pos_ += in.offset();
  part_ = part;
  trailer_ = trailer;
  value_ = value;
  user_key_ = stored_part_ = key;
  key_shared_bytes_ = shared;
  if (form_.encoding == kPlain) return true;
  if (part == KeyPart::kFull) {
    key_buffer_.assign(key.data(), key.size());
    full_bytes_ = key.size();
    shared_bytes_ = 0;
    return true;
  }
  VARVE_ASSERT(shared <= key_buffer_.size());
  shared_bytes_ = shared;
  // A second "prefix of previous" would refer to a key that is not in the buffer any more, and is
  // refused.
  full_bytes_ = 0;
  key_buffer_.resize(shared);
  key_buffer_.append(key.data(), key.size());
  user_key_ = key_buffer_;
  return true;
}

// The key buffer stays: keys of the next bytes may share what was read before.
void PlainRowCursor::Continue(const Slice& bytes) {
  offset_ = next_offset();
  begin_ = pos_ = bytes.data();
  end_ = begin_ + bytes.size();
  problem_ = nullptr;
}

PlainRowWriter::PlainRowWriter(const PlainRowForm& form, const SliceTransform* prefix_extractor,
                               size_t full_key_interval)
    : form_(form),
      prefix_extractor_(prefix_extractor),
      full_key_interval_(std::max<size_t>(full_key_interval, 1)) {}

// Keys of one prefix form a group: the first is stored in full, the second says how long the prefix
// is, and the others are suffixes. A group ends with another prefix, or when it has
// full_key_interval_ keys, so that a reader need not decode more than that.
void PlainRowWriter::AppendPrefixedKey(const Slice& user_key, std::string* rows) {
  using KeyPart = PlainRowCursor::KeyPart;
  Slice prefix;
  bool has_prefix = prefix_extractor_ != nullptr && prefix_extractor_->InDomain(user_key);
  if (has_prefix) {
    prefix = prefix_extractor_->Transform(user_key);
    // An extractor of the program may return bytes that are no prefix; such a key is stored in
    // full.
    has_prefix = user_key.starts_with(prefix);
  }
  has_prefix = has_prefix && prefix.size() <= kPlainSharedBytesMax;
  if (!has_prefix || group_size_ == 0 || group_size_ == full_key_interval_ ||
      prefix != Slice(prefix_)) {
    group_size_ = has_prefix ? 1 : 0;
    prefix_.assign(prefix.data(), prefix.size());
    AppendPart(KeyPart::kFull, user_key.size(), rows);
    rows->append(user_key.data(), user_key.size());
    return;
  }
  if (++group_size_ == 2) AppendPart(KeyPart::kPrefixOfPrevious, prefix.size(), rows);
  AppendPart(KeyPart::kSuffix, user_key.size() - prefix.size(), rows);
  rows->append(user_key.data() + prefix.size(), user_key.size() - prefix.size());
}

void PlainRowWriter::Append(const Slice& internal_key, const Slice& value, std::string* rows) {
  const Slice user_key = ExtractUserKey(internal_key);
  const uint64_t trailer = ExtractTrailer(internal_key);
  if (form_.encoding == kPrefix) {
    AppendPrefixedKey(user_key, rows);
  } else {
    VARVE_ASSERT(form_.key_bytes == 0 || form_.key_bytes == user_key.size());
    if (form_.key_bytes == 0) PutVarint32(rows, static_cast<uint32_t>(user_key.size()));
    rows->append(user_key.data(), user_key.size());
  }
  // Most entries of the last level are values with sequence number zero: one byte instead of eight.
  if (trailer == PackSequenceAndType(0, kTypeValue)) {
    rows->push_back(kPlainZeroTrailer);
  } else {
    PutFixed64(rows, trailer);
  }
  PutVarint32(rows, static_cast<uint32_t>(value.size()));
  rows->append(value.data(), value.size());
}

}  // namespace varve
