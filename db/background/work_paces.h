// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far a flush and a compaction give way to those who wait for a processor: as far as nobody
// waits for them, or is about to.

#include <cstdint>
#include <memory>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/lifecycle.h"
#include "db/engine/work_signal.h"
#include "memtable/memtable.h"
#include "util/sync/give_way.h"

namespace varve {

// A memtable that fills while a flush runs, and how many more of that size the family has room for
// before writes are stopped.
struct FillingMemTable {
  std::shared_ptr<const MemTable> mem;
  uint64_t write_buffer_bytes = 0;
  int room = 1;
};

// A flush has to be over before the memtables that take its place are full. It is to be done when
// they are half full, so it may take its time while it has done more of its work than they have
// of that; with nobody writing, any time.
class FlushPace final : public WorkPace {
 public:
  // `entries`: of all that is flushed.
  FlushPace(const DbContext& context, const Lifecycle& lifecycle, const WorkSignal& work,
            std::vector<FillingMemTable> filling, uint64_t entries)
      : WorkPace(context.clock()),
        env_(context.env()),
        lifecycle_(lifecycle),
        work_(work),
        filling_(std::move(filling)),
        entries_(entries) {}

  // The part of the room that is taken and the part of the work that is done, from 0 to 1 each.
  static Urgency Judge(double taken, double done);

 protected:
  Urgency Judge(uint64_t steps) override;

 private:
  Env* const env_;
  const Lifecycle& lifecycle_;
  const WorkSignal& work_;
  const std::vector<FillingMemTable> filling_;
  const uint64_t entries_;
};

// A compaction hurries as the tree that is nearest to a stall asks (CompactionUrgency): that of any
// database, as threads are shared.
class CompactionPace final : public WorkPace {
 public:
  CompactionPace(SystemClock* clock, const Lifecycle& lifecycle, const WorkSignal& work)
      : WorkPace(clock), lifecycle_(lifecycle), work_(work) {}

 protected:
  Urgency Judge(uint64_t steps) override;

 private:
  const Lifecycle& lifecycle_;
  const WorkSignal& work_;
};

}  // namespace varve
