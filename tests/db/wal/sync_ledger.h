// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a file system that records which bytes syncs of logs have made durable: the length of a
// file when a sync began, and the time when it ended. It can copy the files of one moment as a kill
// would leave them, and hold syncs back.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "varve/file_system_wrappers.h"

#include "tests/db/wal/log_test_file.h"
#include "util/env/file_names.h"
#include "util/env/mapped_file.h"
#include "util/env/mem_file_system.h"
#include "util/sync/mutex.h"

namespace varve::testing {

class SyncLedger final : public FileSystemWrapper, public MappedFileSource {
 public:
  // Moments are numbered.
  using Moment = uint64_t;

  SyncLedger(std::shared_ptr<MemFileSystem> mem, std::chrono::microseconds sync_takes)
      : FileSystemWrapper(mem), mem_(std::move(mem)), sync_takes_(sync_takes) {}

  const char* Name() const override { return "SyncLedger"; }

  Moment Now() { return ++clock_; }
  uint64_t syncs() const { return syncs_.load(); }
  // Files of logs that are open for writing.
  int open_logs() const { return open_logs_.load(); }

  // Makes syncs of logs wait until they are released.
  void HoldSyncs() {
    MutexLock lock(&mu_);
    held_ = true;
  }
  // Waits until a sync is held back.
  void AwaitHeldSync() {
    MutexLock lock(&mu_);
    while (waiting_ == 0) changed_.Wait();
  }
  void LetSyncsGo() {
    MutexLock lock(&mu_);
    held_ = false;
    changed_.SignalAll();
  }

  // Keeps the files that kills leave, each right after a durability mark was written: at one in
  // this many marks, from now on, and at most this many kills.
  void KillAtMarks(uint64_t one_in, size_t most) {
    std::unique_lock<std::shared_mutex> world(world_);
    kill_one_in_ = one_in;
    kills_most_ = most;
  }
  const std::vector<std::shared_ptr<MemFileSystem>>& killed() const { return killed_; }

  // Returns the moment at which a sync had ended that began with this much of the log; UINT64_MAX:
  // never.
  Moment DurableSince(uint64_t log, uint64_t bytes) {
    MutexLock lock(&mu_);
    Moment since = UINT64_MAX;
    for (const Synced& sync : synced_[log]) {
      if (sync.bytes >= bytes) since = std::min(since, sync.ended);
    }
    return since;
  }

