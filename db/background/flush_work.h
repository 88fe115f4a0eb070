// SPDX-License-Identifier: Apache-2.0
#pragma once

// Switches memtables and gets frozen ones into L0, in the background and on demand.

#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "varve/listener.h"

#include "db/background/engine.h"
#include "db/background/work_paces.h"
#include "db/flush/flush_job.h"

namespace varve {

// Locking: methods require the DB mutex unless they say otherwise.
class FlushWork final : public WriteBufferUser {
 public:
  explicit FlushWork(Engine* engine) : engine_(engine) {}
  ~FlushWork() override { engine_->write_buffer_manager->Leave(this); }

  // Freezes the families' active memtables that hold something, after starting a new log. The
  // commit path is held exclusively by the caller; mu is released while files are made.
  Status SwitchMemTables(const std::vector<ColumnFamily*>& families);
  // A fresh log as the current one (empty logs are replaced too when `force`).
  Status StartNewLog(bool force);

  // Asks for the families' immutables to be flushed; with atomic_flush all families together.
  void Request(const std::vector<ColumnFamily*>& families, FlushReason reason);
  // Hands queued requests to the background threads as far as limits allow.
  void Schedule();
  bool Busy() const { return scheduled_ > 0 || !queue_.empty(); }
  int running() const { return running_; }
  int scheduled() const { return scheduled_ + (freeing_memory_ ? 1 : 0); }
  // Jobs that have not begun will not (shutdown): the threads may be busy with other databases.
  void TakeBackJobs();
  // Families that stop writes with memtables that nobody has asked to flush yet (they wait to be
  // merged with more, which will not come): asks.
  void RequestStopped();
  // For the write-buffer manager. Takes mu itself.
  bool FreeMemory() override;
  // Forgets what is queued (shutdown).
  void ClearQueue() { queue_.clear(); }

  // Whether one more table of the family in L0 would make writes stall, and there is work under way
  // that may change that.
  bool WouldStall(const ColumnFamily& family) const;
  // Waits while that is so for any of the families, which the caller keeps alive. Takes mu itself.
  void WaitForRoom(const std::vector<ColumnFamily*>& families);
  // Flush() of the API: switch, request, and (if asked) wait. Takes mu and the commit path itself.
  // The caller keeps the families alive. With atomic_flush it is FlushAll.
  Status FlushFamilies(const std::vector<ColumnFamily*>& families, const FlushOptions& options,
                       FlushReason reason);
  // The same for all families there are; others may be dropped, and go, meanwhile.
  Status FlushAll(const FlushOptions& options, FlushReason reason);
  // What Close does: all that is in memory, in this thread, as those of the environment may all be
  // busy, or wait for this one. Takes mu and the commit path itself.
  Status FlushAllHere(FlushReason reason);
  // Flushes everything frozen of the families in this thread, after any flush of theirs under way.
  Status FlushNow(const std::vector<std::shared_ptr<ColumnFamily>>& families, FlushReason reason);
  // Whether SwitchFullMemTables would find something to do.
  bool AnythingFull();
  // What writers do when a memtable is full, or logs or memory are too large. The commit path is
  // held exclusively.
  Status SwitchFullMemTables();

 private:
  // FlushFamilies for exactly these.
  Status SwitchAndFlush(const std::vector<ColumnFamily*>& families, const FlushOptions& options,
                        FlushReason reason);
  struct Job {
    std::vector<std::shared_ptr<ColumnFamily>> families;
    FlushReason reason;
  };
  struct FamilyFlush;

  // What one job takes of each of its families.
  enum class Extent : uint8_t {
    kPiece,  // the oldest that nobody has picked, as many as make one table
    kAll,
  };

  bool CanStart() const;
  static void RunOne(void* work);
  static void RunFreeMemory(void* work);
  void BackgroundFlush();
  // So that the families of a recovery leave the logs before it in one step: edits of those that
  // have nothing in memory.
  void AddEmptyFamilies(std::vector<VersionEdit>* edits, std::vector<FamilyEdit>* changes) const;
  // Whatever it answers, what was picked is in `flushes`.
  Status PickAll(const Job& job, Extent extent, std::vector<FamilyFlush>* flushes);
  // A job may throw: it failed then, and all that it had picked can be picked again.
  void RunNextJob();
  Status RunJob(const Job& job, Extent extent);
  FlushPace PaceOf(std::vector<FamilyFlush>* flushes) const;
  // What was picked becomes tables, and these come into force unless *in_order is false.
  Status RunPicked(const Job& job, std::vector<FamilyFlush>* flushes, bool* in_order);
  void Report(const Status& s);  // of a job
  void NoteReason(const ColumnFamily& family, FlushReason reason);
  bool Pick(ColumnFamily* family, Extent extent, FlushInput* input);
  void Unpick(const FamilyFlush& flush);
  bool WantsFlush(const ColumnFamily& family, FlushReason reason) const;
  void MakeInput(ColumnFamily* family, FlushInput* input);
  bool WaitForOlder(const std::vector<FamilyFlush>& flushes);
  Status Install(std::vector<FamilyFlush>* flushes, FlushReason reason);
  void CleanUp(const std::vector<FamilyFlush>& flushes, const Status& s);  // of a job that failed
  void RemoveOutputs(const std::vector<FamilyFlush>& flushes);
  std::vector<ColumnFamily*> FullFamilies(FlushReason* reason);
  std::vector<ColumnFamily*> FamiliesOverLogLimit(FlushReason* reason);
  std::vector<ColumnFamily*> FamiliesOverMemoryLimit(FlushReason* reason);
  uint64_t LogLimit() const;
  ColumnFamily* LargestActive() const;
  bool IsWorthATable(const MemTable& mem) const;
  Status Switch(std::vector<ColumnFamily*> families, FlushReason reason);
  // These three are called without mu.
  void NotifyBegin(const FamilyFlush& flush, FlushReason reason);
  void NotifyEnd(const FamilyFlush& flush, FlushReason reason);
  FlushJobInfo MakeInfo(const FamilyFlush& flush, FlushReason reason) const;

  Engine* const engine_;
  // For WaitForOlder. Others wait for the end of a job, when its listeners have been told.
  CondVar order_changed_{&engine_->mu};
  std::deque<Job> queue_;
  int running_ = 0;
  int scheduled_ = 0;            // handed to the environment, running ones included
  bool job_running_ = false;     // at least one; exact with atomic_flush
  bool freeing_memory_ = false;  // RunFreeMemory is handed to the environment
};

}  // namespace varve
