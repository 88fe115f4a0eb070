// SPDX-License-Identifier: Apache-2.0
#pragma once

// Calls a user's prefix extractor. Exceptions are caught, because the callers are in the middle of
// reads and could not propagate them.

#include "varve/slice.h"
#include "varve/slice_transform.h"

namespace varve {

enum class PrefixAnswer {
  kPrefix,
  kNone,   // the key is not in the domain
  kThrew,  // nothing is known of the key
};

// Asks for the prefix of a user key without its timestamp. If the answer is kPrefix, sets *prefix
// to the key's prefix, which points into the key or to memory of the extractor.
inline PrefixAnswer AskPrefix(const SliceTransform& extractor, const Slice& bare_key,
                              Slice* prefix) {
  try {
    if (!extractor.InDomain(bare_key)) return PrefixAnswer::kNone;
    *prefix = extractor.Transform(bare_key);
    return PrefixAnswer::kPrefix;
  } catch (...) {
    return PrefixAnswer::kThrew;
  }
}

}  // namespace varve
