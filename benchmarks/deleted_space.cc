// SPDX-License-Identifier: Apache-2.0

// Measures what deletions give back: space, and reads that need not skip dead entries. It uses the
// C API of the libraries it is given, so that the same program measures this engine and any other
// with that API, one after the other in each row:
//
//   deleted_space LIBRARY [PEER] [--db=DIR] [--row=PREFIX] [--gigabytes=1] [--families=5000]
//
//   all, tenth    250,000 keys of 200 bytes, deleted in random order, all or nine of ten; idle 5 s:
//                 bytes and entries left (static and dynamic levels)
//   snapshot      5,000 keys, a snapshot, two of three deleted (or overwritten), compacted,
//                 released; idle 5 s: entries left
//   seek          under one tombstone over 400,000 keys, reopened: milliseconds and block reads
//   trim          the head of a log cut off 40 times, first key each time: milliseconds
//   drop          DeleteRange over whole files; idle 5 s: bytes left, read and written
//   families      one more beside 5,000: milliseconds for it, for SetOptions (medians), for an open
//
// Prints for each row what each library reached, and the bar.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/c_library.h"

namespace {

using c_library::Die;
using c_library::Library;
using c_library::Opaque;

constexpr uint64_t kDeletedKeys = 250'000;
constexpr uint64_t kCoveredKeys = 400'000;
constexpr uint64_t kTrims = 40;
constexpr unsigned kIdleSeconds = 5;
constexpr int kBlockReadCount = 2;  // number in the C API's metrics
constexpr int kCountingLevel = 2;   // perf level: counts, no times

struct Arguments {
  std::vector<std::string> libraries;
  std::string db = "/tmp/deleted-space";
  std::string row;
  uint64_t gigabytes = 1;
  uint64_t families = 5000;
};

bool Parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    if (argument.starts_with("--") != (equals != std::string::npos)) return false;
    if (equals == std::string::npos) {
      arguments->libraries.push_back(argument);
      continue;
    }
    const std::string name = argument.substr(0, equals);
    const std::string value = argument.substr(equals + 1);
    if (name == "--db") {
      arguments->db = value;
    } else if (name == "--row") {
      arguments->row = value;
    } else if (name == "--gigabytes") {
      arguments->gigabytes = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--families") {
      arguments->families = std::strtoull(value.c_str(), nullptr, 10);
    } else {
      return false;
    }
  }
  return !arguments->libraries.empty() && arguments->libraries.size() <= 2;
}

std::string KeyOf(uint64_t i) {
  char key[24];
  std::snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(i));
  return key;
}

