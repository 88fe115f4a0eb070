// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the table of an entry whose value cannot be decoded, for the message of an error.

#include "varve/options.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/version/table_cache.h"
#include "db/version/version.h"

namespace varve {

// Returns `error` with the table, and the offset in it, of the newest ill-formed entry of a key: an
// entity, or a reference to a blob file, that cannot be decoded. Such an entry passed the checksum
// of its block, so nothing below the reader of its value has noticed it, and that reader does not
// know the table. `key` has no timestamp; entries above the sequence number `visible` do not count.
//
// Returns `error` as it is if it is neither Corruption nor NotSupported, or if there is no such
// entry in a table that can be read. Reads the tables that may have the key; never call it for an
// error that is expected.
Status NameTableOfEntry(const Status& error, const ReadOptions& options, const Version& version,
                        TableCache* tables, const Slice& key, SequenceNumber visible);

}  // namespace varve
