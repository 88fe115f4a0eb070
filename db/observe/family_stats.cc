// SPDX-License-Identifier: Apache-2.0
#include "db/observe/family_stats.h"

#include <cinttypes>
#include <memory>
#include <utility>
#include <vector>

#include "db/column_family/column_family.h"
#include "db/compaction/plan.h"
#include "db/engine/engine.h"
#include "db/observe/report_text.h"
#include "util/base/assert.h"
#include "util/metrics/histogram.h"

namespace varve {

namespace {

constexpr double kMebibyte = 1048576.0;
constexpr double kGibibyte = 1024 * kMebibyte;

double Ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

// A row for one level, or for all together.
struct Row {
  std::string name;
  size_t files = 0;
  size_t files_in_compactions = 0;
  uint64_t bytes = 0;
  double score = 0;
  LevelWork work;
  uint64_t came_in = 0;  // bytes that were not in the level before

  [[nodiscard]] double seconds() const { return static_cast<double>(work.micros) / 1e6; }
  [[nodiscard]] uint64_t bytes_read() const {
    return work.bytes_read_above + work.bytes_read_at_level;
  }
  // Returns the bytes written for each byte that came in.
  [[nodiscard]] double write_amplification() const {
    return Ratio(static_cast<double>(work.bytes_written), static_cast<double>(came_in));
  }
};

size_t FilesInCompactions(const ColumnFamily& f, int level) VARVE_REQUIRES(kDbMutex) {
  size_t files = 0;
  for (const CompactionPlan* plan : f.running_compactions) {
    for (const CompactionInputLevel& input : plan->inputs) {
      if (input.level == level) files += input.files.size();
    }
  }
  return files;
}

Row RowOf(const ColumnFamily& f, int level) VARVE_REQUIRES(kDbMutex) {
  const auto at = static_cast<size_t>(level);
  const LevelFiles& files = f.current()->level(level);
  const auto& scores = f.shape().scores;
  Row row;
  row.name = "L" + std::to_string(level);
  row.files = files.size();
  row.files_in_compactions = FilesInCompactions(f, level);
  row.bytes = files.bytes();
  row.score = at < scores.size() ? scores[at] : 0;
  if (at < f.work.levels.size()) row.work = f.work.levels[at];
  row.came_in = level == 0 ? f.work.flush_bytes : row.work.bytes_read_above;
  return row;
}

// Returns rows of the levels that have tables or work; then the sum.
std::vector<Row> RowsOf(const ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  std::vector<Row> rows;
  Row sum;
  sum.name = "Sum";
  sum.came_in = f.work.flush_bytes;
  for (int level = 0; level < f.current()->num_levels(); level++) {
    Row row = RowOf(f, level);
    if (row.files == 0 && row.work.count == 0) continue;
    sum.files += row.files;
    sum.files_in_compactions += row.files_in_compactions;
    sum.bytes += row.bytes;
    sum.work.Add(row.work);
    rows.push_back(std::move(row));
  }
  rows.push_back(std::move(sum));
  return rows;
}

void AddFigures(const Row& row, std::map<std::string, std::string>* values) {
  const LevelWork& work = row.work;
  const auto gibibytes = [](uint64_t bytes) { return static_cast<double>(bytes) / kGibibyte; };
  const auto per_second = [&row](uint64_t bytes) {
    return Ratio(static_cast<double>(bytes) / kMebibyte, row.seconds());
  };
  const double count = static_cast<double>(work.count);
  const double written_anew = gibibytes(work.bytes_written) - gibibytes(work.bytes_read_at_level);
  const std::pair<const char*, double> figures[] = {
      {"NumFiles", static_cast<double>(row.files)},
      {"CompactedFiles", static_cast<double>(row.files_in_compactions)},
      {"SizeBytes", static_cast<double>(row.bytes)},
      {"Score", row.score},
      {"ReadGB", gibibytes(row.bytes_read())},
      {"RnGB", gibibytes(work.bytes_read_above)},
      {"Rnp1GB", gibibytes(work.bytes_read_at_level)},
      {"WriteGB", gibibytes(work.bytes_written)},
      {"WnewGB", written_anew},
      {"MovedGB", gibibytes(work.bytes_moved)},
      {"WriteAmp", row.write_amplification()},
      {"ReadMBps", per_second(row.bytes_read())},
      {"WriteMBps", per_second(work.bytes_written)},
      {"CompSec", row.seconds()},
      {"CompMergeCPU", static_cast<double>(work.cpu_micros) / 1e6},
      {"CompCount", count},
      {"AvgSec", Ratio(row.seconds(), count)},
      {"KeyIn", static_cast<double>(work.entries_in)},
      {"KeyDrop", static_cast<double>(work.entries_dropped)},
      {"RblobGB", 0},
      {"WblobGB", 0},
  };
  for (const auto& [name, figure] : figures) {
    (*values)["compaction." + row.name + "." + name] = std::to_string(figure);
  }
}

// Uses the names of RocksDB 7.8.3; later versions have those of cf-write-stall-stats.
void AddStalls(const StallCounts& counts, std::map<std::string, std::string>* values) {
  constexpr auto kMemTables = static_cast<size_t>(WriteStallCause::kMemtableLimit);
  constexpr auto kLevelZero = static_cast<size_t>(WriteStallCause::kL0FileCountLimit);
  constexpr auto kPending = static_cast<size_t>(WriteStallCause::kPendingCompactionBytes);
  const std::pair<const char*, uint64_t> stalls[] = {
      {"level0_slowdown", counts.delays[kLevelZero]},
      {"level0_slowdown_with_compaction", counts.l0_delays_while_compacting},
      {"level0_numfiles", counts.stops[kLevelZero]},
      {"level0_numfiles_with_compaction", counts.l0_stops_while_compacting},
      {"stop_for_pending_compaction_bytes", counts.stops[kPending]},
      {"slowdown_for_pending_compaction_bytes", counts.delays[kPending]},
      {"memtable_compaction", counts.stops[kMemTables]},
      {"memtable_slowdown", counts.delays[kMemTables]},
      {"total_stop", counts.total_stops()},
      {"total_slowdown", counts.total_delays()},
  };
  for (const auto& [name, n] : stalls) {
    (*values)[std::string("io_stalls.") + name] = std::to_string(n);
  }
}

}  // namespace

std::string FamilyStatsText(Engine& /*e*/, ColumnFamily& f) {
  std::string out;
  AppendF(&out, "\n** Compaction Stats [%s] **\n", f.name().c_str());
  AppendF(&out, "%-6s %7s %10s %7s %10s %10s %10s %7s %10s %9s %12s %12s\n", "Level", "Files",
          "Size(MB)", "Score", "Read(MB)", "Write(MB)", "Moved(MB)", "W-Amp", "Comp(sec)",
          "Comp(cnt)", "KeyIn", "KeyDrop");
  const auto mebibytes = [](uint64_t bytes) { return static_cast<double>(bytes) / kMebibyte; };
  for (const Row& row : RowsOf(f)) {
    AppendF(&out,
            "%-6s %7zu %10.1f %7.2f %10.1f %10.1f %10.1f %7.1f %10.2f %9" PRIu64 " %12" PRIu64
            " %12" PRIu64 "\n",
            row.name.c_str(), row.files, mebibytes(row.bytes), row.score,
            mebibytes(row.bytes_read()), mebibytes(row.work.bytes_written),
            mebibytes(row.work.bytes_moved), row.write_amplification(), row.seconds(),
            row.work.count, row.work.entries_in, row.work.entries_dropped);
  }
  AppendF(&out, "Flushes: %" PRIu64 ", %.1f MB. Pending compaction: %.1f MB\n", f.work.flushes,
          mebibytes(f.work.flush_bytes), mebibytes(f.shape().pending_compaction_bytes));
  VARVE_ASSERT(f.shape().scores.size() <= static_cast<size_t>(f.current()->num_levels()));
  const StallCounts& counts = f.stall_counts;
  AppendF(&out, "Write stalls (count): %" PRIu64 " stops, %" PRIu64 " delays\n",
          counts.total_stops(), counts.total_delays());
  return out;
}

std::map<std::string, std::string> FamilyStatsMap(ColumnFamily& f) {
  const StallCounts& counts = f.stall_counts;
  std::map<std::string, std::string> values = counts.ToMap();
  AddStalls(counts, &values);
  for (const Row& row : RowsOf(f)) AddFigures(row, &values);
  return values;
}

std::string FileReadsText(const ColumnFamily& f) {
  std::string out;
  AppendF(&out, "\n** File Read Latency Histogram By Level [%s] **\n", f.name().c_str());
  const std::vector<std::shared_ptr<SharedHistogram>> levels = f.table_cache()->read_latencies();
  for (size_t level = 0; level < levels.size(); level++) {
    if (levels[level] == nullptr) continue;
    AppendF(&out, "** Level %zu read latency histogram (micros):\n", level);
    out += levels[level]->ToString() + "\n";
  }
  return out;
}

}  // namespace varve
