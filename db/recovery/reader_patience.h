// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often an opening that only reads is tried again, beside a writer in another process.
//
// Between the moments at which it reads CURRENT, the MANIFEST, the names of files and the files
// themselves, the writer may replace or delete any of them. So what one try meets is no damage yet.
// 1. A try that met something else than the one before, a later MANIFEST or other damage, was
//    overtaken: the next one may be luckier, as it begins from a newer state.
// 2. What several tries in a row have met is there. A writer's thread may have stopped in the
//    middle of a record, so they are some milliseconds apart.
// 3. A database that takes long to open is not opened many times over to see the same damage.

#include <cstdint>
#include <vector>

#include "varve/status.h"

namespace varve {

class DbContext;

// Thread safety: none.
class ReaderPatience {
 public:
  // How far a try has come, in whatever numbers tell that.
  using Place = std::vector<uint64_t>;

  // Whether a writer beside the reader can be the reason for such an error.
  static bool MayPass(const Status& status);
  // Whether to try again after a try that was overtaken, or met damage. Waits a little, if that may
  // help.
  bool TriesAgain(const DbContext& context, const Place& place);

 private:
  Place last_;
  int tries_ = 0;
  int same_ = 0;             // tries after the first that met what last_ says
  uint64_t same_since_ = 0;  // microseconds, monotonic: when the first of them ended
};

}  // namespace varve
