// SPDX-License-Identifier: Apache-2.0

// The command `top` prints rates of a running process, once an interval, from the metrics text that
// the process writes again and again.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "tools/varve/commands.h"
#include "tools/varve/metrics_reading.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

constexpr char kHeading[] =
    "  seconds   writes/s    reads/s    steps/s  write MB/s  compact MB/s  stall %  cache hit %  "
    "L0\n";

double HitShare(const MetricsReading& growth) {
  const double hits = growth.Sum("block_cache_hit_total");
  const double all = hits + growth.Sum("block_cache_miss_total");
  return all == 0 ? 100 : 100 * hits / all;
}

void PrintRow(const MetricsReading& growth, double seconds, Console* console) {
  const double reads = growth.Sum("keys_read_total") + growth.Sum("multiget_keys_read_total");
  const double steps = growth.Sum("db_next_total") + growth.Sum("db_prev_total");
  char row[200];
  std::snprintf(row, sizeof(row), "%9.1f %10.0f %10.0f %10.0f %11.1f %13.1f %8.1f %12.1f %3.0f",
                seconds, growth.Sum("user_keys_written_total") / seconds, reads / seconds,
                steps / seconds, growth.Sum("user_written_bytes_total") / seconds / 1e6,
                growth.Sum("level_written_bytes_total") / seconds / 1e6,
                std::min(100.0, 100 * growth.Sum("write_stall_seconds_total") / seconds),
                HitShare(growth), growth.Sum("level_tables", "level=\"0\""));
  console->Line(row);
  console->out.Flush();
}

}  // namespace

// Prints a row for the growth since the text before. A text that was not written anew gives none.
Status RunTop(const Request& request, Console* console) {
  MetricsReading last;
  VARVE_RETURN_IF_ERROR(MetricsReading::Read(request.db, &last));
  console->out.Append(kHeading);
  console->out.Flush();
  for (uint64_t rows = 0; rows < request.limit;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(request.interval_ms));
    MetricsReading now;
    VARVE_RETURN_IF_ERROR(MetricsReading::Read(request.db, &now));
    const MetricsReading growth = now.Since(last);
    const double seconds = growth.Sum("uptime_seconds");
    if (seconds > 0 && now.Sum("uptime_seconds") != last.Sum("uptime_seconds")) {
      PrintRow(growth, seconds, console);
      rows++;
    }
    if (console->out.failed()) break;
    last = std::move(now);
  }
  return Status::OK();
}

}  // namespace varve::tool
