// SPDX-License-Identifier: Apache-2.0

// The command `why-slow` orders what costs a running process most by its metrics text: each cause
// with its figure, and the option that changes it.

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tools/varve/commands.h"
#include "tools/varve/metrics_reading.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

// Causes below this weight are not worth a line.
constexpr double kLeastWeight = 0.02;

struct Cause {
  // About the share of time that it costs, in [0, 1]. Where only a share of work is known, half of
  // that: work is not all of the time. Causes are ordered by it.
  double weight = 0;
  const char* name;
  std::string figure;
  const char* advice;
};

std::string Format(const char* form, double a, double b) {
  char text[160];
  std::snprintf(text, sizeof(text), form, a, b);
  return text;
}

double Share(double part, double whole) {
  return whole <= 0 ? 0 : std::clamp(part / whole, 0.0, 1.0);
}

// Looks for causes in one reading.
class Diagnosis {
 public:
  explicit Diagnosis(const MetricsReading& reading)
      : metrics_(reading), seconds_(reading.Sum("uptime_seconds")) {}

  std::vector<Cause> Causes() {
    LookAtErrors();
    LookAtStalls();
    LookAtSyncs();
    LookAtCache();
    LookAtFilters();
    LookAtSkips();
    LookAtHolders();
    std::erase_if(causes_, [](const Cause& cause) { return cause.weight < kLeastWeight; });
    std::ranges::stable_sort(causes_, std::greater<>(), &Cause::weight);
    return std::move(causes_);
  }

 private:
  // The weight 2 is above all shares, so that this comes first: nothing else matters while writes
  // are refused.
  void LookAtErrors() {
    if (metrics_.Sum("background_errors") > 0) {
      causes_.push_back(
          {2, "background errors",
           Format("%.0f in force, writes stopped: %.0f", metrics_.Sum("background_errors"),
                  metrics_.Sum("is_write_stopped")),
           "read the LOG and the property varve.background-error; free space or mend the "
           "disk, then call Resume()"});
    }
  }

  // Divides the time that writes were held back among the conditions by their counts.
  void LookAtStalls() {
    const double stalled = metrics_.Sum("write_stall_seconds_total");
    double all = 0;
    for (const char* condition :
         {"memtable-limit", "l0-file-count-limit", "pending-compaction-bytes"}) {
      all += Stalls(condition);
    }
    const auto add = [&](const char* condition, const char* name, const char* advice) {
      const double share = Share(Stalls(condition), all);
      causes_.push_back(
          {Share(stalled * share, seconds_), name,
           Format("writes were held back %.1f s, %.0f times", stalled * share, Stalls(condition)),
           advice});
    };
    add("memtable-limit", "writes wait for flushes",
        "raise write_buffer_size or max_write_buffer_number; give flushes threads "
        "(max_background_jobs)");
    add("l0-file-count-limit", "writes wait for compactions of level 0",
        "raise max_background_jobs and max_subcompactions, then level0_slowdown_writes_trigger; a "
        "larger write_buffer_size makes fewer tables");
    add("pending-compaction-bytes", "compactions lag behind writes",
        "raise max_background_jobs; cheaper compression on upper levels; more memory in "
        "write_buffer_size; then soft_pending_compaction_bytes_limit");
  }
  double Stalls(const char* condition) const {
    return metrics_.Sum("write_stalls_total",
                        std::string("condition=\"") + condition + "-stops\"") +
           metrics_.Sum("write_stalls_total",
                        std::string("condition=\"") + condition + "-delays\"");
  }

  void LookAtSyncs() {
    const double syncs = metrics_.Sum("wal_file_sync_seconds_count");
    const double time = metrics_.Sum("wal_file_sync_seconds_sum");
    causes_.push_back({Share(time, seconds_), "waiting for the log on disk",
                       Format("%.0f syncs of %.2f ms", syncs, syncs == 0 ? 0 : time * 1000 / syncs),
                       "write batches instead of single keys; sync less often "
                       "(WriteOptions::sync, SyncWAL); put wal_dir on a faster disk"});
  }

