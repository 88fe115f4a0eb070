// SPDX-License-Identifier: Apache-2.0

// Measures the kinds of block caches, LRUCache and HyperClockCache by name: point reads that
// all hit, and reads of which some are asked for much more often than others, over a cache that
// holds a tenth of the data. It uses the C API of the libraries it is given, one after the other in
// each round:
//
//   cache_kinds LIBRARY... [--dir=/dev/shm/cache-kinds] [--num=1000000] [--seconds=1] [--rounds=3]
//
// Keys of 16 bytes, values of 100, no compression. A line for each library, kind, share of the data
// in the cache and number of threads: thousands of reads a second, the median of all rounds, and
// how many of a hundred reads found their block in the cache.

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/c_library.h"

namespace {

using c_library::Library;
using c_library::Opaque;

constexpr size_t kValueBytes = 100;
constexpr size_t kEntryBytes = 16 + kValueBytes + 16;  // with what a block adds
constexpr int kThreads[] = {1, 2, 8};
// These are values of the C API's enums.
constexpr int kCountingLevel = 2;
constexpr int kBlockReadCount = 2;

struct Settings {
  std::vector<std::string> libraries;
  std::string directory = "/dev/shm/cache-kinds";
  uint64_t num = 1'000'000;
  double seconds = 1;
  int rounds = 3;
};

struct Case {
  const char* kind;
  bool all;  // is in the cache; else a tenth
  int threads;
};

struct Result {
  std::vector<double> rates;  // thousands a second
  uint64_t reads = 0;
  uint64_t from_file = 0;
};

std::string KeyOf(uint64_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(i));
  return key;
}

class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed * 2 + 1) {}
  // Returns a number in [0, 1).
  double Uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }
  // Returns a skewed number: each power of two of the keys is asked for as often as the next. Keys
  // that are neighbours by popularity lie far apart in key order.
  uint64_t Skewed(uint64_t n) {
    const auto rank = static_cast<uint64_t>(std::exp2(Uniform() * std::log2(double(n)))) - 1;
    return rank * 2654435761u % n;
  }

 private:
  uint64_t state_;
};

Opaque* NewOptions(const Library& library) {
  auto* const options = library.Call<Opaque*>("options_create");
  library.Call<void>("options_set_create_if_missing", options, static_cast<unsigned char>(1));
  library.Call<void>("options_set_compression", options, 0);
  return options;
}

void Fill(const Library& library, const std::string& directory, uint64_t num) {
  Opaque* const options = NewOptions(library);
  library.Checked<void>("destroy_db", options, directory.c_str());
  auto* const db = library.Checked<Opaque*>("open", options, directory.c_str());
  auto* const write = library.Call<Opaque*>("writeoptions_create");
  const std::string value(kValueBytes, 'v');
  for (uint64_t i = 0; i < num; i++) {
    const std::string key = KeyOf(i);
    library.Checked<void>("put", db, write, key.data(), key.size(), value.data(), value.size());
  }
  library.Call<void>("compact_range", db, nullptr, size_t{0}, nullptr, size_t{0});
  library.Call<void>("writeoptions_destroy", write);
  library.Call<void>("close", db);
  library.Call<void>("options_destroy", options);
}

// Reads until told to stop, and adds its counts to the shared ones.
void ReadSome(const Library& library, Opaque* db, const Case& run, uint64_t num, uint64_t seed,
              const std::atomic<bool>& stop, std::atomic<uint64_t>* reads,
              std::atomic<uint64_t>* from_file) {
  const auto get =
      library.Function<char*(Opaque*, Opaque*, const char*, size_t, size_t*, char**)>("get");
  const auto release = library.Function<void(void*)>("free");
  auto* const options = library.Call<Opaque*>("readoptions_create");
  library.Call<void>("set_perf_level", kCountingLevel);
  auto* const counters = library.Call<Opaque*>("perfcontext_create");
  library.Call<void>("perfcontext_reset", counters);
  Draw draw(seed);
  uint64_t done = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    const uint64_t i = run.all ? static_cast<uint64_t>(draw.Uniform() * static_cast<double>(num))
                               : draw.Skewed(num);
    const std::string key = KeyOf(i);
    size_t size = 0;
    char* error = nullptr;
    char* const value = get(db, options, key.data(), key.size(), &size, &error);
    if (error != nullptr || size != kValueBytes) c_library::Die("a read went wrong");
    release(value);
    done++;
  }
  reads->fetch_add(done);
  from_file->fetch_add(library.Call<uint64_t>("perfcontext_metric", counters, kBlockReadCount));
  library.Call<void>("perfcontext_destroy", counters);
  library.Call<void>("readoptions_destroy", options);
}

