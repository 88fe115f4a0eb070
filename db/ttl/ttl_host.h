// SPDX-License-Identifier: Apache-2.0
#pragma once

// TtlHost: what a database with lifetimes asks of the database beneath it beyond its public calls.

#include <cstdint>
#include <memory>

#include "varve/status.h"

namespace varve {

class ColumnFamilyHandle;

// Thread safety: any thread.
class TtlHost {
 public:
  virtual ~TtlHost() = default;

  // The last time that SaveTtlClock has saved, in this opening or before; 0: none.
  virtual uint64_t SavedTtlClock() const = 0;
  // Returns when the time is durable, in the MANIFEST. Busy: the caller is inside of something
  // that it would wait for.
  virtual Status SaveTtlClock(uint64_t seconds) = 0;
  // A handle that goes before the database; nullptr: there is no such column family.
  virtual std::unique_ptr<ColumnFamilyHandle> OpenFamily(uint32_t family) = 0;
};

}  // namespace varve
