// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a file system that fails on demand. It wraps another one, counts the calls by kind, and
// makes chosen ones fail, lie, or do less than asked.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "varve/file_system.h"

#include "util/env/mapped_file.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

namespace lock_ranks {
// It belongs to the ranks of file systems (util/sync/lock_ranks.h).
inline constexpr MutexRank kFaultFileSystem = kUtilRanks + 40;
}  // namespace lock_ranks

// The kinds of calls.
enum class FaultCall : uint8_t {
  kOpenRead,  // Opening a file for reading.
  kRead,
  kCreate,  // Opening for writing, locks included.
  kWrite,
  kTruncate,
  kAllocate,
  kSync,
  kRangeSync,
  kClose,  // Closing a written file.
  kRename,
  kLink,
  kDelete,
  kMakeDir,
  kRemoveDir,
  kOpenDir,
  kSyncDir,
  kList,
  kStat,  // Existence, sizes, times.
};
inline constexpr size_t kFaultCallKinds = static_cast<size_t>(FaultCall::kStat) + 1;

// Returns the set of one kind.
using FaultCalls = uint32_t;
constexpr FaultCalls Only(FaultCall call) {
  return FaultCalls{1} << static_cast<unsigned>(call);
}
inline constexpr FaultCalls kAllFaultCalls = (FaultCalls{1} << kFaultCallKinds) - 1;
inline constexpr FaultCalls kMutatingFaultCalls =
    Only(FaultCall::kCreate) | Only(FaultCall::kWrite) | Only(FaultCall::kTruncate) |
    Only(FaultCall::kAllocate) | Only(FaultCall::kSync) | Only(FaultCall::kRangeSync) |
    Only(FaultCall::kClose) | Only(FaultCall::kRename) | Only(FaultCall::kLink) |
    Only(FaultCall::kDelete) | Only(FaultCall::kMakeDir) | Only(FaultCall::kRemoveDir) |
    Only(FaultCall::kSyncDir);

enum class FaultEffect {
  kIoError,     // fails without doing anything
  kNoSpace,     // like kIoError, with NoSpace
  kShortWrite,  // writes the first half, then fails; other calls: kIoError
  kDropSync,    // syncs of files and directories report success and do nothing
  // The sync of a file fails once, and every later one of that file reports success and does
  // nothing, whatever is written: like a kernel that marks dirty pages clean when it could not
  // write them. Other calls: kIoError.
  kFailAndForget,
  kCorruptRead,  // flips one bit of the bytes read
  kShortRead,    // returns the first half of the bytes read, with OK, though there is more
};

struct FaultRule {
  FaultCalls calls = kAllFaultCalls;
  // Calls on other paths neither count nor fail; empty is every path.
  std::string path_contains;
  // Number of the matching call that the rule strikes, from 1.
  uint64_t nth = 1;
  // Also strikes every later matching call.
  bool sticky = false;
  FaultEffect effect = FaultEffect::kIoError;
  bool retryable = false;
};

// Thread-safe. Rules may be set while files are open; they also apply to files opened before.
class FaultFileSystem final : public FileSystemWrapper, public MappedFileSource {
 public:
  explicit FaultFileSystem(std::shared_ptr<FileSystem> target);
  ~FaultFileSystem() override;

  const char* Name() const override { return "FaultFileSystem"; }

  // Adds a rule, which counts from now on.
  void Inject(const FaultRule& rule);
  void ClearFaults();
  // Returns how often rules have struck since the last ClearFaults.
  uint64_t strikes() const;

  // Number of calls since construction or ResetCounters.
  uint64_t calls(FaultCall call) const;
  uint64_t total_calls() const;
  // Counts the kinds in `calls`.
  uint64_t calls_in(FaultCalls calls) const;
  void ResetCounters();

  // Sets a quota: after `bytes` more have been written, writes fail with NoSpace, the one that
  // crosses the limit after its first part; creating files and directories fails too.
  void SetByteQuota(uint64_t bytes);
  void ReleaseQuota();

  // Offers mapped files if the target does; without this call it offers none, as stores cannot
  // fail. Mapping a piece counts as kAllocate and takes all of it from the quota. Requires that no
  // file exists yet.
  void OfferMappedFiles() { offers_mapped_files_ = true; }

  // Used by the files that this object creates.
  struct Verdict {
    // If false, the call proceeds, and the other fields are meaningless.
    bool struck = false;
    FaultEffect effect = FaultEffect::kIoError;
    IOStatus error;
  };
  Verdict Judge(FaultCall call, const std::string& path);
  // Takes up to n bytes from the quota; returns how many fit.
  size_t TakeFromQuota(size_t n);

  // These only judge the call; one that creates something also needs space.
  IOStatus JudgeCreation(FaultCall call, const std::string& path);
  IOStatus JudgePlain(FaultCall call, const std::string& path);

  IOStatus NewMappedFile(const std::string& path, const FileOptions& options,
                         std::unique_ptr<MappedFile>* result) override;
  IOStatus PunchHole(const std::string& path, uint64_t offset, uint64_t bytes,
                     const IOOptions& options, IODebugContext* dbg) override {
    return target()->PunchHole(path, offset, bytes, options, dbg);
  }

 private:
  struct ActiveRule {
    FaultRule rule;
    uint64_t seen = 0;
  };

  FileSystem* const faultless_;  // The wrapped file system; target() is the one that judges the
                                 // calls to it.
  bool offers_mapped_files_ = false;
  std::array<std::atomic<uint64_t>, kFaultCallKinds> counts_{};
  mutable Mutex mutex_{lock_ranks::kFaultFileSystem};
  std::vector<ActiveRule> rules_ VARVE_GUARDED_BY(mutex_);
  uint64_t strikes_ VARVE_GUARDED_BY(mutex_) = 0;
  // Paths whose syncs do nothing any more; a new file of that name counts as another one.
  std::set<std::string> forgotten_ VARVE_GUARDED_BY(mutex_);
  bool has_quota_ VARVE_GUARDED_BY(mutex_) = false;
  uint64_t quota_ VARVE_GUARDED_BY(mutex_) = 0;
};

}  // namespace varve
