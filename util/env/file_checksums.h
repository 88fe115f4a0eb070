// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes checksums of whole files with generators of a user's factory.

#include <functional>
#include <memory>
#include <string>

#include "varve/file_checksum.h"
#include "varve/file_system.h"

namespace varve {

// Sets *result to a generator for the file, of the function with the name `function` if that is not
// empty. Sets *result to null, and returns OK, if `factory` is null, or if `function` is empty and
// the factory has none for the file. After an error *result is null. NotSupported: the factory does
// not know `function`. Aborted: the factory threw.
Status NewFileChecksum(FileChecksumGenFactory* factory, const std::string& file_name,
                       const std::string& function, std::unique_ptr<FileChecksumGenerator>* result);

// Reads the whole file into `checksum`, and finalizes that. `pace`, which may be empty, is called
// with the bytes read; if it does not return OK, reading ends with that status.
Status ChecksumOfFile(FileSystem* fs, const std::string& path, const FileOptions& options,
                      FileChecksumGenerator* checksum,
                      const std::function<Status(uint64_t bytes)>& pace = {});

}  // namespace varve
