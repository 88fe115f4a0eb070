// SPDX-License-Identifier: Apache-2.0

// The ring's protocol as a machine whose every step is one access to shared memory, in every
// interleaving of three threads; and the same machine with faults planted, each of which must be
// found. The machine is a model of db/write/commit_ring.cc, whose invariants are numbered in
// db/write/commit_ring.h.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/harness/environment.h"

namespace varve::ring_model {
namespace {

constexpr int kModelThreads = 3;
// Room wakes sleepers one retirement after the slot that they wanted.
constexpr int kSlots = 3;
constexpr int kRoomAtOnce = kSlots - 2;
constexpr uint8_t kNoRoomMark = 255;

enum class Fault {
  kNone,
  kNoSecondLook,        // the role is given up, and no thread looks again
  kReadsHeadEarly,      // looks where the head is, completes, then looks at the slot that it was
  kSkipsOpenSlots,      // publishes what is not a prefix
  kRetiresFirst,        // slots retire before they are visible
  kLooksThenRetires,    // a load and a store where an exchange belongs
  kSnapshotNeverWaits,  // reads at the newest sequence given out
  kMarksRoomLate,       // looks whether it has to sleep, then says that it will
  kOldestLeaves,        // the oldest retires its slot, and does not look behind it
  kOldestMovesFirst,    // the oldest moves the head before its slot is open and visible
  kNoRoundOfRoom        // clears the mark of a thread that is about to sleep, and counts nothing
};

enum Step : uint8_t {
  kTake,
  kReadRound,  // until kSleepForRoom: no room
  kMarkRoom,
  kLookForRoom,
  kSleepForRoom,
  kInsert,
  kInsertRest,
  kLookIfOldest,
  kPublishOwn,  // until kClearMarkOfOwn: it is the oldest
  kOpenOwn,
  kMoveHeadPastOwn,
  kLookForMarkOfOwn,
  kClearMarkOfOwn,
  kMarkDone,
  kLookForRole,
  kReadHead,
  kLookAtHead,
  kTakeRole,
  kScan,
  kPublish,
  kRetire,
  kRetireStore,  // with kLooksThenRetires only
  kMoveHead,
  kLookForMark,
  kClearMark,
  kGiveUpRole,
  kWake,
  kCountRound,
  kLookRetired,
  kPark,
  kSleep,
  kReadSnapshot,
  kOver
};

enum WordState : uint8_t { kOpen, kDone, kParked };
enum Sleep : uint8_t { kAwake, kAsleepInSlot, kAsleepForRoom };

struct Slot {
  uint8_t ticket;  // the one whose turn it is
  uint8_t state;
  uint8_t half;  // insertions made by the present ticket
};

struct Thread {
  uint8_t step;
  uint8_t writes_left;
  uint8_t is_reader;
  uint8_t ticket;
  uint8_t end;  // end of the scan; before, the head that was read
  uint8_t at;   // the next to retire
  uint8_t was_parked;
  uint8_t wakes;  // bit per slot
  uint8_t asleep;
  uint8_t wanted;  // the ticket that found no room
  uint8_t round;
  uint8_t wakes_room;
};

// Plain bytes without padding: compared and hashed as such.
struct State {
  Slot slots[kSlots];
  Thread threads[kModelThreads];
  uint8_t unused;     // where padding would be
  uint16_t inserted;  // bit per ticket: its insertion is over
  uint8_t tail;
  uint8_t head;
  uint8_t role;
  uint8_t visible;  // tickets below are
  uint8_t room_at;
  uint8_t room_rounds;
  bool operator==(const State& other) const { return std::memcmp(this, &other, sizeof *this) == 0; }
};
static_assert(sizeof(State) == 3 * kSlots + 12 * kModelThreads + 9);

struct StateHash {
  size_t operator()(const State& s) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&s), sizeof s});
  }
};

// Takes one step of thread `t`; false when it cannot. Sets *error when a promise is broken.
class Machine {
 public:
  Machine(Fault fault, bool ordered) : fault_(fault), ordered_(ordered) {}

