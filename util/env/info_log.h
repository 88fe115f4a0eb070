// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the human-readable log: the file logger, its rotation, and the functions that write
// entries.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/system_clock.h"

namespace varve {

// Configures OpenInfoLog. The fields have the meaning of those in DBOptions.
struct InfoLogOptions {
  InfoLogLevel level = INFO_LEVEL;
  // Bytes after which a new LOG is begun; 0 is never.
  size_t max_log_file_size = 0;
  // Seconds after which a new LOG is begun; 0 is never.
  size_t log_file_time_to_roll = 0;
  // Number of files LOG and LOG.old.* together; at least 1.
  size_t keep_log_file_num = 1000;
};

// Opens a logger for database `dbname` that writes to LOG in log_dir (in dbname if empty; otherwise
// the name contains the database's path). An existing LOG is first renamed to LOG.old.<micros>. A
// LOG that exceeds its limits is renamed likewise; the new one repeats the header entries, up to a
// quarter of max_log_file_size or 1 MiB, unless they were forgotten; the oldest files beyond
// keep_log_file_num are deleted.
//
// Each entry is a line "YYYY/MM/DD-HH:MM:SS.micros thread [LEVEL] text", written at once. A line at
// WARN_LEVEL or above that repeats within a second is only counted. Write errors are dropped: the
// log must never stop the database. If a new LOG cannot be begun, lines go to the old one, and
// another attempt is made after a second. `fs` and `clock` are shared. *result is null after an
// error, which is that of making the directory or the first LOG.
Status OpenInfoLog(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock,
                   const std::string& dbname, const std::string& log_dir,
                   const InfoLogOptions& options, std::shared_ptr<Logger>* result);

// Creates a logger that truncates and writes `fname` and never rotates. `fs` is used only within
// the call.
IOStatus NewFileLogger(FileSystem* fs, const std::shared_ptr<SystemClock>& clock,
                       const std::string& fname, const IOOptions& options,
                       std::shared_ptr<Logger>* result, IODebugContext* dbg);

// Write entries of the library. A null logger drops them.
void LogDebug(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
void LogInfo(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
void LogWarn(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
void LogError(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
void LogFatal(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
// Logs an entry that each new LOG file repeats at its beginning.
void LogHeader(Logger* log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);

// Removes the headers whose first line is `first_line` from those that are repeated, because their
// subject is gone. Does nothing for loggers that OpenInfoLog has not created, or a null one.
void ForgetHeader(Logger* log, const std::string& first_line);

}  // namespace varve
