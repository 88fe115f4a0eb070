// SPDX-License-Identifier: Apache-2.0
// Implements statistics and the perf context for the C API.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "varve/perf_level.h"
#include "varve/utilities/metrics.h"

#include "db/api/c/c_types.h"
#include "util/base/declared_names.h"
#include "util/metrics/perf_counters.h"

using varve::PerfContext;
using varve::PerfContextBase;
using varve::c::CopyText;
using varve::c::Make;
using varve::c::NullArgument;
using varve::c::RunOnDb;
using varve::c::Try;

namespace {

using Counter = uint64_t PerfContextBase::*;

// Returns the counters by their numbers in C; null for those that only RocksDB has. The names of
// the numbers are those of the fields after a prefix.
const std::array<Counter, rocksdb_total_metric_count>& Counters() {
  static const auto counters = [] {
    constexpr std::string_view kPrefix = "rocksdb_";
    constexpr auto& kNames = varve::kEnumeratorNames<decltype(rocksdb_blob_cache_read_byte),
                                                     rocksdb_blob_cache_read_byte + 1>;
    std::array<Counter, rocksdb_total_metric_count> found{};
    std::ranges::transform(kNames, found.begin(), [&](std::string_view name) {
      return varve::FindPerfCounter(name.substr(kPrefix.size()));
    });
    return found;
  }();
  return counters;
}

varve::Statistics* StatisticsOf(const rocksdb_options_t* options) {
  return options == nullptr ? nullptr : options->rep.statistics.get();
}

}  // namespace

void rocksdb_options_enable_statistics(rocksdb_options_t* options) {
  if (options == nullptr) return;
  varve::c::TryVoid([&] { options->rep.statistics = varve::CreateDBStatistics(); });
}

void rocksdb_options_set_statistics_level(rocksdb_options_t* options, int level) {
  varve::Statistics* statistics = StatisticsOf(options);
  if (statistics == nullptr || level < varve::kDisableAll || level > varve::kAll) return;
  statistics->set_stats_level(static_cast<varve::StatsLevel>(level));
}

int rocksdb_options_get_statistics_level(rocksdb_options_t* options) {
  const varve::Statistics* statistics = StatisticsOf(options);
  return statistics == nullptr ? varve::kDisableAll : statistics->get_stats_level();
}

char* rocksdb_options_statistics_get_string(rocksdb_options_t* options) {
  const varve::Statistics* statistics = StatisticsOf(options);
  if (statistics == nullptr) return nullptr;
  return Try([&] { return CopyText(statistics->ToString()); });
}

uint64_t rocksdb_options_statistics_get_ticker_count(rocksdb_options_t* options,
                                                     uint32_t ticker_type) {
  const varve::Statistics* statistics = StatisticsOf(options);
  if (statistics == nullptr || ticker_type >= varve::TICKER_ENUM_MAX) return 0;
  return statistics->getTickerCount(ticker_type);
}

void rocksdb_options_statistics_get_histogram_data(
    rocksdb_options_t* options, uint32_t histogram_type,
    rocksdb_statistics_histogram_data_t* const data) {
  if (data == nullptr) return;
  data->rep = varve::HistogramData();
  const varve::Statistics* statistics = StatisticsOf(options);
  if (statistics == nullptr || histogram_type >= varve::HISTOGRAM_ENUM_MAX) return;
  varve::c::TryVoid([&] { statistics->histogramData(histogram_type, &data->rep); });
}

void rocksdb_set_perf_level(int level) {
  // Levels come from C as numbers; one without a meaning changes nothing.
  if (level < varve::kUninitialized || level >= varve::kOutOfBounds) return;
  varve::SetPerfLevel(static_cast<varve::PerfLevel>(level));
}

rocksdb_perfcontext_t* rocksdb_perfcontext_create() {
  return Try([] { return new rocksdb_perfcontext_t{varve::get_perf_context()}; });
}

void rocksdb_perfcontext_reset(rocksdb_perfcontext_t* context) {
  if (context != nullptr) context->rep->Reset();
}

char* rocksdb_perfcontext_report(rocksdb_perfcontext_t* context,
                                 unsigned char exclude_zero_counters) {
  if (context == nullptr) return nullptr;
  return Try([&] { return CopyText(context->rep->ToString(exclude_zero_counters != 0)); });
}

uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t* context, int metric) {
  if (context == nullptr || metric < 0 || metric >= rocksdb_total_metric_count) return 0;
  const Counter counter = Counters()[static_cast<size_t>(metric)];
  return counter == nullptr ? 0 : context->rep->*counter;
}

namespace {

// Returns the metrics of the database as a malloc'ed text of this format; null after an error.
char* Metrics(rocksdb_t* db, varve::MetricsOptions::Format format, char** errptr,
              const char* call = __builtin_FUNCTION()) {
  char* copy = nullptr;
  const auto write = [&](varve::DB* each) {
    varve::MetricsOptions options;
    options.format = format;
    std::string text;
    varve::Status s = varve::WriteMetrics(each, options, &text);
    if (!s.ok()) return s;
    copy = CopyText(text);
    return copy == nullptr ? varve::Status::MemoryLimit() : s;
  };
  RunOnDb(db, errptr, write, call);
  return copy;
}

}  // namespace

char* rocksdb_metrics_text(rocksdb_t* db, char** errptr) {
  return Metrics(db, varve::MetricsOptions::Format::kPrometheus, errptr);
}

char* rocksdb_metrics_json(rocksdb_t* db, char** errptr) {
  return Metrics(db, varve::MetricsOptions::Format::kJson, errptr);
}

void rocksdb_metrics_dump(rocksdb_t* db, const char* path, char** errptr) {
  RunOnDb(db, errptr, [&](varve::DB* each) {
    if (path == nullptr) return NullArgument("path");
    return varve::DumpMetricsToFile(each, varve::MetricsOptions(), path);
  });
}
