// SPDX-License-Identifier: Apache-2.0

// Goal: the index of a batch keeps keys in order, the newest update of each first, through
// insertions one by one and many at once, removals of the newest, keys that share a beginning or
// cease to, and every kind of order. Method: a sorted set of (key, offset) beside it; then its
// assertions, each broken on purpose.

#include "db/transaction/key_index.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/utilities/write_batch_with_index.h"
#include "varve/write_batch.h"

#include "db/transaction/batch_index.h"
#include "db/transaction/batch_ranges.h"
#include "db/write/write_batch_internal.h"
#include "tests/harness/random.h"
#include "util/base/assert.h"

namespace varve {
namespace {

using testing::Random;

// Compares as bytes do, but does not say so.
class UnknownOrder final : public Comparator {
 public:
  const char* Name() const override { return "test.UnknownOrder"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

class IndexBesideSet {
 public:
  explicit IndexBesideSet(const Comparator* comparator)
      : icmp_(comparator), index_(WriteBatchInternal::Rep(&batch_), icmp_) {}

  uint32_t Put(const std::string& key) {
    const auto offset = static_cast<uint32_t>(batch_.GetDataSize());
    EXPECT_TRUE(batch_.Put(key, "value").ok());
    return offset;
  }
  void Insert(const std::vector<std::string>& keys) {
    std::vector<uint32_t> offsets;
    for (const std::string& key : keys) {
      offsets.push_back(Put(key));
      expected_.emplace(key, offsets.back());
      added_.emplace_back(key, offsets.back());
    }
    index_.InsertAll(offsets);
  }
  void RemoveNewest() {
    index_.Remove(added_.back().second);
    expected_.erase(added_.back());
    added_.pop_back();
  }

  void Check() const {
    ASSERT_EQ(index_.size(), expected_.size());
    KeyIndex::Place at = index_.Begin();
    for (const auto& [key, offset] : expected_) {
      ASSERT_FALSE(index_.AtEnd(at));
      ASSERT_EQ(index_.OffsetAt(at), offset);
      ASSERT_EQ(index_.KeyAt(at), key);
      index_.Next(&at);
    }
    ASSERT_TRUE(index_.AtEnd(at));
    for (auto entry = expected_.rbegin(); entry != expected_.rend(); ++entry) {
      index_.Prev(&at);
      ASSERT_EQ(index_.OffsetAt(at), entry->second);
    }
    ASSERT_TRUE(index_.AtBegin(at));
  }
  void CheckFind(const std::string& key, uint32_t newest) const {
    const auto expected = expected_.lower_bound({key, newest});
    const KeyIndex::Place found = index_.Find(key, newest);
    ASSERT_EQ(index_.AtEnd(found), expected == expected_.end()) << key;
    if (expected != expected_.end()) {
      ASSERT_EQ(index_.OffsetAt(found), expected->second) << key;
    }
  }
  const KeyIndex& index() const { return index_; }
  KeyIndex& index() { return index_; }

 private:
  using Entry = std::pair<std::string, uint32_t>;

  struct Before {
    const InternalKeyComparator* icmp;
    bool operator()(const Entry& a, const Entry& b) const {
      const int order = icmp->CompareKey(a.first, b.first);
      return order != 0 ? order < 0 : a.second > b.second;
    }
  };

  WriteBatch batch_;
  const InternalKeyComparator icmp_;
  KeyIndex index_;
  std::set<Entry, Before> expected_{Before{&icmp_}};
  std::vector<Entry> added_;
};

TEST(KeyIndexTest, OneByOneOrManyAtOnce) {
  const UnknownOrder unknown;
  const std::vector<const Comparator*> orders = {BytewiseComparator(), ReverseBytewiseComparator(),
                                                 &unknown};
  for (uint64_t seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE(seed);
    Random random(seed);
    IndexBesideSet indexed(orders[seed % orders.size()]);
    const uint64_t space = seed % 4 == 0 ? 3 : 5000;
    std::string beginning(random.Below(20), 'b');
    const auto key = [&] {
      std::string text = beginning + std::to_string(random.Below(space));
      if (random.OneIn(100)) text.resize(random.Below(text.size() + 1));
      return text;
    };
    for (int step = 0; step < 80; step++) {
      // Keys with another beginning come only now.
      if (step == 40) beginning = seed % 2 == 0 ? "" : "c";
      const uint64_t choice = random.Below(10);
      if (choice < 2) {
        for (uint64_t n = random.Below(30); n > 0 && indexed.index().size() != 0; n--) {
          indexed.RemoveNewest();
        }
      } else {
        std::vector<std::string> keys(choice < 4 ? random.Below(300) : random.Below(9));
        for (std::string& one : keys) one = key();
        indexed.Insert(keys);
      }
      for (int i = 0; i < 5; i++) {
        indexed.CheckFind(key(), KeyIndex::kNewest);
        indexed.CheckFind(key(), 0);
        indexed.CheckFind(key(), static_cast<uint32_t>(random.Below(100'000)));
      }
      if (HasFatalFailure()) return;
    }
    indexed.Check();
    if (HasFatalFailure()) return;
  }
}

TEST(KeyIndexTest, AscendingAndDescendingKeys) {
  for (const bool ascending : {true, false}) {
    IndexBesideSet indexed(BytewiseComparator());
    for (int i = 0; i < 2000; i++) {
      indexed.Insert({std::to_string(100'000 + (ascending ? i : -i))});
    }
    indexed.Check();
    while (indexed.index().size() != 0) indexed.RemoveNewest();
    indexed.Check();
    indexed.CheckFind("1", KeyIndex::kNewest);
  }
}

TEST(KeyIndexDeathTest, BrokenRulesAreNoticed) {
  if (!kAssertions) GTEST_SKIP() << "a release build has no assertions";
  struct Break {
    const char* rule;
    std::function<void()> run;
  };
  const Break breaks[] = {
      {"!AtEnd",
       [] {
         const IndexBesideSet empty(BytewiseComparator());
         KeyIndex::Place end = empty.index().End();
         empty.index().Next(&end);
       }},
      {"!AtBegin",
       [] {
         const IndexBesideSet empty(BytewiseComparator());
         KeyIndex::Place begin = empty.index().Begin();
         empty.index().Prev(&begin);
       }},
      {"< offset",
       [] {
         IndexBesideSet indexed(BytewiseComparator());
         const uint32_t older = indexed.Put("a");
         indexed.Insert({"a"});
         indexed.index().InsertAll({older});
       }},
      {"OffsetAt\\(place\\) == offset",
       [] {
         IndexBesideSet indexed(BytewiseComparator());
         const uint32_t older = indexed.Put("a");
         indexed.index().InsertAll({older});
         indexed.Insert({"a"});
         indexed.index().Remove(older);
       }},
      {"kTypeRangeDeletion",
       [] {
         WriteBatch batch;
         EXPECT_TRUE(batch.Put("a", "z").ok());
         BatchRanges ranges(WriteBatchInternal::Rep(&batch),
                            InternalKeyComparator(BytewiseComparator()));
         ranges.Add(kBatchHeaderBytes);
         EXPECT_EQ(ranges.CoverOf("b").offset, 0u);
       }},
      {"Valid\\(\\)",
       [] {
         WriteBatchWithIndex batch;
         const std::unique_ptr<WBWIIterator> it(batch.NewIterator());
         it->Next();
       }},
      {"Valid\\(\\)",
       [] {
         WriteBatchWithIndex batch;
         const std::unique_ptr<WBWIIterator> it(batch.NewIterator());
         it->Prev();
       }},
      {"Valid\\(\\)",
       [] {
         WriteBatchWithIndex batch;
         const std::unique_ptr<WBWIIterator> it(batch.NewIterator());
         EXPECT_EQ(it->Entry().type, kUnknownRecord);
       }},
      {"Valid\\(\\)",
       [] {
         WriteBatchWithIndex batch;
         const std::unique_ptr<WBWIIterator> it(batch.NewIterator());
         EXPECT_EQ(it->GetUpdateCount(), 0u);
       }},
  };
  for (const Break& one : breaks) {
    EXPECT_DEATH(one.run(), std::string("broken: .*") + one.rule) << one.rule;
  }
}

}  // namespace
}  // namespace varve
