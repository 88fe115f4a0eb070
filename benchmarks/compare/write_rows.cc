// SPDX-License-Identifier: Apache-2.0

// Rows that fill, overwrite, compact and recover.

#include <algorithm>
#include <memory>
#include <string>

#include "benchmarks/compare/data_sets.h"
#include "benchmarks/compare/row.h"

namespace compare {
namespace {

constexpr int kThreadBatch = 8;

enum class Keys { kInOrder, kDrawn, kDrawnText };

// Makes n single writes with new values in one thread.
void Fill(Run* run, Keys keys, Durability durability) {
  run->engine().Open(run->path(), run->settings());
  const uint64_t n = run->scale().n;
  // A write that waits for the device takes so long that a few show its time.
  const uint64_t writes = durability == Durability::kSynced
                              ? std::max<uint64_t>(n / 200, std::min<uint64_t>(n / 10, 1000))
                              : n;
  Values values(kValueSize);
  Random random(run->scale().seed + 1);
  {
    const std::unique_ptr<Session> session = run->engine().NewSession();
    const double seconds = SecondsOf([&] {
      for (uint64_t i = 0; i < writes; i++) {
        const uint64_t number = keys == Keys::kInOrder ? i : random.Below(n);
        const Key key = keys == Keys::kDrawnText ? Key::Text(number) : Key(number);
        session->Put(key.view(), values.Of(number, i + 1), durability);
      }
    });
    run->ReportRate(static_cast<double>(writes), seconds);
  }
  run->ReadBack();
  run->engine().Close();
}

// Writes n drawn keys in batches of eight, with compactions off, so that the write path is
// measured.
void FillByThreads(Run* run, int threads, bool unordered, Durability durability) {
  Settings settings = run->settings();
  settings.compacts = false;
  settings.unordered = unordered;
  run->engine().Open(run->path(), settings);
  const uint64_t n = run->scale().n;
  const uint64_t batches = std::max<uint64_t>(n / kThreadBatch / static_cast<uint64_t>(threads), 1);
  const double seconds =
      InThreads(run, threads, Digest::Covers::kWhole, [&](int thread, Session* session, Digest*) {
        Values values(kValueSize);
        Random random(run->scale().seed + static_cast<uint64_t>(thread));
        for (uint64_t i = 0; i < batches; i++) {
          for (int j = 0; j < kThreadBatch; j++) {
            const uint64_t number = random.Below(10 * n);
            session->BatchPut(Key(number).view(), values.Of(number));
          }
          session->BatchWrite(durability);
        }
      });
  run->ReportRate(static_cast<double>(batches) * threads * kThreadBatch, seconds);
  run->ReadBack();
  run->engine().Close();
}

// Compacts the runs of the data set. The rate is in entries that are read.
void Compact(Run* run) {
  Settings settings = run->settings();
  settings.compacts = false;
  run->engine().Open(run->path(), settings);
  const double seconds = SecondsOf([&] { run->engine().Compact(); });
  run->ReportRate(2 * static_cast<double>(run->scale().n), seconds);
  run->ReadBack();
  run->engine().Close();
}

// Opens a database that has a log alone. The rate is in entries of the log.
void Recover(Run* run) {
  const Settings settings = run->settings();
  const double seconds = SecondsOf([&] { run->engine().Open(run->path(), settings); });
  run->ReportRate(static_cast<double>(run->scale().n) / 4, seconds);
  run->ReadBack();
  run->engine().Close();
}

}  // namespace

std::vector<Row> WriteRows() {
  std::vector<Row> rows;
  const auto without_log = &Abilities::writes_without_log;
  const auto fill = [&](const char* name, Keys keys, Durability durability) {
    Row row{name, "", {}, [=](Run* run) { Fill(run, keys, durability); }};
    if (durability == Durability::kNoLog) row.needs.push_back(without_log);
    rows.push_back(std::move(row));
  };
  fill("fillseq", Keys::kInOrder, Durability::kLogged);
  fill("fillrandom", Keys::kDrawn, Durability::kLogged);
  fill("fillrandom-text", Keys::kDrawnText, Durability::kLogged);
  fill("fillrandom-nolog", Keys::kDrawn, Durability::kNoLog);
  fill("fillsync", Keys::kDrawn, Durability::kSynced);
  for (const bool unordered : {false, true}) {
    for (const Durability durability : {Durability::kLogged, Durability::kNoLog}) {
      for (const int threads : {2, 8, 32}) {
        Row row;
        row.name = std::string("fill-threads") + (unordered ? "-unordered" : "") +
                   (durability == Durability::kNoLog ? "-nolog" : "") + "/t" +
                   std::to_string(threads);
        if (unordered) row.needs.push_back(&Abilities::writes_unordered);
        if (durability == Durability::kNoLog) row.needs.push_back(without_log);
        row.run = [=](Run* run) { FillByThreads(run, threads, unordered, durability); };
        rows.push_back(std::move(row));
      }
    }
  }
  rows.push_back({"compact", kRuns, {&Abilities::compacts, &Abilities::holds_compaction}, Compact});
  rows.push_back({"recover", kLog, {&Abilities::replays_log}, Recover});
  rows.push_back(
      {"overwrite", kLevel, {}, [](Run* run) { Fill(run, Keys::kDrawn, Durability::kLogged); }});
  return rows;
}

}  // namespace compare
