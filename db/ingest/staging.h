// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings a file from outside into the staging directory, as a hard link or as a copy. The source is
// read, and never changed.

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
StagingWay WayOf(const IngestExternalFileOptions& options);

// Links or copies the file `source` to `target`, durably but for its name. An existing target is a
// leftover of this database, and is removed first. After an error the target is removed, if that is
// possible.
Status StageFile(const DbContext& context, const std::string& source, const std::string& target,
                 StagingWay way);

// Writes the number into a file at this offset, durably.
Status WriteSequence(const DbContext& context, const std::string& path, uint64_t offset,
                     SequenceNumber sequence);

// Fills in the checksum of the whole file, by the database's function or the one asked for by name;
// leaves it empty if the database keeps none.
Status FillInChecksum(const DbContext& context, StagedTable* table,
                      const std::string& function = std::string());

}  // namespace varve
