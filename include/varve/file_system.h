// SPDX-License-Identifier: Apache-2.0
#pragma once

// FileSystem is the interface between the library and storage; its file types are here, too. Each
// call takes IOOptions (hints for the request) and an IODebugContext (null, or a place for details
// from the implementation), and returns an IOStatus, which says if a retry can help.

#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "varve/customizable.h"
#include "varve/env.h"
#include "varve/export.h"
#include "varve/io_status.h"
#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

class FSDirectory;
class FSRandomAccessFile;
class FSRandomRWFile;
class FSSequentialFile;
class FSWritableFile;
struct ConfigOptions;
enum ChecksumType : char;

using AccessPattern = RandomAccessFile::AccessPattern;
using FileAttributes = Env::FileAttributes;

// Replaced by IOOptions::rate_limiter_priority; the library does not read it.
enum class IOPriority : uint8_t { kIOLow, kIOHigh, kIOTotal };

// The kind of a request's data.
enum class IOType : uint8_t {
  kData,
  kFilter,
  kIndex,
  kMetadata,
  kWAL,
  kManifest,
  kLog,
  kUnknown,
  kInvalid,
};

// Bit positions in the result of FileSystem::SupportedOps.
enum FSSupportedOps {
  kAsyncIO,                   // ReadAsync, Poll and AbortIO run in parallel to the caller
  kFSBuffer,                  // reads with a null scratch return the file system's own buffer
  kVerifyAndReconstructRead,  // IOOptions::verify_and_reconstruct_read has an effect
  kFSPrefetch,                // FSRandomAccessFile::Prefetch has an effect
};

// Hints for one request. An implementation may ignore any of them.
struct IOOptions {
  std::chrono::microseconds timeout{0};  // 0 = none
  IOPriority prio = IOPriority::kIOLow;  // Advisory: never set by the library.
  Env::IOPriority rate_limiter_priority = Env::IO_TOTAL;
  // Advisory: set for files other than data files; no built-in file system reads it.
  IOType type = IOType::kUnknown;
  // Advisory: never set or read by the library; for programs' own file systems.
  std::unordered_map<std::string, std::string> property_bag;
  // Fsyncs a directory even if the file system does not require it. Advisory: always done.
  bool force_dir_fsync = false;
  // GetChildren may omit sub-directories. Advisory: never done.
  bool do_not_recurse = false;
  // An earlier read returned damaged bytes: checks them and repairs them from redundant copies.
  // Advisory: built-in file systems have no copies, and the library never sets it.
  bool verify_and_reconstruct_read = false;
  // Advisory: copied from ReadOptions; no built-in file system reads it.
  Env::IOActivity io_activity = Env::IOActivity::kUnknown;

  IOOptions() = default;
  explicit IOOptions(bool force_dir_fsync_arg) : force_dir_fsync(force_dir_fsync_arg) {}
};

// Advisory: the reason for fsyncing a directory. Some file systems need no fsync for some reasons;
// the built-in ones always do it.
struct VARVE_EXPORT DirFsyncOptions {
  enum FsyncReason : uint8_t {
    kNewFileSynced,
    kFileRenamed,
    kDirRenamed,
    kFileDeleted,
    kDefault,
  } reason = kDefault;

  std::string renamed_new_name;  // With kFileRenamed.

  DirFsyncOptions() = default;
  explicit DirFsyncOptions(std::string file_renamed_new_name)
      : reason(kFileRenamed), renamed_new_name(std::move(file_renamed_new_name)) {}
  explicit DirFsyncOptions(FsyncReason fsync_reason) : reason(fsync_reason) {}
};

// Says how a file is opened.
struct VARVE_EXPORT FileOptions : EnvOptions {
  // Used for the request that opens or creates the file.
  IOOptions io_options;
  Temperature temperature = Temperature::kUnknown;  // Advisory: set for SstFileWriter::Open only.
  // Kind of checksum in DataVerificationInfo; default: CRC-32C. Advisory: no checksums are passed.
  ChecksumType handoff_checksum_type = static_cast<ChecksumType>(1);
  Env::WriteLifeTimeHint write_hint = Env::WLTH_NOT_SET;  // Advisory: never set by the library.

  FileOptions() = default;
  // Implicit, as programs rely on it.
  FileOptions(const DBOptions& opts) : EnvOptions(opts) {}   // NOLINT(google-explicit-constructor)
  FileOptions(const EnvOptions& opts) : EnvOptions(opts) {}  // NOLINT(google-explicit-constructor)
};

// Filled by a file system with details of a request.
struct VARVE_EXPORT IODebugContext {
  enum TraceData : char { kRequestID = 0 };

