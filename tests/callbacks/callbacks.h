// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides objects of every kind that a user can register, each of whose functions can be made to
// do something once, in the middle of what the engine calls it for.

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/options.h"

#include "util/env/mem_file_system.h"

namespace varve::testing {

// Thread safety: any thread may call Fire; only the test calls the rest.
class Trigger {
 public:
  // Makes the next calls of the function run `act`, until it has returned true once.
  void Arm(const std::string& function, std::function<bool()> act) {
    function_ = function;
    act_ = std::move(act);
    done_ = false;
    state_ = State::kArmed;
  }
  // Waits until a call that has begun has ended.
  void Disarm() {
    for (;;) {
      State armed = State::kArmed;
      if (state_.compare_exchange_strong(armed, State::kIdle) || armed == State::kIdle) return;
      std::this_thread::yield();
    }
  }
  // Called when `function` is called.
  void Fire(const char* function) {
    State armed = State::kArmed;
    if (state_ != armed || function_ != function) return;
    if (!state_.compare_exchange_strong(armed, State::kRunning)) return;
    begun_ = true;
    const bool acted = act_();
    done_ = acted;
    state_ = acted ? State::kIdle : State::kArmed;
  }
  bool begun() const { return begun_; }
  bool done() const { return done_; }

 private:
  enum class State { kIdle, kArmed, kRunning };

  std::string function_;
  std::function<bool()> act_;
  std::atomic<State> state_{State::kIdle};
  std::atomic<bool> begun_{false};
  std::atomic<bool> done_{false};
};

struct Callback {
  const char* name;
  // True if a recovery calls it, before there is a database.
  bool in_recovery = false;
};
const std::vector<Callback>& Callbacks();
// Returns the functions of a listener that are never called.
const std::set<std::string>& NeverCalled();
bool IsOfErrors(const std::string& callback);

// Puts them into the options, but for the comparator. `callback` is the one that is wanted:
// listeners of file operations change how files are written. The trigger outlives the databases.
void RegisterCallbacks(Options* options, Trigger* trigger, const std::string& callback);

std::unique_ptr<Comparator> NewComparatorCallback(Trigger* trigger);
// Returns the file system as a callback.
std::unique_ptr<MemFileSystem::CallHook> NewFileSystemCallback(Trigger* trigger);

}  // namespace varve::testing
