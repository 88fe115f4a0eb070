// SPDX-License-Identifier: Apache-2.0

// With a deletion rate, a table is renamed to trash and deleted later, in the order of arrival, by
// the timer's thread. If more trash than a share of all tables waits already, it is deleted at
// once: the rate is given up before space runs out. Large files are cut bit by bit, so that the
// file system frees its blocks in small steps, but only if no other name or process uses the file.
//
// The mutex is not held during I/O, nor while the timer is called. Trash that could not be deleted
// stays on the disk; an opening of its database finds it by its name.

#include "util/env/table_space.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "varve/env.h"
#include "varve/statistics.h"

#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"
#include "util/env/open_elsewhere.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

constexpr uint64_t kRetryMicros = 1000 * 1000;
constexpr uint64_t kIdleMicros = 3600ull * 1000 * 1000;  // The wait until a call of Wake.

uint64_t NowMicros() {
  return PerfClockNanos() / 1000;
}

}  // namespace

TableSpace::TableSpace(TableSpaceOptions options)
    : options_(std::move(options)),
      rate_(options_.delete_rate),
      trash_ratio_(options_.max_trash_ratio) {
  Watch(&mu_);
}

TableSpace::~TableSpace() {
  SharedTimer::Default().Remove(this);
  Forget();
}

// The condition variable counts waiters that the child does not have, and the child's timer has no
// clients yet. What waits as trash is the parent's to delete.
void TableSpace::InChild() {
  std::construct_at(&trash_gone_, &mu_);
  trash_.clear();
  trash_bytes_ = 0;
  on_timer_ = false;
}

// ---- Limits ----

void TableSpace::SetMaxAllowedSpaceUsage(uint64_t max_allowed_space) {
  MutexLock lock(&mu_);
  limit_ = max_allowed_space;
}

void TableSpace::SetCompactionBufferSize(uint64_t compaction_buffer_size) {
  MutexLock lock(&mu_);
  buffer_ = compaction_buffer_size;
}

bool TableSpace::IsMaxAllowedSpaceReached() {
  MutexLock lock(&mu_);
  return limit_ > 0 && total_ >= limit_;
}

bool TableSpace::IsMaxAllowedSpaceReachedIncludingCompactions() {
  MutexLock lock(&mu_);
  return limit_ > 0 && total_ + reserved_ >= limit_;
}

Status TableSpace::CheckSpace() {
  MutexLock lock(&mu_);
  if (limit_ == 0 || total_ < limit_) return Status::OK();
  return Status::SpaceLimit("Max allowed space was reached",
                            "tables take " + std::to_string(total_) + " bytes of " +
                                std::to_string(limit_) +
                                ": raise SstFileManager::SetMaxAllowedSpaceUsage, or delete tables "
                                "(DeleteFilesInRange, DropColumnFamily), and call Resume");
}

// The comparison subtracts instead of adding, so that a huge estimate or buffer cannot wrap around
// the limit.
bool TableSpace::Reserve(uint64_t bytes) {
  MutexLock lock(&mu_);
  if (limit_ > 0) {
    const uint64_t taken = total_ + reserved_;
    const uint64_t room = limit_ > taken ? limit_ - taken : 0;
    if (buffer_ > room || bytes > room - buffer_) return false;
  }
  reserved_ += bytes;
  return true;
}

void TableSpace::GiveBack(uint64_t bytes) {
  MutexLock lock(&mu_);
  VARVE_ASSERT(reserved_ >= bytes);
  reserved_ -= bytes;
}

// ---- Tables ----

uint64_t TableSpace::GetTotalSize() {
  MutexLock lock(&mu_);
  return total_;
}

std::unordered_map<std::string, uint64_t> TableSpace::GetTrackedFiles() {
  MutexLock lock(&mu_);
  return files_;
}

void TableSpace::Add(const std::string& path, uint64_t bytes) noexcept {
  BestEffort([&] {
    MutexLock lock(&mu_);
    uint64_t& known = files_[path];
    // The difference may be negative; unsigned arithmetic wraps back to the right sum.
    total_ += bytes - known;
    known = bytes;
  });
}

void TableSpace::ForgetDirectory(const std::string& directory) noexcept {
  MutexLock lock(&mu_);
  for (auto it = files_.begin(); it != files_.end();) {
    const bool is_there =
        it->first.rfind('/') == directory.size() && Slice(it->first).starts_with(directory);
    if (is_there) total_ -= it->second;
    it = is_there ? files_.erase(it) : std::next(it);
  }
}

// ---- Deletions ----

int64_t TableSpace::GetDeleteRateBytesPerSecond() {
  MutexLock lock(&mu_);
  return rate_;
}

// Trash that waits under a lower rate, perhaps for hours, is looked at again at once.
void TableSpace::SetDeleteRateBytesPerSecond(int64_t delete_rate) {
  {
    MutexLock lock(&mu_);
    rate_ = delete_rate;
    next_piece_micros_ = 0;
    if (!on_timer_) return;
  }
  SharedTimer::Default().Wake(this);
}

