// SPDX-License-Identifier: Apache-2.0

// Rows of large values: large/... in the folder of all rows, which is mostly in memory, and
// large-disk/... on a disk. Each writes 1,280 bytes for each key of the usual data set.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/compare/row.h"

namespace compare {
namespace {

constexpr size_t kScannedCacheBytes = size_t{8} << 20;
constexpr uint64_t kBytesOfKey = 1280;
// An overwrite draws among so few keys that hardly anything reaches a table.
constexpr uint64_t kFewKeys = 3;

// Makes values of which only the first bytes are written anew each time, so that making them takes
// no time beside writing them.
class LargeValues {
 public:
  explicit LargeValues(size_t size) {
    Values values(std::max(size / 2, size_t{16}));
    for (size_t i = 0; i < texts_.size(); i++) {
      while (texts_[i].size() < size) texts_[i] += values.Of(i, texts_[i].size());
      texts_[i].resize(size);
    }
  }
  std::string_view Of(uint64_t stamp) {
    std::string& text = texts_[stamp % texts_.size()];
    std::memcpy(text.data(), &stamp, sizeof(stamp));
    return text;
  }

 private:
  std::array<std::string, 16> texts_;
};

uint64_t CountOf(const Run& run, size_t value_size) {
  return std::max<uint64_t>(run.scale().n * kBytesOfKey / value_size, kFewKeys);
}

// Puts as many values as the scale asks for, under keys in a scattered order or under few keys.
void Write(Run* run, size_t value_size, bool few_keys, Durability durability) {
  const uint64_t count = CountOf(*run, value_size);
  LargeValues values(value_size);
  const std::unique_ptr<Session> session = run->engine().NewSession();
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t number = few_keys ? i % kFewKeys : Scramble(i);
    session->Put(Key(number).view(), values.Of(i), durability);
  }
}

void MeasureWrites(Run* run, size_t value_size, bool few_keys, Durability durability) {
  run->engine().Open(run->path(), run->settings());
  const double seconds = SecondsOf([&] { Write(run, value_size, few_keys, durability); });
  run->ReportRate(static_cast<double>(CountOf(*run, value_size)), seconds);
  run->ReadBack();
  run->engine().Close();
}

// Reads everything twice through a cache that holds little of it.
void MeasureScan(Run* run, size_t value_size) {
  Settings settings = run->settings();
  settings.cache_bytes = kScannedCacheBytes;
  run->engine().Open(run->path(), settings);
  Write(run, value_size, /*few_keys=*/false, Durability::kLogged);
  run->engine().Compact();
  uint64_t entries = 0;
  Digest digest(Digest::Covers::kWhole);
  std::unique_ptr<Session> session = run->engine().NewSession();
  const double seconds = SecondsOf([&] {
    for (int i = 0; i < 2; i++) entries += session->Scan({}, UINT64_MAX, true, &digest);
  });
  session.reset();
  run->ReportRate(static_cast<double>(entries), seconds);
  run->digest().Join(digest);
  run->Measured();
  run->engine().Close();
}

}  // namespace

std::vector<Row> LargeRows() {
  std::vector<Row> rows;
  for (const bool on_disk : {false, true}) {
    const std::string place = on_disk ? "large-disk/" : "large/";
    for (const size_t kib : {1, 16, 128}) {
      const size_t bytes = kib << 10;
      const std::string size = "/" + std::to_string(kib) + "k";
      for (const bool few_keys : {false, true}) {
        for (const Durability durability : {Durability::kLogged, Durability::kNoLog}) {
          Row row;
          row.name = place + (few_keys ? "overwrite" : "put");
          if (durability == Durability::kNoLog) {
            row.name += "-nolog";
            row.needs.push_back(&Abilities::writes_without_log);
          }
          row.name += size;
          row.on_disk = on_disk;
          row.run = [=](Run* run) { MeasureWrites(run, bytes, few_keys, durability); };
          rows.push_back(std::move(row));
        }
      }
      Row scan{place + "scan" + size, "", {}, [=](Run* run) { MeasureScan(run, bytes); }};
      scan.on_disk = on_disk;
      rows.push_back(std::move(scan));
    }
  }
  return rows;
}

}  // namespace compare
