// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the process's background threads are doing, for Env::GetThreadList.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/env.h"
#include "varve/thread_status.h"

namespace varve {

// Makes the calling thread one of those that are listed, as long as this lives, if there is memory
// for that.
class ListedThread {
 public:
  explicit ListedThread(Env::Priority pool);
  ~ListedThread();
  ListedThread(const ListedThread&) = delete;
  ListedThread& operator=(const ListedThread&) = delete;
};

// What the calling thread does as long as this lives. Nothing is noted unless it is `wanted` and
// the thread is listed and has no operation yet, and there is memory for the names.
class ListedOperation {
 public:
  ListedOperation(bool wanted, ThreadStatus::OperationType type, const std::string& db,
                  const std::string& family);
  ~ListedOperation();
  ListedOperation(const ListedOperation&) = delete;
  ListedOperation& operator=(const ListedOperation&) = delete;

  void Enter(ThreadStatus::OperationStage stage);
  void Set(int property, uint64_t value);

 private:
  bool noted_ = false;
};

// Throws std::bad_alloc.
std::vector<ThreadStatus> ListThreads();

}  // namespace varve
