// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what a database is: its names, its options as opened, and its interfaces to the outside.
// Shared by all parts, and constant once the database is open.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "varve/cache.h"
#include "varve/db.h"
#include "varve/file_system.h"
#include "varve/options.h"
#include "varve/system_clock.h"
#include "varve/write_buffer_manager.h"

namespace varve {

class TablePaths;
class TableSpace;
struct TableFacts;

// Thread safety: the setters, and the functions that lock or open directories, are for the opening,
// the closing, and a promotion (a secondary becomes the writer), one thread at a time. Any thread
// may call the rest. Nothing is guarded by the DB mutex.
class DbContext {
 public:
  struct Identity {
    std::string name;        // directory; absolute if the file system has absolute paths
    std::string given_name;  // name as the user wrote it
    std::string session_id;  // 20 characters
    std::string host_name;
    bool read_only = false;
    bool follows = false;  // read-only, and another process writes the database
  };

  // `options` must be sanitised, with paths in the form of the name. Options that users may change
  // later are in DynamicOptions.
  DbContext(Identity identity, const DBOptions& options);
  DbContext(const DbContext&) = delete;
  DbContext& operator=(const DbContext&) = delete;

  // Return parts of the identity; all stay the same while the database is open.
  const std::string& name() const { return identity_.name; }
  const std::string& given_name() const { return identity_.given_name; }
  const std::string& session_id() const { return identity_.session_id; }
  const std::string& host_name() const { return identity_.host_name; }
  // True if this process must not write: the database was opened read-only, or follows another
  // process.
  bool read_only() const { return read_only_.load(std::memory_order_acquire); }
  // True if another process writes the database.
  bool follows() const { return follows_.load(std::memory_order_acquire); }
  // Makes this process the writer, as the last step of a promotion.
  void BecomeWriter() {
    follows_.store(false, std::memory_order_release);
    read_only_.store(false, std::memory_order_release);
  }
  // Returns the directory of the logs: the option wal_dir, or that of the database.
  const std::string& WalDirectory() const {
    return options_.wal_dir.empty() ? identity_.name : options_.wal_dir;
  }

  // Returns the options as opened. Values that SetDBOptions can change are in DynamicOptions.
  const DBOptions& options() const { return options_; }
  // Returns the options with which tables are opened; LogFileOptions those of logs.
  const FileOptions& file_options() const { return file_options_; }
  FileOptions LogFileOptions() const;

  // Return the interfaces to the outside; none is null except statistics().
  Env* env() const { return options_.env; }
  const std::shared_ptr<FileSystem>& fs() const { return fs_; }
  SystemClock* clock() const { return clock_; }
  Statistics* statistics() const { return statistics_; }
  WriteBufferManager* write_buffer_manager() const { return options_.write_buffer_manager.get(); }
  // Returns a time for durations, as the wall clock may jump.
  uint64_t MonotonicMicros() const { return clock_->NowNanos() / 1000; }
  // Returns the time of the opening, by MonotonicMicros.
  uint64_t open_micros() const { return open_micros_; }

  // Returns the LOG, which may be null.
  Logger* info_log() const { return info_log_.get(); }
  const std::shared_ptr<Logger>& shared_info_log() const { return info_log_; }
  void set_info_log(std::shared_ptr<Logger> log) { info_log_ = std::move(log); }
  // Returns the SstFileManager of the options, which counts and limits the space of tables; null:
  // there is none.
  TableSpace* table_space() const { return table_space_; }
  // Serve the space limit, if there is one, and do not throw. NoteTable reports a table that is in
  // force; CheckSpace returns SpaceLimit if there is no room for more.
  void NoteTable(const TablePaths& paths, const TableFacts& table) const noexcept;
  Status CheckSpace() const noexcept;
  // Stops using the rate limiter, because a caller waits for the database to close. Any thread.
  void LiftRateLimit() { limit_lifted_.store(true, std::memory_order_relaxed); }
  // Returns the flag that files check before they ask the rate limiter.
  const std::atomic<bool>& limit_lifted() const { return limit_lifted_; }
  // Returns the DB that listeners get; null before background work starts.
  DB* db() const { return db_; }
  void set_db(DB* db) { db_ = db; }
  // Returns the cache of open tables; null: their number is not limited.
  const std::shared_ptr<Cache>& limited_tables() const { return limited_tables_; }
  void set_limited_tables(std::shared_ptr<Cache> tables) { limited_tables_ = std::move(tables); }

  // Returns the file system through which tables in force are opened.
  const std::shared_ptr<FileSystem>& table_fs() const { return table_fs_; }
  void set_table_fs(std::shared_ptr<FileSystem> fs) { table_fs_ = std::move(fs); }

  // Locks the database's directory, and the directory of its logs if that is another one and
  // exists: a copy of the database that is opened with the same options would write into it, too.
  // Must be called by a process that opens the database for writing. After an error neither lock is
  // taken.
  IOStatus Lock();
  // Releases both locks, if they are taken. May be called repeatedly.
  IOStatus Unlock();

  // Return the directories for syncs; null until the functions below have opened them, which a
  // read-only opening does not call.
  FSDirectory* directory() const { return directory_.get(); }
  FSDirectory* wal_directory() const { return wal_directory_.get(); }
  // Open the directories, so that they can be synced after files were created in them.
  // OpenLogDirectory also takes the lock of the logs' directory if that was missing when Lock was
  // called, and fails if another process holds it.
  IOStatus OpenDirectory();
  IOStatus OpenLogDirectory();

 private:
  // Locks the directory of the logs, if it is not the database's own.
  IOStatus LockLogs();

  const Identity identity_;
  const DBOptions options_;
  const FileOptions file_options_;
  const std::shared_ptr<FileSystem> fs_;
  // File system for tables in force; that of a follower finds them by links.
  std::shared_ptr<FileSystem> table_fs_;
  SystemClock* const clock_;
  Statistics* const statistics_;
  TableSpace* const table_space_;
  const uint64_t open_micros_;
  std::shared_ptr<Logger> info_log_;
  DB* db_ = nullptr;
  std::shared_ptr<Cache> limited_tables_;
  std::atomic<bool> limit_lifted_{false};
  // BecomeWriter stores these with release, after all state of a writer: so a thread that sees them
  // false sees that state, too.
  std::atomic<bool> read_only_;
  std::atomic<bool> follows_;
  // Each is true while this database has that lock, even if the file system has no locks and the
  // pointer below is null.
  bool locked_ = false;
  bool logs_locked_ = false;
  FileLock* lock_ = nullptr;      // null if the file system has no locks
  FileLock* log_lock_ = nullptr;  // likewise, of a directory of logs beside the database's
  std::unique_ptr<FSDirectory> directory_;
  std::unique_ptr<FSDirectory> wal_directory_;
};

}  // namespace varve
