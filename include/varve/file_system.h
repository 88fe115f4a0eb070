// SPDX-License-Identifier: Apache-2.0
#pragma once

// FileSystem is the interface between the library and storage; its file types are here, too. Each
// call takes IOOptions (hints for the request) and an IODebugContext (null, or a place for details
// from the implementation), and returns an IOStatus.
//
// To bring storage of its own, a program derives from FileSystemWrapper, which forwards to another
// file system, or from FileSystem, and passes NewCompositeEnv(fs) as DBOptions::env. The library
// calls it from many threads; each file type says how many threads use one object.
//
// Durability is what a database relies on most. Bytes that were written survive a power loss after
// Sync of their file; a new, renamed or deleted name survives it after Fsync of its directory. A
// file system that acknowledges either too early lets a database lose acknowledged writes, and no
// check of the library can notice it.
//
//   class SlowFiles : public varve::FileSystemWrapper {
//    public:
//     using FileSystemWrapper::FileSystemWrapper;
//     const char* Name() const override { return "SlowFiles"; }
//     varve::IOStatus DeleteFile(const std::string& path, const varve::IOOptions& options,
//                                varve::IODebugContext* dbg) override {
//       std::this_thread::sleep_for(std::chrono::milliseconds(5));
//       return FileSystemWrapper::DeleteFile(path, options, dbg);
//     }
//   };
//   std::unique_ptr<varve::Env> env =
//       varve::NewCompositeEnv(std::make_shared<SlowFiles>(varve::FileSystem::Default()));
//   options.env = env.get();

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

// The kind of a request's data, for statistics and placement by a file system. The library sets
// kLog for its LOG, and kMetadata for small files that it replaces as a whole; elsewhere it leaves
// kUnknown.
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
  // Set if ReadAsync, Poll and AbortIO run in parallel to the caller.
  kAsyncIO,
  // Set if reads with a null scratch return the file system's own buffer.
  kFSBuffer,
  // Set if IOOptions::verify_and_reconstruct_read has an effect.
  kVerifyAndReconstructRead,
  // Set if FSRandomAccessFile::Prefetch has an effect. Otherwise the library reads ahead into
  // memory of its own.
  kFSPrefetch,
};

// Hints for one request. An implementation may ignore any of them. "Advisory", here and below,
// marks those that have no effect with the built-in file systems (advanced_options.h).
struct IOOptions {
  // Microseconds after which the request may give up with TimedOut; 0: no limit.
  std::chrono::microseconds timeout{0};
  // Advisory: the library never sets it.
  IOPriority prio = IOPriority::kIOLow;
  // Priority with which the request was charged to a rate limiter; IO_TOTAL: it was not charged.
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
    // A file was created, and its bytes were synced.
    kNewFileSynced,
    // A file was renamed within the directory, or into it.
    kFileRenamed,
    // A directory was renamed.
    kDirRenamed,
    // A file was deleted.
    kFileDeleted,
    // Nothing is known about the reason.
    kDefault,
  } reason = kDefault;

  // New name of the file; only with kFileRenamed.
  std::string renamed_new_name;

  DirFsyncOptions() = default;
  explicit DirFsyncOptions(std::string file_renamed_new_name)
      : reason(kFileRenamed), renamed_new_name(std::move(file_renamed_new_name)) {}
  explicit DirFsyncOptions(FsyncReason fsync_reason) : reason(fsync_reason) {}
};

// Says how a file is opened.
struct VARVE_EXPORT FileOptions : EnvOptions {
  // Options of the request that opens or creates the file.
  IOOptions io_options;
  // Hint about where to place the file. The library sets it for tables, blob files, logs and
  // MANIFESTs as the database's options say, also when it opens a table or blob file for reading.
  Temperature temperature = Temperature::kUnknown;
  // Kind of checksum in DataVerificationInfo; default: CRC-32C. Advisory: no checksums are passed.
  ChecksumType handoff_checksum_type = static_cast<ChecksumType>(1);
  // Advisory: the library never sets it.
  Env::WriteLifeTimeHint write_hint = Env::WLTH_NOT_SET;

