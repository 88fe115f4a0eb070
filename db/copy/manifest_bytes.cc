// SPDX-License-Identifier: Apache-2.0

// Writes records with the log writer of MANIFESTs, but into a string: the MANIFEST of a copy is
// made in memory, and then written like any other small file.

#include "db/copy/manifest_bytes.h"

#include <memory>
#include <utility>

#include "db/wal/log_writer.h"
#include "util/base/status_macros.h"
#include "util/env/appended_bytes.h"
#include "util/env/writable_file_writer.h"

namespace varve {

IOStatus FrameRecords(const std::vector<std::string>& records, uint64_t manifest_number,
                      std::string* bytes) {
  bytes->clear();
  wal::LogWriter writer(
      std::make_unique<WritableFileWriter>(std::make_unique<AppendedBytes>(bytes), "MANIFEST",
                                           WritableFileWriter::Options()),
      manifest_number, wal::LogWriterOptions{.manual_flush = true});
  for (const std::string& record : records) VARVE_RETURN_IF_ERROR(writer.AddRecord(record));
  return writer.Close();
}

}  // namespace varve
