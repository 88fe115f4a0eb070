// SPDX-License-Identifier: Apache-2.0
#include "util/env/fault_file_system.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace varve {

namespace {

using Verdict = FaultFileSystem::Verdict;

// Applies a verdict to bytes that were read into or behind scratch. They are moved there first, so
// that a flipped bit cannot reach the file.
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

// A dropped sync pretends; effects meant for reads leave other calls alone.
bool FailsPlain(const Verdict& verdict) {
  return FailsRead(verdict);
}

bool DropsSync(const Verdict& verdict) {
  return verdict.struck && verdict.effect == FaultEffect::kDropSync;
}

class FaultSequentialFile final : public FSSequentialFileOwnerWrapper {
 public:
  FaultSequentialFile(FaultFileSystem* fs, std::string path, std::unique_ptr<FSSequentialFile> f)
      : FSSequentialFileOwnerWrapper(std::move(f)), fs_(fs), path_(std::move(path)) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kRead, path_);
    if (FailsRead(verdict)) return FailRead(verdict, result);
    // A short answer leaves the rest for the next call.
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

  FaultFileSystem* const fs_;
  const std::string path_;
};

class FaultRandomAccessFile final : public FSRandomAccessFileOwnerWrapper {
 public:
  FaultRandomAccessFile(FaultFileSystem* fs, std::string path,
                        std::unique_ptr<FSRandomAccessFile> f)
      : FSRandomAccessFileOwnerWrapper(std::move(f)), fs_(fs), path_(std::move(path)) {}

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

 private:
  FaultFileSystem* const fs_;
  const std::string path_;
};

