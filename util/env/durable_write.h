// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the only way in which a small file is created so that a crash leaves either all of it or
// nothing: write under a temporary name, sync, rename, sync the directory. No other code of the
// library renames a file to a name that recovery reads.

#include <cstdint>
#include <string>

#include "varve/file_system.h"

namespace varve {

// Makes dir/final_name, replaced if it exists, hold exactly `contents`, by way of dir/temp_name. OK
// means durable. After an error before the rename the temporary file is removed and final_name is
// unchanged. *in_doubt, if not null, becomes true after an error of the rename or of the
// directory's sync: either content may be there, or survive a crash. It becomes false otherwise.
// `open_dir`, if not null, is dir's handle; otherwise dir is opened for the sync.
IOStatus WriteFileDurably(FileSystem* fs, const std::string& dir, const std::string& temp_name,
                          const std::string& final_name, const Slice& contents,
                          FSDirectory* open_dir = nullptr, bool* in_doubt = nullptr);

// Makes CURRENT name MANIFEST-<manifest_number>, which must be durable already.
IOStatus SetCurrentFile(FileSystem* fs, const std::string& dbname, uint64_t manifest_number,
                        FSDirectory* open_dir = nullptr, bool* in_doubt = nullptr);

// Opens and syncs a directory.
IOStatus SyncDirectory(FileSystem* fs, const std::string& dir,
                       const DirFsyncOptions& reason = DirFsyncOptions());

// Replaces *data by the whole of `fname`. Returns Corruption if it is longer than max_size bytes.
IOStatus ReadFileToString(FileSystem* fs, const std::string& fname, uint64_t max_size,
                          std::string* data);

}  // namespace varve
