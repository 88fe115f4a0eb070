// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the calls of Env, of FileSystem and of their files, once for all classes that forward them:
// the wrappers (env_wrappers.h, file_system_wrappers.h), and the library's adapters from one to the
// other. Programs derive from the wrappers and need none of these names.
//
// Both sides have the same calls with a systematic difference. A call of FileSystem returns
// IOStatus, and has two parameters more: IOOptions in the middle and an IODebugContext* at the end.
//
//   Env         Status GetFileSize(const std::string&, uint64_t*)
//   FileSystem  IOStatus GetFileSize(const std::string&, const IOOptions&, uint64_t*,
//                                    IODebugContext*)
//   row         IO(GetFileSize, (const std::string&), (uint64_t*), )
//
// So a row names the call, the types before the IOOptions, the types after them, and `const` if the
// call is. Where both sides have no IOOptions either, the row is BARE(call, (types), qualifier);
// where they even return the same type, it is VARVE_FORWARD(type, call, (types), qualifier). A list
// takes as its arguments the macros that stand for IO and BARE.

// These make the parameters of the types in a list, and the arguments that pass them on. Those
// before the IOOptions are called a1, a2, ...; those after them b1, b2, ..., with a comma before
// each.
#define VARVE_FIRST_PARAMS(...) __VA_OPT__(VARVE_PARAMS_1(a, __VA_ARGS__, ))
#define VARVE_FIRST_ARGS(...) __VA_OPT__(VARVE_ARGS_1(a, __VA_ARGS__, ))
#define VARVE_LAST_PARAMS(...) __VA_OPT__(, VARVE_PARAMS_1(b, __VA_ARGS__, ))
#define VARVE_LAST_ARGS(...) __VA_OPT__(, VARVE_ARGS_1(b, __VA_ARGS__, ))
#define VARVE_COMMA_AFTER(...) __VA_OPT__(, )

#define VARVE_PARAMS_1(n, T, ...) T n##1 __VA_OPT__(, VARVE_PARAMS_2(n, __VA_ARGS__))
#define VARVE_PARAMS_2(n, T, ...) T n##2 __VA_OPT__(, VARVE_PARAMS_3(n, __VA_ARGS__))
#define VARVE_PARAMS_3(n, T, ...) T n##3 __VA_OPT__(, VARVE_PARAMS_4(n, __VA_ARGS__))
#define VARVE_PARAMS_4(n, T, ...) T n##4
#define VARVE_ARGS_1(n, T, ...) n##1 __VA_OPT__(, VARVE_ARGS_2(n, __VA_ARGS__))
#define VARVE_ARGS_2(n, T, ...) n##2 __VA_OPT__(, VARVE_ARGS_3(n, __VA_ARGS__))
#define VARVE_ARGS_3(n, T, ...) n##3 __VA_OPT__(, VARVE_ARGS_4(n, __VA_ARGS__))
#define VARVE_ARGS_4(n, T, ...) n##4

// These are all parameters of a FileSystem's call, and the arguments that pass them on.
#define VARVE_FS_PARAMS(first, last)                                                          \
  VARVE_FIRST_PARAMS first VARVE_COMMA_AFTER first const IOOptions &options VARVE_LAST_PARAMS \
      last,                                                                                   \
      IODebugContext *dbg
#define VARVE_FS_ARGS(first, last) \
  VARVE_FIRST_ARGS first VARVE_COMMA_AFTER first options VARVE_LAST_ARGS last, dbg

// These override a call, and forward it to the call of the same name and parameters of `target_`.
#define VARVE_FORWARD(Result, Call, types, qualifier)        \
  Result Call(VARVE_FIRST_PARAMS types) qualifier override { \
    return target_->Call(VARVE_FIRST_ARGS types);            \
  }
#define VARVE_FORWARD_ENV(Call, first, last, qualifier)                             \
  Status Call(VARVE_FIRST_PARAMS first VARVE_LAST_PARAMS last) qualifier override { \
    return target_->Call(VARVE_FIRST_ARGS first VARVE_LAST_ARGS last);              \
  }
#define VARVE_FORWARD_ENV_BARE(Call, types, qualifier) VARVE_FORWARD(Status, Call, types, qualifier)
#define VARVE_FORWARD_FS(Call, first, last, qualifier)             \
  IOStatus Call(VARVE_FS_PARAMS(first, last)) qualifier override { \
    return target_->Call(VARVE_FS_ARGS(first, last));              \
  }
#define VARVE_FORWARD_FS_BARE(Call, types, qualifier) \
  VARVE_FORWARD(IOStatus, Call, types, qualifier)

