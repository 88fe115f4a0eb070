// SPDX-License-Identifier: Apache-2.0

// Compactions that users ask for: ranges, named files, deletion of whole files, hints.

#include <algorithm>
#include <utility>

#include "db/background/compaction_work.h"
#include "db/background/flush_work.h"
#include "db/background/obsolete_files.h"
#include "db/compaction/input_span.h"
#include "db/version/obsolete_file_queue.h"
#include "db/version/version_builder.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// How often a waiting call looks at the caller's cancellation flag, which signals nobody.
constexpr uint64_t kPollMicros = 50 * 1000;

Status Paused(const char* why) {
  return Status(Status::kIncomplete, Status::kManualCompactionPaused, Status::kNoError, why);
}

bool MemTableOverlaps(const MemTable& mem, const InternalKeyComparator& icmp, const Slice* begin,
                      const Slice* end) {
  if (mem.Empty()) return false;
  if (begin == nullptr && end == nullptr) return true;
  for (const auto& list : mem.RangeTombstones()) {
    if (list->CoversAnyOf(begin, end)) return true;
  }
  const auto iterator = mem.NewIterator();
  if (begin == nullptr) {
    iterator->SeekToFirst();
  } else {
    iterator->Seek(icmp.FirstInternalKey(*begin).Encode());
  }
  return iterator->Valid() &&
         (end == nullptr || icmp.CompareKey(icmp.KeyOf(iterator->key()), *end) <= 0);
}

// Counts one more for the time of its life. Both ends under the DB mutex.
class Counted {
 public:
  explicit Counted(int* count) : count_(count) { ++*count_; }
  ~Counted() { --*count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  int* const count_;
};

bool LevelOverlaps(const Version& version, int level, const Slice* begin, const Slice* end) {
  return !version.level(level).Overlapping(begin, end).empty();
}

}  // namespace

// Alone among compactions of the database, for the time of its life. mu is held by the creator
// around both ends.
class CompactionWork::Exclusive {
 public:
  Exclusive(CompactionWork* work, bool wanted) : work_(work), wanted_(wanted) {
    if (!wanted_) {
      work_->WaitForExclusive();
      return;
    }
    work_->exclusive_++;
    while (work_->running_ > 0 || work_->manual_working_ > 0 || work_->exclusive_running_) {
      work_->engine_->background_changed.Wait();
    }
    work_->exclusive_running_ = true;
  }
  ~Exclusive() {
    if (!wanted_) return;
    work_->exclusive_--;
    work_->exclusive_running_ = false;
    work_->engine_->background_changed.SignalAll();
    work_->Report(Guarded([this] { work_->ScheduleAll(); }));
  }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  CompactionWork* const work_;
  const bool wanted_;
};

// One of manual_calls_ for the time of its life, and what follows its end, unless an obstacle was
// there already. Both ends without mu.
class CompactionWork::ManualTurn {
 public:
  ManualTurn(CompactionWork* work, const ColumnFamily& family, const std::atomic<bool>* cancelled)
      : work_(work) {
    MutexLock lock(&work_->engine_->mu);
    obstacle_ = work_->ManualObstacle(family, cancelled);
    if (obstacle_.ok()) work_->manual_calls_++;
  }
  ~ManualTurn() {
    if (!obstacle_.ok()) return;
    Engine& e = *work_->engine_;
    MutexLock lock(&e.mu);
    work_->Report(Guarded([&e] { e.obsolete->Purge(); }));
    work_->manual_calls_--;
    e.background_changed.SignalAll();
  }
  ManualTurn(const ManualTurn&) = delete;
  ManualTurn& operator=(const ManualTurn&) = delete;
  const Status& obstacle() const { return obstacle_; }

 private:
  CompactionWork* const work_;
  Status obstacle_;
  const ObsoleteFileQueue::LeaveOpen leave_open_;  // plans go under mu
};

void CompactionWork::WaitForExclusive() {
  while (exclusive_ > 0) engine_->background_changed.Wait();
}

Status CompactionWork::ManualObstacle(const ColumnFamily& family,
                                      const std::atomic<bool>* cancelled) const {
  const Engine& e = *engine_;
  if (e.shutting_down.load(std::memory_order_acquire)) {
    return Status::ShutdownInProgress("manual compaction: the database is being closed");
  }
  if (family.dropped()) return Status::ColumnFamilyDropped("manual compaction", family.name());
  if (manual_disabled_ > 0) return Paused("manual compactions are disabled");
  if (cancelled != nullptr && cancelled->load(std::memory_order_acquire)) {
    return Paused("manual compaction was cancelled");
  }
  if (e.errors.severity() != ErrorState::Severity::kNone) return e.errors.error();
  return Status::OK();
}

