// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures user timestamps of 8 bytes, beside keys that carry the same 8 bytes themselves. See
// two_libraries.h for how this becomes a program.
//
//   PROGRAM [--db=/tmp/timestamps] [--num=1000000] [--rounds=5]
//
// Each round fills a fresh database of either kind in a random order, without log, one write a call
// (keys of 16 bytes, values of 100), waits until nothing is left to compact, and reads as many keys
// at random: with timestamps as of the newest one, without by the key of the newest version. The
// block cache holds everything. us/op: median of the rounds; the ratio is that of the medians.

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "benchmarks/two_libraries.h"

namespace timestamp_bench {

using two_libraries::Check;
using two_libraries::Median;
using two_libraries::Now;

struct Arguments {
  std::string db = "/tmp/timestamps";
  uint64_t num = 1'000'000;
  int rounds = 5;
};

inline bool Parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const size_t equals = flag.find('=');
    if (equals == std::string::npos) return false;
    const std::string name = flag.substr(0, equals);
    const std::string value = flag.substr(equals + 1);
    if (name == "--db") {
      arguments->db = value;
    } else if (name == "--num") {
      arguments->num = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--rounds") {
      arguments->rounds = std::atoi(value.c_str());
    } else {
      return false;
    }
  }
  return arguments->rounds > 0 && arguments->num > 0;
}

// Holds a key and the 8 bytes that follow it in one of the two ways.
struct KeyWithTimestamp {
  static constexpr size_t kKeyBytes = 16;
  static constexpr size_t kStampBytes = 8;

  void Set(uint64_t number, uint64_t stamp) {
    std::memset(bytes, '0', kKeyBytes);
    for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (8 * (7 - i)));
    for (size_t i = 0; i < 8; ++i) bytes[kKeyBytes + i] = static_cast<char>(stamp >> (8 * i));
  }
  kv::Slice key() const { return {bytes, kKeyBytes}; }
  kv::Slice stamp() const { return {bytes + kKeyBytes, kStampBytes}; }
  kv::Slice joined() const { return {bytes, sizeof(bytes)}; }

  char bytes[kKeyBytes + kStampBytes] = {};
};

// Microseconds per operation.
struct Costs {
  double fill = 0;
  double read = 0;
};

// Owns a fresh database.
class TestDb {
 public:
  TestDb(const std::string& path, uint64_t num, bool stamped)
      : path_(path), stamped_(stamped), newest_(num) {
    options_.create_if_missing = true;
    options_.compression = kv::kNoCompression;
    if (stamped) options_.comparator = kv::BytewiseComparatorWithU64Ts();
    kv::BlockBasedTableOptions table;
    table.block_cache = kv::HyperClockCacheOptions(size_t{1} << 30, 0).MakeSharedCache();
    options_.table_factory.reset(kv::NewBlockBasedTableFactory(table));
    Check(kv::DestroyDB(path_, options_), "destroy");
    Check(kv::DB::Open(options_, path_, &db_), "open");
  }
  ~TestDb() {
    db_.reset();
    Check(kv::DestroyDB(path_, options_), "destroy");
  }
  TestDb(const TestDb&) = delete;
  TestDb& operator=(const TestDb&) = delete;

  Costs Run() {
    Costs costs;
    costs.fill = Fill();
    kv::WaitForCompactOptions wait;
    wait.flush = true;
    Check(db_->WaitForCompact(wait), "waiting for compactions");
    static_cast<void>(Read(302));  // warms the cache
    costs.read = Read(303);
    return costs;
  }

 private:
  double Fill() {
    kv::WriteOptions write;
    write.disableWAL = true;
    std::mt19937_64 random(301);
    std::string value(100, '\0');
    for (char& c : value) c = static_cast<char>(random());
    KeyWithTimestamp key;
    const double start = Now();
    for (uint64_t stamp = 1; stamp <= newest_.size(); ++stamp) {
      const uint64_t number = random() % newest_.size();
      key.Set(number, stamp);
      std::memcpy(value.data(), &stamp, sizeof(stamp));
      newest_[number] = stamp;
      Check(stamped_ ? db_->Put(write, key.key(), key.stamp(), value)
                     : db_->Put(write, key.joined(), value),
            "put");
    }
    return Micros(start);
  }

  double Read(uint64_t seed) {
    std::mt19937_64 random(seed);
    kv::ReadOptions options;
    kv::Slice as_of;
    KeyWithTimestamp key;
    kv::PinnableSlice value;
    kv::ColumnFamilyHandle* const family = db_->DefaultColumnFamily();
    const double start = Now();
    for (uint64_t i = 0; i < newest_.size(); ++i) {
      const uint64_t number = random() % newest_.size();
      key.Set(number, stamped_ ? newest_.size() : newest_[number]);
      as_of = key.stamp();
      if (stamped_) options.timestamp = &as_of;
      value.Reset();
      const kv::Status s = db_->Get(options, family, stamped_ ? key.key() : key.joined(), &value);
      if (s.IsNotFound() && newest_[number] == 0) continue;
      Check(s, "get");
      if (std::memcmp(value.data(), &newest_[number], sizeof(uint64_t)) != 0) {
        std::fprintf(stderr, "get: not the newest version\n");
        std::exit(1);
      }
    }
    return Micros(start);
  }

  // Returns the microseconds per operation since `start`.
  double Micros(double start) const {
    return (Now() - start) * 1e6 / static_cast<double>(newest_.size());
  }

  const std::string path_;
  const bool stamped_;
  std::vector<uint64_t> newest_;  // timestamp by number of the key; 0: none
  kv::Options options_;
  std::unique_ptr<kv::DB> db_;
};

inline void Report(const char* name, const std::vector<double>& stamped,
                   const std::vector<double>& joined) {
  std::printf("%-12s %8.3f us/op with timestamps, %8.3f us/op with longer keys, ratio %.3f\n", name,
              Median(stamped), Median(joined), Median(stamped) / Median(joined));
  std::fflush(stdout);
}

inline int Main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fprintf(stderr, "usage: %s [--db=DIR] [--num=N] [--rounds=N]\n", argv[0]);
    return 2;
  }
  std::vector<double> fills[2];
  std::vector<double> reads[2];
  for (int round = 0; round < arguments.rounds; ++round) {
    for (const bool stamped : {true, false}) {
      const Costs costs = TestDb(arguments.db, arguments.num, stamped).Run();
      fills[stamped ? 0 : 1].push_back(costs.fill);
      reads[stamped ? 0 : 1].push_back(costs.read);
    }
  }
  Report("fillrandom", fills[0], fills[1]);
  Report("readrandom", reads[0], reads[1]);
  return 0;
}

}  // namespace timestamp_bench
