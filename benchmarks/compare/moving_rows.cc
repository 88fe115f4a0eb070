// SPDX-License-Identifier: Apache-2.0

// Rows about data that moves in whole files or as logs: ingested tables, checkpoints, backups, the
// log read as a stream, and a secondary instance that catches up. They use calls that only
// RocksDB's API has. A table of these rows holds 1,000 keys; times of one call are the median of
// five.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/c_library.h"
#include "benchmarks/compare/row.h"
#include "benchmarks/compare/watched_writer.h"

namespace compare {
namespace {

using c_library::Library;
using c_library::Opaque;

constexpr uint64_t kTableKeys = 1000;
constexpr int kTimes = 5;                         // calls of which the median counts
constexpr uint64_t kNoFlush = UINT64_MAX;         // a log's size from which on a checkpoint flushes
constexpr size_t kLargeBuffer = size_t{1} << 30;  // so that nothing is flushed by itself
constexpr int kZstd = 7;                          // RocksDB's number for it

uint64_t TablesOf(const Run& run) {
  return std::max<uint64_t>(run.scale().n / kTableKeys, 1);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void ReportMicros(Run* run, const std::string& name, double seconds) {
  run->Report(name, Unit::kMicroseconds, seconds * 1e6);
}

// Returns a path in the row's folder, which holds everything that a row makes.
std::string PlaceOf(const Run& run, const std::string& name) {
  return run.path() + "/" + name;
}

// Opens the row's database without automatic compactions, as a bulk load would.
void OpenQuiet(Run* run, size_t write_buffer) {
  Settings settings = run->settings();
  settings.compacts = false;
  settings.write_buffer = write_buffer;
  std::filesystem::create_directories(run->path());
  run->engine().Open(PlaceOf(*run, "db"), settings);
}

// ---- Tables in a database

// Puts as many drawn keys as the data set has.
void PutDrawn(Run* run, bool text) {
  const auto session = run->engine().NewSession();
  Values values(kValueSize);
  Random random(run->scale().seed);
  for (uint64_t i = 0; i < run->scale().n; i++) {
    const uint64_t number = random.Below(run->scale().n);
    const Key key = text ? Key::Text(number) : Key(number);
    session->Put(key.view(), values.Of(number, i + 1), Durability::kLogged);
  }
}

// Puts the keys of [from, to), in order.
void PutKeys(Run* run, uint64_t from, uint64_t to) {
  const auto session = run->engine().NewSession();
  Values values(kValueSize);
  for (uint64_t i = from; i < to; i++) {
    session->Put(Key(i).view(), values.Of(i), Durability::kLogged);
  }
}

// Puts kTableKeys keys for each table, and flushes them.
void MakeTables(Run* run, uint64_t tables) {
  const RocksDbHandles h = run->engine().rocksdb();
  Opaque* const flush = h.library->Call<Opaque*>("flushoptions_create");
  for (uint64_t t = 0; t < tables; t++) {
    PutKeys(run, t * kTableKeys, (t + 1) * kTableKeys);
    h.library->Checked<void>("flush", h.db, flush);
  }
}

// Closes the database, and opens and reads back the one in `folder` in its place.
void ReadBackFrom(Run* run, const std::string& folder) {
  run->Measured();
  run->engine().Close();
  Settings settings = run->settings();
  settings.compacts = false;
  run->engine().Open(folder, settings);
  run->ReadBack();
  run->engine().Close();
}

// ---- Files from outside

// Writes a file of `keys` keys, from number * keys on, beside the database. Returns its path.
std::string WriteTable(const Run& run, const RocksDbHandles& h, uint64_t number, uint64_t keys) {
  const std::string path = PlaceOf(run, "outside." + std::to_string(number));
  Opaque* const environment = h.library->Call<Opaque*>("envoptions_create");
  Opaque* const writer = h.library->Call<Opaque*>("sstfilewriter_create", environment, h.options);
  h.library->Checked<void>("sstfilewriter_open", writer, path.c_str());
  auto* const put =
      h.library->Function<void(Opaque*, const char*, size_t, const char*, size_t, char**)>(
          "sstfilewriter_put");
  Values values(kValueSize);
  char* error = nullptr;
  for (uint64_t i = number * keys; i < (number + 1) * keys; i++) {
    const Key key(i);
    const std::string_view value = values.Of(i);
    put(writer, key.view().data(), kKeySize, value.data(), value.size(), &error);
    if (error != nullptr) c_library::Die(error);
  }
  h.library->Checked<void>("sstfilewriter_finish", writer);
  h.library->Call<void>("sstfilewriter_destroy", writer);
  return path;
}

void Ingest(const RocksDbHandles& h, const std::vector<std::string>& paths) {
  Opaque* const options = h.library->Call<Opaque*>("ingestexternalfileoptions_create");
  h.library->Call<void>("ingestexternalfileoptions_set_move_files", options,
                        static_cast<unsigned char>(1));
  std::vector<const char*> names;
  for (const std::string& path : paths) names.push_back(path.c_str());
  h.library->Checked<void>("ingest_external_file", h.db,
                           static_cast<const char* const*>(names.data()), names.size(), options);
}

// Writes with zstd, by up to two threads, if `compresses`.
void WriteOutside(Run* run, bool compresses) {
  OpenQuiet(run, run->settings().write_buffer);
  const RocksDbHandles h = run->engine().rocksdb();
  if (compresses) {
    h.library->Call<void>("options_set_compression", h.options, int{kZstd});
    h.library->Call<void>("options_set_compression_options_parallel_threads", h.options, int{2});
  }
  std::string path;
  const double seconds = SecondsOf([&] { path = WriteTable(*run, h, 0, run->scale().n); });
  run->ReportRate(static_cast<double>(run->scale().n), seconds);
  Ingest(h, {path});
  run->ReadBack();
  run->engine().Close();
}

// Ingests `tables` files with disjoint keys, after `in_memory` of their keys were put. With a
// writer beside it, whose key lies behind all files, its longest write is reported instead of the
// time: a library that lets it write leaves less of the processor to the call.
void IngestTables(Run* run, uint64_t tables, uint64_t in_memory, bool beside_writer) {
  OpenQuiet(run, in_memory == 0 ? run->settings().write_buffer : kLargeBuffer);
  const RocksDbHandles h = run->engine().rocksdb();
  std::vector<std::string> paths;
  for (uint64_t t = 0; t < tables; t++) paths.push_back(WriteTable(*run, h, t, kTableKeys));
  PutKeys(run, 0, in_memory);
  std::optional<WatchedWriter> writer;
  if (beside_writer)
    writer.emplace(run, run->scale().n + 1, Durability::kLogged, std::chrono::microseconds(0));
  const double seconds = SecondsOf([&] { Ingest(h, paths); });
  if (writer.has_value()) {
    ReportMicros(run, "longest write", writer->Stop());
  } else {
    ReportMicros(run, "", seconds);
  }
  run->ReadBack();
  run->engine().Close();
}

// ---- Copies

// Makes checkpoints of a database of that many tables, with some keys in its log alone.
void Checkpoints(Run* run, uint64_t tables) {
  OpenQuiet(run, run->settings().write_buffer);
  MakeTables(run, tables);
  PutKeys(run, tables * kTableKeys, tables * kTableKeys + 10);
  const RocksDbHandles h = run->engine().rocksdb();
  Opaque* const checkpoint = h.library->Checked<Opaque*>("checkpoint_object_create", h.db);
  std::vector<double> seconds;
  std::string folder;
  for (int i = 0; i < kTimes; i++) {
    folder = PlaceOf(*run, "copy." + std::to_string(i));
    seconds.push_back(SecondsOf([&] {
      h.library->Checked<void>("checkpoint_create", checkpoint, folder.c_str(), uint64_t{kNoFlush});
    }));
  }
  h.library->Call<void>("checkpoint_object_destroy", checkpoint);
  ReportMicros(run, "", Median(seconds));
  ReadBackFrom(run, folder);
}

// Makes a first backup, more of the same database, and restores the latest.
void Backups(Run* run) {
  OpenQuiet(run, run->settings().write_buffer);
  MakeTables(run, TablesOf(*run));
  const RocksDbHandles h = run->engine().rocksdb();
  const std::string folder = PlaceOf(*run, "backups");
  const std::string restored = PlaceOf(*run, "restored");
  Opaque* const engine =
      h.library->Checked<Opaque*>("backup_engine_open", h.options, folder.c_str());
  const auto create = [&] {
    h.library->Checked<void>("backup_engine_create_new_backup", engine, h.db);
  };
  ReportMicros(run, "first", SecondsOf(create));
  std::vector<double> again;
  for (int i = 0; i < kTimes; i++) again.push_back(SecondsOf(create));
  ReportMicros(run, "nothing new", Median(again));
  Opaque* const options = h.library->Call<Opaque*>("restore_options_create");
  std::vector<double> restores;
  for (int i = 0; i < kTimes; i++) {
    std::filesystem::remove_all(restored);
    restores.push_back(SecondsOf([&] {
      h.library->Checked<void>("backup_engine_restore_db_from_latest_backup", engine,
                               restored.c_str(), restored.c_str(),
                               static_cast<const Opaque*>(options));
    }));
  }
  ReportMicros(run, "restore", Median(restores));
  h.library->Call<void>("backup_engine_close", engine);
  ReadBackFrom(run, restored);
}

// ---- Followers

// Reads n batches out of the log.
void Tail(Run* run) {
  OpenQuiet(run, kLargeBuffer);
  PutKeys(run, 0, run->scale().n);
  const RocksDbHandles h = run->engine().rocksdb();
  auto* const valid = h.library->Function<unsigned char(Opaque*)>("wal_iter_valid");
  auto* const next = h.library->Function<void(Opaque*)>("wal_iter_next");
  auto* const get = h.library->Function<Opaque*(Opaque*, uint64_t*)>("wal_iter_get_batch");
  auto* const destroy = h.library->Function<void(Opaque*)>("writebatch_destroy");
  uint64_t batches = 0;
  const double seconds = SecondsOf([&] {
    Opaque* const none = nullptr;
    Opaque* const updates =
        h.library->Checked<Opaque*>("get_updates_since", h.db, uint64_t{1}, none);
    for (; valid(updates) != 0; next(updates)) {
      uint64_t sequence = 0;
      destroy(get(updates, &sequence));
      batches++;
    }
    h.library->Call<void>("wal_iter_destroy", updates);
  });
  if (batches != run->scale().n) c_library::Die("tail: some batches were not met");
  run->ReportRate(static_cast<double>(batches), seconds);
  run->ReadBack();
  run->engine().Close();
}

enum class Followed { kInOrder, kDrawn, kDrawnText };

// Lets a secondary, opened while the database was empty, read n puts out of the log.
void CatchUp(Run* run, Followed keys) {
  OpenQuiet(run, kLargeBuffer);
  const RocksDbHandles h = run->engine().rocksdb();
  Opaque* const secondary =
      h.library->Checked<Opaque*>("open_as_secondary", static_cast<const Opaque*>(h.options),
                                  PlaceOf(*run, "db").c_str(), PlaceOf(*run, "secondary").c_str());
  if (keys == Followed::kInOrder) {
    PutKeys(run, 0, run->scale().n);
  } else {
    PutDrawn(run, keys == Followed::kDrawnText);
  }
  const double seconds =
      SecondsOf([&] { h.library->Checked<void>("try_catch_up_with_primary", secondary); });
  run->ReportRate(static_cast<double>(run->scale().n), seconds);
  run->Measured();
  const uint64_t last = h.library->Call<uint64_t>("get_latest_sequence_number", secondary);
  if (last != run->scale().n) c_library::Die("catch-up: the secondary is not where it should be");
  h.library->Call<void>("close", secondary);
  run->ReadBack();
  run->engine().Close();
}

}  // namespace

std::vector<Row> MovingRows() {
  std::vector<Row> rows;
  const auto add = [&](std::string name, std::function<void(Run*)> run) {
    rows.push_back(
        {"moving/" + std::move(name), "", {&Abilities::has_rocksdb_api}, std::move(run)});
  };
  add("table-writer/plain", [](Run* run) { WriteOutside(run, false); });
  add("table-writer/zstd", [](Run* run) { WriteOutside(run, true); });
  add("ingest", [](Run* run) { IngestTables(run, TablesOf(*run), 0, false); });
  add("ingest-beside-writer", [](Run* run) { IngestTables(run, TablesOf(*run), 0, true); });
  // The memtable holds about 24 MB.
  add("ingest-over-memtable", [](Run* run) { IngestTables(run, 1, run->scale().n / 5, true); });
  add("checkpoint/1", [](Run* run) { Checkpoints(run, 1); });
  add("checkpoint/tenth",
      [](Run* run) { Checkpoints(run, std::max<uint64_t>(TablesOf(*run) / 10, 1)); });
  add("checkpoint/all", [](Run* run) { Checkpoints(run, TablesOf(*run)); });
  add("backup", Backups);
  add("tail", Tail);
  add("catch-up", [](Run* run) { CatchUp(run, Followed::kInOrder); });
  add("catch-up-drawn", [](Run* run) { CatchUp(run, Followed::kDrawn); });
  add("catch-up-drawn-text", [](Run* run) { CatchUp(run, Followed::kDrawnText); });
  return rows;
}

}  // namespace compare
