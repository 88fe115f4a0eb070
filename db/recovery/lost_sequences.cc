// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/lost_sequences.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "db/wal/log_reader.h"
#include "db/write/batch_reader.h"
#include "util/coding/fixed.h"
#include "util/env/sequential_file_reader.h"

namespace varve {

// Skips damage in every mode, because only the report depends on the result. Only well-formed
// batches count, as others could have any number.
SequenceNumber LastSequenceIn(FileSystem* fs, const FileOptions& options, const std::string& path,
                              uint64_t number) {
  std::unique_ptr<SequentialFileReader> file;
  if (!SequentialFileReader::Open(fs, path, options, &file).ok()) return 0;
  wal::LogReader reader(std::move(file), number, path, nullptr);
  SequenceNumber last = 0;
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kSkipAnyCorruptedRecords)) {
    const BatchReader batch(record);
    if (batch.count() == 0 || !CheckBatchStructure(record).ok()) continue;
    last = std::max(last, DecodeFixed64(record.data()) + batch.count() - 1);
  }
  return last;
}

}  // namespace varve
