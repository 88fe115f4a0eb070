// SPDX-License-Identifier: Apache-2.0

// The file system that listeners see through is a wrapper of the real one: each file that it opens
// is a wrapper, too, and runs its operations through FileWatch::Run, which measures the operation
// and then calls every listener, and on an error OnIOError as well. The operation is over by then,
// so a listener that is slow, or calls the database, holds up the thread but changes no result.
//
// What listeners cannot see is not offered: no mapped files, and no reads in flight. So several
// reads are made one after the other (MultiRead), and an asynchronous one within the call
// (ReadAsync).
//
// A thread that runs a listener has a CallOut with the callback's name, so that a call of the
// database which would wait for this file is refused as Busy with that name in the message
// (db/active_work.h).

#include "db/engine/file_events.h"

#include <string>
#include <utility>

#include "varve/file_system_wrappers.h"
#include "varve/forwarded_calls.h"

#include "db/active_work.h"
#include "util/base/caught_exception.h"

namespace varve {

namespace {

using Listeners = std::vector<std::shared_ptr<EventListener>>;
using Callback = void (EventListener::*)(const FileOperationInfo&);

// Returns the name of a callback for messages. A switch cannot compare pointers to members.
const char* NameOf(Callback callback) {
  static constexpr std::pair<Callback, const char*> kNames[] = {
      {&EventListener::OnFileReadFinish, "OnFileReadFinish"},
      {&EventListener::OnFileWriteFinish, "OnFileWriteFinish"},
      {&EventListener::OnFileFlushFinish, "OnFileFlushFinish"},
      {&EventListener::OnFileSyncFinish, "OnFileSyncFinish"},
      {&EventListener::OnFileRangeSyncFinish, "OnFileRangeSyncFinish"},
      {&EventListener::OnFileTruncateFinish, "OnFileTruncateFinish"},
      {&EventListener::OnFileCloseFinish, "OnFileCloseFinish"},
  };
  for (const auto& [each, name] : kNames) {
    if (each == callback) return name;
  }
  return nullptr;
}

// One file's name, and its listeners.
class FileWatch {
 public:
  FileWatch(std::shared_ptr<const Listeners> listeners, std::string path)
      : listeners_(std::move(listeners)), path_(std::move(path)) {}

  // Does `operation`, which was asked for `asked` bytes at `offset`, and reports it. `moved` is
  // called after a success; it returns the number of bytes that were read or written.
  template <typename Operation, typename Moved>
  IOStatus Run(FileOperationType type, Callback callback, uint64_t offset, size_t asked,
               const Moved& moved, const Operation& operation) const {
    const FileOperationInfo::StartTimePoint start = FileOperationInfo::StartNow();
    IOStatus s = operation();
    FileOperationInfo info(type, path_, start, FileOperationInfo::FinishNow(), s);
    info.offset = offset;
    // The length is known only when the operation is over, as a read may return less.
    info.length = s.ok() ? moved() : 0;
    for (const auto& listener : *listeners_) {
      BestEffort([&] {
        const CallOut out(NameOf(callback));
        ((*listener).*callback)(info);
      });
      if (s.ok()) continue;
      BestEffort([&] {
        const CallOut out("OnIOError");
        listener->OnIOError(IOErrorInfo(s, type, path_, asked, offset));
      });
    }
    return s;
  }
  // Reports an operation that moves no bytes.
  template <typename Operation>
  IOStatus Run(FileOperationType type, Callback callback, const Operation& operation) const {
    return Run(
        type, callback, 0, 0, [] { return size_t{0}; }, operation);
  }

