// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings a file from outside into the staging directory: as a hard link, or as a copy. The source
// is read, and never changed.

#include <string>

#include "varve/options.h"

#include "db/engine/context.h"
#include "db/ingest/ingestion.h"

namespace varve {

enum class StagingWay : uint8_t {
  kCopy,
  kLink,
  kLinkOrCopy,  // where there can be no link
};
StagingWay WayOf(const IngestExternalFileOptions& options);

// Makes `target` the same as the file `source`, durably but for its name. Whatever is there at the
// target is a leftover of this database, and goes first. After an error there is nothing.
Status StageFile(const DbContext& context, const std::string& source, const std::string& target,
                 StagingWay way);

// Writes the number into a file at this offset, durably.
Status WriteSequence(const DbContext& context, const std::string& path, uint64_t offset,
                     SequenceNumber sequence);

// That of the whole file, as the database keeps it, or as of a function that is asked for by name;
// nothing if it keeps none.
Status FillInChecksum(const DbContext& context, StagedTable* table,
                      const std::string& function = std::string());

}  // namespace varve
