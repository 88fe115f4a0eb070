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

// Returns an iterator. It shares `source`, and takes over one reference of `super_version`. If it
// cannot honour a feature of ReadOptions, the result is an error iterator with NotSupported.
Iterator* NewDbIterator(const ReadOptions& options, std::shared_ptr<SuperVersionSource> source,
                        SuperVersion* super_version, SequenceNumber sequence,
                        Statistics* statistics);

}  // namespace varve
