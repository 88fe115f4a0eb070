// SPDX-License-Identifier: Apache-2.0

// Measures a walk over many deletions: the first one, and the same walk again.
// It uses the C API of the library it is given, so that the same program measures this engine and
// any other with that API:
//
//   deleted_ranges LIBRARY SHAPE [--db=DIR] [--num=1000000] [--rounds=5]
//
// SHAPE says which of `num` keys of 16 bytes, with values of 100, are deleted and flushed, but not
// compacted away:
//
//   stretch   all but some at both ends
//   scattered 99 of 100
//   bare      as stretch, over keys that never were
//   memtable  as stretch, but not flushed
//
// Prints milliseconds of the first and the median of the later rounds for a scan, a scan backward
// and a seek into the middle.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/c_library.h"

namespace {

constexpr size_t kValueBytes = 100;
constexpr uint64_t kCacheBytes = uint64_t{1} << 30;
constexpr uint64_t kBufferBytes = uint64_t{1} << 29;  // all deletions in one memtable

struct Arguments {
  std::string library;
  std::string shape;
  std::string db = "/tmp/deleted-ranges";
  uint64_t num = 1'000'000;
  uint64_t rounds = 5;
};

bool Parse(int argc, char** argv, Arguments* arguments) {
  if (argc < 3 || argv[1][0] == '-') return false;
  arguments->library = argv[1];
  arguments->shape = argv[2];
  for (int i = 3; i < argc; i++) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (equals == std::string::npos) return false;
    const std::string name = argument.substr(0, equals);
    const std::string value = argument.substr(equals + 1);
    if (name == "--db") {
      arguments->db = value;
    } else if (name == "--num") {
      arguments->num = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--rounds") {
      arguments->rounds = std::strtoull(value.c_str(), nullptr, 10);
    } else {
      return false;
    }
  }
  const std::string& s = arguments->shape;
  return arguments->num >= 1000 && arguments->rounds > 0 &&
         (s == "stretch" || s == "scattered" || s == "bare" || s == "memtable");
}

using c_library::Die;
using c_library::Opaque;

// Holds one open database through the C API of one library.
class Database : private c_library::Library {
 public:
  explicit Database(const Arguments& arguments) : Library(arguments.library) {
    std::filesystem::remove_all(arguments.db);
    auto* const options = Call<Opaque*>("options_create");
    Call<void>("options_set_create_if_missing", options, static_cast<unsigned char>(1));
    Call<void>("options_set_compression", options, 0);
    Call<void>("options_set_write_buffer_size", options, size_t{kBufferBytes});
    Call<void>("options_set_disable_auto_compactions", options, 1);
    auto* const table = Call<Opaque*>("block_based_options_create");
    Call<void>("block_based_options_set_block_cache", table,
               Call<Opaque*>("cache_create_lru", size_t{kCacheBytes}));
    Call<void>("options_set_block_based_table_factory", options, table);
    db_ = Checked<Opaque*>("open", options, arguments.db.c_str());
    writes_ = Call<Opaque*>("writeoptions_create");
    Call<void>("writeoptions_disable_WAL", writes_, 1);
    reads_ = Call<Opaque*>("readoptions_create");
  }
  ~Database() { Call<void>("close", db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Put(const std::string& key, const std::string& value) {
    Checked<void>("put", db_, writes_, key.data(), key.size(), value.data(), value.size());
  }
  void Delete(const std::string& key) {
    Checked<void>("delete", db_, writes_, key.data(), key.size());
  }
  void Flush() { Checked<void>("flush", db_, Call<Opaque*>("flushoptions_create")); }
  void Compact() {
    const char* const none = nullptr;
    Call<void>("compact_range", db_, none, size_t{0}, none, size_t{0});
  }

  uint64_t Scan(const char* seek, const char* step) {
    auto* const valid = Function<unsigned char(Opaque*)>("iter_valid");
    auto* const move = Function<void(Opaque*)>(step);
    auto* const it = Call<Opaque*>("create_iterator", db_, reads_);
    uint64_t n = 0;
    for (Call<void>(seek, it); valid(it) != 0; move(it)) n++;
    Call<void>("iter_destroy", it);
    return n;
  }
  uint64_t SeekTo(const std::string& key) {
    auto* const it = Call<Opaque*>("create_iterator", db_, reads_);
    Call<void>("iter_seek", it, key.data(), key.size());
    const uint64_t n = Call<unsigned char>("iter_valid", it);
    Call<void>("iter_destroy", it);
    return n;
  }

 private:
  Opaque* db_ = nullptr;
  Opaque* writes_ = nullptr;
  Opaque* reads_ = nullptr;
};

std::string KeyOf(uint64_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(i));
  return key;
}

void Load(const Arguments& arguments, Database* db) {
  const uint64_t num = arguments.num;
  const uint64_t end = num / 200;  // so many live on at each end
  const auto inside = [&](uint64_t i) { return i >= end && i < num - end; };
  const bool bare = arguments.shape == "bare";
  const bool scattered = arguments.shape == "scattered";
  const std::string value(kValueBytes, 'v');
  for (uint64_t i = 0; i < num; i++) {
    if (!bare || !inside(i)) db->Put(KeyOf(i), value);
  }
  db->Flush();
  db->Compact();
  for (uint64_t i = 0; i < num; i++) {
    if (scattered ? i % 100 != 0 : inside(i)) db->Delete(KeyOf(i));
  }
  if (arguments.shape != "memtable") db->Flush();
}

template <typename Walk>
void Measure(const Arguments& arguments, const char* name, Walk walk) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  uint64_t keys = 0;
  for (uint64_t i = 0; i <= arguments.rounds; i++) {
    const Clock::time_point start = Clock::now();
    keys = walk();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  std::sort(times.begin() + 1, times.end());
  std::printf("%-10s first %10.3f ms, then %10.3f ms, %llu keys\n", name, times.front(),
              times[1 + (times.size() - 1) / 2], static_cast<unsigned long long>(keys));
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    Die("usage: deleted_ranges LIBRARY stretch|scattered|bare|memtable [--db=DIR] [--num=N] "
        "[--rounds=N]");
  }
  {
    Database db(arguments);
    Load(arguments, &db);
    Measure(arguments, "scan", [&] { return db.Scan("iter_seek_to_first", "iter_next"); });
    Measure(arguments, "backward", [&] { return db.Scan("iter_seek_to_last", "iter_prev"); });
    Measure(arguments, "seek", [&] { return db.SeekTo(KeyOf(arguments.num / 2 + 1)); });
  }
  std::filesystem::remove_all(arguments.db);
  return 0;
}
