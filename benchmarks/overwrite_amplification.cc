// SPDX-License-Identifier: Apache-2.0

// Measures overwriting a loaded database: rate, bytes that flushes and compactions wrote for each
// byte of the user's, time stalled, peak memory. It uses the C API of the library it is given, so
// that the same program measures this engine and any other with that API:
//
//   overwrite_amplification LIBRARY [--db=DIR] [--num=20000000] [--overwrites=20000000]
//                           [--batch=1] [--jobs=2] [--compression=N]
//
// Loads `num` keys of 16 bytes with values of 100 in random order, overwrites at random, waits for
// compactions. Options are the library's defaults, unless a flag says otherwise.

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "benchmarks/c_library.h"

namespace {

constexpr size_t kValueBytes = 100;

struct Arguments {
  std::string library;
  std::string db = "/tmp/overwrite-amplification";
  uint64_t num = 20'000'000;
  uint64_t overwrites = 20'000'000;
  uint64_t batch = 1;
  uint64_t jobs = 2;
  int compression = -1;  // -1: the library's default
};

bool Parse(int argc, char** argv, Arguments* arguments) {
  if (argc < 2 || argv[1][0] == '-') return false;
  arguments->library = argv[1];
  for (int i = 2; i < argc; i++) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (equals == std::string::npos) return false;
    const std::string name = argument.substr(0, equals);
    const std::string value = argument.substr(equals + 1);
    const uint64_t number = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--db") {
      arguments->db = value;
    } else if (name == "--num" && number > 0) {
      arguments->num = number;
    } else if (name == "--overwrites") {
      arguments->overwrites = number;
    } else if (name == "--batch" && number > 0) {
      arguments->batch = number;
    } else if (name == "--jobs" && number > 0) {
      arguments->jobs = number;
    } else if (name == "--compression") {
      arguments->compression = static_cast<int>(number);
    } else {
      return false;
    }
  }
  return true;
}

using c_library::Die;
using c_library::Library;
using c_library::Opaque;

struct Figures {
  uint64_t user_bytes = 0;
  uint64_t flushed = 0;
  uint64_t compacted = 0;
  uint64_t stall_micros = 0;
};

