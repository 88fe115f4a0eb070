// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks a user's factory for checksums of whole files, and makes them of files that exist.

#include <functional>
#include <memory>
#include <string>

#include "varve/file_checksum.h"
#include "varve/file_system.h"

namespace varve {

// Null if `factory` is, or, with no function requested, if it has none for the file. NotSupported
// if it does not know the requested function. What it throws becomes Aborted.
Status NewFileChecksum(FileChecksumGenFactory* factory, const std::string& file_name,
                       const std::string& function, std::unique_ptr<FileChecksumGenerator>* result);

// Reads the whole file. `pace`, which may be empty, is told of the bytes read; what it returns,
// unless OK, ends the reading.
Status ChecksumOfFile(FileSystem* fs, const std::string& path, const FileOptions& options,
                      FileChecksumGenerator* checksum,
                      const std::function<Status(uint64_t bytes)>& pace = {});

}  // namespace varve
