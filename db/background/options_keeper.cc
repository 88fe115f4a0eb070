// SPDX-License-Identifier: Apache-2.0

// Changes are counted, as are those that the file has. A small file is written at once, by the
// thread that made the change; a large one by a job, with all changes made until it begins. Each
// file is written under a new number, and old ones are deleted afterwards, so that there is a
// complete file after any crash.

#include "db/background/options_keeper.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "db/background/short_jobs.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// Number of files to keep: the current and the previous one, which users may compare.
constexpr size_t kFilesKept = 2;
// Up to this size, that of about seventy families, a file is written at once.
constexpr size_t kBytesAtOnce = 256 << 10;
// A job begins this long after a change, so that simultaneous changes are written together. After a
// write it pauses four times as long as the write took, so that writing uses at most a fifth of the
// time of a thread and of the disk.
constexpr uint64_t kGatherMicros = 10 * 1000;
constexpr uint64_t kPausePerWriting = 4;

}  // namespace

struct OptionsKeeper::Content {
  struct Family {
    uint32_t id;
    std::string name;
    std::shared_ptr<const ColumnFamilyOptions> options;
    // Directories of its tables; empty if it is the database's own.
    std::vector<std::string> directories;
  };
  std::shared_ptr<const DBOptions> db_options;
  std::vector<Family> families;  // the default one first
};

bool OptionsKeeper::ByText::operator()(const std::shared_ptr<const FamilyOptionsText>& a,
                                       const std::shared_ptr<const FamilyOptionsText>& b) const {
  return std::tie(a->options, a->table_options) < std::tie(b->options, b->table_options);
}

Status OptionsKeeper::Changed() {
  const Status s = Guarded([this] {
    DbLock lock(&with_.state.mu);
    return NoteChange();
  });
  return with_.context.options().fail_if_options_file_error ? s : Status::OK();
}

// Writes at once if that is cheap, if the last write failed, so that the caller gets the error, or
// if there is no timer. Otherwise the timer schedules a job, and callers that need the file
// (Settle) wait for it.
//
//      wanted_      number of changes
//      promised_    changes that a job will write, for which Settle waits
//      told_        changes that the file has
Status OptionsKeeper::NoteChange() {
  if (wanted_++ == told_) changed_micros_ = with_.context.MonotonicMicros();
  const bool at_once = last_bytes_ <= kBytesAtOnce || !failure_.ok() || !with_.timer.ticks();
  if (at_once) return WriteUpTo(wanted_);
  if (!handed_out_ && !writing_) with_.timer.Wake();
  promised_ = wanted_;
  return Status::OK();
}

Status OptionsKeeper::Settle() {
  DbLock lock(&with_.state.mu);
  return WriteUpTo(promised_);
}

Status OptionsKeeper::Stop() {
  DbLock lock(&with_.state.mu);
  BestEffort([&] {
    with_.state.mu.AssertHeld();
    handed_out_ &= TakeBackShortJobs(with_.context.env(), this) == 0;
  });
  while (handed_out_) with_.state.work.Wait();
  return WriteUpTo(wanted_);
}

// A job that could not be scheduled is scheduled by the next change.
uint64_t OptionsKeeper::HandOut(uint64_t now) {
  with_.state.mu.AssertHeld();
  if (told_ == wanted_ || handed_out_ || writing_ || !failure_.ok()) return UINT64_MAX;
  const uint64_t due = std::max(changed_micros_ + kGatherMicros, pause_end_);
  if (due > now) return due - now;
  handed_out_ = true;
  const Status s = Guarded([&] {
    Env* const env = with_.context.env();
    env->Schedule(&OptionsKeeper::RunJob, this, PoolOfShortJobs(env), this);
  });
  if (!s.ok()) handed_out_ = false;  // the next change tries again
  return UINT64_MAX;
}

void OptionsKeeper::RunJob(void* self) {
  static_cast<OptionsKeeper*>(self)->WriteInJob();
}

// A thread that writes the file now also handles the changes made meanwhile.
void OptionsKeeper::WriteInJob() {
  DbLock lock(&with_.state.mu);
  if (!writing_ && told_ != wanted_) {
    failure_ = Guarded([this] {
      with_.state.mu.AssertHeld();
      return WriteOne();
    });
  }
  // Stop waits for this flag.
  handed_out_ = false;
  if (told_ != wanted_ && failure_.ok()) with_.timer.Wake();
  with_.state.work.SignalAll();
}

// One thread writes, and the others wait until their changes are in the file.
Status OptionsKeeper::WriteUpTo(uint64_t change) {
  VARVE_ASSERT(change <= wanted_ && promised_ <= wanted_);
  while (told_ < change) {
    if (writing_) {
      VARVE_RETURN_IF_ERROR(RefuseHeldUp("call", ActiveWork::kOptions, this));
      with_.state.work.Wait();
      continue;
    }
    failure_ = Guarded([this] {
      with_.state.mu.AssertHeld();
      return WriteOne();
    });
    if (!failure_.ok()) return failure_;
  }
  return Status::OK();
}

