// SPDX-License-Identifier: Apache-2.0

// Rows of values that a tree does not rewrite: blobs/... keep them in files of their own, and
// inline/... do the same work with the values in the tables. Rows of entities/... read values that
// consist of columns. Rows of blobs hold 256 bytes for each of n.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/c_library.h"
#include "benchmarks/compare/footprint.h"
#include "benchmarks/compare/operations.h"
#include "benchmarks/compare/overwriting.h"
#include "benchmarks/compare/row.h"

namespace compare {
namespace {

using c_library::Library;
using c_library::Opaque;

constexpr uint64_t kFirstBytes = 256;  // of values, for each of n
constexpr uint64_t kWritesOfKey = 4;   // on average
constexpr uint64_t kFewestKeys = 2 * kKeysAtOnce;
constexpr size_t kBlobBuffer = size_t{8} << 20;
constexpr size_t kBlobCache = size_t{64} << 20;
constexpr size_t kMultiGetCache = size_t{1} << 20;
constexpr auto kTimeToDelete = std::chrono::seconds(1);
// Entities are so few that they lie in the cache: reads, and not misses, are measured.
constexpr uint64_t kEntitiesOfKeys = 20;
constexpr size_t kColumnSize = 16;

uint64_t KeysOf(const Run& run, size_t value_size) {
  return std::max<uint64_t>(run.scale().n * kFirstBytes / value_size, kFewestKeys);
}

Settings SettingsOf(const Run& run, const Blobs& blobs) {
  Settings settings = run.settings();
  settings.write_buffer = kBlobBuffer;
  settings.cache_bytes = kBlobCache;
  settings.blobs = blobs;
  return settings;
}

// Overwrites each key three times, on average.
void MeasureOverwriting(Run* run, const Blobs& blobs, size_t value_size, Draw draw) {
  const uint64_t keys = KeysOf(*run, value_size);
  ReportOverwriting(
      run, SettingsOf(*run, blobs),
      {.keys = keys, .writes = keys * kWritesOfKey, .value_size = value_size, .draw = draw});
}

// Reads 32 drawn keys in each call, past the page cache.
void MultiGetDirectly(Run* run, const Blobs& blobs, size_t value_size) {
  Settings settings = SettingsOf(*run, blobs);
  settings.cache_bytes = kMultiGetCache;
  settings.reads_directly = true;
  run->engine().Open(run->path(), settings);
  const uint64_t keys = KeysOf(*run, value_size);
  Overwrite(run,
            {.keys = keys, .writes = keys, .value_size = value_size, .order = Order::kAscending});
  run->engine().Compact();
  const Operation multi_get = MultiGetOf(keys, 0);
  uint64_t read = 0;
  const double seconds =
      InThreads(run, 1, Digest::Covers::kWhole, [&](int, Session* session, Digest* digest) {
        Random random(run->scale().seed);
        while (read < keys) read += multi_get(session, &random, digest);
      });
  run->ReportRate(static_cast<double>(read), seconds);
  run->Measured();
  run->engine().Close();
}

// Deletes the first half of all keys, first the tables that lie within it, and reports what space
// is left after a flush and a second.
void DeleteHalf(Run* run, const Blobs& blobs, size_t value_size) {
  run->engine().Open(run->path(), SettingsOf(*run, blobs));
  const uint64_t keys = KeysOf(*run, value_size);
  Overwrite(run,
            {.keys = keys, .writes = keys, .value_size = value_size, .order = Order::kAscending});
  run->engine().Compact();
  AwaitQuiet(&run->engine());
  run->Report("space before", Unit::kMegabytes, SpaceOf(run->path()));
  const RocksDbHandles h = run->engine().rocksdb();
  const Key begin(0);
  const Key end(keys / 2);
  h.library->Checked<void>("delete_file_in_range", h.db, begin.view().data(), kKeySize,
                           end.view().data(), kKeySize);
  Opaque* const writes = h.library->Call<Opaque*>("writeoptions_create");
  h.library->Checked<void>("delete_range_cf", h.db, writes, h.family, begin.view().data(), kKeySize,
                           end.view().data(), kKeySize);
  h.library->Checked<void>("flush", h.db, h.library->Call<Opaque*>("flushoptions_create"));
  std::this_thread::sleep_for(kTimeToDelete);
  AwaitQuiet(&run->engine());
  run->Report("space left", Unit::kMegabytes, SpaceOf(run->path()));
  run->ReadBack();
  run->engine().Close();
}

// ---- Entities

// The functions for entities, which only our library has.
struct EntityCalls {
  explicit EntityCalls(const RocksDbHandles& handles)
      : h(handles),
        writes(h.library->Call<Opaque*>("writeoptions_create")),
        reads(h.library->Call<Opaque*>("readoptions_create")),
        put(h.library
                ->Function<void(Opaque*, Opaque*, const char*, size_t, size_t, const char* const*,
                                const size_t*, const char* const*, const size_t*, char**)>(
                    "put_entity")),
        get(h.library->Function<Opaque*(Opaque*, Opaque*, const char*, size_t, char**)>(
            "get_entity")),
        count(h.library->Function<size_t(Opaque*)>("widecolumns_count")),
        value(h.library->Function<const char*(Opaque*, size_t, size_t*)>("widecolumns_value")),
        destroy(h.library->Function<void(Opaque*)>("widecolumns_destroy")) {}