// The range's data in memtables goes to L0 first. Unless stalls are allowed, when that would make
// writes stall it waits for compactions under way to make room.
Status CompactionWork::FlushForRange(const ManualCall& call) {
  Engine& e = *engine_;
  bool overlaps = false;
  {
    SuperVersion* const super_version = call.family->AcquireSuperVersion();
    const InternalKeyComparator& icmp = call.family->icmp();
    overlaps = MemTableOverlaps(*super_version->mem(), icmp, call.begin, call.end);
    for (const auto& mem : super_version->immutables()) {
      overlaps = overlaps || MemTableOverlaps(*mem, icmp, call.begin, call.end);
    }
    super_version->Unref();
  }
  if (!overlaps) return Status::OK();
  if (!call.options->allow_write_stall) {
    MutexLock lock(&e.mu);
    for (;;) {
      VARVE_RETURN_IF_ERROR(ManualObstacle(*call.family, call.options->canceled));
      if (!e.flush->WouldStall(*call.family)) break;
      e.background_changed.WaitFor(kPollMicros);
    }
  }
  return e.flush->FlushFamilies({call.family}, FlushOptions(), FlushReason::kManualCompaction);
}

Status CompactionWork::CheckRange(ColumnFamily* family, const CompactRangeOptions& options,
                                  const Slice* begin, const Slice* end) {
  if (options.target_path_id != 0) {
    return Status::InvalidArgument("CompactRangeOptions::target_path_id", "there is one path only");
  }
  if (options.change_level && options.target_level >= family->options()->num_levels) {
    return Status::InvalidArgument("CompactRangeOptions::target_level", "is not below num_levels");
  }
  if (begin != nullptr && end != nullptr && family->icmp().CompareKey(*begin, *end) > 0) {
    return Status::InvalidArgument("CompactRange", "the range ends before it begins");
  }
  MutexLock lock(&engine_->mu);
  return ManualObstacle(*family, options.canceled);
}

Status CompactionWork::CompactRange(ColumnFamily* family, const CompactRangeOptions& options,
                                    const Slice* begin, const Slice* end) {
  VARVE_RETURN_IF_ERROR(CheckRange(family, options, begin, end));
  return RunCall({family, &options, begin, end, /*trim_ts=*/""});
}

Status CompactionWork::TrimHistory(ColumnFamily* family, const std::string& trim_ts) {
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  options.allow_write_stall = true;
  return RunCall({family, &options, nullptr, nullptr, trim_ts});
}

Status CompactionWork::RunCall(const ManualCall& call) {
  Engine& e = *engine_;
  ColumnFamily* const family = call.family;
  const CompactRangeOptions& options = *call.options;
  const ManualTurn turn(this, *family, options.canceled);
  VARVE_RETURN_IF_ERROR(turn.obstacle());
  VARVE_RETURN_IF_ERROR(FlushForRange(call));
  MutexLock lock(&e.mu);
  const Exclusive exclusive(this, options.exclusive_manual_compaction);
  int final_level = -1;
  VARVE_RETURN_IF_ERROR(WalkLevels(call, &final_level));
  if (!options.change_level || final_level <= 0) return Status::OK();
  Status s;
  {
    // A running compaction's inputs must not move.
    const Counted alone(&exclusive_);
    while (!family->running_compactions.empty()) e.background_changed.Wait();
    s = ManualObstacle(*family, options.canceled);
    if (s.ok()) s = MoveLevel(family, final_level, options.target_level);
  }
  ScheduleAll();
  return s;
}