  std::string file_path;
  std::map<std::string, uint64_t> counters;
  std::string msg;
  // Null, or the id of the application's request that caused this one.
  const std::string* request_id = nullptr;
  // Bit kRequestID is set if request_id is set.
  uint64_t trace_data = 0;
  std::any cost_info;

  IODebugContext() = default;
  // A copy owns a copy of the request id.
  IODebugContext(const IODebugContext& other);
  IODebugContext& operator=(const IODebugContext& other);

  void AddCounter(const std::string& name, uint64_t value) { counters.emplace(name, value); }
  // *updated_request_id must outlive this object.
  void SetRequestId(const std::string* updated_request_id) {
    request_id = updated_request_id;
    trace_data |= uint64_t{1} << kRequestID;
  }
  std::string ToString() const;

 private:
  std::string own_request_id_;
};

// Releases the handle of an asynchronous read.
using IOHandleDeleter = std::function<void(void*)>;

// Thread-safe. Paths may be absolute or relative to the working directory. After a failure, file
// pointers in results are null. Functions have the meaning of the functions of the same name in
// Env. Overridden functions must not throw.
class VARVE_EXPORT FileSystem : public Customizable {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  ~FileSystem() override = default;

  static const char* Type() { return "FileSystem"; }
  static const char* kDefaultName() { return "DefaultFileSystem"; }
  // Accepts "DefaultFileSystem" or "posix", or a registered object; null for "" and "nullptr".
  // NotSupported for another name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<FileSystem>* result);

  // Returns the operating system's file system, which exists until the process ends.
  static std::shared_ptr<FileSystem> Default();

  virtual Status RegisterDbPaths(const std::vector<std::string>& paths);
  virtual Status UnregisterDbPaths(const std::vector<std::string>& paths);

  virtual IOStatus NewSequentialFile(const std::string& fname, const FileOptions& file_opts,
                                     std::unique_ptr<FSSequentialFile>* result,
                                     IODebugContext* dbg) = 0;
  virtual IOStatus NewRandomAccessFile(const std::string& fname, const FileOptions& file_opts,
                                       std::unique_ptr<FSRandomAccessFile>* result,
                                       IODebugContext* dbg) = 0;

  enum WriteLifeTimeHint {
    kWLTHNotSet = 0,
    kWLTHNone,
    kWLTHShort,
    kWLTHMedium,
    kWLTHLong,
    kWLTHExtreme,
  };

