// SPDX-License-Identifier: Apache-2.0
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
  const Status s = batch->UpdateTimestamps(ForWrite(), [](uint32_t /*family*/) { return size(); });
  if (!s.ok()) bench::Fail("assigning timestamps", s);
}

void UserTimestamps::SetFor(ReadOptions* options) {
  if (!on()) return;
  if (FLAGS_read_with_latest_user_timestamp) {
    ForWrite();
  } else {
    const uint64_t now = next_timestamp.load(std::memory_order_relaxed);
    Encode(first_timestamp + random_->Below(now - first_timestamp + 1));
  }
  options->timestamp = &slice_;
}

}  // namespace varve::bench
