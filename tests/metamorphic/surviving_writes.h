// SPDX-License-Identifier: Apache-2.0
#pragma once

// What of a database may be left when its process dies, where writes have no log: of each family
// all that was written up to some moment, and with atomic_flush up to the same moment for all.

#include <map>
#include <string>
#include <vector>

#include "tests/metamorphic/model.h"

namespace varve::testing {

enum class Survival {
  kAll,       // every write is in the log
  kTogether,  // none is, and families are flushed together
  kApart,     // none is
  kAny,       // some are
};

// Without what filters may remove, and with what they may change as they do.
FamilyState ShownState(const FamilyState& state);

// Of one database, since it was opened. Families with timestamps are not its concern.
class SurvivingWrites {
 public:
  using States = std::map<std::string, View>;

  // All that there is now survives.
  void Restart(const States& now);
  void NoteFamily(const std::string& name, const Comparator* order);
  void NoteDrop(const std::string& name) { kept_.erase(name); }
  void NoteWrite(const std::vector<Change>& changes);
  // "" if `left` may be what is left.
  std::string Judge(Survival survival, const States& left) const;

 private:
  struct Kept {
    FamilyState state;
    std::vector<std::pair<size_t, Change>> changes;  // with the number of their write
  };
  // Per family the moments at which its state was as it is in `left`.
  std::string JudgePrefixes(bool together, const States& left) const;

  std::map<std::string, Kept> kept_;
  size_t writes_ = 0;
};

}  // namespace varve::testing
