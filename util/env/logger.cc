// SPDX-License-Identifier: Apache-2.0
// Implements Logger's defaults, and every function that writes an entry.

#include <cstdarg>
#include <string>

#include "varve/env.h"

#include "util/env/info_log.h"

namespace varve {

namespace {

void WriteEntry(InfoLogLevel level, Logger* log, const char* format, va_list ap) {
  // If a user's logger throws, the entry is lost and nothing else fails.
  try {
    if (log == nullptr || log->GetInfoLogLevel() > level) return;
    if (level == HEADER_LEVEL) {
      log->LogHeader(format, ap);
    } else {
      log->Logv(level, format, ap);
    }
  } catch (...) {
  }
}

}  // namespace

Logger::~Logger() = default;

Status Logger::Close() {
  if (closed_) return Status::OK();
  closed_ = true;
  return CloseImpl();
}

Status Logger::CloseImpl() {
  return Status::NotSupported("Logger::Close");
}

void Logger::Logv(const char*, va_list) {}

// Puts the level's mark in front of the format and calls the overload without a level, which is the
// only one that many programs' loggers implement. The mark has no percent sign, so the arguments
// still fit.
void Logger::Logv(const InfoLogLevel log_level, const char* format, va_list ap) {
  if (log_level < GetInfoLogLevel()) return;
  // Entries of INFO_LEVEL have no mark.
  static constexpr const char* kMarks[NUM_INFO_LOG_LEVELS] = {"[DEBUG] ", "",         "[WARN] ",
                                                              "[ERROR] ", "[FATAL] ", ""};
  const char* const mark = log_level < NUM_INFO_LOG_LEVELS ? kMarks[log_level] : "";
  Logv((std::string(mark) + format).c_str(), ap);
}

void LogFlush(Logger* info_log) {
  if (info_log != nullptr) info_log->Flush();
}

void LogFlush(const std::shared_ptr<Logger>& info_log) {
  LogFlush(info_log.get());
}

// The functions below cannot call each other, because an ellipsis cannot be passed on; each turns
// its own into a va_list for WriteEntry.
void Log(const InfoLogLevel log_level, Logger* info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(log_level, info_log, format, ap);
  va_end(ap);
}

void Log(const InfoLogLevel log_level, const std::shared_ptr<Logger>& info_log, const char* format,
         ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(log_level, info_log.get(), format, ap);
  va_end(ap);
}

void Log(Logger* info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(INFO_LEVEL, info_log, format, ap);
  va_end(ap);
}

void Log(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(INFO_LEVEL, info_log.get(), format, ap);
  va_end(ap);
}

void Header(Logger* info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(HEADER_LEVEL, info_log, format, ap);
  va_end(ap);
}

void Header(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(HEADER_LEVEL, info_log.get(), format, ap);
  va_end(ap);
}

void Debug(Logger* info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(DEBUG_LEVEL, info_log, format, ap);
  va_end(ap);
}

void Debug(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(DEBUG_LEVEL, info_log.get(), format, ap);
  va_end(ap);
}

void Info(Logger* info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(INFO_LEVEL, info_log, format, ap);
  va_end(ap);
}

void Info(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(INFO_LEVEL, info_log.get(), format, ap);
  va_end(ap);
}

void Warn(Logger* info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(WARN_LEVEL, info_log, format, ap);
  va_end(ap);
}

void Warn(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(WARN_LEVEL, info_log.get(), format, ap);
  va_end(ap);
}

void Error(Logger* info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(ERROR_LEVEL, info_log, format, ap);
  va_end(ap);
}

void Error(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(ERROR_LEVEL, info_log.get(), format, ap);
  va_end(ap);
}

void Fatal(Logger* info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(FATAL_LEVEL, info_log, format, ap);
  va_end(ap);
}

void Fatal(const std::shared_ptr<Logger>& info_log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(FATAL_LEVEL, info_log.get(), format, ap);
  va_end(ap);
}

// The engine uses those below, whose names say in the code that it logs; the ones above are the
// public interface.
void LogHeader(Logger* log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(HEADER_LEVEL, log, format, ap);
  va_end(ap);
}

void LogDebug(Logger* log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(DEBUG_LEVEL, log, format, ap);
  va_end(ap);
}

void LogInfo(Logger* log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(INFO_LEVEL, log, format, ap);
  va_end(ap);
}

void LogWarn(Logger* log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(WARN_LEVEL, log, format, ap);
  va_end(ap);
}

void LogError(Logger* log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(ERROR_LEVEL, log, format, ap);
  va_end(ap);
}

void LogFatal(Logger* log, const char* format, ...) {
  va_list ap;
  va_start(ap, format);
  WriteEntry(FATAL_LEVEL, log, format, ap);
  va_end(ap);
}

}  // namespace varve
