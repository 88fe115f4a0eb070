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
#include <string>

#include "varve/status.h"

namespace varve {

class DbContext;
struct RecoveryReport;

// Thread safety: none.
class ReaderPatience {
 public:
  // How far a try has come.
  struct Place {
    uint64_t manifest = 0;
    uint64_t manifest_end = 0;
    uint64_t bad_log = 0;
    uint64_t bad_offset = 0;
    uint64_t last_sequence = 0;
    bool operator==(const Place&) const = default;
  };

  // Whether to try again after a try that ended so. Waits a little, if that may help.
  bool TriesAgain(const DbContext& context, const Status& status, const RecoveryReport& report,
                  uint64_t manifest, uint64_t manifest_end);

 private:
  Place last_;
  int tries_ = 0;
  int same_ = 0;             // tries after the first that met what last_ says
  uint64_t same_since_ = 0;  // microseconds, monotonic: when the first of them ended
};

}  // namespace varve
