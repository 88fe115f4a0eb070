// SPDX-License-Identifier: Apache-2.0
#pragma once

// Timestamps of --user_timestamp_size: a clock of the process that advances by one with every write
// and read. It starts at the time of day, so that what an earlier run wrote is older.

#include <cstddef>
#include <cstdint>

#include "varve/options.h"
#include "varve/slice.h"

#include "tools/db_bench/keys.h"

namespace varve {
class WriteBatch;
}

namespace varve::bench {

// Makes the timestamps of one thread. Does nothing unless the flag is set.
//
// Thread safety: one thread may use it; all threads share the clock behind it. As in other programs
// of this name, several writers may write one key in another order than that of their timestamps.
class UserTimestamps {
 public:
  // `random` must outlive this. It is used with --read_with_latest_user_timestamp=false.
  explicit UserTimestamps(Random* random) : random_(random) {}
  UserTimestamps(const UserTimestamps&) = delete;
  UserTimestamps& operator=(const UserTimestamps&) = delete;

  // Returns 0 or 8.
  static size_t size();
  static bool on() { return size() != 0; }

  // Requires on(). The result is valid until the next call.
  Slice ForWrite();
  // Fills in the timestamps of a batch that was made for size().
  void Fill(WriteBatch* batch);
  // Sets the timestamp that `options` reads at: the latest or, without that flag, a random one
  // since the start. `options` refers to this object afterwards.
  void SetFor(ReadOptions* options);

 private:
  Slice Encode(uint64_t ts);

  Random* const random_;
  char bytes_[sizeof(uint64_t)] = {};
  Slice slice_;  // points to bytes_
};

}  // namespace varve::bench
