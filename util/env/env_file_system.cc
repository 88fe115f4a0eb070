// SPDX-License-Identifier: Apache-2.0

// Implements a FileSystem and a clock on top of an Env's virtual functions.

#include <utility>

#include "util/env/env_adapters.h"

namespace varve {

namespace {

// Keeps everything, also what the Env's file may have set as an IOStatus before it returned a
// Status (scope, "retryable", "data loss"); a plain Status gets the defaults of those.
IOStatus ToIo(Status s) {
  return status_to_io_status(std::move(s));
}

// Overrides a call of a FileSystem or of its file, and passes it on to `target_`, an Env or its
// file. The row is one of <varve/forwarded_calls.h>.
#define VARVE_CALL_ENV(Call, first, last, qualifier)                                            \
  IOStatus Call(                                                                                \
      VARVE_FIRST_PARAMS first VARVE_COMMA_AFTER first const IOOptions& VARVE_LAST_PARAMS last, \
      IODebugContext*) qualifier override {                                                     \
    return ToIo(target_->Call(VARVE_FIRST_ARGS first VARVE_LAST_ARGS last));                    \
  }
#define VARVE_CALL_ENV_BARE(Call, types, qualifier)            \
  IOStatus Call(VARVE_FIRST_PARAMS types) qualifier override { \
    return ToIo(target_->Call(VARVE_FIRST_ARGS types));        \
  }

// The five classes below differ only in their calls: each owns a file of the Env and passes every
// call on without the IOOptions and the debug context, for which Env has no place. A timeout or a
// rate limiter's priority in them is therefore lost.
class EnvSequentialFile final : public FSSequentialFile {
 public:
  using Target = std::unique_ptr<SequentialFile>;
  explicit EnvSequentialFile(Target file) : target_(std::move(file)) {}

  VARVE_SEQUENTIAL_FILE_CALLS(VARVE_CALL_ENV, VARVE_CALL_ENV_BARE)

 private:
  const Target target_;
};

class EnvRandomAccessFile final : public FSRandomAccessFile {
 public:
  using Target = std::unique_ptr<RandomAccessFile>;
  explicit EnvRandomAccessFile(Target file) : target_(std::move(file)) {}

  VARVE_RANDOM_ACCESS_FILE_CALLS(VARVE_CALL_ENV, VARVE_CALL_ENV_BARE)
  IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                     IODebugContext* dbg) override;
  void Hint(AccessPattern pattern) override {
    target_->Hint(static_cast<RandomAccessFile::AccessPattern>(pattern));
  }

 private:
  const Target target_;
};

// Also forwards the virtual functions that have defaults, such as PrepareWrite and
// GetPreallocationStatus: state behind them (the preallocated blocks) is in the Env's file, and
// this object's own copy of it stays unused.
class EnvWritableFile final : public FSWritableFile {
 public:
  using Target = std::unique_ptr<WritableFile>;
  explicit EnvWritableFile(Target file) : target_(std::move(file)) {}

  VARVE_WRITABLE_FILE_CALLS(VARVE_CALL_ENV, VARVE_CALL_ENV_BARE)
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override {
    return target_->GetFileSize();
  }
  void PrepareWrite(size_t offset, size_t len, const IOOptions&, IODebugContext*) override {
    target_->PrepareWrite(offset, len);
  }

 private:
  const Target target_;
};

class EnvRandomRWFile final : public FSRandomRWFile {
 public:
  using Target = std::unique_ptr<RandomRWFile>;
  explicit EnvRandomRWFile(Target file) : target_(std::move(file)) {}

  VARVE_RANDOM_RW_FILE_CALLS(VARVE_CALL_ENV)

 private:
  const Target target_;
};

class EnvDirectory final : public FSDirectory {
 public:
  using Target = std::unique_ptr<Directory>;
  explicit EnvDirectory(Target file) : target_(std::move(file)) {}

  VARVE_DIRECTORY_CALLS(VARVE_CALL_ENV)