 private:
  const std::shared_ptr<const Listeners> listeners_;
  const std::string path_;
};

class WatchedSequentialFile final : public FSSequentialFileOwnerWrapper {
 public:
  WatchedSequentialFile(std::unique_ptr<FSSequentialFile> file, FileWatch watch)
      : FSSequentialFileOwnerWrapper(std::move(file)), watch_(std::move(watch)) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    const uint64_t offset = position_;
    IOStatus s = watch_.Run(
        FileOperationType::kRead, &EventListener::OnFileReadFinish, offset, n,
        [&] { return result->size(); },
        [&] { return FSSequentialFileWrapper::Read(n, options, result, scratch, dbg); });
    if (s.ok()) position_ += result->size();
    return s;
  }
  IOStatus Skip(uint64_t n) override {
    IOStatus s = FSSequentialFileWrapper::Skip(n);
    if (s.ok()) position_ += n;
    return s;
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override {
    return watch_.Run(
        FileOperationType::kRead, &EventListener::OnFileReadFinish, offset, n,
        [&] { return result->size(); },
        [&] {
          return FSSequentialFileWrapper::PositionedRead(offset, n, options, result, scratch, dbg);
        });
  }

 private:
  const FileWatch watch_;
  uint64_t position_ = 0;
};

class WatchedRandomAccessFile final : public FSRandomAccessFileOwnerWrapper {
 public:
  WatchedRandomAccessFile(std::unique_ptr<FSRandomAccessFile> file, FileWatch watch)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), watch_(std::move(watch)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return watch_.Run(
        FileOperationType::kRead, &EventListener::OnFileReadFinish, offset, n,
        [&] { return result->size(); },
        [&] { return FSRandomAccessFileWrapper::Read(offset, n, options, result, scratch, dbg); });
  }
  // Reads one after the other, as listeners see each as an operation of its own.
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override {
    for (size_t i = 0; i < num_reqs; i++) {
      FSReadRequest& r = reqs[i];
      r.status = Read(r.offset, r.len, options, &r.result, r.scratch, dbg);
    }
    return IOStatus::OK();
  }
  // Reads within the call, so that listeners see the operation.
  IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                     std::function<void(FSReadRequest&, void*)> cb, void* cb_arg, void** io_handle,
                     IOHandleDeleter* del_fn, IODebugContext* dbg) override {
    return FSRandomAccessFile::ReadAsync(req, opts, std::move(cb), cb_arg, io_handle, del_fn, dbg);
  }

 private:
  const FileWatch watch_;
};

