// SPDX-License-Identifier: Apache-2.0

// The figures form rows: one for each level that has tables or had work, then their sum, and in the
// text also the growth since the last text ("Int"). A row has the current state of a level (files,
// size, score) and the work done for it since the opening (LevelWork). Both the text and the map
// are made of these rows.
//
// Programs read figures of the text by line and column, and those of the map by RocksDB's names. So
// both are fixed: a new figure may only be added at the end of a row. Stalls have the names of two
// releases of RocksDB, as programs use either.
//
// The text ends an interval: it stores the sums in FamilyWork::reported, and the next text
// subtracts them. The map has sums only, and does not end an interval.

#include "db/observe/family_stats.h"

#include <algorithm>
#include <cinttypes>
#include <memory>
#include <utility>
#include <vector>

#include "db/column_family/column_family.h"
#include "db/compaction/plan.h"
#include "db/engine/engine.h"
#include "db/observe/blob_sums.h"
#include "db/observe/report_text.h"
#include "util/base/assert.h"
#include "util/metrics/histogram.h"

namespace varve {

namespace {

// The figures of one level, or of all together.
struct Row {
  std::string name;
  size_t files = 0;
  size_t files_in_compactions = 0;
  uint64_t bytes = 0;
  double score = 0;
  LevelWork work;
  uint64_t came_in = 0;  // bytes that were new to the level

