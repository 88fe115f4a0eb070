// SPDX-License-Identifier: Apache-2.0

// Goal: an order of all transactions explains their reads and writes, in every write mode and of
// every kind: without exception when they read for update, lock ranges or check what they read, and
// but for write skew, which must appear, when they read a snapshot. Method: they append to lists,
// by what they read, blindly by Merge, and by deleting a range and putting it back; list_history.h
// searches what was committed for cycles. Histories with each anomaly are searched, too, and
// transactions that lock nothing. VARVE_CONSISTENCY=n is about the number of transactions;
// VARVE_CONSISTENCY_MODE=name takes one mode.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/consistency/list_history.h"
#include "tests/consistency/transactions_under_test.h"
#include "tests/harness/environment.h"

namespace varve::testing {

namespace {

constexpr uint64_t kListTransactionsWanted = 220'000;
constexpr size_t kListThreads = 4;
constexpr uint32_t kSlots = 6;         // lists that are in use at a time
constexpr size_t kListLengthMax = 40;  // then others are
constexpr size_t kElementBytes = sizeof(uint32_t);

enum class ReadsBy { kSnapshot, kLocks, kNothing };

std::string BytesOfElement(uint32_t element) {
  return std::string(reinterpret_cast<const char*>(&element), kElementBytes);
}

class ListTransactions {
 public:
  ListTransactions(TransactionsUnderTest* under_test, bool optimistic, ReadsBy reads)
      : test_(*under_test), optimistic_(optimistic), reads_(reads), threads_(kListThreads) {}

  void Run(uint64_t wanted) {
    test_.Run(
        kListThreads, [this](size_t thread, Random* random) { Step(&threads_[thread], random); },
        [&] { return committed_ >= wanted; });
  }
  [[nodiscard]] uint64_t committed() const { return committed_; }

  ListAnomalies Judge() {
    std::vector<ListTransaction> all;
    for (PerThread& thread : threads_) {
      all.insert(all.end(), thread.history.begin(), thread.history.end());
    }
    std::vector<ListElements> lists(kSlots * (generation_ + 1));
    for (uint32_t slot = 0; slot < 2; slot++) {
      const std::unique_ptr<Iterator> it(
          test_.db()->NewIterator(ReadOptions(), test_.family(slot)));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        lists.at(ListOf(it->key())) = Elements(it->value());
      }
      test_.findings()->Expect(it->status(), "an iterator");
    }
    return FindAnomalies(all, lists);
  }

 private:
  struct PerThread {
    std::vector<ListTransaction> history;
    uint32_t appended = 0;
  };
  // Holds a transaction in progress.
  struct Attempt {
    std::unique_ptr<Transaction> txn;
    ReadOptions read;
    uint32_t generation = 0;
    ListTransaction record;
    std::map<uint32_t, ListElements> seen;  // lists that were read, with own appends
    Status status;
    bool must_fail = false;

    bool ok() const { return status.ok(); }
  };

  static std::string KeyOf(uint32_t list) {
    char key[24];
    snprintf(key, sizeof(key), "g%06u/%u", list / kSlots, list % kSlots);
    return key;
  }
  static uint32_t ListOf(const Slice& key) {
    unsigned generation = 0;
    unsigned slot = 0;
    EXPECT_EQ(sscanf(key.ToString().c_str(), "g%06u/%u", &generation, &slot), 2);
    return generation * kSlots + slot;
  }
  static ListElements Elements(const Slice& value) {
    EXPECT_EQ(value.size() % kElementBytes, 0u);
    ListElements elements(value.size() / kElementBytes);
    if (!elements.empty()) memcpy(elements.data(), value.data(), value.size());
    return elements;
  }
  static std::string BytesOfList(const ListElements& elements) {
    return std::string(reinterpret_cast<const char*>(elements.data()),
                       elements.size() * kElementBytes);
  }
  ColumnFamilyHandle* FamilyOf(uint32_t list) { return test_.family(list % 2); }

  void Step(PerThread* thread, Random* random) {
    if (random->OneIn(5)) return ReadAll(thread, random);
    Attempt attempt;
    attempt.generation = generation_;
    attempt.record.begun = clock_++;
    Begin(&attempt, random);
    const bool ranges = reads_ == ReadsBy::kLocks && !optimistic_ && random->OneIn(4);
    ranges ? UseRange(&attempt, thread, random) : UseKeys(&attempt, thread, random);
    Finish(&attempt, thread, random);
  }

