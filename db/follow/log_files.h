// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the logs that can be read beside their writer: those that the database still has, and those
// in its archive.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/status.h"

#include "db/wal/log_set.h"
#include "db/wal/log_tail.h"

namespace varve {

struct Engine;

// A log that a LogHold keeps stays where it is; any other may go at any time. Thread safety: any
// thread.
class LogFiles {
 public:
  // `engine` is borrowed and outlives this object.
  explicit LogFiles(Engine* engine) : engine_(*engine) {}

  // Lists all numbers, ascending.
  Status List(std::vector<uint64_t>* numbers) const;
  // Sets *next to the number of the first log after this one, or to 0 if there is none.
  Status After(uint64_t number, uint64_t* next) const;
  // Opens a log. Returns NotFound if it no longer exists.
  Status Open(uint64_t number, std::unique_ptr<wal::LogTail>* tail) const;
  // Sets *view to what is known of the log now. *settled, which may be null, is set to true if that
  // will not change any more.
  Status View(uint64_t number, LogSet::LogView* view, bool* settled = nullptr) const;

 private:
  IOStatus OpenAt(const std::string& path, uint64_t number,
                  std::unique_ptr<wal::LogTail>* tail) const;

  Engine& engine_;
};

}  // namespace varve