class FaultWritableFile final : public FSWritableFileOwnerWrapper {
 public:
  FaultWritableFile(FaultFileSystem* fs, std::string path, std::unique_ptr<FSWritableFile> f)
      : FSWritableFileOwnerWrapper(std::move(f)), fs_(fs), path_(std::move(path)) {}

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
    const Verdict verdict = fs_->Judge(FaultCall::kTruncate, path_);
    return FailsPlain(verdict) ? verdict.error : target()->Truncate(size, options, dbg);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kClose, path_);
    // The descriptor is gone even when closing reports an error.
    IOStatus s = target()->Close(options, dbg);
    return FailsPlain(verdict) ? verdict.error : s;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kSync, path_);
    if (FailsPlain(verdict)) return verdict.error;
    return DropsSync(verdict) ? IOStatus::OK() : target()->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kSync, path_);
    if (FailsPlain(verdict)) return verdict.error;
    return DropsSync(verdict) ? IOStatus::OK() : target()->Fsync(options, dbg);
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kRangeSync, path_);
    if (FailsPlain(verdict)) return verdict.error;
    return DropsSync(verdict) ? IOStatus::OK() : target()->RangeSync(offset, nbytes, options, dbg);
  }
  IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                    IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kAllocate, path_);
    return FailsPlain(verdict) ? verdict.error : target()->Allocate(offset, len, options, dbg);
  }

 private:
  template <typename WriteTo>
  IOStatus Write(const Slice& data, WriteTo write_to) {
    const Verdict verdict = fs_->Judge(FaultCall::kWrite, path_);
    if (FailsPlain(verdict)) {
      if (verdict.effect == FaultEffect::kShortWrite && data.size() > 1) {
        // The error that is about to be reported covers this write's as well.
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

  FaultFileSystem* const fs_;
  const std::string path_;
};

class FaultRandomRWFile final : public FSRandomRWFileOwnerWrapper {
 public:
  FaultRandomRWFile(FaultFileSystem* fs, std::string path, std::unique_ptr<FSRandomRWFile> f)
      : FSRandomRWFileOwnerWrapper(std::move(f)), fs_(fs), path_(std::move(path)) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override {
    const Verdict verdict = fs_->Judge(FaultCall::kWrite, path_);
    return FailsPlain(verdict) ? verdict.error : target()->Write(offset, data, options, dbg);
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
    const Verdict verdict = fs_->Judge(FaultCall::kSync, path_);
    if (FailsPlain(verdict)) return verdict.error;
    return DropsSync(verdict) ? IOStatus::OK() : target()->Sync(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Sync(options, dbg);
  }

 private:
  FaultFileSystem* const fs_;
  const std::string path_;
};

class FaultDirectory final : public FSDirectoryOwnerWrapper {
 public:
  FaultDirectory(FaultFileSystem* fs, std::string path, std::unique_ptr<FSDirectory> d)
      : FSDirectoryOwnerWrapper(std::move(d)), fs_(fs), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return FsyncWithDirOptions(options, dbg, DirFsyncOptions());
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& reason) override {
    const Verdict verdict = fs_->Judge(FaultCall::kSyncDir, path_);
    if (FailsPlain(verdict)) return verdict.error;
    return DropsSync(verdict) ? IOStatus::OK()
                              : target()->FsyncWithDirOptions(options, dbg, reason);
  }

 private:
  FaultFileSystem* const fs_;
  const std::string path_;
};

IOStatus InjectedError(const FaultRule& rule, const std::string& path) {
  IOStatus s = rule.effect == FaultEffect::kNoSpace
                   ? IOStatus::NoSpace(path, "injected: no space left")
                   : IOStatus::IOError(path, "injected: input/output error");
  s.SetRetryable(rule.retryable);
  return s;
}

// Wraps what opening gave, if it worked.
template <typename Wrapper, typename File>
IOStatus Wrap(FaultFileSystem* fs, const std::string& path, IOStatus s,
              std::unique_ptr<File>* file) {
  if (s.ok()) *file = std::make_unique<Wrapper>(fs, path, std::move(*file));
  return s;
}

}  // namespace

FaultFileSystem::FaultFileSystem(std::shared_ptr<FileSystem> target)
    : FileSystemWrapper(std::move(target)) {}

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

IOStatus FaultFileSystem::NewSequentialFile(const std::string& f, const FileOptions& file_opts,
                                            std::unique_ptr<FSSequentialFile>* r,
                                            IODebugContext* dbg) {
  r->reset();
  IOStatus s = JudgePlain(FaultCall::kOpenRead, f);
  if (!s.ok()) return s;
  return Wrap<FaultSequentialFile>(this, f, target()->NewSequentialFile(f, file_opts, r, dbg), r);
}

IOStatus FaultFileSystem::NewRandomAccessFile(const std::string& f, const FileOptions& file_opts,
                                              std::unique_ptr<FSRandomAccessFile>* r,
                                              IODebugContext* dbg) {
  r->reset();
  IOStatus s = JudgePlain(FaultCall::kOpenRead, f);
  if (!s.ok()) return s;
  return Wrap<FaultRandomAccessFile>(this, f, target()->NewRandomAccessFile(f, file_opts, r, dbg),
                                     r);
}

IOStatus FaultFileSystem::NewWritableFile(const std::string& f, const FileOptions& file_opts,
                                          std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) {
  r->reset();
  IOStatus s = JudgeCreation(FaultCall::kCreate, f);
  if (!s.ok()) return s;
  return Wrap<FaultWritableFile>(this, f, target()->NewWritableFile(f, file_opts, r, dbg), r);
}

IOStatus FaultFileSystem::ReopenWritableFile(const std::string& f, const FileOptions& file_opts,
                                             std::unique_ptr<FSWritableFile>* r,
                                             IODebugContext* dbg) {
  r->reset();
  IOStatus s = JudgeCreation(FaultCall::kCreate, f);
  if (!s.ok()) return s;
  return Wrap<FaultWritableFile>(this, f, target()->ReopenWritableFile(f, file_opts, r, dbg), r);
}

IOStatus FaultFileSystem::ReuseWritableFile(const std::string& f, const std::string& old_f,
                                            const FileOptions& file_opts,
                                            std::unique_ptr<FSWritableFile>* r,
                                            IODebugContext* dbg) {
  r->reset();
  IOStatus s = JudgePlain(FaultCall::kRename, old_f);
  if (s.ok()) s = JudgeCreation(FaultCall::kCreate, f);
  if (!s.ok()) return s;
  return Wrap<FaultWritableFile>(this, f, target()->ReuseWritableFile(f, old_f, file_opts, r, dbg),
                                 r);
}

IOStatus FaultFileSystem::NewRandomRWFile(const std::string& f, const FileOptions& file_opts,
                                          std::unique_ptr<FSRandomRWFile>* r, IODebugContext* dbg) {
  r->reset();
  IOStatus s = JudgePlain(FaultCall::kCreate, f);
  if (!s.ok()) return s;
  return Wrap<FaultRandomRWFile>(this, f, target()->NewRandomRWFile(f, file_opts, r, dbg), r);
}

IOStatus FaultFileSystem::NewMemoryMappedFileBuffer(const std::string& f,
                                                    std::unique_ptr<MemoryMappedFileBuffer>* r) {
  r->reset();
  return IOStatus::NotSupported("NewMemoryMappedFileBuffer: " + f, Name());
}

IOStatus FaultFileSystem::NewDirectory(const std::string& name, const IOOptions& options,
                                       std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) {
  r->reset();
  IOStatus s = JudgePlain(FaultCall::kOpenDir, name);
  if (!s.ok()) return s;
  return Wrap<FaultDirectory>(this, name, target()->NewDirectory(name, options, r, dbg), r);
}

IOStatus FaultFileSystem::FileExists(const std::string& f, const IOOptions& options,
                                     IODebugContext* dbg) {
  IOStatus s = JudgePlain(FaultCall::kStat, f);
  return s.ok() ? target()->FileExists(f, options, dbg) : s;
}

IOStatus FaultFileSystem::GetChildren(const std::string& dir, const IOOptions& options,
                                      std::vector<std::string>* r, IODebugContext* dbg) {
  IOStatus s = JudgePlain(FaultCall::kList, dir);
  return s.ok() ? target()->GetChildren(dir, options, r, dbg) : s;
}

IOStatus FaultFileSystem::GetChildrenFileAttributes(const std::string& dir,
                                                    const IOOptions& options,
                                                    std::vector<FileAttributes>* r,
                                                    IODebugContext* dbg) {
  IOStatus s = JudgePlain(FaultCall::kList, dir);
  return s.ok() ? target()->GetChildrenFileAttributes(dir, options, r, dbg) : s;
}

IOStatus FaultFileSystem::DeleteFile(const std::string& f, const IOOptions& options,
                                     IODebugContext* dbg) {
  IOStatus s = JudgePlain(FaultCall::kDelete, f);
  return s.ok() ? target()->DeleteFile(f, options, dbg) : s;
}

IOStatus FaultFileSystem::Truncate(const std::string& f, size_t size, const IOOptions& options,
                                   IODebugContext* dbg) {
  IOStatus s = JudgePlain(FaultCall::kTruncate, f);
  return s.ok() ? target()->Truncate(f, size, options, dbg) : s;
}

IOStatus FaultFileSystem::CreateDir(const std::string& d, const IOOptions& options,
                                    IODebugContext* dbg) {
  IOStatus s = JudgeCreation(FaultCall::kMakeDir, d);
  return s.ok() ? target()->CreateDir(d, options, dbg) : s;
}

IOStatus FaultFileSystem::CreateDirIfMissing(const std::string& d, const IOOptions& options,
                                             IODebugContext* dbg) {
  IOStatus s = JudgePlain(FaultCall::kMakeDir, d);
  return s.ok() ? target()->CreateDirIfMissing(d, options, dbg) : s;
}

IOStatus FaultFileSystem::DeleteDir(const std::string& d, const IOOptions& options,
                                    IODebugContext* dbg) {
  IOStatus s = JudgePlain(FaultCall::kRemoveDir, d);
  return s.ok() ? target()->DeleteDir(d, options, dbg) : s;
}

IOStatus FaultFileSystem::GetFileSize(const std::string& f, const IOOptions& options, uint64_t* s,
                                      IODebugContext* dbg) {
  IOStatus judged = JudgePlain(FaultCall::kStat, f);
  return judged.ok() ? target()->GetFileSize(f, options, s, dbg) : judged;
}

IOStatus FaultFileSystem::GetFileModificationTime(const std::string& f, const IOOptions& options,
                                                  uint64_t* file_mtime, IODebugContext* dbg) {
  IOStatus s = JudgePlain(FaultCall::kStat, f);
  return s.ok() ? target()->GetFileModificationTime(f, options, file_mtime, dbg) : s;
}

IOStatus FaultFileSystem::RenameFile(const std::string& s, const std::string& t,
                                     const IOOptions& options, IODebugContext* dbg) {
  IOStatus judged = JudgePlain(FaultCall::kRename, s);
  return judged.ok() ? target()->RenameFile(s, t, options, dbg) : judged;
}

IOStatus FaultFileSystem::LinkFile(const std::string& s, const std::string& t,
                                   const IOOptions& options, IODebugContext* dbg) {
  IOStatus judged = JudgePlain(FaultCall::kLink, s);
  return judged.ok() ? target()->LinkFile(s, t, options, dbg) : judged;
}

IOStatus FaultFileSystem::SyncFile(const std::string& f, const FileOptions& file_options,
                                   const IOOptions& io_options, bool use_fsync,
                                   IODebugContext* dbg) {
  const Verdict verdict = Judge(FaultCall::kSync, f);
  if (FailsPlain(verdict)) return verdict.error;
  if (DropsSync(verdict)) return IOStatus::OK();
  return target()->SyncFile(f, file_options, io_options, use_fsync, dbg);
}

IOStatus FaultFileSystem::LockFile(const std::string& f, const IOOptions& options, FileLock** l,
                                   IODebugContext* dbg) {
  *l = nullptr;
  IOStatus s = JudgePlain(FaultCall::kCreate, f);
  return s.ok() ? target()->LockFile(f, options, l, dbg) : s;
}

IOStatus FaultFileSystem::NewLogger(const std::string& f, const IOOptions& options,
                                    std::shared_ptr<Logger>* r, IODebugContext* dbg) {
  // Through this object's own files, so that its entries can fail too.
  return FileSystem::NewLogger(f, options, r, dbg);
}

}  // namespace varve
