// SPDX-License-Identifier: Apache-2.0
#pragma once

// The timestamps of --user_timestamp_size: a clock of the process that goes on by one with every
// write and read, and starts at the time of day, so that what an earlier run wrote is older.

#include <cstddef>
#include <cstdint>

#include "varve/options.h"
#include "varve/slice.h"

#include "tools/db_bench/keys.h"

namespace varve {
class WriteBatch;
}

namespace varve::bench {

// The timestamps of one thread. Nothing is done unless the flag is set.
//
// Thread safety: none; the clock behind it is for all threads. As in other programs of this name
// several writers may write one key in another order than that of their timestamps.
class UserTimestamps {
 public:
  // `random` outlives this; used with --read_with_latest_user_timestamp=false.
  explicit UserTimestamps(Random* random) : random_(random) {}
  UserTimestamps(const UserTimestamps&) = delete;
  UserTimestamps& operator=(const UserTimestamps&) = delete;

  // 0 or 8.
  static size_t size();
  static bool on() { return size() != 0; }

  // Requires on(). Valid until the next call.
  Slice ForWrite();
  // Fills the timestamps of a batch that was made for size().
  void Fill(WriteBatch* batch);
  // What `options` read as of: now or, without that flag, some moment since the start. It refers to
  // this object.
  void SetFor(ReadOptions* options);

 private:
  Slice Encode(uint64_t ts);

  Random* const random_;
  char bytes_[sizeof(uint64_t)] = {};
  Slice slice_;  // of bytes_
};

}  // namespace varve::bench