  FileOptions() = default;
  // Implicit, as programs rely on it.
  FileOptions(const DBOptions& opts) : EnvOptions(opts) {}   // NOLINT(google-explicit-constructor)
  FileOptions(const EnvOptions& opts) : EnvOptions(opts) {}  // NOLINT(google-explicit-constructor)
};

// Details of one request, which a file system may fill in for the caller.
struct VARVE_EXPORT IODebugContext {
  enum TraceData : char { kRequestID = 0 };

  // Path of the file that the request was for.
  std::string file_path;
  // Numbers by name, as an implementation likes to count them.
  std::map<std::string, uint64_t> counters;
  // A text about the request.
  std::string msg;
  // Null, or the id of the application's request that caused this one.
  const std::string* request_id = nullptr;
  // Bit kRequestID is set if request_id is set.
  uint64_t trace_data = 0;
  // The implementation's measure of what the request cost; empty if it has none.
  std::any cost_info;

  IODebugContext() = default;
  // A copy owns a copy of the request id.
  IODebugContext(const IODebugContext& other);
  IODebugContext& operator=(const IODebugContext& other);

  // Adds a counter, unless there is one of that name.
  void AddCounter(const std::string& name, uint64_t value) { counters.emplace(name, value); }
  // *updated_request_id must outlive this object.
  void SetRequestId(const std::string* updated_request_id) {
    request_id = updated_request_id;
    trace_data |= uint64_t{1} << kRequestID;
  }
  // Returns the message, the path and the counters as one line.
  std::string ToString() const;

 private:
  std::string own_request_id_;
};

// Releases the handle of an asynchronous read.
using IOHandleDeleter = std::function<void(void*)>;

