// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a file system in memory that models what a crash would leave of it.
//
// Two things are stored apart from the state that programs see:
// - for each file, the bytes that the last sync made durable;
// - for each directory, the entries that its last sync made durable, and the creations, links,
//   renames and deletions still pending after them, in order.
//
// Syncing a file makes its bytes durable and not its name: a file whose directory was not synced
// may be gone after a crash. Syncing a directory makes no bytes durable.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/system_clock.h"

#include "util/env/mapped_file.h"
#include "util/env/mem_file.h"
#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// The state that a crash leaves, beyond what is durable.
enum class CrashPolicy {
  // Nothing.
  kSyncedOnly,
  // The first few pending directory operations, in order, and of each file a part of what was
  // appended since its sync.
  kOrderedPrefix,
  // All directory operations, and parts of the appended bytes.
  kAllNames,
  // Any subset of the directory operations; of each page that was written since the sync the new
  // bytes, the old ones, zeros, or a mix at 512-byte sectors; any size in between.
  kAdversarial,
  // Any subset of the directory operations, and no byte that was not synced.
  kSyncedBytes,
  // Everything that was written: the process died, the machine did not.
  kKill,
};

// Kinds of calls that change something.
enum class MemCall {
  kCreate,
  kAppend,
  kTruncate,
  kSync,
  kRename,
  kLink,
  kDelete,
  kCreateDir,
  kDeleteDir,
  kSyncDir,
  kMap,  // Maps a piece of a mapped file, which may make it longer.
};

// Files and directories in memory, for tests and for NewMemEnv. Thread-safe. Paths are resolved
// against "/". CreateDir also makes missing parents, which count as durable; files can only be
// made in directories that exist. A child of fork() has a copy of everything.
//
// A test of crashes runs a database over it, calls CrashClone at a moment of its choice (often
// from a CallHook, so that every changing call is tried), and opens the clone.
class MemFileSystem final : public FileSystem, public MappedFileSource, private ForkWatch {
 public:
  // Called before every changing call takes effect, without locks held: it may call back, in
  // particular CrashClone. Calls from several threads may overlap.
  class CallHook {
   public:
    virtual ~CallHook() = default;
    // `index` counts from 0 and is unique.
    virtual void BeforeCall(uint64_t index, MemCall call, const std::string& path) = 0;
  };

  explicit MemFileSystem(std::shared_ptr<SystemClock> clock = SystemClock::Default());
  ~MemFileSystem() override;

  // Returns a new file system with what a crash now would leave, all of it durable. Locks are not
  // held there. The same seed and state give the same result.
  std::shared_ptr<MemFileSystem> CrashClone(CrashPolicy policy, uint64_t seed) const;

  // Sets the hook; null removes it. The hook must live until it is removed and no call is in
  // progress.
  void SetCallHook(CallHook* hook);
  // Allows mapped files. Stores into mappings are no calls, so a test that must see every change
  // through the hook does not call this. Requires that no file exists yet.
  void OfferMappedFiles() { offers_mapped_files_ = true; }
  // Returns the number of changing calls so far.
  uint64_t call_count() const { return calls_.load(std::memory_order_relaxed); }

  const char* Name() const override { return "MemFileSystem"; }

