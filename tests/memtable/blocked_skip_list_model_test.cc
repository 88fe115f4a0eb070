// SPDX-License-Identifier: Apache-2.0

// The protocol of a leaf, every interleaving of it: one writer splits a full leaf, another one adds
// to the slots that this set free, two walks put the slots of the left leaf into another order, and
// a reader looks for a key that was there before it began.
// The model has the steps of README.md's rules 2 to 5, one store or load each; faults that are
// planted in them must be found.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace varve {
namespace {

enum class Fault : uint8_t {
  kNone,
  kNoValidation,       // the reader believes what it read
  kNoVersion,          // a rewrite leaves no trace when it is over
  kNoAnnouncement,     // slots are rewritten before the state says so
  kCountBeforeSlot,    // an insert publishes a slot, then fills it
  kNoFence,            // the reader never moves right
  kFenceBeforeLock,    // the second writer does not ask again once it has the lock
  kParentBeforeSplit,  // the level above has the new leaf before it is filled
  kTidyUnannounced,    // a walk moves slots and says nothing
  kTidyUnlocked,       // a walk moves slots without the lock
  kTidyOfOldCopy,      // a walk does not ask whether slots were added since it copied them
};

constexpr uint8_t kLow = 10;     // in the leaf from the start
constexpr uint8_t kHigh = 30;    // likewise
constexpr uint8_t kSplit = 20;   // splits it: 10 | 20 30
constexpr uint8_t kSecond = 15;  // comes to the left leaf afterwards
constexpr uint8_t kThird = 25;   // or belongs to the right one

struct Leaf {
  uint8_t version = 0;
  uint8_t rewriting = 0;
  uint8_t locked = 0;
  uint8_t count = 0;
  uint8_t has_next = 0;
  uint8_t high = 0;
  uint8_t prefix[3] = {};
  uint8_t key[3] = {};  // key of the slot's offset
};

// A walk that has a copy of the left leaf, and writes it back.
struct Tidying {
  uint8_t step = 0;
  uint8_t version = 0;
  uint8_t count = 0;
  uint8_t keys[3] = {};
};

// Everything, in bytes, so that states can be compared.
struct World {
  Leaf left;
  Leaf right;
  uint8_t parent_has_right = 0;
  uint8_t splitter = 0;  // next step of each thread
  uint8_t adder = 0;
  uint8_t adder_at_right = 0;
  uint8_t reader = 0;
  uint8_t at_right = 0;  // where the reader is
  uint8_t seen_version = 0;
  uint8_t seen_count = 0;
  uint8_t seen_next = 0;
  uint8_t slot = 0;
  uint8_t seen_prefix = 0;
  uint8_t found = 0;
  uint8_t torn = 0;
  Tidying tidiers[2];

  bool operator<(const World& other) const { return memcmp(this, &other, sizeof(World)) < 0; }
};
static_assert(sizeof(World) == 2 * sizeof(Leaf) + 13 + 2 * sizeof(Tidying));

class LeafModel {
 public:
  LeafModel(Fault fault, uint8_t target, uint8_t second)
      : fault_(fault), target_(target), second_(second) {}

  // Returns true if some order of steps lets the reader miss its key or see half a slot.
  bool FindsMistake() {
    World start;
    start.left.count = 2;
    start.left.prefix[0] = start.left.key[0] = kLow;
    start.left.prefix[1] = start.left.key[1] = kHigh;
    std::vector<World> open{start};
    seen_.insert(start);
    while (!open.empty()) {
      const World world = open.back();
      open.pop_back();
      if (world.reader == kReaderDone && (world.found == 0 || world.torn != 0)) return true;
      for (const auto step : {&LeafModel::Splitter, &LeafModel::Adder, &LeafModel::Tidier<0>,
                              &LeafModel::Tidier<1>, &LeafModel::Reader}) {
        World next = world;
        if ((this->*step)(&next) && seen_.insert(next).second) open.push_back(next);
      }
    }
    return false;
  }
  size_t states() const { return seen_.size(); }

 private:
  static constexpr uint8_t kReaderDone = 100;
  static constexpr uint8_t kTidierDone = 100;
  static constexpr uint8_t kSplitDone = 9;  // but for the level above

  // Each returns false when the thread cannot move.
  bool Splitter(World* w) const {
    Leaf& l = w->left;
    const bool announced = fault_ != Fault::kNoAnnouncement;
    switch (w->splitter) {
      case 0:
        if (l.locked != 0 || l.count != 2) return false;
        l.locked = 1;
        if (fault_ == Fault::kParentBeforeSplit) w->parent_has_right = 1;
        break;
      case 1:
        w->right.prefix[0] = w->right.key[0] = kSplit;
        w->right.prefix[1] = w->right.key[1] = kHigh;
        w->right.count = 2;
        break;
      case 2:
        if (announced) l.rewriting = 1;
        if (announced && fault_ != Fault::kNoVersion) l.version++;
        break;
      case 3:  // the slot that the left leaf will not use any more; any value may show up there
        l.prefix[1] = kLow;
        break;
      case 4:  // the one it keeps
        l.prefix[0] = kLow;
        break;
      case 5:
        l.key[0] = kLow;
        break;
      case 6:
        l.high = kSplit;
        break;
      case 7:
        l.has_next = 1;
        break;
      case 8:
        l.count = 1;
        l.rewriting = 0;
        l.locked = 0;
        if (!announced) l.version++;
        break;
      case kSplitDone:
        w->parent_has_right = 1;
        break;
      default:
        return false;
    }
    w->splitter++;
    return true;
  }