double Milliseconds(const std::function<void()>& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Shape {
  size_t write_buffer = size_t{4} << 20;
  bool dynamic_levels = true;
  bool compacts = true;  // by itself
};

// Holds one open database of one library.
class Database {
 public:
  Database(const Library& library, const std::string& path, const Shape& shape)
      : library_(library), path_(path), options_(library.Call<Opaque*>("options_create")) {
    std::filesystem::remove_all(path);
    const auto set = [&](const char* name, auto value) {
      library.Call<void>(name, options_, value);
    };
    set("options_set_create_if_missing", static_cast<unsigned char>(1));
    set("options_set_compression", 0);
    set("options_set_write_buffer_size", shape.write_buffer);
    set("options_set_level_compaction_dynamic_level_bytes",
        static_cast<unsigned char>(shape.dynamic_levels));
    set("options_set_disable_auto_compactions", shape.compacts ? 0 : 1);
    library.Call<void>("options_enable_statistics", options_);
    writes_ = library.Call<Opaque*>("writeoptions_create");
    reads_ = library.Call<Opaque*>("readoptions_create");
    flushes_ = library.Call<Opaque*>("flushoptions_create");
    Open();
  }
  ~Database() {
    library_.Call<void>("close", db_);
    library_.Call<void>("flushoptions_destroy", flushes_);
    library_.Call<void>("readoptions_destroy", reads_);
    library_.Call<void>("writeoptions_destroy", writes_);
    library_.Call<void>("options_destroy", options_);
    std::filesystem::remove_all(path_);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void Reopen() {
    library_.Call<void>("close", db_);
    Open();
  }
  void Put(const std::string& key, const std::string& value) {
    library_.Checked<void>("put", db_, writes_, key.data(), key.size(), value.data(), value.size());
  }
  void Delete(const std::string& key) {
    library_.Checked<void>("delete", db_, writes_, key.data(), key.size());
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    auto* const family = library_.Call<Opaque*>("get_default_column_family_handle", db_);
    library_.Checked<void>("delete_range_cf", db_, writes_, family, begin.data(), begin.size(),
                           end.data(), end.size());
    library_.Call<void>("column_family_handle_destroy", family);
  }
  void Flush() { library_.Checked<void>("flush", db_, flushes_); }
  void Compact() {
    const char* const none = nullptr;
    library_.Call<void>("compact_range", db_, none, size_t{0}, none, size_t{0});
  }
  Opaque* Snapshot() { return library_.Call<Opaque*>("create_snapshot", db_); }
  void Release(Opaque* snapshot) { library_.Call<void>("release_snapshot", db_, snapshot); }

  Opaque* NewIterator() { return library_.Call<Opaque*>("create_iterator", db_, reads_); }
  void EndIterator(Opaque* it) { library_.Call<void>("iter_destroy", it); }
  void Move(Opaque* it, const char* move) { library_.Call<void>(move, it); }
  void SeekTo(Opaque* it, const char* seek, const std::string& key) {
    library_.Call<void>(seek, it, key.data(), key.size());
  }

  uint64_t Number(const char* property) {
    char* const text = library_.Call<char*>("property_value", db_, property);
    if (text == nullptr) Die(property);
    const uint64_t number = std::strtoull(text, nullptr, 10);
    std::free(text);
    return number;
  }
  uint64_t Bytes() { return Number("rocksdb.live-sst-files-size"); }
  // Returns the number of entries in tables, deletions included.
  uint64_t Entries() {
    auto* const files = library_.Call<Opaque*>("livefiles", db_);
    const int count = library_.Call<int>("livefiles_count", files);
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) sum += library_.Call<uint64_t>("livefiles_entries", files, i);
    library_.Call<void>("livefiles_destroy", files);
    return sum;
  }
  uint64_t Ticker(const std::string& name) {
    char* const text = library_.Call<char*>("options_statistics_get_string", options_);
    if (text == nullptr) Die("no statistics");
    const std::string all = text;
    std::free(text);
    const size_t at = all.find(name + " COUNT : ");
    if (at == std::string::npos) Die(name.c_str());
    return std::strtoull(all.c_str() + at + name.size() + 9, nullptr, 10);
  }

  double AddFamily(const std::string& name) {
    return Milliseconds([&] {
      families_.push_back(library_.Checked<Opaque*>(
          "create_column_family", db_, static_cast<const Opaque*>(options_), name.c_str()));
    });
  }
  double SetOption(uint64_t value) {
    const std::string text = std::to_string(value);
    const char* const keys[] = {"max_sequential_skip_in_iterations"};
    const char* const values[] = {text.c_str()};
    return Milliseconds([&] {
      library_.Checked<void>("set_options_cf", db_, families_.back(), 1,
                             static_cast<const char* const*>(keys),
                             static_cast<const char* const*>(values));
    });
  }
  double ReopenFamilies(const std::vector<std::string>& names) {
    CloseFamilies();
    library_.Call<void>("close", db_);
    std::vector<const char*> texts;
    for (const std::string& name : names) texts.push_back(name.c_str());
    const std::vector<const Opaque*> options(names.size(), options_);
    families_.resize(names.size());
    return Milliseconds([&] {
      db_ = library_.Checked<Opaque*>("open_column_families", static_cast<const Opaque*>(options_),
                                      path_.c_str(), static_cast<int>(names.size()),
                                      static_cast<const char* const*>(texts.data()), options.data(),
                                      families_.data());
    });
  }
  void CloseFamilies() {
    for (Opaque* family : families_) library_.Call<void>("column_family_handle_destroy", family);
    families_.clear();
  }

  const Library& library() const { return library_; }

 private:
  void Open() { db_ = library_.Checked<Opaque*>("open", options_, path_.c_str()); }

  const Library& library_;
  const std::string path_;
  Opaque* const options_;
  Opaque* writes_ = nullptr;
  Opaque* reads_ = nullptr;
  Opaque* flushes_ = nullptr;
  Opaque* db_ = nullptr;
  std::vector<Opaque*> families_;
};

std::vector<uint64_t> Shuffled(uint64_t n, uint32_t seed) {
  std::vector<uint64_t> numbers(n);
  for (uint64_t i = 0; i < n; i++) numbers[i] = i;
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(seed));
  return numbers;
}

