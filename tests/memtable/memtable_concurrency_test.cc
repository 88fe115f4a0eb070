// SPDX-License-Identifier: Apache-2.0

// Readers beside one writer, and many writers beside readers; meant for a thread sanitizer, too.

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "varve/comparator.h"

#include "memtable/memtable.h"

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

TEST(MemTableConcurrencyTest, ReadersBesideOneWriterSeeAllThatIsPublished) {
  constexpr SequenceNumber kEntries = 5000;
  MemTable mem(BytewiseOrder(), {}, 1);
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

TEST(MemTableConcurrencyTest, ManyWritersLoseNothing) {
  constexpr int kWriters = 4;
  constexpr SequenceNumber kEach = 3000;
  MemTable mem(BytewiseOrder(), {}, 1);
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
        // Half of it in order, so that fingers and full searches meet.
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

TEST(MemTableConcurrencyTest, OneOfManyWritersOfTheSameEntryWins) {
  MemTable mem(BytewiseOrder(), {}, 1);
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

TEST(MemTableConcurrencyTest, RangeTombstonesBesideReaders) {
  MemTable mem(BytewiseOrder(), {}, 1);
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
