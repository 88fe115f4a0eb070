// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/parallel_writes.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "tests/crash/family_kinds.h"

namespace varve::testing {

namespace {

constexpr uint64_t kSlots = 32;  // Number of slots of each thread in each family; write i fills
                                 // slot i % kSlots.
constexpr uint64_t kPadding = 200;
constexpr uint64_t kTextsEach = 16;  // Number of operands of a text before it begins anew.
constexpr const char* kSumOfAll = "+";

std::string MarkerKey(size_t thread) {
  return "#" + std::to_string(thread);
}

std::string SumKey(size_t thread) {
  return "+" + std::to_string(thread);
}

std::string TextKey(size_t thread) {
  return "t" + std::to_string(thread);
}

std::string SlotKey(size_t thread, uint64_t slot) {
  return "w" + std::to_string(thread) + "/" + std::to_string(slot);
}

// The contents of a value of the history.
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

// Sets *entry and returns "", or an error; an absent key is entry 0.
std::string ReadEntry(DB* db, ColumnFamilyHandle* handle, const ReadOptions& options,
                      const std::string& key, Entry* entry) {
  std::string text;
  const Status s = db->Get(options, handle, key, &text);
  *entry = Entry();
  if (s.IsNotFound()) return "";
  if (!s.ok()) return "reading " + key + ": " + s.ToString();
  return Decode(text, entry) ? "" : key + " holds " + text;
}

bool IsLogged(const WriteMode& mode, size_t thread, uint64_t i) {
  return !OptionsOfParallelWrite(mode, thread, i).disableWAL;
}

// True if a slot that write `expected` filled last may hold write `found`: no write that filled it
// in between was logged.
bool MayBeLost(const WriteMode& mode, size_t thread, uint64_t found, uint64_t expected) {
  if (!LeavesHoles(mode) || (found != 0 && found % kSlots != expected % kSlots)) return false;
  for (uint64_t i = expected; i > found; i = i > kSlots ? i - kSlots : 0) {
    if (IsLogged(mode, thread, i)) return false;
  }
  return found < expected;
}

// Checks the slots of a thread at position `at`: they must hold the last writes up to it.
std::string CheckSlots(DB* db, ColumnFamilyHandle* handle, const ReadOptions& options,
                       const WriteMode& mode, size_t thread, uint64_t at) {
  for (uint64_t slot = 0; slot < kSlots; slot++) {
    // The last write that filled the slot; 0 if there is none.
    const uint64_t back = (at + kSlots - slot) % kSlots;
    const uint64_t expected = at >= back ? at - back : 0;
    Entry entry;
    std::string problem = ReadEntry(db, handle, options, SlotKey(thread, slot), &entry);
    if (!problem.empty()) return problem;
    if (entry.i == expected || MayBeLost(mode, thread, entry.i, expected)) continue;
    return "thread " + std::to_string(thread) + " is at write " + std::to_string(at) +
           ", but slot " + std::to_string(slot) + " is of write " + std::to_string(entry.i);
  }
  return "";
}

// Checks that everything returned before a present write began is present.
std::string CheckCut(const std::array<Entry, kMostWriters>& markers, const Positions& at) {
  for (size_t t = 0; t < kMostWriters; t++) {
    for (size_t u = 0; u < kMostWriters; u++) {
      if (at[u] >= markers[t].needs[u]) continue;
      return "write " + std::to_string(markers[t].i) + " of thread " + std::to_string(t) +
             " is there, but of thread " + std::to_string(u) + " only " + std::to_string(at[u]) +
             " of " + std::to_string(markers[t].needs[u]) +
             " writes that had returned before it began";
    }
  }
  return "";
}

// Checks that, as of half its position, every thread is there.
std::string CheckEarlier(DB* db, const std::string& family, ColumnFamilyHandle* handle,
                         const WriteMode& mode, size_t thread, uint64_t at) {
  const ReadingAsOf reading(family, at / 2);
  Entry marker;
  std::string problem = ReadEntry(db, handle, reading.options(), MarkerKey(thread), &marker);
  if (problem.empty() && marker.i != at / 2) {
    problem = "thread " + std::to_string(thread) + " stands at " + std::to_string(marker.i);
  }
  if (problem.empty()) problem = CheckSlots(db, handle, reading.options(), mode, thread, at / 2);
  return problem.empty() ? "" : "as of " + std::to_string(at / 2) + ": " + problem;
}

// Adds the merges of write i of the thread, in families that merge.
Status AddMerges(const std::string& family, ColumnFamilyHandle* handle, size_t thread, uint64_t i,
                 WriteBatch* batch) {
  if (HasSums(family)) {
    const Status s = batch->Merge(handle, SumKey(thread), Stamp(1));
    return s.ok() ? batch->Merge(handle, kSumOfAll, Stamp(1)) : s;
  }
  if (!HasTexts(family)) return Status::OK();
  const std::string ts = Stamp(i);
  const std::string text = std::to_string(i);
  const std::string key = TextKey(thread);
  const bool begins = i % kTextsEach == 0;
  if (HasVersions(family)) {
    return begins ? batch->Put(handle, key, ts, text) : batch->Merge(handle, key, ts, text);
  }
  return begins ? batch->Put(handle, key, text) : batch->Merge(handle, key, text);
}

std::string ExpectValue(DB* db, const std::string& family, ColumnFamilyHandle* handle,
                        const std::string& key, const std::string& expected) {
  const ReadingAsOf now(family, UINT64_MAX);
  std::string value;
  const Status s = db->Get(now.options(), handle, key, &value);
  if (s.ok() ? value == expected : s.IsNotFound() && expected.empty()) return "";
  return key + " should merge to " + Slice(expected).ToString(HasSums(family)) + ", found " +
         (s.ok() ? Slice(value).ToString(HasSums(family)) : s.ToString());
}

// Checks that every operand of the writes up to `at` counts once.
std::string CheckMerges(DB* db, const std::string& family, ColumnFamilyHandle* handle,
                        const Positions& at) {
  uint64_t sum = 0;
  for (size_t t = 0; t < kMostWriters; t++) {
    std::string problem;
    sum += at[t];
    if (HasSums(family) && at[t] > 0) {
      problem = ExpectValue(db, family, handle, SumKey(t), Stamp(at[t]));
    } else if (HasTexts(family)) {
      std::string text;
      for (uint64_t i = std::max<uint64_t>(1, at[t] / kTextsEach * kTextsEach); i <= at[t]; i++) {
        text += (text.empty() ? "" : ",") + std::to_string(i);
      }
      problem = ExpectValue(db, family, handle, TextKey(t), text);
    }
    if (!problem.empty()) return problem;
  }
  if (!HasSums(family) || sum == 0) return "";
  return ExpectValue(db, family, handle, kSumOfAll, Stamp(sum));
}

std::string CheckFamily(DB* db, const std::string& family, ColumnFamilyHandle* handle,
                        const WriteMode& mode, const Positions& least, const Positions& most,
                        Positions* at) {
  const ReadingAsOf now(family, UINT64_MAX);
  std::array<Entry, kMostWriters> markers;
  for (size_t t = 0; t < kMostWriters; t++) {
    std::string problem = ReadEntry(db, handle, now.options(), MarkerKey(t), &markers[t]);
    if (!problem.empty()) return problem;
    (*at)[t] = markers[t].i;
    if (markers[t].i < least[t] || markers[t].i > most[t]) {
      return "thread " + std::to_string(t) + " is at write " + std::to_string(markers[t].i) +
             ", not within " + std::to_string(least[t]) + ".." + std::to_string(most[t]);
    }
    problem = CheckSlots(db, handle, now.options(), mode, t, markers[t].i);
    if (problem.empty() && HasVersions(family) && !LeavesHoles(mode)) {
      problem = CheckEarlier(db, family, handle, mode, t, markers[t].i);
    }
    if (!problem.empty()) return problem;
  }
  if (LeavesHoles(mode)) return "";
  const std::string problem = CheckMerges(db, family, handle, *at);
  return problem.empty() ? CheckCut(markers, *at) : problem;
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
    const std::string marker = Encode(entry, &random);
    const std::string slot = Encode(entry, &random);
    const std::string ts = Stamp(i);
    const std::string key = SlotKey(thread, i % kSlots);
    const bool timed = HasVersions(name);
    Status s = timed ? batch.Put(handle, MarkerKey(thread), ts, marker)
                     : batch.Put(handle, MarkerKey(thread), marker);
    if (s.ok()) s = timed ? batch.Put(handle, key, ts, slot) : batch.Put(handle, key, slot);
    if (s.ok()) s = AddMerges(name, handle, thread, i, &batch);
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
    check.problem = CheckFamily(db, name, handle, mode, least, most, &at);
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