  // Creates a file, or empties an existing one.
  virtual IOStatus NewWritableFile(const std::string& fname, const FileOptions& file_opts,
                                   std::unique_ptr<FSWritableFile>* result,
                                   IODebugContext* dbg) = 0;
  // Opens a file for appending, and creates it if missing.
  virtual IOStatus ReopenWritableFile(const std::string& fname, const FileOptions& file_opts,
                                      std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg);
  // Renames old_fname to fname and opens it for writing from the start. The default renames and
  // calls NewWritableFile.
  virtual IOStatus ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                     const FileOptions& file_opts,
                                     std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg);
  virtual IOStatus NewRandomRWFile(const std::string& fname, const FileOptions& file_opts,
                                   std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg);
  virtual IOStatus NewMemoryMappedFileBuffer(const std::string& fname,
                                             std::unique_ptr<MemoryMappedFileBuffer>* result);
  virtual IOStatus NewDirectory(const std::string& name, const IOOptions& io_opts,
                                std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) = 0;

  virtual IOStatus FileExists(const std::string& fname, const IOOptions& options,
                              IODebugContext* dbg) = 0;
  virtual IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                               std::vector<std::string>* result, IODebugContext* dbg) = 0;
  // Omits files that vanish while the directory is read.
  virtual IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                             std::vector<FileAttributes>* result,
                                             IODebugContext* dbg);
  virtual IOStatus DeleteFile(const std::string& fname, const IOOptions& options,
                              IODebugContext* dbg) = 0;
  virtual IOStatus Truncate(const std::string& fname, size_t size, const IOOptions& options,
                            IODebugContext* dbg);
  virtual IOStatus CreateDir(const std::string& dirname, const IOOptions& options,
                             IODebugContext* dbg) = 0;
  virtual IOStatus CreateDirIfMissing(const std::string& dirname, const IOOptions& options,
                                      IODebugContext* dbg) = 0;
  virtual IOStatus DeleteDir(const std::string& dirname, const IOOptions& options,
                             IODebugContext* dbg) = 0;
  virtual IOStatus GetFileSize(const std::string& fname, const IOOptions& options,
                               uint64_t* file_size, IODebugContext* dbg) = 0;
  // Returns seconds since the Unix epoch.
  virtual IOStatus GetFileModificationTime(const std::string& fname, const IOOptions& options,
                                           uint64_t* file_mtime, IODebugContext* dbg) = 0;
  virtual IOStatus RenameFile(const std::string& src, const std::string& target,
                              const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus LinkFile(const std::string& src, const std::string& target,
                            const IOOptions& options, IODebugContext* dbg);
  // Makes a file durable that was written and closed elsewhere. The default reopens it and syncs.
  virtual IOStatus SyncFile(const std::string& fname, const FileOptions& file_options,
                            const IOOptions& io_options, bool use_fsync, IODebugContext* dbg);
  virtual IOStatus NumFileLinks(const std::string& fname, const IOOptions& options, uint64_t* count,
                                IODebugContext* dbg);
  virtual IOStatus AreFilesSame(const std::string& first, const std::string& second,
                                const IOOptions& options, bool* res, IODebugContext* dbg);
  virtual IOStatus LockFile(const std::string& fname, const IOOptions& options, FileLock** lock,
                            IODebugContext* dbg) = 0;
  virtual IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                                    IODebugContext* dbg) = 0;
  virtual IOStatus NewLogger(const std::string& fname, const IOOptions& io_opts,
                             std::shared_ptr<Logger>* result, IODebugContext* dbg);
  virtual IOStatus GetAbsolutePath(const std::string& db_path, const IOOptions& options,
                                   std::string* output_path, IODebugContext* dbg) = 0;

  // Resets options that this file system does not support.
  virtual void SanitizeFileOptions(FileOptions* opts) const;
  // Return `file_options` adjusted to a kind of file.
  virtual FileOptions OptimizeForLogRead(const FileOptions& file_options) const;
  virtual FileOptions OptimizeForManifestRead(const FileOptions& file_options) const;
  virtual FileOptions OptimizeForLogWrite(const FileOptions& file_options,
                                          const DBOptions& db_options) const;
  virtual FileOptions OptimizeForManifestWrite(const FileOptions& file_options) const;
  virtual FileOptions OptimizeForCompactionTableWrite(const FileOptions& file_options,
                                                      const ImmutableDBOptions& db_options) const;
  virtual FileOptions OptimizeForCompactionTableRead(const FileOptions& file_options,
                                                     const ImmutableDBOptions& db_options) const;
  virtual FileOptions OptimizeForBlobFileRead(const FileOptions& file_options,
                                              const ImmutableDBOptions& db_options) const;

  // Returns the bytes free for unprivileged users.
  virtual IOStatus GetFreeSpace(const std::string& path, const IOOptions& options,
                                uint64_t* diskfree, IODebugContext* dbg);
  virtual IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_dir,
                               IODebugContext* dbg) = 0;

  // Waits until at least min_completions of the reads of io_handles are complete.
  virtual IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions);
  // Cancels the reads of io_handles; returns when none of them is running.
  virtual IOStatus AbortIO(std::vector<void*>& io_handles);
  virtual void DiscardCacheForDirectory(const std::string& path);
  // Sets the bit of each FSSupportedOps that is supported.
  virtual void SupportedOps(int64_t& supported_ops);
};

// See SequentialFile.
class VARVE_EXPORT FSSequentialFile {
 public:
  FSSequentialFile() = default;
  FSSequentialFile(const FSSequentialFile&) = delete;
  FSSequentialFile& operator=(const FSSequentialFile&) = delete;
  virtual ~FSSequentialFile() = default;

  virtual IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                        IODebugContext* dbg) = 0;
  virtual IOStatus Skip(uint64_t n) = 0;
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  virtual IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options,
                                  Slice* result, char* scratch, IODebugContext* dbg);
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
};

// Memory of a file system and its deleter.
using FSAllocationPtr = std::unique_ptr<void, std::function<void(void*)>>;

struct PartialResult {
  uint64_t offset;
  Slice result;
  FSAllocationPtr fs_scratch;
};

struct ResultChain {
  std::vector<PartialResult> result_chain;
};

struct FSReadRequest {
  uint64_t offset = 0;      // bytes from the start
  size_t len = 0;           // bytes
  char* scratch = nullptr;  // at least len bytes; null only if kFSBuffer is supported
  Slice result;             // out; shorter than len only at the end of the file or after an error
  IOStatus status;          // out
  // Out, with a null scratch: owns the memory of `result`. Does not itself point to the bytes.
  FSAllocationPtr fs_scratch;
  std::optional<ResultChain> result_chain;
};

// See RandomAccessFile.
class VARVE_EXPORT FSRandomAccessFile {
 public:
  FSRandomAccessFile() = default;
  FSRandomAccessFile(const FSRandomAccessFile&) = delete;
  FSRandomAccessFile& operator=(const FSRandomAccessFile&) = delete;
  virtual ~FSRandomAccessFile() = default;