  bool Advance(State* s, int t, std::string* error) const {
    Thread& me = s->threads[t];
    if (me.asleep != 0 || me.step == kOver) return false;
    Slot& own = s->slots[me.ticket % kSlots];
    switch (me.step) {
      case kTake:
        Take(s, &me);
        return true;
      case kReadRound:
        me.round = s->room_rounds;
        me.step = fault_ == Fault::kMarksRoomLate ? kLookForRoom : kMarkRoom;
        return true;
      case kMarkRoom:
        s->room_at = static_cast<uint8_t>(me.wanted - kRoomAtOnce);
        me.step = fault_ == Fault::kMarksRoomLate ? kSleepForRoom : kLookForRoom;
        return true;
      case kLookForRoom:
        LookForRoom(*s, &me);
        return true;
      case kSleepForRoom:  // the kernel compares the word and queues the thread in one
        me.asleep = s->room_rounds == me.round ? kAsleepForRoom : 0;
        LeaveRoom(&me);
        return true;
      case kInsert:
        own.half = 1;
        me.step = kInsertRest;
        return true;
      case kInsertRest:
        s->inserted |= static_cast<uint16_t>(1u << me.ticket);
        me.step = kLookIfOldest;
        if (fault_ == Fault::kReadsHeadEarly) me.end = s->head;
        return true;
      case kLookIfOldest:
        me.step = s->head == me.ticket ? FirstStepOfOldest() : kMarkDone;
        return true;
      case kPublishOwn:
      case kOpenOwn:
      case kMoveHeadPastOwn:
      case kLookForMarkOfOwn:
      case kClearMarkOfOwn:
        RetireOwn(s, &me, error);
        return true;
      case kMarkDone:
        own.state = kDone;
        me.step = kLookForRole;
        return true;
      case kLookForRole:
        me.step = s->role != 0 ? kWake : kReadHead;
        if (me.step == kReadHead && fault_ == Fault::kReadsHeadEarly) me.step = kLookAtHead;
        return true;
      case kReadHead:
        me.end = s->head;
        me.step = kLookAtHead;
        return true;
      case kLookAtHead: {
        const Slot& head = s->slots[me.end % kSlots];
        me.step = head.ticket == me.end && head.state != kOpen ? kTakeRole : kWake;
        me.end = 0;
        return true;
      }
      case kTakeRole:
        me.step = s->role != 0 ? kWake : kScan;
        if (s->role == 0) me.at = me.end = s->head;
        s->role = 1;
        return true;
      case kScan:
        Scan(*s, &me);
        return true;
      case kPublish:
        Publish(s, &me, error);
        return true;
      case kRetire:
      case kRetireStore:
        Retire(s, &me);
        return true;
      case kMoveHead:
        s->head = me.end;
        me.step = kLookForMark;
        return true;
      case kLookForMark:
        me.step = me.end >= s->room_at ? kClearMark : kGiveUpRole;
        return true;
      case kClearMark:
        s->room_at = kNoRoomMark;
        me.wakes_room = 1;
        me.step = kGiveUpRole;
        return true;
      case kGiveUpRole:
        s->role = 0;
        me.at = me.end = 0;
        me.step = fault_ == Fault::kNoSecondLook ? kWake : kLookForRole;
        return true;
      case kWake:
        Wake(s, &me);
        return true;
      case kCountRound:
        CountRound(s, &me);
        return true;
      case kLookRetired:
        if (own.ticket != me.ticket) {
          Return(s, &me, error);
        } else {
          me.step = own.state == kParked ? kSleep : kPark;
        }
        return true;
      case kPark:  // compare and swap
        if (own.ticket == me.ticket && own.state == kDone) own.state = kParked;
        me.step = own.ticket == me.ticket ? kSleep : kLookRetired;
        return true;
      case kSleep:  // the kernel compares the word and queues the thread in one
        me.asleep = own.ticket == me.ticket && own.state == kParked ? kAsleepInSlot : 0;
        me.step = kLookRetired;
        return true;
      case kReadSnapshot:
        CheckSnapshot(*s, fault_ == Fault::kSnapshotNeverWaits ? s->tail : s->visible, error);
        me.step = kOver;
        return true;
      default:
        return false;
    }
  }

 private:
  void Take(State* s, Thread* me) const {
    if (me->is_reader != 0 && (fault_ == Fault::kSnapshotNeverWaits || s->visible == s->tail)) {
      me->step = kReadSnapshot;  // nothing is under way
      return;
    }
    const Slot& slot = s->slots[s->tail % kSlots];
    if (slot.ticket != s->tail || slot.state != kOpen) {
      me->wanted = s->tail;
      me->step = kReadRound;
      return;
    }
    me->ticket = s->tail++;
    me->step = me->is_reader != 0 ? kLookIfOldest : kInsert;
    if (me->is_reader != 0) s->inserted |= static_cast<uint16_t>(1u << me->ticket);
  }

