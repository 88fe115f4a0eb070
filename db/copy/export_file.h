// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes the file EXPORT of an exported family: the metadata, and the rest that an import
// needs, so that the directory alone can be imported. It has the form of a MANIFEST of one family,
// but no database uses it as its own (db/version/FORMAT.md).

#include <string>

#include "varve/file_system.h"
#include "varve/metadata.h"
#include "varve/status.h"

#include "db/version/version_state.h"

namespace varve {

inline constexpr char kExportFileName[] = "EXPORT";
// Larger files are not read.
inline constexpr uint64_t kExportFileBytesMax = uint64_t{1} << 30;

// Describes a state with one family: its tables, as they are in that directory.
void DescribeExport(const VersionState& state, const std::string& directory,
                    ExportImportFilesMetaData* metadata);
// Encodes a state with one family. Replaces *bytes.
Status EncodeExport(const VersionState& state, std::string* bytes);

// Reads the EXPORT of a directory, whose bytes are not trusted. Corruption: it is damaged, cut, or
// has impossible contents; NotFound: there is none.
Status ReadExportFile(FileSystem* fs, const std::string& directory,
                      ExportImportFilesMetaData* metadata);

}  // namespace varve
