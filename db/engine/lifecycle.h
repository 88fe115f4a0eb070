// SPDX-License-Identifier: Apache-2.0
#pragma once

// From open to closed: whether calls may come in, whether work goes on, and what users have not
// released yet.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "varve/status.h"

#include "db/column_family/super_version_source.h"
#include "db/db_mutex.h"
#include "db/engine/open_calls.h"
#include "db/thread_duties.h"
#include "util/base/assert.h"

namespace varve {

class LiveSnapshots;

// Thread safety: every method without an annotation from any thread.
class Lifecycle {
 public:
  Lifecycle() = default;
  Lifecycle(const Lifecycle&) = delete;
  Lifecycle& operator=(const Lifecycle&) = delete;

  // Set before anything else that Close does. Also in the child that a fork() makes, where the
  // database is dead (fork_guard.h).
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  // Background work gives up; jobs look at it often.
  bool shutting_down() const { return shutting_down_.load(std::memory_order_acquire); }
  const std::atomic<bool>& shutting_down_flag() const { return shutting_down_; }
  // That is why it is closed.
  bool forked() const { return forked_.load(std::memory_order_acquire); }
  // OK, or why no call can be served. The second is for calls that a closed database still answers.
  Status CheckOpen() const;
  Status CheckNotForked() const;

  OpenCalls& calls() { return calls_; }
  ReferenceCounts& references() { return references_; }
  // "2 snapshots, 1 iterator, 3 column family handles", or empty: nothing is outstanding.
  std::string OutstandingReferences(const LiveSnapshots& snapshots) const;

  void ShutDown() { shutting_down_.store(true, std::memory_order_release); }
  void MarkForked();
  // Keeps the engine for ever, as nothing of it may be released in a child.
  void KeepInChild(std::shared_ptr<void> engine) {
    VARVE_ASSERT(forked());
    kept_by_child_ = std::move(engine);
  }

  // --- Closing: one call does it, others wait for it and return the same.
  enum class Closing : uint8_t { kNo, kUnderWay, kOver };
  Closing closing() const VARVE_REQUIRES(kDbMutex) { return closing_; }
  const Status& close_status() const VARVE_REQUIRES(kDbMutex) { return close_status_; }
  // Nobody enters any more.
  void BeginClosing() VARVE_REQUIRES(kDbMutex);
  void EndClosing(const Status& status) noexcept VARVE_REQUIRES(kDbMutex);

 private:
  std::atomic<bool> closed_{false};
  std::atomic<bool> shutting_down_{false};
  std::atomic<bool> forked_{false};
  Closing closing_ VARVE_GUARDED_BY(kDbMutex) = Closing::kNo;
  Status close_status_ VARVE_GUARDED_BY(kDbMutex);
  std::shared_ptr<void> kept_by_child_;
  ReferenceCounts references_;
  OpenCalls calls_;
};

// One call, for the time of its life. In a child of fork() closed() says so, and the mutex may be
// one that the parent held.
class OpenCall {
 public:
  explicit OpenCall(Lifecycle* lifecycle)
      : calls_(!lifecycle->closed() && lifecycle->calls().Enter() ? &lifecycle->calls() : nullptr) {
    if (calls_ != nullptr) duty_.emplace(Duty::kCall, lifecycle, "a call of the database,");
  }
  ~OpenCall() {
    if (calls_ != nullptr) calls_->Leave();
  }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  // False: the database is closed, or being closed.
  bool inside() const { return calls_ != nullptr; }

 private:
  OpenCalls* const calls_;
  std::optional<Duty> duty_;
};

}  // namespace varve