  bool Adder(World* w) const {
    Leaf& l = w->adder_at_right != 0 ? w->right : w->left;
    const bool late = fault_ == Fault::kCountBeforeSlot;
    switch (w->adder) {
      case 0:  // the fence, unlocked
        if (l.rewriting != 0) return false;
        if (w->adder_at_right == 0 && l.has_next != 0 && second_ >= l.high) w->adder_at_right = 1;
        break;
      case 1:
        // Full as the left leaf is before the split, this writer would split it; not modelled.
        if (l.locked != 0 || l.count == 3) return false;
        if (w->adder_at_right == 0 && w->splitter == 0) return false;
        l.locked = 1;
        break;
      case 2:
        if (fault_ == Fault::kFenceBeforeLock || w->adder_at_right != 0) break;
        if (l.has_next != 0 && second_ >= l.high) {
          l.locked = 0;
          w->adder_at_right = 1;
          w->adder = 1;
          return true;
        }
        break;
      case 3:
        if (late) {
          l.count++;
        } else {
          l.prefix[l.count] = second_;
        }
        break;
      case 4:
        if (late) {
          l.prefix[l.count - 1] = second_;
        } else {
          l.key[l.count] = second_;
        }
        break;
      case 5:
        if (late) {
          l.key[l.count - 1] = second_;
        } else {
          l.count++;
        }
        l.locked = 0;
        break;
      default:
        return false;
    }
    w->adder++;
    return true;
  }

  // The walk's steps in the left leaf, once it has a valid copy.
  template <size_t kWhich>
  bool Tidier(World* w) const {
    Leaf& l = w->left;
    Tidying& t = w->tidiers[kWhich];
    switch (t.step) {
      case 0:
        if (l.rewriting != 0) return false;
        t.version = l.version;
        t.count = l.count;
        // The loop runs in reverse, so that slots move.
        for (uint8_t i = 0; i < l.count; i++) t.keys[i] = l.key[l.count - 1 - i];
        break;
      case 1: {
        const bool same = l.version == t.version && l.rewriting == 0 &&
                          (l.count == t.count || fault_ == Fault::kTidyOfOldCopy);
        if (fault_ == Fault::kTidyUnlocked) break;
        if (l.locked != 0 || !same) {
          t.step = kTidierDone;
          return true;
        }
        l.locked = 1;
        break;
      }
      case 2:
        if (fault_ == Fault::kTidyUnannounced) break;
        l.rewriting = 1;
        l.version++;
        break;
      case 9:
        l.count = t.count;
        l.rewriting = 0;
        l.locked = 0;
        t.step = kTidierDone;
        return true;
      case kTidierDone:
        return false;
      default: {
        const uint8_t i = (t.step - 3) / 2;
        if (i < t.count) (t.step % 2 == 1 ? l.prefix : l.key)[i] = t.keys[i];
        break;
      }
    }
    t.step++;
    return true;
  }

  // A failed validation starts again at the leaf.
  bool Valid(const World& w, const Leaf& l) const {
    return fault_ == Fault::kNoValidation || (l.version == w.seen_version && l.rewriting == 0);
  }

  bool Reader(World* w) const {
    const Leaf& l = w->at_right != 0 ? w->right : w->left;
    switch (w->reader) {
      case 0:
        // The reader looks for what a second writer adds only once it is inserted.
        if (target_ == second_ && w->adder < 6) return false;
        if (target_ == kSplit && w->splitter < kSplitDone) return false;
        w->at_right = w->parent_has_right != 0 && target_ >= kSplit ? 1 : 0;
        break;
      case 1:
        if (l.rewriting != 0 && fault_ != Fault::kNoValidation) return false;
        w->seen_version = l.version;
        w->seen_count = l.count;
        w->slot = 0;
        w->found = w->torn = 0;
        break;
      case 2:
        w->seen_next = l.has_next;
        break;
      case 3: {
        const bool right = w->seen_next != 0 && target_ >= l.high && fault_ != Fault::kNoFence;
        w->reader = Valid(*w, l) ? (right ? 1 : 4) : 1;
        if (w->reader == 1 && Valid(*w, l)) w->at_right = 1;
        return true;
      }
      case 4:
        if (w->slot == w->seen_count) {
          w->reader = Valid(*w, l) ? kReaderDone : 1;
          return true;
        }
        w->seen_prefix = l.prefix[w->slot];
        break;
      case 5:
        if (w->seen_prefix == target_) w->found = 1;
        if (l.key[w->slot] != w->seen_prefix) w->torn = 1;
        w->slot++;
        w->reader = 4;
        return true;
      default:
        return false;
    }
    w->reader++;
    return true;
  }

  const Fault fault_;
  const uint8_t target_;
  const uint8_t second_;
  std::set<World> seen_;
};

bool AnyMistake(Fault fault, size_t* states) {
  for (const uint8_t second : {kSecond, kThird}) {
    for (const uint8_t target : {kLow, kSplit, kHigh, second}) {
      LeafModel model(fault, target, second);
      if (model.FindsMistake()) return true;
      *states += model.states();
    }
  }
  return false;
}

TEST(BlockedSkipListModelTest, NoOrderOfStepsHidesAKey) {
  size_t states = 0;
  EXPECT_FALSE(AnyMistake(Fault::kNone, &states));
  EXPECT_GT(states, 1000u);
}

TEST(BlockedSkipListModelTest, PlantedFaultsAreFound) {
  size_t states = 0;
  for (const Fault fault :
       {Fault::kNoValidation, Fault::kNoVersion, Fault::kNoAnnouncement, Fault::kCountBeforeSlot,
        Fault::kNoFence, Fault::kFenceBeforeLock, Fault::kParentBeforeSplit,
        Fault::kTidyUnannounced, Fault::kTidyUnlocked, Fault::kTidyOfOldCopy}) {
    EXPECT_TRUE(AnyMistake(fault, &states)) << static_cast<int>(fault);
  }
}

}  // namespace
}  // namespace varve