  [[nodiscard]] double seconds() const { return Seconds(work.micros); }
  [[nodiscard]] uint64_t bytes_read() const {
    return work.bytes_read_above + work.bytes_read_at_level + work.blob_bytes_read;
  }
  [[nodiscard]] uint64_t bytes_written() const {
    return work.bytes_written + work.blob_bytes_written;
  }
  // Returns the bytes written for each new byte.
  [[nodiscard]] double write_amplification() const {
    return Ratio(static_cast<double>(bytes_written()), static_cast<double>(came_in));
  }
  // Returns MB per second of work.
  [[nodiscard]] double rate(uint64_t bytes_moved) const {
    return Ratio(Mebibytes(bytes_moved), seconds());
  }
  // Returns the growth of the level: the bytes of tables written less those of tables read at the
  // level. It may be negative.
  [[nodiscard]] double new_gibibytes() const {
    return Gibibytes(work.bytes_written) - Gibibytes(work.bytes_read_at_level);
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
  // Flushed bytes are new to L0, and bytes that compactions read from above are new to a deeper
  // level.
  row.came_in = level == 0 ? f.work.flush_bytes : row.work.bytes_read_above;
  return row;
}

// Returns a row for each level that has tables or had work, and then their sum.
std::vector<Row> RowsOf(const ColumnFamily& f) VARVE_REQUIRES(kDbMutex) {
  std::vector<Row> rows;
  Row sum;
  sum.name = "Sum";
  // For the family as a whole only flushed and ingested bytes are new, so its write amplification
  // counts every rewrite.
  sum.came_in = f.work.flush_bytes + f.work.ingested.bytes;
  for (int level = 0; level < f.current()->num_levels(); level++) {
    Row row = RowOf(f, level);
    // A level that had work is shown even if it is empty now, as its work is part of the sum.
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

// Adds the figures of a row by RocksDB's names.
void AddFigures(const Row& row, std::map<std::string, std::string>* values) {
  const LevelWork& work = row.work;
  const double count = static_cast<double>(work.count);
  const std::pair<const char*, double> figures[] = {
      {"NumFiles", static_cast<double>(row.files)},
      {"CompactedFiles", static_cast<double>(row.files_in_compactions)},
      {"SizeBytes", static_cast<double>(row.bytes)},
      {"Score", row.score},
      {"ReadGB", Gibibytes(row.bytes_read())},
      {"RnGB", Gibibytes(work.bytes_read_above)},
      {"Rnp1GB", Gibibytes(work.bytes_read_at_level)},
      {"WriteGB", Gibibytes(row.bytes_written())},
      {"WnewGB", row.new_gibibytes()},
      {"MovedGB", Gibibytes(work.bytes_moved)},
      {"WriteAmp", row.write_amplification()},
      {"ReadMBps", row.rate(row.bytes_read())},
      {"WriteMBps", row.rate(row.bytes_written())},
      {"CompSec", row.seconds()},
      {"CompMergeCPU", Seconds(work.cpu_micros)},
      {"CompCount", count},
      {"AvgSec", Ratio(row.seconds(), count)},
      {"KeyIn", static_cast<double>(work.entries_in)},
      {"KeyDrop", static_cast<double>(work.entries_dropped)},
      {"RblobGB", Gibibytes(work.blob_bytes_read)},
      {"WblobGB", Gibibytes(work.blob_bytes_written)},
  };
  for (const auto& [name, figure] : figures) {
    (*values)["compaction." + row.name + "." + name] = std::to_string(figure);
  }
}

// The stalls in the line "Stalls(count)" of the text, in its order: their keys from AddStalls, and
// their names in the text.
constexpr std::pair<const char*, const char*> kOldStallWords[] = {
    {"level0_slowdown", "level0_slowdown"},
    {"level0_slowdown_with_compaction", "level0_slowdown_with_compaction"},
    {"level0_numfiles", "level0_numfiles"},
    {"level0_numfiles_with_compaction", "level0_numfiles_with_compaction"},
    {"stop_for_pending_compaction_bytes", "stop for pending_compaction_bytes"},
    {"slowdown_for_pending_compaction_bytes", "slowdown for pending_compaction_bytes"},
    {"memtable_compaction", "memtable_compaction"},
    {"memtable_slowdown", "memtable_slowdown"}};

// Adds counts of stalls by the names of RocksDB 7.8.3; later versions use those of
// cf-write-stall-stats.
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

// Returns a row with the work since `before`, without figures of the current state.
Row IntervalOf(const Row& sum, const FamilyReading& before) {
  Row row;
  row.name = "Int";
  row.work = sum.work;
  row.work.Subtract(before.work);
  row.came_in = sum.came_in - before.flush_bytes - before.ingested.bytes;
  return row;
}

// Returns the table of levels. Programs find a figure by its column.
std::string TableOf(const ColumnFamily& f, const std::vector<Row>& rows) {
  std::string out;
  AppendF(&out, "\n** Compaction Stats [%s] **\n", f.name().c_str());
  constexpr char kHeading[] =
      "Level    Files       Size Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) "
      "W-Amp "
      "Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) "
      "Wblob(GB)\n";
  // The rule beneath the heading is as long as that, without its newline and terminating null.
  out += kHeading + std::string(sizeof(kHeading) - 2, '-') + "\n";
  for (const Row& row : rows) {
    const LevelWork& work = row.work;
    const std::string files =
        std::to_string(row.files) + "/" + std::to_string(row.files_in_compactions);
    AppendF(&out, "%4s %9s %10s %5.1f %8.1f %7.1f %8.1f %9.1f %8.1f %9.1f %5.1f ", row.name.c_str(),
            files.c_str(), SizeAndUnit(row.bytes).c_str(), row.score, Gibibytes(row.bytes_read()),
            Gibibytes(work.bytes_read_above), Gibibytes(work.bytes_read_at_level),
            Gibibytes(row.bytes_written()), row.new_gibibytes(), Gibibytes(work.bytes_moved),
            row.write_amplification());
    AppendF(&out, "%8.1f %8.1f %9.2f %17.2f %9" PRIu64 " %8.3f %5s %7s %9.1f %9.1f\n",
            row.rate(row.bytes_read()), row.rate(row.bytes_written()), row.seconds(),
            Seconds(work.cpu_micros), work.count,
            Ratio(row.seconds(), static_cast<double>(work.count)),
            ShortCount(work.entries_in).c_str(), ShortCount(work.entries_dropped).c_str(),
            Gibibytes(work.blob_bytes_read), Gibibytes(work.blob_bytes_written));
  }
  return out;
}

void AppendBlobFiles(const BlobFiles& files, std::string* out) {
  const BlobSums sums(files);
  AppendF(out,
          "\nBlob file count: %zu, total size: %.1f GB, garbage size: %.1f GB, space amp: %.1f\n",
          sums.files, Gibibytes(sums.bytes), Gibibytes(sums.garbage), sums.space_amplification());
}

// Appends the flushed and the ingested bytes.
void AppendFlushes(const FamilyWork& work, const FamilyReading& before, std::string* out) {
  const IngestedFiles& files = work.ingested;
  const IngestedFiles& old = before.ingested;
  AppendF(out, "Flush(GB): cumulative %.3f, interval %.3f\n", Gibibytes(work.flush_bytes),
          Gibibytes(work.flush_bytes - before.flush_bytes));
  AppendF(out, "AddFile(GB): cumulative %.3f, interval %.3f\n", Gibibytes(files.bytes),
          Gibibytes(files.bytes - old.bytes));
  const auto counts = [out](const char* what, uint64_t all, uint64_t interval) {
    AppendF(out, "AddFile(%s): cumulative %" PRIu64 ", interval %" PRIu64 "\n", what, all,
            interval);
  };
  counts("Total Files", files.files, files.files - old.files);
  counts("L0 Files", files.l0_files, files.l0_files - old.l0_files);
  counts("Keys", files.entries, files.entries - old.entries);
}

void AppendCompactions(const char* period, const Row& row, uint64_t micros, std::string* out) {
  AppendF(out,
          "%s compaction: %.2f GB write, %.2f MB/s write, %.2f GB read, %.2f MB/s read, %.1f "
          "seconds\n",
          period, Gibibytes(row.bytes_written()),
          Ratio(Mebibytes(row.bytes_written()), Seconds(micros)), Gibibytes(row.bytes_read()),
          Ratio(Mebibytes(row.bytes_read()), Seconds(micros)), row.seconds());
}

// Appends the counts by their current names, and the line of older releases, whose numbers programs
// find by their positions.
void AppendStalls(const StallCounts& counts, uint64_t before, std::string* out) {
  const std::map<std::string, std::string> by_name = counts.ToMap();
  std::string line;
  for (const auto& [name, count] : by_name) {
    line += line.empty() ? "Write Stall (count): " : ", ";
    line += name;
    line += ": ";
    line += count;
  }
  *out += line + "\n";
  std::map<std::string, std::string> values;
  AddStalls(counts, &values);
  line = "Stalls(count):";
  for (const auto& [name, words] : kOldStallWords) {
    line += " " + values[std::string("io_stalls.") + name] + " " + words + ",";
  }
  AppendF(&line, " interval %" PRIu64 " total count\n",
          counts.total_stops() + counts.total_delays() - before);
  *out += line;
}

}  // namespace

std::string FamilyStatsText(Engine& e, ColumnFamily& f) {
  const uint64_t now = e.context.MonotonicMicros();
  const uint64_t opened = e.context.open_micros();
  std::vector<Row> rows = RowsOf(f);
  const Row sum = rows.back();
  const FamilyReading before = f.work.reported;
  rows.push_back(IntervalOf(sum, before));
  std::string out = TableOf(f, rows);
  AppendBlobFiles(f.current()->blob_files(), &out);
  AppendF(&out, "\nUptime(secs): %.1f total, %.1f interval\n", Seconds(now - opened),
          Seconds(now - std::max(opened, before.micros)));
  AppendFlushes(f.work, before, &out);
  AppendCompactions("Cumulative", sum, now - opened, &out);
  AppendCompactions("Interval", rows.back(), now - std::max(opened, before.micros), &out);
  AppendStalls(f.stall_counts, before.stalls, &out);
  AppendF(&out, "Flushes: %" PRIu64 ", %.1f MB. Pending compaction: %.1f MB\n", f.work.flushes,
          Mebibytes(f.work.flush_bytes), Mebibytes(f.shape().pending_compaction_bytes));
  // The next interval begins here.
  f.work.reported = {.micros = now,
                     .work = sum.work,
                     .flush_bytes = f.work.flush_bytes,
                     .ingested = f.work.ingested,
                     .stalls = f.stall_counts.total_stops() + f.stall_counts.total_delays()};
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
