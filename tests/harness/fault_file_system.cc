// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/fault_file_system.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "varve/forwarded_calls.h"

namespace varve {

namespace {

using Verdict = FaultFileSystem::Verdict;

// Applies a verdict to bytes that were read into scratch or elsewhere. They are moved to scratch
// first, so that a flipped bit cannot reach the file.
IOStatus SpoilRead(const Verdict& verdict, IOStatus s, Slice* result, char* scratch) {
  if (!verdict.struck || !s.ok() || result->empty()) return s;
  if (verdict.effect == FaultEffect::kShortRead) {
    *result = Slice(result->data(), (result->size() + 1) / 2);
  } else if (verdict.effect == FaultEffect::kCorruptRead) {
    if (result->data() != scratch) std::memmove(scratch, result->data(), result->size());
    scratch[result->size() / 2] = static_cast<char>(scratch[result->size() / 2] ^ 0x10);
    *result = Slice(scratch, result->size());
  }
  return s;
}

bool FailsRead(const Verdict& verdict) {
  return verdict.struck && verdict.effect != FaultEffect::kShortRead &&
         verdict.effect != FaultEffect::kCorruptRead && verdict.effect != FaultEffect::kDropSync;
}

// True if a call without bytes fails: a dropped sync reports success, and effects meant for reads
// do not apply to other calls.
bool FailsPlain(const Verdict& verdict) {
  return FailsRead(verdict);
}

bool DropsSync(const Verdict& verdict) {
  return verdict.struck && verdict.effect == FaultEffect::kDropSync;
}

// Makes the call `go`, which has no bytes to damage, unless a rule fails it or drops it as a sync.
template <typename Call>
IOStatus Guarded(FaultFileSystem* rules, FaultCall call, const std::string& path, Call go) {
  constexpr FaultCalls kSyncs =
      Only(FaultCall::kSync) | Only(FaultCall::kRangeSync) | Only(FaultCall::kSyncDir);
  const Verdict verdict = rules->Judge(call, path);
  if (FailsPlain(verdict)) return verdict.error;
  return DropsSync(verdict) && (Only(call) & kSyncs) != 0 ? IOStatus::OK() : go();
}

// The common part of all kinds of files: the rules, and the path that they match.
template <typename File, typename OwnerWrapper>
class Faulty : public OwnerWrapper {
 public:
  Faulty(FaultFileSystem* fs, std::string path, std::unique_ptr<File> file)
      : OwnerWrapper(std::move(file)), fs_(fs), path_(std::move(path)) {}

 protected:
  FaultFileSystem* const fs_;
  const std::string path_;
};

class FaultSequentialFile final : public Faulty<FSSequentialFile, FSSequentialFileOwnerWrapper> {
 public:
  using Faulty::Faulty;

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kRead, path_);
    if (FailsRead(verdict)) return FailRead(verdict, result);
    // A short result leaves the rest for the next call.
    if (verdict.struck && verdict.effect == FaultEffect::kShortRead) n = (n + 1) / 2;
    IOStatus s = target()->Read(n, options, result, scratch, dbg);
    if (verdict.effect == FaultEffect::kShortRead) return s;
    return SpoilRead(verdict, std::move(s), result, scratch);
  }

  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kRead, path_);
    if (FailsRead(verdict)) return FailRead(verdict, result);
    IOStatus s = target()->PositionedRead(offset, n, options, result, scratch, dbg);
    return SpoilRead(verdict, std::move(s), result, scratch);
  }

 private:
  static IOStatus FailRead(const Verdict& verdict, Slice* result) {
    *result = Slice();
    return verdict.error;
  }
};

class FaultRandomAccessFile final
    : public Faulty<FSRandomAccessFile, FSRandomAccessFileOwnerWrapper> {
 public:
  using Faulty::Faulty;

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    const Verdict verdict = fs_->Judge(FaultCall::kRead, path_);
    if (FailsRead(verdict)) {
      *result = Slice();
      return verdict.error;
    }
    IOStatus s = target()->Read(offset, n, options, result, scratch, dbg);
    return SpoilRead(verdict, std::move(s), result, scratch);
  }

  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override {
    for (size_t i = 0; i < num_reqs; ++i) {
      FSReadRequest& r = reqs[i];
      r.status = Read(r.offset, r.len, options, &r.result, r.scratch, dbg);
    }
    return IOStatus::OK();
  }

  IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                     std::function<void(FSReadRequest&, void*)> cb, void* cb_arg, void** io_handle,
                     IOHandleDeleter* del_fn, IODebugContext* dbg) override {
    return FSRandomAccessFile::ReadAsync(req, opts, std::move(cb), cb_arg, io_handle, del_fn, dbg);
  }
};

