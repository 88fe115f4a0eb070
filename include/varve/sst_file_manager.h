// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tables of one or several databases may take, and how fast they are deleted.

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

// Made by NewSstFileManager alone: databases refuse others. Give it to each database's
// DBOptions::sst_file_manager. Knows the tables of a database from its opening to its closing.
//
// Thread safety: all methods from any thread; they wait for no file.
class VARVE_EXPORT SstFileManager {
 public:
  virtual ~SstFileManager() = default;

  // Bytes that all tables together may take; 0, the default: any number. A flush or compaction
  // that reaches it leaves its database with an error of subcode kSpaceLimit, and writes fail until
  // there is room, or the limit was raised, and DB::Resume was called or the database has tried
  // again. DeleteFilesInRanges and DropColumnFamily work meanwhile, and make room; CompactRange and
  // CompactFiles do not. A compaction that might pass it while it runs is not run.
  virtual void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) = 0;
  // Bytes that each compaction has to leave free beside what it may write. Default 0.
  virtual void SetCompactionBufferSize(uint64_t compaction_buffer_size) = 0;
  virtual bool IsMaxAllowedSpaceReached() = 0;
  // The same if what compactions under way may write were there already.
  virtual bool IsMaxAllowedSpaceReachedIncludingCompactions() = 0;

  // Bytes of the tables that it knows. What waits for its deletion is not among them.
  virtual uint64_t GetTotalSize() = 0;
  // Their paths, and bytes.
  virtual std::unordered_map<std::string, uint64_t> GetTrackedFiles() = 0;

  // Bytes a second at which obsolete tables are deleted: they get names that end with ".trash", and
  // a thread deletes them bit by bit, so that a disk is not kept busy by one large deletion.
  // DestroyDB waits for that. 0 or less: at once.
  virtual int64_t GetDeleteRateBytesPerSecond() = 0;
  virtual void SetDeleteRateBytesPerSecond(int64_t delete_rate) = 0;
  // While what waits is more than this share of the tables, an open database deletes at once.
  virtual double GetMaxTrashDBRatio() = 0;
  virtual void SetMaxTrashDBRatio(double ratio) = 0;
  // Bytes that wait.
  virtual uint64_t GetTotalTrashSize() = 0;

  // Counts FILES_MARKED_TRASH, FILES_DELETED_FROM_TRASH_QUEUE and FILES_DELETED_IMMEDIATELY.
  // nullptr: nobody does.
  virtual void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) = 0;
};

// The caller owns it, and shares it with databases. What waits when the last of them lets go stays
// behind, and is deleted when its database is opened again.
//
// `env` and `fs`: where the files are; `fs` may be nullptr, then it is the Env's. `info_log` may be
// nullptr. `trash_dir` is ignored. `delete_existing_trash`: what an earlier process has left is
// deleted at that rate; false: at once. `status`, if it is not nullptr, is set to OK, or to
// InvalidArgument with nullptr returned: there is no Env, or the ratio is negative.
// `bytes_max_delete_chunk`: of larger files that have one name as many bytes at a time are cut off;
// 0: each goes as a whole.
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
