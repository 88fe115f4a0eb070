// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the activities of the process's background threads, for Env::GetThreadList.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/env.h"
#include "varve/thread_status.h"

namespace varve {

// Lists the calling thread while this object lives, if there is memory for that.
class ListedThread {
 public:
  explicit ListedThread(Env::Priority pool);
  ~ListedThread();
  ListedThread(const ListedThread&) = delete;
  ListedThread& operator=(const ListedThread&) = delete;
};

// Records the operation of the calling thread while this object lives. Does so only if `wanted`,
// the thread is listed and has no operation yet, and there is memory for the names.
class ListedOperation {
 public:
  ListedOperation(bool wanted, ThreadStatus::OperationType type, const std::string& db,
                  const std::string& family);
  ~ListedOperation();
  ListedOperation(const ListedOperation&) = delete;
  ListedOperation& operator=(const ListedOperation&) = delete;

  // Sets the stage of the operation.
  void Enter(ThreadStatus::OperationStage stage);
  // Sets a property of the operation, by its index in ThreadStatus.
  void Set(int property, uint64_t value);

 private:
  bool noted_ = false;
};

// Throws std::bad_alloc.
std::vector<ThreadStatus> ListThreads();

}  // namespace varve
