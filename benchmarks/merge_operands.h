// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures reading merge operands: through an iterator that merges them, and one by one. See
// two_libraries.h for how this becomes a program.
//
//   PROGRAM [--db=/tmp/merge-operands] [--rounds=5] [--seconds=2] [--only=TEXT]
//
// Cases, of which --only takes those whose name contains its text:
//   scan-memtable/N, scan-cache/N  10,000 merges of 10 KB into as many random keys as give N
//                        operands to a key (with N = 1 a third of the keys gets none), read in
//                        order by an operator that hands out one of them; from the memtable, and
//                        from one table, not combined, in a warm block cache.
//                        us/op: of a key; median of the rounds
//   operands/NxB/T       GetMergeOperands on keys with N operands of B bytes in the memtable, by T
//                        threads. us/op: what each thread waits for a call; median of the rounds

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/two_libraries.h"

namespace merge_bench {

using two_libraries::Check;
using two_libraries::Median;
using two_libraries::Now;

struct Arguments {
  std::string db = "/tmp/merge-operands";
  int rounds = 5;
  double seconds = 2;  // time of each round that has no end of its own
  std::string only;
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
    } else if (name == "--rounds") {
      arguments->rounds = std::atoi(value.c_str());
    } else if (name == "--seconds") {
      arguments->seconds = std::atof(value.c_str());
    } else if (name == "--only") {
      arguments->only = value;
    } else {
      return false;
    }
  }
  return arguments->rounds > 0 && arguments->seconds > 0;
}

// Returns the largest value without a copy. Flushes combine nothing, so that tables have as many
// operands as memtables had.
class Largest final : public kv::MergeOperator {
 public:
  const char* Name() const override { return "merge_operands.Largest"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    // The search begins without a candidate, as comparing a value with itself would read all its
    // bytes.
    kv::Slice largest = in.existing_value != nullptr ? *in.existing_value : kv::Slice();
    for (const kv::Slice& operand : in.operand_list) {
      if (largest.compare(operand) < 0) largest = operand;
    }
    out->existing_operand = largest;
    return true;
  }
  bool PartialMergeMulti(const kv::Slice& /*key*/, const std::deque<kv::Slice>& /*operands*/,
                         std::string* /*new_value*/, kv::Logger* /*logger*/) const override {
    return false;
  }
};

// Returns a number as a key of 16 bytes that sorts as the number does.
inline std::string Key(uint64_t number) {
  std::string key(16, '0');
  for (size_t i = 0; i < 8; ++i) key[i] = static_cast<char>(number >> (8 * (7 - i)));
  return key;
}

// Owns a fresh database in one memtable.
class TestDb {
 public:
  explicit TestDb(const std::string& path) : path_(path) {
    options_.create_if_missing = true;
    options_.write_buffer_size = size_t{1} << 30;
    options_.disable_auto_compactions = true;
    options_.compression = kv::kNoCompression;
    options_.merge_operator = std::make_shared<Largest>();
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

  // Merges `count` operands of `bytes` each into keys below `keys`, in turn or at random.
  void Merge(uint64_t count, size_t bytes, uint64_t keys, bool at_random) {
    kv::WriteOptions write;
    write.disableWAL = true;
    std::mt19937_64 random(301);
    std::string operand(bytes, '\0');
    for (uint64_t i = 0; i < count; ++i) {
      for (size_t at = 0; at + 8 <= bytes; at += 8) {
        const uint64_t word = random();
        std::memcpy(&operand[at], &word, sizeof(word));
      }
      Check(db_->Merge(write, Key((at_random ? random() : i) % keys), operand), "merge");
    }
  }

  void Flush() { Check(db_->Flush(kv::FlushOptions()), "flush"); }
  kv::DB* db() const { return db_.get(); }

 private:
  const std::string path_;
  kv::Options options_;
  std::unique_ptr<kv::DB> db_;
};

inline void Report(const std::string& name, const std::vector<double>& micros, const char* note) {
  std::printf("%-24s %12.3f us/op  fastest %12.3f  %s\n", name.c_str(), Median(micros),
              *std::min_element(micros.begin(), micros.end()), note);
  std::fflush(stdout);
}

class Bench {
 public:
  explicit Bench(const Arguments& arguments) : arguments_(arguments) {}

