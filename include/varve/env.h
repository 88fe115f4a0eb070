// SPDX-License-Identifier: Apache-2.0
#pragma once

// Env provides files, threads and time to a database, in its classic form. Code that only supplies
// storage should subclass FileSystem (file_system.h) and combine it with NewCompositeEnv.
//
// A program rarely needs more of this header than Env::Default(), NewMemEnv() for tests, and
// SetBackgroundThreads(). The interfaces of files below are what an Env of a program's own
// implements.

#include <cassert>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

#define VARVE_PRINTF_FORMAT_ATTR(format_param, dots_param) \
  __attribute__((__format__(__printf__, format_param, dots_param)))

namespace varve {

class Directory;
class FileLock;
class FileSystem;
class Logger;
class MemoryMappedFileBuffer;
class RandomAccessFile;
class RandomRWFile;
class RateLimiter;
class SequentialFile;
class SystemClock;
class WritableFile;
struct ConfigOptions;
struct DataVerificationInfo;
struct DBOptions;
struct ImmutableDBOptions;
struct ThreadStatus;

// Alignment in bytes for direct I/O unless a file requires another.
constexpr size_t kDefaultPageSize = 4 * 1024;

// Scheduling priority of threads, for Env::LowerThreadPoolCPUPriority. kLow is the nice value 19,
// kIdle the policy SCHED_IDLE.
enum class CpuPriority { kIdle = 0, kLow = 1, kNormal = 2, kHigh = 3 };

// Says how a file is opened. The defaults are those of a default DBOptions.
struct VARVE_EXPORT EnvOptions {
  EnvOptions() = default;
  // Copies the file-related fields of `options`.
  explicit EnvOptions(const DBOptions& options);

  // Reads through a mapping of the file. If a mapped file is truncated from outside, access raises
  // SIGBUS.
  bool use_mmap_reads = false;
  // Writes through mappings of growing pieces of the file.
  bool use_mmap_writes = false;
  // Open files for reading, or for writing, with O_DIRECT, so that their data bypasses the system's
  // page cache. They cannot be combined with mappings.
  bool use_direct_reads = false;
  bool use_direct_writes = false;
  // Preallocates space with fallocate if the file system can.
  bool allow_fallocate = true;
  // Programs that the process starts do not inherit descriptors.
  bool set_fd_cloexec = true;
  // Bytes written between two requests to start write-back; 0: the kernel decides.
  uint64_t bytes_per_sync = 0;
  // Waits for the previous write-back before requesting a new one.
  bool strict_bytes_per_sync = false;
  // Preallocation does not change the file size that readers see.
  bool fallocate_with_keep_size = true;
  // Bytes read ahead by a compaction. Advisory: without effect.
  size_t compaction_readahead_size = 2 * 1024 * 1024;
  // Largest number of bytes that the write buffer of an open file holds.
  size_t writable_file_max_buffer_size = 1024 * 1024;
  // Limits the file's reads and writes as far as their priority is not IO_TOTAL. Null: no limit.
  // Not owned.
  RateLimiter* rate_limiter = nullptr;
};

// The operating system as the library sees it: files, background threads and time. Thread-safe.
// Subclass it, or EnvWrapper, to supply any of them. The library reaches overridden file functions
// through the adapter that GetFileSystem() returns. Overridden functions must not throw. An Env
// must outlive all databases and objects that use it.
//
// Functions that return a Status return NotFound or an IOError with subcode kPathNotFound if a file
// does not exist. The defaults of functions that are not pure return NotSupported, or do nothing
// for hints, unless their comment says what they do. Outputs are unspecified after a failure,
// unless a comment says otherwise.
class VARVE_EXPORT Env : public Customizable {
 public:
  static const char* Type() { return "Environment"; }
  static const char* kDefaultName() { return "DefaultEnv"; }
  // Sets *result to the object that `value` names: Env::Default() for "DefaultEnv" and "", null for
  // "nullptr", or a registered object that is never destroyed. NotSupported for another name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 Env** result);
  // Does the same, and also accepts registered objects that need an owner: *guard then owns
  // *result, and is null for other objects.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 Env** result, std::shared_ptr<Env>* guard);

  struct FileAttributes {
    // Name of the file, relative to the listed directory.
    std::string name;
    // Size in bytes at the time of the listing.
    uint64_t size_bytes;
  };

  // Makes GetFileSystem() and GetSystemClock() adapters over this object's virtual functions.
  Env();
  // Makes GetFileSystem() return `fs`, and GetSystemClock() an adapter over this object.
  explicit Env(const std::shared_ptr<FileSystem>& fs);
  // Makes the two functions return `fs` and `clock`; databases then call no file and clock
  // functions of this object.
  Env(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock);
  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;
  ~Env() override;

