// SPDX-License-Identifier: Apache-2.0
#pragma once

// Links or copies a user's file into the staging directory. The source is never changed.

#include <string>

#include "varve/options.h"

#include "db/engine/context.h"
#include "db/ingest/ingestion.h"

namespace varve {

enum class StagingWay : uint8_t {
  kCopy,
  kLink,
  kLinkOrCopy,  // Copies where a link is impossible.
};
// Returns the way that the options ask for.
StagingWay WayOf(const IngestExternalFileOptions& options);

// Links or copies the file `source` to `target`, and makes its contents durable, but not its name.
// An existing target is a leftover of this database, and is removed first. After an error the
// target is removed if possible.
Status StageFile(const DbContext& context, const std::string& source, const std::string& target,
                 StagingWay way);

// Writes the sequence number into the 8 bytes at this offset of a file, durably. Requires that the
// file was copied: a link would change the user's file.
Status WriteSequence(const DbContext& context, const std::string& path, uint64_t offset,
                     SequenceNumber sequence);

// Sets table->file.checksum to that of the whole file at table->path, by the function of that name,
// or by the database's own if `function` is empty. Leaves it as it is if the database keeps no file
// checksums.
Status FillInChecksum(const DbContext& context, StagedTable* table,
                      const std::string& function = std::string());

}  // namespace varve
