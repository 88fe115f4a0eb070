// SPDX-License-Identifier: Apache-2.0

// Lists that grow by transactions: each reads some keys, then appends to two or three of them in
// one batch. A stored list is its length and a hash of all its elements, so a value certifies the
// order of everything before it.
//
// A transaction needs the lengths that were acknowledged when it began, the lengths that it read,
// and its own; and what those needed in turn. A reading of one moment is a vector of lengths. It is
// consistent with some order of all transactions that respects real time exactly when it holds what
// each of its lists needs: then no cycle of dependencies (writes, reads, real time) passes through
// it. So instead of searching a graph for cycles, every reading is compared with the needs of the
// transactions that it shows.

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <mutex>

#include "tests/consistency/checker.h"

namespace varve::testing {

namespace {

constexpr size_t kLists = 18;
constexpr size_t kListPadding = 200;
constexpr const char* kListLower = "list/";
constexpr const char* kListUpper = "list0";

using Lengths = std::array<uint32_t, kLists>;

void Raise(Lengths* lengths, const Lengths& other) {
  for (size_t i = 0; i < kLists; i++) (*lengths)[i] = std::max((*lengths)[i], other[i]);
}

// Returns the first list that is shorter in `lengths` than in `least`, or kLists if there is none.
size_t FirstShorter(const Lengths& lengths, const Lengths& least) {
  size_t i = 0;
  while (i < kLists && lengths[i] >= least[i]) i++;
  return i;
}

// Holds the state of a list after an append.
struct Version {
  uint64_t chain = 0;
  Lengths needs{};
};

class List {
 public:
  List() : versions_(1) {}

  // The transaction that appends to the list holds it.
  std::mutex turn;

  uint32_t begun() const { return begun_.load(std::memory_order_acquire); }
  uint32_t acknowledged() const { return acknowledged_.load(std::memory_order_acquire); }
  void Acknowledge(uint32_t length) { acknowledged_.store(length, std::memory_order_release); }

  void Append(const Version& version) {
    const std::lock_guard<std::mutex> lock(mutex_);
    versions_.push_back(version);
    begun_.store(static_cast<uint32_t>(versions_.size() - 1), std::memory_order_release);
  }
  Version At(uint32_t length) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return versions_[length];
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Version> versions_;  // guarded by mutex_
  // They publish that versions_ holds a length, and that the database acknowledged it.
  std::atomic<uint32_t> begun_{0};
  std::atomic<uint32_t> acknowledged_{0};
};

uint64_t Chain(uint64_t chain, uint64_t element) {
  return Random(chain * 31 + element).Next();
}

class ListChecker final : public Checker {
 public:
  ListChecker(Store* store, size_t readers, std::atomic<uint64_t>* torn_gets)
      : Checker(store, "list"), torn_gets_(torn_gets), last_(readers) {
    for (size_t i = 0; i < kLists; i++) {
      char key[24];
      snprintf(key, sizeof(key), "list/%02zu", i);
      cells_.push_back(Cell{i % Store::kFamilies, key});
    }
  }

  void Prepare(Random*) override {}

  void WriteOnce(size_t, Random* random) override {
    const Lengths before = Acknowledged();
    std::vector<size_t> chosen = {random->Below(kLists), random->Below(kLists),
                                  random->Below(kLists)};
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    std::vector<std::unique_lock<std::mutex>> locks;
    for (const size_t i : chosen) locks.emplace_back(lists_[i].turn);

    Lengths needs = before;
    Observe(random->Below(kLists), &needs);
    for (const size_t i : chosen) {
      const uint32_t length = lists_[i].begun();
      ExpectLength(i, length);
      Raise(&needs, lists_[i].At(length).needs);
      needs[i] = length + 1;
    }
    WriteBatch batch;
    for (const size_t i : chosen) {
      const Version version{Chain(lists_[i].At(needs[i] - 1).chain, random->Next()), needs};
      lists_[i].Append(version);
      Put(&batch, i, needs[i], version.chain, random);
    }
    store()->Write(&batch, random);
    for (const size_t i : chosen) lists_[i].Acknowledge(needs[i]);
    CountWrite();
  }

