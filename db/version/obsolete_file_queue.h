// SPDX-License-Identifier: Apache-2.0
#pragma once

// Table files that a logged edit removed and that no reader holds any more.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "db/lock_ranks.h"
#include "db/version/file_metadata.h"
#include "util/base/assert.h"
#include "util/sync/fork_watch.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread safety: all methods from any thread; its mutex is a leaf, but for what the waker takes. In
// a child of fork(), which may release what it has of its parent's database, files end here.
class ObsoleteFileQueue final : private ForkWatch {
 public:
  ObsoleteFileQueue() { Watch(nullptr); }
  ObsoleteFileQueue(const ObsoleteFileQueue&) = delete;
  ObsoleteFileQueue& operator=(const ObsoleteFileQueue&) = delete;
  ~ObsoleteFileQueue() VARVE_NO_THREAD_SAFETY_ANALYSIS;

  // While one lives, tables of obsolete files that this thread releases stay open until a thread
  // takes them from here: closing one takes milliseconds, too much under the DB mutex.
  class LeaveOpen {
   public:
    LeaveOpen() { alive_++; }
    LeaveOpen(const LeaveOpen&) = delete;
    LeaveOpen& operator=(const LeaveOpen&) = delete;
    ~LeaveOpen() {
      VARVE_ASSERT(alive_ > 0);
      alive_--;
    }
    static bool InForce() { return alive_ != 0; }

   private:
    static thread_local int alive_;
  };

  // A FileRef whose last release closes the table and, if the file is obsolete by then, puts it
  // here.
  static FileRef Track(std::shared_ptr<ObsoleteFileQueue> queue,
                       std::unique_ptr<FileMetaData> file);

  // From now on `waker` is called with each file that a thread leaves here without LeaveOpen: a
  // reader, as a rule, after whom nobody looks here for long. Null: nobody is. It must not throw,
  // wait or call this queue, and may be called under the DB mutex. Once this has returned, the one
  // before is not called any more.
  void SetWaker(std::function<void()> waker);

  // The newest first. Without memory for that it throws, and all stay here.
  std::vector<std::unique_ptr<FileMetaData>> TakeAll();
  // One of what was taken whose file is still there.
  void Requeue(std::unique_ptr<FileMetaData> file) noexcept;
  bool Empty() const;
  // Of the files that are here.
  uint64_t Bytes() const;

 private:
  void Link(std::unique_ptr<FileMetaData> file) noexcept VARVE_REQUIRES(mu_);
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;

  mutable Mutex mu_{lock_ranks::kObsoleteFiles};
  FileMetaData* newest_ VARVE_GUARDED_BY(mu_) = nullptr;  // owned, as all after it
  size_t size_ VARVE_GUARDED_BY(mu_) = 0;
  std::function<void()> waker_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
