// SPDX-License-Identifier: Apache-2.0
#pragma once

// Forwarding forms of Env, its file types and Logger. Included by varve/env.h.
//
// They are bases for classes that change only some calls; forwarded_calls.h lists the calls. A file
// wrapper borrows its target, which must outlive it, and is used by as many threads as its target.
// New code that changes only storage should derive from FileSystemWrapper (file_system_wrappers.h),
// as the library calls an Env's file functions through an adapter.

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "varve/env.h"
#include "varve/forwarded_calls.h"

namespace varve {

// Forwards every call to a target Env. Override what should differ.
class VARVE_EXPORT EnvWrapper : public Env {
 public:
  struct Target {
    // Receives the calls; never null.
    Env* env;
    // Owns env, or is empty if the wrapper does not own it.
    std::shared_ptr<Env> guard;

    Env* operator->() const { return env; }

    explicit Target(Env* borrowed) : env(borrowed) {}
    explicit Target(std::unique_ptr<Env>&& owned) : guard(std::move(owned)) { env = guard.get(); }
    explicit Target(const std::shared_ptr<Env>& shared) : guard(shared) { env = guard.get(); }
  };

  // A raw pointer is not owned and must outlive the wrapper.
  explicit EnvWrapper(Env* target);
  explicit EnvWrapper(std::unique_ptr<Env>&& target);
  explicit EnvWrapper(const std::shared_ptr<Env>& target);
  ~EnvWrapper() override;

  // Returns the Env that calls are forwarded to, valid as long as the wrapper.
  Env* target() const { return target_.env; }

  const char* Name() const override { return target_->Name(); }

  // These open files. Override them to return file wrappers of your own.
#define VARVE_ENV_OPEN(Call, File, paths)                                                         \
  Status Call(VARVE_FIRST_PARAMS paths, std::unique_ptr<File>* result, const EnvOptions& options) \
      override {                                                                                  \
    return target_->Call(VARVE_FIRST_ARGS paths, result, options);                                \
  }
  VARVE_OPEN_CALLS(VARVE_ENV_OPEN)
#undef VARVE_ENV_OPEN
  VARVE_FORWARD(Status, NewDirectory, (const std::string&, std::unique_ptr<Directory>*), )

  // These change names and directories, and tell what exists. The lock of LockFile is the target's:
  // hand it to UnlockFile unchanged.
  VARVE_PATH_CALLS(VARVE_FORWARD_ENV, VARVE_FORWARD_ENV_BARE)
  VARVE_FORWARD(Status, GetTestDirectory, (std::string*), )

  // These adjust options before files are opened.
#define VARVE_ENV_OPTIMIZE(Call, more)                                               \
  EnvOptions Call(const EnvOptions& options VARVE_LAST_PARAMS more) const override { \
    return target_->Call(options VARVE_LAST_ARGS more);                              \
  }
  VARVE_OPTIMIZE_CALLS(VARVE_ENV_OPTIMIZE)
#undef VARVE_ENV_OPTIMIZE
  VARVE_FORWARD(void, SanitizeEnvOptions, (EnvOptions*), const)

  // These tell the time. Databases reach them through GetSystemClock(), which is an adapter to
  // them.
  VARVE_TIME_CALLS
  VARVE_FORWARD(uint64_t, NowCPUNanos, (), )

  // The pools of threads are the target's, and shared with all that use it. The last calls tell
  // about the machine.
  void Schedule(void (*work)(void*), void* arg, Priority pool, void* tag = nullptr,
                void (*withdrawn)(void*) = nullptr) override {
    target_->Schedule(work, arg, pool, tag, withdrawn);
  }
  unsigned int GetThreadPoolQueueLen(Priority pool = LOW) const override {
    return target_->GetThreadPoolQueueLen(pool);
  }
  VARVE_THREAD_CALLS
  VARVE_FORWARD(std::string, GenerateUniqueId, (), )
  VARVE_FORWARD(Status, SetAllowNonOwnerAccess, (bool), )

 private:
  Target target_;
};

// File wrappers follow: each forwards every call to a target that it does not own and that must
// outlive it. Derive from one, and override what should differ.
class VARVE_EXPORT SequentialFileWrapper : public SequentialFile {
 public:
  explicit SequentialFileWrapper(SequentialFile* target) : target_(target) {}

  VARVE_SEQUENTIAL_FILE_CALLS(VARVE_FORWARD_ENV, VARVE_FORWARD_ENV_BARE)

 private:
  SequentialFile* target_;
};

class VARVE_EXPORT RandomAccessFileWrapper : public RandomAccessFile {
 public:
  explicit RandomAccessFileWrapper(RandomAccessFile* target) : target_(target) {}

  VARVE_RANDOM_ACCESS_FILE_CALLS(VARVE_FORWARD_ENV, VARVE_FORWARD_ENV_BARE)
  VARVE_FORWARD(Status, MultiRead, (ReadRequest*, size_t), )
  VARVE_FORWARD(void, Hint, (AccessPattern), )

 private:
  RandomAccessFile* target_;
};

class VARVE_EXPORT WritableFileWrapper : public WritableFile {
 public:
  explicit WritableFileWrapper(WritableFile* target) : target_(target) {}

  VARVE_WRITABLE_FILE_CALLS(VARVE_FORWARD_ENV, VARVE_FORWARD_ENV_BARE)
  VARVE_FORWARD(uint64_t, GetFileSize, (), )
  VARVE_FORWARD(void, PrepareWrite, (size_t, size_t), )

 private:
  WritableFile* target_;
};

class VARVE_EXPORT RandomRWFileWrapper : public RandomRWFile {
 public:
  explicit RandomRWFileWrapper(RandomRWFile* target) : target_(target) {}

  VARVE_RANDOM_RW_FILE_CALLS(VARVE_FORWARD_ENV)

 private:
  RandomRWFile* target_;
};

class VARVE_EXPORT DirectoryWrapper : public Directory {
 public:
  explicit DirectoryWrapper(Directory* target) : target_(target) {}

  VARVE_DIRECTORY_CALLS(VARVE_FORWARD_ENV)

 private:
  Directory* target_;
};

class VARVE_EXPORT LoggerWrapper : public Logger {
 public:
  explicit LoggerWrapper(Logger* target) : target_(target) {}

  VARVE_FORWARD(Status, Close, (), )
  VARVE_FORWARD(void, LogHeader, (const char*, va_list), )
  VARVE_FORWARD(void, Logv, (const char*, va_list), )
  VARVE_FORWARD(void, Logv, (const InfoLogLevel, const char*, va_list), )
  VARVE_FORWARD(size_t, GetLogFileSize, (), const)
  VARVE_FORWARD(void, Flush, (), )
  VARVE_FORWARD(InfoLogLevel, GetInfoLogLevel, (), const)
  VARVE_FORWARD(void, SetInfoLogLevel, (const InfoLogLevel), )

 private:
  Logger* target_;
};

}  // namespace varve