// Lists the calls on names of files and directories, and on locks.
#define VARVE_PATH_CALLS(IO, BARE)                                                      \
  IO(FileExists, (const std::string&), (), )                                            \
  IO(IsDirectory, (const std::string&), (bool*), )                                      \
  IO(GetAbsolutePath, (const std::string&), (std::string*), )                           \
  IO(RenameFile, (const std::string&, const std::string&), (), )                        \
  IO(LinkFile, (const std::string&, const std::string&), (), )                          \
  IO(NumFileLinks, (const std::string&), (uint64_t*), )                                 \
  IO(AreFilesSame, (const std::string&, const std::string&), (bool*), )                 \
  IO(DeleteFile, (const std::string&), (), )                                            \
  IO(GetFileSize, (const std::string&), (uint64_t*), )                                  \
  IO(GetFileModificationTime, (const std::string&), (uint64_t*), )                      \
  IO(Truncate, (const std::string&, size_t), (), )                                      \
  IO(CreateDir, (const std::string&), (), )                                             \
  IO(CreateDirIfMissing, (const std::string&), (), )                                    \
  IO(DeleteDir, (const std::string&), (), )                                             \
  IO(GetChildren, (const std::string&), (std::vector<std::string>*), )                  \
  IO(GetChildrenFileAttributes, (const std::string&), (std::vector<FileAttributes>*), ) \
  IO(GetFreeSpace, (const std::string&), (uint64_t*), )                                 \
  IO(NewLogger, (const std::string&), (std::shared_ptr<Logger>*), )                     \
  IO(LockFile, (const std::string&), (FileLock**), )                                    \
  IO(UnlockFile, (FileLock*), (), )                                                     \
  BARE(NewMemoryMappedFileBuffer,                                                       \
       (const std::string&, std::unique_ptr<MemoryMappedFileBuffer>*), )                \
  VARVE_FORWARD(Status, RegisterDbPaths, (const std::vector<std::string>&), )           \
  VARVE_FORWARD(Status, UnregisterDbPaths, (const std::vector<std::string>&), )

// Lists the calls that open files, by OPEN(call, kind of file, (types of the paths)). Those of Env
// have the result before the options.
#define VARVE_OPEN_CALLS(OPEN)                                      \
  OPEN(NewSequentialFile, SequentialFile, (const std::string&))     \
  OPEN(NewRandomAccessFile, RandomAccessFile, (const std::string&)) \
  OPEN(NewRandomRWFile, RandomRWFile, (const std::string&))         \
  OPEN(NewWritableFile, WritableFile, (const std::string&))         \
  OPEN(ReopenWritableFile, WritableFile, (const std::string&))      \
  OPEN(ReuseWritableFile, WritableFile, (const std::string&, const std::string&))

// Lists the calls that adjust the options of a kind of file, by OPTIMIZE(call, (more types)).
#define VARVE_OPTIMIZE_CALLS(OPTIMIZE)                                   \
  OPTIMIZE(OptimizeForLogRead, ())                                       \
  OPTIMIZE(OptimizeForLogWrite, (const DBOptions&))                      \
  OPTIMIZE(OptimizeForManifestRead, ())                                  \
  OPTIMIZE(OptimizeForManifestWrite, ())                                 \
  OPTIMIZE(OptimizeForCompactionTableRead, (const ImmutableDBOptions&))  \
  OPTIMIZE(OptimizeForCompactionTableWrite, (const ImmutableDBOptions&)) \
  OPTIMIZE(OptimizeForBlobFileRead, (const ImmutableDBOptions&))

// Lists the calls that tell and let pass time.
#define VARVE_TIME_CALLS                                 \
  VARVE_FORWARD(uint64_t, NowMicros, (), )               \
  VARVE_FORWARD(uint64_t, NowNanos, (), )                \
  VARVE_FORWARD(Status, GetCurrentTime, (int64_t*), )    \
  VARVE_FORWARD(std::string, TimeToString, (uint64_t), ) \
  VARVE_FORWARD(void, SleepForMicroseconds, (int), )

