// SPDX-License-Identifier: Apache-2.0
#pragma once

// A table whose keys have no timestamps, walked as if each had the oldest one.

#include <memory>

#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"

namespace varve {

// `source` walks internal keys without timestamps. `icmp` is the order of keys with them; it
// outlives the iterator.
std::unique_ptr<InternalIterator> NewTimestampAddingIterator(
    std::unique_ptr<InternalIterator> source, const InternalKeyComparator* icmp);

}  // namespace varve