  void LookForRoom(const State& s, Thread* me) const {
    const bool full = s.slots[me->wanted % kSlots].ticket + kSlots == me->wanted;
    if (!full) {
      LeaveRoom(me);
    } else {
      me->step = fault_ == Fault::kMarksRoomLate ? kMarkRoom : kSleepForRoom;
    }
  }

  static void LeaveRoom(Thread* me) {
    me->wanted = 0;
    me->round = 0;
    me->step = kTake;
  }

  // The count and the waking are one step: who reads the word in between does not sleep.
  void CountRound(State* s, Thread* me) const {
    if (fault_ != Fault::kNoRoundOfRoom) s->room_rounds++;
    for (Thread& other : s->threads) {
      if (other.asleep == kAsleepForRoom) other.asleep = kAwake;
    }
    me->wakes_room = 0;
    GoOn(me);
  }

  Step FirstStepOfOldest() const {
    return fault_ == Fault::kOldestMovesFirst ? kMoveHeadPastOwn : kPublishOwn;
  }

  // Takes a step of the oldest thread, whose slot is not marked: publishes, opens the slot, moves
  // the head, wakes who waits for room, then looks behind.
  void RetireOwn(State* s, Thread* me, std::string* error) const {
    const auto after = static_cast<uint8_t>(me->ticket + 1);
    switch (me->step) {
      case kPublishOwn:
        CheckPublication(*s, after, error);
        s->visible = after;
        me->step = kOpenOwn;
        return;
      case kOpenOwn:
        s->slots[me->ticket % kSlots] = Slot{static_cast<uint8_t>(me->ticket + kSlots), kOpen, 0};
        me->step = fault_ == Fault::kOldestMovesFirst ? kLookForMarkOfOwn : kMoveHeadPastOwn;
        return;
      case kMoveHeadPastOwn:
        s->head = after;
        me->step = fault_ == Fault::kOldestMovesFirst ? kPublishOwn : kLookForMarkOfOwn;
        return;
      case kLookForMarkOfOwn:
        me->step = after >= s->room_at ? kClearMarkOfOwn : StepBehindOwn();
        return;
      default:
        s->room_at = kNoRoomMark;
        me->wakes_room = 1;
        me->step = StepBehindOwn();
    }
  }

  Step StepBehindOwn() const { return fault_ == Fault::kOldestLeaves ? kWake : kLookForRole; }

  static void CheckPublication(const State& s, int end, std::string* error) {
    if (end < s.visible) *error = "visibility goes back";
    for (int ticket = 0; ticket < end; ticket++) {
      if ((s.inserted >> ticket & 1) == 0) *error = "visible, and not inserted";
    }
  }

  void Scan(const State& s, Thread* me) const {
    const Slot& slot = s.slots[me->end % kSlots];
    const bool complete = slot.ticket == me->end && slot.state != kOpen;
    const bool skip = fault_ == Fault::kSkipsOpenSlots && me->end < s.tail && !complete &&
                      slot.ticket == me->end && slot.half != 0;
    if (complete || skip) {
      me->end++;
    } else if (me->end == me->at) {
      me->step = kGiveUpRole;
    } else {
      me->step = fault_ == Fault::kRetiresFirst ? kRetire : kPublish;
    }
  }

  void Publish(State* s, Thread* me, std::string* error) const {
    CheckPublication(*s, me->end, error);
    s->visible = me->end;
    me->step = fault_ == Fault::kRetiresFirst ? kMoveHead : kRetire;
  }

  // Retires one slot for each step.
  void Retire(State* s, Thread* me) const {
    if (me->at == me->end) {
      me->step = fault_ == Fault::kRetiresFirst ? kPublish : kMoveHead;
      return;
    }
    const int index = me->at % kSlots;
    Slot& slot = s->slots[index];
    if (fault_ == Fault::kLooksThenRetires && me->step == kRetire) {
      me->was_parked = slot.state == kParked;
      me->step = kRetireStore;
      return;
    }
    if (fault_ != Fault::kLooksThenRetires) me->was_parked = slot.state == kParked;
    if (me->was_parked != 0) me->wakes |= static_cast<uint8_t>(1u << index);
    slot = Slot{static_cast<uint8_t>(me->at + kSlots), kOpen, 0};
    me->at++;
    me->step = kRetire;
  }

  void Wake(State* s, Thread* me) const {
    for (Thread& other : s->threads) {
      const bool called = (me->wakes >> other.ticket % kSlots & 1) != 0;
      if (other.asleep == kAsleepInSlot && called) other.asleep = kAwake;
    }
    me->wakes = 0;
    me->was_parked = 0;
    me->end = 0;
    me->at = 0;
    if (me->wakes_room != 0) {
      me->step = kCountRound;
    } else {
      GoOn(me);
    }
  }

