// SPDX-License-Identifier: Apache-2.0
#pragma once

// One thread that serves everybody in the process who has something to do every so often.

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// The thread runs while there are clients. In a child of fork() there are none at first.
//
// Thread safety: all methods from any thread; clients may hold locks of theirs in Add and Wake, not
// in Remove.
class SharedTimer final : private ForkWatch {
 public:
  class Client {
   public:
    virtual ~Client() = default;
    // In the timer's thread, where clients take turns. Answers in how many microseconds to come
    // again.
    virtual uint64_t OnTime() noexcept = 0;
  };

  // Lives for ever.
  static SharedTimer& Default();

  // Calls the client, which is not there yet, soon, and from then on as it says. False: the system
  // gives no thread or no memory, and nobody will.
  bool Add(Client* client);
  // Calls it soon, whatever it said.
  void Wake(Client* client);
  // For who does not know whom it concerns.
  void WakeAll();
  // Returns when the client is not called any more. One that is not there is fine.
  void Remove(Client* client);

 private:
  struct Entry {
    Client* client = nullptr;
    uint64_t due_micros = 0;
  };

  SharedTimer();
  ~SharedTimer() override = default;

  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;
  void Run(uint64_t generation);
  Entry* Find(const Client* client) VARVE_REQUIRES(mu_);

  Mutex mu_{lock_ranks::kSharedTimer};
  // Replaced in a child: those that waited on it are not there.
  std::unique_ptr<CondVar> changed_ VARVE_GUARDED_BY(mu_);
  std::vector<Entry> entries_ VARVE_GUARDED_BY(mu_);
  // More than one, as a thread of an earlier generation may still be at its last.
  std::vector<const Client*> running_ VARVE_GUARDED_BY(mu_);
  // Null without clients. A thread of an earlier generation ends.
  std::unique_ptr<std::thread> thread_ VARVE_GUARDED_BY(mu_);
  uint64_t generation_ VARVE_GUARDED_BY(mu_) = 0;
};

}  // namespace varve
