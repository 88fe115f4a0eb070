// SPDX-License-Identifier: Apache-2.0

// Measures an indexed write batch beside a plain one. It uses the C API of the library it is
// given, so that the same program measures this engine and any other with that API:
//
//   indexed_batch LIBRARY [--num=10000] [--rounds=9]
//
// Batches of `num` keys of 16 bytes, with values of 100. Prints nanoseconds an operation, medians
// of the rounds:
//
//   plain      puts into a plain batch
//   insert     the same into an indexed one, and a read at the end: whatever the index costs is in
//   alternate  each put followed by a read of its key
//   read       reads of all keys, in another order
//   missing    reads of keys that are not there
//   rollback   a save point, a put, a read and a rollback, on top of `num` keys: the average of 200
//              in a single round
//
// each but the last three with keys in random and in ascending order.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/c_library.h"

namespace {

constexpr size_t kKeyBytes = 16;
constexpr size_t kValueBytes = 100;
constexpr uint64_t kRollbacks = 200;

using c_library::Die;
using c_library::Opaque;

uint64_t Mix(uint64_t i) {
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ull;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebull;
  return i ^ (i >> 31);
}

std::string KeyOf(uint64_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "%016llx", static_cast<unsigned long long>(i));
  return std::string(key, kKeyBytes);
}

class Batches : private c_library::Library {
 public:
  explicit Batches(const std::string& library)
      : Library(library),
        plain_(Call<Opaque*>("writebatch_create")),
        indexed_(Call<Opaque*>("writebatch_wi_create", size_t{0}, static_cast<unsigned char>(1))),
        options_(Call<Opaque*>("options_create")) {}

  void ClearPlain() { Call<void>("writebatch_clear", plain_); }
  void ClearIndexed() { Call<void>("writebatch_wi_clear", indexed_); }
  void PutPlain(const std::string& key) {
    plain_put_(plain_, key.data(), key.size(), value_.data(), value_.size());
  }
  void PutIndexed(const std::string& key) {
    indexed_put_(indexed_, key.data(), key.size(), value_.data(), value_.size());
  }
  void Get(const std::string& key, bool is_there) {
    char* error = nullptr;
    size_t size = 0;
    char* const value = get_(indexed_, options_, key.data(), key.size(), &size, &error);
    if (error != nullptr) Die(error);
    if ((value != nullptr) != is_there) Die("a read was wrong");
    if (value != nullptr) free_(value);
  }
  void SetSavePoint() { set_save_point_(indexed_); }
  void RollBack() {
    char* error = nullptr;
    roll_back_(indexed_, &error);
    if (error != nullptr) Die(error);
  }

 private:
  using PutFunction = void(Opaque*, const char*, size_t, const char*, size_t);
  using GetFunction = char*(Opaque*, Opaque*, const char*, size_t, size_t*, char**);

  Opaque* const plain_;
  Opaque* const indexed_;
  Opaque* const options_;
  const std::string value_ = std::string(kValueBytes, 'v');
  PutFunction* const plain_put_ = Function<PutFunction>("writebatch_put");
  PutFunction* const indexed_put_ = Function<PutFunction>("writebatch_wi_put");
  GetFunction* const get_ = Function<GetFunction>("writebatch_wi_get_from_batch");
  void (*const free_)(void*) = Function<void(void*)>("free");
  void (*const set_save_point_)(Opaque*) = Function<void(Opaque*)>("writebatch_wi_set_save_point");
  void (*const roll_back_)(Opaque*, char**) =
      Function<void(Opaque*, char**)>("writebatch_wi_rollback_to_save_point");
};

// Returns nanoseconds per operation, for `operations` of them. `prepare` is not measured.
double Measure(uint64_t rounds, uint64_t operations, const std::function<void()>& prepare,
               const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (uint64_t i = 0; i < rounds; i++) {
    prepare();
    const Clock::time_point start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / static_cast<double>(operations);
}

void MeasureOrder(const char* order, const std::vector<std::string>& keys, uint64_t rounds,
                  Batches* batches) {
  const auto print = [&](const char* row, const std::function<void()>& prepare,
                         const std::function<void()>& run) {
    std::printf("%-10s %-10s %8.1f ns\n", row, order, Measure(rounds, keys.size(), prepare, run));
  };
  print(
      "plain", [&] { batches->ClearPlain(); },
      [&] {
        for (const std::string& key : keys) batches->PutPlain(key);
      });
  print(
      "insert", [&] { batches->ClearIndexed(); },
      [&] {
        for (const std::string& key : keys) batches->PutIndexed(key);
        batches->Get(keys[0], true);
      });
  print(
      "alternate", [&] { batches->ClearIndexed(); },
      [&] {
        for (const std::string& key : keys) {
          batches->PutIndexed(key);
          batches->Get(key, true);
        }
      });
}

// Measures reads of a batch that has the keys.
void MeasureReads(const std::vector<std::string>& keys, uint64_t rounds, Batches* batches) {
  const auto nothing = [] {};
  std::vector<std::string> mixed;
  std::vector<std::string> missing;
  for (uint64_t i = 0; i < keys.size(); i++) {
    mixed.push_back(keys[Mix(~i) % keys.size()]);
    missing.push_back(KeyOf(Mix(keys.size() + i)));
  }
  const double read = Measure(rounds, keys.size(), nothing, [&] {
    for (const std::string& key : mixed) batches->Get(key, true);
  });
  const double miss = Measure(rounds, keys.size(), nothing, [&] {
    for (const std::string& key : missing) batches->Get(key, false);
  });
  const double undo = Measure(1, kRollbacks, nothing, [&] {
    for (uint64_t i = 0; i < kRollbacks; i++) {
      batches->SetSavePoint();
      batches->PutIndexed(missing[i]);
      batches->Get(missing[i], true);
      batches->RollBack();
    }
  });
  std::printf("%-21s %8.1f ns\n%-21s %8.1f ns\n%-21s %8.1f ns\n", "read", read, "missing", miss,
              "rollback", undo);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t num = 10'000;
  uint64_t rounds = 9;
  bool usage = argc < 2;
  for (int i = 2; i < argc; i++) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const uint64_t number =
        equals == std::string::npos ? 0 : std::strtoull(argv[i] + equals + 1, nullptr, 10);
    if (argument.starts_with("--num=")) {
      num = number;
    } else if (argument.starts_with("--rounds=")) {
      rounds = number;
    } else {
      usage = true;
    }
  }
  if (usage || num < kRollbacks || rounds == 0) {
    Die("usage: indexed_batch LIBRARY [--num=N] [--rounds=N]");
  }
  std::vector<std::string> ascending;
  std::vector<std::string> random;
  for (uint64_t i = 0; i < num; i++) {
    ascending.push_back(KeyOf(i));
    random.push_back(KeyOf(Mix(i)));
  }
  Batches batches(argv[1]);
  MeasureOrder("ascending", ascending, rounds, &batches);
  MeasureOrder("random", random, rounds, &batches);
  MeasureReads(random, rounds, &batches);
  return 0;
}
