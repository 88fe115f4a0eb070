// SPDX-License-Identifier: Apache-2.0

// Goal: with unordered_write every call that reads keeps its promise beside writers: one's own
// writes are seen at once, acknowledged ones are never missing, and what is read at one moment
// shows whole batches. Method: writers that linger between log and memtable, so that later
// sequences are inserted earlier; each batch leaves its number in several keys of two families and
// in a list of operands; all read calls in turn, with and without a snapshot.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "varve/snapshot.h"
#include "varve/utilities/merge_operators.h"

#include "tests/harness/after_log.h"
#include "tests/harness/database.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

constexpr int kWriters = 3;
constexpr int kReaders = 2;
// Lists of operands are made from 256 on.
constexpr int kBatches = 1000;
constexpr int kOperandsMax = kWriters * kBatches;

// The number of the last batch of each writer that a read has found, in each place where it looked.
struct Found {
  void Note(int writer, const char* place, const std::string& value) {
    places.push_back({writer, place, value.empty() ? 0 : std::stoi(value)});
  }
  struct Place {
    int writer;
    const char* name;
    int number;
  };
  std::vector<Place> places;
};

std::string Key(const char* kind, int writer) {
  return kind + std::to_string(writer);
}

class UnorderedReadsTest : public Database {
 protected:
  using Read = void (UnorderedReadsTest::*)(const ReadOptions&, Found*);
  struct Call {
    const char* name;
    Read read;
    bool at_one_moment;  // by itself; with a snapshot all are
  };

  UnorderedReadsTest() {
    options_.unordered_write = true;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator(",");
    options_.write_buffer_size = 4 << 20;
  }

  void Write(int writer, int number, Random* random) {
    WriteBatch batch;
    const std::string text = std::to_string(number);
    ASSERT_TRUE(batch.Put(Key("a", writer), text).ok());
    ASSERT_TRUE(batch.Merge("list", std::to_string(writer) + ":" + text).ok());
    ASSERT_TRUE(batch.Put(Handle("x"), Key("b", writer), text).ok());
    ASSERT_TRUE(batch.Put(Key("z", writer), text).ok());
    const bool lingers = random->OneIn(4);
    AfterLog callback([lingers] {
      if (lingers) std::this_thread::sleep_for(std::chrono::microseconds(200));
    });
    ASSERT_TRUE(db()->WriteWithCallback(WriteOptions(), &batch, &callback).ok());
    acknowledged_[static_cast<size_t>(writer)].store(number, std::memory_order_release);
  }

  // Operands of one writer come in their order, and none is missing in between.
  void NoteList(const std::vector<std::string>& operands, Found* found) {
    std::array<int, kWriters> last{};
    for (const std::string& operand : operands) {
      const size_t writer = static_cast<size_t>(operand[0] - '0');
      ASSERT_EQ(std::stoi(operand.substr(2)), ++last[writer]) << "of writer " << writer;
    }
    for (int w = 0; w < kWriters; w++) {
      found->Note(w, "list", std::to_string(last[static_cast<size_t>(w)]));
    }
  }
  void NoteMerged(const std::string& value, Found* found) {
    std::vector<std::string> operands;
    for (size_t at = 0; at < value.size();) {
      const size_t end = std::min(value.find(',', at), value.size());
      operands.push_back(value.substr(at, end - at));
      at = end + 1;
    }
    NoteList(operands, found);
  }
  void NoteEntry(const Slice& key, const Slice& value, Found* found) {
    if (key == Slice("list")) return NoteMerged(value.ToString(), found);
    found->Note(key[1] - '0', key[0] == 'a' ? "a" : (key[0] == 'b' ? "b" : "z"), value.ToString());
  }

