// SPDX-License-Identifier: Apache-2.0

// Pace limits the rate of reads. Each read postpones the due time of the next one by its bytes at
// the configured rate; the thread sleeps when the due time is at least kLeastPauseMicros ahead.
// Time lost on a slow device is not made up for by a burst: the due time is never more than one
// pause in the past.
//
// The thread sleeps for at most a second at a time, because the database may begin to close without
// signalling it. Stop signals it, and then joins it.

#include "db/background/scrubber.h"

#include <algorithm>
#include <vector>

#include "db/engine/events.h"
#include "db/version/blob_source.h"
#include "db/version/table_cache.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// Minimum pause, so that the thread does not sleep after every block.
constexpr uint64_t kLeastPauseMicros = 10 * 1000;
// Longest period, a century, so that times do not overflow.
constexpr uint64_t kPeriodSecMost = uint64_t{100} * 365 * 24 * 3600;

}  // namespace

std::string ScrubProgress::ToString() const {
  std::string text =
      "passes=" + std::to_string(passes) + " tables=" + std::to_string(tables) +
      " blob_files=" + std::to_string(blob_files) + " bytes=" + std::to_string(bytes) +
      " corruptions=" + std::to_string(corruptions) + " errors=" + std::to_string(errors) +
      " pass_bytes=" + std::to_string(pass_bytes) +
      " pass_bytes_wanted=" + std::to_string(pass_bytes_wanted);
  if (!last_corruption.empty()) text += " last_corruption=\"" + last_corruption + "\"";
  return text;
}

void Scrubber::Start() {
  if (with_.context.options().scrub_bytes_per_second == 0) return;
  VARVE_ASSERT(!thread_.joinable());
  started_.store(true, std::memory_order_relaxed);
  thread_ = std::thread([this] { Run(); });
}

void Scrubber::Stop() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    stop_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

ScrubProgress Scrubber::progress() const {
  MutexLock lock(&mu_);
  return progress_;
}

bool Scrubber::SleepUntil(uint64_t micros) {
  MutexLock lock(&mu_);
  while (!stopping_ && !with_.lifecycle.shutting_down()) {
    const uint64_t now = with_.context.MonotonicMicros();
    if (now >= micros) return true;
    stop_.WaitFor(std::min<uint64_t>(micros - now, 1000 * 1000));
  }
  return false;
}

void Scrubber::Run() {
  const ActiveWork active(ActiveWork::kBackground, &with_.lifecycle, "the verification of files,");
  uint64_t next = with_.context.MonotonicMicros();
  while (SleepUntil(next)) {
    due_micros_ = with_.context.MonotonicMicros();
    next = due_micros_ +
           std::clamp<uint64_t>(with_.context.options().scrub_period_sec, 1, kPeriodSecMost) *
               1000 * 1000;
    // A failed allocation may end a pass early; the next one begins anew.
    BestEffort([this] { RunPass(); });
  }
}

// References are weak, since files that a long pass has not reached may be deleted meanwhile.
struct Scrubber::Target {
  std::weak_ptr<ColumnFamily> family;
  std::weak_ptr<FileMetaData> file;
  int level = 0;
};

std::vector<Scrubber::Target> Scrubber::ListTargets() {
  std::vector<Target> targets;
  uint64_t wanted = 0;
  {
    DbLock lock(&with_.state.mu);
    for (const auto& [id, family] : with_.state.families.all()) {
      const VersionRef version = family->current();
      wanted += version->TotalBytes();
      for (int level = 0; level < version->num_levels(); level++) {
        for (const FileRef& file : version->level(level).files()) {
          targets.push_back({family, file, level});
        }
      }
      for (const BlobFileState& file : version->blob_files()) {
        wanted += file.FileSize();
        targets.push_back({family, file.blobs->file(), 0});
      }
    }
  }
  MutexLock lock(&mu_);
  progress_.pass_bytes = 0;
  progress_.pass_bytes_wanted = wanted;
  return targets;
}