  // Returns the operating system's environment, which is never destroyed and must not be deleted.
  static Env* Default();

  // Returns a name for options text and messages.
  const char* Name() const override { return ""; }

  // Called when a database starts and stops using directories. The defaults do nothing.
  virtual Status RegisterDbPaths(const std::vector<std::string>& paths);
  virtual Status UnregisterDbPaths(const std::vector<std::string>& paths);

  // Open an existing file. IsPathNotFound() if there is none; *result is null on any failure. A
  // sequential file is used by one thread at a time, a random-access file by many.
  virtual Status NewSequentialFile(const std::string& fname,
                                   std::unique_ptr<SequentialFile>* result,
                                   const EnvOptions& options) = 0;
  virtual Status NewRandomAccessFile(const std::string& fname,
                                     std::unique_ptr<RandomAccessFile>* result,
                                     const EnvOptions& options) = 0;

  // Says how long a file will probably exist, so that a device can store such files together.
  enum WriteLifeTimeHint {
    WLTH_NOT_SET = 0,
    WLTH_NONE,
    WLTH_SHORT,
    WLTH_MEDIUM,
    WLTH_LONG,
    WLTH_EXTREME,
  };

  // Creates a file, or empties an existing one. The file is used by one thread at a time.
  virtual Status NewWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                                 const EnvOptions& options) = 0;
  // Opens a file for appending, and creates it if missing.
  virtual Status ReopenWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                                    const EnvOptions& options);
  // Renames `old_fname` to `fname` and opens it for writing from the start; old bytes may remain
  // after those written. The default renames the file and calls NewWritableFile.
  virtual Status ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                                   std::unique_ptr<WritableFile>* result,
                                   const EnvOptions& options);
  // Opens an existing file for reads and writes at any offset.
  virtual Status NewRandomRWFile(const std::string& fname, std::unique_ptr<RandomRWFile>* result,
                                 const EnvOptions& options);
  // Maps a whole existing file for reading and writing.
  virtual Status NewMemoryMappedFileBuffer(const std::string& fname,
                                           std::unique_ptr<MemoryMappedFileBuffer>* result);
  // Opens an existing directory for fsync.
  virtual Status NewDirectory(const std::string& name, std::unique_ptr<Directory>* result) = 0;

  // Returns OK if the file or directory exists, NotFound if not, or an IOError if neither is
  // certain.
  virtual Status FileExists(const std::string& fname) = 0;
  // Replaces *result with the names in `dir`, without "." and "..", in no particular order.
  // NotFound if the directory does not exist.
  virtual Status GetChildren(const std::string& dir, std::vector<std::string>* result) = 0;
  // Does the same, with the size of each file. Omits files that vanish while the directory is read.
  // The default calls GetChildren and GetFileSize.
  virtual Status GetChildrenFileAttributes(const std::string& dir,
                                           std::vector<FileAttributes>* result);
  // Removes a file's name. Its bytes are freed once it has no other name and is not open any more.
  virtual Status DeleteFile(const std::string& fname) = 0;
  // Sets a file's size in bytes; bytes added are 0.
  virtual Status Truncate(const std::string& fname, size_t size);
  // Creates a directory in an existing one. Fails if the directory exists.
  virtual Status CreateDir(const std::string& dirname) = 0;
  // Does the same, or returns OK if the directory exists. IOError if a file has the name.
  virtual Status CreateDirIfMissing(const std::string& dirname) = 0;
  // Removes an empty directory.
  virtual Status DeleteDir(const std::string& dirname) = 0;
  // Sets *file_size to the size in bytes.
  virtual Status GetFileSize(const std::string& fname, uint64_t* file_size) = 0;
  // Sets *file_mtime to seconds since the Unix epoch.
  virtual Status GetFileModificationTime(const std::string& fname, uint64_t* file_mtime) = 0;
  // Renames a file, and atomically replaces an existing `target`. The new name is durable once its
  // directory has been synced.
  virtual Status RenameFile(const std::string& src, const std::string& target) = 0;
  // Gives a file a second name (a hard link). NotSupported if the file system has no such links, or
  // if the names would be on two of them; callers then copy. IOError if `target` exists.
  virtual Status LinkFile(const std::string& src, const std::string& target);
  // Sets *count to the number of names (hard links) that a file has.
  virtual Status NumFileLinks(const std::string& fname, uint64_t* count);
  // Sets *res to true if both are names of one file, else to false.
  virtual Status AreFilesSame(const std::string& first, const std::string& second, bool* res);

  // Takes an exclusive lock against other processes and other callers in this one, creating `fname`
  // if needed. Does not wait: IOError if the lock is held. The holder passes *lock to UnlockFile,
  // which consumes it; a process releases its locks when it ends.
  virtual Status LockFile(const std::string& fname, FileLock** lock) = 0;
  virtual Status UnlockFile(FileLock* lock) = 0;

  // Pools of background threads. Flushes run in HIGH, or in LOW if HIGH has no threads;
  // compactions run in LOW. BOTTOM and USER are for programs. TOTAL is the number of pools.
  enum Priority { BOTTOM, LOW, HIGH, USER, TOTAL };
  // Returns the name of a pool, such as "Low". It is "Invalid" for TOTAL.
  static std::string PriorityToString(Priority priority);

  // Priorities of requests to a rate limiter. IO_TOTAL is no priority: a request that has it is not
  // charged, and a query of totals (RateLimiter::GetTotalRequests) adds up all priorities.
  enum IOPriority : int { IO_LOW = 0, IO_MID = 1, IO_HIGH = 2, IO_USER = 3, IO_TOTAL = 4 };

  // The operation an I/O request belongs to. 0x80..0xFE are for programs' own file systems.
  enum class IOActivity : uint8_t {
    kFlush = 0,
    kCompaction = 1,
    kDBOpen = 2,
    kGet = 3,
    kMultiGet = 4,
    kDBIterator = 5,
    kVerifyDBChecksum = 6,
    kVerifyFileChecksums = 7,
    kGetEntity = 8,
    kMultiGetEntity = 9,
    kGetFileChecksumsFromCurrentManifest = 10,
    kCustomIOActivity80 = 0x80,
    kCustomIOActivity81 = 0x81,
    kCustomIOActivity82 = 0x82,
    kCustomIOActivity83 = 0x83,
    kCustomIOActivity84 = 0x84,
    kCustomIOActivity85 = 0x85,
    kCustomIOActivity86 = 0x86,
    kCustomIOActivity87 = 0x87,
    kCustomIOActivity88 = 0x88,
    kCustomIOActivity89 = 0x89,
    kCustomIOActivity8A = 0x8A,
    kCustomIOActivity8B = 0x8B,
    kCustomIOActivity8C = 0x8C,
    kCustomIOActivity8D = 0x8D,
    kCustomIOActivity8E = 0x8E,
    kCustomIOActivity8F = 0x8F,
    kCustomIOActivity90 = 0x90,
    kCustomIOActivity91 = 0x91,
    kCustomIOActivity92 = 0x92,
    kCustomIOActivity93 = 0x93,
    kCustomIOActivity94 = 0x94,
    kCustomIOActivity95 = 0x95,
    kCustomIOActivity96 = 0x96,
    kCustomIOActivity97 = 0x97,
    kCustomIOActivity98 = 0x98,
    kCustomIOActivity99 = 0x99,
    kCustomIOActivity9A = 0x9A,
    kCustomIOActivity9B = 0x9B,
    kCustomIOActivity9C = 0x9C,
    kCustomIOActivity9D = 0x9D,
    kCustomIOActivity9E = 0x9E,
    kCustomIOActivity9F = 0x9F,
    kCustomIOActivityA0 = 0xA0,
    kCustomIOActivityA1 = 0xA1,
    kCustomIOActivityA2 = 0xA2,
    kCustomIOActivityA3 = 0xA3,
    kCustomIOActivityA4 = 0xA4,
    kCustomIOActivityA5 = 0xA5,
    kCustomIOActivityA6 = 0xA6,
    kCustomIOActivityA7 = 0xA7,
    kCustomIOActivityA8 = 0xA8,
    kCustomIOActivityA9 = 0xA9,
    kCustomIOActivityAA = 0xAA,
    kCustomIOActivityAB = 0xAB,
    kCustomIOActivityAC = 0xAC,
    kCustomIOActivityAD = 0xAD,
    kCustomIOActivityAE = 0xAE,
    kCustomIOActivityAF = 0xAF,
    kCustomIOActivityB0 = 0xB0,
    kCustomIOActivityB1 = 0xB1,
    kCustomIOActivityB2 = 0xB2,
    kCustomIOActivityB3 = 0xB3,
    kCustomIOActivityB4 = 0xB4,
    kCustomIOActivityB5 = 0xB5,
    kCustomIOActivityB6 = 0xB6,
    kCustomIOActivityB7 = 0xB7,
    kCustomIOActivityB8 = 0xB8,
    kCustomIOActivityB9 = 0xB9,
    kCustomIOActivityBA = 0xBA,
    kCustomIOActivityBB = 0xBB,
    kCustomIOActivityBC = 0xBC,
    kCustomIOActivityBD = 0xBD,
    kCustomIOActivityBE = 0xBE,
    kCustomIOActivityBF = 0xBF,
    kCustomIOActivityC0 = 0xC0,
    kCustomIOActivityC1 = 0xC1,
    kCustomIOActivityC2 = 0xC2,
    kCustomIOActivityC3 = 0xC3,
    kCustomIOActivityC4 = 0xC4,
    kCustomIOActivityC5 = 0xC5,
    kCustomIOActivityC6 = 0xC6,
    kCustomIOActivityC7 = 0xC7,
    kCustomIOActivityC8 = 0xC8,
    kCustomIOActivityC9 = 0xC9,
    kCustomIOActivityCA = 0xCA,
    kCustomIOActivityCB = 0xCB,
    kCustomIOActivityCC = 0xCC,
    kCustomIOActivityCD = 0xCD,
    kCustomIOActivityCE = 0xCE,
    kCustomIOActivityCF = 0xCF,
    kCustomIOActivityD0 = 0xD0,
    kCustomIOActivityD1 = 0xD1,
    kCustomIOActivityD2 = 0xD2,
    kCustomIOActivityD3 = 0xD3,
    kCustomIOActivityD4 = 0xD4,
    kCustomIOActivityD5 = 0xD5,
    kCustomIOActivityD6 = 0xD6,
    kCustomIOActivityD7 = 0xD7,
    kCustomIOActivityD8 = 0xD8,
    kCustomIOActivityD9 = 0xD9,
    kCustomIOActivityDA = 0xDA,
    kCustomIOActivityDB = 0xDB,
    kCustomIOActivityDC = 0xDC,
    kCustomIOActivityDD = 0xDD,
    kCustomIOActivityDE = 0xDE,
    kCustomIOActivityDF = 0xDF,
    kCustomIOActivityE0 = 0xE0,
    kCustomIOActivityE1 = 0xE1,
    kCustomIOActivityE2 = 0xE2,
    kCustomIOActivityE3 = 0xE3,
    kCustomIOActivityE4 = 0xE4,
    kCustomIOActivityE5 = 0xE5,
    kCustomIOActivityE6 = 0xE6,
    kCustomIOActivityE7 = 0xE7,
    kCustomIOActivityE8 = 0xE8,
    kCustomIOActivityE9 = 0xE9,
    kCustomIOActivityEA = 0xEA,
    kCustomIOActivityEB = 0xEB,
    kCustomIOActivityEC = 0xEC,
    kCustomIOActivityED = 0xED,
    kCustomIOActivityEE = 0xEE,
    kCustomIOActivityEF = 0xEF,
    kCustomIOActivityF0 = 0xF0,
    kCustomIOActivityF1 = 0xF1,
    kCustomIOActivityF2 = 0xF2,
    kCustomIOActivityF3 = 0xF3,
    kCustomIOActivityF4 = 0xF4,
    kCustomIOActivityF5 = 0xF5,
    kCustomIOActivityF6 = 0xF6,
    kCustomIOActivityF7 = 0xF7,
    kCustomIOActivityF8 = 0xF8,
    kCustomIOActivityF9 = 0xF9,
    kCustomIOActivityFA = 0xFA,
    kCustomIOActivityFB = 0xFB,
    kCustomIOActivityFC = 0xFC,
    kCustomIOActivityFD = 0xFD,
    kCustomIOActivityFE = 0xFE,
    kUnknown = 0xFF,
  };
  // Returns a readable name of an activity. Examples are "Flush", "CustomIOActivity8A", "Unknown"
  // and "Invalid".
  static std::string IOActivityToString(IOActivity activity);

  // Runs function(arg) once on a thread of pool `pri`. A `tag` that is not null identifies the job
  // for UnSchedule, which calls unschedFunction(arg) for each job that it removes. Jobs of a pool
  // start in the order in which they were scheduled.
  virtual void Schedule(void (*function)(void* arg), void* arg, Priority pri = LOW,
                        void* tag = nullptr, void (*unschedFunction)(void* arg) = nullptr) = 0;
  // Removes the waiting jobs of `tag` and returns their number; a running job is not affected. The
  // default removes nothing and returns 0.
  virtual int UnSchedule(void* tag, Priority pri);
  // Runs function(arg) on a new thread.
  virtual void StartThread(void (*function)(void* arg), void* arg) = 0;
  // Runs any callable on a new thread; the arguments are copied or moved.
  template <typename FunctionT, typename... Args>
  void StartThreadTyped(FunctionT function, Args&&... args) {
    using Call = std::pair<std::function<void(Args...)>, std::tuple<Args...>>;
    auto call = std::make_unique<Call>(std::function<void(Args...)>(std::move(function)),
                                       std::tuple<Args...>(std::forward<Args>(args)...));
    StartThread(
        [](void* arg) {
          const std::unique_ptr<Call> owned(static_cast<Call*>(arg));
          std::apply(owned->first, owned->second);
        },
        call.release());
  }
  // Waits for every thread that StartThread started.
  virtual void WaitForJoin() {}
  // Reserve threads of a pool, so that its jobs leave them idle, and release such threads again.
  // Both return the number of threads that they could reserve or release. The defaults do nothing
  // and return 0.
  virtual int ReserveThreads(int threads_to_be_reserved, Priority pri);
  virtual int ReleaseThreads(int threads_to_be_released, Priority pri);
  // Returns the number of jobs that wait for a thread. The default returns 0.
  virtual unsigned int GetThreadPoolQueueLen(Priority pri = LOW) const;

  // Returns a directory that tests may write to, creating it if missing.
  virtual Status GetTestDirectory(std::string* path) = 0;
  // Makes a logger that appends to `fname`.
  virtual Status NewLogger(const std::string& fname, std::shared_ptr<Logger>* result);

  // Tell the time, and wait, with the meaning and the units that these functions have in
  // SystemClock. Databases use GetSystemClock(), which calls these functions unless the constructor
  // was given another clock.
  virtual uint64_t NowMicros() = 0;
  virtual uint64_t NowNanos() { return NowMicros() * 1000; }
  virtual uint64_t NowCPUNanos() { return 0; }
  virtual void SleepForMicroseconds(int micros) = 0;
  virtual Status GetCurrentTime(int64_t* unix_time) = 0;
  virtual std::string TimeToString(uint64_t time) = 0;

  // Writes the NUL-terminated host name to name[0, len).
  virtual Status GetHostName(char* name, uint64_t len) = 0;
  // Sets *result to the host name, of at most 256 bytes. The default calls GetHostName.
  virtual Status GetHostNameString(std::string* result);
  // Sets *output_path to the path itself if it is absolute, and otherwise to the working directory
  // followed by it. The file need not exist, and links are not followed.
  virtual Status GetAbsolutePath(const std::string& db_path, std::string* output_path) = 0;

  // Set and return the number of threads of a pool; with 0 the pool starts no jobs.
  virtual void SetBackgroundThreads(int number, Priority pri = LOW) = 0;
  virtual int GetBackgroundThreads(Priority pri = LOW) = 0;
  // Lets users other than the owner read new files. No Env of this library supports it: they return
  // NotSupported.
  virtual Status SetAllowNonOwnerAccess(bool allow_non_owner_access);
  // Grows a pool to `number` threads; never shrinks it.
  virtual void IncBackgroundThreadsIfNeeded(int number, Priority pri) = 0;
  // Lower the priority of a pool's threads for the disk (to idle) or the processor (kLow: nice 19,
  // kIdle: SCHED_IDLE), each from its next job on. They never rise again: a higher priority applies
  // only to threads that start later, unless a lowered thread starts them. If the system refuses,
  // nothing changes. An Env without its own threads does nothing, and the form with a Status
  // returns NotSupported.
  virtual void LowerThreadPoolIOPriority(Priority pool = LOW);
  virtual Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri);
  virtual void LowerThreadPoolCPUPriority(Priority pool = LOW);

  // Returns a random UUID as 36 lower-case characters.
  virtual std::string GenerateUniqueId();

  // Return `env_options` adjusted to a kind of file. The defaults turn direct reads off for logs
  // and MANIFESTs, give written logs the write-back interval of DBOptions::wal_bytes_per_sync and
  // the buffer limit of the database, and change nothing else. The library opens files through the
  // functions of the same names in FileSystem.
  virtual EnvOptions OptimizeForLogRead(const EnvOptions& env_options) const;
  virtual EnvOptions OptimizeForManifestRead(const EnvOptions& env_options) const;
  virtual EnvOptions OptimizeForLogWrite(const EnvOptions& env_options,
                                         const DBOptions& db_options) const;
  virtual EnvOptions OptimizeForManifestWrite(const EnvOptions& env_options) const;
  virtual EnvOptions OptimizeForCompactionTableWrite(const EnvOptions& env_options,
                                                     const ImmutableDBOptions& db_options) const;
  virtual EnvOptions OptimizeForCompactionTableRead(const EnvOptions& env_options,
                                                    const ImmutableDBOptions& db_options) const;
  virtual EnvOptions OptimizeForBlobFileRead(const EnvOptions& env_options,
                                             const ImmutableDBOptions& db_options) const;

  // Lists the threads of the pools and their state (thread_status.h). An Env without threads of its
  // own returns NotSupported.
  virtual Status GetThreadList(std::vector<ThreadStatus>* thread_list);
  // Returns a number that identifies the calling thread within the process. The default is the
  // number that the system gives it (gettid).
  virtual uint64_t GetThreadID() const;
  // Sets *diskfree to the bytes free for unprivileged users on the file system that holds `path`.
  virtual Status GetFreeSpace(const std::string& path, uint64_t* diskfree);
  // Sets *is_dir to true if `path`, which must exist, is a directory, else to false.
  virtual Status IsDirectory(const std::string& path, bool* is_dir);
  // Resets options that this Env does not support. The default resets none.
  virtual void SanitizeEnvOptions(EnvOptions* env_opts) const;

  // Return the file system and the clock that databases use; never null. The references are valid
  // as long as the Env.
  const std::shared_ptr<FileSystem>& GetFileSystem() const { return file_system_; }
  const std::shared_ptr<SystemClock>& GetSystemClock() const { return system_clock_; }

 protected:
  // These are constant after construction.
  std::shared_ptr<FileSystem> file_system_;
  std::shared_ptr<SystemClock> system_clock_;
};

