// SPDX-License-Identifier: Apache-2.0

// Rows that read with everything in the block cache, from the data set as the engine leaves it and
// from the compacted one.

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "benchmarks/compare/data_sets.h"
#include "benchmarks/compare/operations.h"
#include "benchmarks/compare/row.h"

namespace compare {
namespace {

constexpr uint64_t kPasses = 10;  // passes of a whole scan

// Reads everything once and does a tenth of the operations before the time starts.
void Read(Run* run, uint64_t operations, Operation operation) {
  run->engine().Open(run->path(), run->settings());
  Digest ignored;
  run->engine().NewSession()->Scan({}, UINT64_MAX, true, &ignored);
  uint64_t done = 0;
  {
    const std::unique_ptr<Session> session = run->engine().NewSession();
    Random warm_up(7);
    for (uint64_t i = 0; i < operations / 10; i++) operation(session.get(), &warm_up, &ignored);
  }
  const double seconds =
      InThreads(run, 1, Digest::Covers::kWhole, [&](int, Session* session, Digest* digest) {
        Random random(run->scale().seed);
        for (uint64_t i = 0; i < operations; i++) {
          done += operation(session, &random, digest);
        }
      });
  run->ReportRate(static_cast<double>(done), seconds);
  run->Measured();
  run->engine().Close();
}

void ScanAll(Run* run, bool forward) {
  Read(run, kPasses, [&](Session* session, Random*, Digest* digest) {
    return session->Scan({}, UINT64_MAX, forward, digest);
  });
}

// Reads in one thread while another overwrites as fast as it can.
void ReadWhileWriting(Run* run) {
  run->engine().Open(run->path(), run->settings());
  const uint64_t n = run->scale().n;
  Digest ignored;
  run->engine().NewSession()->Scan({}, UINT64_MAX, true, &ignored);
  std::atomic<bool> ends = false;
  std::thread writer([&] {
    const std::unique_ptr<Session> session = run->engine().NewSession();
    Values values(kValueSize);
    Random random(run->scale().seed + 99);
    for (uint64_t i = 1; !ends.load(std::memory_order_relaxed); i++) {
      const uint64_t number = random.Below(n);
      session->Put(Key(number).view(), values.Of(number, i), Durability::kLogged);
    }
  });
  const double seconds =
      InThreads(run, 1, Digest::Covers::kStamps, [&](int, Session* session, Digest* digest) {
        Random random(run->scale().seed);
        for (uint64_t i = 0; i < n; i++) {
          session->Get(Key(random.Below(n)).view(), digest);
        }
      });
  ends = true;
  writer.join();
  run->ReportRate(static_cast<double>(n), seconds);
  run->Measured();
  run->engine().Close();
}

}  // namespace

std::vector<Row> ReadRows() {
  std::vector<Row> rows;
  rows.push_back({"readwhilewriting", kLevel, {}, ReadWhileWriting});
  for (const std::string set : {kLevel, kFull}) {
    const auto add = [&](const std::string& name, std::function<void(Run*)> work) {
      rows.push_back({set + "/" + name, set, {}, std::move(work)});
    };
    const auto n_of = [](const Run* run) { return run->scale().n; };
    add("readrandom", [=](Run* run) { Read(run, n_of(run), GetOf(n_of(run))); });
    add("readmissing", [=](Run* run) { Read(run, n_of(run), GetOfMissing(n_of(run))); });
    for (const uint64_t stride : {0, 16, 256}) {
      add("multiget32-stride" + std::to_string(stride),
          [=](Run* run) { Read(run, n_of(run) / kKeysAtOnce, MultiGetOf(n_of(run), stride)); });
    }
    add("seek+10",
        [=](Run* run) { Read(run, std::max<uint64_t>(n_of(run) / 4, 1), SeekOf(n_of(run))); });
    add("readseq", [](Run* run) { ScanAll(run, true); });
    add("readreverse", [](Run* run) { ScanAll(run, false); });
  }
  return rows;
}

}  // namespace compare