  void ReadOnce(size_t thread, Random* random) override {
    const uint64_t way = random->Below(6);
    if (way == 5) {
      ReadTwoPlainly(random);
    } else {
      ReadMoment(thread, way, random);
    }
    CountRead();
  }

  // Snapshots of higher sequence numbers must show at least as much, and equal numbers the same.
  void Finish() override {
    const std::lock_guard<std::mutex> lock(moments_mutex_);
    std::ranges::sort(moments_, {}, &Moment::sequence);
    for (size_t i = 1; i < moments_.size(); i++) {
      const Moment& a = moments_[i - 1];
      const Moment& b = moments_[i];
      if (FirstShorter(b.lengths, a.lengths) == kLists &&
          (a.sequence != b.sequence || a.lengths == b.lengths)) {
        continue;
      }
      Wrong("snapshots " + std::to_string(a.sequence) + " and " + std::to_string(b.sequence) +
            " contradict each other at list " + std::to_string(FirstShorter(b.lengths, a.lengths)));
      return;
    }
  }

 private:
  struct Moment {
    SequenceNumber sequence;
    Lengths lengths;
  };

  Lengths Acknowledged() const {
    Lengths lengths;
    for (size_t i = 0; i < kLists; i++) lengths[i] = lists_[i].acknowledged();
    return lengths;
  }

  void Put(WriteBatch* batch, size_t list, uint32_t length, uint64_t chain, Random* random) {
    char text[40];
    snprintf(text, sizeof(text), "%u %016llx ", length, static_cast<unsigned long long>(chain));
    ColumnFamilyHandle* const handle = store()->family(cells_[list].family);
    const std::string& key = cells_[list].key;
    Status s;
    if (random->OneIn(16)) s = batch->DeleteRange(handle, key, key + "~");
    if (s.ok()) s = batch->Put(handle, key, text + random->Text(random->Below(kListPadding)));
    store()->findings()->Expect(s, "filling a batch");
  }

  // Returns the length that a value states, if it was begun in the one possible order.
  uint32_t LengthIn(size_t list, const Content& content) {
    if (!content.has_value()) return 0;
    char* rest = nullptr;
    const auto length = static_cast<uint32_t>(strtoul(content->c_str(), &rest, 10));
    const uint64_t chain = strtoull(rest, nullptr, 16);
    if (length > lists_[list].begun()) {
      Wrong(cells_[list].key + " is longer than anything written");
      return 0;
    }
    if (lists_[list].At(length).chain != chain) {
      Wrong(cells_[list].key + " of length " + std::to_string(length) + " holds other elements");
    }
    return length;
  }

  // Reads a list without a snapshot; the observed writes are needed, with all that they need.
  uint32_t Observe(size_t list, Lengths* needs) {
    const uint32_t length = LengthIn(list, store()->Get(cells_[list], nullptr));
    Raise(needs, lists_[list].At(length).needs);
    (*needs)[list] = std::max((*needs)[list], length);
    return length;
  }

  void ExpectLength(size_t list, uint32_t expected) {
    const uint32_t length = LengthIn(list, store()->Get(cells_[list], nullptr));
    if (length == expected) return;
    Wrong("a Get of " + cells_[list].key + " found length " + std::to_string(length) +
          " after an append to " + std::to_string(expected) + " had returned");
  }