double TableSpace::GetMaxTrashDBRatio() {
  MutexLock lock(&mu_);
  return trash_ratio_;
}

void TableSpace::SetMaxTrashDBRatio(double ratio) {
  MutexLock lock(&mu_);
  trash_ratio_ = ratio;
}

uint64_t TableSpace::GetTotalTrashSize() {
  MutexLock lock(&mu_);
  return trash_bytes_;
}

void TableSpace::SetStatisticsPtr(const std::shared_ptr<Statistics>& stats) {
  MutexLock lock(&mu_);
  statistics_ = stats;
}

void TableSpace::Count(uint32_t ticker) {
  std::shared_ptr<Statistics> statistics;
  {
    MutexLock lock(&mu_);
    statistics = statistics_;
  }
  RecordTick(statistics.get(), ticker);
}

// A table leaves files_ only when its name is gone, by a rename or a deletion; a table that could
// not be deleted goes on to count.
IOStatus TableSpace::Delete(const std::string& path) {
  IOStatus s;
  uint64_t bytes = 0;
  bool waits = false;
  {
    MutexLock lock(&mu_);
    const auto known = files_.find(path);
    if (known != files_.end()) bytes = known->second;
    const auto most = static_cast<double>(total_) * trash_ratio_;
    waits = rate_ > 0 && static_cast<double>(trash_bytes_ + bytes) <= most;
  }
  if (!waits || !MoveToTrash(path, bytes)) {
    s = options_.fs->DeleteFile(path, IOOptions(), nullptr);
    if (!s.ok() && !IsMissing(s)) return s;  // It is still there.
    if (s.ok()) Count(FILES_DELETED_IMMEDIATELY);
  }
  MutexLock lock(&mu_);
  const auto tracked = files_.find(path);
  if (tracked != files_.end()) {
    total_ -= tracked->second;  // Add may have recorded another size meanwhile.
    files_.erase(tracked);
  }
  return s;
}

// Renames before it enqueues: the timer's thread may take the entry at once, and must find the file
// under that name. A crash in between leaves trash, which the next opening finds.
//
//   table --rename--> trash --Enqueue--> waits --timer--> (cut ...) deleted
//     '<-----------rename-----'  no memory, or no timer
bool TableSpace::MoveToTrash(const std::string& path, uint64_t bytes) {
  const std::string trash = path + kTrashSuffix;
  if (!options_.fs->RenameFile(path, trash, IOOptions(), nullptr).ok()) return false;
  if (Enqueue(trash, bytes)) {
    Count(FILES_MARKED_TRASH);
    return true;
  }
  // The timer will not delete it, so it gets back the name by which the caller deletes it. If that
  // fails, it stays as trash for the next opening, and the caller must not look for the table.
  return !options_.fs->RenameFile(trash, path, IOOptions(), nullptr).ok();
}

bool TableSpace::Waits(const std::string& path) {
  MutexLock lock(&mu_);
  return std::ranges::find(trash_, path, &Trash::path) != trash_.end();
}

// Without delete_existing_trash a leftover is deleted at once, unless this object has queued it:
// then the timer's thread may be cutting it.
IOStatus TableSpace::DeleteLeftover(const std::string& path) {
  if (options_.delete_existing_trash ? DeleteAtRate(path) : Waits(path)) return IOStatus::OK();
  return options_.fs->DeleteFile(path, IOOptions(), nullptr);
}

bool TableSpace::DeleteAtRate(const std::string& path) {
  if (Waits(path)) return true;
  uint64_t bytes = 0;
  if (GetDeleteRateBytesPerSecond() <= 0 ||
      !options_.fs->GetFileSize(path, IOOptions(), &bytes, nullptr).ok()) {
    return false;
  }
  return Slice(path).ends_with(kTrashSuffix) ? Enqueue(path, bytes) : MoveToTrash(path, bytes);
}

// Entries are deleted in the order of their numbers, so this waits for those that are queued now,
// and later ones do not prolong it.
void TableSpace::WaitForTrash() {
  MutexLock lock(&mu_);
  const uint64_t last = trash_number_;
  while (on_timer_ && !trash_.empty() && trash_.front().number <= last) trash_gone_.Wait();
}

// The call that sets on_timer_ registers this object. Others only wake the timer, which is without
// effect until the registration is done; that one makes a first call by itself.
bool TableSpace::Enqueue(const std::string& path, uint64_t bytes) {
  bool joins = false;
  const Status s = Guarded([&] {
    MutexLock lock(&mu_);
    trash_.push_back({path, bytes, trash_number_ + 1});
    trash_number_++;
    trash_bytes_ += bytes;
    joins = !std::exchange(on_timer_, true);
    return Status::OK();
  });
  if (!s.ok()) return false;
  // Called without the mutex, because a fork() takes all mutexes in its own order.
  if (!joins) SharedTimer::Default().Wake(this);
  if (!joins || SharedTimer::Default().Add(this)) return true;
  MutexLock lock(&mu_);
  on_timer_ = false;  // Trash that others have added meanwhile waits until more is added.
  trash_gone_.SignalAll();
  const auto mine = std::ranges::find(trash_, path, &Trash::path);
  if (mine == trash_.end()) return true;
  trash_.erase(mine);
  trash_bytes_ -= bytes;
  return false;
}

