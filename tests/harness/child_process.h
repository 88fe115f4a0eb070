// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs a process that a test starts and kills: the writer beside the readers.

#include <sys/types.h>

#include <functional>
#include <string>

namespace varve::testing {

// False under ThreadSanitizer, which ends a child of a process with threads when it starts one.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kChildrenMayHaveThreads = false;
#else
inline constexpr bool kChildrenMayHaveThreads = true;
#endif

// Runs `body` in a child; the destructor kills it, and so does the parent's end. The parent has no
// threads when it is made.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void()>& body);
  ~ChildProcess() { Kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns false if it had ended by itself.
  bool Kill();
  // True if it ends by itself and its body has returned.
  bool EndsWell();

 private:
  pid_t pid_;
};

// An empty directory of this name and process, removed at the end.
class FreshDirectory {
 public:
  explicit FreshDirectory(const std::string& name);
  ~FreshDirectory();
  FreshDirectory(const FreshDirectory&) = delete;
  FreshDirectory& operator=(const FreshDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace varve::testing
