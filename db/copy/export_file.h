// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads and writes the file EXPORT of an exported family, which has the metadata that an import
// needs, so that the directory alone can be imported. It has the format of a MANIFEST with one
// family (db/version/FORMAT.md).

#include <string>

#include "varve/file_system.h"
#include "varve/metadata.h"
#include "varve/status.h"

#include "db/version/version_state.h"

namespace varve {

inline constexpr char kExportFileName[] = "EXPORT";
// A larger file is refused as Corruption.
inline constexpr uint64_t kExportFileBytesMax = uint64_t{1} << 30;

// Sets *metadata to the tables of `state`, which has one family, as files of `directory`.
void DescribeExport(const VersionState& state, const std::string& directory,
                    ExportImportFilesMetaData* metadata);
// Encodes a state with one family. Replaces *bytes.
Status EncodeExport(const VersionState& state, std::string* bytes);

// Reads the file EXPORT of a directory. Its bytes are not trusted. Corruption: it is damaged,
// truncated, or has records that no export has. NotFound: there is no such file.
Status ReadExportFile(FileSystem* fs, const std::string& directory,
                      ExportImportFilesMetaData* metadata);

}  // namespace varve
