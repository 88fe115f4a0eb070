// SPDX-License-Identifier: Apache-2.0

// Records of statistics are stored in a column family in RocksDB's format, so that RocksDB reads
// them:
//
//   0000000017#rocksdb.block.cache.miss -> 4   time in seconds with 10 digits, '#', ticker; growth
//   __persistent_stats_format_version__ -> 1   sorts after all digits, and so after all records
//
// The fixed number of digits makes the order of bytes that of time. A record consists of all
// entries with one time.

#include "db/api/stored_history.h"

#include <charconv>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "varve/statistics.h"

#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

constexpr int kFormVersion = 1;
// Keys of the version of the format, and of the oldest version whose readers understand it.
constexpr char kFormVersionKey[] = "__persistent_stats_format_version__";
constexpr char kReadableByKey[] = "__persistent_stats_compatible_version__";
constexpr size_t kTimeDigits = 10;
// The last time that has so many digits.
constexpr uint64_t kLastTime = 9'999'999'999;

// Returns the time as the ten digits with which keys begin.
std::string TimeOf(uint64_t seconds) {
  char digits[24];
  const int n = std::snprintf(digits, sizeof(digits), "%010llu",
                              static_cast<unsigned long long>(seconds));  // NOLINT(*-runtime-int)
  return std::string(digits, static_cast<size_t>(n));
}

bool ParseNumber(const Slice& text, uint64_t* number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && stop == end && !text.empty();
}

// Iterates over the records in [start, end), in seconds; `entries` iterates over the whole family.
class StoredRecords final : public StatsHistoryIterator {
 public:
  StoredRecords(std::unique_ptr<Iterator> entries, uint64_t start, uint64_t end)
      : entries_(std::move(entries)), end_(end) {
    if (start > kLastTime) return;  // No key has more digits.
    entries_->Seek(TimeOf(start));
    Show();
  }

  bool Valid() const override { return valid_; }
  Status status() const override { return status_.ok() ? entries_->status() : status_; }
  void Next() override {
    VARVE_ASSERT(Valid());
    Show();
  }
  uint64_t GetStatsTime() const override { return seconds_; }
  int GetFormatVersion() const override { return kFormVersion; }
  const std::map<std::string, uint64_t>& GetStatsMap() const override { return map_; }

 private:
  // Sets *seconds to the time of the current entry; returns false if it belongs to no record.
  bool Time(uint64_t* seconds) const {
    const Slice key = entries_->key();
    return key.size() > kTimeDigits && key[kTimeDigits] == '#' &&
           ParseNumber(Slice(key.data(), kTimeDigits), seconds);
  }
  // Collects the record that begins at the current entry.
  void Show() {
    // Each turn of the loop takes one ticker, until the time changes. The iterator then stands at
    // the first entry of the next record, where the next call begins.
    map_.clear();
    valid_ = entries_->Valid() && Time(&seconds_) && seconds_ < end_;
    uint64_t seconds = seconds_;
    for (; valid_ && entries_->Valid() && Time(&seconds) && seconds == seconds_; entries_->Next()) {
      const Slice name(entries_->key().data() + kTimeDigits + 1,
                       entries_->key().size() - kTimeDigits - 1);
      uint64_t growth = 0;
      if (!ParseNumber(entries_->value(), &growth)) {
        status_ = Status::Corruption("record of statistics: no number", entries_->key());
        valid_ = false;
      }
      map_[name.ToString()] = growth;
    }
    valid_ = valid_ && entries_->status().ok();
  }

  const std::unique_ptr<Iterator> entries_;
  const uint64_t end_;
  Status status_;
  bool valid_ = false;
  uint64_t seconds_ = 0;
  std::map<std::string, uint64_t> map_;
};

}  // namespace

Status AddStatisticsRecord(uint64_t seconds, const std::vector<uint64_t>& growth,
                           ColumnFamilyHandle* family, WriteBatch* batch) {
  // The versions are written with each record, as nothing else writes them into a new family.
  const std::string version = std::to_string(kFormVersion);
  VARVE_RETURN_IF_ERROR(batch->Put(family, kFormVersionKey, version));
  VARVE_RETURN_IF_ERROR(batch->Put(family, kReadableByKey, version));
  const std::string time = TimeOf(seconds) + "#";
  for (const auto& [ticker, name] : TickersNameMap) {
    if (ticker >= growth.size()) continue;
    VARVE_RETURN_IF_ERROR(batch->Put(family, time + name, std::to_string(growth[ticker])));
  }
  return Status::OK();
}

std::unique_ptr<StatsHistoryIterator> WalkStatisticsRecords(std::unique_ptr<Iterator> entries,
                                                            uint64_t start, uint64_t end) {
  return std::make_unique<StoredRecords>(std::move(entries), start, end);
}

}  // namespace varve