// A file that one thread at a time reads from start to end.
class VARVE_EXPORT SequentialFile {
 public:
  SequentialFile() = default;
  SequentialFile(const SequentialFile&) = delete;
  SequentialFile& operator=(const SequentialFile&) = delete;
  virtual ~SequentialFile() = default;

  // Reads up to n bytes. *result may point into scratch[0, n). Fewer than n bytes mean the end of
  // the file.
  virtual Status Read(size_t n, Slice* result, char* scratch) = 0;
  // Skips n bytes. Stops at the end of the file and returns OK.
  virtual Status Skip(uint64_t n) = 0;
  // True if reads bypass the system's cache. Then PositionedRead is used, and offset, length and
  // scratch are multiples of the alignment that the next function returns, in bytes.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Drops the range, in bytes, from the system's page cache; length 0 means up to the end.
  // NotSupported unless overridden.
  virtual Status InvalidateCache(size_t offset, size_t length);
  // Reads up to n bytes at `offset`. Used in place of Read with direct I/O: offset, n and scratch
  // must be aligned.
  virtual Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch);
};

// One read of RandomAccessFile::MultiRead. The caller owns it and its memory.
struct ReadRequest {
  // Position of the first byte in the file, and number of bytes to read.
  uint64_t offset;
  size_t len;
  // Memory for at least len bytes.
  char* scratch;
  // Set by the read: the bytes, which may lie in scratch. Fewer than len only at the end of the
  // file.
  Slice result;
  // Set by the read: its result.
  Status status;
};

