// SPDX-License-Identifier: Apache-2.0

// Measures the phases of a transaction: its updates, Prepare, Commit. It uses the C API of the
// library it is given, so that the same program measures this engine and any other with that API:
//
//   transaction_phases LIBRARY [DIRECTORY]
//
// One thread, keys of 16 bytes in random order, values of 100, a log that is not synced. Prints
// microseconds, medians:
//
//   ten        2,000 transactions of ten puts, on top of 200,000 keys
//   prepared   the same under WRITE_PREPARED
//   large      nine transactions of 100,000 puts of 131,072 keys, with commit_bypass_memtable and
//              without Prepare
//
// and `empty`: the write of an empty batch to a database with locks.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/c_library.h"

namespace {

constexpr unsigned char kOn = 1;
constexpr uint64_t kKeys = 200'000;

using c_library::Die;
using c_library::Opaque;

// Returns the microseconds that `run` takes.
double Timed(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  run();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Shape {
  const char* name;
  int policy;  // 0: WRITE_COMMITTED, 1: WRITE_PREPARED
  uint64_t transactions;
  uint64_t puts;  // puts of each
  uint64_t filled;
  bool prepares;
  bool bypasses;
};

// Holds a filled transaction database, and runs one transaction after the other.
class Subject : private c_library::Library {
 public:
  Subject(const std::string& library, const std::string& directory, const Shape& shape)
      : Library(library), shape_(shape) {
    Opaque* const options = Call<Opaque*>("options_create");
    Call<void>("options_set_create_if_missing", options, kOn);
    Call<void>("options_set_compression", options, 0);
    Checked<void>("destroy_db", options, directory.c_str());
    Opaque* const of_db = Call<Opaque*>("transactiondb_options_create");
    Call<void>("transactiondb_options_set_write_policy", of_db, shape.policy);
    db_ = Checked<Opaque*>("transactiondb_open", options, of_db, directory.c_str());
    if (shape.bypasses) {
      Call<void>("transaction_options_set_commit_bypass_memtable", txn_options_, kOn);
    }
    for (uint64_t i = 0; i < shape.filled; i++) Put(nullptr, i);
  }

  void Run() {
    std::vector<double> puts;
    std::vector<double> prepares;
    std::vector<double> commits;
    uint64_t next = 1;
    for (uint64_t i = 0; i < shape_.transactions; i++) {
      Opaque* const txn = Call<Opaque*>("transaction_begin", db_, write_, txn_options_, nullptr);
      if (shape_.prepares) {
        const std::string name = "transaction " + std::to_string(i);
        Checked<void>("transaction_set_name", txn, name.data(), name.size());
      }
      puts.push_back(Timed([&] {
        for (uint64_t k = 0; k < shape_.puts; k++) Put(txn, Next(&next));
      }));
      if (shape_.prepares) {
        prepares.push_back(Timed([&] { Checked<void>("transaction_prepare", txn); }));
      }
      commits.push_back(Timed([&] { Checked<void>("transaction_commit", txn); }));
      Call<void>("transaction_destroy", txn);
    }
    std::printf("%-9s puts %10.1f  prepare %8.1f  commit %10.1f us\n", shape_.name, Median(puts),
                prepares.empty() ? 0.0 : Median(prepares), Median(commits));
  }

  void WriteNothing() {
    Opaque* const batch = Call<Opaque*>("writebatch_create");
    std::vector<double> writes;
    for (int i = 0; i < 20'000; i++) {
      writes.push_back(Timed([&] { Checked<void>("transactiondb_write", db_, write_, batch); }));
    }
    Call<void>("writebatch_destroy", batch);
    std::printf("%-9s write %9.2f us\n", "empty", Median(writes));
  }

  void Close() { Call<void>("transactiondb_close", db_); }

 private:
  // Returns the next number of a cycle through all numbers below the largest power of two that is
  // not above kKeys.
  static uint64_t Next(uint64_t* state) {
    constexpr uint64_t kCycle = 131'072;
    static_assert(kCycle <= kKeys);
    *state = (*state * 5 + 12'345) % kCycle;
    return *state;
  }

  // Puts without a transaction if `txn` is null.
  void Put(Opaque* txn, uint64_t number) {
    char key[24];
    const auto size = static_cast<size_t>(
        std::snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(number)));
    char* error = nullptr;
    if (txn == nullptr) {
      put_(db_, write_, key, size, value_.data(), value_.size(), &error);
    } else {
      txn_put_(txn, key, size, value_.data(), value_.size(), &error);
    }
    if (error != nullptr) Die(error);
  }

  using PutFunction = void(Opaque*, Opaque*, const char*, size_t, const char*, size_t, char**);
  using TxnPutFunction = void(Opaque*, const char*, size_t, const char*, size_t, char**);

  const Shape shape_;
  Opaque* const write_ = Call<Opaque*>("writeoptions_create");
  Opaque* const txn_options_ = Call<Opaque*>("transaction_options_create");
  Opaque* db_ = nullptr;
  const std::string value_ = std::string(100, 'v');
  PutFunction* const put_ = Function<PutFunction>("transactiondb_put");
  TxnPutFunction* const txn_put_ = Function<TxnPutFunction>("transaction_put");
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) Die("usage: transaction_phases LIBRARY [DIRECTORY]");
  const std::string directory = argc > 2 ? argv[2] : "/dev/shm/transaction_phases";
  const std::vector<Shape> shapes = {
      {"ten", 0, 2'000, 10, kKeys, true, false},
      {"prepared", 1, 2'000, 10, kKeys, true, false},
      {"large", 0, 9, 100'000, 0, false, true},
  };
  for (const Shape& shape : shapes) {
    Subject subject(argv[1], directory, shape);
    subject.Run();
    if (&shape == &shapes.front()) subject.WriteNothing();
    subject.Close();
  }
  return 0;
}
