// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what the writer of a table knows of it, for an ingestion that then need not read it.

#include <cstdint>
#include <string>

namespace varve {

// Describes a table of an SstFileWriter. Programs hand it from SstFileWriter::Finish to
// IngestExternalFileArg::file_infos.
struct PreparedFileInfo {
  uint64_t file_size = 0;  // bytes
  std::string unique_id;   // of the table, as its properties give it
  // Internal keys of the first and the last point entry; both empty if there are only tombstones.
  std::string smallest;
  std::string largest;
};

}  // namespace varve
