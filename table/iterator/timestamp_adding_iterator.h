// SPDX-License-Identifier: Apache-2.0
#pragma once

// Walks a table whose keys have no timestamps as if each had the oldest timestamp.

#include <memory>

#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"

namespace varve {

// `source` walks internal keys without timestamps. `icmp` is the order of keys with timestamps; it
// must outlive the iterator.
std::unique_ptr<InternalIterator> NewTimestampAddingIterator(
    std::unique_ptr<InternalIterator> source, const InternalKeyComparator* icmp);

}  // namespace varve
