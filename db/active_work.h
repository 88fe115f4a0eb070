// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells which work a thread has begun and must finish before others can go on. A filter, a listener
// or a file system that a flush calls may call the database in its turn. A call that would then
// wait for the work that it was called from is refused as Busy, as it would wait for ever.
//
//      thread of a flush                   active_work::innermost
//        ActiveWork kFlush                   --> flush
//          TableOutput writes
//            the user's file system
//              DB::Flush, waits for flushes: RefuseHeldUp(kFlush) finds the flush: Busy
//
// Work registers itself as ActiveWork of its thread. A call that is about to wait for work of some
// kinds looks for active work of these kinds (RefuseHeldUp, if it returns a status;
// ThrowIfItWouldDeadlock elsewhere). Both cost one load of a thread-local variable when there is
// none.
//
// Pieces of active work are objects on the stack, linked from the innermost one outwards. A thread
// that does a part of another thread's work, such as a sub-compaction, takes over that list by its
// head (ActiveWorkOf): the objects lie on the stack of the other thread, which waits for it.
//
// Work has an owner, since a thread may use several databases: a callback of one may well wait for
// a flush of another one.

#include <cstdint>
#include <string>
#include <utility>

#include "varve/status.h"

#include "util/base/refused_call.h"

namespace varve {

class ActiveWork;

namespace active_work {

// The head of the list; null in a thread without work.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const ActiveWork* innermost =
    nullptr;
// The name of the user's function that the thread is in (CallOut), for messages; null: unknown.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const char* function = nullptr;
// The DB mutex that the thread holds, the last one taken if there are several; null: none.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const void* mutex = nullptr;

}  // namespace active_work

// Registers one piece of work while it lives, which is within the life of the one before. Thread
// safety: it belongs to the thread that makes it.
class ActiveWork {
 public:
  // The owner is the database's Lifecycle, unless the kind's comment names another object.
  enum Kind : uint32_t {
    kCommit = 1,       // a write on its way, or writers that are kept out; owner: the CommitPath
    kFlush = 2,        // memtables are flushed
    kCompaction = 4,   // also a call that compacts, from its beginning to its end
    kRecovery = 8,     // recovery from an error
    kOptions = 16,     // the OPTIONS file is written; owner: the OptionsKeeper
    kBackground = 32,  // anything else that Close waits for
    kCall = 64,        // a public call, which Close waits for, too; or a call of a backup engine,
                       // whose owner is that engine's store with its mutex
    kManifest = 128,   // the MANIFEST is written; owner: the VersionSet
    kLog = 256,        // the log is written or synced; owner: the CommitPath
    kIngestion = 512,  // ingested tables are on their way into the tree
  };
  // All kinds but the work on the log, and ingestions.
  static constexpr uint32_t kAny = 255;

// GCC 12 takes the pointer for one that outlives the object; the destructor takes it back.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
  // `what` is for messages, and literal: "a flush".
  ActiveWork(Kind kind, const void* owner, const char* what)
      : kind_(kind), owner_(owner), what_(what), outer_(active_work::innermost) {
    active_work::innermost = this;
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  ~ActiveWork() {
    active_work::innermost = outer_;
  }
  ActiveWork(const ActiveWork&) = delete;
  ActiveWork& operator=(const ActiveWork&) = delete;

  // The innermost one of these kinds that this thread has for the owner; null: it has none.
  static const ActiveWork* Find(uint32_t kinds, const void* owner) {
    const ActiveWork* active = active_work::innermost;
    while (active != nullptr && ((active->kind_ & kinds) == 0 || active->owner_ != owner)) {
      active = active->outer_;
    }
    return active;
  }
  // Returns the words for messages.
  const char* what() const {
    return what_;
  }

 private:
  // Kind of the work, and the object that it belongs to, which other calls would wait for.
  const Kind kind_;
  const void* const owner_;
  const char* const what_;
  // The work that this thread had begun before, or null.
  const ActiveWork* const outer_;
};

// Gives a thread that does a part of another thread's work the active work of that one, while it
// lives. The other thread waits for it.
class ActiveWorkOf {
 public:
  explicit ActiveWorkOf(const ActiveWork* innermost) : own_(active_work::innermost) {
    active_work::innermost = innermost;
  }
  ~ActiveWorkOf() { active_work::innermost = own_; }
  ActiveWorkOf(const ActiveWorkOf&) = delete;
  ActiveWorkOf& operator=(const ActiveWorkOf&) = delete;

 private:
  // The thread's own active work, which the destructor restores.
  const ActiveWork* const own_;
};

// Names a user's function during its call.
class CallOut {
 public:
  // `name` is literal.
  explicit CallOut(const char* name) : outer_(active_work::function) {
    active_work::function = name;
  }
  ~CallOut() { active_work::function = outer_; }
  CallOut(const CallOut&) = delete;
  CallOut& operator=(const CallOut&) = delete;

 private:
  // The function that the thread was in before.
  const char* const outer_;
};

// Returns Busy for the function named `call`, which would wait for `what`, such as "a flush".
inline Status HeldUp(const char* call, const char* what) {
  const char* const from = active_work::function == nullptr ? "a callback" : active_work::function;
  return Status::Busy(call, std::string("called in ") + from + ", it would wait for " + what +
                                " which that holds up; call it from another thread");
}

// Returns OK if the function named `call` may wait for the owner's work of these kinds (a sum of
// ActiveWork::Kind), and Busy if this thread itself is inside such work.
inline Status RefuseHeldUp(const char* call, uint32_t kinds, const void* owner) {
  if (active_work::innermost == nullptr) [[likely]]
    return Status::OK();
  const ActiveWork* const active = ActiveWork::Find(kinds, owner);
  return active == nullptr ? Status::OK() : HeldUp(call, active->what());
}

// Like RefuseHeldUp, for functions that return no status: throws RefusedCall with the error. A
// public call that returns a status catches it and returns the error (CaughtException); one that
// returns none, such as BackupEngine's GetCorruptedBackups, lets it through to its caller.
inline void ThrowIfItWouldDeadlock(const char* call, uint32_t kinds, const void* owner) {
  Status s = RefuseHeldUp(call, kinds, owner);
  if (!s.ok()) throw RefusedCall{std::move(s)};
}

}  // namespace varve