  void Begin(Attempt* attempt, Random* random) {
    const bool snapshot = reads_ == ReadsBy::kSnapshot;
    attempt->txn = test_.Begin(random, snapshot);
    if (!optimistic_) attempt->txn->SetLockTimeout(1);
    if (snapshot) attempt->read.snapshot = attempt->txn->GetSnapshot();
  }

  void UseKeys(Attempt* attempt, PerThread* thread, Random* random) {
    const size_t readings = random->Below(4);
    for (size_t i = 0; i < readings && attempt->ok(); i++) Read(attempt, DrawList(attempt, random));
    if (random->OneIn(2)) std::this_thread::yield();
    const size_t appends = random->Below(3);
    for (size_t i = 0; i < appends && attempt->ok(); i++) {
      if (random->OneIn(8)) AppendAndTakeBack(attempt, thread, random);
      if (attempt->ok()) Append(attempt, DrawList(attempt, random), thread, random);
    }
  }
  uint32_t DrawList(Attempt* attempt, Random* random) {
    return attempt->generation * kSlots + static_cast<uint32_t>(random->Below(kSlots));
  }

  void Read(Attempt* attempt, uint32_t list) {
    std::string value;
    const Status s =
        reads_ == ReadsBy::kLocks
            ? attempt->txn->GetForUpdate(attempt->read, FamilyOf(list), KeyOf(list), &value,
                                         /*exclusive=*/list % 3 != 0)
            : attempt->txn->Get(attempt->read, FamilyOf(list), KeyOf(list), &value);
    if (!s.ok() && !s.IsNotFound()) {
      attempt->status = s;
      return;
    }
    Note(attempt, list, Elements(value));
  }
  // Records what the transaction has read.
  void Note(Attempt* attempt, uint32_t list, const ListElements& elements) {
    const auto [it, first] = attempt->seen.emplace(list, elements);
    if (!first) {
      // Validation at commit must notice this; locks and snapshots prevent it.
      const bool changed = it->second != elements;
      attempt->must_fail = attempt->must_fail || changed;
      if (changed && (!optimistic_ || reads_ == ReadsBy::kSnapshot) &&
          reads_ != ReadsBy::kNothing) {
        test_.Wrong("read twice");
      }
      return;
    }
    // Elements that the transaction appended blindly before are at the end.
    ListElements others = elements;
    for (auto own = attempt->record.appends.rbegin(); own != attempt->record.appends.rend();
         ++own) {
      if (own->list != list) continue;
      if (others.empty() || others.back() != own->element) test_.Wrong("its own append is gone");
      if (!others.empty()) others.pop_back();
    }
    attempt->record.readings.push_back({list, others});
  }

  void Append(Attempt* attempt, uint32_t list, PerThread* thread, Random* random) {
    const uint32_t element = NewElement(thread);
    const auto seen = attempt->seen.find(list);
    Transaction* const txn = attempt->txn.get();
    if (seen == attempt->seen.end() || random->OneIn(3)) {
      attempt->status = txn->Merge(FamilyOf(list), KeyOf(list), BytesOfElement(element));
    } else {
      const std::string value = BytesOfList(seen->second) + BytesOfElement(element);
      attempt->status = reads_ == ReadsBy::kNothing
                            ? txn->PutUntracked(FamilyOf(list), KeyOf(list), value)
                            : txn->Put(FamilyOf(list), KeyOf(list), value);
    }
    if (!attempt->ok()) return;
    if (seen != attempt->seen.end()) seen->second.push_back(element);
    attempt->record.appends.push_back({list, element});
    if (random->OneIn(4)) Read(attempt, list);
  }
  uint32_t NewElement(PerThread* thread) const {
    const auto number = static_cast<uint32_t>(thread - threads_.data());
    return (number << 24) | ++thread->appended;
  }
  void AppendAndTakeBack(Attempt* attempt, PerThread* thread, Random* random) {
    const uint32_t list = DrawList(attempt, random);
    attempt->txn->SetSavePoint();
    Status s = attempt->txn->Merge(FamilyOf(list), KeyOf(list), BytesOfElement(NewElement(thread)));
    if (s.ok()) s = attempt->txn->RollbackToSavePoint();
    attempt->status = s;
  }