// Collects pointers to the options under the mutex; formats and writes without it.
Status OptionsKeeper::WriteOne() {
  const ActiveWork active(ActiveWork::kOptions, this, "the writing of the OPTIONS file,");
  const uint64_t wanted = wanted_;
  const uint64_t began = with_.context.MonotonicMicros();
  const Content content = Collect();
  const uint64_t number = with_.state.versions->NewFileNumber();
  const size_t last_bytes = last_bytes_;
  files_.reserve(files_.size() + 1);  // once the file exists, its number is stored without fail
  VARVE_ASSERT(!writing_ && told_ <= wanted);
  writing_ = true;
  size_t bytes = 0;
  Status s;
  {
    DbUnlock unlock(&with_.state.mu);
    s = Guarded([&] {
      const std::string text = Format(content, last_bytes);
      bytes = text.size();
      return WriteOptionsFile(with_.context.fs().get(), with_.context.name(), number, text);
    });
    if (!s.ok()) {
      LogWarn(with_.context.info_log(), "could not write the OPTIONS file: %s",
              s.ToString().c_str());
    }
  }
  if (s.ok()) {
    VARVE_ASSERT(files_.empty() || files_.back() < number);
    files_.push_back(number);
    told_ = wanted;
    last_bytes_ = bytes;
    BestEffort([this] {
      with_.state.mu.AssertHeld();
      DeleteOlder();
    });
  }
  writing_ = false;
  const uint64_t now = std::max(with_.context.MonotonicMicros(), began);
  // The times of changes that were made meanwhile are not kept: they count from now on.
  changed_micros_ = now;
  pause_end_ = now + kPausePerWriting * (now - began);
  with_.state.work.SignalAll();
  // No job was scheduled for changes made meanwhile, as this thread was writing.
  if (s.ok() && told_ != wanted_) with_.timer.Wake();
  return s;
}

OptionsKeeper::Content OptionsKeeper::Collect() {
  Content content;
  content.db_options = with_.dynamic.current();
  content.families.reserve(with_.state.families.all().size());
  for (const auto& [id, family] : with_.state.families.all()) {
    std::vector<std::string> directories = family->table_paths().directories();
    if (directories == std::vector<std::string>{with_.context.name()}) directories.clear();
    // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
    if (VARVE_CANARY(kForgetTableDirectories)) directories.clear();
    content.families.push_back(
        {id, family->name(), family->options_as_set(), std::move(directories)});
  }
  return content;
}

std::shared_ptr<const FamilyOptionsText> OptionsKeeper::TextOf(
    const std::shared_ptr<const ColumnFamilyOptions>& options) {
  return *texts_.insert(std::make_shared<const FamilyOptionsText>(*options)).first;
}

// Reuses the text of families whose options object is the same as last time. If this throws, known_
// may lack texts, which are then made again. last_bytes, the size of the last file, only saves
// allocations.
std::string OptionsKeeper::Format(const Content& content, size_t last_bytes) {
  const std::string& logs = with_.context.options().wal_dir;
  const bool all_here = logs.empty() && std::ranges::all_of(content.families, [](const auto& f) {
                          return f.directories.empty();
                        });
  std::string text =
      OptionsFileBeginning(*content.db_options, all_here ? "" : with_.context.name(), logs);
  text.reserve(last_bytes + last_bytes / 16 + text.size());
  std::map<uint32_t, Known> known;
  for (const Content::Family& family : content.families) {
    const auto before = known_.find(family.id);
    Known& now = known[family.id];
    if (before != known_.end() && before->second.options == family.options) {
      now = std::move(before->second);
    } else {
      now = {family.options, TextOf(family.options)};
    }
    now.text->AppendTo(family.name, &text);
    AppendTableDirectories(family.directories, &text);
  }
  AppendOptionsFileEnd(&text);
  known_.swap(known);
  known.clear();
  std::erase_if(texts_, [](const auto& shared) { return shared.use_count() == 1; });
  return text;
}

// Lists the directory once, for files of earlier openings. Files that cannot be deleted are left to
// the next opening.
void OptionsKeeper::DeleteOlder() {
  if (with_.deletions.disabled()) return;  // a user may be copying them
  std::vector<uint64_t> older = files_;
  const bool list = !listed_;
  const uint64_t newest = number();
  {
    DbUnlock unlock(&with_.state.mu);
    if (list && !ListOptionsFiles(with_.context.fs().get(), with_.context.name(), &older).ok())
      return;
    std::sort(older.begin(), older.end());
    while (older.size() > kFilesKept && older.front() < newest) {
      with_.context.fs()
          ->DeleteFile(OptionsFileName(with_.context.name(), older.front()), IOOptions(), nullptr)
          .PermitUncheckedError();
      older.erase(older.begin());
    }
  }
  files_ = std::move(older);
  listed_ = true;
}

}  // namespace varve
