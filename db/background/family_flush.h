// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines one family's part of a flush job.

#include <cstdint>
#include <memory>

#include "db/background/work_paces.h"
#include "db/column_family/column_family.h"
#include "db/flush/flush_job.h"
#include "db/version/version_edit.h"

namespace varve {

// The thread of the job fills it in step by step, from the picking of memtables to the job's end.
struct FamilyFlush {
  std::shared_ptr<ColumnFamily> family;
  // The memtables that were picked, what was written, and the edit that follows from it.
  FlushInput input;
  FlushResult result;
  VersionEdit edit;
  // Number of the job in the LOG and in events.
  int job_id = 0;
  bool in_force = false;  // true: the table, if there is one, is in the MANIFEST
  // The memtable that fills meanwhile, from which FlushPace computes the urgency.
  FillingMemTable filling;
  uint64_t micros = 0;  // time of writing the table

  // Returns the bytes of keys and values in the memtables.
  [[nodiscard]] uint64_t PayloadBytes() const {
    uint64_t bytes = 0;
    for (const auto& mem : input.memtables) bytes += mem->data_bytes();
    return bytes;
  }
};

}  // namespace varve
