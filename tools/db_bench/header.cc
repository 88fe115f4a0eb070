// SPDX-License-Identifier: Apache-2.0
#include "tools/db_bench/header.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

#include "varve/version.h"

#include "tools/db_bench/flags.h"
#include "tools/db_bench/options_from_flags.h"
#include "tools/db_bench/values.h"

namespace varve::bench {

namespace {

// Returns the text after the colon of a line of /proc/cpuinfo.
std::string AfterColon(const std::string& line) {
  const size_t colon = line.find(':');
  const size_t start =
      colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
  return start == std::string::npos ? "" : line.substr(start);
}

void PrintProcessor() {
  std::ifstream info("/proc/cpuinfo");
  std::string model;
  std::string cache;
  int count = 0;
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("processor")) ++count;
    if (line.starts_with("model name")) model = AfterColon(line);
    if (line.starts_with("cache size")) cache = AfterColon(line);
  }
  if (count == 0) return;
  std::fprintf(stderr, "CPU:        %d * %s\n", count, model.c_str());
  if (!cache.empty()) std::fprintf(stderr, "CPUCache:   %s\n", cache.c_str());
}

}  // namespace

void PrintHeader(const Options& options) {
  const auto mean = static_cast<double>(MeanValue());
  const auto num = static_cast<double>(FLAGS_num);
  const double key = FLAGS_key_size;
  const double compressed = mean * FLAGS_compression_ratio;
  std::printf("Keys:       %d bytes each (+ %d bytes user-defined timestamp)\n", FLAGS_key_size,
              FLAGS_user_timestamp_size);
  std::printf("Values:     %.0f bytes each (%.0f bytes after compression)\n", mean, compressed);
  std::printf("Entries:    %lld\n", static_cast<long long>(FLAGS_num));
  std::printf("Prefix:    %d bytes\n", FLAGS_prefix_size);
  std::printf("Keys per prefix:    %lld\n", static_cast<long long>(FLAGS_keys_per_prefix));
  std::printf("RawSize:    %.1f MB (estimated)\n", (key + mean) * num / 1048576.0);
  std::printf("FileSize:   %.1f MB (estimated)\n", (key + compressed) * num / 1048576.0);
  std::printf("Write rate: %llu bytes/second\n",
              static_cast<unsigned long long>(FLAGS_benchmark_write_rate_limit));
  std::printf("Read rate: %llu ops/second\n",
              static_cast<unsigned long long>(FLAGS_benchmark_read_rate_limit));
  std::printf("Compression: %s\n", CompressionText(options.compression).c_str());
  std::printf("Compression sampling rate: %llu\n",
              static_cast<unsigned long long>(options.sample_for_compression));
  std::printf("Memtablerep: %s\n", options.memtable_factory->GetId().c_str());
  std::printf("Perf Level: %d\n", FLAGS_perf_level);
#ifndef NDEBUG
  std::printf("WARNING: Assertions are enabled; benchmarks unnecessarily slow\n");
#endif
  std::printf("------------------------------------------------\n");
  std::fflush(stdout);
}

void PrintEnvironment() {
  std::fprintf(stderr, "Varve:      version %s\n", GetVarveVersionAsString().c_str());
  const std::time_t now = std::time(nullptr);
  std::array<char, 40> date{};
  if (ctime_r(&now, date.data()) != nullptr) std::fprintf(stderr, "Date:       %s", date.data());
  PrintProcessor();
}

}  // namespace varve::bench
