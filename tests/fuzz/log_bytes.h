// SPDX-License-Identifier: Apache-2.0
#pragma once

// Logs in memory: written by the writer, read back under a recovery mode.

#include <string>
#include <vector>

#include "varve/options.h"
#include "varve/slice.h"

#include "db/wal/log_reader.h"
#include "db/wal/log_writer.h"

namespace varve::fuzz {

inline constexpr WALRecoveryMode kRecoveryModes[] = {
    WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
    WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords};

// Replaces the content of *log. `sizes`, if not empty, precedes the records.
Status WriteLogBytes(const std::vector<std::string>& records, const wal::LogWriterOptions& options,
                     uint64_t number, const wal::TimestampSizes& sizes, std::string* log);

struct LogReading {
  std::vector<std::string> records;
  wal::LogDamage damage;
  wal::TimestampSizes sizes;
  Status io_status;
};
LogReading ReadLogBytes(const Slice& log, WALRecoveryMode mode, uint64_t number);

}  // namespace varve::fuzz
