// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tracks a database from open to closed: if calls may enter, if work continues, and what users have
// not released yet.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "varve/status.h"

#include "db/active_work.h"
#include "db/column_family/super_version_source.h"
#include "db/db_mutex.h"
#include "db/engine/open_calls.h"
#include "util/base/assert.h"

namespace varve {

class LiveSnapshots;

// Thread safety: methods without an annotation may be called from any thread.
class Lifecycle {
 public:
  Lifecycle() = default;
  Lifecycle(const Lifecycle&) = delete;
  Lifecycle& operator=(const Lifecycle&) = delete;

  // True from the first step of Close on, and in the child of a fork(), where the database is
  // disabled (fork_guard.h).
  bool closed() const { return closed_.load(std::memory_order_acquire); }
  // True if background work is to give up; jobs check it often.
  bool shutting_down() const { return shutting_down_.load(std::memory_order_acquire); }
  const std::atomic<bool>& shutting_down_flag() const { return shutting_down_; }
  // True if the database is closed because of fork().
  bool forked() const { return forked_.load(std::memory_order_acquire); }
  // Return OK, or the reason why no call can be served. The second is for calls that a closed
  // database still answers.
  Status CheckOpen() const;
  Status CheckNotForked() const;

  // Returns the gate that calls pass (OpenCall).
  OpenCalls& calls() { return calls_; }
  // Returns the counts of what programs hold.
  ReferenceCounts& references() { return references_; }
  // Returns "2 snapshots, 1 iterator, 3 column family handles", or "" if nothing is outstanding.
  std::string OutstandingReferences(const LiveSnapshots& snapshots) const;

  // Makes background work give up.
  void ShutDown() { shutting_down_.store(true, std::memory_order_release); }
  // Closes the database in a child of fork(), where its threads do not exist.
  void MarkForked();
  // Keeps the engine forever, as nothing of it may be released in a child.
  void KeepInChild(std::shared_ptr<void> engine) {
    VARVE_ASSERT(forked());
    kept_by_child_ = std::move(engine);
  }

  // --- Closing: one call does it; others wait for it and return the same result.
  enum class Closing : uint8_t { kNo, kUnderWay, kOver };
  Closing closing() const VARVE_REQUIRES(kDbMutex) { return closing_; }
  const Status& close_status() const VARVE_REQUIRES(kDbMutex) { return close_status_; }
  // Begins to close: no call enters any more (OpenCalls::Shut).
  void BeginClosing() VARVE_REQUIRES(kDbMutex);
  // Stores the result of Close for all calls of it.
  void EndClosing(const Status& status) noexcept VARVE_REQUIRES(kDbMutex);

 private:
  // Each is set once and never reset.
  std::atomic<bool> closed_{false};
  std::atomic<bool> shutting_down_{false};
  std::atomic<bool> forked_{false};
  // The progress of Close, and its result for calls that waited for it.
  Closing closing_ VARVE_GUARDED_BY(kDbMutex) = Closing::kNo;
  Status close_status_ VARVE_GUARDED_BY(kDbMutex);
  // The engine, in a child of fork().
  std::shared_ptr<void> kept_by_child_;
  // Iterators, handles and other objects that programs hold.
  ReferenceCounts references_;
  // Calls that are inside the database; Close waits for them.
  OpenCalls calls_;
};

// Represents one call while the object lives. In a child of fork() closed() is true; this is
// checked first, as the parent may have held the mutex.
class OpenCall {
 public:
  explicit OpenCall(Lifecycle* lifecycle)
      : calls_(!lifecycle->closed() && lifecycle->calls().Enter() ? &lifecycle->calls() : nullptr) {
    if (calls_ != nullptr)
      active_work_.emplace(ActiveWork::kCall, lifecycle, "a call of the database,");
  }
  ~OpenCall() {
    if (calls_ != nullptr) calls_->Leave();
  }
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  // Returns false if the database is closed, or being closed.
  bool inside() const { return calls_ != nullptr; }

 private:
  OpenCalls* const calls_;
  std::optional<ActiveWork> active_work_;
};

}  // namespace varve
