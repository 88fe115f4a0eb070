// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares the records of a change stream with the writes: each sequence number comes once and in
// order, in the batch that has it, or in a gap if no log got it.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "varve/change_stream.h"
#include "varve/db.h"
#include "varve/write_batch.h"

#include "tests/harness/random.h"

namespace varve::testing {

class StreamCheck {
 public:
  explicit StreamCheck(Random* random) : random_(random) {}

  // Goes on at the position that earlier openings of the database have left.
  void Open(DB* db);
  // Called before the database is closed.
  void Close() { stream_.reset(); }
  // Right after a batch was written, by one thread, while nothing else was.
  void Note(DB* db, const WriteBatch& batch, bool logged);
  // Right after a range was removed, when `before` was the latest sequence number: it has the
  // numbers since then, in a batch of the engine's or in a gap.
  void NoteRemoval(DB* db, SequenceNumber before) {
    removals_[before + 1] = db->GetLatestSequenceNumber();
  }
  // Before a family is dropped: gaps do not name it afterwards.
  void NoteDrop() { unlogged_.clear(); }
  // Reads on for a while, or all that there is.
  void Read(DB* db, bool all);

 private:
  struct Written {
    SequenceNumber last = 0;
    std::string updates;  // without the batch's own sequence number
  };

  void Compare(const ChangeRecord& record);

  Random* const random_;
  std::map<SequenceNumber, Written> logged_;           // by the first number
  std::map<SequenceNumber, SequenceNumber> removals_;  // by the first number, the last
  std::map<SequenceNumber, SequenceNumber> unlogged_;  // likewise, of writes without the log
  std::unique_ptr<ChangeStream> stream_;
  bool durable_only_ = false;
  SequenceNumber next_ = 0;
  SequenceNumber acknowledged_ = 0;  // the position that an opening must find
};

}  // namespace varve::testing
