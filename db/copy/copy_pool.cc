// SPDX-License-Identifier: Apache-2.0

// Each thread takes the next task, until there is none or one has failed. It keeps the files that
// it has written open, and syncs and closes them together.
//
//      next ----> task 17
//      thread 1   Do(15), Do(18) ... unsynced_: 15, 18      FinishFiles: flush, sync, close each
//      thread 2   Do(16), Do(17) ... unsynced_: 16, 17
//
// A task's status is Incomplete at first, and OK only when its file is closed. So however a thread
// ends, its unfinished tasks can be recognized, and their targets are deleted.

#include "db/copy/copy_pool.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "varve/rate_limiter.h"
#include "varve/statistics.h"

#include "db/active_work.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/coding/crc32c.h"
#include "util/env/aligned_buffer.h"
#include "util/env/kernel_copy.h"
#include "util/env/thread_priority.h"

namespace varve {

namespace {

constexpr size_t kNoTask = std::numeric_limits<size_t>::max();

// State that the threads of one run share.
struct CopyRun {
  const CopyPool::Options& options;
  std::vector<CopyTask>& tasks;
  uint64_t total_bytes = 0;
  // Index of the next task to take. While threads run, a task is changed only by the thread that
  // took it. Relaxed, since joining the threads publishes the results.
  std::atomic<size_t> next{0};
  std::atomic<uint64_t> done_bytes{0};
  // Index of the task that failed first, which ends the others. Relaxed, as it publishes nothing.
  std::atomic<size_t> failed{kNoTask};
};

// Runs one thread's share of the tasks.
class CopyWorker {
 public:
  explicit CopyWorker(CopyRun* run) : run_(*run), options_(run->options) {}

  void Work() {
    Status s = Guarded([this] { return WorkToTheEnd(); });
    if (s.ok()) return;
    Fail(current_, std::move(s));
    // Unfinished files may have any contents, so they are deleted.
    for (const Unsynced& file : unsynced_) GiveUp(file.task);
    unsynced_.clear();
  }

 private:
  struct Unsynced {
    size_t task;
    std::unique_ptr<FSWritableFile> file;
  };

  Status WorkToTheEnd() {
    for (;;) {
      current_ = run_.next.fetch_add(1, std::memory_order_relaxed);
      if (current_ >= run_.tasks.size()) break;
      made_ = false;
      VARVE_RETURN_IF_ERROR(Do(&run_.tasks[current_]));
      if (unsynced_.size() >= CopyPool::kUnsynced) VARVE_RETURN_IF_ERROR(FinishFiles());
    }
    return FinishFiles();
  }

  // Runs the current task. If this returns OK, the task is done, or its written file is in
  // unsynced_ and FinishFiles completes it.
  Status Do(CopyTask* task) {
    VARVE_RETURN_IF_ERROR(CheckStopped());
    if (task->may_link && !task->contents.has_value() && options_.source_fs == options_.target_fs) {
      // A link also counts for the progress, with the whole size of its file.
      IOStatus s = options_.target_fs->LinkFile(task->source, task->target, IOOptions(), nullptr);
      // If links are not supported, the file is copied.
      if (!s.ok() && !s.IsNotSupported()) return s;
      if (s.ok()) {
        made_ = true;
        task->linked = true;
        task->status = Status::OK();
        return CountBytes(task->size == CopyTask::kWholeFile ? 0 : task->size);
      }
    }
    std::unique_ptr<FSWritableFile> target;
    if (!task->target.empty()) {
      FileOptions file_options;
      VARVE_RETURN_IF_ERROR(
          options_.target_fs->NewWritableFile(task->target, file_options, &target, nullptr));
      made_ = true;
    }
    if (task->contents.has_value()) {
      VARVE_RETURN_IF_ERROR(Pass(task, target.get(), *task->contents));
    } else {
      bool copied = false;
      // The kernel copies without passing the bytes to user space, so no checksum can be computed.
      if (target != nullptr && !task->want_checksum && options_.source_fs == options_.target_fs) {
        VARVE_RETURN_IF_ERROR(CopyInKernel(task, &copied));
      }
      if (!copied) VARVE_RETURN_IF_ERROR(CopyBytes(task, target.get()));
    }
    if (target == nullptr) {
      task->status = Status::OK();
    } else {
      unsynced_.push_back(Unsynced{current_, std::move(target)});
    }
    return Status::OK();
  }