  // The time spent reading blocks is weighed by the share of misses: a cache that seldom misses
  // gains little by growing.
  void LookAtCache() {
    const double misses = metrics_.Sum("block_cache_data_miss_total");
    const double hits = metrics_.Sum("block_cache_data_hit_total");
    const double reading = metrics_.Sum("read_block_get_seconds_sum");
    causes_.push_back({Share(reading, seconds_) * Share(misses, misses + hits),
                       "blocks missing in the block cache",
                       Format("%.0f %% of data blocks missed, %.1f s spent reading",
                              100 * Share(misses, misses + hits), reading),
                       "raise the capacity of block_cache; pin or partition filters and indexes"});
  }

  // Without filters a read looks into a block of each table that may hold its key. One block a read
  // is what remains in the best case; the excess over it is the cost. A database whose filters were
  // ever asked has some. Fewer than 1000 reads tell nothing.
  void LookAtFilters() {
    const double reads = metrics_.Sum("keys_read_total") + metrics_.Sum("multiget_keys_read_total");
    const double asked = metrics_.Sum("bloom_filter_useful_total") +
                         metrics_.Sum("bloom_filter_full_positive_total");
    const double blocks =
        metrics_.Sum("block_cache_data_hit_total") + metrics_.Sum("block_cache_data_miss_total");
    if (reads < 1000 || asked > 0) return;
    const double each = blocks / reads;
    causes_.push_back({each < 1.5 ? 0 : Share(each - 1, each) / 2, "reads without filters",
                       Format("%.1f data blocks for each key read, over %.0f reads", each, reads),
                       "set filter_policy (NewBloomFilterPolicy or NewRibbonFilterPolicy), then "
                       "compact"});
  }

  // Counts the entries that iterators step over, because they are deleted or hidden, among all.
  void LookAtSkips() {
    const double skipped = metrics_.Sum("iter_skip_total");
    const double shown = metrics_.Sum("db_next_found_total") + metrics_.Sum("db_prev_found_total") +
                         metrics_.Sum("db_seek_found_total");
    if (skipped < 1000) return;
    causes_.push_back({Share(skipped, skipped + shown) / 2, "iterators pass over dead entries",
                       Format("%.0f passed over for %.0f shown", skipped, shown),
                       "compact the range; delete with DeleteRange; bound iterators "
                       "(iterate_upper_bound); release old snapshots"});
  }

  // Files and versions that are held cost space, and reads through more tables, of which no metric
  // gives the time: the weights are guesses that order these causes behind large shares.
  void LookAtHolders() {
    if (metrics_.Sum("file_deletions_enabled") == 0) {
      causes_.push_back({0.3, "deletions of files are disabled",
                         Format("%.1f MB of dead tables, %.0f versions", Dead(), Versions()),
                         "call EnableFileDeletions when the copy is done"});
    } else if (Versions() > 10) {
      causes_.push_back({0.1, "readers hold old tables",
                         Format("%.1f MB of dead tables, %.0f versions", Dead(), Versions()),
                         "close or refresh old iterators; the property varve.holders lists them"});
    }
  }
  double Versions() const { return metrics_.Sum("live_versions"); }
  double Dead() const { return metrics_.Sum("obsolete_tables_bytes") / 1e6; }

  const MetricsReading& metrics_;
  const double seconds_;
  std::vector<Cause> causes_;
};

}  // namespace

// With a target, an earlier text of the process, only what came after that counts.
Status RunWhySlow(const Request& request, Console* console) {
  MetricsReading reading;
  VARVE_RETURN_IF_ERROR(MetricsReading::Read(request.db, &reading));
  if (!request.target.empty()) {
    MetricsReading before;
    VARVE_RETURN_IF_ERROR(MetricsReading::Read(request.target, &before));
    reading = reading.Since(before);
  }
  const std::vector<Cause> causes = Diagnosis(reading).Causes();
  if (causes.empty() && !console->json) console->Line("nothing stands out");
  for (const Cause& cause : causes) {
    if (console->json) {
      Json line;
      line.BeginObject().Text("cause", cause.name).Text("figure", cause.figure);
      line.Text("advice", cause.advice).EndObject();
      console->Line(&line);
    } else {
      console->Line(std::string(cause.name) + ": " + cause.figure);
      console->Line(std::string("    ") + cause.advice);
    }
  }
  console->found = !causes.empty();
  return Status::OK();
}

}  // namespace varve::tool