  // The functions below are those of FileSystem; options and debug contexts are ignored.
  IOStatus NewSequentialFile(const std::string& fname, const FileOptions& file_opts,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override;
  IOStatus NewRandomAccessFile(const std::string& fname, const FileOptions& file_opts,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override;
  IOStatus NewWritableFile(const std::string& fname, const FileOptions& file_opts,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override;
  IOStatus ReopenWritableFile(const std::string& fname, const FileOptions& file_opts,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override;
  IOStatus ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                             const FileOptions& file_opts, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override;
  IOStatus NewRandomRWFile(const std::string& fname, const FileOptions& file_opts,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override;
  IOStatus NewDirectory(const std::string& name, const IOOptions& io_opts,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override;
  IOStatus FileExists(const std::string& fname, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& fname, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& fname, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus CreateDir(const std::string& dirname, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus CreateDirIfMissing(const std::string& dirname, const IOOptions& options,
                              IODebugContext* dbg) override;
  IOStatus DeleteDir(const std::string& dirname, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus GetFileSize(const std::string& fname, const IOOptions& options, uint64_t* file_size,
                       IODebugContext* dbg) override;
  IOStatus GetFileModificationTime(const std::string& fname, const IOOptions& options,
                                   uint64_t* file_mtime, IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& src, const std::string& target, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus LinkFile(const std::string& src, const std::string& target, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus NumFileLinks(const std::string& fname, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override;
  // Writes zeros, which take as much memory as other bytes.
  IOStatus PunchHole(const std::string& fname, uint64_t offset, uint64_t bytes,
                     const IOOptions& options, IODebugContext* dbg) override;
  IOStatus AreFilesSame(const std::string& first, const std::string& second,
                        const IOOptions& options, bool* res, IODebugContext* dbg) override;
  IOStatus LockFile(const std::string& fname, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                            IODebugContext* dbg) override;
  IOStatus GetAbsolutePath(const std::string& db_path, const IOOptions& options,
                           std::string* output_path, IODebugContext* dbg) override;
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* diskfree,
                        IODebugContext* dbg) override;
  IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_dir,
                       IODebugContext* dbg) override;

  IOStatus NewMappedFile(const std::string& fname, const FileOptions& options,
                         std::unique_ptr<MappedFile>* result) override;

  // Used by the files and directories that this object creates.
  // Counts a changing call, and calls the hook.
  void NoteCall(MemCall call, const std::string& path);
  // Makes the pending operations of the directory durable.
  IOStatus SyncDir(const std::string& dir);
  // Returns the time for modification times, by the clock.
  uint64_t NowSeconds() const;

 private:
  // The entries by absolute path. The root is not listed.
  struct Tree {
    std::map<std::string, std::shared_ptr<MemFile>> files;
    std::set<std::string> dirs;
  };
  // A directory operation that no sync has made durable yet.
  struct PendingOp {
    MemCall call;
    std::string path;
    std::string target;             // kRename, kLink
    std::shared_ptr<MemFile> file;  // kCreate, kLink
  };

  // Carries out an operation on a tree.
  static void Apply(const PendingOp& op, Tree* tree);
  // True if the tree has a file or a directory in `dir`.
  static bool HasChildren(const Tree& tree, const std::string& dir);
  // True if programs see the directory.
  bool DirExists(const std::string& dir) const VARVE_REQUIRES(mutex_);
  // Carries out an operation for programs, and notes it as not durable.
  void Do(PendingOp op) VARVE_REQUIRES(mutex_);
  // Makes missing parents of a directory, in both trees.
  void MakeParents(const std::string& dir) VARVE_REQUIRES(mutex_);
  // Finds the file that programs see at fname. Returns PathNotFound if there is nothing, IOError if
  // there is a directory.
  IOStatus Find(const std::string& fname, std::shared_ptr<MemFile>* file) const;
  // Finds the file at fname, or creates it.
  IOStatus FindOrCreate(const std::string& fname, bool* created, std::shared_ptr<MemFile>* file);
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;
  // Opens or creates a file for writing, from its end if `at_end`, or else its beginning;
  // `truncate` empties it first.
  IOStatus OpenWritable(const std::string& fname, bool truncate, bool at_end,
                        const FileOptions& file_opts, std::unique_ptr<FSWritableFile>* result);

  const std::shared_ptr<SystemClock> clock_;
  bool offers_mapped_files_ = false;
  std::atomic<uint64_t> calls_{0};
  std::atomic<CallHook*> hook_{nullptr};

  mutable Mutex mutex_{lock_ranks::kMemFileSystem};
  // The names that programs see, and those that the syncs of directories have made durable.
  Tree current_ VARVE_GUARDED_BY(mutex_);
  Tree durable_ VARVE_GUARDED_BY(mutex_);
  // Operations of current_ that durable_ lacks, in their order.
  std::vector<PendingOp> pending_ VARVE_GUARDED_BY(mutex_);
  // Paths of files that are locked by LockFile.
  std::set<std::string> locked_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve
