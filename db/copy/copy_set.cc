// SPDX-License-Identifier: Apache-2.0
#include "db/copy/copy_set.h"

#include <algorithm>
#include <utility>

#include "db/background/jobs.h"
#include "db/copy/manifest_bytes.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/options/options_file.h"

namespace varve {

namespace {

// True if a family has writes in memory that no log has.
bool HasUnlogged(ColumnFamily* family) VARVE_REQUIRES(kDbMutex) {
  if (family->mem()->has_unlogged()) return true;
  return std::ranges::any_of(family->immutables(), [](const ImmutableMemTable& immutable) {
    return immutable.mem->has_unlogged();
  });
}

bool IsWanted(const CopyWanted& wanted, uint32_t id) {
  return wanted.families.empty() || (id == 0 && !wanted.tables_only) ||
         std::ranges::any_of(wanted.families, [&](const auto* one) { return one->id() == id; });
}

}  // namespace

Status CopySet::Take(Engine* engine, const CopyWanted& wanted, std::unique_ptr<CopySet>* set) {
  VARVE_ASSERT(!wanted.own_manifest || wanted.families.empty());
  DbState& state = engine->state;
  const auto owner = state.commit.get();
  VARVE_RETURN_IF_ERROR(RefuseHeldUp(wanted.call, ActiveWork::kLog | ActiveWork::kCommit, owner));
  VARVE_RETURN_IF_ERROR(RefuseHeldUp(wanted.call, ActiveWork::kManifest, state.versions.get()));
  std::unique_ptr<CopySet> taken(new CopySet(engine));
  taken->sequence_ = state.versions->last_sequence();
  const bool read_only = engine->context.read_only();
  if (!read_only) VARVE_RETURN_IF_ERROR(taken->Flush(wanted));
  // A failure to write is reported to the caller that changed options.
  engine->jobs->options_keeper.Settle().PermitUncheckedError();
  {
    DbLock lock(&state.mu);
    if (read_only) VARVE_RETURN_IF_ERROR(taken->CheckNothingInMemory(wanted));
    VARVE_RETURN_IF_ERROR(taken->Pin(wanted));
  }
  taken->AddTables();
  if (wanted.tables_only) {
    *set = std::move(taken);
    return Status::OK();
  }
  VARVE_RETURN_IF_ERROR(taken->AddLogs());
  VARVE_RETURN_IF_ERROR(taken->AddManifest());
  VARVE_RETURN_IF_ERROR(taken->AddOptions());
  taken->Add(kCurrentFile, 0, "CURRENT", DescriptorFileBaseName(taken->manifest_number_) + "\n");
  *set = std::move(taken);
  return Status::OK();
}

CopySet::~CopySet() {
  if (!logs_.empty()) engine_->state.logs->Unpin(logs_);
}

std::vector<std::string> CopySet::family_names() const {
  std::vector<std::string> names;
  for (const VersionState::Family& one : state_.families) names.push_back(one.family->name);
  return names;
}

Status CopySet::Flush(const CopyWanted& wanted) {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    DbState& state = engine_->state;
    const bool all = wanted.log_bytes_for_flush == 0 ||
                     (wanted.log_bytes_for_flush != UINT64_MAX &&
                      state.logs->total_bytes() >= wanted.log_bytes_for_flush);
    DbLock lock(&state.mu);
    for (const auto& [id, family] : state.families.all()) {
      if (!IsWanted(wanted, id) || !(all || HasUnlogged(family.get()))) continue;
      if (family->mem()->Empty() && family->immutables().empty()) continue;
      families.push_back(family);
    }
    if (families.empty()) return Status::OK();
    if (engine_->log_gate.locked()) {
      return Status::Aborted(wanted.call,
                             "a flush is needed, and LockWAL keeps it out; call it "
                             "after UnlockWAL, or let it need no flush");
    }
  }
  // With atomic_flush, FlushFamilies flushes all families in one step.
  FlushWork& flush = engine_->jobs->flush;
  if (wanted.flush_together && !engine_->context.options().atomic_flush) {
    return flush.FlushTogether(families, FlushReason::kGetLiveFiles);
  }
  std::vector<ColumnFamily*> all;
  for (const auto& family : families) all.push_back(family.get());
  return flush.FlushFamilies(all, FlushOptions(), FlushReason::kGetLiveFiles);
}

Status CopySet::CheckNothingInMemory(const CopyWanted& wanted) const {
  // The logs of a database that another process writes belong to that process.
  const bool follows = engine_->context.follows();
  if (!wanted.tables_only && !follows) return Status::OK();
  for (const auto& [id, family] : engine_->state.families.all()) {
    if (!IsWanted(wanted, id) || (family->mem()->Empty() && family->immutables().empty())) continue;
    return Status::NotSupported(
        wanted.call, "column family " + family->name() + " has writes that are in no table, and " +
                         (follows ? "a secondary cannot copy them: copy the primary, or try again "
                                    "when that has flushed and TryCatchUpWithPrimary was called"
                                  : "a database that is read only cannot flush them"));
  }
  return Status::OK();
}

Status CopySet::Pin(const CopyWanted& wanted) {
  DbState& state = engine_->state;
  VersionSet& versions = *state.versions;
  VARVE_RETURN_IF_ERROR(versions.EndDoubt(engine_->context.directory()));
  state_ = versions.State();
  VARVE_RETURN_IF_ERROR(Choose(wanted));
  state_.one_directory = true;
  // Deleted tables and unread logs are not in the copy and cannot come back there.
  state_.gone_tables.clear();
  state_.unread_logs.clear();
  state_.change_positions.clear();
  if (wanted.tables_only) return Status::OK();
  // The logs that these families need still exist, as no purge has run in between.
  LogHolder::FamilyLogs families;
  uint64_t oldest = UINT64_MAX;
  for (const VersionState::Family& one : state_.families) {
    families[one.family->id] = one.log_number;
    oldest = std::min(oldest, one.log_number);
  }
  oldest = std::min(oldest, state.sections.OldestLogHeld(families));
  if (wanted.own_manifest) oldest = std::min(oldest, versions.min_log_number_to_keep());
  logs_ = state.logs->Pin(oldest);
  state_.min_log_to_keep = std::max(state_.min_log_to_keep, oldest);
  if (wanted.own_manifest) {
    manifest_number_ = versions.manifest_file_number();
    manifest_bytes_ = versions.manifest_file_size();
    return Status::OK();
  }
  // The numbers that no log has, of families that are left out, are used up in the copy as well.
  state_.last_sequence = std::max(state_.last_sequence, sequence_);
  manifest_number_ = versions.NewFileNumber();
  state_.next_file = versions.next_file_number();
  return Status::OK();
}

Status CopySet::Choose(const CopyWanted& wanted) {
  for (const ColumnFamily* family : wanted.families) {
    if (!family->dropped()) continue;
    return Status::InvalidArgument(wanted.call, "column family " + family->name() + " was dropped");
  }
  std::erase_if(state_.families,
                [&](const VersionState::Family& one) { return !IsWanted(wanted, one.family->id); });
  for (const VersionState::Family& one : state_.families) {
    if (one.family->opened) continue;
    return Status::InvalidArgument(
        wanted.call,
        "column family " + one.family->name + " is not open: name those to copy, or open all");
  }
  return Status::OK();
}

void CopySet::AddTables() {
  for (const VersionState::Family& one : state_.families) {
    for (int level = 0; level < one.version->num_levels(); level++) {
      for (const FileRef& table : one.version->level(level).files()) {
        CopyFile& file = files_.emplace_back();
        file.type = kTableFile;
        file.number = table->number;
        file.directory = table->paths->directory(table->path_id);
        file.name = TableFileBaseName(table->number);
        file.size = table->size;
        file.may_link = true;
        file.table = table;
      }
    }
  }
}

Status CopySet::AddLogs() {
  {
    const ActiveWork active(ActiveWork::kLog, engine_->state.commit.get(), "the log,");
    VARVE_RETURN_IF_ERROR(LogSet::HandOver(&logs_));
  }
  for (const LogSet::PinnedLog& log : logs_) {
    CopyFile& file = files_.emplace_back();
    file.type = kWalFile;
    file.number = log.number;
    file.directory = engine_->context.WalDirectory();
    file.name = LogFileBaseName(log.number);
    file.size = log.bytes;
    file.may_link = log.settled;
  }
  return Status::OK();
}

Status CopySet::AddManifest() {
  const std::string name = DescriptorFileBaseName(manifest_number_);
  if (manifest_bytes_ != 0) {
    CopyFile& file = files_.emplace_back();
    file.type = kDescriptorFile;
    file.number = manifest_number_;
    file.directory = engine_->context.name();
    file.name = name;
    file.size = manifest_bytes_;
    return Status::OK();
  }
  std::vector<std::string> records;
  VARVE_RETURN_IF_ERROR(state_.EncodeTo(&records));
  std::string bytes;
  VARVE_RETURN_IF_ERROR(FrameRecords(records, manifest_number_, &bytes));
  Add(kDescriptorFile, manifest_number_, name, std::move(bytes));
  return Status::OK();
}

// Retries when the file is missing: it is replaced by a newer one when options change.
Status CopySet::AddOptions() {
  const DbContext& context = engine_->context;
  for (uint64_t last = 0;;) {
    uint64_t number = 0;
    {
      DbLock lock(&engine_->state.mu);
      number = engine_->jobs->options_keeper.number();
    }
    // A read-only database has written none, so the newest in the directory is taken.
    std::vector<uint64_t> found;
    if (number == 0) {
      VARVE_RETURN_IF_ERROR(ListOptionsFiles(context.fs().get(), context.name(), &found));
      if (!found.empty()) number = found.front();
    }
    if (number == 0 || number == last) return Status::OK();
    last = number;
    std::string text;
    const IOStatus s = ReadFileToString(context.fs().get(), OptionsFileName(context.name(), number),
                                        kOptionsFileBytesMax, &text);
    if (IsMissing(s)) continue;
    if (!s.ok()) return s;
    // With its own MANIFEST, the file is copied as it is.
    if (manifest_bytes_ == 0) text = OptionsOfCopy(text, family_names());
    Add(kOptionsFile, number, OptionsFileBaseName(number), std::move(text));
    return Status::OK();
  }
}

void CopySet::Add(FileType type, uint64_t number, const std::string& name, std::string contents) {
  CopyFile& file = files_.emplace_back();
  file.type = type;
  file.number = number;
  file.directory = engine_->context.name();
  file.name = name;
  file.size = contents.size();
  file.contents = std::move(contents);
}

}  // namespace varve
