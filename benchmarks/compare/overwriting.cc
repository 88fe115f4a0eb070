// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/overwriting.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "benchmarks/c_library.h"
#include "benchmarks/compare/footprint.h"
#include "benchmarks/compare/operations.h"

namespace compare {
namespace {

using c_library::Opaque;

constexpr int kScans = 3;  // of everything, whose average is reported

Key KeyOf(const Overwriting& work, uint64_t number) {
  return Key(work.order == Order::kScattered ? Scramble(number) : number);
}

// Reads every key without its value; libraries without that option read the values, too. Returns
// the number of keys.
uint64_t ScanKeys(Engine* engine, Digest* digest) {
  const RocksDbHandles h = engine->rocksdb();
  Opaque* const options = h.library->Call<Opaque*>("readoptions_create");
  constexpr char kLeavesValues[] = "readoptions_set_allow_unprepared_value";
  if (h.library->Has(kLeavesValues)) {
    h.library->Call<void>(kLeavesValues, options, static_cast<unsigned char>(1));
  }
  auto* const valid = h.library->Function<unsigned char(Opaque*)>("iter_valid");
  auto* const next = h.library->Function<void(Opaque*)>("iter_next");
  auto* const key_of = h.library->Function<const char*(Opaque*, size_t*)>("iter_key");
  Opaque* const it = h.library->Call<Opaque*>("create_iterator", h.db, options);
  uint64_t count = 0;
  for (h.library->Call<void>("iter_seek_to_first", it); valid(it) != 0; next(it), count++) {
    size_t size = 0;
    const char* const key = key_of(it, &size);
    digest->AddEntry({key, size}, {});
  }
  h.library->Checked<void>("iter_get_error", it);
  h.library->Call<void>("iter_destroy", it);
  h.library->Call<void>("readoptions_destroy", options);
  return count;
}

// Reports how many entries a second `scan` meets, which returns their number each time.
template <typename Scan>
void ReportScans(Run* run, const char* name, const Scan& scan) {
  uint64_t entries = 0;
  const double seconds = SecondsOf([&] {
    for (int i = 0; i < kScans; i++) entries += scan();
  });
  run->Report(name, Unit::kPerSecond, static_cast<double>(entries) / seconds);
}

void ReportReads(Run* run, const Overwriting& work) {
  Random random(run->scale().seed);
  Digest digest(Digest::Covers::kWhole);
  const std::unique_ptr<Session> session = run->engine().NewSession();
  const uint64_t gets = work.keys;
  double seconds = SecondsOf([&] {
    for (uint64_t i = 0; i < gets; i++) {
      session->Get(KeyOf(work, random.Below(work.keys)).view(), &digest);
    }
  });
  run->Report("gets", Unit::kPerSecond, static_cast<double>(gets) / seconds);
  const uint64_t seeks = std::max<uint64_t>(work.keys / 4, 1);
  seconds = SecondsOf([&] {
    for (uint64_t i = 0; i < seeks; i++) {
      session->Scan(KeyOf(work, random.Below(work.keys)).view(), kSeekLength, true, &digest);
    }
  });
  run->Report("seeks", Unit::kPerSecond, static_cast<double>(seeks) / seconds);
  ReportScans(run, "scan", [&] { return session->Scan({}, UINT64_MAX, true, &digest); });
  ReportScans(run, "scan of keys", [&] { return ScanKeys(&run->engine(), &digest); });
  run->digest().Join(digest);
}

}  // namespace

void Overwrite(Run* run, const Overwriting& work) {
  const std::unique_ptr<Session> session = run->engine().NewSession();
  Values values(work.value_size);
  Random random(run->scale().seed + 1);
  std::optional<Zipfian> zipfian;
  if (work.draw == Draw::kZipfian) zipfian.emplace(work.keys);
  for (uint64_t i = 0; i < work.writes; i++) {
    uint64_t number = i;
    if (i >= work.keys) {
      number = zipfian.has_value() ? zipfian->Rank(&random) : random.Below(work.keys);
    }
    session->Put(KeyOf(work, number).view(), values.Of(number, i + 1), Durability::kNoLog);
  }
}

void ReportOverwriting(Run* run, const Settings& settings, const Overwriting& work) {
  run->engine().Open(run->path(), settings);
  const double before = WrittenByProcess();
  SpaceWatch space(run->path());
  const double seconds = SecondsOf([&] { Overwrite(run, work); });
  run->Report("puts", Unit::kPerSecond, static_cast<double>(work.writes) / seconds);
  AwaitQuiet(&run->engine());
  run->Report("written", Unit::kMegabytes, WrittenByProcess() - before);
  run->Report("peak space", Unit::kMegabytes, space.Stop());
  run->Report("space at rest", Unit::kMegabytes, SpaceOf(run->path()));
  ReportReads(run, work);
  run->Measured();
  run->engine().Close();
}

}  // namespace compare