// From the first to the last level that holds any of the range. *final_level: where the data ended.
Status CompactionWork::WalkLevels(const ManualCall& call, int* final_level) {
  Engine& e = *engine_;
  const VersionRef version = call.family->current();
  int first = -1;
  int last = -1;
  for (int level = 0; level < version->num_levels(); level++) {
    if (!LevelOverlaps(*version, level, call.begin, call.end)) continue;
    if (first < 0) first = level;
    last = level;
  }
  if (first < 0) return Status::OK();
  const auto options = call.family->options();
  const auto bottommost = call.options->bottommost_level_compaction;
  const bool forced = bottommost == BottommostLevelCompaction::kForce ||
                      bottommost == BottommostLevelCompaction::kForceOptimized;
  // Every file is to be rewritten.
  const bool filtered = options->compaction_filter != nullptr ||
                        options->compaction_filter_factory != nullptr ||
                        call.options->full_history_ts_low != nullptr || !call.trim_ts.empty();
  const uint64_t newest_before = e.versions->next_file_number() - 1;
  *final_level = last;
  for (int level = first; level <= last; level++) {
    ManualCompactionRequest request;
    request.start_level = level;
    request.begin = call.begin;
    request.end = call.end;
    request.max_subcompactions = call.options->max_subcompactions;
    const bool in_place = level == last && level > 0;
    request.output_level = in_place ? level : level + 1;
    if (level == 0) request.output_level = std::max(1, call.family->shape().base_level);
    if (request.output_level >= version->num_levels()) break;
    if (in_place) {
      if (bottommost == BottommostLevelCompaction::kSkip || (!forced && !filtered)) break;
      request.allow_trivial_move = false;
      if (bottommost == BottommostLevelCompaction::kForceOptimized) {
        request.max_file_number = newest_before;
      }
    } else {
      request.allow_trivial_move = !filtered && !(forced && level == last);
    }
    bool found = false;
    VARVE_RETURN_IF_ERROR(CompactOneLevel(call, request, &found));
    if (found) *final_level = std::max(*final_level, request.output_level);
  }
  return Status::OK();
}

Status CompactionWork::CompactOneLevel(const ManualCall& call,
                                       const ManualCompactionRequest& request, bool* found) {
  // Only with a limit on file numbers does one plan leave something for the next.
  const bool repeat = request.max_file_number != UINT64_MAX;
  bool ran = false;
  do {
    VARVE_RETURN_IF_ERROR(RunManualPlan(call, request, &ran));
    *found = *found || ran;
  } while (ran && repeat);
  return Status::OK();
}

Status CompactionWork::RunManualPlan(const ManualCall& call, const ManualCompactionRequest& request,
                                     bool* ran) {
  Engine& e = *engine_;
  ColumnFamily* const family = call.family;
  *ran = false;
  std::unique_ptr<CompactionPlan> plan;
  Status s = Guarded([&] { return AwaitManualPlan(call, request, &plan); });
  if (!s.ok() || plan == nullptr) {
    Dispatch();
    return s;
  }
  if (request.max_subcompactions == 0) plan->max_subcompactions = e.dynamic->max_subcompactions;
  *ran = true;
  RunControl control;
  control.manual_cancelled = &manual_cancel_;
  control.user_cancelled = call.options->canceled;
  control.trim_ts = call.trim_ts;
  CompactionResult result;
  s = RunManually(family, std::move(plan), control, &result);
  e.background_changed.SignalAll();
  return s;
}

Status CompactionWork::AwaitManualPlan(const ManualCall& call,
                                       const ManualCompactionRequest& request,
                                       std::unique_ptr<CompactionPlan>* plan) {
  Engine& e = *engine_;
  ColumnFamily* const family = call.family;
  const Counted waiting(&manual_waiting_);
  for (;;) {
    VARVE_RETURN_IF_ERROR(ManualObstacle(*family, call.options->canceled));
    if (e.background_paused == 0) {
      const auto options = family->options();
      bool conflict = false;
      *plan = PickManualCompaction(family->current(), family->shape(), *options, request,
                                   family->running_compactions, &conflict);
      if (!conflict) return Status::OK();
    }
    e.background_changed.WaitFor(kPollMicros);
  }
}

Status CompactionWork::RunManually(ColumnFamily* family, std::unique_ptr<CompactionPlan> plan,
                                   const RunControl& control, CompactionResult* result) {
  const Counted working(&manual_working_);
  return RunPlan(family, std::move(plan), control, result);
}

// CompactRangeOptions::change_level: the files of a level become those of another, empty one.
Status CompactionWork::MoveLevel(ColumnFamily* family, int level, int target_level) {
  Engine& e = *engine_;
  const VersionRef version = family->current();
  const LevelFiles& files = version->level(level);
  if (target_level < 0) {
    // The smallest level that has room, with nothing in between.
    target_level = level;
    const LevelShape& shape = family->shape();
    for (int l = level - 1; l >= std::max(1, shape.base_level); l--) {
      if (!version->level(l).empty()) break;
      if (shape.target_bytes[static_cast<size_t>(l)] < files.bytes()) break;
      target_level = l;
    }
  }
  if (target_level == level || files.empty()) return Status::OK();
  if (target_level == 0 && files.size() > 1) {
    return Status::Aborted("CompactRangeOptions::target_level",
                           "more than one table is not moved to L0");
  }
  const int from = std::min(level + 1, target_level);
  const int to = std::max(level - 1, target_level);
  for (int l = from; l <= to; l++) {
    if (l != level && !version->level(l).empty()) {
      return Status::NotSupported("CompactRangeOptions::change_level",
                                  "levels between source and target are not empty");
    }
  }
  VersionEdit edit;
  edit.column_family = family->id();
  for (const FileRef& file : files.files()) {
    edit.deleted_files.emplace_back(level, file->number);
    edit.new_files.push_back(DescribeFile(*file, target_level));
  }
  VARVE_RETURN_IF_ERROR(
      e.versions->LogAndApply({FamilyEdit{family->versions(), {&edit}}}, e.directory.get()));
  e.ShowChange(family).PermitUncheckedError();
  e.UpdateStalls();
  MutexUnlock unlock(&e.mu);
  LogInfo(e.info_log.get(), "[%s] moved L%d to L%d", family->name().c_str(), level, target_level);
  return Status::OK();
}