class WatchedWritableFile final : public FSWritableFileOwnerWrapper {
 public:
  WatchedWritableFile(std::unique_ptr<FSWritableFile> file, FileWatch watch)
      : FSWritableFileOwnerWrapper(std::move(file)), watch_(std::move(watch)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return Appended(data, options, dbg,
                    [&] { return FSWritableFileWrapper::Append(data, options, dbg); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& info,
                  IODebugContext* dbg) override {
    return Appended(data, options, dbg,
                    [&] { return FSWritableFileWrapper::Append(data, options, info, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    return watch_.Run(
        FileOperationType::kPositionedAppend, &EventListener::OnFileWriteFinish, offset,
        data.size(), [&] { return data.size(); },
        [&] { return FSWritableFileWrapper::PositionedAppend(data, offset, options, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& info, IODebugContext* dbg) override {
    return watch_.Run(
        FileOperationType::kPositionedAppend, &EventListener::OnFileWriteFinish, offset,
        data.size(), [&] { return data.size(); },
        [&] { return FSWritableFileWrapper::PositionedAppend(data, offset, options, info, dbg); });
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    return watch_.Run(FileOperationType::kTruncate, &EventListener::OnFileTruncateFinish,
                      [&] { return FSWritableFileWrapper::Truncate(size, options, dbg); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return watch_.Run(FileOperationType::kClose, &EventListener::OnFileCloseFinish,
                      [&] { return FSWritableFileWrapper::Close(options, dbg); });
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return watch_.Run(FileOperationType::kFlush, &EventListener::OnFileFlushFinish,
                      [&] { return FSWritableFileWrapper::Flush(options, dbg); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return watch_.Run(FileOperationType::kSync, &EventListener::OnFileSyncFinish,
                      [&] { return FSWritableFileWrapper::Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return watch_.Run(FileOperationType::kFsync, &EventListener::OnFileSyncFinish,
                      [&] { return FSWritableFileWrapper::Fsync(options, dbg); });
  }
  IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                     IODebugContext* dbg) override {
    return watch_.Run(
        FileOperationType::kRangeSync, &EventListener::OnFileRangeSyncFinish, offset, nbytes,
        [&] { return static_cast<size_t>(nbytes); },
        [&] { return FSWritableFileWrapper::RangeSync(offset, nbytes, options, dbg); });
  }

 private:
  template <typename Operation>
  IOStatus Appended(const Slice& data, const IOOptions& options, IODebugContext* dbg,
                    const Operation& operation) {
    // An append begins where the file ends before it.
    const uint64_t offset = FSWritableFileWrapper::GetFileSize(options, dbg);
    return watch_.Run(
        FileOperationType::kAppend, &EventListener::OnFileWriteFinish, offset, data.size(),
        [&] { return data.size(); }, operation);
  }

  const FileWatch watch_;
};

class WatchedRandomRWFile final : public FSRandomRWFileOwnerWrapper {
 public:
  WatchedRandomRWFile(std::unique_ptr<FSRandomRWFile> file, FileWatch watch)
      : FSRandomRWFileOwnerWrapper(std::move(file)), watch_(std::move(watch)) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override {
    return watch_.Run(
        FileOperationType::kWrite, &EventListener::OnFileWriteFinish, offset, data.size(),
        [&] { return data.size(); },
        [&] { return FSRandomRWFileWrapper::Write(offset, data, options, dbg); });
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return watch_.Run(
        FileOperationType::kRead, &EventListener::OnFileReadFinish, offset, n,
        [&] { return result->size(); },
        [&] { return FSRandomRWFileWrapper::Read(offset, n, options, result, scratch, dbg); });
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return watch_.Run(FileOperationType::kFlush, &EventListener::OnFileFlushFinish,
                      [&] { return FSRandomRWFileWrapper::Flush(options, dbg); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return watch_.Run(FileOperationType::kSync, &EventListener::OnFileSyncFinish,
                      [&] { return FSRandomRWFileWrapper::Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return watch_.Run(FileOperationType::kFsync, &EventListener::OnFileSyncFinish,
                      [&] { return FSRandomRWFileWrapper::Fsync(options, dbg); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    return watch_.Run(FileOperationType::kClose, &EventListener::OnFileCloseFinish,
                      [&] { return FSRandomRWFileWrapper::Close(options, dbg); });
  }

 private:
  const FileWatch watch_;
};

class WatchedFileSystem final : public FileSystemWrapper {
 public:
  WatchedFileSystem(const std::shared_ptr<FileSystem>& fs, Listeners listeners)
      : FileSystemWrapper(fs),
        listeners_(std::make_shared<const Listeners>(std::move(listeners))) {}

  const char* Name() const override { return "WatchedFileSystem"; }

#define VARVE_OPEN_WATCHED(Call, File, paths)                                      \
  IOStatus Call(VARVE_FIRST_PARAMS paths, const FileOptions& options,              \
                std::unique_ptr<FS##File>* result, IODebugContext* dbg) override { \
    return Watched<Watched##File>(                                                 \
        a1, target()->Call(VARVE_FIRST_ARGS paths, options, result, dbg), result); \
  }
  VARVE_OPEN_CALLS(VARVE_OPEN_WATCHED)
#undef VARVE_OPEN_WATCHED

  // The files have the target's bytes.
  IOStatus PunchHole(const std::string& path, uint64_t offset, uint64_t bytes,
                     const IOOptions& options, IODebugContext* dbg) override {
    return target()->PunchHole(path, offset, bytes, options, dbg);
  }

 private:
  // Returns `s`. If it is OK, *file becomes a wrapper of the file that was opened.
  template <typename WatchedFile, typename File>
  IOStatus Watched(const std::string& path, IOStatus s, std::unique_ptr<File>* file) const {
    if (s.ok()) {
      *file = std::make_unique<WatchedFile>(std::move(*file), FileWatch(listeners_, path));
    }
    return s;
  }

  const std::shared_ptr<const Listeners> listeners_;
};

}  // namespace

std::shared_ptr<FileSystem> WithFileEvents(const std::shared_ptr<FileSystem>& fs,
                                           const Listeners& listeners) {
  Listeners told;
  for (const auto& listener : listeners) {
    bool wants = false;
    BestEffort([&] { wants = listener->ShouldBeNotifiedOnFileIO(); });
    if (wants) told.push_back(listener);
  }
  return told.empty() ? fs : std::make_shared<WatchedFileSystem>(fs, std::move(told));
}

}  // namespace varve
