// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides one thread that serves all periodic tasks of the process.

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// The thread runs while there are clients. A child of fork() has none at first.
//
// Thread safety: all methods may be called from any thread; clients may hold their own locks in Add
// and Wake, but not in Remove.
class SharedTimer final : private ForkWatch {
 public:
  class Client {
   public:
    virtual ~Client() = default;
    // Runs in the timer's thread, one client at a time. Returns the microseconds until the next
    // call.
    virtual uint64_t OnTime() noexcept = 0;
  };

  // Returns the process's timer, which is never destroyed.
  static SharedTimer& Default();

  // Adds a client, which must not be present; calls it soon, and from then on as it requests.
  // Returns false, adding nothing, if there is no thread or no memory.
  bool Add(Client* client);
  // Calls the client soon, whatever it requested. Does nothing if the client is not present.
  void Wake(Client* client);
  // Calls all clients soon, for callers that do not know which one is concerned.
  void WakeAll();
  // Removes a client, and returns when it is not called any more; so OnTime must not call it. Does
  // nothing if the client is not present.
  void Remove(Client* client);

 private:
  struct Entry {
    Client* client = nullptr;
    uint64_t due_micros = 0;  // On the steady clock.
  };

  SharedTimer();
  ~SharedTimer() override = default;

  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;
  // Calls the clients when they are due, as long as `generation` is the present one.
  void Run(uint64_t generation);
  // Returns the client's entry, or null.
  Entry* Find(const Client* client) VARVE_REQUIRES(mu_);

  Mutex mu_{lock_ranks::kSharedTimer};
  // Replaced in a child, because the parent's waiters do not exist there.
  std::unique_ptr<CondVar> changed_ VARVE_GUARDED_BY(mu_);
  std::vector<Entry> entries_ VARVE_GUARDED_BY(mu_);
  // The clients that are being called. There may be more than one, as a thread of an earlier
  // generation may still be ending.
  std::vector<const Client*> running_ VARVE_GUARDED_BY(mu_);
  // Null without clients. A thread of an earlier generation ends.
  std::unique_ptr<std::thread> thread_ VARVE_GUARDED_BY(mu_);
  uint64_t generation_ VARVE_GUARDED_BY(mu_) = 0;
};

}  // namespace varve
