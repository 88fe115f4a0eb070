// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/parallel_writes.h"

#include <chrono>
#include <sstream>
#include <thread>

namespace varve::testing {

namespace {

constexpr uint64_t kSlots = 32;  // of each thread in each family; write i fills slot i % kSlots
constexpr uint64_t kPadding = 200;

std::string MarkerKey(size_t thread) {
  return "#" + std::to_string(thread);
}

std::string SlotKey(size_t thread, uint64_t slot) {
  return "w" + std::to_string(thread) + "/" + std::to_string(slot);
}

// What a value of the history says.
struct Entry {
  uint64_t i = 0;
  Positions needs{};
};

std::string Encode(const Entry& entry, Random* random) {
  std::string text = std::to_string(entry.i);
  for (const uint64_t need : entry.needs) text += " " + std::to_string(need);
  return text + " " + random->Text(random->Below(kPadding));
}

bool Decode(const std::string& text, Entry* entry) {
  std::istringstream in(text);
  in >> entry->i;
  for (uint64_t& need : entry->needs) in >> need;
  return !in.fail();
}

// "" and the entry; an absent key is entry 0.
std::string ReadEntry(DB* db, ColumnFamilyHandle* handle, const std::string& key, Entry* entry) {
  std::string text;
  const Status s = db->Get(ReadOptions(), handle, key, &text);
  *entry = Entry();
  if (s.IsNotFound()) return "";
  if (!s.ok()) return "reading " + key + ": " + s.ToString();
  return Decode(text, entry) ? "" : key + " holds " + text;
}

bool IsLogged(const WriteMode& mode, size_t thread, uint64_t i) {
  return !OptionsOfParallelWrite(mode, thread, i).disableWAL;
}

// Whether a slot that write `expected` filled last may hold write `found`: no write that filled it
// in between was logged.
bool MayBeLost(const WriteMode& mode, size_t thread, uint64_t found, uint64_t expected) {
  if (!LeavesHoles(mode) || (found != 0 && found % kSlots != expected % kSlots)) return false;
  for (uint64_t i = expected; i > found; i = i > kSlots ? i - kSlots : 0) {
    if (IsLogged(mode, thread, i)) return false;
  }
  return found < expected;
}

// The thread stands at `at`: its slots must hold the last writes up to there.
std::string CheckSlots(DB* db, ColumnFamilyHandle* handle, const WriteMode& mode, size_t thread,
                       uint64_t at) {
  for (uint64_t slot = 0; slot < kSlots; slot++) {
    // The last write that filled the slot; 0 when there is none.
    const uint64_t back = (at + kSlots - slot) % kSlots;
    const uint64_t expected = at >= back ? at - back : 0;
    Entry entry;
    std::string problem = ReadEntry(db, handle, SlotKey(thread, slot), &entry);
    if (!problem.empty()) return problem;
    if (entry.i == expected || MayBeLost(mode, thread, entry.i, expected)) continue;
    return "thread " + std::to_string(thread) + " is at write " + std::to_string(at) +
           ", but slot " + std::to_string(slot) + " is of write " + std::to_string(entry.i);
  }
  return "";
}

std::string CheckFamily(DB* db, ColumnFamilyHandle* handle, const WriteMode& mode,
                        const Positions& least, const Positions& most, Positions* at) {
  std::array<Entry, kMostWriters> markers;
  for (size_t t = 0; t < kMostWriters; t++) {
    std::string problem = ReadEntry(db, handle, MarkerKey(t), &markers[t]);
    if (!problem.empty()) return problem;
    (*at)[t] = markers[t].i;
    if (markers[t].i < least[t] || markers[t].i > most[t]) {
      return "thread " + std::to_string(t) + " is at write " + std::to_string(markers[t].i) +
             ", not within " + std::to_string(least[t]) + ".." + std::to_string(most[t]);
    }
    problem = CheckSlots(db, handle, mode, t, markers[t].i);
    if (!problem.empty()) return problem;
  }
  for (size_t t = 0; t < kMostWriters && !LeavesHoles(mode); t++) {
    for (size_t u = 0; u < kMostWriters; u++) {
      if ((*at)[u] >= markers[t].needs[u]) continue;
      return "write " + std::to_string(markers[t].i) + " of thread " + std::to_string(t) +
             " is there, but of thread " + std::to_string(u) + " only " + std::to_string((*at)[u]) +
             " of " + std::to_string(markers[t].needs[u]) +
             " writes that had returned before it began";
    }
  }
  return "";
}

}  // namespace

Positions Load(const std::array<std::atomic<uint64_t>, kMostWriters>& positions) {
  Positions loaded;
  for (size_t t = 0; t < kMostWriters; t++) {
    loaded[t] = positions[t].load(std::memory_order_acquire);
  }
  return loaded;
}

void RaiseTo(std::array<std::atomic<uint64_t>, kMostWriters>* positions, const Positions& least) {
  for (size_t t = 0; t < kMostWriters; t++) {
    uint64_t seen = (*positions)[t].load(std::memory_order_relaxed);
    while (seen < least[t] && !(*positions)[t].compare_exchange_weak(seen, least[t])) {
    }
  }
}

WriteOptions OptionsOfParallelWrite(const WriteMode& mode, size_t thread, uint64_t i) {
  Random random(thread * 1'000'003 + i);
  return mode.DrawWriteOptions(&random);
}

Status WriteParallel(DB* db, const Handles& handles, const WriteMode& mode, size_t thread,
                     uint64_t i, Progress* progress) {
  Random random(i * 7919 + thread);
  progress->begun[thread].store(i, std::memory_order_release);
  const Positions logged = Load(progress->logged);
  const Entry entry{i, Load(progress->acked)};
  WriteBatch batch;
  for (const auto& [name, handle] : handles) {
    Status s = batch.Put(handle, MarkerKey(thread), Encode(entry, &random));
    if (s.ok()) s = batch.Put(handle, SlotKey(thread, i % kSlots), Encode(entry, &random));
    if (!s.ok()) return s;
  }
  const WriteOptions options = OptionsOfParallelWrite(mode, thread, i);
  Status s = db->Write(options, &batch);
  while (s.IsIncomplete() && options.no_slowdown) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    s = db->Write(options, &batch);
  }
  if (!s.ok()) return s;
  progress->acked[thread].store(i, std::memory_order_release);
  if (!options.disableWAL) progress->logged[thread].store(i, std::memory_order_release);
  if (options.sync) {
    Positions durable = logged;
    durable[thread] = i;
    RaiseTo(&progress->durable, durable);
  }
  return s;
}

ParallelCheck CheckParallel(DB* db, const Handles& handles, const WriteMode& mode,
                            const Positions& least, const Positions& most) {
  DBOptions options;
  mode.tune(&options);
  const bool families_differ = mode.no_log_one_in != 0 && !options.atomic_flush;
  ParallelCheck check;
  bool first = true;
  for (const auto& [name, handle] : handles) {
    Positions at{};
    check.problem = CheckFamily(db, handle, mode, least, most, &at);
    if (check.problem.empty() && !first && !families_differ && at != check.at) {
      check.problem = "it differs from another family's: a batch is there in part";
    }
    if (!check.problem.empty()) {
      check.problem = "family " + name + ": " + check.problem;
      return check;
    }
    check.at = at;
    first = false;
  }
  return check;
}

}  // namespace varve::testing
