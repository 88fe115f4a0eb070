// SPDX-License-Identifier: Apache-2.0
#pragma once

// TableSpace implements SstFileManager: it tracks tables, limits their space, and deletes them at a
// rate.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "varve/file_system.h"
#include "varve/sst_file_manager.h"

#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"
#include "util/sync/shared_timer.h"

namespace varve {

// Arguments of NewSstFileManager, whose header has their meanings and units.
struct TableSpaceOptions {
  std::shared_ptr<FileSystem> fs;
  std::shared_ptr<Logger> info_log;  // May be null.
  int64_t delete_rate = 0;
  bool delete_existing_trash = true;
  double max_trash_ratio = 0.25;
  uint64_t chunk_bytes = 0;
};

// A table that waits for its deletion is trash: it has been renamed, with kTrashSuffix
// (file_names.h) after its name. Rate-limited deletions run in the timer's thread, a piece at a
// time, so that its other clients, which tolerate delays, wait for no longer than one piece.
//
// Thread safety: all methods may be called from any thread.
class TableSpace final : public SstFileManager, private SharedTimer::Client, private ForkWatch {
 public:
  explicit TableSpace(TableSpaceOptions options);
  ~TableSpace() override;

  // ---- SstFileManager
  void SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) override;
  void SetCompactionBufferSize(uint64_t compaction_buffer_size) override;
  bool IsMaxAllowedSpaceReached() override;
  bool IsMaxAllowedSpaceReachedIncludingCompactions() override;
  uint64_t GetTotalSize() override;
  std::unordered_map<std::string, uint64_t> GetTrackedFiles() override;
  int64_t GetDeleteRateBytesPerSecond() override;
  void SetDeleteRateBytesPerSecond(int64_t delete_rate) override;
  double GetMaxTrashDBRatio() override;
  void SetMaxTrashDBRatio(double ratio) override;
  uint64_t GetTotalTrashSize() override;
  void SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) override;

  // ---- For databases. Add records a table, or its new size; without memory for that the table is
  // not counted.
  void Add(const std::string& path, uint64_t bytes) noexcept;
  // Forgets all tables of that directory.
  void ForgetDirectory(const std::string& directory) noexcept;
  // Deletes a table, at once or at the rate, and stops tracking it. A status for which IsMissing is
  // true: there was no such file. After any other error the table is still there, and tracked.
  IOStatus Delete(const std::string& path);
  // Deletes a table, or trash of one, left by an earlier process or an earlier opening, which may
  // be waiting already. A status for which IsMissing is true: there was no such file.
  IOStatus DeleteLeftover(const std::string& path);
  // Deletes a table, or trash, of a database that is being destroyed. If there is a rate, the file
  // waits regardless of how much trash does. Returns false if the caller must delete it.
  bool DeleteAtRate(const std::string& path);
  // Waits until all current trash is deleted, or cannot be.
  void WaitForTrash();

  // Returns SpaceLimit once the limit is reached.
  Status CheckSpace();
  // Reserves this many bytes until GiveBack. Returns false if there is not enough room.
  bool Reserve(uint64_t bytes);
  void GiveBack(uint64_t bytes);

 private:
  // A file that waits for its deletion, under its name as trash.
  struct Trash {
    std::string path;
    uint64_t bytes = 0;
    uint64_t number = 0;  // Ascending.
  };

  // Called in a child of fork(), where no file waits for its deletion.
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS;
  uint64_t OnTime() noexcept override;
  // Deletes the next piece of the front of the queue. Sets *freed to the bytes that the disk
  // regained, or that are not waited for any more.
  void DeletePiece(uint64_t* freed);
  // True if the file is deleted by truncations: it is large, has no other name, and no process has
  // it open.
  bool IsCutBitByBit(const Trash& trash) const;
  // Renames a table to trash and enqueues it. Returns false if the caller must delete the table,
  // under its old name.
  bool MoveToTrash(const std::string& path, uint64_t bytes);
  // True if the file waits as trash already.
  bool Waits(const std::string& path);
  // Adds trash, and sees that the timer runs. Returns false if that is impossible: then nothing
  // was added.
  bool Enqueue(const std::string& path, uint64_t bytes);
  // Adds to a ticker of the databases' statistics.
  void Count(uint32_t ticker);

  const TableSpaceOptions options_;
  Mutex mu_{lock_ranks::kTableSpace};
  // Tables by path, with their bytes, and the sum.
  std::unordered_map<std::string, uint64_t> files_ VARVE_GUARDED_BY(mu_);
  uint64_t total_ VARVE_GUARDED_BY(mu_) = 0;
  // The values of the setters, in bytes and bytes per second; 0: no limit.
  uint64_t limit_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t buffer_ VARVE_GUARDED_BY(mu_) = 0;
  // Bytes that running compactions may still write.
  uint64_t reserved_ VARVE_GUARDED_BY(mu_) = 0;
  int64_t rate_ VARVE_GUARDED_BY(mu_);
  double trash_ratio_ VARVE_GUARDED_BY(mu_);
  std::deque<Trash> trash_ VARVE_GUARDED_BY(mu_);    // The front belongs to the timer.
  CondVar trash_gone_{&mu_};                         // Signalled when the front changes.
  uint64_t trash_number_ VARVE_GUARDED_BY(mu_) = 0;  // Number of the newest entry.
  // Bytes of trash_, and true while the timer knows this object.
  uint64_t trash_bytes_ VARVE_GUARDED_BY(mu_) = 0;
  bool on_timer_ VARVE_GUARDED_BY(mu_) = false;
  // On a monotonic clock: until then the rate is used up.
  uint64_t next_piece_micros_ VARVE_GUARDED_BY(mu_) = 0;
  std::shared_ptr<Statistics> statistics_ VARVE_GUARDED_BY(mu_);
};

// Returns null unless NewSstFileManager has created it.
TableSpace* TableSpaceOf(SstFileManager* manager);

}  // namespace varve
