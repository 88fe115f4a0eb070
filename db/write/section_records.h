// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records of two-phase commit (FORMAT.md): a prepared section, and the decision about one by
// its name.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

namespace varve {

// The updates between the marks. A section that is logged once more, as its log is to go, says so:
// then it does not count where the first one was met, or a decision about it.
WriteBatch MakePrepareRecord(const WriteBatch& updates, const Slice& name, bool again = false);
// After updates that come with the decision. A timestamp that is not empty is for the keys of the
// section, which have room for one.
WriteBatch MakeCommitRecord(const WriteBatch& updates, const Slice& name,
                            const Slice& timestamp = Slice());
WriteBatch MakeRollbackRecord(const Slice& name);

// Logs of others may have several steps, and plain updates, in one record.
struct SectionPart {
  enum class Kind : uint8_t { kUpdates, kSection, kCommit, kRollback };
  Kind kind = Kind::kUpdates;
  Slice name;          // but of kUpdates
  Slice timestamp;     // of kCommit; empty: it has none
  Slice updates;       // records of kUpdates and kSection, without header and marks
  uint32_t count = 0;  // of them
  bool again = false;  // of kSection
  // Of kUpdates and kSection: RocksDB's WRITE_PREPARED has written them, and numbered them by
  // sub-batches, those of a section where it was prepared.
  bool by_sub_batch = false;
};

// The parts of a record whose structure has been checked, in order; they point into it.
// NotSupported: the marks are those of WRITE_UNPREPARED. Corruption: marks are where they cannot
// be.
Status SplitSections(const Slice& record, std::vector<SectionPart>* parts);

// A batch of such records.
std::string MakeBatchOf(const Slice& updates, uint32_t count);

}  // namespace varve