  const RocksDbHandles h;
  Opaque* const writes;
  Opaque* const reads;
  void (*const put)(Opaque*, Opaque*, const char*, size_t, size_t, const char* const*,
                    const size_t*, const char* const*, const size_t*, char**);
  Opaque* (*const get)(Opaque*, Opaque*, const char*, size_t, char**);
  size_t (*const count)(Opaque*);
  const char* (*const value)(Opaque*, size_t, size_t*);
  void (*const destroy)(Opaque*);
};

// Puts an entity of that many columns, of which the first has no name: plain reads see it.
void PutEntity(const EntityCalls& calls, uint64_t number, size_t columns) {
  Values values(kColumnSize);
  std::vector<std::string> names;
  std::vector<std::string> texts;
  for (size_t i = 0; i < columns; i++) {
    names.push_back(i == 0 ? "" : "column" + std::to_string(i));
    texts.emplace_back(values.Of(number + i, i));
  }
  std::vector<const char*> name_bytes;
  std::vector<size_t> name_sizes;
  std::vector<const char*> text_bytes;
  const std::vector<size_t> text_sizes(columns, kColumnSize);
  for (size_t i = 0; i < columns; i++) {
    name_bytes.push_back(names[i].data());
    name_sizes.push_back(names[i].size());
    text_bytes.push_back(texts[i].data());
  }
  char* error = nullptr;
  calls.put(calls.h.db, calls.writes, Key(number).view().data(), kKeySize, columns,
            name_bytes.data(), name_sizes.data(), text_bytes.data(), text_sizes.data(), &error);
  if (error != nullptr) c_library::Die(error);
}

enum class EntityRead { kAllColumns, kOneColumn, kPlain };

// Reads an entity as columns: all of them, or only one that lies amid them.
void GetEntity(const EntityCalls& calls, const Key& key, bool all, Digest* digest) {
  char* error = nullptr;
  Opaque* const entity = calls.get(calls.h.db, calls.reads, key.view().data(), kKeySize, &error);
  if (error != nullptr) c_library::Die(error);
  const size_t columns = calls.count(entity);
  for (size_t i = all ? 0 : columns / 2; i < (all ? columns : columns / 2 + 1); i++) {
    size_t size = 0;
    const char* const value = calls.value(entity, i, &size);
    digest->AddValue({value, size});
  }
  calls.destroy(entity);
}

void ReadEntities(Run* run, size_t columns, EntityRead how) {
  run->engine().Open(run->path(), run->settings());
  const EntityCalls calls(run->engine().rocksdb());
  const uint64_t keys = std::max<uint64_t>(run->scale().n / kEntitiesOfKeys, kFewestKeys);
  for (uint64_t i = 0; i < keys; i++) PutEntity(calls, i, columns);
  run->engine().Compact();
  const uint64_t gets = std::max<uint64_t>(run->scale().n, 1);
  const double seconds =
      InThreads(run, 1, Digest::Covers::kWhole, [&](int, Session* session, Digest* digest) {
        Random random(run->scale().seed);
        for (uint64_t i = 0; i < gets; i++) {
          const Key key(random.Below(keys));
          if (how == EntityRead::kPlain) {
            session->Get(key.view(), digest);
          } else {
            GetEntity(calls, key, how == EntityRead::kAllColumns, digest);
          }
        }
      });
  run->ReportRate(static_cast<double>(gets), seconds);
  run->Measured();
  run->engine().Close();
}

}  // namespace

std::vector<Row> ValueRows() {
  std::vector<Row> rows;
  const auto add = [&](std::string name, bool Abilities::*need, std::function<void(Run*)> run) {
    rows.push_back({std::move(name), "", {need}, std::move(run)});
  };
  const auto blobs = &Abilities::has_rocksdb_api;
  const Blobs inlined{.apart = false};
  const Blobs usual{.apart = true};
  const Blobs tight{.apart = true, .age_cutoff = 1.0, .force_threshold = 0.2};
  for (const size_t kib : {1, 4, 32}) {
    const size_t size = kib << 10;
    const std::string name = std::to_string(kib) + "k";
    add("inline/" + name, blobs,
        [=](Run* run) { MeasureOverwriting(run, inlined, size, Draw::kUniform); });
    add("blobs/" + name, blobs,
        [=](Run* run) { MeasureOverwriting(run, usual, size, Draw::kUniform); });
  }
  constexpr size_t kSize = 4 << 10;
  add("blobs/4k-tight", blobs,
      [=](Run* run) { MeasureOverwriting(run, tight, kSize, Draw::kUniform); });
  add("blobs/4k-zipfian", blobs,
      [=](Run* run) { MeasureOverwriting(run, usual, kSize, Draw::kZipfian); });
  add("blobs/4k-multiget-direct", blobs, [=](Run* run) { MultiGetDirectly(run, usual, kSize); });
  rows.back().on_disk = true;
  add("blobs/4k-delete-half", blobs, [=](Run* run) { DeleteHalf(run, usual, kSize); });
  const auto entities = &Abilities::has_entities;
  add("entities/get-all-of-8", entities,
      [](Run* run) { ReadEntities(run, 8, EntityRead::kAllColumns); });
  add("entities/get-one-of-64", entities,
      [](Run* run) { ReadEntities(run, 64, EntityRead::kOneColumn); });
  add("entities/get-default-of-8", entities,
      [](Run* run) { ReadEntities(run, 8, EntityRead::kPlain); });
  return rows;
}

}  // namespace compare
