// SPDX-License-Identifier: Apache-2.0

// Every batch makes the same random changes in all families, range deletions among them. Families
// that differ at one moment mean that a batch was seen in part. A snapshot must always show the
// same, by every way of reading, while the tree below it is flushed and compacted.

#include <array>
#include <cstdio>

#include "tests/consistency/checker.h"

namespace varve::testing {

namespace {

constexpr size_t kKeys = 60;
constexpr size_t kMaxChanges = 6;
constexpr size_t kMirrorPadding = 150;
constexpr size_t kHeld = 2;         // snapshots that a reader keeps
constexpr uint64_t kReadings = 24;  // readings of each before it goes
constexpr const char* kMirrorLower = "mirror/";
constexpr const char* kMirrorUpper = "mirror0";

// Hashes rows by FNV-1a. The combination ignores the order of rows, as scans go both ways.
class RowSet {
 public:
  void Add(const Slice& key, const Slice& value) {
    uint64_t hash = 0xcbf29ce484222325ull;
    for (const Slice& part : {key, value}) {
      for (size_t i = 0; i < part.size(); i++) {
        hash = (hash ^ static_cast<uint8_t>(part[i])) * 0x100000001b3ull;
      }
      hash = (hash ^ 0xff) * 0x100000001b3ull;
    }
    sum_ += hash;
    rows_++;
  }
  bool operator==(const RowSet&) const = default;
  size_t rows() const { return rows_; }

 private:
  uint64_t sum_ = 0;
  size_t rows_ = 0;
};

class MirrorChecker final : public Checker {
 public:
  MirrorChecker(Store* store, size_t readers) : Checker(store, "mirror"), held_(readers) {}
  ~MirrorChecker() override {
    for (std::vector<Held>& of_reader : held_) {
      for (const Held& held : of_reader) store()->Release(held.snapshot);
    }
  }

  void Prepare(Random*) override {}

  void WriteOnce(size_t, Random* random) override {
    WriteBatch batch;
    const uint64_t changes = 1 + random->Below(kMaxChanges);
    for (uint64_t i = 0; i < changes; i++) {
      const size_t key = random->Below(kKeys);
      const uint64_t dice = random->Below(16);
      const std::string value = random->Text(1 + random->Below(kMirrorPadding));
      for (size_t family = 0; family < Store::kFamilies; family++) {
        ColumnFamilyHandle* const handle = store()->family(family);
        Status s;
        if (dice == 0) {
          s = batch.DeleteRange(handle, KeyOf(key), KeyOf(key + 10));
        } else if (dice < 4) {
          s = batch.Delete(handle, KeyOf(key));
        } else {
          s = batch.Put(handle, KeyOf(key), value);
        }
        store()->findings()->Expect(s, "filling a batch");
      }
    }
    store()->Write(&batch, random);
    CountWrite();
  }

  void ReadOnce(size_t thread, Random* random) override {
    std::vector<Held>& held = held_[thread];
    if (held.size() < kHeld) {
      held.push_back(Held{store()->Take(), RowSet(), 0});
      held.back().rows = ReadFirst(held.back().snapshot);
    }
    if (random->OneIn(8)) ReadFirst(nullptr);
    Held& chosen = held[random->Below(held.size())];
    ReadAgain(chosen, random);
    CountRead();
    if (++chosen.readings < kReadings) return;
    store()->Release(chosen.snapshot);
    chosen = held.back();
    held.pop_back();
  }

 private:
  struct Held {
    const Snapshot* snapshot;
    RowSet rows;
    uint64_t readings;
  };

  static std::string KeyOf(size_t i) {
    char key[32];
    snprintf(key, sizeof(key), "mirror/%03zu", i);
    return key;
  }

  // Reads every family at one moment.
  RowSet ReadFirst(const Snapshot* snapshot) {
    std::array<RowSet, Store::kFamilies> sets;
    store()->Scan(
        {{0, 1, 2}, kMirrorLower, kMirrorUpper}, snapshot, Direction::kForward,
        [&](size_t family, const Slice& key, const Slice& value) { sets[family].Add(key, value); });
    for (size_t family = 1; family < sets.size(); family++) {
      if (sets[family] == sets[0]) continue;
      Wrong("a batch is seen in part: families 0 and " + std::to_string(family) + " hold " +
            std::to_string(sets[0].rows()) + " and " + std::to_string(sets[family].rows()) +
            (snapshot == nullptr ? " rows through iterators" : " rows through a snapshot"));
    }
    return sets[0];
  }

  void ReadAgain(const Held& held, Random* random) {
    const size_t family = random->Below(Store::kFamilies);
    const uint64_t way = random->Below(4);
    RowSet rows;
    if (way < 2) {
      const Direction direction = way == 0 ? Direction::kForward : Direction::kBackward;
      store()->Scan({{family}, kMirrorLower, kMirrorUpper}, held.snapshot, direction,
                    [&](size_t, const Slice& key, const Slice& value) { rows.Add(key, value); });
    } else {
      std::vector<Cell> cells;
      for (size_t i = 0; i < kKeys + 10; i++) cells.push_back(Cell{family, KeyOf(i)});
      std::vector<Content> contents;
      if (way == 2) {
        contents = store()->MultiGet(cells, held.snapshot);
      } else {
        for (const Cell& cell : cells) contents.push_back(store()->Get(cell, held.snapshot));
      }
      for (size_t i = 0; i < cells.size(); i++) {
        if (contents[i].has_value()) rows.Add(cells[i].key, *contents[i]);
      }
    }
    if (rows == held.rows) return;
    static constexpr const char* kWays[] = {"a scan", "a scan backwards", "MultiGet", "Gets"};
    Wrong(std::string("a snapshot changed: ") + kWays[way] + " of family " +
          std::to_string(family) + " found " + std::to_string(rows.rows()) + " rows, before " +
          std::to_string(held.rows.rows()));
  }

  std::vector<std::vector<Held>> held_;  // by reader
};

}  // namespace

std::unique_ptr<Checker> NewMirrorChecker(Store* store, size_t reader_threads) {
  return std::make_unique<MirrorChecker>(store, reader_threads);
}

}  // namespace varve::testing
