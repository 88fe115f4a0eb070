// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides what RocksDB's Java glue takes from RocksDB's port layer: a mutex.

#include <mutex>

#include "varve/status.h"

namespace varve::port {

// Thread safety: any thread.
class Mutex {
 public:
  // std::mutex does not spin, whatever `adaptive` says.
  explicit Mutex(bool /*adaptive*/ = false) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() { mutex_.lock(); }
  void Unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace varve::port