// Lists the calls about the threads and the host that an Env has, but for the two (Schedule and
// GetThreadPoolQueueLen) with default arguments.
#define VARVE_THREAD_CALLS                                                     \
  VARVE_FORWARD(int, UnSchedule, (void*, Priority), )                          \
  VARVE_FORWARD(void, StartThread, (std::add_pointer_t<void(void*)>, void*), ) \
  VARVE_FORWARD(void, WaitForJoin, (), )                                       \
  VARVE_FORWARD(void, SetBackgroundThreads, (int, Priority), )                 \
  VARVE_FORWARD(int, GetBackgroundThreads, (Priority), )                       \
  VARVE_FORWARD(void, IncBackgroundThreadsIfNeeded, (int, Priority), )         \
  VARVE_FORWARD(int, ReserveThreads, (int, Priority), )                        \
  VARVE_FORWARD(int, ReleaseThreads, (int, Priority), )                        \
  VARVE_FORWARD(void, LowerThreadPoolIOPriority, (Priority), )                 \
  VARVE_FORWARD(void, LowerThreadPoolCPUPriority, (Priority), )                \
  VARVE_FORWARD(Status, LowerThreadPoolCPUPriority, (Priority, CpuPriority), ) \
  VARVE_FORWARD(Status, GetThreadList, (std::vector<ThreadStatus>*), )         \
  VARVE_FORWARD(uint64_t, GetThreadID, (), const)                              \
  VARVE_FORWARD(Status, GetHostName, (char*, uint64_t), )                      \
  VARVE_FORWARD(Status, GetHostNameString, (std::string*), )

// List the calls of each kind of file. Calls whose parameters differ otherwise (MultiRead, Hint,
// PrepareWrite, GetFileSize of a file that is written) are not in the lists.
#define VARVE_DIRECT_IO_CALLS                   \
  VARVE_FORWARD(bool, use_direct_io, (), const) \
  VARVE_FORWARD(size_t, GetRequiredBufferAlignment, (), const)

#define VARVE_SEQUENTIAL_FILE_CALLS(IO, BARE) \
  IO(Read, (size_t), (Slice*, char*), )       \
  BARE(Skip, (uint64_t), )                    \
  VARVE_DIRECT_IO_CALLS                       \
  BARE(InvalidateCache, (size_t, size_t), )   \
  IO(PositionedRead, (uint64_t, size_t), (Slice*, char*), )

#define VARVE_RANDOM_ACCESS_FILE_CALLS(IO, BARE)             \
  IO(Read, (uint64_t, size_t), (Slice*, char*), const)       \
  IO(Prefetch, (uint64_t, size_t), (), )                     \
  VARVE_FORWARD(size_t, GetUniqueId, (char*, size_t), const) \
  VARVE_DIRECT_IO_CALLS                                      \
  BARE(InvalidateCache, (size_t, size_t), )                  \
  BARE(GetFileSize, (uint64_t*), )

#define VARVE_WRITABLE_FILE_CALLS(IO, BARE)                                       \
  IO(Append, (const Slice&), (), )                                                \
  IO(Append, (const Slice&), (const DataVerificationInfo&), )                     \
  IO(PositionedAppend, (const Slice&, uint64_t), (), )                            \
  IO(PositionedAppend, (const Slice&, uint64_t), (const DataVerificationInfo&), ) \
  IO(Truncate, (uint64_t), (), )                                                  \
  IO(Close, (), (), )                                                             \
  IO(Flush, (), (), )                                                             \
  IO(Sync, (), (), )                                                              \
  IO(Fsync, (), (), )                                                             \
  IO(RangeSync, (uint64_t, uint64_t), (), )                                       \
  IO(Allocate, (uint64_t, uint64_t), (), )                                        \
  VARVE_FORWARD(bool, IsSyncThreadSafe, (), const)                                \
  VARVE_DIRECT_IO_CALLS                                                           \
  VARVE_FORWARD(void, SetIOPriority, (Env::IOPriority), )                         \
  VARVE_FORWARD(Env::IOPriority, GetIOPriority, (), )                             \
  VARVE_FORWARD(void, SetWriteLifeTimeHint, (Env::WriteLifeTimeHint), )           \
  VARVE_FORWARD(Env::WriteLifeTimeHint, GetWriteLifeTimeHint, (), )               \
  VARVE_FORWARD(void, SetPreallocationBlockSize, (size_t), )                      \
  VARVE_FORWARD(void, GetPreallocationStatus, (size_t*, size_t*), )               \
  VARVE_FORWARD(size_t, GetUniqueId, (char*, size_t), const)                      \
  BARE(InvalidateCache, (size_t, size_t), )

#define VARVE_RANDOM_RW_FILE_CALLS(IO)                 \
  VARVE_DIRECT_IO_CALLS                                \
  IO(Write, (uint64_t, const Slice&), (), )            \
  IO(Read, (uint64_t, size_t), (Slice*, char*), const) \
  IO(Flush, (), (), )                                  \
  IO(Sync, (), (), )                                   \
  IO(Fsync, (), (), )                                  \
  IO(Close, (), (), )

#define VARVE_DIRECTORY_CALLS(IO) \
  IO(Fsync, (), (), )             \
  IO(Close, (), (), )             \
  VARVE_FORWARD(size_t, GetUniqueId, (char*, size_t), const)
