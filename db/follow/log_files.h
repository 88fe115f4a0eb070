// SPDX-License-Identifier: Apache-2.0
#pragma once

// The logs that there are to be read beside their writer: those that the database still has, and
// those in its archive.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/status.h"

#include "db/wal/log_set.h"
#include "db/wal/log_tail.h"

namespace varve {

struct Engine;

// Logs that somebody holds (LogHold) stay where they are. Thread safety: any thread.
class LogFiles {
 public:
  // Borrowed; lives longer.
  explicit LogFiles(Engine* engine) : engine_(*engine) {}

  // All numbers, ascending.
  Status List(std::vector<uint64_t>* numbers) const;
  // *next: the number of the first log after this one, or 0: there is none.
  Status After(uint64_t number, uint64_t* next) const;
  // NotFound: there is no such log any more.
  Status Open(uint64_t number, std::unique_ptr<wal::LogTail>* tail) const;
  // What is known of it now. *settled, which may be null: that is how it will stay.
  Status View(uint64_t number, LogSet::LogView* view, bool* settled = nullptr) const;

 private:
  IOStatus OpenAt(const std::string& path, uint64_t number,
                  std::unique_ptr<wal::LogTail>* tail) const;

  Engine& engine_;
};

}  // namespace varve
