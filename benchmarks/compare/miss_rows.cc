// SPDX-License-Identifier: Apache-2.0

// Rows whose reads miss the block cache, by one to eight threads: miss/... with 100-byte values and
// a cache of 1 % and of 10 % of the data, miss-1kb/... with 1,000-byte values and a cache of 8 MiB
// and of 10 %. Files are in the page cache, so it is the engine that is measured, not a device.

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>

#include "benchmarks/compare/data_sets.h"
#include "benchmarks/compare/operations.h"
#include "benchmarks/compare/row.h"

namespace compare {
namespace {

constexpr size_t kFewMegabytes = size_t{8} << 20;

enum class Access { kGet, kMultiGet, kSeek };

struct Shape {
  Access access = Access::kGet;
  bool large = false;    // values
  uint64_t percent = 0;  // share of the data that the cache holds; 0: 8 MiB
  uint64_t threads = 1;
};

// Returns the number of operations of all threads together.
uint64_t OperationsOf(Access access, uint64_t n) {
  switch (access) {
    case Access::kGet:
      return n * 3 / 10;
    case Access::kMultiGet:
      return n * 3 / 10 / kKeysAtOnce;
    case Access::kSeek:
      break;
  }
  return n / 10;
}

Operation OperationOf(Access access, uint64_t keys) {
  switch (access) {
    case Access::kGet:
      return GetOf(keys);
    case Access::kMultiGet:
      return MultiGetOf(keys, 0);
    case Access::kSeek:
      break;
  }
  return SeekOf(keys);
}

void Miss(Run* run, const Shape& shape) {
  const uint64_t keys = shape.large ? LargeKeys(run->scale()) : run->scale().n;
  const uint64_t entry = kKeySize + (shape.large ? kLargeValueSize : kValueSize);
  Settings settings = run->settings();
  settings.cache_bytes =
      shape.percent == 0 ? kFewMegabytes : static_cast<size_t>(keys * entry * shape.percent / 100);
  run->engine().Open(run->path(), settings);
  const Operation operation = OperationOf(shape.access, keys);
  const uint64_t share =
      std::max<uint64_t>(OperationsOf(shape.access, run->scale().n) / shape.threads, 1);
  {
    // Fills the cache. Its keys are drawn by another seed than the measured ones.
    Digest ignored;
    Random warm_up(7);
    const std::unique_ptr<Session> session = run->engine().NewSession();
    for (uint64_t i = 0; i < share / 2; i++) operation(session.get(), &warm_up, &ignored);
  }
  std::atomic<uint64_t> done = 0;
  const double seconds =
      InThreads(run, static_cast<int>(shape.threads), Digest::Covers::kWhole,
                [&](int thread, Session* session, Digest* digest) {
                  Random random(run->scale().seed + static_cast<uint64_t>(thread));
                  uint64_t counted = 0;
                  for (uint64_t i = 0; i < share; i++) {
                    counted += operation(session, &random, digest);
                  }
                  done += counted;
                });
  run->ReportRate(static_cast<double>(done), seconds);
  run->Measured();
  run->engine().Close();
}

std::string NameOf(const Shape& shape) {
  const char* access = "get";
  if (shape.access == Access::kMultiGet) access = "multiget32";
  if (shape.access == Access::kSeek) access = "seek+10";
  const std::string cache = shape.percent == 0 ? "8mb" : std::to_string(shape.percent) + "%";
  return std::string(shape.large ? "miss-1kb/" : "miss/") + access + "/" + cache + "/t" +
         std::to_string(shape.threads);
}

}  // namespace

std::vector<Row> MissRows() {
  std::vector<Row> rows;
  const auto add = [&](const Shape& shape) {
    rows.push_back(
        {NameOf(shape), shape.large ? kLarge : kFull, {}, [=](Run* run) { Miss(run, shape); }});
  };
  for (const Access access : {Access::kGet, Access::kMultiGet, Access::kSeek}) {
    for (const uint64_t percent : {1, 10}) {
      for (const uint64_t threads : {1, 2, 4, 8}) add(Shape{access, false, percent, threads});
    }
  }
  for (const Access access : {Access::kGet, Access::kMultiGet}) {
    for (const uint64_t percent : {0, 10}) {
      for (const uint64_t threads : {1, 2, 4, 8}) add(Shape{access, true, percent, threads});
    }
  }
  return rows;
}

}  // namespace compare