// A file that many threads may read at any offset.
class VARVE_EXPORT RandomAccessFile {
 public:
  RandomAccessFile() = default;
  RandomAccessFile(const RandomAccessFile&) = delete;
  RandomAccessFile& operator=(const RandomAccessFile&) = delete;
  virtual ~RandomAccessFile() = default;

  // Reads up to n bytes at `offset`. *result may point into scratch[0, n), or into memory that
  // lives as long as the file. Fewer than n bytes mean the end of the file.
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  // Hints that the range will be read soon.
  virtual Status Prefetch(uint64_t offset, size_t n);
  // Executes every request, each with its own status. The returned status is for the call itself.
  // The default calls Read for each.
  virtual Status MultiRead(ReadRequest* reqs, size_t num_reqs);
  // Writes an identifier of at most max_size bytes that is stable while the file exists and is no
  // prefix of another's. Returns its length, or 0 if there is none.
  virtual size_t GetUniqueId(char* id, size_t max_size) const;

  // Says how the file will be read from now on. The default ignores it.
  enum AccessPattern { NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED };
  virtual void Hint(AccessPattern pattern);
  // True if offset, n and scratch of reads must be multiples of the alignment that the next
  // function returns, in bytes.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Drops the range from the system's cache; length 0 means up to the end.
  virtual Status InvalidateCache(size_t offset, size_t length);
  // Returns the file's size in bytes.
  virtual Status GetFileSize(uint64_t* result);
};

