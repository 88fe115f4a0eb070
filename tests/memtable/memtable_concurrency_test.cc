// SPDX-License-Identifier: Apache-2.0

// Readers beside one writer, and many writers beside readers; meant for a thread sanitizer, too.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "varve/comparator.h"

#include "tests/memtable/representations.h"

namespace varve {
namespace {

constexpr int kKeys = 200;

std::string KeyOf(uint64_t n) {
  return "key" + std::to_string(1000 + n % kKeys);
}

const InternalKeyComparator& BytewiseOrder() {
  static const InternalKeyComparator order(BytewiseComparator());
  return order;
}

// Everything with a sequence up to `snapshot` must be there, in order.
void CheckAt(const MemTable& mem, SequenceNumber snapshot) {
  const auto it = mem.NewIterator();
  uint64_t visible = 0;
  std::string previous;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    if (!previous.empty()) {
      ASSERT_LT(BytewiseOrder().Compare(previous, key), 0);
    }
    previous = key;
    const SequenceNumber seq = ExtractSequence(key);
    ASSERT_EQ(it->value().ToString(), std::to_string(seq));
    if (seq <= snapshot) visible++;
  }
  ASSERT_EQ(visible, snapshot);
}

void CheckGet(const MemTable& mem, SequenceNumber snapshot, uint64_t n) {
  PinnableSlice value;
  PointLookup lookup(KeyOf(n), snapshot, &value);
  if (mem.Get(&lookup)) {
    ASSERT_LE(lookup.found_seq(), snapshot);
    ASSERT_EQ(value.ToString(), std::to_string(lookup.found_seq()));
  }
}

class MemTableConcurrencyTest : public EachRepresentation {};

VARVE_EACH_REPRESENTATION(MemTableConcurrencyTest);

TEST_P(MemTableConcurrencyTest, ReadersBesideOneWriterSeeAllThatIsPublished) {
  constexpr SequenceNumber kEntries = 5000;
  MemTable mem(BytewiseOrder(), Options(), 1);
  std::atomic<SequenceNumber> published{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; r++) {
    readers.emplace_back([&, r] {
      std::mt19937_64 random(static_cast<uint64_t>(r));
      for (;;) {
        const SequenceNumber snapshot = published.load(std::memory_order_acquire);
        for (int i = 0; i < 20; i++) CheckGet(mem, snapshot, random());
        CheckAt(mem, snapshot);
        if (snapshot == kEntries) return;
      }
    });
  }
  std::mt19937_64 random(99);
  for (SequenceNumber seq = 1; seq <= kEntries; seq++) {
    ASSERT_TRUE(mem.Add(seq, kTypeValue, KeyOf(random()), std::to_string(seq)).ok());
    published.store(seq, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
}

TEST_P(MemTableConcurrencyTest, ManyWritersLoseNothing) {
  constexpr int kWriters = 4;
  constexpr SequenceNumber kEach = 3000;
  MemTable mem(BytewiseOrder(), Options(), 1);
  std::atomic<SequenceNumber> next{0};
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done.load(std::memory_order_acquire)) CheckAt(mem, 0);
  });
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; w++) {
    writers.emplace_back([&, w] {
      std::mt19937_64 random(static_cast<uint64_t>(w));
      for (SequenceNumber i = 0; i < kEach; i++) {
        const SequenceNumber seq = next.fetch_add(1) + 1;
        // Half of it in order, so that insert hints and full searches meet.
        const uint64_t n = w % 2 == 0 ? random() : i / 16;
        ASSERT_TRUE(mem.Add(seq, kTypeValue, KeyOf(n), std::to_string(seq)).ok());
        CheckGet(mem, seq, n);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done.store(true, std::memory_order_release);
  reader.join();
  CheckAt(mem, kWriters * kEach);
  EXPECT_EQ(mem.entry_count(), kWriters * kEach);
}

TEST_P(MemTableConcurrencyTest, OneOfManyWritersOfTheSameEntryWins) {
  if (IsVector()) return;
  MemTable mem(BytewiseOrder(), Options(), 1);
  std::atomic<int> added{0};
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; w++) {
    writers.emplace_back([&] {
      for (SequenceNumber seq = 1; seq <= 1000; seq++) {
        const Status s = mem.Add(seq, kTypeValue, KeyOf(seq), std::to_string(seq));
        ASSERT_TRUE(s.ok() || s.IsTryAgain());
        if (s.ok()) added.fetch_add(1);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(added.load(), 1000);
  CheckAt(mem, 1000);
}

TEST_P(MemTableConcurrencyTest, ReadsByKeyAreExactWhileTheIndexIsBuilt) {
  constexpr SequenceNumber kEntries = 20000;
  std::vector<std::string> keys(kEntries + 1);
  std::mt19937_64 random(5);
  for (std::string& key : keys) key = std::to_string(random() % 3000);
  MemTable mem(BytewiseOrder(), Options(), 1);
  std::atomic<SequenceNumber> published{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; r++) {
    readers.emplace_back([&, r] {
      std::mt19937_64 own(static_cast<uint64_t>(r));
      PinnableSlice value;
      for (;;) {
        const SequenceNumber newest = published.load(std::memory_order_acquire);
        if (newest == 0) continue;
        // Some reads are at old snapshots, most of the newest keys.
        const SequenceNumber back =
            own() % (own() % 4 == 0 ? newest : std::min<uint64_t>(newest, 9));
        const SequenceNumber seq = newest - back;
        value.Reset();
        PointLookup lookup(keys[seq], seq, &value);
        ASSERT_TRUE(mem.Get(&lookup)) << seq;
        ASSERT_EQ(lookup.found_seq(), seq);
        if (newest == kEntries) return;
      }
    });
  }
  for (SequenceNumber seq = 1; seq <= kEntries;) {
    std::vector<MemTableEntry> batch;
    const SequenceNumber end = std::min(kEntries + 1, seq + 1 + random() % 40);
    for (; seq < end; seq++) batch.push_back({seq, kTypeValue, keys[seq], keys[seq]});
    ASSERT_TRUE(mem.Add(batch).ok());
    published.store(seq - 1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
}

// Batches and single entries, side by side: one of the threads has the insert hint.
TEST_P(MemTableConcurrencyTest, BatchesOfManyThreadsLoseAndDoubleNothing) {
  if (IsVector()) return;
  constexpr int kThreads = 4;
  constexpr uint64_t kBatches = 400;
  MemTable mem(BytewiseOrder(), Options(), 1);
  std::atomic<uint64_t> refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      // Two threads each add the same entries: one of the two adds of each is refused.
      std::mt19937_64 random(static_cast<uint64_t>(t / 2));
      SequenceNumber seq = static_cast<SequenceNumber>(t / 2) * 1000000 + 1;
      for (uint64_t b = 0; b < kBatches; b++) {
        const size_t size = 1 + random() % 24;
        std::vector<std::string> keys;
        for (size_t i = 0; i < size; i++) keys.push_back(std::to_string(random() % 2000));
        std::vector<MemTableEntry> batch;
        for (size_t i = 0; i < size; i++) {
          batch.push_back({seq + i, kTypeValue, keys[i], keys[i]});
        }
        if (!mem.Add(batch).ok()) {
          refused++;
          // The others may still succeed.
          for (const MemTableEntry& e : batch) {
            mem.Add(e.seq, e.type, e.key, e.value).PermitUncheckedError();
          }
        }
        seq += size;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(refused.load(), 0u);
  // Every entry is there once, however many of its batch's neighbours were refused.
  uint64_t walked = 0;
  std::string last;
  const auto it = mem.NewIterator();
  for (it->SeekToFirst(); it->Valid(); it->Next(), walked++) {
    ASSERT_NE(it->key(), Slice(last));
    if (!last.empty()) {
      ASSERT_LT(BytewiseOrder().Compare(last, it->key()), 0);
    }
    last = it->key().ToString();
  }
  uint64_t expected = 0;
  for (uint64_t t = 0; t < kThreads / 2; t++) {
    std::mt19937_64 random(t);
    for (uint64_t b = 0; b < kBatches; b++) {
      const size_t size = 1 + random() % 24;
      for (size_t i = 0; i < size; i++) random();
      expected += size;
    }
  }
  EXPECT_EQ(walked, expected);
  EXPECT_EQ(mem.entry_count(), expected);
}

TEST_P(MemTableConcurrencyTest, RangeTombstonesBesideReaders) {
  MemTable mem(BytewiseOrder(), Options(), 1);
  std::atomic<SequenceNumber> published{0};
  std::thread reader([&] {
    for (;;) {
      const SequenceNumber snapshot = published.load(std::memory_order_acquire);
      PointLookup lookup("m", snapshot, nullptr);
      const bool over = mem.Get(&lookup);
      ASSERT_EQ(over, snapshot != 0);
      ASSERT_EQ(lookup.covering_seq(), snapshot);
      if (snapshot == 300) return;
    }
  });
  for (SequenceNumber seq = 1; seq <= 300; seq++) {
    ASSERT_TRUE(mem.Add(seq, kTypeRangeDeletion, "a", "z").ok());
    published.store(seq, std::memory_order_release);
  }
  reader.join();
}

}  // namespace
}  // namespace varve