// --- The rows. Each returns its result as text.

std::string Deleted(const Library& library, const std::string& path, bool dynamic, bool all) {
  Shape shape;
  shape.dynamic_levels = dynamic;
  Database db(library, path, shape);
  const std::string value(200, 'v');
  for (const uint64_t i : Shuffled(kDeletedKeys, 1)) db.Put(KeyOf(i), value);
  for (const uint64_t i : Shuffled(kDeletedKeys, 2)) {
    if (all || i % 10 != 0) db.Delete(KeyOf(i));
  }
  db.Flush();
  sleep(kIdleSeconds);
  return std::to_string(db.Bytes()) + " bytes, " + std::to_string(db.Entries()) + " entries";
}

std::string SnapshotReleased(const Library& library, const std::string& path, bool overwrites) {
  Database db(library, path, Shape());
  const std::string value(1000, 'v');
  for (uint64_t i = 0; i < 5000; i++) db.Put(KeyOf(i), value);
  Opaque* const snapshot = db.Snapshot();
  for (uint64_t i = 0; i < 5000; i++) {
    if (i % 3 == 0) continue;
    overwrites ? db.Put(KeyOf(i), value) : db.Delete(KeyOf(i));
  }
  db.Compact();
  db.Release(snapshot);
  sleep(kIdleSeconds);
  return std::to_string(db.Entries()) + " entries";
}

std::string SeekCold(const Library& library, const std::string& path, const char* kind) {
  Shape shape;
  shape.compacts = false;
  Database db(library, path, shape);
  const std::string value(100, 'v');
  db.Put("!", value);
  for (uint64_t i = 0; i < kCoveredKeys; i++) db.Put(KeyOf(i), value);
  db.Put("~", value);
  db.Compact();
  db.DeleteRange(KeyOf(0), KeyOf(kCoveredKeys));
  db.Flush();
  db.Reopen();
  library.Call<void>("set_perf_level", kCountingLevel);
  auto* const counts = library.Call<Opaque*>("perfcontext_create");
  Opaque* const it = db.NewIterator();
  const std::string middle = KeyOf(kCoveredKeys / 2);
  const std::string what = kind;
  if (what == "first") db.Move(it, "iter_seek_to_first");
  library.Call<void>("perfcontext_reset", counts);
  const double time = Milliseconds([&] {
    if (what == "first") {
      db.Move(it, "iter_next");
    } else {
      db.SeekTo(it, what == "seek" ? "iter_seek" : "iter_seek_for_prev", middle);
    }
  });
  const auto reads = library.Call<uint64_t>("perfcontext_metric", counts, kBlockReadCount);
  library.Call<void>("perfcontext_destroy", counts);
  db.EndIterator(it);
  char text[80];
  std::snprintf(text, sizeof(text), "%.3f ms, %llu block reads", time,
                static_cast<unsigned long long>(reads));
  return text;
}

std::string Trim(const Library& library, const std::string& path, const char* kind) {
  const std::string what = kind;
  Shape shape;
  shape.write_buffer = size_t{256} << 20;
  shape.compacts = false;
  Database db(library, path, shape);
  const std::string value(100, 'v');
  for (uint64_t i = 0; i < kCoveredKeys; i++) db.Put(KeyOf(i), value);
  if (what != "memtable") {
    db.Flush();
    db.Compact();
  }
  double total = 0;
  const uint64_t step = kCoveredKeys / (kTrims + 1);
  for (uint64_t i = 0; i < kTrims; i++) {
    if (what == "beneath") {
      for (uint64_t j = 0; j < 100; j++) db.Put(KeyOf(kCoveredKeys + 100 * i + j), value);
    }
    db.DeleteRange(KeyOf(i * step), KeyOf((i + 1) * step));
    if (what == "flushed") db.Flush();
    total += Milliseconds([&] {
      Opaque* const it = db.NewIterator();
      db.Move(it, "iter_seek_to_first");
      db.EndIterator(it);
    });
  }
  char text[80];
  std::snprintf(text, sizeof(text), "%.1f ms", total);
  return text;
}