class Database {
 public:
  Database(const Library& api, const Arguments& arguments)
      : api_(api),
        options_(api.Call<Opaque*>("options_create")),
        write_(api.Call<Opaque*>("writeoptions_create")),
        batch_(api.Call<Opaque*>("writebatch_create")) {
    api.Call<void>("options_set_create_if_missing", options_, static_cast<uint8_t>(1));
    api.Call<void>("options_set_max_background_jobs", options_, static_cast<int>(arguments.jobs));
    api.Call<void>("options_enable_statistics", options_);
    if (arguments.compression >= 0) {
      api.Call<void>("options_set_compression", options_, arguments.compression);
    }
    // Destroying may fail, as there may be no database.
    char* ignored = nullptr;
    api.Call<void>("destroy_db", options_, arguments.db.c_str(), &ignored);
    db_ = api.Checked<Opaque*>("open", options_, arguments.db.c_str());
    put_ = api.Function<void(Opaque*, const char*, size_t, const char*, size_t)>("writebatch_put");
    write_batch_ = api.Function<void(Opaque*, Opaque*, Opaque*, char**)>("write");
    clear_ = api.Function<void(Opaque*)>("writebatch_clear");
  }
  ~Database() {
    api_.Call<void>("close", db_);
    api_.Call<void>("writebatch_destroy", batch_);
    api_.Call<void>("writeoptions_destroy", write_);
    api_.Call<void>("options_destroy", options_);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Add(const char* key, const char* value) { put_(batch_, key, 16, value, kValueBytes); }
  void Commit() {
    char* error = nullptr;
    write_batch_(db_, write_, batch_, &error);
    if (error != nullptr) Die(error);
    clear_(batch_);
  }

  // Waits until no flush and no compaction runs or is pending, five looks in a row: between a flush
  // and the compaction that it causes there may be neither.
  void Settle() {
    for (int quiet = 0; quiet < 5;) {
      const bool busy = Number("rocksdb.num-running-compactions") != 0 ||
                        Number("rocksdb.num-running-flushes") != 0 ||
                        Number("rocksdb.compaction-pending") != 0 ||
                        Number("rocksdb.mem-table-flush-pending") != 0;
      quiet = busy ? 0 : quiet + 1;
      usleep(20'000);
    }
  }

  Figures Read() {
    char* const text = api_.Call<char*>("options_statistics_get_string", options_);
    if (text == nullptr) Die("no statistics");
    const std::string all = text;
    std::free(text);
    return {Ticker(all, "rocksdb.bytes.written"), Ticker(all, "rocksdb.flush.write.bytes"),
            Ticker(all, "rocksdb.compact.write.bytes"), Ticker(all, "rocksdb.stall.micros")};
  }

  uint64_t Number(const char* property) {
    char* const text = api_.Call<char*>("property_value", db_, property);
    if (text == nullptr) return 0;
    const uint64_t number = std::strtoull(text, nullptr, 10);
    std::free(text);
    return number;
  }

 private:
  // Returns COUNT of a line "name COUNT : number".
  static uint64_t Ticker(const std::string& all, const std::string& name) {
    const size_t at = all.find(name + " COUNT : ");
    if (at == std::string::npos) Die(("the statistics have no " + name).c_str());
    return std::strtoull(all.c_str() + at + name.size() + 9, nullptr, 10);
  }

  const Library& api_;
  Opaque* const options_;
  Opaque* const write_;
  Opaque* const batch_;
  Opaque* db_ = nullptr;
  // Functions that run millions of times and are therefore looked up once.
  void (*put_)(Opaque*, const char*, size_t, const char*, size_t) = nullptr;
  void (*write_batch_)(Opaque*, Opaque*, Opaque*, char**) = nullptr;
  void (*clear_)(Opaque*) = nullptr;
};

// Writes `count` keys below `num`, in a scattered order or at random. Returns seconds.
double Write(Database* database, const Arguments& arguments, uint64_t count, bool load) {
  std::mt19937_64 random(load ? 1 : 2);
  std::string pool(1 << 20, '\0');
  for (size_t i = 0; i < pool.size(); i++) {
    // Half of every value can be compressed away.
    pool[i] = i % kValueBytes < kValueBytes / 2 ? static_cast<char>(random()) : 'v';
  }
  const size_t windows = pool.size() / kValueBytes;
  // A prime step that does not divide `num` meets every number once.
  constexpr uint64_t kStep = 1'000'000'007;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t number = (load ? i * kStep : random()) % arguments.num;
    char key[24];
    std::snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(number));
    database->Add(key, pool.data() + random() % windows * kValueBytes);
    if ((i + 1) % arguments.batch == 0 || i + 1 == count) database->Commit();
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Report(const char* phase, const Figures& before, const Figures& after, uint64_t count,
            double seconds, double settled) {
  const auto mib = [](uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  const uint64_t user = after.user_bytes - before.user_bytes;
  const uint64_t flushed = after.flushed - before.flushed;
  const uint64_t compacted = after.compacted - before.compacted;
  const auto stalled = static_cast<double>(after.stall_micros - before.stall_micros);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-9s %9.0f keys/s (%.0f settled), flushed %.1f MiB, compacted %.1f MiB,", phase,
              static_cast<double>(count) / seconds,
              static_cast<double>(count) / (seconds + settled), mib(flushed), mib(compacted));
  std::printf(" write amplification %.2f, stalled %.3f s, peak RSS %.1f MiB\n",
              user == 0 ? 0 : static_cast<double>(flushed + compacted) / static_cast<double>(user),
              stalled / 1e6, static_cast<double>(usage.ru_maxrss) / 1024);
}

void Phase(Database* database, const Arguments& arguments, bool load) {
  const uint64_t count = load ? arguments.num : arguments.overwrites;
  const Figures before = database->Read();
  const double seconds = Write(database, arguments, count, load);
  const auto start = std::chrono::steady_clock::now();
  database->Settle();
  const std::chrono::duration<double> settled = std::chrono::steady_clock::now() - start;
  Report(load ? "load" : "overwrite", before, database->Read(), count, seconds, settled.count());
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    std::fprintf(stderr, "see the head of overwrite_amplification.cc for its arguments\n");
    return 1;
  }
  const Library api(arguments.library);
  Database database(api, arguments);
  Phase(&database, arguments, /*load=*/true);
  Phase(&database, arguments, /*load=*/false);
  std::printf("tables    %.1f MiB, level 0 has %llu\n",
              static_cast<double>(database.Number("rocksdb.total-sst-files-size")) / (1 << 20),
              static_cast<unsigned long long>(database.Number("rocksdb.num-files-at-level0")));
  return 0;
}