  // Uses all lists of a family under one lock. Now and then they are deleted as a range and put
  // back.
  void UseRange(Attempt* attempt, PerThread* thread, Random* random) {
    const uint32_t first = attempt->generation * kSlots + static_cast<uint32_t>(random->Below(2));
    ColumnFamilyHandle* const family = FamilyOf(first);
    const std::string begin = KeyOf(first / kSlots * kSlots);
    const std::string end = KeyOf(first / kSlots * kSlots + kSlots - 1);
    Transaction* const txn = attempt->txn.get();
    attempt->status = txn->GetRangeLock(family, Endpoint(begin), Endpoint(end));
    if (!attempt->ok()) return;
    std::map<uint32_t, ListElements> found;
    {
      const std::unique_ptr<Iterator> it(txn->GetIterator(attempt->read, family));
      for (it->Seek(begin); it->Valid() && it->key().compare(end) <= 0; it->Next()) {
        found[ListOf(it->key())] = Elements(it->value());
      }
      test_.findings()->Expect(it->status(), "a transaction's iterator");
    }
    for (uint32_t list = first; list / kSlots == first / kSlots; list += 2) {
      Note(attempt, list, found[list]);
    }
    if (random->OneIn(3)) attempt->status = PutRangeBack(attempt, family, begin, end);
    if (attempt->ok()) Append(attempt, first + 2 * random->Below(3), thread, random);
  }
  static Status PutRangeBack(Attempt* attempt, ColumnFamilyHandle* family, const std::string& begin,
                             const std::string& end) {
    Status s = attempt->txn->DeleteRange(family, begin, end + '\0');
    for (const auto& [list, elements] : attempt->seen) {
      if (!s.ok()) break;
      if (!elements.empty()) s = attempt->txn->Put(family, KeyOf(list), BytesOfList(elements));
    }
    return s;
  }

  void Finish(Attempt* attempt, PerThread* thread, Random* random) {
    if (attempt->ok() && random->OneIn(20)) {
      test_.findings()->Expect(attempt->txn->Rollback(), "Rollback");
      return;
    }
    if (attempt->ok() && !optimistic_ && random->OneIn(4)) attempt->status = Prepare(attempt);
    if (attempt->ok()) attempt->status = attempt->txn->Commit();
    if (attempt->ok()) {
      if (attempt->must_fail && reads_ != ReadsBy::kNothing) test_.Wrong("committed nevertheless");
      Commit(attempt, thread);
    } else if (!IsRefusal(attempt->status)) {
      test_.Wrong("a transaction: " + attempt->status.ToString());
    }
  }
  static Status Prepare(Attempt* attempt) {
    if (attempt->txn->GetWriteOptions()->disableWAL) return Status::OK();
    const Status s = attempt->txn->SetName(std::to_string(attempt->record.begun));
    return s.ok() ? attempt->txn->Prepare() : s;
  }
  void Commit(Attempt* attempt, PerThread* thread) {
    attempt->record.ended = clock_++;
    for (const auto& reading : attempt->record.readings) {
      if (reading.elements.size() < kListLengthMax) continue;
      uint32_t generation = attempt->generation;
      generation_.compare_exchange_strong(generation, generation + 1);
    }
    thread->history.push_back(std::move(attempt->record));
    committed_++;
  }

  // Reads all lists at one moment, outside a transaction.
  void ReadAll(PerThread* thread, Random* random) {
    Attempt attempt;
    attempt.generation = generation_;
    attempt.record.begun = clock_++;
    ManagedSnapshot snapshot(test_.db());
    attempt.read.snapshot = snapshot.snapshot();
    const uint32_t first = attempt.generation * kSlots;
    const bool backwards = random->OneIn(2);
    for (uint32_t i = 0; i < kSlots; i++) {
      const uint32_t list = first + (backwards ? kSlots - 1 - i : i);
      std::string value;
      const Status s = test_.db()->Get(attempt.read, FamilyOf(list), KeyOf(list), &value);
      if (!s.IsNotFound()) test_.findings()->Expect(s, "Get");
      Note(&attempt, list, Elements(value));
    }
    Commit(&attempt, thread);
  }

