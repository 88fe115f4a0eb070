// SPDX-License-Identifier: Apache-2.0
#pragma once

// Limits the space of the tables of one or several databases, and the rate of their deletion.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

class Env;
class FileSystem;
class Logger;
class Statistics;

// Made by NewSstFileManager; databases refuse other implementations. Set it in
// DBOptions::sst_file_manager of each database. It tracks the tables of a database while that is
// open.
//
// Thread safety: all methods may be called from any thread; none waits for file I/O.
class VARVE_EXPORT SstFileManager {
 public:
  virtual ~SstFileManager() = default;

  // Limits the bytes of all tables; 0, the default, means no limit. A flush or compaction that
  // reaches the limit puts its database into an error state with subcode kSpaceLimit, and writes
  // fail until there is space, or a higher limit, and DB::Resume or an automatic attempt succeeds.
  // Meanwhile DeleteFilesInRanges and DropColumnFamily work and free space; CompactRange and
  // CompactFiles fail. A compaction that might exceed the limit while it runs is not started.
  virtual void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) = 0;
  // Sets the bytes that each compaction must leave free beyond its output. Default: 0.
  virtual void SetCompactionBufferSize(uint64_t compaction_buffer_size) = 0;
  // Returns true if there is a limit and the tables have reached it.
  virtual bool IsMaxAllowedSpaceReached() = 0;
  // Like IsMaxAllowedSpaceReached, but counts also the bytes that running compactions may write.
  virtual bool IsMaxAllowedSpaceReachedIncludingCompactions() = 0;

  // Returns the bytes of all tracked tables, without those waiting for deletion.
  virtual uint64_t GetTotalSize() = 0;
  // Returns the paths of tracked tables and their bytes.
  virtual std::unordered_map<std::string, uint64_t> GetTrackedFiles() = 0;

  // Rate in bytes per second of deleting obsolete tables: they are renamed to end with ".trash",
  // and a thread deletes them piece by piece, so that one large deletion does not keep a disk busy.
  // DestroyDB waits for that. With 0 or less, they are deleted at once.
  virtual int64_t GetDeleteRateBytesPerSecond() = 0;
  virtual void SetDeleteRateBytesPerSecond(int64_t delete_rate) = 0;
  // While the bytes of files waiting for deletion exceed this share of those of the tables, an open
  // database deletes files at once.
  virtual double GetMaxTrashDBRatio() = 0;
  virtual void SetMaxTrashDBRatio(double ratio) = 0;
  // Returns the bytes of files waiting for deletion.
  virtual uint64_t GetTotalTrashSize() = 0;

  // Sets the statistics that count FILES_MARKED_TRASH, FILES_DELETED_FROM_TRASH_QUEUE and
  // FILES_DELETED_IMMEDIATELY. nullptr: none.
  virtual void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) = 0;
};

// Returns a new manager, which the caller owns and shares with databases. Files that still wait for
// deletion when the last owner releases it are deleted when their database is opened again.
//
// `env` and `fs`: location of the files; a null `fs` means the Env's. `info_log` may be nullptr.
// `trash_dir` is ignored. `delete_existing_trash`: files left by an earlier process are deleted at
// the rate; false: at once. `status`, unless nullptr, is set to OK, or to InvalidArgument with
// nullptr returned if `env` is null or the ratio is negative. `bytes_max_delete_chunk`: bytes by
// which larger files with a single name are truncated at a time; 0: each is deleted as a whole, as
// are files that another process, such as a secondary, may have open.
VARVE_EXPORT SstFileManager* NewSstFileManager(
    Env* env, std::shared_ptr<FileSystem> fs, std::shared_ptr<Logger> info_log = nullptr,
    const std::string& trash_dir = "", int64_t rate_bytes_per_sec = 0,
    bool delete_existing_trash = true, Status* status = nullptr, double max_trash_db_ratio = 0.25,
    uint64_t bytes_max_delete_chunk = 64 * 1024 * 1024);
VARVE_EXPORT SstFileManager* NewSstFileManager(
    Env* env, std::shared_ptr<Logger> info_log = nullptr, std::string trash_dir = "",
    int64_t rate_bytes_per_sec = 0, bool delete_existing_trash = true, Status* status = nullptr,
    double max_trash_db_ratio = 0.25, uint64_t bytes_max_delete_chunk = 64 * 1024 * 1024);

}  // namespace varve
