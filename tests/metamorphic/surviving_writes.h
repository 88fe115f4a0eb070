// SPDX-License-Identifier: Apache-2.0
#pragma once

// Judges what may be left of a database when its process dies and writes have no log: each family
// keeps all that was written up to some moment, with atomic_flush the same moment for all.

#include <map>
#include <string>
#include <vector>

#include "tests/metamorphic/model.h"

namespace varve::testing {

enum class Survival {
  kAll,       // every write is in the log
  kTogether,  // none is in the log, and families are flushed together
  kApart,     // none is in the log
  kAny,       // some are
};

// Returns the state without what filters may remove, and with their changes made.
FamilyState ShownState(const FamilyState& state);

// Tracks one database since it was opened. Families with timestamps are ignored.
class SurvivingWrites {
 public:
  using States = std::map<std::string, View>;

  // Makes the present state survive.
  void Restart(const States& now);
  void NoteFamily(const std::string& name, const Comparator* order);
  void NoteDrop(const std::string& name) { kept_.erase(name); }
  void NoteWrite(const std::vector<Change>& changes);
  // Returns "" if `left` is an allowed state.
  std::string Judge(Survival survival, const States& left) const;

 private:
  struct Kept {
    FamilyState state;
    std::vector<std::pair<size_t, Change>> changes;  // with the number of their write
  };
  // Finds for each family the moments at which its state was that in `left`.
  std::string JudgePrefixes(bool together, const States& left) const;

  std::map<std::string, Kept> kept_;
  size_t writes_ = 0;
};

}  // namespace varve::testing
