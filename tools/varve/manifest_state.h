// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the state of a database from its MANIFEST, beside a writer that may be replacing it.

#include <string>

#include "db/recovery/manifest_survey.h"

namespace varve::tool {

// Reads until two readings find the same damage, or one finds none. The survey may have damage:
// that is no error. Corruption: CURRENT is damaged. NotFound: there is no database.
Status ReadManifestState(const std::string& path, ManifestSurvey* survey);

}  // namespace varve::tool