  // Copies by a system call. Leaves *copied false, with nothing written, if the file system or the
  // kernel does not support that.
  Status CopyInKernel(CopyTask* task, bool* copied) {
    std::unique_ptr<KernelCopy> copy;
    IOStatus s = NewKernelCopy(options_.target_fs, task->source, task->target, task->size, &copy);
    if (s.IsNotSupported()) return Status::OK();
    if (!s.ok()) return s;
    const size_t piece = BufferBytes();
    while (task->bytes < task->size) {
      VARVE_RETURN_IF_ERROR(CheckStopped());
      size_t n = static_cast<size_t>(std::min<uint64_t>(piece, task->size - task->bytes));
      n = Grant(Grant(n, RateLimiter::OpType::kRead), RateLimiter::OpType::kWrite);
      size_t moved = 0;
      s = copy->Copy(n, &moved);
      // Nothing is written yet, so the file can still be copied by CopyBytes.
      if (s.IsNotSupported() && task->bytes == 0) return Status::OK();
      if (!s.ok()) return s;
      // The source has ended; CheckWhole checks if that was too early.
      if (moved == 0) break;
      task->bytes += moved;
      Tick(options_.read_ticker, moved);
      Tick(options_.write_ticker, moved);
      VARVE_RETURN_IF_ERROR(CountBytes(moved));
    }
    *copied = true;
    return CheckWhole(*task);
  }

  // Copies the source, or only reads it, through this thread's buffer.
  Status CopyBytes(CopyTask* task, FSWritableFile* target) {
    std::unique_ptr<FSSequentialFile> source;
    FileOptions file_options;
    VARVE_RETURN_IF_ERROR(
        options_.source_fs->NewSequentialFile(task->source, file_options, &source, nullptr));
    VARVE_RETURN_IF_ERROR(NeedBuffer());
    while (task->bytes < task->size) {
      VARVE_RETURN_IF_ERROR(CheckStopped());
      size_t n =
          static_cast<size_t>(std::min<uint64_t>(buffer_.capacity(), task->size - task->bytes));
      n = Grant(n, RateLimiter::OpType::kRead);
      Slice piece;
      VARVE_RETURN_IF_ERROR(source->Read(n, IOOptions(), &piece, buffer_.data(), nullptr));
      if (piece.empty()) break;
      Tick(options_.read_ticker, piece.size());
      VARVE_RETURN_IF_ERROR(Pass(task, target, piece));
    }
    return CheckWhole(*task);
  }

  static Status CheckWhole(const CopyTask& task) {
    if (task.size == CopyTask::kWholeFile || task.bytes == task.size) return Status::OK();
    return Status::Corruption(task.source, "ends at byte " + std::to_string(task.bytes) + ", " +
                                               std::to_string(task.size) + " were to be copied");
  }

  // Checksums and writes the next bytes of the task's file.
  Status Pass(CopyTask* task, FSWritableFile* target, Slice bytes) {
    if (task->want_checksum) {
      task->crc32c = crc32c::Extend(task->crc32c, bytes.data(), bytes.size());
    }
    task->bytes += bytes.size();
    const size_t all = bytes.size();
    while (target != nullptr && !bytes.empty()) {
      const size_t n = Grant(bytes.size(), RateLimiter::OpType::kWrite);
      VARVE_RETURN_IF_ERROR(target->Append(Slice(bytes.data(), n), IOOptions(), nullptr));
      Tick(options_.write_ticker, n);
      bytes.remove_prefix(n);
    }
    return CountBytes(all);
  }

  // Syncs and closes the files that this thread has written. Makes each of them the current task
  // meanwhile, so that Work gives an error to the right one.
  Status FinishFiles() {
    for (Unsynced& written : unsynced_) {
      current_ = written.task;
      made_ = true;
      VARVE_RETURN_IF_ERROR(CheckStopped());
      IOStatus s = written.file->Flush(IOOptions(), nullptr);
      if (s.ok() && options_.sync) s = written.file->Fsync(IOOptions(), nullptr);
      IOStatus closed = written.file->Close(IOOptions(), nullptr);
      if (s.ok()) s = closed;
      if (!s.ok()) return s;
      run_.tasks[written.task].status = Status::OK();
    }
    unsynced_.clear();
    return Status::OK();
  }

  // Waits for the rate limiter. Returns how many of the n bytes may be moved now, at least 1 if n
  // is.
  size_t Grant(size_t n, RateLimiter::OpType operation) {
    if (options_.rate_limiter == nullptr || n == 0) return n;
    return options_.rate_limiter->RequestToken(n, 0, options_.io_priority, options_.statistics,
                                               operation);
  }

