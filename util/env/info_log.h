// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the human-readable log: the file logger, its rotation, and the functions that write entries.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/system_clock.h"

namespace varve {

struct InfoLogOptions {
  InfoLogLevel level = INFO_LEVEL;
  // Bytes after which a new LOG is begun; 0 = never.
  size_t max_log_file_size = 0;
  // Seconds after which a new LOG is begun; 0 = never.
  size_t log_file_time_to_roll = 0;
  // LOG and LOG.old.* together; at least 1.
  size_t keep_log_file_num = 1000;
};

// Opens a logger for database `dbname` that writes to LOG in log_dir (in dbname when empty; the
// name then carries the database's path). An existing LOG is first renamed to LOG.old.<micros>. A
// LOG that is over its limits is renamed in the same way and the header entries are repeated in the
// new one, as far as they have room (a quarter of max_log_file_size, 1 MiB at most), unless they
// were forgotten; the oldest files beyond keep_log_file_num are deleted.
//
// Each entry is a line "YYYY/MM/DD-HH:MM:SS.micros thread [LEVEL] text", written at once. A line
// at WARN_LEVEL or above that repeats within a second is only counted. Failures to write are
// dropped: the log must never stop the database. When a new LOG cannot be begun, lines go to the
// old one, and another attempt is made after a second. `fs` and `clock` are shared.
Status OpenInfoLog(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock,
                   const std::string& dbname, const std::string& log_dir,
                   const InfoLogOptions& options, std::shared_ptr<Logger>* result);

// A logger that empties and writes `fname` and never rotates. `fs` is used only within the call.
IOStatus NewFileLogger(FileSystem* fs, const std::shared_ptr<SystemClock>& clock,
                       const std::string& fname, const IOOptions& options,
                       std::shared_ptr<Logger>* result, IODebugContext* dbg);

// Entries from within the library. A null logger drops them.
void LogDebug(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
void LogInfo(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
void LogWarn(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
void LogError(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
void LogFatal(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
void LogHeader(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);

// What is gone needs no header: those whose first line is `first_line` are not repeated any more.
// Without effect on loggers that OpenInfoLog has not made, and on a null one.
void ForgetHeader(Logger* log, const std::string& first_line);

}  // namespace varve