  // --- The calls.
  void Gets(const ReadOptions& options, Found* found) {
    for (int w = 0; w < kWriters; w++) {
      std::string value;
      Status s = db()->Get(options, Key("a", w), &value);
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      found->Note(w, "a", value);
      PinnableSlice pinned;
      s = db()->Get(options, Handle("x"), Key("b", w), &pinned);
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      found->Note(w, "b", pinned.ToString());
    }
  }
  void GetsMerged(const ReadOptions& options, Found* found) {
    std::string value;
    const Status s = db()->Get(options, "list", &value);
    ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    NoteMerged(value, found);
  }
  void GetsOperands(const ReadOptions& options, Found* found) {
    std::vector<PinnableSlice> slices(kOperandsMax);
    GetMergeOperandsOptions operand_options;
    operand_options.expected_max_number_of_operands = kOperandsMax;
    int n = 0;
    const Status s = db()->GetMergeOperands(options, db()->DefaultColumnFamily(), "list",
                                            slices.data(), &operand_options, &n);
    ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    std::vector<std::string> operands;
    for (int i = 0; i < n; i++) {
      // Operands that are in a table are merged already.
      const std::string text = slices[static_cast<size_t>(i)].ToString();
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        operands.push_back(text.substr(at, end - at));
        at = end + 1;
      }
    }
    NoteList(operands, found);
  }
  void MayExist(const ReadOptions& options, Found* found) {
    for (int w = 0; w < kWriters; w++) {
      std::string value;
      bool has_value = false;
      const bool may = db()->KeyMayExist(options, Key("a", w), &value, &has_value);
      if (!may || has_value) found->Note(w, "a", has_value ? value : "");
    }
  }

  static std::vector<std::string> DefaultKeys() {
    std::vector<std::string> keys;
    for (int w = 0; w < kWriters; w++) keys.push_back(Key("a", w));
    keys.emplace_back("list");
    for (int w = 0; w < kWriters; w++) keys.push_back(Key("z", w));
    return keys;
  }
  static std::vector<std::string> OtherKeys() {
    std::vector<std::string> keys;
    for (int w = 0; w < kWriters; w++) keys.push_back(Key("b", w));
    return keys;
  }
  template <typename Values>
  void NoteAll(const std::vector<std::string>& keys, const Values& values,
               const std::vector<Status>& statuses, Found* found) {
    for (size_t i = 0; i < keys.size(); i++) {
      ASSERT_TRUE(statuses[i].ok() || statuses[i].IsNotFound()) << statuses[i].ToString();
      NoteEntry(keys[i], statuses[i].ok() ? Slice(values[i]) : Slice(), found);
    }
  }
  void MultiGetsOfVectors(const ReadOptions& options, Found* found) {
    const std::vector<std::string> keys = DefaultKeys();
    std::vector<std::string> values;
    NoteAll(keys, values,
            db()->MultiGet(options, std::vector<Slice>(keys.begin(), keys.end()), &values), found);
  }
  void MultiGetsOfFamilyVectors(const ReadOptions& options, Found* found) {
    std::vector<std::string> keys = DefaultKeys();
    std::vector<ColumnFamilyHandle*> handles(keys.size(), Handle("default"));
    for (const std::string& key : OtherKeys()) {
      keys.push_back(key);
      handles.push_back(Handle("x"));
    }
    std::vector<std::string> values;
    NoteAll(keys, values,
            db()->MultiGet(options, handles, std::vector<Slice>(keys.begin(), keys.end()), &values),
            found);
  }
  void MultiGetsOfArrays(const ReadOptions& options, Found* found) {
    const std::vector<std::string> keys = DefaultKeys();
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db()->MultiGet(options, Handle("default"), keys.size(), slices.data(), values.data(),
                   statuses.data(), /*sorted_input=*/true);
    NoteAll(keys, values, statuses, found);
  }
  void MultiGetsOfFamilyArrays(const ReadOptions& options, Found* found) {
    std::vector<std::string> keys;
    std::vector<ColumnFamilyHandle*> handles;
    for (int w = 0; w < kWriters; w++) {
      keys.push_back(Key("b", w));
      handles.push_back(Handle("x"));
      keys.push_back(Key("z", w));
      handles.push_back(Handle("default"));
    }
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db()->MultiGet(options, keys.size(), handles.data(), slices.data(), values.data(),
                   statuses.data());
    NoteAll(keys, values, statuses, found);
  }

  // Notes that keys a walk does not show are missing.
  void NoteWalk(const std::vector<std::string>& keys,
                const std::map<std::string, std::string>& shown, Found* found) {
    for (const std::string& key : keys) {
      const auto at = shown.find(key);
      NoteEntry(key, at != shown.end() ? at->second : "", found);
    }
  }
  void WalkForward(Iterator* it, const std::vector<std::string>& keys, Found* found) {
    std::map<std::string, std::string> shown;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      shown[it->key().ToString()] = it->value().ToString();
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    NoteWalk(keys, shown, found);
  }
  void WalkBackward(Iterator* it, const std::vector<std::string>& keys, Found* found) {
    std::map<std::string, std::string> shown;
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      shown[it->key().ToString()] = it->value().ToString();
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    NoteWalk(keys, shown, found);
  }
  void IteratesForward(const ReadOptions& options, Found* found) {
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    WalkForward(it.get(), DefaultKeys(), found);
  }
  void IteratesBackward(const ReadOptions& options, Found* found) {
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    WalkBackward(it.get(), DefaultKeys(), found);
  }
  void Seeks(const ReadOptions& options, Found* found) {
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    for (const std::string& key : DefaultKeys()) {
      it->Seek(key);
      NoteEntry(key, it->Valid() && it->key() == Slice(key) ? it->value() : Slice(), found);
      it->SeekForPrev(key);
      NoteEntry(key, it->Valid() && it->key() == Slice(key) ? it->value() : Slice(), found);
    }
  }
  void IteratesOverFamilies(const ReadOptions& options, Found* found) {
    std::vector<Iterator*> iterators;
    const Status s = db()->NewIterators(options, {Handle("default"), Handle("x")}, &iterators);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<Iterator> of_default(iterators[0]);
    const std::unique_ptr<Iterator> of_x(iterators[1]);
    WalkForward(iterators[0], DefaultKeys(), found);
    WalkBackward(iterators[1], OtherKeys(), found);
    WalkForward(iterators[1], OtherKeys(), found);
    WalkBackward(iterators[0], DefaultKeys(), found);
  }
  void IteratesTailing(const ReadOptions& options, Found* found) {
    if (options.snapshot != nullptr) return IteratesForward(options, found);
    ReadOptions tailing = options;
    tailing.tailing = true;
    const std::unique_ptr<Iterator> it(db()->NewIterator(tailing));
    WalkForward(it.get(), DefaultKeys(), found);
  }
  void Refreshes(const ReadOptions& options, Found* found) {
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    it->SeekToLast();
    std::this_thread::yield();
    ASSERT_TRUE(it->Refresh(options.snapshot).ok());
    WalkForward(it.get(), DefaultKeys(), found);
  }

  static constexpr std::array<Call, 14> kCalls = {{
      {"Get", &UnorderedReadsTest::Gets, false},
      {"Get of operands", &UnorderedReadsTest::GetsMerged, true},
      {"GetMergeOperands", &UnorderedReadsTest::GetsOperands, true},
      {"KeyMayExist", &UnorderedReadsTest::MayExist, false},
      {"MultiGet of vectors", &UnorderedReadsTest::MultiGetsOfVectors, true},
      {"MultiGet of vectors with families", &UnorderedReadsTest::MultiGetsOfFamilyVectors, true},
      {"MultiGet of arrays", &UnorderedReadsTest::MultiGetsOfArrays, true},
      {"MultiGet of arrays with families", &UnorderedReadsTest::MultiGetsOfFamilyArrays, true},
      {"iterator forward", &UnorderedReadsTest::IteratesForward, true},
      {"iterator backward", &UnorderedReadsTest::IteratesBackward, true},
      {"iterator's seeks", &UnorderedReadsTest::Seeks, true},
      {"NewIterators", &UnorderedReadsTest::IteratesOverFamilies, true},
      {"tailing iterator", &UnorderedReadsTest::IteratesTailing, false},
      {"Refresh", &UnorderedReadsTest::Refreshes, true},
  }};

  // Makes one call, at a snapshot if that is not null, which must find what was acknowledged
  // before.
  void Check(const Call& call, const ReadOptions& options,
             const std::array<int, kWriters>& acknowledged, Found* found) {
    (this->*call.read)(options, found);
    std::array<int, kWriters> first;
    first.fill(-1);
    for (const Found::Place& place : found->places) {
      const size_t w = static_cast<size_t>(place.writer);
      ASSERT_GE(place.number, acknowledged[w]) << call.name << ", " << place.name;
      if (!call.at_one_moment && options.snapshot == nullptr) continue;
      if (first[w] < 0) first[w] = place.number;
      ASSERT_EQ(place.number, first[w]) << call.name << ", " << place.name;
    }
  }
  void CheckOne(const Call& call, Random* random) {
    std::array<int, kWriters> acknowledged;
    for (size_t w = 0; w < kWriters; w++) {
      acknowledged[w] = acknowledged_[w].load(std::memory_order_acquire);
    }
    ReadOptions options;
    Found found;
    if (!random->OneIn(3)) return Check(call, options, acknowledged, &found);
    // All that is read at a snapshot belongs together.
    options.snapshot = db()->GetSnapshot();
    Check(call, options, acknowledged, &found);
    Check(kCalls[random->Below(kCalls.size())], options, acknowledged, &found);
    db()->ReleaseSnapshot(options.snapshot);
  }

  void Run(uint64_t seed, bool flushes) {
    Open({"default", "x"});
    std::atomic<int> writing{kWriters};
    std::vector<std::thread> threads;
    for (int w = 0; w < kWriters; w++) {
      threads.emplace_back([&, w] {
        Random random(seed + static_cast<uint64_t>(w));
        for (int i = 1; i <= kBatches && !HasFatalFailure(); i++) {
          Write(w, i, &random);
          // Its own write, by the least that a thread can do.
          if (i % 4 == 0) CheckOne(kCalls[random.Below(kCalls.size())], &random);
        }
        writing--;
      });
    }
    for (int r = 0; r < kReaders; r++) {
      threads.emplace_back([&, r] {
        Random random(seed + 100 + static_cast<uint64_t>(r));
        for (size_t i = 0; writing > 0 && !HasFatalFailure(); i++) {
          if (flushes && r == 0 && i % 50 == 49) Flush(i % 100 == 49 ? "default" : "x");
          CheckOne(kCalls[(i + static_cast<size_t>(r) * 2) % kCalls.size()], &random);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (HasFatalFailure()) return;
    Random random(seed);
    for (const Call& call : kCalls) CheckOne(call, &random);
    EXPECT_TRUE(Close().ok());
  }

  std::array<std::atomic<int>, kWriters> acknowledged_{};
};

TEST_F(UnorderedReadsTest, EveryCallSeesWhatWasAcknowledged) {
  Run(1, /*flushes=*/false);
}

TEST_F(UnorderedReadsTest, EveryCallSeesWhatWasAcknowledgedBesideFlushes) {
  Run(2, /*flushes=*/true);
}

}  // namespace
}  // namespace varve::testing
