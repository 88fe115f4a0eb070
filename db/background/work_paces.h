// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decide how urgent a flush and a compaction are, and so how much they yield to other threads that
// need a processor (WorkPace, GiveWay). They yield as long as no caller waits for their result, or
// will soon.
//
// Thread safety: each object belongs to the thread of one job. It borrows its arguments.

#include <cstdint>
#include <memory>
#include <vector>

#include "db/engine/context.h"
#include "db/engine/lifecycle.h"
#include "db/engine/work_signal.h"
#include "memtable/memtable.h"
#include "util/sync/give_way.h"

namespace varve {

// A memtable that is written to while a flush runs, its size limit in bytes, and the number of
// memtables that can be filled before writes are stopped.
struct FillingMemTable {
  std::shared_ptr<const MemTable> mem;
  uint64_t write_buffer_bytes = 0;
  int room = 1;
};

// A flush must end before the memtables that replace the flushed ones are full. It aims to end when
// they are half full, so it may yield while its progress is ahead of that. Without writes it may
// always yield.
class FlushPace final : public WorkPace {
 public:
  // `filling` are the memtables that replace the flushed ones; `entries` is the number of entries
  // to flush.
  FlushPace(const DbContext& context, const Lifecycle& lifecycle, const WorkSignal& work,
            std::vector<FillingMemTable> filling, uint64_t entries)
      : WorkPace(context.clock()),
        env_(context.env()),
        lifecycle_(lifecycle),
        work_(work),
        filling_(std::move(filling)),
        entries_(entries) {}

  // Returns the urgency from the used share of the room in memtables and the done share of the
  // work, each from 0 to 1.
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

// A compaction is as urgent as the family nearest to a stall requires (CompactionUrgency), of any
// database, as databases share threads.
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