// The storage of databases. Thread-safe. Paths may be absolute or relative to the working
// directory. After a failure, file pointers in results are null. Functions have the meaning of the
// functions of the same name in Env. Overridden functions must not throw. A file system must
// outlive all files, locks and databases that use it.
//
// The defaults of functions that are not pure return NotSupported, or do nothing for hints, unless
// their comment says what they do. A file that does not exist gives NotFound, or an IOError with
// subcode kPathNotFound; the library treats both alike.
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

  // Called when a database starts and stops using directories. The defaults do nothing.
  virtual Status RegisterDbPaths(const std::vector<std::string>& paths);
  virtual Status UnregisterDbPaths(const std::vector<std::string>& paths);

  // Open an existing file. A sequential file is used by one thread at a time, a random-access file
  // by many.
  virtual IOStatus NewSequentialFile(const std::string& fname, const FileOptions& file_opts,
                                     std::unique_ptr<FSSequentialFile>* result,
                                     IODebugContext* dbg) = 0;
  virtual IOStatus NewRandomAccessFile(const std::string& fname, const FileOptions& file_opts,
                                       std::unique_ptr<FSRandomAccessFile>* result,
                                       IODebugContext* dbg) = 0;

  // Here for RocksDB's names: all functions take Env::WriteLifeTimeHint.
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
  // Opens an existing file for reads and writes at any offset. NotSupported by default.
  virtual IOStatus NewRandomRWFile(const std::string& fname, const FileOptions& file_opts,
                                   std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg);
  // Maps a whole existing file for reading and writing. NotSupported by default.
  virtual IOStatus NewMemoryMappedFileBuffer(const std::string& fname,
                                             std::unique_ptr<MemoryMappedFileBuffer>* result);
  // Opens an existing directory, to make its entries durable.
  virtual IOStatus NewDirectory(const std::string& name, const IOOptions& io_opts,
                                std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) = 0;

  // Returns OK if the file or directory exists, NotFound if not, or an IOError if neither is
  // certain.
  virtual IOStatus FileExists(const std::string& fname, const IOOptions& options,
                              IODebugContext* dbg) = 0;
  // Replaces *result with the names in `dir`, without "." and "..", in no particular order.
  virtual IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                               std::vector<std::string>* result, IODebugContext* dbg) = 0;
  // Replaces *result with the names and sizes of the files in `dir`. Omits files that vanish while
  // the directory is read. The default calls GetChildren, and GetFileSize for each name.
  virtual IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                             std::vector<FileAttributes>* result,
                                             IODebugContext* dbg);
  // Removes a name. Open files keep the bytes until they are closed.
  virtual IOStatus DeleteFile(const std::string& fname, const IOOptions& options,
                              IODebugContext* dbg) = 0;
  // Sets a file's size in bytes; bytes added are 0.
  virtual IOStatus Truncate(const std::string& fname, size_t size, const IOOptions& options,
                            IODebugContext* dbg);
  // Creates a directory in an existing one. Fails if it exists.
  virtual IOStatus CreateDir(const std::string& dirname, const IOOptions& options,
                             IODebugContext* dbg) = 0;
  // Creates a directory, or returns OK if it exists.
  virtual IOStatus CreateDirIfMissing(const std::string& dirname, const IOOptions& options,
                                      IODebugContext* dbg) = 0;
  // Removes an empty directory.
  virtual IOStatus DeleteDir(const std::string& dirname, const IOOptions& options,
                             IODebugContext* dbg) = 0;
  // Sets *file_size to the size in bytes.
  virtual IOStatus GetFileSize(const std::string& fname, const IOOptions& options,
                               uint64_t* file_size, IODebugContext* dbg) = 0;
  // Sets *file_mtime to seconds since the Unix epoch.
  virtual IOStatus GetFileModificationTime(const std::string& fname, const IOOptions& options,
                                           uint64_t* file_mtime, IODebugContext* dbg) = 0;
  // Renames `src` to `target`, which is replaced atomically if it exists. A database publishes a
  // new CURRENT by such a rename, so after a crash there must be one of the two files, whole.
  virtual IOStatus RenameFile(const std::string& src, const std::string& target,
                              const IOOptions& options, IODebugContext* dbg) = 0;
  // Gives a file a second name. NotSupported: the file system has no such links, or not between
  // these names; callers then copy.
  virtual IOStatus LinkFile(const std::string& src, const std::string& target,
                            const IOOptions& options, IODebugContext* dbg);
  // Makes a file durable that was written and closed elsewhere. The default reopens it and syncs.
  virtual IOStatus SyncFile(const std::string& fname, const FileOptions& file_options,
                            const IOOptions& io_options, bool use_fsync, IODebugContext* dbg);
  // Sets *count to the number of names that a file has.
  virtual IOStatus NumFileLinks(const std::string& fname, const IOOptions& options, uint64_t* count,
                                IODebugContext* dbg);
  // Gives back the storage of a part of a file, which reads as zeros from then on. The file's size
  // and its other bytes do not change; they may be read meanwhile. Storage is freed in whole
  // blocks. The default, also that of FileSystemWrapper, is NotSupported, because a file system
  // that stores other bytes than it returns, such as an encrypted one, cannot pass the call on; a
  // wrapper that can overrides it. ColumnFamilyOptions::punch_holes_in_blob_files needs it.
  virtual IOStatus PunchHole(const std::string& fname, uint64_t offset, uint64_t bytes,
                             const IOOptions& options, IODebugContext* dbg);
  // Sets *res to true if both are names of one file, else to false.
  virtual IOStatus AreFilesSame(const std::string& first, const std::string& second,
                                const IOOptions& options, bool* res, IODebugContext* dbg);
  // Takes an exclusive lock against other processes and other callers in this one, without
  // waiting. IOError: it is held. *lock is released by UnlockFile, which consumes it.
  virtual IOStatus LockFile(const std::string& fname, const IOOptions& options, FileLock** lock,
                            IODebugContext* dbg) = 0;
  virtual IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) = 0;
  // Sets *path to a directory that tests may write to.
  virtual IOStatus GetTestDirectory(const IOOptions& options, std::string* path,
                                    IODebugContext* dbg) = 0;
  // Makes a logger that appends to `fname`.
  virtual IOStatus NewLogger(const std::string& fname, const IOOptions& io_opts,
                             std::shared_ptr<Logger>* result, IODebugContext* dbg);
  // Sets *output_path to the path from the root. The file need not exist.
  virtual IOStatus GetAbsolutePath(const std::string& db_path, const IOOptions& options,
                                   std::string* output_path, IODebugContext* dbg) = 0;

  // Resets options that this file system does not support.
  virtual void SanitizeFileOptions(FileOptions* opts) const;
  // Return `file_options` adjusted to a kind of file. The defaults turn direct reads off for logs
  // and MANIFESTs, and change nothing that concerns tables and blob files.
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

  // Sets *diskfree to the bytes free for unprivileged users on the file system that holds `path`.
  virtual IOStatus GetFreeSpace(const std::string& path, const IOOptions& options,
                                uint64_t* diskfree, IODebugContext* dbg);
  // Sets *is_dir to true if `path`, which must exist, is a directory, else to false.
  virtual IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_dir,
                               IODebugContext* dbg) = 0;

  // Waits until at least min_completions of the reads of io_handles are complete. The default
  // returns OK at once, as the default ReadAsync has no handles.
  virtual IOStatus Poll(std::vector<void*>& io_handles, size_t min_completions);
  // Cancels the reads of io_handles; returns when none of them is running. The default returns OK
  // at once.
  virtual IOStatus AbortIO(std::vector<void*>& io_handles);
  // Drops what the file system itself has cached of a directory. The default does nothing.
  virtual void DiscardCacheForDirectory(const std::string& path);
  // Sets the bit of each FSSupportedOps that is supported. The default clears all bits.
  virtual void SupportedOps(int64_t& supported_ops);
};

