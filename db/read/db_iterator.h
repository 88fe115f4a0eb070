// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns internal entries into what a user sees: the newest visible version of each live key.

#include <memory>
#include <string>

#include "varve/iterator.h"

#include "db/column_family/super_version_source.h"
#include "util/iter/internal_iterator.h"
#include "util/key/range_tombstone.h"

namespace varve {

class Statistics;

// `source` is shared by iterators and outlives them by shared ownership; `super_version` is one
// reference that the iterator takes over. Every feature of ReadOptions that the iterator cannot
// honour is an error iterator of NotSupported.
Iterator* NewDbIterator(const ReadOptions& options, std::shared_ptr<SuperVersionSource> source,
                        SuperVersion* super_version, SequenceNumber sequence,
                        Statistics* statistics);

}  // namespace varve
