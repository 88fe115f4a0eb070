// SPDX-License-Identifier: Apache-2.0
#include "db/background/options_keeper.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "db/background/periodic_work.h"
#include "util/base/caught_exception.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

// Files that stay: the one in force and the one before, as users compare them.
constexpr size_t kFilesKept = 2;
// Up to here, some seventy families, a file is written at once.
constexpr size_t kBytesAtOnce = 256 << 10;
// Changes that come together are told together; and of a thread of the environment's, and of the
// disk, the writing takes no more than a fifth.
constexpr uint64_t kGatherMicros = 10 * 1000;
constexpr uint64_t kPausePerWriting = 4;

}  // namespace

struct OptionsKeeper::Content {
  struct Family {
    uint32_t id;
    std::string name;
    std::shared_ptr<const ColumnFamilyOptions> options;
  };
  std::shared_ptr<const DBOptions> db_options;
  std::vector<Family> families;  // the default one first
};

bool OptionsKeeper::ByText::operator()(const std::shared_ptr<const FamilyOptionsText>& a,
                                       const std::shared_ptr<const FamilyOptionsText>& b) const {
  return std::tie(a->options, a->table_options) < std::tie(b->options, b->table_options);
}

Status OptionsKeeper::Changed() {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  if (wanted_++ == told_) changed_micros_ = e.MonotonicMicros();
  const bool at_once = last_bytes_ <= kBytesAtOnce || !failure_.ok() || e.periodic == nullptr ||
                       !e.periodic->ticks();
  if (at_once) return WriteUpTo(wanted_);
  if (!handed_out_ && !writing_) e.periodic->Wake();
  promised_ = wanted_;
  return Status::OK();
}

Status OptionsKeeper::Settle() {
  MutexLock lock(&engine_->mu);
  return WriteUpTo(promised_);
}

Status OptionsKeeper::Stop() {
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  BestEffort([&] { handed_out_ &= e.env->UnSchedule(this, Env::Priority::HIGH) == 0; });
  while (handed_out_) e.background_changed.Wait();
  return WriteUpTo(wanted_);
}

uint64_t OptionsKeeper::HandOut(uint64_t now) {
  Engine& e = *engine_;
  e.mu.AssertHeld();
  if (told_ == wanted_ || handed_out_ || writing_ || !failure_.ok()) return UINT64_MAX;
  const uint64_t due = std::max(changed_micros_ + kGatherMicros, pause_end_);
  if (due > now) return due - now;
  handed_out_ = true;
  const Status s =
      Guarded([&] { e.env->Schedule(&OptionsKeeper::RunJob, this, Env::Priority::HIGH, this); });
  if (!s.ok()) handed_out_ = false;  // the next change asks again
  return UINT64_MAX;
}

void OptionsKeeper::RunJob(void* self) {
  auto* const keeper = static_cast<OptionsKeeper*>(self);
  Engine& e = *keeper->engine_;
  MutexLock lock(&e.mu);
  if (!keeper->writing_ && keeper->told_ != keeper->wanted_) {
    keeper->failure_ = Guarded([keeper] { return keeper->WriteOne(); });
  }
  // Close waits for the flag under the same hold of the mutex.
  keeper->handed_out_ = false;
  if (keeper->told_ != keeper->wanted_ && keeper->failure_.ok() && e.periodic != nullptr) {
    e.periodic->Wake();
  }
  e.background_changed.SignalAll();
}

Status OptionsKeeper::WriteUpTo(uint64_t change) {
  Engine& e = *engine_;
  while (told_ < change) {
    if (writing_) {
      e.background_changed.Wait();
      continue;
    }
    failure_ = Guarded([this] { return WriteOne(); });
    if (!failure_.ok()) return failure_;
  }
  return Status::OK();
}

Status OptionsKeeper::WriteOne() {
  Engine& e = *engine_;
  const uint64_t wanted = wanted_;
  const uint64_t began = e.MonotonicMicros();
  const Content content = Collect();
  const uint64_t number = e.versions->NewFileNumber();
  files_.reserve(files_.size() + 1);
  writing_ = true;
  size_t bytes = 0;
  Status s;
  {
    MutexUnlock unlock(&e.mu);
    s = Guarded([&] {
      const std::string text = Format(content);
      bytes = text.size();
      return WriteOptionsFile(e.fs.get(), e.name, number, text);
    });
    if (!s.ok()) {
      LogWarn(e.info_log.get(), "could not write the OPTIONS file: %s", s.ToString().c_str());
    }
  }
  if (s.ok()) {
    files_.push_back(number);
    told_ = wanted;
    last_bytes_ = bytes;
    BestEffort([this] { DeleteOlder(); });
  }
  writing_ = false;
  const uint64_t now = std::max(e.MonotonicMicros(), began);
  changed_micros_ = now;
  pause_end_ = now + kPausePerWriting * (now - began);
  e.background_changed.SignalAll();
  // What came meanwhile was not handed out: somebody was writing.
  if (s.ok() && told_ != wanted_ && e.periodic != nullptr) e.periodic->Wake();
  return s;
}

OptionsKeeper::Content OptionsKeeper::Collect() {
  Engine& e = *engine_;
  Content content;
  content.db_options = e.dynamic;
  content.families.reserve(e.families.all().size());
  for (const auto& [id, family] : e.families.all()) {
    content.families.push_back({id, family->name(), family->options()});
  }
  return content;
}

std::shared_ptr<const FamilyOptionsText> OptionsKeeper::TextOf(
    const std::shared_ptr<const ColumnFamilyOptions>& options) {
  return *texts_.insert(std::make_shared<const FamilyOptionsText>(*options)).first;
}

std::string OptionsKeeper::Format(const Content& content) {
  std::string text =
      OptionsFileBeginning(*content.db_options, engine_->name, engine_->options.wal_dir);
  text.reserve(last_bytes_ + last_bytes_ / 16 + text.size());
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
  }
  known_.swap(known);
  known.clear();
  std::erase_if(texts_, [](const auto& shared) { return shared.use_count() == 1; });
  return text;
}

void OptionsKeeper::DeleteOlder() {
  Engine& e = *engine_;
  if (e.file_deletions_disabled > 0) return;  // somebody may be copying them
  std::vector<uint64_t> older = files_;
  const bool list = !listed_;
  const uint64_t newest = number();
  {
    MutexUnlock unlock(&e.mu);
    if (list && !ListOptionsFiles(e.fs.get(), e.name, &older).ok()) return;
    std::sort(older.begin(), older.end());
    while (older.size() > kFilesKept && older.front() < newest) {
      e.fs->DeleteFile(OptionsFileName(e.name, older.front()), IOOptions(), nullptr)
          .PermitUncheckedError();
      older.erase(older.begin());
    }
  }
  files_ = std::move(older);
  listed_ = true;
}

}  // namespace varve