// A file that one thread at a time reads from start to end. The functions have the meaning of
// those of SequentialFile (env.h).
class VARVE_EXPORT FSSequentialFile {
 public:
  FSSequentialFile() = default;
  FSSequentialFile(const FSSequentialFile&) = delete;
  FSSequentialFile& operator=(const FSSequentialFile&) = delete;
  virtual ~FSSequentialFile() = default;

  // Reads up to n bytes from the current position on; fewer than n bytes mean the end of the file.
  virtual IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                        IODebugContext* dbg) = 0;
  // Moves the position by n bytes, or to the end of the file.
  virtual IOStatus Skip(uint64_t n) = 0;
  // True if PositionedRead is used in place of Read, with aligned offsets, lengths and memory.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  virtual IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options,
                                  Slice* result, char* scratch, IODebugContext* dbg);
  // Returns the temperature of the file, as the storage knows it.
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
};

// Memory of a file system and its deleter.
using FSAllocationPtr = std::unique_ptr<void, std::function<void(void*)>>;

// Parts of a read's result that are not contiguous. The library neither makes nor reads them.
struct PartialResult {
  uint64_t offset;
  Slice result;
  FSAllocationPtr fs_scratch;
};

struct ResultChain {
  std::vector<PartialResult> result_chain;
};

// One read of MultiRead or ReadAsync. The caller owns it, and keeps it until the read is complete.
struct FSReadRequest {
  // Position of the first byte in the file.
  uint64_t offset = 0;
  // Number of bytes to read.
  size_t len = 0;
  // Memory for at least len bytes; null only if kFSBuffer is supported.
  char* scratch = nullptr;
  // Set by the read: the bytes, which may lie in scratch. Fewer than len only at the end of the
  // file or after an error.
  Slice result;
  // Set by the read: its result.
  IOStatus status;
  // Set by a read with a null scratch: owns the memory that `result` points into. Its pointer is
  // for the deleter alone, and need not be the address of the bytes.
  FSAllocationPtr fs_scratch;
  // The library neither sets nor reads it.
  std::optional<ResultChain> result_chain;
};

