// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides version edits that serve as seeds.

#include <vector>

#include "db/version/version_edit.h"

namespace varve::fuzz {

// Returns the records of a possible MANIFEST: a new database with two families and tables.
std::vector<VersionEdit> ManifestEdits();

}  // namespace varve::fuzz
