// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads what the LOG files of a database tell of its background work: the events (EVENT_LOG_v1),
// the rates of interval statistics, warnings and errors. The files may hold anything.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "varve/status.h"

namespace varve::tool {

// A flush or a compaction. Times are microseconds since 1970.
struct LoggedJob {
  std::string family;
  bool flush = false;
  uint64_t begin = 0;
  uint64_t end = 0;
  int level = 0;  // Level of the output.
  uint64_t bytes = 0;
  std::string reason;
  bool failed = false;
};

// A moment at which a family changed to another condition of writes.
struct LoggedStall {
  uint64_t time = 0;
  std::string family;
  std::string condition;  // "normal", "delayed" or "stopped".
};

// Tables of each level of a family at a moment.
struct LoggedShape {
  uint64_t time = 0;
  std::string family;
  std::vector<uint64_t> tables;
};

// Rate at which users wrote, until a moment.
struct LoggedRate {
  uint64_t time = 0;
  double megabytes = 0;  // MiB a second.
};

// Holds what the LOG files of one database tell, within limits of memory. Not thread-safe.
class LogHistory {
 public:
  // A log that tells more than so many events of one kind is cut there; `dropped` counts the rest.
  static constexpr size_t kMaxEvents = 200000;
  static constexpr size_t kMaxLine = size_t{64} << 10;
  static constexpr size_t kMaxMessages = 100;

  // Reads LOG.old.* and LOG of the directory, or the one file, and sorts what they tell by time.
  // NotFound if there is none.
  Status Read(const std::string& path);

  std::vector<LoggedJob> jobs;
  std::vector<LoggedStall> stalls;
  std::vector<LoggedShape> shapes;
  std::vector<LoggedRate> rates;
  std::map<std::string, uint64_t> events;  // Number of each name.
  std::vector<std::string> messages;       // The newest warnings and errors.
  uint64_t dropped = 0;
  uint64_t lines = 0;
  uint64_t first_time = 0;
  uint64_t last_time = 0;

 private:
  Status ReadFile(const std::string& path);
  void TakeLine(std::string_view line);
  void TakeEvent(std::string_view json);
  void TakeJob(std::string_view json, std::string_view event);
  void TakeRate(std::string_view line);
  // Forgets the jobs whose end has not been read.
  void Forget();
  // Returns false, and counts, if the list is full.
  template <typename T>
  bool HasRoom(const std::vector<T>& list) {
    if (list.size() < kMaxEvents) return true;
    dropped++;
    return false;
  }

  std::map<uint64_t, LoggedJob> running_;  // Jobs that have begun, by their number.
  std::map<uint64_t, uint64_t> written_;   // Bytes of the tables that a job has written, likewise.
};

// Returns the time at the beginning of a line of a LOG, taken as UTC, in microseconds since 1970; 0
// if there is none.
uint64_t TimeOfLine(std::string_view line);

}  // namespace varve::tool