// A file to which one thread at a time appends. Either Append or PositionedAppend is used for the
// whole life of the object.
class VARVE_EXPORT WritableFile {
 public:
  WritableFile() : strict_bytes_per_sync_(false) {}
  explicit WritableFile(const EnvOptions& options)
      : strict_bytes_per_sync_(options.strict_bytes_per_sync) {}
  WritableFile(const WritableFile&) = delete;
  WritableFile& operator=(const WritableFile&) = delete;
  virtual ~WritableFile() = default;

  // Writes all of `data` after what was written before. After an error the end of the file is
  // unknown, and the library writes no more to it.
  virtual Status Append(const Slice& data) = 0;
  // Does the same, and may compare the data with its checksum. The default does not.
  virtual Status Append(const Slice& data, const DataVerificationInfo& verification_info);
  // Write `data` at `offset`. Used in place of Append with direct I/O: the size of the data and the
  // offset are aligned. A last page that was partly filled is written again when more data follows.
  virtual Status PositionedAppend(const Slice& data, uint64_t offset);
  virtual Status PositionedAppend(const Slice& data, uint64_t offset,
                                  const DataVerificationInfo& verification_info);
  // Sets the file's size in bytes; called before Close to remove the padding of direct I/O.
  virtual Status Truncate(uint64_t size);
  // Closes the file, without a promise of durability. The library calls it once, last.
  virtual Status Close() = 0;
  // Passes buffered bytes to the operating system: from then on they may be lost by a power loss,
  // but not by the end of the process.
  virtual Status Flush() = 0;
  // Makes the written bytes durable.
  virtual Status Sync() = 0;
  // Makes the written bytes and all metadata durable.
  virtual Status Fsync() { return Sync(); }
  // True if Sync may run while another thread appends.
  virtual bool IsSyncThreadSafe() const { return false; }
  // True if PositionedAppend is used, with data and offsets that are multiples of the alignment
  // that the next function returns, in bytes.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Set and return the priority with which writes are charged to a rate limiter, and how long the
  // file will probably exist. The built-in files keep the priority; the library charges writes
  // itself.
  virtual void SetIOPriority(Env::IOPriority pri) { io_priority_ = pri; }
  virtual Env::IOPriority GetIOPriority() { return io_priority_; }
  virtual void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) { write_hint_ = hint; }
  virtual Env::WriteLifeTimeHint GetWriteLifeTimeHint() { return write_hint_; }
  // Returns the number of bytes written so far.
  virtual uint64_t GetFileSize() { return 0; }
  // Sets the bytes by which PrepareWrite extends the reserved space; 0 reserves nothing.
  virtual void SetPreallocationBlockSize(size_t size) { preallocation_block_size_ = size; }
  // Returns how much space was reserved: the block size in bytes, and the number of blocks.
  virtual void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) {
    *block_size = preallocation_block_size_;
    *last_allocated_block = last_preallocated_block_;
  }
  // Writes an identifier of at most max_size bytes that no other file has, and returns its length;
  // 0: there is none.
  virtual size_t GetUniqueId(char* id, size_t max_size) const;
  // Drops the range from the system's cache; length 0 means up to the end.
  virtual Status InvalidateCache(size_t offset, size_t length);
  // Starts write-back of the range, without a promise of durability.
  virtual Status RangeSync(uint64_t offset, uint64_t nbytes);
  // Reserves space for a write of len bytes at offset. Failures are not reported, as the write
  // itself will fail.
  virtual void PrepareWrite(size_t offset, size_t len);
  // Reserves space for `len` bytes from `offset` on. The default does nothing.
  virtual Status Allocate(uint64_t offset, uint64_t len);

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