 private:
  const Target target_;
};

// Converts the requests one by one, as the two structures have nothing in common but their meaning.
// A result points into the request's scratch or into the file's memory, so it is copied as a Slice.
IOStatus EnvRandomAccessFile::MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions&,
                                        IODebugContext*) {
  std::vector<ReadRequest> requests(num_reqs);
  for (size_t i = 0; i < num_reqs; ++i) {
    requests[i].offset = reqs[i].offset;
    requests[i].len = reqs[i].len;
    requests[i].scratch = reqs[i].scratch;
  }
  IOStatus s = ToIo(target_->MultiRead(requests.data(), num_reqs));
  for (size_t i = 0; i < num_reqs; ++i) {
    reqs[i].result = requests[i].result;
    reqs[i].status = ToIo(std::move(requests[i].status));
  }
  return s;
}

// Replaces the part of the options that an Env knows, and keeps the FileOptions' own fields
// (temperature, checksum handoff and the like), which the detour through the Env would otherwise
// reset.
FileOptions WithEnvOptions(const FileOptions& base, const EnvOptions& changed) {
  FileOptions out = base;
  static_cast<EnvOptions&>(out) = changed;
  return out;
}

// Sets *result to a Wrapper of what `open` made.
template <typename Wrapper, typename Result, typename Open>
IOStatus Opened(std::unique_ptr<Result>* result, Open open) {
  result->reset();
  typename Wrapper::Target target;
  IOStatus s = ToIo(open(&target));
  if (s.ok()) *result = std::make_unique<Wrapper>(std::move(target));
  return s;
}

// EnvFileSystem does not override SupportedOps, so nothing above it tries asynchronous reads, and
// it does not implement MappedFileSource or KernelCopySource, so that no byte of the database
// bypasses the program's Env.
class EnvFileSystem final : public FileSystem {
 public:
  explicit EnvFileSystem(Env* env) : target_(env) {}

  const char* Name() const override { return "LegacyFileSystem"; }

#define VARVE_OPEN_WITH_ENV(Call, File, paths)                                                     \
  IOStatus Call(VARVE_FIRST_PARAMS paths, const FileOptions& options,                              \
                std::unique_ptr<FS##File>* result, IODebugContext*) override {                     \
    return Opened<Env##File>(                                                                      \
        result, [&](auto* file) { return target_->Call(VARVE_FIRST_ARGS paths, file, options); }); \
  }
  VARVE_OPEN_CALLS(VARVE_OPEN_WITH_ENV)
#undef VARVE_OPEN_WITH_ENV
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<FSDirectory>* result, IODebugContext*) override {
    return Opened<EnvDirectory>(result,
                                [&](auto* file) { return target_->NewDirectory(path, file); });
  }
  VARVE_PATH_CALLS(VARVE_CALL_ENV, VARVE_CALL_ENV_BARE)
  IOStatus GetTestDirectory(const IOOptions&, std::string* path, IODebugContext*) override {
    return ToIo(target_->GetTestDirectory(path));
  }
#define VARVE_OPTIMIZE_WITH_ENV(Call, more)                                            \
  FileOptions Call(const FileOptions& options VARVE_LAST_PARAMS more) const override { \
    return WithEnvOptions(options, target_->Call(options VARVE_LAST_ARGS more));       \
  }
  VARVE_OPTIMIZE_CALLS(VARVE_OPTIMIZE_WITH_ENV)
#undef VARVE_OPTIMIZE_WITH_ENV
  void SanitizeFileOptions(FileOptions* opts) const override {
    target_->SanitizeEnvOptions(opts);
  }

 private:
  Env* const target_;
};

class EnvClock final : public SystemClock {
 public:
  explicit EnvClock(Env* env) : target_(env) {}

  const char* Name() const override { return "LegacySystemClock"; }
  VARVE_TIME_CALLS
  uint64_t CPUMicros() override { return target_->NowCPUNanos() / 1000; }
  uint64_t CPUNanos() override { return target_->NowCPUNanos(); }

 private:
  Env* const target_;
};

#undef VARVE_CALL_ENV_BARE
#undef VARVE_CALL_ENV

}  // namespace

std::shared_ptr<FileSystem> NewEnvFileSystem(Env* env) {
  return std::make_shared<EnvFileSystem>(env);
}

std::shared_ptr<SystemClock> NewEnvClock(Env* env) {
  return std::make_shared<EnvClock>(env);
}

}  // namespace varve
