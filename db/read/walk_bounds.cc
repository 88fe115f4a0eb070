// SPDX-License-Identifier: Apache-2.0
#include "db/read/walk_bounds.h"

#include "util/base/assert.h"
#include "util/key/prefix_answer.h"

namespace varve {

// A key outside of the extractor's domain has no prefix, and the walk is then limited by the bounds
// alone. What the extractor throws is noted, and becomes the walk's error (CheckExtractor).
bool WalkBounds::SetPrefixOf(const Slice& key) {
  if (extractor_ == nullptr) return true;
  Slice prefix;
  switch (AskPrefix(*extractor_, key, &prefix)) {
    case PrefixAnswer::kNone:
      return true;
    case PrefixAnswer::kThrew:
      threw_ = true;
      return false;
    case PrefixAnswer::kPrefix:
      break;
  }
  prefix_.assign(prefix.data(), prefix.size());
  has_prefix_ = true;
  return true;
}

bool WalkBounds::InPrefix(const Slice& key) {
  VARVE_ASSERT(extractor_ != nullptr && has_prefix_);
  Slice prefix;
  const PrefixAnswer answer = AskPrefix(*extractor_, key, &prefix);
  threw_ = threw_ || answer == PrefixAnswer::kThrew;
  return answer == PrefixAnswer::kPrefix && prefix == Slice(prefix_);
}

}  // namespace varve