  // Every log there was, as it ended.
  std::map<uint64_t, std::string> Logs(const std::string& directory) {
    std::vector<std::string> names;
    (void)mem_->GetChildren(directory, IOOptions(), &names, nullptr).ok();
    for (const std::string& name : names) Keep(directory + "/" + name);
    MutexLock lock(&mu_);
    return kept_;
  }

  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    std::shared_lock<std::shared_mutex> world(world_);
    return Wrap(f, mem_->NewWritableFile(f, options, r, dbg), r);
  }
  IOStatus ReuseWritableFile(const std::string& f, const std::string& old,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* r,
                             IODebugContext* dbg) override {
    std::shared_lock<std::shared_mutex> world(world_);
    Keep(old);
    return Wrap(f, mem_->ReuseWritableFile(f, old, options, r, dbg), r);
  }
  IOStatus DeleteFile(const std::string& f, const IOOptions& options,
                      IODebugContext* dbg) override {
    std::shared_lock<std::shared_mutex> world(world_);
    Keep(f);
    return mem_->DeleteFile(f, options, dbg);
  }
  IOStatus NewRandomRWFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* r, IODebugContext* dbg) override {
    IOStatus s = mem_->NewRandomRWFile(f, options, r, dbg);
    if (s.ok()) *r = std::make_unique<RandomFile>(this, std::move(*r));
    return s;
  }
  IOStatus NewMappedFile(const std::string& f, const FileOptions& options,
                         std::unique_ptr<MappedFile>* r) override {
    IOStatus s = mem_->NewMappedFile(f, options, r);
    if (s.ok()) *r = std::make_unique<Mapped>(this, f, std::move(*r));
    return s;
  }

 private:
  struct Synced {
    uint64_t bytes;
    Moment ended;
  };

  class Written final : public FSWritableFileOwnerWrapper {
   public:
    Written(SyncLedger* ledger, std::string path, std::unique_ptr<FSWritableFile> file)
        : FSWritableFileOwnerWrapper(std::move(file)), ledger_(ledger), path_(std::move(path)) {
      ledger_->open_logs_ += IsLog(path_) ? 1 : 0;
    }
    ~Written() override { ledger_->open_logs_ -= IsLog(path_) ? 1 : 0; }

    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
      std::shared_lock<std::shared_mutex> world(ledger_->world_);
      IOStatus s = FSWritableFileOwnerWrapper::Append(data, options, dbg);
      bytes_ += data.size();
      return s;
    }
    IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
      std::shared_lock<std::shared_mutex> world(ledger_->world_);
      return FSWritableFileOwnerWrapper::Truncate(size, options, dbg);
    }
    IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
      return ledger_->Sync(path_, bytes_.load(), [&] {
        std::shared_lock<std::shared_mutex> world(ledger_->world_);
        return FSWritableFileOwnerWrapper::Sync(options, dbg);
      });
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
      return Sync(options, dbg);
    }

   private:
    SyncLedger* const ledger_;
    const std::string path_;
    std::atomic<uint64_t> bytes_{0};
  };

  class RandomFile final : public FSRandomRWFileOwnerWrapper {
   public:
    RandomFile(SyncLedger* ledger, std::unique_ptr<FSRandomRWFile> file)
        : FSRandomRWFileOwnerWrapper(std::move(file)), ledger_(ledger) {}
    IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                   IODebugContext* dbg) override {
      std::unique_lock<std::shared_mutex> world(ledger_->world_);
      IOStatus s = FSRandomRWFileOwnerWrapper::Write(offset, data, options, dbg);
      ledger_->KillIfDue();
      return s;
    }

   private:
    SyncLedger* const ledger_;
  };

  class Mapped final : public MappedFile {
   public:
    Mapped(SyncLedger* ledger, std::string path, std::unique_ptr<MappedFile> file)
        : ledger_(ledger), path_(std::move(path)), file_(std::move(file)) {
      ledger_->open_logs_++;
    }
    ~Mapped() override { ledger_->open_logs_--; }
    IOStatus Map(uint64_t offset, size_t bytes, char** base) override {
      return file_->Map(offset, bytes, base);
    }
    void Unmap(char* base, size_t bytes) override { file_->Unmap(base, bytes); }
    IOStatus Write(uint64_t offset, const Slice* parts, size_t count) override {
      std::shared_lock<std::shared_mutex> world(ledger_->world_);
      return file_->Write(offset, parts, count);
    }
    IOStatus Sync(bool metadata) override {
      // The records of the file at this moment.
      const LogContents log =
          ReadLog(ledger_->mem_.get(), path_, WALRecoveryMode::kPointInTimeRecovery, 0);
      const uint64_t bytes = log.ends.empty() ? 0 : log.ends.back();
      return ledger_->Sync(path_, bytes, [&] { return file_->Sync(metadata); });
    }
    IOStatus Truncate(uint64_t size) override { return file_->Truncate(size); }
    IOStatus Close() override { return file_->Close(); }

   private:
    SyncLedger* const ledger_;
    const std::string path_;
    const std::unique_ptr<MappedFile> file_;
  };

  static bool IsLog(const std::string& path, uint64_t* number) {
    FileType type;
    return ParseFileName(path.substr(path.rfind('/') + 1), number, &type) && type == kWalFile;
  }
  static bool IsLog(const std::string& path) {
    uint64_t number = 0;
    return IsLog(path, &number);
  }

  IOStatus Wrap(const std::string& path, IOStatus s, std::unique_ptr<FSWritableFile>* r) {
    if (s.ok()) *r = std::make_unique<Written>(this, path, std::move(*r));
    return s;
  }

  template <typename Target>
  IOStatus Sync(const std::string& path, uint64_t bytes, Target target) {
    uint64_t number = 0;
    if (!IsLog(path, &number)) return target();
    WaitWhileHeld();
    std::this_thread::sleep_for(sync_takes_);
    IOStatus s = target();
    syncs_++;
    MutexLock lock(&mu_);
    if (s.ok()) synced_[number].push_back({bytes, Now()});
    return s;
  }

  // Requires that no other thread is in a call.
  void KillIfDue() {
    if (killed_.size() >= kills_most_ || ++marks_ % kill_one_in_ != 0) return;
    killed_.push_back(mem_->CrashClone(CrashPolicy::kKill, 1));
  }

  void WaitWhileHeld() {
    MutexLock lock(&mu_);
    waiting_++;
    changed_.SignalAll();
    while (held_) changed_.Wait();
    waiting_--;
  }

  void Keep(const std::string& path) {
    uint64_t number = 0;
    std::string bytes;
    if (!IsLog(path, &number)) return;
    if (!ReadFileToString(mem_.get(), path, UINT64_MAX, &bytes).ok()) return;
    MutexLock lock(&mu_);
    kept_[number] = std::move(bytes);
  }

  const std::shared_ptr<MemFileSystem> mem_;
  const std::chrono::microseconds sync_takes_;
  std::shared_mutex world_;
  // Changed by the one thread that runs then.
  uint64_t kill_one_in_ = 1;
  size_t kills_most_ = 0;
  uint64_t marks_ = 0;
  std::vector<std::shared_ptr<MemFileSystem>> killed_;
  std::atomic<Moment> clock_{0};
  std::atomic<uint64_t> syncs_{0};
  std::atomic<int> open_logs_{0};
  Mutex mu_;
  CondVar changed_{&mu_};
  bool held_ VARVE_GUARDED_BY(mu_) = false;
  int waiting_ VARVE_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, std::vector<Synced>> synced_ VARVE_GUARDED_BY(mu_);
  std::map<uint64_t, std::string> kept_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve::testing
