// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes checksums of whole files with generators of a user's factory.

#include <functional>
#include <memory>
#include <string>

#include "varve/file_checksum.h"
#include "varve/file_system.h"

namespace varve {

// Creates a generator. Sets *result to null if `factory` is null or, with no function requested, if
// it has none for the file. Returns NotSupported if it does not know the requested function. An
// exception becomes Aborted.
Status NewFileChecksum(FileChecksumGenFactory* factory, const std::string& file_name,
                       const std::string& function, std::unique_ptr<FileChecksumGenerator>* result);

// Reads the whole file into `checksum`. `pace`, which may be empty, is called with the bytes read;
// if it does not return OK, reading ends with that status.
Status ChecksumOfFile(FileSystem* fs, const std::string& path, const FileOptions& options,
                      FileChecksumGenerator* checksum,
                      const std::function<Status(uint64_t bytes)>& pace = {});

}  // namespace varve