  // Adds to the bytes done, and calls the observer if enough have been added since this thread's
  // last report. Aborted: the observer has thrown.
  Status CountBytes(uint64_t n) {
    const uint64_t done = run_.done_bytes.fetch_add(n, std::memory_order_relaxed) + n;
    unreported_ += n;
    if (options_.observer == nullptr || unreported_ < options_.report_bytes) return Status::OK();
    unreported_ = 0;
    return Guarded([&] { options_.observer->OnProgress(done, run_.total_bytes); });
  }

  void Tick(uint32_t ticker, uint64_t n) {
    if (options_.statistics == nullptr || ticker == CopyPool::kNoTicker) return;
    options_.statistics->recordTick(ticker, n);
  }

  Status CheckStopped() const {
    if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) {
      return Status::Incomplete("copying was stopped");
    }
    if (run_.failed.load(std::memory_order_relaxed) == kNoTask) return Status::OK();
    return Status::Incomplete("given up, as another file could not be copied");
  }

  size_t BufferBytes() const {
    return options_.buffer_bytes == 0 ? CopyPool::kDefaultBufferBytes : options_.buffer_bytes;
  }

  Status NeedBuffer() {
    if (buffer_.capacity() > 0) return Status::OK();
    const size_t size = BufferBytes();
    if (buffer_.Allocate(size, kDefaultPageSize)) return Status::OK();
    return Status::MemoryLimit("no memory for a buffer to copy files with",
                               std::to_string(size) + " bytes");
  }

  // Sets the status of a failed task, ends the run, and deletes the target. A target in unsynced_
  // is still open; Work deletes it with the others of that list.
  void Fail(size_t task, Status s) {
    // Only the first failure is recorded; later ones are usually its consequences.
    size_t none = kNoTask;
    run_.failed.compare_exchange_strong(none, task, std::memory_order_relaxed);
    const bool is_unsynced =
        std::ranges::any_of(unsynced_, [task](const Unsynced& file) { return file.task == task; });
    run_.tasks[task].status = std::move(s);
    if (made_ && !is_unsynced) DeleteTarget(task);
  }

  // Deletes a written file unless it was finished.
  void GiveUp(size_t task) {
    Status& status = run_.tasks[task].status;
    if (status.ok()) return;
    DeleteTarget(task);
  }

  void DeleteTarget(size_t task) {
    // An error is ignored: the caller cleans up the whole directory.
    (void)options_.target_fs->DeleteFile(run_.tasks[task].target, IOOptions(), nullptr).ok();
  }

  CopyRun& run_;
  const CopyPool::Options& options_;
  AlignedBuffer buffer_;
  std::vector<Unsynced> unsynced_;
  uint64_t unreported_ = 0;
  size_t current_ = 0;
  // True if this thread has created the current task's target.
  bool made_ = false;
};

uint64_t TotalBytesOf(const CopyPool::Options& options, const std::vector<CopyTask>& tasks) {
  uint64_t total = 0;
  for (const CopyTask& task : tasks) {
    uint64_t size = task.contents.has_value() ? task.contents->size() : task.size;
    if (size == CopyTask::kWholeFile &&
        !options.source_fs->GetFileSize(task.source, IOOptions(), &size, nullptr).ok()) {
      size = 0;  // Opening the file reports the error.
    }
    total += size;
  }
  return total;
}

}  // namespace

Status CopyPool::Run(std::vector<CopyTask>* tasks) const {
  CopyRun run{options_, *tasks};
  for (CopyTask& task : *tasks) {
    task.status = Status::Incomplete("given up, as another file could not be copied");
    task.linked = false;
    task.bytes = 0;
    task.crc32c = 0;
  }
  if (options_.observer != nullptr) run.total_bytes = TotalBytesOf(options_, *tasks);
  const size_t threads = std::clamp<size_t>(static_cast<size_t>(std::max(options_.threads, 1)), 1,
                                            std::max<size_t>(tasks->size(), 1));
  const bool caller_works = !options_.cpu_priority.has_value();
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  // Helpers call user code (file systems, observers) on behalf of this call, so they need its
  // active work.
  const ActiveWork* const active = active_work::innermost;
  // If not all threads can be started, the others do the work.
  BestEffort([&] {
    while (helpers.size() + (caller_works ? 1 : 0) < threads) {
      helpers.emplace_back([this, &run, active] {
        const ActiveWorkOf of_caller(active);
        if (options_.cpu_priority.has_value()) (void)LowerCpuPriority(*options_.cpu_priority);
        CopyWorker(&run).Work();
      });
    }
  });
  if (caller_works || helpers.empty()) CopyWorker(&run).Work();
  for (std::thread& helper : helpers) helper.join();
  const size_t failed = run.failed.load(std::memory_order_relaxed);
  return failed == kNoTask ? Status::OK() : (*tasks)[failed].status;
}

}  // namespace varve
