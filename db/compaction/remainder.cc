// SPDX-License-Identifier: Apache-2.0

// Passes the remaining work on from the inputs of compactions to their outputs.

#include "db/compaction/remainder.h"

#include <algorithm>

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

void Remainder::Note(const Work& work) {
  const auto any = [&work](auto is) {
    return std::any_of(work.inputs.begin(), work.inputs.end(), is);
  };
  const bool old = any([this](uint64_t number) { return IsOld(number); });
  const bool unwritten =
      !Suffices(work) && any([this](uint64_t number) { return IsUnwritten(number); });
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (VARVE_CANARY(kForgetOutputs)) return;
  VARVE_ASSERT(!unwritten || old);
  for (const uint64_t number : work.outputs) {
    if (old) old_.insert(number);
    if (unwritten) unwritten_.insert(number);
  }
}

}  // namespace varve
