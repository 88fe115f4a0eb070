// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tells what a thread has to finish before others can go on, for calls that users make from inside
// it: a filter, a listener or a file system that a flush calls may call the database in its turn. A
// call that would then wait for the work that it was called from is refused as Busy, as it would
// wait for ever.
//
// Work registers itself as a Duty of its thread. A call that is about to wait for work of some
// kinds looks for a duty of these kinds (RefuseHeldUp, if it returns a status; ThrowIfHeldUp
// elsewhere). Both cost one load of a variable of the thread when there is no duty.

#include <cstdint>
#include <string>
#include <utility>

#include "varve/status.h"

#include "util/base/refused_call.h"

namespace varve {

class Duty;

namespace duties {

[[gnu::tls_model("initial-exec")]] inline constinit thread_local const Duty* innermost = nullptr;
// The user's function that the thread is in, as far as it has a name.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const char* function = nullptr;
// The DB mutex that the thread has taken last and still holds.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const void* mutex = nullptr;

}  // namespace duties

// Registers one duty while it lives, which is within the life of the one before. Thread safety: it
// belongs to the thread that makes it.
class Duty {
 public:
  enum Kind : uint32_t {
    kCommit = 1,       // a write on its way, or writers that are kept out; of a CommitPath
    kFlush = 2,        // the others: of a Lifecycle
    kCompaction = 4,   // also a call that compacts, from its beginning to its end
    kRecovery = 8,     // recovery from an error
    kOptions = 16,     // the OPTIONS file is written
    kBackground = 32,  // anything else that Close waits for
    kCall = 64,        // a public call, which Close waits for as well
    kManifest = 128,   // the MANIFEST is written; of a VersionSet
    kLog = 256,        // the log is written or synced; of a CommitPath
    kIngestion = 512,  // ingested tables on their way into the tree; of a Lifecycle
  };
  static constexpr uint32_t kAny = 255;

// GCC 12 takes the pointer for one that outlives the object; the destructor takes it back.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
  // `what` is for messages, and literal: "a flush".
  Duty(Kind kind, const void* owner, const char* what)
      : kind_(kind), owner_(owner), what_(what), outer_(duties::innermost) {
    duties::innermost = this;
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  ~Duty() {
    duties::innermost = outer_;
  }
  Duty(const Duty&) = delete;
  Duty& operator=(const Duty&) = delete;

  // The innermost one of these kinds that this thread has for the owner; null: it has none.
  static const Duty* Find(uint32_t kinds, const void* owner) {
    const Duty* duty = duties::innermost;
    while (duty != nullptr && ((duty->kind_ & kinds) == 0 || duty->owner_ != owner)) {
      duty = duty->outer_;
    }
    return duty;
  }
  const char* what() const {
    return what_;
  }

 private:
  const Kind kind_;
  const void* const owner_;
  const char* const what_;
  const Duty* const outer_;
};

// A thread that does a part of another's work has that one's duties, for the time of its life. The
// other waits for it.
class DutiesOf {
 public:
  explicit DutiesOf(const Duty* innermost) : own_(duties::innermost) {
    duties::innermost = innermost;
  }
  ~DutiesOf() { duties::innermost = own_; }
  DutiesOf(const DutiesOf&) = delete;
  DutiesOf& operator=(const DutiesOf&) = delete;

 private:
  const Duty* const own_;
};

// Names a user's function during its call.
class CallOut {
 public:
  // `name` is literal.
  explicit CallOut(const char* name) : outer_(duties::function) { duties::function = name; }
  ~CallOut() { duties::function = outer_; }
  CallOut(const CallOut&) = delete;
  CallOut& operator=(const CallOut&) = delete;

 private:
  const char* const outer_;
};

// Returns the error of `call`, which must not wait for `what`.
inline Status HeldUp(const char* call, const char* what) {
  const char* const from = duties::function == nullptr ? "a callback" : duties::function;
  return Status::Busy(call, std::string("called in ") + from + ", it would wait for " + what +
                                " which that holds up; call it from another thread");
}

// OK, or why the call must not wait for work of these kinds.
inline Status RefuseHeldUp(const char* call, uint32_t kinds, const void* owner) {
  if (duties::innermost == nullptr) [[likely]]
    return Status::OK();
  const Duty* const duty = Duty::Find(kinds, owner);
  return duty == nullptr ? Status::OK() : HeldUp(call, duty->what());
}

inline void ThrowIfHeldUp(const char* call, uint32_t kinds, const void* owner) {
  Status s = RefuseHeldUp(call, kinds, owner);
  if (!s.ok()) throw RefusedCall{std::move(s)};
}

}  // namespace varve
