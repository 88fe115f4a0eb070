// SPDX-License-Identifier: Apache-2.0
#pragma once

// TtlHost declares what a database with lifetimes needs from the one beneath it, beyond its public
// calls.

#include <cstdint>
#include <memory>

#include "varve/status.h"

namespace varve {

class ColumnFamilyHandle;

// Thread safety: any thread.
class TtlHost {
 public:
  virtual ~TtlHost() = default;

  // Returns the last time that SaveTtlClock has saved, in this opening or before, in seconds since
  // 1970; 0: none.
  virtual uint64_t SavedTtlClock() const = 0;
  // Saves the time in the MANIFEST and returns when it is durable. Returns Busy if the call comes
  // from work that it would have to wait for.
  virtual Status SaveTtlClock(uint64_t seconds) = 0;
  // Returns a handle of the column family with this id, which must be destroyed before the
  // database; nullptr if there is none.
  virtual std::unique_ptr<ColumnFamilyHandle> OpenFamily(uint32_t family) = 0;
};

}  // namespace varve
