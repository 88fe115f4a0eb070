// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks the blob files that the tables of a MANIFEST need.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/compression_type.h"
#include "varve/status.h"

#include "db/recovery/manifest_survey.h"
#include "tools/varve/check_tables.h"
#include "tools/varve/findings.h"

namespace varve::tool {

// Checks the blob files of the family with this `id`: present, as long as the MANIFEST says, of
// this family, with as many records as it says, each record with its checksum, and with the codec
// that `codecs` has, keyed by number; a file that is not in there is not asked for its codec.
// `quick`: reads only header and footer. `missing` gets the numbers of those that are absent: the
// caller asks the MANIFEST once more before it calls that damage. Returns errors of the system.
Status CheckBlobs(const TableFamily& where, uint32_t id, const SurveyedFamily& family,
                  const std::map<uint64_t, CompressionType>& codecs, bool quick, Findings* findings,
                  std::vector<uint64_t>* missing);

// Returns the path that the blob file has, or should have.
std::string BlobPathOf(const TableFamily& where, uint64_t number);

}  // namespace varve::tool
