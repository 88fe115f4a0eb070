// SPDX-License-Identifier: Apache-2.0
#pragma once

// LogFiles finds and opens the logs of an open database: its live ones and those in its archive.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/status.h"

#include "db/wal/log_set.h"
#include "db/wal/log_tail.h"

namespace varve {

struct Engine;

// A log may be archived or deleted at any time unless a LogHold keeps it. Thread-safe.
class LogFiles {
 public:
  // `engine` is borrowed and must outlive this object.
  explicit LogFiles(Engine* engine) : engine_(*engine) {}

  // Sets *numbers to those of all logs, ascending.
  Status List(std::vector<uint64_t>* numbers) const;
  // Sets *next to the number of the first log after this one, or to 0 if there is none.
  Status After(uint64_t number, uint64_t* next) const;
  // Opens a log, and sets *tail unless that fails. NotFound: the log no longer exists.
  Status Open(uint64_t number, std::unique_ptr<wal::LogTail>* tail) const;
  // Sets *view to the current state of the log. Sets *settled, unless it is null: true if this
  // state will not change any more. NotFound: the log no longer exists.
  Status View(uint64_t number, LogSet::LogView* view, bool* settled = nullptr) const;

 private:
  // Opens a log at a path.
  IOStatus OpenAt(const std::string& path, uint64_t number,
                  std::unique_ptr<wal::LogTail>* tail) const;

  Engine& engine_;
};

}  // namespace varve
