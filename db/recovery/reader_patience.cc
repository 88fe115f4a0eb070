// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/reader_patience.h"

#include "varve/system_clock.h"

#include "db/engine/context.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Maximum number of attempts: a writer that is faster each time makes tables faster than they can
// be opened.
constexpr int kTriesMax = 1000;
// Maximum number of retries after the same error; the pauses between them double.
constexpr int kSameMax = 6;
constexpr uint64_t kFirstPauseMicros = 500;
constexpr uint64_t kSameMicrosMax = 200'000;

}  // namespace

bool ReaderPatience::MayPass(const Status& status) {
  return status.IsCorruption() || IsMissing(status);
}

// After an attempt that ended at another place, the next one follows at once; after the same place
// it waits, twice as long each time.
bool ReaderPatience::TriesAgain(const DbContext& context, const Place& place) {
  if (++tries_ > kTriesMax) return false;
  const uint64_t now = context.MonotonicMicros();
  if (tries_ == 1 || place != last_) {
    last_ = place;
    same_ = 0;
    same_since_ = now;
    return true;
  }
  if (same_ == kSameMax || now - same_since_ > kSameMicrosMax) return false;
  context.clock()->SleepForMicroseconds(static_cast<int>(kFirstPauseMicros << same_));
  same_++;
  return true;
}

}  // namespace varve