  TransactionsUnderTest& test_;
  const bool optimistic_;
  const ReadsBy reads_;
  std::vector<PerThread> threads_;
  std::atomic<uint64_t> clock_{1};
  std::atomic<uint32_t> generation_{0};
  // Relaxed: publishes nothing.
  std::atomic<uint64_t> committed_{0};
};

// Sums the results of all modes.
struct ListRuns {
  uint64_t committed = 0;
  uint64_t not_serializable = 0;
  std::string example;
};

// Runs `parts` twentieths of the requested number of transactions.
ListRuns RunInAllModes(const char* name, bool optimistic, OccValidationPolicy checks, ReadsBy reads,
                       uint64_t parts) {
  const uint64_t wanted =
      NumberFromEnvironment("VARVE_CONSISTENCY", kListTransactionsWanted) / 20 * parts;
  ListRuns runs;
  InEachMode(optimistic, [&](const WriteMode& mode) {
    TransactionsUnderTest under_test(mode, optimistic, checks);
    ASSERT_TRUE(under_test.opened().ok()) << under_test.opened().ToString();
    ListTransactions lists(&under_test, optimistic, reads);
    lists.Run(SharedByModes(wanted));
    const ListAnomalies anomalies = lists.Judge();
    EXPECT_EQ(under_test.first_finding(), "");
    EXPECT_EQ(anomalies.forbidden, "");
    runs.committed += lists.committed();
    runs.not_serializable += anomalies.not_serializable;
    if (runs.example.empty()) runs.example = anomalies.example;
  });
  printf("RESULT cycles_%s cases=%llu not_serializable=%llu\n", name,
         static_cast<unsigned long long>(runs.committed),
         static_cast<unsigned long long>(runs.not_serializable));
  return runs;
}

constexpr OccValidationPolicy kSerial = OccValidationPolicy::kValidateSerial;
constexpr OccValidationPolicy kParallel = OccValidationPolicy::kValidateParallel;

// ---- Histories.

ListTransaction Did(uint64_t begun, uint64_t ended, std::vector<ListTransaction::Reading> readings,
                    std::vector<ListTransaction::Append> appends) {
  ListTransaction transaction;
  transaction.begun = begun;
  transaction.ended = ended;
  transaction.readings = std::move(readings);
  transaction.appends = std::move(appends);
  return transaction;
}

}  // namespace

TEST(ListHistoryTest, WhatAnOrderExplainsIsNoAnomaly) {
  const ListAnomalies found =
      FindAnomalies({Did(1, 5, {}, {{0, 1}, {1, 2}}), Did(2, 6, {{0, {}}}, {{2, 3}}),
                     Did(7, 8, {{0, {1}}, {1, {2}}, {2, {3}}}, {{0, 4}})},
                    {{1, 4}, {2}, {3}});
  EXPECT_EQ(found.forbidden, "");
  EXPECT_EQ(found.not_serializable, 0u);
}

TEST(ListHistoryTest, LostAndUnknownElementsAreForbidden) {
  EXPECT_THAT(FindAnomalies({Did(1, 2, {}, {{0, 1}})}, {{}}).forbidden,
              ::testing::HasSubstr("lost"));
  EXPECT_THAT(FindAnomalies({Did(1, 2, {}, {{0, 1}})}, {{1, 7}}).forbidden,
              ::testing::HasSubstr("of nobody"));
  EXPECT_THAT(FindAnomalies({Did(1, 2, {}, {{0, 1}})}, {{1, 1}}).forbidden,
              ::testing::HasSubstr("twice"));
  EXPECT_THAT(FindAnomalies({Did(1, 2, {}, {{0, 1}}), Did(3, 4, {{0, {9}}}, {})}, {{1}}).forbidden,
              ::testing::HasSubstr("no beginning"));
}

TEST(ListHistoryTest, ReadingsInTheMiddleOfATransactionAreForbidden) {
  const ListAnomalies found =
      FindAnomalies({Did(1, 4, {}, {{0, 1}, {0, 2}}), Did(2, 3, {{0, {1}}}, {})}, {{1, 2}});
  EXPECT_THAT(found.forbidden, ::testing::HasSubstr("in between"));
}

TEST(ListHistoryTest, CyclesOfWritesAreForbidden) {
  const ListAnomalies found = FindAnomalies(
      {Did(1, 4, {}, {{0, 1}, {1, 2}}), Did(2, 3, {}, {{0, 3}, {1, 4}})}, {{1, 3}, {4, 2}});
  EXPECT_THAT(found.forbidden, ::testing::HasSubstr("a cycle"));
}

