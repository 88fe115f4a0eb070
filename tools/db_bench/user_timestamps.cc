// SPDX-License-Identifier: Apache-2.0

// The clock of timestamps and how they are drawn.
//
// One atomic counter is the clock of the process. A write takes the next number; so does a read of
// the latest state, whose number is therefore above those of all writes that have returned. The
// counter starts at nanoseconds since 1970. A later run hence starts above all numbers of an
// earlier one, unless that run made more than 10^9 operations a second or the system's clock was
// set back.

#include "tools/db_bench/user_timestamps.h"

#include <atomic>
#include <chrono>

#include "varve/write_batch.h"

#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"
#include "util/coding/fixed.h"

namespace varve::bench {

namespace {

uint64_t TimeOfDay() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

const uint64_t first_timestamp = TimeOfDay();
std::atomic<uint64_t> next_timestamp{first_timestamp};

}  // namespace

size_t UserTimestamps::size() {
  return static_cast<size_t>(FLAGS_user_timestamp_size);
}

Slice UserTimestamps::Encode(uint64_t ts) {
  EncodeFixed64(bytes_, ts);
  slice_ = Slice(bytes_, sizeof(bytes_));
  return slice_;
}

Slice UserTimestamps::ForWrite() {
  return Encode(next_timestamp.fetch_add(1, std::memory_order_relaxed));
}

void UserTimestamps::Fill(WriteBatch* batch) {
  if (!on()) return;
  // All entries of a batch get one timestamp, as they become visible together.
  const Status s = batch->UpdateTimestamps(ForWrite(), [](uint32_t /*family*/) { return size(); });
  if (!s.ok()) bench::Fail("assigning timestamps", s);
}

void UserTimestamps::SetFor(ReadOptions* options) {
  if (!on()) return;
  if (FLAGS_read_with_latest_user_timestamp) {
    ForWrite();
  } else {
    const uint64_t now = next_timestamp.load(std::memory_order_relaxed);
    // From the start to now, both included: such a read may find nothing of this run, or an old
    // version.
    Encode(first_timestamp + random_->Below(now - first_timestamp + 1));
  }
  options->timestamp = &slice_;
}

}  // namespace varve::bench
