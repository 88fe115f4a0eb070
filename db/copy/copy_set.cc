// SPDX-License-Identifier: Apache-2.0

// A copy is made of pieces that are taken one after the other: a flush; then, in one hold of the DB
// mutex, the versions, the length of the MANIFEST, and pins on the logs that these need; at last
// the ends of the logs. Whatever is written in between is in a log, and so belongs to the copy,
// except for writes with disableWAL. If there are any in memory after the pins, the attempt is
// repeated, and at last made while writers are kept out.

#include "db/copy/copy_set.h"

#include <algorithm>
#include <utility>

#include "db/background/jobs.h"
#include "db/copy/manifest_bytes.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/options/options_file.h"

namespace varve {

namespace {

// Attempts to take a set while writes go on, before writers are kept out.
constexpr int kTriesBesideWriters = 3;

// True if a family has writes in memory that no log has.
bool HasUnlogged(ColumnFamily* family) VARVE_REQUIRES(kDbMutex) {
  if (family->mem()->has_unlogged()) return true;
  return std::ranges::any_of(family->immutables(), [](const ImmutableMemTable& immutable) {
    return immutable.mem->has_unlogged();
  });
}

// Returns the name that LevelDB gave the table, or "" if it has its usual name.
std::string OldNameOf(FileSystem* fs, const FileMetaData& table) {
  if (fs->FileExists(table.FileName(), IOOptions(), nullptr).ok()) return "";
  const std::string path = table.LevelDbFileName();
  return fs->FileExists(path, IOOptions(), nullptr).ok() ? path.substr(path.rfind('/') + 1) : "";
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
  // Taken before the moment of the set: what was visible now is surely in it.
  taken->sequence_ = state.versions->last_sequence();
  VARVE_RETURN_IF_ERROR(taken->TakeMoment(wanted));
  taken->AddTables();
  if (wanted.tables_only) {
    *set = std::move(taken);
    return Status::OK();
  }
  taken->AddLogs();
  VARVE_RETURN_IF_ERROR(taken->AddManifest());
  VARVE_RETURN_IF_ERROR(taken->AddOptions());
  taken->Add(kCurrentFile, 0, "CURRENT", DescriptorFileBaseName(taken->manifest_number_) + "\n");
  *set = std::move(taken);
  return Status::OK();
}

CopySet::~CopySet() {
  Unpin();
}

void CopySet::Unpin() noexcept {
  if (!logs_.empty()) engine_->state.logs->Unpin(logs_);
  logs_.clear();
}

// Unlogged writes between the flush and the end of the logs would be missing where later logged
// ones are not. So there must be none in memory afterwards; those after the end do no harm, but
// cannot be told apart.
Status CopySet::TakeMoment(const CopyWanted& wanted) {
  DbState& state = engine_->state;
  const bool read_only = engine_->context.read_only();
  for (int tries = 0; tries < kTriesBesideWriters; tries++) {
    if (!read_only) VARVE_RETURN_IF_ERROR(Flush(wanted, /*for_size=*/tries == 0));
    // A failure to write is reported to the caller that changed options.
    engine_->jobs->options_keeper.Settle().PermitUncheckedError();
    {
      DbLock lock(&state.mu);
      if (read_only) VARVE_RETURN_IF_ERROR(CheckNothingInMemory(wanted));
      VARVE_RETURN_IF_ERROR(Pin(wanted));
    }
    if (wanted.tables_only) return Status::OK();
    VARVE_RETURN_IF_ERROR(HandOverLogs());
    if (read_only) return Status::OK();
    // A write that was under way at the end of the logs may only now reach its memtable, and tell
    // whether it was logged.
    state.commit->WaitForAll();
    {
      DbLock lock(&state.mu);
      if (UnloggedFamilies(wanted).empty()) return Status::OK();
    }
    Unpin();
  }
  return TakeWithoutWriters(wanted);
}

std::vector<std::shared_ptr<ColumnFamily>> CopySet::UnloggedFamilies(
    const CopyWanted& wanted) const {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  for (const auto& [id, family] : engine_->state.families.all()) {
    if (IsWanted(wanted, id) && HasUnlogged(family.get())) families.push_back(family);
  }
  return families;
}

// The last resort against unlogged writes that keep coming: with writers kept out, the flush and
// the pins are of one moment.
Status CopySet::TakeWithoutWriters(const CopyWanted& wanted) {
  DbState& state = engine_->state;
  VARVE_RETURN_IF_ERROR(RefuseHeldUp(wanted.call, ActiveWork::kFlush, &engine_->lifecycle));
  const ExclusiveCommit exclusive(state.commit.get());
  {
    DbLock lock(&state.mu);
    if (engine_->errors.state().writes_stopped()) return engine_->errors.state().error();
    std::vector<std::shared_ptr<ColumnFamily>> families = UnloggedFamilies(wanted);
    if (engine_->context.options().atomic_flush) {
      families.clear();
      for (const auto& [id, family] : state.families.all()) families.push_back(family);
    }
    std::vector<ColumnFamily*> switched;
    for (const auto& family : families) switched.push_back(family.get());
    FlushWork& flush = engine_->jobs->flush;
    VARVE_RETURN_IF_ERROR(flush.SwitchMemTables(switched));
    std::vector<FlushWork::Frozen> frozen;
    for (const auto& family : families) {
      if (family->immutables().empty()) continue;
      frozen.push_back({family, family->immutables().back().mem->id()});
    }
    VARVE_RETURN_IF_ERROR(flush.FlushFrozen(frozen, FlushReason::kGetLiveFiles));
    VARVE_RETURN_IF_ERROR(Pin(wanted));
  }
  return HandOverLogs();
}

std::vector<std::string> CopySet::family_names() const {
  std::vector<std::string> names;
  for (const VersionState::Family& one : state_.families) names.push_back(one.family->name);
  return names;
}

Status CopySet::Flush(const CopyWanted& wanted, bool for_size) {
  std::vector<std::shared_ptr<ColumnFamily>> families;
  {
    DbState& state = engine_->state;
    const bool all = for_size && (wanted.log_bytes_for_flush == 0 ||
                                  (wanted.log_bytes_for_flush != UINT64_MAX &&
                                   state.logs->total_bytes() >= wanted.log_bytes_for_flush));
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

// Once the doubt is ended, all that follows is of one hold of the mutex: the versions, the bounds
// of logs, the pins, and the length of the MANIFEST.
Status CopySet::Pin(const CopyWanted& wanted) {
  DbState& state = engine_->state;
  VersionSet& versions = *state.versions;
  // While it is in doubt if an edit is in force, no state is surely that of the MANIFEST.
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
  // The database's own MANIFEST names this bound, and an opening reports a log from it on that is
  // missing.
  if (wanted.own_manifest) oldest = std::min(oldest, versions.min_log_number_to_keep());
  logs_ = state.logs->Pin(VARVE_CANARY(kCopyWithoutOldestLog) ? oldest + 1 : oldest);
  state_.min_log_to_keep = std::max(state_.min_log_to_keep, oldest);
  if (wanted.own_manifest) {
    manifest_number_ = versions.manifest_file_number();
    manifest_bytes_ = versions.manifest_file_size();
    return Status::OK();
  }
  // The numbers that no log has, of families that are left out, are used up in the copy as well.
  state_.last_sequence = std::max(state_.last_sequence, sequence_);
  // The number is unused, so that no file of the copy has the name.
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

// Runs without the mutex: state_ holds the versions, and these their files.
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
        // Tables that LevelDB has written have no id, and may have its name; asking for each
        // table's name would take long.
        if (table->unique_id.empty())
          file.old_name = OldNameOf(engine_->context.fs().get(), *table);
      }
    }
    for (const BlobFileState& blobs : one.version->blob_files()) {
      CopyFile& file = files_.emplace_back();
      file.type = kBlobFile;
      file.number = blobs.number();
      file.table = blobs.blobs->file();
      file.directory = file.table->paths->directory(0);
      file.name = BlobFileBaseName(blobs.number());
      file.size = blobs.FileSize();
      file.may_link = true;
    }
  }
}

Status CopySet::HandOverLogs() {
  const ActiveWork active(ActiveWork::kLog, engine_->state.commit.get(), "the log,");
  return LogSet::HandOver(&logs_);
}

void CopySet::AddLogs() {
  for (const LogSet::PinnedLog& log : logs_) {
    CopyFile& file = files_.emplace_back();
    file.type = kWalFile;
    file.number = log.number;
    file.directory = engine_->context.WalDirectory();
    file.name = LogFileBaseName(log.number);
    file.size = log.bytes;
    file.may_link = log.settled;
  }
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
