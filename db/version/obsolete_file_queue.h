// SPDX-License-Identifier: Apache-2.0
#pragma once

// Queue of table files that a logged edit removed and that have no readers any more.
//
//      edit in force       obsolete = true          VersionSet::Install
//      last reader gone    Track's deleter:         any thread, perhaps under the DB mutex
//                            close the table, unless LeaveOpen; link into the queue; waker
//      purge               TakeAll, delete each     a thread without the mutex
//
// Both must have happened, in either order, before a file may be deleted: a durable edit, so that
// no recovery needs the file, and the release of the last version that has it, so that no reader
// does. The deleter runs wherever the last reference happens to go, so it neither allocates nor
// deletes the file: files are linked through a member of theirs.

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

// Thread safety: all methods may be called from any thread. Its mutex is a leaf, except for locks
// that the waker takes. In a child of fork(), which may release references of its parent's
// database, files are dropped here.
class ObsoleteFileQueue final : private ForkWatch {
 public:
  ObsoleteFileQueue() { Watch(nullptr); }
  ObsoleteFileQueue(const ObsoleteFileQueue&) = delete;
  ObsoleteFileQueue& operator=(const ObsoleteFileQueue&) = delete;
  ~ObsoleteFileQueue() VARVE_NO_THREAD_SAFETY_ANALYSIS;

  // While an object of this class exists, tables of obsolete files that this thread releases stay
  // open until a thread takes them from the queue: closing one takes milliseconds, too long under
  // the DB mutex.
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

  // Returns a FileRef whose last release closes the table and, if the file is obsolete by then,
  // adds it to the queue.
  static FileRef Track(std::shared_ptr<ObsoleteFileQueue> queue,
                       std::unique_ptr<FileMetaData> file);

  // Sets a function that is called for each file that a thread adds without LeaveOpen: usually a
  // reader, after which no thread checks the queue for long. Null: none is called. It must not
  // throw, wait or call this queue, and may be called under the DB mutex. After the return the
  // previous waker is not called any more.
  void SetWaker(std::function<void()> waker);

  // Returns all files, the newest first. If memory is out it throws, and all stay in the queue.
  std::vector<std::unique_ptr<FileMetaData>> TakeAll();
  // Puts back a file that was taken and still exists on disk.
  void Requeue(std::unique_ptr<FileMetaData> file) noexcept;
  bool Empty() const;
  // Returns the total size of the queued files.
  uint64_t Bytes() const;

 private:
  // Makes the file the newest of the queue; allocates nothing.
  void Link(std::unique_ptr<FileMetaData> file) noexcept VARVE_REQUIRES(mu_);
  // Forgets the files, as they are the parent's.
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;

  mutable Mutex mu_{lock_ranks::kObsoleteFiles};
  FileMetaData* newest_ VARVE_GUARDED_BY(mu_) = nullptr;  // owned, like all that follow
  size_t size_ VARVE_GUARDED_BY(mu_) = 0;
  std::function<void()> waker_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
