// SPDX-License-Identifier: Apache-2.0

// Counters are never reset. A figure since some moment is the difference of two readings of the
// counters: the current one, and one from the opening, the last ResetStats, or the last text.

#include "db/observe/database_stats.h"

#include <cinttypes>

#include "db/engine/engine.h"
#include "db/observe/report_text.h"

namespace varve {

namespace {

DatabaseReading ReadNow(const Engine& e) VARVE_REQUIRES(kDbMutex) {
  DatabaseReading now;
  now.micros = e.context.MonotonicMicros();
  // Parts that do not exist yet during an opening count as zero.
  if (e.state.commit != nullptr) now.writes = e.state.commit->Totals();
  if (e.state.logs != nullptr) now.syncs = e.state.logs->sync_requests();
  now.stall_micros = e.stalls.WaitedMicros();
  return now;
}

// Returns the differences of two readings; `micros` is then a duration.
DatabaseReading Growth(const DatabaseReading& from, const DatabaseReading& to) {
  DatabaseReading growth;
  growth.micros = to.micros - from.micros;
  growth.writes.writes = to.writes.writes - from.writes.writes;
  growth.writes.keys = to.writes.keys - from.writes.keys;
  growth.writes.bytes = to.writes.bytes - from.writes.bytes;
  growth.writes.logged_writes = to.writes.logged_writes - from.writes.logged_writes;
  growth.writes.logged_bytes = to.writes.logged_bytes - from.writes.logged_bytes;
  growth.syncs = to.syncs - from.syncs;
  growth.stall_micros = to.stall_micros - from.stall_micros;
  return growth;
}

// Returns the growth since the last ResetStats, or since the opening.
DatabaseReading SinceBase(const Engine& e, const DatabaseReading& now) VARVE_REQUIRES(kDbMutex) {
  DatabaseReading base = e.statistics.base();
  if (base.micros == 0) base.micros = e.context.open_micros();
  return Growth(base, now);
}

// Returns the growth since the last text, or since the base if there was none.
DatabaseReading SinceLastText(const Engine& e, const DatabaseReading& now)
    VARVE_REQUIRES(kDbMutex) {
  const DatabaseReading& last = e.statistics.reported();
  return last.micros == 0 ? SinceBase(e, now) : Growth(last, now);
}

// Appends three lines, which begin with `period`, about the work of one period. The number of
// commit groups is that of writes, since this engine does not group writes.
void AppendWork(const char* period, const DatabaseReading& work, std::string* out) {
  const double seconds = Seconds(work.micros);
  const CommitTotals& writes = work.writes;
  AppendF(out,
          "%s writes: %s writes, %s keys, %s commit groups, %.1f writes per commit group, "
          "ingest: %.2f GB, %.2f MB/s\n",
          period, ShortCount(writes.writes).c_str(), ShortCount(writes.keys).c_str(),
          ShortCount(writes.writes).c_str(), writes.writes == 0 ? 0.0 : 1.0,
          Gibibytes(writes.bytes), Ratio(Mebibytes(writes.bytes), seconds));
  AppendF(out,
          "%s WAL: %s writes, %" PRIu64
          " syncs, %.2f writes per sync, written: %.2f GB, %.2f MB/s\n",
          period, ShortCount(writes.logged_writes).c_str(), work.syncs,
          Ratio(static_cast<double>(writes.logged_writes), static_cast<double>(work.syncs)),
          Gibibytes(writes.logged_bytes), Ratio(Mebibytes(writes.logged_bytes), seconds));
  // Programs parse this line: hours, minutes, and seconds with three decimals.
  const uint64_t stall_seconds = work.stall_micros / 1000000;
  AppendF(out, "%s stall: %02d:%02d:%06.3f H:M:S, %.1f percent\n", period,
          static_cast<int>(stall_seconds / 3600), static_cast<int>(stall_seconds / 60 % 60),
          static_cast<double>(work.stall_micros % 60000000) / 1e6,
          Ratio(100 * static_cast<double>(work.stall_micros), static_cast<double>(work.micros)));
}

void AppendStalls(const Engine& e, std::string* out) VARVE_REQUIRES(kDbMutex) {
  const StallTotals& totals = e.stalls.totals();
  AppendF(out, "Write Stall (count): write-buffer-manager-limit-stops: %" PRIu64 "\n",
          totals.memory_stalls);
  const std::string stall = e.stalls.Describe();
  AppendF(out, "Write stall now: %s\n", stall.empty() ? "none" : stall.c_str());
  AppendF(out,
          "Write stalls: %.3f s in all, %" PRIu64 " delayed and %" PRIu64
          " stopped writes; %.3f s and %" PRIu64 " writes for the write-buffer manager\n",
          Seconds(e.stalls.WaitedMicros()), totals.delayed_writes, totals.stopped_writes,
          Seconds(totals.memory_stall_micros), totals.memory_stalls);
}

}  // namespace

std::string DatabaseStatsText(Engine& e) {
  const DatabaseReading now = ReadNow(e);
  const DatabaseReading whole = SinceBase(e, now);
  const DatabaseReading interval = SinceLastText(e, now);
  std::string out = "\n** DB Stats **\n";
  AppendF(&out, "Uptime(secs): %.1f total, %.1f interval\n",
          Seconds(now.micros - e.context.open_micros()), Seconds(interval.micros));
  AppendWork("Cumulative", whole, &out);
  AppendWork("Interval", interval, &out);
  AppendF(&out, "Last sequence: %" PRIu64 "\n", e.state.versions->last_sequence());
  if (e.state.logs != nullptr) {
    AppendF(&out, "Logs: %zu files, %.1f MB, %.1f MB not synced\n", e.state.logs->List().size(),
            Mebibytes(e.state.logs->total_bytes()), Mebibytes(e.state.logs->unsynced_bytes()));
  }
  AppendStalls(e, &out);
  // There is one interval for all readers: a program that reads the text shortens the next interval
  // in the LOG.
  e.statistics.set_reported(now);
  return out;
}

std::map<std::string, std::string> DatabaseStatsMap(const Engine& e) {
  const DatabaseReading now = ReadNow(e);
  const DatabaseReading work = SinceBase(e, now);
  return {{"db.uptime", std::to_string(Seconds(now.micros - e.context.open_micros()))},
          {"db.user_write_stall_micros", std::to_string(work.stall_micros)},
          {"db.wal_bytes_written", std::to_string(work.writes.logged_bytes)},
          {"db.wal_syncs", std::to_string(work.syncs)},
          {"db.user_bytes_written", std::to_string(work.writes.bytes)},
          {"db.user_keys_written", std::to_string(work.writes.keys)},
          // Unlike in RocksDB's write groups, no writer commits the write of another one.
          {"db.user_writes_by_other", "0"},
          {"db.user_writes_by_self", std::to_string(work.writes.writes)},
          {"db.user_writes_with_wal", std::to_string(work.writes.logged_writes)}};
}

void ResetDatabaseStats(Engine& e) {
  e.stalls.ResetTotals();
  const DatabaseReading now = ReadNow(e);
  e.statistics.set_base(now);
  e.statistics.set_reported(now);
}

}  // namespace varve