  void Run() {
    for (const bool in_cache : {false, true}) {
      for (const uint64_t operands : {uint64_t{1}, uint64_t{10}}) Scans(operands, in_cache);
    }
    for (const int threads : {1, 32}) {
      Operands(16384, 8, 1, threads);
      Operands(16384, 256, 1, threads);
      Operands(16384, 2048, 1, threads);
      Operands(4096, 2048, 4, threads);
    }
  }

 private:
  static constexpr uint64_t kMerges = 10'000;
  static constexpr size_t kScannedBytes = 10'240;

  bool Wanted(const std::string& name) const {
    return name.find(arguments_.only) != std::string::npos;
  }

  void Scans(uint64_t operands, bool in_cache) {
    const std::string name =
        (in_cache ? "scan-cache/" : "scan-memtable/") + std::to_string(operands);
    if (!Wanted(name)) return;
    TestDb db(arguments_.db);
    db.Merge(kMerges, kScannedBytes, kMerges / operands, /*at_random=*/true);
    if (in_cache) db.Flush();
    uint64_t keys = 0;
    static_cast<void>(Scan(db.db(), &keys));  // warms the cache
    std::vector<double> micros;
    for (int round = 0; round < arguments_.rounds; ++round) {
      double passes = 0;
      double spent = 0;
      while (spent < arguments_.seconds) {
        spent += Scan(db.db(), &keys);
        ++passes;
      }
      micros.push_back(spent * 1e6 / (passes * static_cast<double>(keys)));
    }
    char note[64];
    std::snprintf(note, sizeof(note), "%.2f operands a key",
                  static_cast<double>(kMerges) / static_cast<double>(keys));
    Report(name, micros, note);
  }

  // Returns the seconds of a scan of everything.
  static double Scan(kv::DB* db, uint64_t* keys) {
    const double start = Now();
    uint64_t bytes = 0;
    *keys = 0;
    const std::unique_ptr<kv::Iterator> it(db->NewIterator(kv::ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      bytes += it->key().size() + it->value().size();
      ++*keys;
    }
    Check(it->status(), "scan");
    if (bytes != *keys * (16 + kScannedBytes)) {
      std::fprintf(stderr, "scan: wrong size of what was read\n");
      std::exit(1);
    }
    return Now() - start;
  }

  void Operands(uint64_t count, size_t bytes, uint64_t keys, int threads) {
    const std::string name = "operands/" + std::to_string(count) + "x" + std::to_string(bytes) +
                             "/" + std::to_string(threads);
    if (!Wanted(name)) return;
    TestDb db(arguments_.db);
    db.Merge(count * keys, bytes, keys, /*at_random=*/false);
    std::vector<double> micros;
    for (int round = 0; round < arguments_.rounds; ++round) {
      std::vector<double> waits(static_cast<size_t>(threads));
      std::vector<std::thread> running;
      for (size_t t = 0; t < waits.size(); ++t) {
        running.emplace_back([&, t] { waits[t] = ReadOperands(db.db(), t, count, bytes, keys); });
      }
      for (std::thread& thread : running) thread.join();
      double sum = 0;
      for (const double wait : waits) sum += wait;
      micros.push_back(sum / threads);
    }
    Report(name, micros, "");
  }

  // Returns the average microseconds of a call.
  double ReadOperands(kv::DB* db, uint64_t seed, uint64_t count, size_t bytes,
                      uint64_t keys) const {
    std::mt19937_64 random(seed);
    std::vector<kv::PinnableSlice> operands(count);
    kv::GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = static_cast<int>(count);
    double calls = 0;
    const double start = Now();
    double end = start;
    for (; end - start < arguments_.seconds; end = Now()) {
      int found = 0;
      Check(db->GetMergeOperands(kv::ReadOptions(), db->DefaultColumnFamily(), Key(random() % keys),
                                 operands.data(), &options, &found),
            "operands");
      uint64_t read = 0;
      for (kv::PinnableSlice& operand : operands) {
        read += operand.size();
        operand.Reset();
      }
      if (read != count * bytes || static_cast<uint64_t>(found) != count) {
        std::fprintf(stderr, "operands: wrong size of what was read\n");
        std::exit(1);
      }
      ++calls;
    }
    return (end - start) * 1e6 / calls;
  }

  const Arguments& arguments_;
};

inline int Main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fprintf(stderr, "usage: %s [--db=DIR] [--rounds=N] [--seconds=N] [--only=TEXT]\n",
                 argv[0]);
    return 2;
  }
  Bench(arguments).Run();
  return 0;
}

}  // namespace merge_bench
