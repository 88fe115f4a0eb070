// SPDX-License-Identifier: Apache-2.0

// Rows of compaction styles other than by levels: universal/..., which count what overwriting,
// inserting and a merge of everything cost, and fifo/..., which keep tables of ascending keys. The
// row plain has tables of another format.
//
// Buffers, tables and cache grow with n, so that trees of all scales have the same shape: tables
// are as large as buffers, as they are by default.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/c_library.h"
#include "benchmarks/compare/footprint.h"
#include "benchmarks/compare/overwriting.h"
#include "benchmarks/compare/row.h"
#include "benchmarks/compare/watched_writer.h"

namespace compare {
namespace {

// With these bytes for each of n, n puts fill some 58 buffers, and the cache holds about half of
// n / 4 keys.
constexpr uint64_t kStyleBufferBytes = 2;
constexpr uint64_t kStyleCacheBytes = 16;
constexpr uint64_t kSmallestBuffer = 64 << 10;
constexpr uint64_t kFifoKeys = 100000;
constexpr size_t kAllCached = size_t{64} << 20;
constexpr auto kWriterPause = std::chrono::microseconds(100);  // so that it causes few flushes

Settings SettingsOf(const Run& run, Style style) {
  Settings settings = run.settings();
  settings.style = style;
  settings.write_buffer = std::max(run.scale().n * kStyleBufferBytes, kSmallestBuffer);
  if (style == Style::kUniversal) settings.table_bytes = settings.write_buffer;
  settings.cache_bytes = run.scale().n * kStyleCacheBytes;
  return settings;
}

// Returns the work that puts a quarter of n keys, and overwrites each three times on average.
Overwriting Overwrites(const Run& run) {
  return {.keys = std::max<uint64_t>(run.scale().n / 4, 1), .writes = run.scale().n};
}

// Returns the work that puts each of n keys once.
Overwriting Inserts(const Run& run, Order order) {
  return {.keys = run.scale().n, .writes = run.scale().n, .order = order};
}

// Merges everything beside a writer of one key, whose longest write is reported, and the space that
// the merge takes beyond that before it.
void FullMerge(Run* run) {
  run->engine().Open(run->path(), SettingsOf(*run, Style::kUniversal));
  const Overwriting work = Overwrites(*run);
  Overwrite(run, work);
  AwaitQuiet(&run->engine());
  const double at_rest = SpaceOf(run->path());
  SpaceWatch space(run->path());
  WatchedWriter writer(run, Scramble(work.keys), Durability::kNoLog, kWriterPause);
  run->engine().Compact();
  run->Report("longest write", Unit::kMicroseconds, writer.Stop() * 1e6);
  run->Report("temporary space", Unit::kMegabytes, std::max(space.Stop() - at_rest, 0.0));
  run->ReadBack();
  run->engine().Close();
}

// Opens a database that was written by levels as a universal one. Reports the time of that, and
// what is written until it is at rest again.
void SwitchStyle(Run* run) {
  run->engine().Open(run->path(), SettingsOf(*run, Style::kLevels));
  Overwrite(run, Overwrites(*run));
  run->engine().Compact();
  AwaitQuiet(&run->engine());
  run->engine().Close();
  const double before = WrittenByProcess();
  const double seconds =
      SecondsOf([&] { run->engine().Open(run->path(), SettingsOf(*run, Style::kUniversal)); });
  run->Report("opening", Unit::kMicroseconds, seconds * 1e6);
  AwaitQuiet(&run->engine());
  run->Report("written", Unit::kMegabytes, WrittenByProcess() - before);
  run->ReadBack();
  run->engine().Close();
}

// Puts n ascending keys.
void FifoPuts(Run* run) {
  run->engine().Open(run->path(), SettingsOf(*run, Style::kFifo));
  const uint64_t n = run->scale().n;
  const double before = WrittenByProcess();
  Values values(kValueSize);
  {
    const std::unique_ptr<Session> session = run->engine().NewSession();
    const double seconds = SecondsOf([&] {
      for (uint64_t i = 0; i < n; i++) {
        session->Put(Key(i).view(), values.Of(i), Durability::kNoLog);
      }
    });
    run->Report("puts", Unit::kPerSecond, static_cast<double>(n) / seconds);
  }
  AwaitQuiet(&run->engine());
  run->Report("written", Unit::kMegabytes, WrittenByProcess() - before);
  run->ReadBack();
  run->engine().Close();
}

// Makes `tables` tables of kFifoKeys ascending keys, and gets drawn ones, with all blocks in the
// cache: rows of this kind differ in the number of tables alone.
void FifoGets(Run* run, uint64_t tables) {
  Settings settings = SettingsOf(*run, Style::kFifo);
  settings.write_buffer = kAllCached;  // so that only the calls below flush
  settings.cache_bytes = kAllCached;
  run->engine().Open(run->path(), settings);
  const RocksDbHandles handles = run->engine().rocksdb();
  c_library::Opaque* const flush = handles.library->Call<c_library::Opaque*>("flushoptions_create");
  Values values(kValueSize);
  std::unique_ptr<Session> session = run->engine().NewSession();
  const uint64_t per_table = kFifoKeys / tables;
  for (uint64_t i = 0; i < kFifoKeys; i++) {
    session->Put(Key(i).view(), values.Of(i), Durability::kNoLog);
    if ((i + 1) % per_table == 0) {
      handles.library->Checked<void>("flush", handles.db, flush);
    }
  }
  Random random(run->scale().seed);
  const uint64_t gets = std::max<uint64_t>(run->scale().n / 4, 1);
  Digest digest(Digest::Covers::kWhole);
  for (uint64_t i = 0; i < kFifoKeys; i++) session->Get(Key(i).view(), &digest);
  const double seconds = SecondsOf([&] {
    for (uint64_t i = 0; i < gets; i++) session->Get(Key(random.Below(kFifoKeys)).view(), &digest);
  });
  run->ReportRate(static_cast<double>(gets), seconds);
  run->digest().Join(digest);
  run->Measured();
  session.reset();
  run->engine().Close();
}

// Opens a database of PlainTables, and gets drawn keys.
void PlainGets(Run* run) {
  Settings settings = run->settings();
  settings.plain_tables = true;
  run->engine().Open(run->path(), settings);
  const uint64_t keys = Overwrites(*run).keys;
  Overwrite(run, {.keys = keys, .writes = keys});
  run->engine().Compact();
  run->engine().Close();
  double seconds = SecondsOf([&] { run->engine().Open(run->path(), settings); });
  run->Report("opening", Unit::kMicroseconds, seconds * 1e6);
  Random random(run->scale().seed);
  Digest digest(Digest::Covers::kWhole);
  std::unique_ptr<Session> session = run->engine().NewSession();
  seconds = SecondsOf([&] {
    for (uint64_t i = 0; i < run->scale().n; i++) {
      session->Get(Key(Scramble(random.Below(keys))).view(), &digest);
    }
  });
  run->Report("gets", Unit::kPerSecond, static_cast<double>(run->scale().n) / seconds);
  run->digest().Join(digest);
  run->Measured();
  session.reset();
  run->engine().Close();
}

}  // namespace

std::vector<Row> StyleRows() {
  std::vector<Row> rows;
  const auto add = [&](std::string name, std::function<void(Run*)> run) {
    rows.push_back({std::move(name), "", {&Abilities::has_rocksdb_api}, std::move(run)});
  };
  const auto universal = [](Run* run, const Overwriting& work) {
    ReportOverwriting(run, SettingsOf(*run, Style::kUniversal), work);
  };
  add("universal/overwrite", [=](Run* run) { universal(run, Overwrites(*run)); });
  add("universal/insert", [=](Run* run) { universal(run, Inserts(*run, Order::kScattered)); });
  add("universal/insert-ascending",
      [=](Run* run) { universal(run, Inserts(*run, Order::kAscending)); });
  add("universal/full-merge", FullMerge);
  add("universal/switch-from-levels", SwitchStyle);
  add("fifo/put", FifoPuts);
  add("fifo/get-10-tables", [](Run* run) { FifoGets(run, 10); });
  add("fifo/get-1000-tables", [](Run* run) { FifoGets(run, 1000); });
  add("plain", PlainGets);
  return rows;
}

}  // namespace compare