std::string Drop(const Library& library, const std::string& path, uint64_t gigabytes) {
  Shape shape;
  shape.write_buffer = size_t{64} << 20;
  Database db(library, path, shape);
  const std::string value(4000, 'v');
  const uint64_t keys = gigabytes * 250'000;
  for (uint64_t i = 0; i < keys; i++) db.Put(KeyOf(i), value);
  db.Compact();
  const uint64_t read = db.Ticker("rocksdb.compact.read.bytes");
  const uint64_t written = db.Ticker("rocksdb.compact.write.bytes");
  const uint64_t before = db.Bytes();
  db.DeleteRange(KeyOf(0), KeyOf(keys));
  db.Flush();
  sleep(kIdleSeconds);
  return std::to_string(db.Bytes()) + " of " + std::to_string(before) + " bytes left, read " +
         std::to_string(db.Ticker("rocksdb.compact.read.bytes") - read) + ", written " +
         std::to_string(db.Ticker("rocksdb.compact.write.bytes") - written);
}

std::string Families(const Library& library, const std::string& path, uint64_t families) {
  Database db(library, path, Shape());
  std::vector<std::string> names = {"default"};
  std::vector<double> creations;
  for (uint64_t i = 0; i < families; i++) {
    names.push_back("family" + std::to_string(i));
    creations.push_back(db.AddFamily(names.back()));
  }
  creations.erase(creations.begin(),
                  creations.end() - static_cast<ptrdiff_t>(std::min<size_t>(creations.size(), 20)));
  std::vector<double> settings;
  for (uint64_t i = 0; i < 20; i++) settings.push_back(db.SetOption(9 + i));
  const double open = db.ReopenFamilies(names);
  db.CloseFamilies();
  char text[120];
  std::snprintf(text, sizeof(text), "create %.2f ms, set %.2f ms, open %.0f ms", Median(creations),
                Median(settings), open);
  return text;
}

struct Row {
  const char* name;
  std::function<std::string(const Library&)> run;
  const char* bar;
};

std::vector<Row> Rows(const Arguments& arguments) {
  const std::string db = arguments.db;
  std::vector<Row> rows;
  for (const bool dynamic : {true, false}) {
    for (const bool all : {true, false}) {
      rows.push_back({all ? (dynamic ? "all/dynamic" : "all/static")
                          : (dynamic ? "tenth/dynamic" : "tenth/static"),
                      [=](const Library& l) { return Deleted(l, db, dynamic, all); },
                      all ? "the peer's bytes + 1 MB" : "the peer's entries"});
    }
  }
  for (const bool overwrites : {false, true}) {
    rows.push_back({overwrites ? "snapshot/overwritten" : "snapshot/deleted",
                    [=](const Library& l) { return SnapshotReleased(l, db, overwrites); },
                    "the peer's entries"});
  }
  for (const char* kind : {"seek", "seek_for_prev", "first"}) {
    rows.push_back({kind[0] == 'f'   ? "seek/first_and_next"
                    : kind[4] == '_' ? "seek/backward"
                                     : "seek/forward",
                    [=](const Library& l) { return SeekCold(l, db, kind); },
                    "1 ms, 4 block reads"});
  }
  for (const char* kind : {"flushed", "memtable", "beneath"}) {
    rows.push_back({kind[0] == 'f'   ? "trim/flushed"
                    : kind[0] == 'm' ? "trim/memtable"
                                     : "trim/beneath",
                    [=](const Library& l) { return Trim(l, db, kind); }, "the peer's time, 20 ms"});
  }
  const uint64_t gigabytes = arguments.gigabytes;
  const uint64_t families = arguments.families;
  rows.push_back({"drop", [=](const Library& l) { return Drop(l, db, gigabytes); },
                  "nothing left, 1 % read and written"});
  rows.push_back(
      {"families", [=](const Library& l) { return Families(l, db, families); }, "2 ms, 2 ms, 4 s"});
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) Die("see the head of deleted_space.cc for its arguments");
  std::vector<std::unique_ptr<Library>> libraries;
  for (const std::string& path : arguments.libraries) {
    libraries.push_back(std::make_unique<Library>(path));
  }
  for (const Row& row : Rows(arguments)) {
    if (!std::string(row.name).starts_with(arguments.row)) continue;
    std::printf("%-22s", row.name);
    for (const auto& library : libraries) std::printf(" %s |", row.run(*library).c_str());
    std::printf(" bar: %s\n", row.bar);
    std::fflush(stdout);
  }
  return 0;
}