TEST(ListHistoryTest, CyclesOfReadingsAreForbidden) {
  const ListAnomalies found =
      FindAnomalies({Did(1, 4, {{1, {2}}}, {{0, 1}}), Did(2, 3, {{0, {1}}}, {{1, 2}})}, {{1}, {2}});
  EXPECT_THAT(found.forbidden, ::testing::HasSubstr("a cycle"));
}

TEST(ListHistoryTest, HalfATransactionIsForbidden) {
  const ListAnomalies found = FindAnomalies(
      {Did(1, 3, {}, {{0, 1}, {1, 2}}), Did(2, 4, {{0, {1}}, {1, {}}}, {})}, {{1}, {2}});
  EXPECT_THAT(found.forbidden, ::testing::HasSubstr("a cycle"));
}

TEST(ListHistoryTest, LostUpdatesAreForbidden) {
  const ListAnomalies found =
      FindAnomalies({Did(1, 3, {{0, {}}}, {{0, 1}}), Did(2, 4, {{0, {}}}, {{0, 2}})}, {{1, 2}});
  EXPECT_THAT(found.forbidden, ::testing::HasSubstr("a cycle"));
}

TEST(ListHistoryTest, LongForksAreForbidden) {
  const ListAnomalies found =
      FindAnomalies({Did(1, 9, {}, {{0, 1}}), Did(2, 9, {}, {{1, 2}}),
                     Did(3, 9, {{0, {1}}, {1, {}}}, {}), Did(4, 9, {{0, {}}, {1, {2}}}, {})},
                    {{1}, {2}});
  EXPECT_THAT(found.forbidden, ::testing::HasSubstr("a cycle"));
}

TEST(ListHistoryTest, ReadingsOfThePastAreForbidden) {
  const ListAnomalies found =
      FindAnomalies({Did(1, 2, {}, {{0, 1}}), Did(3, 4, {{0, {}}}, {})}, {{1}});
  EXPECT_THAT(found.forbidden, ::testing::HasSubstr("a cycle"));
}

TEST(ListHistoryTest, WriteSkewIsNotSerializable) {
  const ListAnomalies found =
      FindAnomalies({Did(1, 3, {{0, {}}, {1, {}}}, {{0, 1}}),
                     Did(2, 4, {{0, {}}, {1, {}}}, {{1, 2}}), Did(5, 6, {{0, {1}}}, {})},
                    {{1}, {2}});
  EXPECT_EQ(found.forbidden, "");
  EXPECT_EQ(found.not_serializable, 1u);
  EXPECT_NE(found.example, "");
}

// ---- Databases.

TEST(CyclesTest, LocksMakeTransactionsSerializable) {
  const ListRuns runs = RunInAllModes("locks", false, kParallel, ReadsBy::kLocks, 6);
  EXPECT_EQ(runs.not_serializable, 0u) << runs.example;
}

TEST(CyclesTest, SnapshotsUnderLocksAllowWriteSkewAlone) {
  const ListRuns runs = RunInAllModes("snapshots", false, kParallel, ReadsBy::kSnapshot, 5);
  EXPECT_GT(runs.not_serializable, 0u) << "not once in " << runs.committed;
}

TEST(CyclesTest, ChecksMakeTransactionsSerializable) {
  for (const OccValidationPolicy checks : {kSerial, kParallel}) {
    const ListRuns runs = RunInAllModes("checks", true, checks, ReadsBy::kLocks, 4);
    EXPECT_EQ(runs.not_serializable, 0u) << runs.example;
  }
}

TEST(CyclesTest, SnapshotsUnderChecksAllowWriteSkewAlone) {
  for (const OccValidationPolicy checks : {kSerial, kParallel}) {
    const ListRuns runs = RunInAllModes("checked_snapshots", true, checks, ReadsBy::kSnapshot, 4);
    EXPECT_GT(runs.not_serializable, 0u) << "not once in " << runs.committed;
  }
}

TEST(CyclesTest, WhoLocksNothingIsFoundOut) {
  for (const bool optimistic : {false, true}) {
    TransactionsUnderTest under_test(WriteModeNamed("ordered"), optimistic);
    ListTransactions lists(&under_test, optimistic, ReadsBy::kNothing);
    lists.Run(2000);
    EXPECT_NE(lists.Judge().forbidden, "");
  }
}

}  // namespace varve::testing
