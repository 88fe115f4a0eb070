// SPDX-License-Identifier: Apache-2.0
#pragma once

// Version edits to begin from.

#include <vector>

#include "db/version/version_edit.h"

namespace varve::fuzz {

// The records of a MANIFEST that could be one's: a new database with two families and tables.
std::vector<VersionEdit> ManifestEdits();

}  // namespace varve::fuzz