// A file that one thread at a time reads and writes at any offset. A write beyond the end makes the
// file longer. Read, Flush, Sync, Fsync and Close have the meaning that they have for files above.
class VARVE_EXPORT RandomRWFile {
 public:
  RandomRWFile() = default;
  RandomRWFile(const RandomRWFile&) = delete;
  RandomRWFile& operator=(const RandomRWFile&) = delete;
  virtual ~RandomRWFile() = default;

  // True if offsets, lengths and memory must be multiples of the alignment that the next function
  // returns, in bytes.
  virtual bool use_direct_io() const { return false; }
  virtual size_t GetRequiredBufferAlignment() const { return kDefaultPageSize; }
  // Writes all of `data` at the offset.
  virtual Status Write(uint64_t offset, const Slice& data) = 0;
  virtual Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const = 0;
  virtual Status Flush() = 0;
  virtual Status Sync() = 0;
  virtual Status Fsync() { return Sync(); }
  virtual Status Close() = 0;
};

// A whole file mapped for reading and writing. The implementation's destructor unmaps it.
class VARVE_EXPORT MemoryMappedFileBuffer {
 public:
  MemoryMappedFileBuffer(void* base, size_t length) : base_(base), length_(length) {}
  MemoryMappedFileBuffer(const MemoryMappedFileBuffer&) = delete;
  MemoryMappedFileBuffer& operator=(const MemoryMappedFileBuffer&) = delete;
  virtual ~MemoryMappedFileBuffer() = 0;

