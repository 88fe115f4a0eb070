// SPDX-License-Identifier: Apache-2.0
#pragma once

// ReaderPatience decides how often a read-only opening is retried while another process writes the
// database.
//
// While the opening reads CURRENT, the MANIFEST, directories and files one after the other, the
// writer may replace or delete any of them. So an error of one attempt does not prove damage.
// 1. If an attempt gets further than the previous one, such as to a later MANIFEST or other damage,
//    the writer has made progress, and the next attempt may succeed.
// 2. Damage that several consecutive attempts have found is real. A writer's thread may be
//    suspended in the middle of a record, so the attempts are some milliseconds apart.
// 3. If opening the database takes long, it is not retried many times for the same damage.

#include <cstdint>
#include <vector>

#include "varve/status.h"

namespace varve {

class DbContext;

// Thread safety: none.
class ReaderPatience {
 public:
  // Numbers that identify how far an attempt has read, such as file numbers and offsets.
  using Place = std::vector<uint64_t>;

  // Returns true if a concurrent writer may have caused such an error.
  static bool MayPass(const Status& status);
  // Returns true if the opening should be retried after an attempt that has ended at `place`. Waits
  // some milliseconds if that may help.
  bool TriesAgain(const DbContext& context, const Place& place);

 private:
  Place last_;
  int tries_ = 0;
  int same_ = 0;             // Number of retries that ended at last_.
  uint64_t same_since_ = 0;  // Monotonic microseconds when the first attempt ended at last_.
};

}  // namespace varve