void Measure(const Library& library, const std::string& directory, const Settings& settings,
             const Case& run, Result* result) {
  const size_t all = static_cast<size_t>(settings.num) * kEntryBytes * 3 / 2;
  const size_t capacity = run.all ? all : all / 15;
  auto* const cache =
      std::strcmp(run.kind, "lru") == 0
          ? library.Call<Opaque*>("cache_create_lru", capacity)
          : library.Call<Opaque*>("cache_create_hyper_clock", capacity, size_t{4096});
  auto* const table = library.Call<Opaque*>("block_based_options_create");
  library.Call<void>("block_based_options_set_block_cache", table, cache);
  Opaque* const options = NewOptions(library);
  library.Call<void>("options_set_block_based_table_factory", options, table);
  auto* const db = library.Checked<Opaque*>("open", options, directory.c_str());
  // The first pass fills the cache.
  for (const bool counts : {false, true}) {
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> reads{0};
    std::atomic<uint64_t> from_file{0};
    std::vector<std::thread> threads;
    const auto start = std::chrono::steady_clock::now();
    for (int t = 0; t < run.threads; t++) {
      threads.emplace_back([&, t] {
        ReadSome(library, db, run, settings.num, static_cast<uint64_t>(2 * t + (counts ? 1 : 0)),
                 stop, &reads, &from_file);
      });
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(settings.seconds));
    stop = true;
    for (std::thread& thread : threads) thread.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (!counts) continue;
    result->rates.push_back(static_cast<double>(reads) / took.count() / 1000);
    result->reads += reads;
    result->from_file += from_file;
  }
  library.Call<void>("close", db);
  library.Call<void>("options_destroy", options);
  library.Call<void>("block_based_options_destroy", table);
  library.Call<void>("cache_destroy", cache);
}

Settings Parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    const auto value = [&](const char* name) {
      const std::string start = std::string("--") + name + "=";
      return argument.starts_with(start) ? argv[i] + start.size() : nullptr;
    };
    const char* text = nullptr;
    if (!argument.starts_with("--")) {
      settings.libraries.push_back(argument);
    } else if ((text = value("dir")) != nullptr) {
      settings.directory = text;
    } else if ((text = value("num")) != nullptr) {
      settings.num = std::strtoull(text, nullptr, 10);
    } else if ((text = value("seconds")) != nullptr) {
      settings.seconds = std::strtod(text, nullptr);
    } else if ((text = value("rounds")) != nullptr) {
      settings.rounds = std::atoi(text);
    } else {
      c_library::Die(("unknown argument " + argument).c_str());
    }
  }
  if (settings.libraries.empty()) c_library::Die("usage: cache_kinds LIBRARY...");
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = Parse(argc, argv);
  mkdir(settings.directory.c_str(), 0755);
  std::vector<Case> cases;
  for (const bool all : {true, false}) {
    for (const int threads : kThreads) {
      for (const char* kind : {"lru", "hyper-clock"}) cases.push_back({kind, all, threads});
    }
  }
  std::vector<std::vector<Result>> results(settings.libraries.size(),
                                           std::vector<Result>(cases.size()));
  const auto directory_of = [&](size_t i) { return settings.directory + "/" + std::to_string(i); };
  for (size_t i = 0; i < settings.libraries.size(); i++) {
    Fill(Library(settings.libraries[i]), directory_of(i), settings.num);
  }
  for (int round = 0; round < settings.rounds; round++) {
    for (size_t c = 0; c < cases.size(); c++) {
      for (size_t i = 0; i < settings.libraries.size(); i++) {
        Measure(Library(settings.libraries[i]), directory_of(i), settings, cases[c],
                &results[i][c]);
      }
    }
  }
  for (size_t c = 0; c < cases.size(); c++) {
    for (size_t i = 0; i < settings.libraries.size(); i++) {
      Result& result = results[i][c];
      std::sort(result.rates.begin(), result.rates.end());
      const double hits = 100 * (1 - static_cast<double>(result.from_file) /
                                         static_cast<double>(std::max<uint64_t>(result.reads, 1)));
      std::printf("%-12s %-6s threads %d  %8.0f k/s  %5.1f %% hits  %s\n", cases[c].kind,
                  cases[c].all ? "all" : "tenth", cases[c].threads,
                  result.rates[result.rates.size() / 2], hits, settings.libraries[i].c_str());
    }
  }
  return 0;
}