// A file that many threads may read at any offset. The functions have the meaning of those of
// RandomAccessFile (env.h).
class VARVE_EXPORT FSRandomAccessFile {
 public:
  FSRandomAccessFile() = default;
  FSRandomAccessFile(const FSRandomAccessFile&) = delete;
  FSRandomAccessFile& operator=(const FSRandomAccessFile&) = delete;
  virtual ~FSRandomAccessFile() = default;

  // Reads up to n bytes at `offset`. *result may point into scratch[0, n). With direct I/O, offset,
  // n and scratch must be aligned.
  virtual IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                        char* scratch, IODebugContext* dbg) const = 0;
  // Hints that the range will be read soon. If it returns NotSupported, the library reads ahead
  // into its own memory.
  virtual IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                            IODebugContext* dbg);
  // Executes every request, each with its own status. The requests do not overlap and are in no
  // order. The returned status is for the call itself; if it is not OK, the statuses of the
  // requests are undefined. The default calls Read for each.
  virtual IOStatus MultiRead(FSReadRequest* reqs, size_t num_reqs, const IOOptions& options,
                             IODebugContext* dbg);
  // Writes an identifier of at most max_size bytes that no other file has, and returns its length;
  // 0: there is none.
  virtual size_t GetUniqueId(char* id, size_t max_size) const;

  enum AccessPattern { kNormal, kRandom, kSequential, kWillNeed, kWontNeed };
  // Says how the file will be read from now on.
  virtual void Hint(AccessPattern pattern);
  // True if offset, n and scratch of reads must be multiples of the alignment that follows, in
  // bytes.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Drops the range from the system's cache; length 0 means up to the end.
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  // Starts a read; cb(req, cb_arg) is called when it is complete. *io_handle identifies it to Poll
  // and AbortIO and is released by *del_fn. The default reads within the call and sets no handle.
  virtual IOStatus ReadAsync(FSReadRequest& req, const IOOptions& opts,
                             std::function<void(FSReadRequest&, void*)> cb, void* cb_arg,
                             void** io_handle, IOHandleDeleter* del_fn, IODebugContext* dbg);
  // Returns the temperature of the file, as the storage knows it.
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
  // Returns the open file's size in bytes without a lookup of its name.
  virtual IOStatus GetFileSize(uint64_t* result);
};

// Passed with appended data.
struct DataVerificationInfo {
  // Checksum of the data, of the kind FileOptions::handoff_checksum_type.
  Slice checksum;
};

// A file to which one thread at a time appends. The functions have the meaning of those of
// WritableFile, whose comments say what a file promises. By default Truncate and Allocate return OK
// and do nothing, Fsync calls Sync, RangeSync calls Sync with strict_bytes_per_sync and does
// nothing without, and functions with a DataVerificationInfo do not look at it.
class VARVE_EXPORT FSWritableFile {
 public:
  FSWritableFile() : strict_bytes_per_sync_(false) {}
  explicit FSWritableFile(const FileOptions& options)
      : write_hint_(options.write_hint), strict_bytes_per_sync_(options.strict_bytes_per_sync) {}
  FSWritableFile(const FSWritableFile&) = delete;
  FSWritableFile& operator=(const FSWritableFile&) = delete;
  // The destructor of an implementation closes a file that is still open.
  virtual ~FSWritableFile() = default;

