// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/planted.h"

#include <thread>

namespace varve::testing {

namespace {

constexpr uint64_t kOneIn = 50;

// Draws random numbers without the caller's seed, as readings have none. Thread-safe.
class Dice {
 public:
  bool Hit() { return Random(throws_.fetch_add(1, std::memory_order_relaxed)).OneIn(kOneIn); }

 private:
  std::atomic<uint64_t> throws_{0};  // publishes nothing
};

// The second half of a batch becomes visible later than the first.
class HalfBatches final : public Store {
 public:
  using Store::Store;

  void Write(WriteBatch* batch, Random* random) override {
    if (!random->OneIn(kOneIn)) return Store::Write(batch, random);
    Halves halves(this);
    findings()->Expect(batch->Iterate(&halves), "Iterate");
    Store::Write(&halves.first, random);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Store::Write(&halves.second, random);
  }

 private:
  // Puts the first record into one batch and all others into another.
  struct Halves final : WriteBatch::Handler {
    explicit Halves(Store* s) : store(s) {}
    WriteBatch* Next() { return records++ == 0 ? &first : &second; }
    Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
      return Next()->Put(store->family(family), key, value);
    }
    Status MergeCF(uint32_t family, const Slice& key, const Slice& value) override {
      return Next()->Merge(store->family(family), key, value);
    }
    Status DeleteCF(uint32_t family, const Slice& key) override {
      return Next()->Delete(store->family(family), key);
    }
    Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
      return Next()->DeleteRange(store->family(family), begin, end);
    }
    Store* store;
    size_t records = 0;
    WriteBatch first;
    WriteBatch second;
  };
};

// A snapshot shows a part of the present: it does not hold still.
class MovingSnapshots final : public Store {
 public:
  using Store::Store;

  Content Get(const Cell& cell, const Snapshot* snapshot) override {
    return Store::Get(cell, dice_.Hit() ? nullptr : snapshot);
  }
  std::vector<Content> MultiGet(const std::vector<Cell>& cells, const Snapshot* snapshot) override {
    return Store::MultiGet(cells, dice_.Hit() ? nullptr : snapshot);
  }
  void Scan(const ScanRange& range, const Snapshot* snapshot, Direction direction,
            const RowVisitor& visit) override {
    Store::Scan(range, dice_.Hit() ? nullptr : snapshot, direction, visit);
  }

 private:
  Dice dice_;
};

// Readings of several keys without a snapshot mix two sequences.
class TornReadings final : public Store {
 public:
  using Store::Store;

  std::vector<Content> MultiGet(const std::vector<Cell>& cells, const Snapshot* snapshot) override {
    const Snapshot* const other = Take();
    if (dice_.Hit()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::vector<Content> contents = Store::MultiGet(cells, snapshot);
    if (snapshot == nullptr) {
      const std::vector<Content> older = Store::MultiGet(cells, other);
      for (size_t i = 0; i < contents.size() / 2; i++) contents[i] = older[i];
    }
    Release(other);
    return contents;
  }
  void Scan(const ScanRange& range, const Snapshot* snapshot, Direction direction,
            const RowVisitor& visit) override {
    for (const size_t family : range.families) {
      Store::Scan({{family}, range.lower, range.upper}, snapshot, direction, visit);
    }
  }

 private:
  Dice dice_;
};

// A Get of the present reads an older moment.
class StaleGets final : public Store {
 public:
  StaleGets(const WriteMode& mode, std::unique_ptr<DB> db, std::vector<ColumnFamilyHandle*> handles,
            Findings* findings)
      : Store(mode, std::move(db), std::move(handles), findings), old_(Take()) {}
  ~StaleGets() override { Release(old_); }

  Content Get(const Cell& cell, const Snapshot* snapshot) override {
    return Store::Get(cell, snapshot == nullptr && dice_.Hit() ? old_ : snapshot);
  }

 private:
  const Snapshot* const old_;
  Dice dice_;
};

// A reading as of a moment sees the next one too.
class LateMoments final : public Store {
 public:
  using Store::Store;

  std::optional<std::vector<std::string>> ReadAsOf(uint64_t moment, bool forward) override {
    return Store::ReadAsOf(dice_.Hit() ? moment + 1 : moment, forward);
  }

 private:
  Dice dice_;
};

// A write counts twice.
class DoubleWrites final : public Store {
 public:
  using Store::Store;

  void Write(WriteBatch* batch, Random* random) override {
    Store::Write(batch, random);
    if (random->OneIn(kOneIn)) Store::Write(batch, random);
  }
};

// A write is acknowledged and lost.
class LostWrites final : public Store {
 public:
  using Store::Store;

  void Write(WriteBatch* batch, Random* random) override {
    if (!random->OneIn(kOneIn)) Store::Write(batch, random);
  }
};

template <typename T>
std::unique_ptr<Store> Make(const WriteMode& mode, std::unique_ptr<DB> db,
                            std::vector<ColumnFamilyHandle*> handles, Findings* findings) {
  return std::make_unique<T>(mode, std::move(db), std::move(handles), findings);
}

constexpr PlantedBug kBugs[] = {
    {"half batches", "bank ledger list mirror", Make<HalfBatches>},
    {"moving snapshots", "bank list mirror", Make<MovingSnapshots>},
    {"torn readings", "bank ledger list", Make<TornReadings>},
    {"stale gets", "bank list register", Make<StaleGets>},
    {"lost writes", "bank ledger list register timed", Make<LostWrites>},
    {"double writes", "ledger", Make<DoubleWrites>},
    {"late moments", "timed", Make<LateMoments>},
};

}  // namespace

std::span<const PlantedBug> PlantedBugs() {
  return kBugs;
}

}  // namespace varve::testing
