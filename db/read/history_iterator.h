// SPDX-License-Identifier: Apache-2.0
#pragma once

// The iterator of ReadOptions::iter_start_ts, which shows every version of a key that lies between
// two timestamps.

#include "varve/iterator.h"
#include "varve/options.h"

#include "db/column_family/super_version.h"
#include "util/key/internal_key.h"

namespace varve {

// Versions from options.iter_start_ts to options.timestamp, both inclusive, that were written up to
// `sequence`: keys ascending, of each key the newest first. Deletions of one key are shown, with an
// empty value; what a range tombstone within the time covers is not. key() is the internal key,
// whose last byte but seven tells what the entry is.
//
// Takes over a reference to the super-version. The caller has checked both timestamps. NotSupported
// as its status: options that it does not have, and merge operands, which have no meaning alone.
Iterator* NewHistoryIterator(const ReadOptions& options, SuperVersion* super_version,
                             SequenceNumber sequence);

}  // namespace varve