class FaultWritableFile final : public Faulty<FSWritableFile, FSWritableFileOwnerWrapper> {
 public:
  using Faulty::Faulty;

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return Write(data, [&](const Slice& part) { return target()->Append(part, options, dbg); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo&,
                  IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    return Write(data, [&](const Slice& part) {
      return target()->PositionedAppend(part, offset, options, dbg);
    });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo&, IODebugContext* dbg) override {
    return PositionedAppend(data, offset, options, dbg);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    return Guarded(fs_, FaultCall::kTruncate, path_,
                   [&] { return target()->Truncate(size, options, dbg); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kClose, path_);
    // The descriptor is closed even if closing reports an error.
    IOStatus s = target()->Close(options, dbg);
    return FailsPlain(verdict) ? verdict.error : s;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return Guarded(fs_, FaultCall::kSync, path_, [&] { return target()->Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Guarded(fs_, FaultCall::kSync, path_, [&] { return target()->Fsync(options, dbg); });
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return Guarded(fs_, FaultCall::kRangeSync, path_,
                   [&] { return target()->RangeSync(offset, nbytes, options, dbg); });
  }
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    return Guarded(fs_, FaultCall::kAllocate, path_,
                   [&] { return target()->Allocate(offset, len, options, dbg); });
  }

 private:
  template <typename WriteTo>
  IOStatus Write(const Slice& data, WriteTo write_to) {
    const Verdict verdict = fs_->Judge(FaultCall::kWrite, path_);
    if (FailsPlain(verdict)) {
      if (verdict.effect == FaultEffect::kShortWrite && data.size() > 1) {
        // The error to be reported covers this write's as well.
        (void)write_to(Slice(data.data(), data.size() / 2)).ok();
      }
      return verdict.error;
    }
    const size_t fits = fs_->TakeFromQuota(data.size());
    if (fits == data.size()) return write_to(data);
    if (fits > 0) {
      IOStatus s = write_to(Slice(data.data(), fits));
      if (!s.ok()) return s;
    }
    IOStatus full = IOStatus::NoSpace("write: " + path_, "the byte quota is used up");
    full.SetRetryable(true);
    return full;
  }
};

class FaultRandomRWFile final : public Faulty<FSRandomRWFile, FSRandomRWFileOwnerWrapper> {
 public:
  using Faulty::Faulty;

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override {
    return Guarded(fs_, FaultCall::kWrite, path_,
                   [&] { return target()->Write(offset, data, options, dbg); });
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    const Verdict verdict = fs_->Judge(FaultCall::kRead, path_);
    if (FailsRead(verdict)) {
      *result = Slice();
      return verdict.error;
    }
    IOStatus s = target()->Read(offset, n, options, result, scratch, dbg);
    return SpoilRead(verdict, std::move(s), result, scratch);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return Guarded(fs_, FaultCall::kSync, path_, [&] { return target()->Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Sync(options, dbg);
  }
};

class FaultDirectory final : public Faulty<FSDirectory, FSDirectoryOwnerWrapper> {
 public:
  using Faulty::Faulty;

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return FsyncWithDirOptions(options, dbg, DirFsyncOptions());
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& reason) override {
    return Guarded(fs_, FaultCall::kSyncDir, path_,
                   [&] { return target()->FsyncWithDirOptions(options, dbg, reason); });
  }
};

IOStatus InjectedError(const FaultRule& rule, const std::string& path) {
  IOStatus s = rule.effect == FaultEffect::kNoSpace
                   ? IOStatus::NoSpace(path, "injected: no space left")
                   : IOStatus::IOError(path, "injected: input/output error");
  s.SetRetryable(rule.retryable);
  return s;
}

// A file system that asks `rules` before every call.
class FaultFiles final : public FileSystemWrapper {
 public:
  FaultFiles(FaultFileSystem* rules, std::shared_ptr<FileSystem> target)
      : FileSystemWrapper(std::move(target)), rules_(rules) {}

  const char* Name() const override { return rules_->Name(); }

#define VARVE_OPEN_FAULTY(Call, File, verdict)                                            \
  IOStatus Call(const std::string& path, const FileOptions& options,                      \
                std::unique_ptr<FS##File>* result, IODebugContext* dbg) override {        \
    return Open<Fault##File>(verdict, path, result,                                       \
                             [&] { return target()->Call(path, options, result, dbg); }); \
  }
  VARVE_OPEN_FAULTY(NewSequentialFile, SequentialFile,
                    rules_->JudgePlain(FaultCall::kOpenRead, path))
  VARVE_OPEN_FAULTY(NewRandomAccessFile, RandomAccessFile,
                    rules_->JudgePlain(FaultCall::kOpenRead, path))
  VARVE_OPEN_FAULTY(NewWritableFile, WritableFile, rules_->JudgeCreation(FaultCall::kCreate, path))
  VARVE_OPEN_FAULTY(ReopenWritableFile, WritableFile,
                    rules_->JudgeCreation(FaultCall::kCreate, path))
  VARVE_OPEN_FAULTY(NewRandomRWFile, RandomRWFile, rules_->JudgePlain(FaultCall::kCreate, path))
#undef VARVE_OPEN_FAULTY
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override {
    IOStatus s = rules_->JudgePlain(FaultCall::kRename, old_path);
    if (s.ok()) s = rules_->JudgeCreation(FaultCall::kCreate, path);
    return Open<FaultWritableFile>(s, path, result, [&] {
      return target()->ReuseWritableFile(path, old_path, options, result, dbg);
    });
  }
  // Writes through a mapping could not fail.
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override {
    result->reset();
    return IOStatus::NotSupported("NewMemoryMappedFileBuffer: " + path, Name());
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override {
    return Open<FaultDirectory>(rules_->JudgePlain(FaultCall::kOpenDir, path), path, result,
                                [&] { return target()->NewDirectory(path, options, result, dbg); });
  }

  // These have no file or lock as their result, and are judged by their first path.
#define VARVE_GUARDED(Call, kind, first, last)                                  \
  IOStatus Call(VARVE_FS_PARAMS(first, last)) override {                        \
    return Guarded(rules_, FaultCall::kind, a1,                                 \
                   [&] { return target()->Call(VARVE_FS_ARGS(first, last)); }); \
  }
  VARVE_GUARDED(FileExists, kStat, (const std::string&), ())
  VARVE_GUARDED(GetChildren, kList, (const std::string&), (std::vector<std::string>*))
  VARVE_GUARDED(GetChildrenFileAttributes, kList, (const std::string&),
                (std::vector<FileAttributes>*))
  VARVE_GUARDED(DeleteFile, kDelete, (const std::string&), ())
  VARVE_GUARDED(Truncate, kTruncate, (const std::string&, size_t), ())
  VARVE_GUARDED(PunchHole, kTruncate, (const std::string&, uint64_t, uint64_t), ())
  VARVE_GUARDED(CreateDirIfMissing, kMakeDir, (const std::string&), ())
  VARVE_GUARDED(DeleteDir, kRemoveDir, (const std::string&), ())
  VARVE_GUARDED(GetFileSize, kStat, (const std::string&), (uint64_t*))
  VARVE_GUARDED(GetFileModificationTime, kStat, (const std::string&), (uint64_t*))
  VARVE_GUARDED(RenameFile, kRename, (const std::string&, const std::string&), ())
  VARVE_GUARDED(LinkFile, kLink, (const std::string&, const std::string&), ())
  VARVE_GUARDED(SyncFile, kSync, (const std::string&, const FileOptions&), (bool))
#undef VARVE_GUARDED
  IOStatus CreateDir(const std::string& path, const IOOptions& o, IODebugContext* dbg) override {
    const IOStatus s = rules_->JudgeCreation(FaultCall::kMakeDir, path);
    return s.ok() ? target()->CreateDir(path, o, dbg) : s;
  }
  IOStatus LockFile(const std::string& path, const IOOptions& o, FileLock** lock,
                    IODebugContext* dbg) override {
    *lock = nullptr;
    return Guarded(rules_, FaultCall::kCreate, path,
                   [&] { return target()->LockFile(path, o, lock, dbg); });
  }
  // Uses this object's own files, so that entries can fail too.
  IOStatus NewLogger(const std::string& path, const IOOptions& o, std::shared_ptr<Logger>* result,
                     IODebugContext* dbg) override {
    return FileSystem::NewLogger(path, o, result, dbg);
  }

 private:
  // Wraps the file from `open`, unless the verdict is an error or `open` fails.
  template <typename Wrapper, typename File, typename OpenFile>
  IOStatus Open(IOStatus verdict, const std::string& path, std::unique_ptr<File>* result,
                OpenFile open) {
    result->reset();
    if (!verdict.ok()) return verdict;
    IOStatus s = open();
    if (s.ok()) *result = std::make_unique<Wrapper>(rules_, path, std::move(*result));
    return s;
  }

  FaultFileSystem* const rules_;
};

}  // namespace

FaultFileSystem::FaultFileSystem(std::shared_ptr<FileSystem> target)
    : FileSystemWrapper(std::move(target)), faultless_(FileSystemWrapper::target()) {
  target_ = std::make_shared<FaultFiles>(this, std::move(target_));
}

FaultFileSystem::~FaultFileSystem() = default;

void FaultFileSystem::Inject(const FaultRule& rule) {
  MutexLock lock(&mutex_);
  rules_.push_back(ActiveRule{rule, 0});
}

void FaultFileSystem::ClearFaults() {
  MutexLock lock(&mutex_);
  rules_.clear();
  strikes_ = 0;
}

uint64_t FaultFileSystem::strikes() const {
  MutexLock lock(&mutex_);
  return strikes_;
}

uint64_t FaultFileSystem::calls(FaultCall call) const {
  return counts_[static_cast<size_t>(call)].load(std::memory_order_relaxed);
}

uint64_t FaultFileSystem::total_calls() const {
  return calls_in(kAllFaultCalls);
}

uint64_t FaultFileSystem::calls_in(FaultCalls calls) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < kFaultCallKinds; ++i) {
    if ((calls >> i & 1) != 0) sum += counts_[i].load(std::memory_order_relaxed);
  }
  return sum;
}

void FaultFileSystem::ResetCounters() {
  for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
}

void FaultFileSystem::SetByteQuota(uint64_t bytes) {
  MutexLock lock(&mutex_);
  has_quota_ = true;
  quota_ = bytes;
}

void FaultFileSystem::ReleaseQuota() {
  MutexLock lock(&mutex_);
  has_quota_ = false;
}

size_t FaultFileSystem::TakeFromQuota(size_t n) {
  MutexLock lock(&mutex_);
  if (!has_quota_) return n;
  const size_t fits = static_cast<size_t>(std::min<uint64_t>(n, quota_));
  quota_ -= fits;
  return fits;
}

FaultFileSystem::Verdict FaultFileSystem::Judge(FaultCall call, const std::string& path) {
  counts_[static_cast<size_t>(call)].fetch_add(1, std::memory_order_relaxed);
  Verdict verdict;
  MutexLock lock(&mutex_);
  if (call == FaultCall::kCreate || call == FaultCall::kDelete) forgotten_.erase(path);
  if (call == FaultCall::kSync && forgotten_.count(path) != 0) {
    return Verdict{true, FaultEffect::kDropSync, IOStatus::OK()};
  }
  for (ActiveRule& active : rules_) {
    const FaultRule& rule = active.rule;
    if ((rule.calls & Only(call)) == 0) continue;
    if (!rule.path_contains.empty() && path.find(rule.path_contains) == std::string::npos) continue;
    ++active.seen;
    const bool hit = rule.sticky ? active.seen >= rule.nth : active.seen == rule.nth;
    if (!hit || verdict.struck) continue;
    ++strikes_;
    verdict = Verdict{true, rule.effect, InjectedError(rule, path)};
    if (rule.effect == FaultEffect::kFailAndForget && call == FaultCall::kSync) {
      forgotten_.insert(path);
    }
  }
  return verdict;
}

IOStatus FaultFileSystem::JudgePlain(FaultCall call, const std::string& path) {
  const Verdict verdict = Judge(call, path);
  return FailsPlain(verdict) ? verdict.error : IOStatus::OK();
}

IOStatus FaultFileSystem::JudgeCreation(FaultCall call, const std::string& path) {
  IOStatus s = JudgePlain(call, path);
  if (!s.ok()) return s;
  MutexLock lock(&mutex_);
  if (!has_quota_ || quota_ > 0) return s;
  s = IOStatus::NoSpace("create: " + path, "the byte quota is used up");
  s.SetRetryable(true);
  return s;
}

}  // namespace varve
