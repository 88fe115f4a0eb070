// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two-phase commit as readers of logs want it: each section as one batch, where it was committed.

#include <cstdint>
#include <map>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

#include "db/wal/timestamp_sizes.h"

namespace varve {

// Thread safety: none.
class SectionMemory {
 public:
  // What a record with marks changes is put into *batch, with the record's sequence number: its
  // updates, and those of the sections that it commits. NotFound, and *missing the name: it commits
  // a section that is not here. Changes nothing: Apply does, once the record counts.
  Status Assemble(const Slice& record, const wal::TimestampSizes& sizes, std::string* batch,
                  std::string* missing) const;
  // Sections that the record has are here from now on, those that it decides are not. It has been
  // assembled, or what is wrong with it does not matter.
  // `log` is the number of the log that has it.
  void Apply(const Slice& record, uint64_t log);
  // Takes the section of that name from what was met in earlier logs. False: it has none.
  bool TakeFrom(SectionMemory* earlier, const std::string& name);
  // Of the logs that have what is here; UINT64_MAX: nothing is.
  uint64_t OldestLog() const;

 private:
  struct Section {
    std::string updates;  // a batch
    uint64_t log = 0;
  };
  std::map<std::string, Section> undecided_;
};

}  // namespace varve
