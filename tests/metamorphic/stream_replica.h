// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps a replica of an open database by its change stream, and compares it with the model. Writes
// that no log has, and ingested files, are gaps of the stream: behind them the replica begins anew.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "varve/change_stream.h"
#include "varve/db.h"

#include "tests/metamorphic/model.h"

namespace varve::testing {

class StreamReplica {
 public:
  using Handles = std::map<std::string, ColumnFamilyHandle*>;
  using Families = std::map<std::string, FamilyModel>;

  // Opens the stream, reads it to its end, and copies what the model has. Returns "" or an error.
  std::string Begin(DB* db, const Handles& handles, const Families& families);
  // Reads on, and compares. Returns "" if it was not begun, or an error.
  std::string Compare(DB* db, const Handles& handles, const Families& families);
  // Drops the position, which holds logs.
  std::string End(DB* db);
  // Must be called before the database is closed.
  void Close() { stream_.reset(); }
  // Notes that the next gap has a reason.
  void NoteNotLogged() { may_have_gaps_ = true; }

 private:
  class Replay;

  std::string ReadOn(DB* db, const Handles& handles, bool* any_gap);
  void Copy(const Handles& handles, const Families& families);

  std::unique_ptr<ChangeStream> stream_;
  SequenceNumber next_ = 0;
  std::map<uint32_t, FamilyState> states_;  // by the families' numbers
  bool may_have_gaps_ = false;
};

}  // namespace varve::testing