  void GoOn(Thread* me) const {
    if (ordered_ || me->is_reader != 0) {
      me->step = kLookRetired;
    } else {
      Finish(me);
    }
  }

  void Return(State* s, Thread* me, std::string* error) const {
    if (s->visible <= me->ticket) *error = "returns before it is visible";
    if (me->is_reader != 0) {
      me->step = kReadSnapshot;
    } else {
      Finish(me);
    }
  }

  static void Finish(Thread* me) {
    me->ticket = 0;
    me->writes_left--;
    me->step = me->writes_left > 0 ? kTake : kOver;
  }

  static void CheckSnapshot(const State& s, int below, std::string* error) {
    for (int ticket = 0; ticket < below; ticket++) {
      if ((s.inserted >> ticket & 1) == 0) *error = "a snapshot that will change";
    }
  }

  const Fault fault_;
  const bool ordered_;
};

// Each thread makes that many writes, but the last one, which reads.
State Initial(int writes) {
  State s;
  std::memset(&s, 0, sizeof s);
  s.room_at = kNoRoomMark;
  for (int i = 0; i < kSlots; i++) s.slots[i].ticket = static_cast<uint8_t>(i);
  for (Thread& thread : s.threads) thread.writes_left = static_cast<uint8_t>(writes);
  s.threads[kModelThreads - 1].is_reader = 1;
  return s;
}

// Visits every reachable state. Returns the first broken promise, or "" if there is none.
std::string Explore(Fault fault, bool ordered, int writes, size_t* states) {
  const Machine machine(fault, ordered);
  std::unordered_set<State, StateHash> seen;
  std::vector<State> open{Initial(writes)};
  seen.insert(open.front());
  while (!open.empty()) {
    const State state = open.back();
    open.pop_back();
    bool any = false;
    bool all_over = true;
    for (int t = 0; t < kModelThreads; t++) {
      all_over = all_over && state.threads[t].step == kOver;
      State next = state;
      std::string error;
      if (!machine.Advance(&next, t, &error)) continue;
      if (!error.empty()) return error;
      any = true;
      if (seen.insert(next).second) open.push_back(next);
    }
    if (!any && !all_over) return "somebody sleeps for ever";
    if (all_over && state.visible != state.tail) return "complete, and never visible";
  }
  *states = seen.size();
  return "";
}

TEST(CommitRingModelTest, EveryInterleavingKeepsThePromises) {
  for (const bool ordered : {true, false}) {
    for (const int writes : {1, 2}) {
      // Two writes of each thread make too many states for a sanitizer.
      if (writes == 2 && testing::StepUnderSanitizer() > 1) continue;
      size_t states = 0;
      EXPECT_EQ(Explore(Fault::kNone, ordered, writes, &states), "") << ordered << writes;
      EXPECT_GT(states, writes * 500u);
    }
  }
}

TEST(CommitRingModelTest, PlantedFaultsAreFound) {
  size_t states = 0;
  EXPECT_NE(Explore(Fault::kNoSecondLook, true, 1, &states), "");
  EXPECT_NE(Explore(Fault::kNoSecondLook, false, 1, &states), "");
  EXPECT_NE(Explore(Fault::kReadsHeadEarly, true, 1, &states), "");
  EXPECT_NE(Explore(Fault::kReadsHeadEarly, false, 1, &states), "");
  EXPECT_NE(Explore(Fault::kSkipsOpenSlots, true, 1, &states), "");
  EXPECT_NE(Explore(Fault::kRetiresFirst, true, 1, &states), "");
  EXPECT_NE(Explore(Fault::kLooksThenRetires, true, 2, &states), "");
  EXPECT_NE(Explore(Fault::kSnapshotNeverWaits, false, 1, &states), "");
  EXPECT_NE(Explore(Fault::kOldestLeaves, true, 1, &states), "");
  EXPECT_NE(Explore(Fault::kOldestLeaves, false, 1, &states), "");
  EXPECT_NE(Explore(Fault::kOldestMovesFirst, true, 1, &states), "");
  EXPECT_NE(Explore(Fault::kMarksRoomLate, false, 2, &states), "");
  EXPECT_NE(Explore(Fault::kNoRoundOfRoom, false, 2, &states), "");
}

}  // namespace
}  // namespace varve::ring_model