// If a compaction removes the file during the read, these are the last references to it, and
// nothing else starts the purge.
bool Scrubber::VerifyTarget(const Target& target) {
  const std::shared_ptr<ColumnFamily> family = target.family.lock();
  const FileRef file = target.file.lock();
  if (family == nullptr || file == nullptr) return false;
  if (file->kind == DataFileKind::kTable) {
    Note(*family, *file, ReadTable(family.get(), file.get(), target.level));
  } else {
    BlobFileState state;
    VersionRef version;
    FindBlobFile(*family, file->number, &state, &version);
    if (state.blobs != nullptr) Note(*family, *file, ReadBlobFile(family.get(), state));
  }
  return file->obsolete.load(std::memory_order_acquire) || family->dropped();
}

// Ends early if the database is being closed; the pass is then not counted.
void Scrubber::RunPass() {
  for (const Target& target : ListTargets()) {
    const bool was_last = VerifyTarget(target);
    if (was_last) {
      DbLock lock(&with_.state.mu);
      with_.purger.Purge();
    }
    if (!SleepUntil(0)) return;  // does not sleep, and returns false if the scrubber has to end
  }
  MutexLock lock(&mu_);
  progress_.passes++;
  progress_.pass_bytes = 0;
  progress_.pass_bytes_wanted = 0;
}

Status Scrubber::Pace(uint64_t bytes) {
  {
    MutexLock lock(&mu_);
    if (stopping_ || with_.lifecycle.shutting_down()) {
      return Status::ShutdownInProgress();
    }
    progress_.bytes += bytes;
    progress_.pass_bytes += bytes;
  }
  const double micros = static_cast<double>(bytes) * 1e6 /
                        static_cast<double>(with_.context.options().scrub_bytes_per_second);
  const uint64_t now = with_.context.MonotonicMicros();
  // Unused time is not accumulated. One read postpones the next by 1e12 us, eleven days, at most,
  // so that a rate of very few bytes does not make the sum overflow.
  due_micros_ = std::max(due_micros_, now - std::min(now, kLeastPauseMicros)) +
                static_cast<uint64_t>(std::min(micros, 1e12));
  if (due_micros_ < now + kLeastPauseMicros) return Status::OK();
  return SleepUntil(due_micros_) ? Status::OK() : Status::ShutdownInProgress();
}

Status Scrubber::ReadTable(ColumnFamily* family, FileMetaData* file, int level) {
  const ReadOptions options;
  TableRef table;
  const Status s = family->table_cache()->Find(file, level, options, &table);
  if (!s.ok()) return s;
  return table->VerifyChecksum(options, [this](uint64_t bytes) { return Pace(bytes); });
}

// A file into which no holes will be punched needs no version: those that it has lie in what any
// later one counts as well.
void Scrubber::FindBlobFile(const ColumnFamily& family, uint64_t number, BlobFileState* state,
                            VersionRef* version) {
  DbLock lock(&with_.state.mu);
  const BlobFileState* const found = family.current()->blob_files().Find(number);
  if (found == nullptr) return;
  *state = *found;
  if (found->blobs->facts().referred_once) *version = family.current();
}

// The reader is owned by the cache of open files or by the file, which the caller holds.
Status Scrubber::ReadBlobFile(ColumnFamily* family, const BlobFileState& file) {
  const ReadOptions options;
  BlobReaderPin reader;
  const Status s = family->table_cache()->blobs().Pin(options, *file.blobs, &reader);
  if (!s.ok()) return s;
  return reader->VerifyChecksums(options, [this](uint64_t bytes) { return Pace(bytes); },
                                 {file.garbage_count, file.garbage_bytes});
}

// Damage is reported to listeners and stored in progress_; any other error is only counted and
// logged.
void Scrubber::Note(const ColumnFamily& family, const FileMetaData& file, const Status& s) {
  if (s.IsShutdownInProgress()) return;
  {
    MutexLock lock(&mu_);
    (file.kind == DataFileKind::kTable ? progress_.tables : progress_.blob_files) += s.ok() ? 1 : 0;
    progress_.corruptions += s.IsCorruption() ? 1 : 0;
    progress_.errors += s.ok() || s.IsCorruption() ? 0 : 1;
    if (s.IsCorruption()) progress_.last_corruption = s.ToString();
  }
  if (s.ok()) return;
  LogError(with_.context.info_log(), "scrub of column family %s: %s", family.name().c_str(),
           s.ToString().c_str());
  if (s.IsCorruption()) {
    events::DamageFound(with_.context, s, file.FileName());
  }
}

}  // namespace varve
