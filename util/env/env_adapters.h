// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares adapters between Env and FileSystem, for code that knows only the other one.
//
// The engine itself uses FileSystem and SystemClock. Programs may give it an Env instead, of which
// there are two kinds:
//
//      a FileSystem inside an Env     FileSystemEnv: Env calls go to the FileSystem
//      an Env with its own methods    NewEnvFileSystem: FileSystem calls go to the Env's methods
//
// An Env of a program that overrides, for instance, NewWritableFile is of the second kind. The
// adapter calls the override, so that the program sees every file that the database makes.
//
// FileSystem takes more arguments than Env (IOOptions, a debug context) and returns IOStatus. Going
// from Env to FileSystem they are default values; the other way they are dropped.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/forwarded_calls.h"
#include "varve/system_clock.h"

namespace varve {

// Create adapters on top of the Env's virtual functions, so that overrides take effect. The Env is
// not owned and must outlive them.
std::shared_ptr<FileSystem> NewEnvFileSystem(Env* env);
std::shared_ptr<SystemClock> NewEnvClock(Env* env);

// Return files of an Env that pass every call on to a file of a FileSystem.
std::unique_ptr<SequentialFile> EnvFileOf(std::unique_ptr<FSSequentialFile> file);
std::unique_ptr<RandomAccessFile> EnvFileOf(std::unique_ptr<FSRandomAccessFile> file);
std::unique_ptr<WritableFile> EnvFileOf(std::unique_ptr<FSWritableFile> file);
std::unique_ptr<RandomRWFile> EnvFileOf(std::unique_ptr<FSRandomRWFile> file);
std::unique_ptr<Directory> EnvFileOf(std::unique_ptr<FSDirectory> file);

// Overrides a call of an Env or of its file, and passes it on to `target_`, a FileSystem or its
// file, with default options. The row is one of <varve/forwarded_calls.h>.
#define VARVE_CALL_FS(Call, first, last, qualifier)                                                \
  Status Call(VARVE_FIRST_PARAMS first VARVE_LAST_PARAMS last) qualifier override {                \
    return target_->Call(                                                                          \
        VARVE_FIRST_ARGS first VARVE_COMMA_AFTER first IOOptions() VARVE_LAST_ARGS last, nullptr); \
  }

// Implements the file and time functions of an Env with its FileSystem and its clock. Subclasses
// provide threads and names.
class FileSystemEnv : public Env {
 public:
  FileSystemEnv(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock)
      : Env(fs, clock), target_(fs.get()) {}

  // Each of these calls the function of the same name of the FileSystem, with default options.
#define VARVE_OPEN_WITH_FS(Call, File, paths)                                                     \
  Status Call(VARVE_FIRST_PARAMS paths, std::unique_ptr<File>* result, const EnvOptions& options) \
      override {                                                                                  \
    return Opened<FS##File>(result, [&](auto* file) {                                             \
      return target_->Call(VARVE_FIRST_ARGS paths, FileOptions(options), file, nullptr);          \
    });                                                                                           \
  }
  VARVE_OPEN_CALLS(VARVE_OPEN_WITH_FS)
#undef VARVE_OPEN_WITH_FS
  Status NewDirectory(const std::string& path, std::unique_ptr<Directory>* result) override {
    return Opened<FSDirectory>(result, [&](auto* file) {
      return target_->NewDirectory(path, IOOptions(), file, nullptr);
    });
  }
  VARVE_PATH_CALLS(VARVE_CALL_FS, VARVE_FORWARD_ENV_BARE)
  Status GetTestDirectory(std::string* path) override {
    return target_->GetTestDirectory(IOOptions(), path, nullptr);
  }

  // These adjust the options with which a kind of file is opened.
#define VARVE_OPTIMIZE_WITH_FS(Call, more)                                           \
  EnvOptions Call(const EnvOptions& options VARVE_LAST_PARAMS more) const override { \
    return target_->Call(FileOptions(options) VARVE_LAST_ARGS more);                 \
  }
  VARVE_OPTIMIZE_CALLS(VARVE_OPTIMIZE_WITH_FS)
#undef VARVE_OPTIMIZE_WITH_FS
  void SanitizeEnvOptions(EnvOptions* o) const override {
    FileOptions adjusted(*o);
    target_->SanitizeFileOptions(&adjusted);
    *o = adjusted;
  }

  // Time comes from the clock.
  uint64_t NowMicros() override {
    return system_clock_->NowMicros();
  }
  uint64_t NowNanos() override {
    return system_clock_->NowNanos();
  }
  uint64_t NowCPUNanos() override {
    return system_clock_->CPUNanos();
  }
  void SleepForMicroseconds(int micros) override {
    system_clock_->SleepForMicroseconds(micros);
  }
  Status GetCurrentTime(int64_t* unix_time) override {
    return system_clock_->GetCurrentTime(unix_time);
  }
  std::string TimeToString(uint64_t time) override {
    return system_clock_->TimeToString(time);
  }

 private:
  // Sets *result to an Env file for the one that `open` made.
  template <typename File, typename Result, typename Open>
  static Status Opened(std::unique_ptr<Result>* result, Open open) {
    result->reset();
    std::unique_ptr<File> file;
    Status s = open(&file);
    if (s.ok()) *result = EnvFileOf(std::move(file));
    return s;
  }

  FileSystem* const target_;
};

}  // namespace varve