  // Return the first byte of the mapping, and its length in bytes.
  void* GetBase() const { return base_; }
  size_t GetLen() const { return length_; }

 protected:
  void* base_;
  const size_t length_;
};

// An open directory, see Env::NewDirectory.
class VARVE_EXPORT Directory {
 public:
  Directory() = default;
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  virtual ~Directory() = default;

  // Makes the directory's entries durable. Thread-safe. A new or renamed file may be lost by a
  // power loss until this was called, even if its bytes were synced.
  virtual Status Fsync() = 0;
  // Closes the directory. The destructor does so, too. NotSupported unless overridden.
  virtual Status Close();
  // Writes an identifier as WritableFile::GetUniqueId does; 0: there is none.
  virtual size_t GetUniqueId(char* id, size_t max_size) const;
};

// Importance of an entry of the information log. A logger drops entries below its own level;
// HEADER_LEVEL is for what stands at the start of each file.
enum InfoLogLevel : unsigned char {
  DEBUG_LEVEL = 0,
  INFO_LEVEL,
  WARN_LEVEL,
  ERROR_LEVEL,
  FATAL_LEVEL,
  HEADER_LEVEL,
  NUM_INFO_LOG_LEVELS,
};

// Destination of the human-readable log. Thread-safe. Override one of the Logv functions.
class VARVE_EXPORT Logger {
 public:
  // Result of GetLogFileSize() of a logger without a file.
  static constexpr size_t kDoNotSupportGetLogFileSize = (std::numeric_limits<size_t>::max)();

