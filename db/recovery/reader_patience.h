// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides how often a read-only opening is retried beside a writer in another process.
//
// Between the moments at which the opening reads CURRENT, the MANIFEST, the names of files and the
// files themselves, the writer may replace or delete any of them. So an error of one try does not
// prove damage.
// 1. A try that met something else than the one before, a later MANIFEST or other damage, was
//    overtaken: the next one may succeed, as it begins from a newer state.
// 2. Damage that several tries in a row have met is real. A writer's thread may have stopped in the
//    middle of a record, so the tries are some milliseconds apart.
// 3. A database that takes long to open is not opened many times only to see the same damage.

#include <cstdint>
#include <vector>

#include "varve/status.h"

namespace varve {

class DbContext;

// Thread safety: none.
class ReaderPatience {
 public:
  // Numbers that tell how far a try has come.
  using Place = std::vector<uint64_t>;

  // True if a concurrent writer may have caused such an error.
  static bool MayPass(const Status& status);
  // Returns true if the opening should be retried after it was overtaken or met damage. Waits a
  // little if that may help.
  bool TriesAgain(const DbContext& context, const Place& place);

 private:
  Place last_;
  int tries_ = 0;
  int same_ = 0;             // Tries after the first that ended at last_.
  uint64_t same_since_ = 0;  // When the first of them ended: microseconds, monotonic.
};

}  // namespace varve