  // With direct I/O, offset, n and scratch must be aligned.
  virtual IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                        char* scratch, IODebugContext* dbg) const = 0;
  // After NotSupported the library reads ahead into its own memory.
  virtual IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                            IODebugContext* dbg);
  // The requests do not overlap and are in no order. The returned status is for the call itself; if
  // it is not OK, the statuses of the requests are undefined. The default calls Read for each.
  virtual IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                             IODebugContext* dbg);
  virtual size_t GetUniqueId(char* id, size_t max_size) const;

  enum AccessPattern { kNormal, kRandom, kSequential, kWillNeed, kWontNeed };
  virtual void Hint(AccessPattern pattern);
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  // Starts a read; cb(req, cb_arg) is called when it is complete. *io_handle identifies it to Poll
  // and AbortIO and is released by *del_fn. The default reads within the call and sets no handle.
  virtual IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                             std::function<void(FSReadRequest&, void*)> cb, void* cb_arg,
                             void** io_handle, IOHandleDeleter* del_fn, IODebugContext* dbg);
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
  // Returns the open file's size in bytes without a lookup of its name.
  virtual IOStatus GetFileSize(uint64_t* result);
};

// Passed with appended data.
struct DataVerificationInfo {
  Slice checksum;  // The data's, of the kind FileOptions::handoff_checksum_type
};

// See WritableFile.
class VARVE_EXPORT FSWritableFile {
 public:
  FSWritableFile() : strict_bytes_per_sync_(false) {}
  explicit FSWritableFile(const FileOptions& options)
      : write_hint_(options.write_hint), strict_bytes_per_sync_(options.strict_bytes_per_sync) {}
  FSWritableFile(const FSWritableFile&) = delete;
  FSWritableFile& operator=(const FSWritableFile&) = delete;
  // The destructor of an implementation closes a file that is still open.
  virtual ~FSWritableFile() = default;

  virtual IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Append(const Slice& data, const IOOptions& options,
                          const DataVerificationInfo& verification_info, IODebugContext* dbg);
  virtual IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                                    IODebugContext* dbg);
  virtual IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                                    const DataVerificationInfo& verification_info,
                                    IODebugContext* dbg);
  virtual IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg);
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Flush(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Sync(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) {
    return Sync(options, dbg);
  }
  // True if Sync may run while another thread appends.
  virtual bool IsSyncThreadSafe() const { return false; }
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) { write_hint_ = hint; }
  virtual void SetIOPriority(Env::IOPriority pri) { io_priority_ = pri; }
  virtual Env::IOPriority GetIOPriority() { return io_priority_; }
  virtual Env::WriteLifeTimeHint GetWriteLifeTimeHint() { return write_hint_; }
  virtual uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg);
  virtual void SetPreallocationBlockSize(size_t size) { preallocation_block_size_ = size; }
  virtual void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) {
    *block_size = preallocation_block_size_;
    *last_allocated_block = last_preallocated_block_;
  }
  virtual size_t GetUniqueId(char* id, size_t max_size) const;
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  virtual IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                             IODebugContext* dbg);
  virtual void PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                            IODebugContext* dbg);
  virtual IOStatus Allocate(uint64_t offset, uint64_t len, const IOOptions& options,
                            IODebugContext* dbg);

 protected:
  size_t preallocation_block_size() const { return preallocation_block_size_; }

 private:
  size_t last_preallocated_block_ = 0;
  size_t preallocation_block_size_ = 0;

 protected:
  Env::IOPriority io_priority_ = Env::IO_TOTAL;
  Env::WriteLifeTimeHint write_hint_ = Env::WLTH_NOT_SET;
  const bool strict_bytes_per_sync_;
};

// See RandomRWFile.
class VARVE_EXPORT FSRandomRWFile {
 public:
  FSRandomRWFile() = default;
  FSRandomRWFile(const FSRandomRWFile&) = delete;
  FSRandomRWFile& operator=(const FSRandomRWFile&) = delete;
  virtual ~FSRandomRWFile() = default;

  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                         IODebugContext* dbg) = 0;
  virtual IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                        char* scratch, IODebugContext* dbg) const = 0;
  virtual IOStatus Flush(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Sync(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) {
    return Sync(options, dbg);
  }
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
};

// An open directory.
class VARVE_EXPORT FSDirectory {
 public:
  FSDirectory() = default;
  FSDirectory(const FSDirectory&) = delete;
  FSDirectory& operator=(const FSDirectory&) = delete;
  virtual ~FSDirectory() = default;

  // Makes the directory's entries durable. Thread-safe.
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                                       const DirFsyncOptions& dir_fsync_options);
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg);
  virtual size_t GetUniqueId(char* id, size_t max_size) const;
};

}  // namespace varve

#include "varve/file_system_wrappers.h"