  explicit Logger(const InfoLogLevel log_level = InfoLogLevel::INFO_LEVEL)
      : closed_(false), log_level_(log_level) {}
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  virtual ~Logger();

  // Flushes the log and releases its resources. A second call does nothing.
  virtual Status Close();
  // Writes an entry that should be at the start of each log file.
  virtual void LogHeader(const char* format, va_list ap) {
    Logv(InfoLogLevel::INFO_LEVEL, format, ap);
  }
  // Writes an entry. Does nothing unless overridden.
  virtual void Logv(const char* format, va_list ap);
  // Drops entries below GetInfoLogLevel(); marks other entries with their level and passes them to
  // Logv(format, ap).
  virtual void Logv(const InfoLogLevel log_level, const char* format, va_list ap);
  // Returns the bytes of the current log file, or kDoNotSupportGetLogFileSize.
  virtual size_t GetLogFileSize() const { return kDoNotSupportGetLogFileSize; }
  // Passes buffered entries to the operating system. Does nothing unless overridden.
  virtual void Flush() {}
  // Return and set the level below which entries are dropped.
  virtual InfoLogLevel GetInfoLogLevel() const { return log_level_; }
  virtual void SetInfoLogLevel(const InfoLogLevel log_level) { log_level_ = log_level; }

 protected:
  // Does the work of the first Close(). The default does nothing.
  virtual Status CloseImpl();
  // True after Close().
  bool closed_;

 private:
  InfoLogLevel log_level_;
};

// A held lock, released by Env::UnlockFile or FileSystem::UnlockFile.
class VARVE_EXPORT FileLock {
 public:
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  virtual ~FileLock();
};

// Write entries to the information log; a null logger drops them. The function's name is the level;
// Log without a level uses INFO_LEVEL.
VARVE_EXPORT void LogFlush(const std::shared_ptr<Logger>& info_log);
VARVE_EXPORT void LogFlush(Logger* info_log);
VARVE_EXPORT void Log(const InfoLogLevel log_level, const std::shared_ptr<Logger>& info_log,
                      const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(3, 4);
VARVE_EXPORT void Log(const InfoLogLevel log_level, Logger* info_log, const char* format, ...)
    VARVE_PRINTF_FORMAT_ATTR(3, 4);
VARVE_EXPORT void Log(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Log(Logger* info_log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Header(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Header(Logger* info_log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Debug(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Debug(Logger* info_log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Info(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Info(Logger* info_log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Warn(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Warn(Logger* info_log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Error(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Error(Logger* info_log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Fatal(const std::shared_ptr<Logger>& info_log, const char* format, ...)
    VARVE_PRINTF_FORMAT_ATTR(2, 3);
VARVE_EXPORT void Fatal(Logger* info_log, const char* format, ...) VARVE_PRINTF_FORMAT_ATTR(2, 3);

// Makes `data` the whole content of the file `fname`. With should_sync the content is durable when
// OK is returned, but the file's name is not before its directory is synced. The file is removed
// after a failure.
VARVE_EXPORT Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname,
                                      bool should_sync = false);
// Replaces *data with the content of `fname`. After an error *data is empty.
VARVE_EXPORT Status ReadFileToString(Env* env, const std::string& fname, std::string* data);

// Returns an Env with files in memory and everything else from base_env, which must outlive it. The
// caller owns it.
VARVE_EXPORT Env* NewMemEnv(Env* base_env);

// Returns an Env with files from `fs` and everything else from Env::Default().
VARVE_EXPORT std::unique_ptr<Env> NewCompositeEnv(const std::shared_ptr<FileSystem>& fs);

}  // namespace varve

#include "varve/env_wrappers.h"
