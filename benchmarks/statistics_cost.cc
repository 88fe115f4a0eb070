// SPDX-License-Identifier: Apache-2.0

// Measures what statistics cost a read that hits the block cache: two databases with the same data
// in one process, one with statistics, the other without, read in turn. It uses the C API of the
// library it is given:
//
//   statistics_cost LIBRARY [DIRECTORY]
//
// One thread, 200,000 keys of 16 bytes, values of 100, no compression. Prints the median of the
// times with statistics over those without, over pairs of 100,000 reads whose first alternates, and
// where a tenth and nine tenths of the pairs are; after that the same of two databases without,
// which tells what the figure is worth.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/c_library.h"

namespace {

using c_library::Die;
using c_library::Library;
using c_library::Opaque;

constexpr uint64_t kKeys = 200'000;
constexpr int kReads = 100'000;
constexpr int kPairs = 60;
constexpr size_t kCacheBytes = size_t{256} << 20;

std::string KeyOf(uint64_t number) {
  char key[24];
  std::snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(number));
  return key;
}

// Holds a filled and compacted database whose blocks are all cached.
class Subject {
 public:
  Subject(const Library* library, std::string directory, bool statistics)
      : library_(library),
        directory_(std::move(directory)),
        options_(library->Call<Opaque*>("options_create")),
        read_(library->Call<Opaque*>("readoptions_create")),
        get_(library->Function<GetFunction>("get")),
        free_(library->Function<void(void*)>("free")) {
    library_->Checked<void>("destroy_db", options_, directory_.c_str());
    library_->Call<void>("options_set_create_if_missing", options_, static_cast<unsigned char>(1));
    library_->Call<void>("options_set_compression", options_, 0);
    if (statistics) library_->Call<void>("options_enable_statistics", options_);
    auto* const table = library_->Call<Opaque*>("block_based_options_create");
    auto* const cache = library_->Call<Opaque*>("cache_create_lru", kCacheBytes);
    library_->Call<void>("block_based_options_set_block_cache", table, cache);
    library_->Call<void>("options_set_block_based_table_factory", options_, table);
    db_ = library_->Checked<Opaque*>("open", options_, directory_.c_str());
    Fill();
    library_->Call<void>("compact_range", db_, nullptr, size_t{0}, nullptr, size_t{0});
    for (uint64_t i = 0; i < kKeys; i++) Get(i);
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  // Returns the nanoseconds of a read, on average over a fixed number of them, which are the same
  // at each call.
  double Read() {
    const auto start = std::chrono::steady_clock::now();
    uint64_t state = 1;
    for (int i = 0; i < kReads; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      Get((state >> 33) % kKeys);
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    return took.count() / kReads;
  }

  void CloseAndRemove() {
    library_->Call<void>("close", db_);
    library_->Checked<void>("destroy_db", options_, directory_.c_str());
  }

 private:
  using GetFunction = char*(Opaque*, Opaque*, const char*, size_t, size_t*, char**);

  void Fill() {
    auto* const write = library_->Call<Opaque*>("writeoptions_create");
    const std::string value(100, 'v');
    for (uint64_t i = 0; i < kKeys; i++) {
      const std::string key = KeyOf(i);
      library_->Checked<void>("put", db_, write, key.data(), key.size(), value.data(),
                              value.size());
    }
    library_->Call<void>("writeoptions_destroy", write);
  }
  void Get(uint64_t number) {
    const std::string key = KeyOf(number);
    size_t size = 0;
    char* error = nullptr;
    char* const value = get_(db_, read_, key.data(), key.size(), &size, &error);
    if (error != nullptr || value == nullptr || size != 100) Die("a read went wrong");
    free_(value);
  }

  const Library* const library_;
  const std::string directory_;
  Opaque* const options_;
  Opaque* const read_;
  GetFunction* const get_;
  void (*const free_)(void*);
  Opaque* db_ = nullptr;
};

void Compare(const Library& library, const std::string& directory, bool statistics) {
  Subject without(&library, directory + "-without", false);
  Subject with(&library, directory + "-with", statistics);
  std::vector<double> times;
  std::vector<double> ratios;
  for (int i = 0; i < kPairs; i++) {
    const bool with_first = i % 2 == 0;
    const double first = (with_first ? with : without).Read();
    const double second = (with_first ? without : with).Read();
    times.push_back(with_first ? second : first);
    ratios.push_back(with_first ? first / second : second / first);
  }
  std::sort(times.begin(), times.end());
  std::sort(ratios.begin(), ratios.end());
  std::printf("%-18s %.3f of the time without (%.3f to %.3f), which is %.0f ns a read\n",
              statistics ? "with statistics" : "without, again", ratios[kPairs / 2],
              ratios[kPairs / 10], ratios[kPairs - 1 - kPairs / 10], times[kPairs / 2]);
  std::fflush(stdout);
  with.CloseAndRemove();
  without.CloseAndRemove();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) Die("usage: statistics_cost LIBRARY [DIRECTORY]");
  const Library library(argv[1]);
  const std::string directory = argc > 2 ? argv[2] : "/dev/shm/statistics_cost";
  Compare(library, directory, true);
  Compare(library, directory, false);
  return 0;
}
