// SPDX-License-Identifier: Apache-2.0
#pragma once

// TableSpace: the SstFileManager as databases see it: which tables there are, whether there is room
// for more, and their deletion.

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

struct TableSpaceOptions {
  std::shared_ptr<FileSystem> fs;
  std::shared_ptr<Logger> info_log;  // may be null
  int64_t delete_rate = 0;
  bool delete_existing_trash = true;
  double max_trash_ratio = 0.25;
  uint64_t chunk_bytes = 0;
};

// Deletions at a rate are done in the timer's thread, a piece at a time: its other clients, who
// have time, wait for no more than that.
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

  // ---- For databases. None throws: of a table that could not be noted only the total is known.
  void Add(const std::string& path, uint64_t bytes) noexcept;
  // All of that directory.
  void ForgetDirectory(const std::string& directory) noexcept;
  // The table is not one any more. NotFound: there is none.
  IOStatus Delete(const std::string& path);
  // What an earlier process left behind, or an earlier opening: then it may be waiting already. A
  // table, or what was one and is trash. NotFound: there is none.
  IOStatus DeleteLeftover(const std::string& path);
  // A table, or trash, of a database that is destroyed: it waits however much does, if there is a
  // rate. False: it is left to the caller.
  bool DeleteAtRate(const std::string& path);
  // Until all that waits now is deleted, or cannot be.
  void WaitForTrash();

  // SpaceLimit once the limit is reached.
  Status CheckSpace();
  // Room for so many bytes, until it is given back. False: there is not so much.
  bool Reserve(uint64_t bytes);
  void GiveBack(uint64_t bytes);

 private:
  struct Trash {
    std::string path;
    uint64_t bytes = 0;
    uint64_t number = 0;  // they count up
  };

  void InChild() override;
  uint64_t OnTime() noexcept override;
  // Deletes what the front of the queue is to lose next. *freed: bytes that the disk has back, or
  // that nobody waits for any more.
  void DeletePiece(uint64_t* freed);
  bool IsCutBitByBit(const Trash& trash) const;
  // Whether it was renamed and waits.
  bool Throw(const std::string& path, uint64_t bytes);
  bool Waits(const std::string& path);
  bool Enqueue(const std::string& path, uint64_t bytes);
  void Count(uint32_t ticker);

  const TableSpaceOptions options_;
  Mutex mu_{lock_ranks::kTableSpace};
  std::unordered_map<std::string, uint64_t> files_ VARVE_GUARDED_BY(mu_);
  uint64_t total_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t limit_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t buffer_ VARVE_GUARDED_BY(mu_) = 0;
  uint64_t reserved_ VARVE_GUARDED_BY(mu_) = 0;
  int64_t rate_ VARVE_GUARDED_BY(mu_);
  double trash_ratio_ VARVE_GUARDED_BY(mu_);
  std::deque<Trash> trash_ VARVE_GUARDED_BY(mu_);    // the front is the timer's
  CondVar trash_gone_{&mu_};                         // the front is another
  uint64_t trash_number_ VARVE_GUARDED_BY(mu_) = 0;  // of the last that came
  uint64_t trash_bytes_ VARVE_GUARDED_BY(mu_) = 0;
  bool on_timer_ VARVE_GUARDED_BY(mu_) = false;
  // Of a clock that does not step: until then the rate is used up.
  uint64_t next_piece_micros_ VARVE_GUARDED_BY(mu_) = 0;
  std::shared_ptr<Statistics> statistics_ VARVE_GUARDED_BY(mu_);
};

// Null unless NewSstFileManager has made it.
TableSpace* TableSpaceOf(SstFileManager* manager);

}  // namespace varve
