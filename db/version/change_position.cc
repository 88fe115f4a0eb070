// SPDX-License-Identifier: Apache-2.0
#include "db/version/change_position.h"

#include "util/coding/reader.h"
#include "util/coding/varint.h"
#include "util/key/internal_key.h"

namespace varve {

void ChangePosition::EncodeTo(std::string* dst) const {
  PutVarint32(dst, static_cast<uint32_t>(name.size()));
  dst->append(name);
  dst->push_back(dropped ? '\1' : '\0');
  for (uint64_t number : {next, log, max_bytes, max_seconds, first_lost, last_lost}) {
    PutVarint64(dst, number);
  }
}

// Ignores what later versions append.
bool ChangePosition::DecodeFrom(const Slice& bytes) {
  BoundedReader in(bytes);
  name = in.LengthPrefixed().ToString();
  dropped = in.Varint32() != 0;
  for (uint64_t* number : {&next, &log, &max_bytes, &max_seconds, &first_lost, &last_lost}) {
    *number = in.Varint64();
  }
  // Recovery goes on behind `next`, so it must be a number that recovery accepts.
  return in.ok() && !name.empty() && next <= kMaxSequenceNumber / 2;
}

}  // namespace varve
