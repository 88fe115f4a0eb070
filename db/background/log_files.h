// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the files of new logs: which kind of log, and how.

#include <cstdint>
#include <memory>
#include <string>

#include "db/background/engine.h"
#include "db/wal/commit_log.h"
#include "db/wal/timestamp_sizes.h"

namespace varve {

struct NewLog {
  uint64_t number = 0;
  uint64_t recycled = 0;                // an obsolete log whose file is to be used; 0: none
  std::string mark;                     // the first record, unless empty
  wal::TimestampSizes timestamp_sizes;  // of all families that have timestamps
};

// Makes a log: mapped where options and file system allow it, else over a buffer. I/O.
IOStatus MakeLogFile(const Engine& engine, const NewLog& wanted,
                     const WritableFileWriter::Options& writer_options,
                     std::unique_ptr<wal::CommitLog>* log);
// Of one that could not be made, what there is: its file, and that which it was to take over, which
// nobody remembers. I/O.
void RemoveLogFile(const Engine& engine, const NewLog& wanted);

}  // namespace varve
