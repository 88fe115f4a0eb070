// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/footprint.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "benchmarks/c_library.h"

namespace compare {
namespace {

constexpr double kBytesPerMegabyte = 1e6;
constexpr auto kSpaceEvery = std::chrono::milliseconds(20);
// After so many looks that find no job, there will be none. What a library says of jobs that are
// only pending does not count: it may say so for ever.
constexpr int kQuietLooks = 25;
constexpr auto kLookEvery = std::chrono::milliseconds(20);

}  // namespace

double SpaceOf(const std::string& path) {
  uint64_t bytes = 0;
  std::error_code gone;  // files come and go meanwhile
  for (const auto& file : std::filesystem::directory_iterator(path, gone)) {
    const uint64_t size = file.file_size(gone);
    if (!gone) bytes += size;
  }
  return static_cast<double>(bytes) / kBytesPerMegabyte;
}

SpaceWatch::SpaceWatch(std::string path) : path_(std::move(path)), watcher_([this] { Watch(); }) {}

SpaceWatch::~SpaceWatch() {
  if (watcher_.joinable()) (void)Stop();
}

double SpaceWatch::Stop() {
  done_.store(true);
  watcher_.join();
  return most_;
}

void SpaceWatch::Watch() {
  while (!done_.load()) {
    most_ = std::max(most_, SpaceOf(path_));
    std::this_thread::sleep_for(kSpaceEvery);
  }
}

double WrittenByProcess() {
  std::ifstream counts("/proc/self/io");
  for (std::string name; counts >> name;) {
    double bytes = 0;
    counts >> bytes;
    if (name == "wchar:") return bytes / kBytesPerMegabyte;
  }
  return 0;
}

void AwaitQuiet(Engine* engine) {
  const RocksDbHandles handles = engine->rocksdb();
  const auto number = [&](const char* property) {
    uint64_t value = 0;
    handles.library->Call<int>("property_int", handles.db, property, &value);
    return value;
  };
  for (int quiet = 0; quiet < kQuietLooks; quiet++) {
    std::this_thread::sleep_for(kLookEvery);
    if (number("rocksdb.num-running-flushes") + number("rocksdb.num-running-compactions") +
            number("rocksdb.mem-table-flush-pending") !=
        0) {
      quiet = 0;
    }
  }
}

}  // namespace compare