bool TableSpace::IsCutBitByBit(const Trash& trash) const {
  if (options_.chunk_bytes == 0 || trash.bytes <= options_.chunk_bytes) return false;
  uint64_t names = 0;
  if (!options_.fs->NumFileLinks(trash.path, IOOptions(), &names, nullptr).ok()) return false;
  // A reader in another process, such as a secondary, would find the rest of its table gone.
  return names == 1 && !MayBeOpenElsewhere(trash.path);
}

// Only the timer's thread removes the front, so it is still the same entry after the I/O, although
// others may have appended meanwhile. A file that cannot be cut or deleted leaves the queue, too:
// retrying it would hold up all that wait behind it.
void TableSpace::DeletePiece(uint64_t* freed) {
  Trash trash;
  {
    MutexLock lock(&mu_);
    trash = trash_.front();
  }
  *freed = trash.bytes;
  bool gone = true;
  if (IsCutBitByBit(trash)) {
    const uint64_t rest = trash.bytes - options_.chunk_bytes;
    gone = !options_.fs->Truncate(trash.path, static_cast<size_t>(rest), IOOptions(), nullptr).ok();
    if (!gone) *freed = options_.chunk_bytes;
  }
  if (gone) {
    const IOStatus s = options_.fs->DeleteFile(trash.path, IOOptions(), nullptr);
    if (s.ok()) Count(FILES_DELETED_FROM_TRASH_QUEUE);
    if (!s.ok() && !IsMissing(s)) {
      LogWarn(options_.info_log.get(), "%s stays until its database is opened again: %s",
              trash.path.c_str(), s.ToString().c_str());
    }
  }
  MutexLock lock(&mu_);
  trash_bytes_ -= *freed;
  if (gone) {
    trash_.pop_front();
    trash_gone_.SignalAll();
  } else {
    trash_.front().bytes -= *freed;
  }
}

uint64_t TableSpace::OnTime() noexcept {
  const uint64_t now = NowMicros();
  {
    // The timer also calls this whenever trash is added.
    MutexLock lock(&mu_);
    if (trash_.empty()) return kIdleMicros;
    if (now < next_piece_micros_) return next_piece_micros_ - now;
  }
  uint64_t freed = 0;
  // Retries after a lack of memory.
  if (!Guarded([&] { DeletePiece(&freed); }).ok()) return kRetryMicros;
  MutexLock lock(&mu_);
  // The rate is kept by waiting after a piece and not before it: a piece is paid for when its size
  // is known.
  const double pause =
      rate_ <= 0 ? 0.0 : static_cast<double>(freed) * 1e6 / static_cast<double>(rate_);
  const auto micros = static_cast<uint64_t>(std::min(pause, double{kIdleMicros}));
  next_piece_micros_ = now + micros;
  return trash_.empty() ? kIdleMicros : micros;
}

// ---- Creation ----

TableSpace* TableSpaceOf(SstFileManager* manager) {
  return dynamic_cast<TableSpace*>(manager);
}

SstFileManager* NewSstFileManager(Env* env, std::shared_ptr<FileSystem> fs,
                                  std::shared_ptr<Logger> info_log,
                                  const std::string& /*trash_dir*/, int64_t rate_bytes_per_sec,
                                  bool delete_existing_trash, Status* status,
                                  double max_trash_db_ratio, uint64_t bytes_max_delete_chunk) {
  std::unique_ptr<TableSpace> made;
  const Status s = Guarded([&] {
    if (env == nullptr && fs == nullptr) {
      return Status::InvalidArgument("NewSstFileManager: there is neither an Env nor a FileSystem");
    }
    // The comparison is written so that a NaN is refused.
    if (!(max_trash_db_ratio >= 0)) {
      return Status::InvalidArgument("NewSstFileManager: max_trash_db_ratio is below 0");
    }
    made = std::make_unique<TableSpace>(TableSpaceOptions{
        fs != nullptr ? std::move(fs) : env->GetFileSystem(), std::move(info_log),
        rate_bytes_per_sec, delete_existing_trash, max_trash_db_ratio, bytes_max_delete_chunk});
    return Status::OK();
  });
  if (status != nullptr) *status = s;
  return made.release();
}

SstFileManager* NewSstFileManager(Env* env, std::shared_ptr<Logger> info_log, std::string trash_dir,
                                  int64_t rate_bytes_per_sec, bool delete_existing_trash,
                                  Status* status, double max_trash_db_ratio,
                                  uint64_t bytes_max_delete_chunk) {
  return NewSstFileManager(env, nullptr, std::move(info_log), trash_dir, rate_bytes_per_sec,
                           delete_existing_trash, status, max_trash_db_ratio,
                           bytes_max_delete_chunk);
}

}  // namespace varve
