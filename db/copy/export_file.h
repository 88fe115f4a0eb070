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
// Limits the memory that untrusted bytes can make an import use: a larger file is refused as
// Corruption.
inline constexpr uint64_t kExportFileBytesMax = uint64_t{1} << 30;

// Sets *metadata to the tables of `state`, which has one family, as files of `directory`.
void DescribeExport(const VersionState& state, const std::string& directory,
                    ExportImportFilesMetaData* metadata);
// Replaces *bytes by the encoded state. Requires that the state has one family.
Status EncodeExport(const VersionState& state, std::string* bytes);

// Reads the file EXPORT of a directory. Its bytes are not trusted. Leaves *metadata after an error.
// Corruption: the file is damaged, truncated, larger than kExportFileBytesMax, or has records that
// no export has. A status for which IsMissing is true: there is no such file. Otherwise an error of
// the file system.
Status ReadExportFile(FileSystem* fs, const std::string& directory,
                      ExportImportFilesMetaData* metadata);

}  // namespace varve