  // Appends all of `data`.
  virtual IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Append(const Slice& data, const IOOptions& options,
                          const DataVerificationInfo& verification_info, IODebugContext* dbg);
  // Writes `data` at an offset, with direct I/O; both are aligned.
  virtual IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                                    IODebugContext* dbg);
  virtual IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                                    const DataVerificationInfo& verification_info,
                                    IODebugContext* dbg);
  // Sets the file's size in bytes; called before Close to remove the padding of direct I/O.
  virtual IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg);
  // Closes the file, without a promise of durability.
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg) = 0;
  // Passes buffered bytes to the operating system.
  virtual IOStatus Flush(const IOOptions& options, IODebugContext* dbg) = 0;
  // Makes the written bytes durable.
  virtual IOStatus Sync(const IOOptions& options, IODebugContext* dbg) = 0;
  // Makes the written bytes and all metadata durable.
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) {
    return Sync(options, dbg);
  }
  // True if Sync may run while another thread appends.
  virtual bool IsSyncThreadSafe() const { return false; }
  // True if PositionedAppend is used in place of Append, with aligned data and offsets.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Says how long the file will probably exist.
  virtual void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) { write_hint_ = hint; }
  // Sets the priority with which the file's writes are charged to a rate limiter.
  virtual void SetIOPriority(Env::IOPriority pri) { io_priority_ = pri; }
  virtual Env::IOPriority GetIOPriority() { return io_priority_; }
  virtual Env::WriteLifeTimeHint GetWriteLifeTimeHint() { return write_hint_; }
  // Returns the number of bytes written so far.
  virtual uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg);
  // Sets the bytes by which PrepareWrite extends the reserved space; 0 reserves nothing.
  virtual void SetPreallocationBlockSize(size_t size) { preallocation_block_size_ = size; }
  virtual void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) {
    *block_size = preallocation_block_size_;
    *last_allocated_block = last_preallocated_block_;
  }
  // Writes an identifier of at most max_size bytes, and returns its length; 0: there is none.
  virtual size_t GetUniqueId(char* id, size_t max_size) const;
  // Drops the range from the system's cache; length 0 means up to the end. NotSupported by default.
  virtual IOStatus InvalidateCache(size_t offset, size_t length);
  // Starts write-back of the range, without a promise of durability.
  virtual IOStatus RangeSync(uint64_t offset, uint64_t nbytes, const IOOptions& options,
                             IODebugContext* dbg);
  // Reserves space for a write of `len` bytes at `offset`. Failures are not reported.
  virtual void PrepareWrite(size_t offset, size_t len, const IOOptions& options,
                            IODebugContext* dbg);
  // Reserves space for `len` bytes from `offset` on.
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

// A file that one thread at a time reads and writes at any offset. The functions have the meaning
// of those of RandomRWFile (env.h).
class VARVE_EXPORT FSRandomRWFile {
 public:
  FSRandomRWFile() = default;
  FSRandomRWFile(const FSRandomRWFile&) = delete;
  FSRandomRWFile& operator=(const FSRandomRWFile&) = delete;
  virtual ~FSRandomRWFile() = default;

  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Writes all of `data` at the offset, and makes the file longer if needed.
  virtual IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                         IODebugContext* dbg) = 0;
  // Reads up to n bytes from the offset on.
  virtual IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                        char* scratch, IODebugContext* dbg) const = 0;
  // Passes buffered bytes to the operating system; Sync makes them durable.
  virtual IOStatus Flush(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Sync(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) {
    return Sync(options, dbg);
  }
  // Closes the file; no other function is called afterwards.
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg) = 0;
  virtual Temperature GetTemperature() const { return Temperature::kUnknown; }
};

// An open directory. It is opened to make changes of its names durable, which syncing a file does
// not do.
class VARVE_EXPORT FSDirectory {
 public:
  FSDirectory() = default;
  FSDirectory(const FSDirectory&) = delete;
  FSDirectory& operator=(const FSDirectory&) = delete;
  virtual ~FSDirectory() = default;

  // Makes the directory's entries durable. Thread-safe.
  virtual IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) = 0;
  // Does the same, and may use the reason to do less. The default calls Fsync.
  virtual IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                                       const DirFsyncOptions& dir_fsync_options);
  // Closes the directory; the destructor does so, too. NotSupported by default.
  virtual IOStatus Close(const IOOptions& options, IODebugContext* dbg);
  // Writes an identifier of at most max_size bytes, and returns its length; 0: there is none.
  virtual size_t GetUniqueId(char* id, size_t max_size) const;
};

}  // namespace varve

#include "varve/file_system_wrappers.h"
