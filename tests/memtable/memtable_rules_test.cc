// SPDX-License-Identifier: Apache-2.0

// Goal: the room's assertions fire. Method: each case breaks one rule of the memtable's README, or
// what a class asks of its callers, and must die of it.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/comparator.h"

#include "memtable/blocked_skip_list.h"
#include "memtable/blocked_skip_list_iterator.h"
#include "memtable/blocked_skip_list_node.h"
#include "memtable/memtable.h"
#include "memtable/operand_cache.h"
#include "memtable/skip_list.h"
#include "memtable/sorted_entry_array.h"
#include "util/base/assert.h"

namespace varve {
namespace {

struct BrokenRule {
  const char* name;
  std::function<void()> act;
  const char* says;  // a part of the condition
};

class Breakage {
 public:
  BlockedSkipList::Addition Made(const char* key, SequenceNumber seq) {
    const uint64_t trailer = PackSequenceAndType(seq, kTypeValue);
    const EntryArena::Piece piece = arena.Allocate(MemEntry::BytesFor(key, "v"));
    MemEntry::Write(piece.data, key, trailer, "v");
    return {blocked.MakeTarget(key, trailer), piece.offset, 1};
  }
  void InsertBatch(std::vector<BlockedSkipList::Addition> batch) {
    size_t linked = 0;
    std::exception_ptr thrown;
    blocked.Insert(batch, &linked, &thrown);
  }

  const InternalKeyComparator order{BytewiseComparator()};
  EntryArena arena{1 << 12, 1 << 16};
  BlockedSkipList blocked{order, &arena, 1};
  BlockedSkipList::Node node{0, nullptr, 0};
  std::atomic<size_t> budget{1 << 20};
  const std::string no_prefix;
  const MemTableRepContext context{order, &arena, 1 << 16, no_prefix, &budget};
};

using Lists = std::vector<std::unique_ptr<OperandList>>;

Lists ListOf(uint64_t newest) {
  Lists lists;
  lists.push_back(std::make_unique<OperandList>());
  lists.back()->newest = newest;
  return lists;
}

std::vector<BrokenRule> Rules(Breakage* b) {
  return {
      {"a slot beyond the node",
       [b] {
         b->node.Set(BlockedSkipList::kSlots, {0, 0});
       },
       "i < kSlots"},
      {"a rewrite without the lock", [b] { b->node.AnnounceRewrite(0); }, "kLocked"},
      {"a lock that nobody took", [b] { BlockedSkipList::NodeLock(&b->node, 0).Keep(); },
       "kLocked"},
      {"more slots in order than in use", [] { (void)node_state::Make(0, 2, 1, false, 0); },
       "sorted <= count"},
      {"a version that goes back",
       [b] {
         b->node.state.store(node_state::kLocked);
         BlockedSkipList::NodeLock lock(&b->node, node_state::Make(0, 0, 0, true, 5));
         lock.Publish(node_state::Make(0, 0, 0, true, 4));
       },
       "Version"},
      {"a batch out of order",
       [b] {
         b->InsertBatch({b->Made("b", 1), b->Made("a", 2)});
       },
       "is_sorted"},
      {"a batch of none", [b] { b->InsertBatch({}); }, "additions.size"},
      {"a step from nowhere", [b] { BlockedSkipListIterator(b->blocked).Next(); }, "valid_"},
      {"a step back from nowhere", [b] { BlockedSkipListIterator(b->blocked).Prev(); }, "valid_"},
      {"a node without links",
       [b] {
         SkipList list(b->order, &b->arena);
         SkipList::Addition added = list.Make({1, kTypeValue, "k", "v"});
         added.height = 0;
         list.Insert({&added, 1});
       },
       "added.height >= 1"},
      {"half a unit", [b] { (void)b->arena.OffsetAfter(b->arena.Allocate(8).offset, 1); },
       "distance"},
      {"an offset of no block", [b] { (void)b->arena.At(ArenaOffset{40} << 20); }, "place != 0"},
      {"an entry too large for its length",
       [] { MemEntry::Write(nullptr, Slice("k", size_t{5} << 30), 0, ""); }, "UINT32_MAX"},
      {"a list that goes back",
       [] {
         OperandCache cache;
         cache.Extend("k", 1, nullptr, ListOf(50), SIZE_MAX);
         cache.Extend("k", 1, cache.Find("k", 1), ListOf(40), SIZE_MAX);
       },
       "newest > head->newest"},
      {"a list of too few operands",
       [] {
         OperandListBuilder builder;
         for (size_t i = 0; i < OperandList::kValues; i++) builder.Passed(1000 - i, {});
       },
       "values.size"},
      {"an entry that is not there",
       [b] {
         const std::vector<ArenaOffset> one = {b->Made("k", 1).offset};
         (void)(*SortedEntryArray::Merge(nullptr, one, b->order, b->arena))[1];
       },
       "slots_.size"},
      {"invalidated sequences backwards", [] { InvalidatedSequences(1).Add(5, 4); },
       "first <= last"},
      {"other invalidated sequences",
       [b] {
         MemTable mem(b->order, {}, 1);
         (void)mem.Add(1, kTypeValue, "k", "v");
         mem.LeaveOut(std::make_shared<InvalidatedSequences>(1));
         mem.LeaveOut(std::make_shared<InvalidatedSequences>(1));
       },
       "left_out == invalidated"},
  };
}

TEST(MemTableRulesDeathTest, EachBrokenRuleIsSeen) {
  if (!kAssertions) GTEST_SKIP() << "built without assertions";
  Breakage breakage;
  for (const BrokenRule& rule : Rules(&breakage)) {
    SCOPED_TRACE(rule.name);
    EXPECT_DEATH(rule.act(), std::string("broken: .*") + rule.says);
  }
}

// A batch is what the seam says, whatever stands after it.
TEST(MemTableRulesDeathTest, NoRepresentationTakesABatchTooLarge) {
  if (!kAssertions) GTEST_SKIP() << "built without assertions";
  Breakage breakage;
  std::vector<MemTableEntry> batch;
  for (SequenceNumber seq = 1; seq <= MemTableRep::kAddedTogether + 1; seq++) {
    batch.push_back({seq, kTypeValue, "key", "value"});
  }
  for (const MemTableRepType* const type : kMemTableReps) {
    const std::unique_ptr<MemTableRep> rep = type->make(breakage.context);
    EXPECT_DEATH((void)rep->Add(batch), "broken: .*ogether") << type->name;
  }
}

}  // namespace
}  // namespace varve
