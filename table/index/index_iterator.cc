// SPDX-License-Identifier: Apache-2.0
#include "table/index/index_iterator.h"

#include "util/coding/fixed.h"
#include "util/coding/reader.h"
#include "util/coding/varint.h"
#include "util/key/internal_key.h"

namespace varve {

namespace {

// An index block has no hash index; of the flags in its last word, only the hint of evenly spread
// keys may be set.
constexpr uint32_t kUniformKeysFlag = 1u << 29;

}  // namespace

// Restart points are not needed for a walk from the front; only their number is, to know where the
// entries end.
IndexIterator::IndexIterator(const Slice& block, const IndexForm& form) : form_(form) {
  if (block.size() < sizeof(uint32_t)) {
    damage_ = "index block too short";
    return;
  }
  const size_t room = block.size() - sizeof(uint32_t);
  const uint32_t restarts = DecodeFixed32(block.data() + room) & ~kUniformKeysFlag;
  if (restarts > room / sizeof(uint32_t)) {
    damage_ = "bad restart count in index block";
    return;
  }
  pos_ = block.data();
  end_ = pos_ + (room - size_t{restarts} * sizeof(uint32_t));
}

bool IndexIterator::ParseHandle(Slice* in, bool whole) {
  if (whole) return BlockHandle::DecodeFrom(in, &handle_);
  int64_t delta = 0;
  if (!GetVarsignedint64(in, &delta)) return false;
  // The arithmetic may wrap: users of the handle check it against the file's size.
  handle_.offset += handle_.size + kBlockTrailerBytes;
  handle_.size += static_cast<uint64_t>(delta);
  return true;
}

// Parses an entry part by part: lengths, key, handle, first key. After damage every further call
// returns false.
bool IndexIterator::Next() {
  if (damage_ != nullptr || pos_ == end_) return false;
  BoundedReader in(Slice(pos_, static_cast<size_t>(end_ - pos_)));
  const uint32_t shared = in.Varint32();
  const uint32_t unshared = in.Varint32();
  const uint32_t value_size = form_.delta_values ? 0 : in.Varint32();
  const Slice suffix = in.Bytes(unshared);
  if (!in.ok()) return Fail("truncated index entry");
  if (shared > key_.size()) return Fail("index entry shares more than there is");
  key_.resize(shared);
  key_.append(suffix.data(), suffix.size());
  if (!form_.user_keys && key_.size() < kInternalKeyTrailerBytes) {
    return Fail("index key too short");
  }
  Slice rest = in.rest();
  if (!form_.delta_values) {
    if (value_size > rest.size()) return Fail("truncated index value");
    rest = Slice(rest.data(), value_size);
  }
  // An entry that shares nothing is stored whole, which is how restart points are recognised here.
  if (!ParseHandle(&rest, !form_.delta_values || shared == 0)) return Fail("bad block handle");
  if (form_.first_keys && !GetLengthPrefixedSlice(&rest, &first_key_)) {
    return Fail("bad first key in index entry");
  }
  // Without a stored length the value ends where its parts do.
  pos_ = form_.delta_values ? rest.data() : in.rest().data() + value_size;
  return true;
}

}  // namespace varve
