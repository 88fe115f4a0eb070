// SPDX-License-Identifier: Apache-2.0
#pragma once

// Brings what threads share within a process over a fork(), after which the child has one of them.

namespace varve {

// Something that lives as long as several threads use it and is watched over every fork().
//
// Before() has it stand still, as a rule by taking its mutex, which must be a leaf; then one of the
// others lets it go again. What was other threads' the child finds as they left it at that moment.
// In the child, InChild() may take memory, and no other lock.
//
// Thread safety: Watch and Forget from any thread, not from within the three.
class ForkWatch {
 public:
  ForkWatch(const ForkWatch&) = delete;
  ForkWatch& operator=(const ForkWatch&) = delete;

 protected:
  ForkWatch() = default;
  virtual ~ForkWatch() = default;

  // From here on, at the end of a constructor. Throws std::bad_alloc.
  void Watch();
  // At the start of a destructor, for what does not live for ever.
  void Forget();

 private:
  friend struct ForkWatches;

  virtual void Before() = 0;
  virtual void InParent() = 0;
  virtual void InChild() = 0;
};

}  // namespace varve