Status CompactionWork::CompactFiles(ColumnFamily* family, const CompactionOptions& options,
                                    const std::vector<std::string>& names, int output_level,
                                    std::vector<std::string>* output_names,
                                    CompactionJobInfo* info) {
  Engine& e = *engine_;
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    const std::string base = name.substr(name.rfind('/') + 1);
    uint64_t number = 0;
    FileType type = kTempFile;
    if (!ParseFileName(base, &number, &type) || type != kTableFile) {
      return Status::InvalidArgument("CompactFiles: not the name of a table", name);
    }
    numbers.push_back(number);
  }
  const ManualTurn turn(this, *family, options.canceled);
  VARVE_RETURN_IF_ERROR(turn.obstacle());
  MutexLock lock(&e.mu);
  CompactionResult result;
  const auto run = [&]() -> Status {
    WaitForExclusive();
    VARVE_RETURN_IF_ERROR(ManualObstacle(*family, options.canceled));
    std::unique_ptr<CompactionPlan> plan;
    VARVE_RETURN_IF_ERROR(PickCompactFiles(family->current(), family->shape(), *family->options(),
                                           numbers, output_level, family->running_compactions,
                                           &plan));
    plan->trivial_move = plan->trivial_move && options.allow_trivial_move;
    if (options.compression != kDisableCompressionOption) plan->compression = options.compression;
    plan->target_file_bytes = options.output_file_size_limit;
    plan->max_subcompactions = options.max_subcompactions != 0 ? options.max_subcompactions
                                                               : e.dynamic->max_subcompactions;
    if (plan->trivial_move && output_names != nullptr) {
      for (const uint64_t number : numbers) output_names->push_back(TableFileName(e.name, number));
    }
    RunControl control;
    control.manual_cancelled = &manual_cancel_;
    control.user_cancelled = options.canceled;
    control.info = info;
    return RunManually(family, std::move(plan), control, &result);
  };
  const Status s = run();
  if (s.ok() && output_names != nullptr) {
    for (const NewFile& file : result.outputs) {
      output_names->push_back(TableFileName(e.name, file.number));
    }
  }
  return s;
}

Status CompactionWork::DeleteFilesInRanges(ColumnFamily* family, const RangePtr* ranges, size_t n,
                                           bool include_end) {
  Engine& e = *engine_;
  const ManualTurn turn(this, *family, nullptr);
  VARVE_RETURN_IF_ERROR(turn.obstacle());
  MutexLock lock(&e.mu);
  auto plan = std::make_unique<CompactionPlan>();
  PickFilesInRanges(family->current(), ranges, n, include_end, plan.get());
  if (plan->inputs.empty()) return Status::OK();
  CompactionResult result;
  return RunManually(family, std::move(plan), RunControl(), &result);
}

Status CompactionWork::SuggestRange(ColumnFamily* family, const Slice* begin, const Slice* end) {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  if (family->dropped()) return Status::ColumnFamilyDropped("SuggestCompactRange", family->name());
  const VersionRef& version = family->current();
  // In the last level nothing would be gained.
  for (int level = 0; level + 1 < version->non_empty_levels(); level++) {
    for (FileMetaData* file : version->level(level).Overlapping(begin, end)) {
      file->marked_for_compaction = true;
    }
  }
  Schedule(family);
  return Status::OK();
}

void CompactionWork::DisableManual() {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  manual_disabled_++;
  manual_cancel_.store(true, std::memory_order_release);
  e.background_changed.SignalAll();
  while (manual_working_ > 0 || manual_waiting_ > 0) e.background_changed.Wait();
}

void CompactionWork::EnableManual() {
  MutexLock lock(&engine_->mu);
  if (manual_disabled_ > 0) manual_disabled_--;
  if (manual_disabled_ == 0) manual_cancel_.store(false, std::memory_order_release);
}

}  // namespace varve
