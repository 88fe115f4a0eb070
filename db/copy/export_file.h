// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file EXPORT of an exported family: what the metadata in memory says, and what that lacks, so
// that the directory alone can be imported. It is a MANIFEST of one family that no database has as
// its own (db/version/FORMAT.md).

#include <string>

#include "varve/file_system.h"
#include "varve/metadata.h"
#include "varve/status.h"

#include "db/version/version_state.h"

namespace varve {

inline constexpr char kExportFileName[] = "EXPORT";
// A file above it is not read.
inline constexpr uint64_t kExportFileBytesMax = uint64_t{1} << 30;

// Of a state with one family: its tables, as they are in that directory.
void DescribeExport(const VersionState& state, const std::string& directory,
                    ExportImportFilesMetaData* metadata);
// Of the same. Replaces *bytes.
Status EncodeExport(const VersionState& state, std::string* bytes);

// What the EXPORT of a directory says. Corruption: it is damaged, cut, or says what none would;
// NotFound: there is none. The bytes may be anybody's.
Status ReadExportFile(FileSystem* fs, const std::string& directory,
                      ExportImportFilesMetaData* metadata);

}  // namespace varve