  void ReadTwoPlainly(Random* random) {
    const Lengths least = Acknowledged();
    const size_t a = random->Below(kLists);
    const size_t b = random->Below(kLists);
    Lengths needs{};
    const uint32_t length_a = Observe(a, &needs);
    const uint32_t needed_b = needs[b];
    const uint32_t length_b = Observe(b, &needs);
    ExpectAtLeast(a, length_a, least[a]);
    ExpectAtLeast(b, length_b, least[b]);
    if (length_b >= needed_b) return;
    if (store()->mode().torn_gets) {
      torn_gets_->fetch_add(1, std::memory_order_relaxed);
    } else {
      Wrong("two Gets saw a batch in part: " + cells_[a].key + ", then " + cells_[b].key);
    }
  }

  // An append may delete its list first. Where a Get sees a part of a batch, it may see the
  // deletion alone: no list, while a longer one is about to be written.
  void ExpectAtLeast(size_t list, uint32_t length, uint32_t least) {
    if (length >= least) return;
    if (length == 0 && store()->mode().torn_gets && lists_[list].begun() > least) return;
    Wrong("a Get of " + cells_[list].key + " found length " + std::to_string(length) +
          " after an append to " + std::to_string(least) + " had returned");
  }

  void ReadMoment(size_t thread, uint64_t way, Random* random) {
    const Lengths least = Acknowledged();
    const Snapshot* const snapshot = way < 3 ? store()->Take() : nullptr;
    std::vector<Content> contents(kLists);
    if (way == 0) {
      for (size_t i = 0; i < kLists; i++) contents[i] = store()->Get(cells_[i], snapshot);
    } else if (way == 1 || way == 3) {
      contents = store()->MultiGet(cells_, snapshot);
    } else {
      const Direction direction = random->OneIn(2) ? Direction::kForward : Direction::kBackward;
      store()->Scan({{0, 1, 2}, kListLower, kListUpper}, snapshot, direction,
                    [&](size_t, const Slice& key, const Slice& value) {
                      const size_t list = strtoul(key.ToString().c_str() + 5, nullptr, 10);
                      contents[list] = value.ToString();
                    });
    }
    Moment moment{snapshot == nullptr ? 0 : snapshot->GetSequenceNumber(), {}};
    if (snapshot != nullptr) store()->Release(snapshot);
    for (size_t i = 0; i < kLists; i++) moment.lengths[i] = LengthIn(i, contents[i]);
    JudgeMoment(moment, least, way);
    Raise(&last_[thread], moment.lengths);
    if (moment.lengths != last_[thread]) Wrong("a later reading shows less than an earlier one");
    if (snapshot == nullptr) return;
    const std::lock_guard<std::mutex> lock(moments_mutex_);
    moments_.push_back(moment);
  }

  void JudgeMoment(const Moment& moment, const Lengths& least, uint64_t way) {
    const std::string what = " in reading " + std::to_string(way);
    const size_t missed = FirstShorter(moment.lengths, least);
    if (missed != kLists) {
      Wrong("an append to " + cells_[missed].key + " that had returned is missing" + what);
    }
    for (size_t i = 0; i < kLists; i++) {
      const Version version = lists_[i].At(moment.lengths[i]);
      const size_t shorter = FirstShorter(moment.lengths, version.needs);
      if (shorter == kLists) continue;
      Wrong(cells_[i].key + " at " + std::to_string(moment.lengths[i]) + " needs " +
            cells_[shorter].key + " at " + std::to_string(version.needs[shorter]) + ", not at " +
            std::to_string(moment.lengths[shorter]) + what);
      return;
    }
  }

  std::atomic<uint64_t>* const torn_gets_;  // counts; publishes nothing
  std::array<List, kLists> lists_;
  std::vector<Cell> cells_;
  std::vector<Lengths> last_;  // by reader: the lengths it has seen
  std::mutex moments_mutex_;
  std::vector<Moment> moments_;  // guarded by moments_mutex_
};

}  // namespace

std::unique_ptr<Checker> NewListChecker(Store* store, size_t reader_threads,
                                        std::atomic<uint64_t>* torn_gets) {
  return std::make_unique<ListChecker>(store, reader_threads, torn_gets);
}

}  // namespace varve::testing
