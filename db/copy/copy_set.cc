// SPDX-License-Identifier: Apache-2.0

// A set is taken in steps: a flush; then, in one hold of the DB mutex, the versions, the length of
// the MANIFEST, and pins on the logs that these need; finally the ends of the logs. Writes between
// the steps are in a log, and so belong to the set, except for writes with disableWAL. If memtables
// have such writes after the last step, the attempt is repeated, and the last attempt is made while
// writers are blocked.

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

// Number of attempts to take a set while writes go on, before writers are blocked.
constexpr int kTriesBesideWriters = 3;

// Returns true if the family has unlogged writes in memory.
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

// Returns true if the copy contains the family. The default family (id 0) is in every copy that is
// to be opened as a database, which needs one, but not in a list of one family's tables.
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
  // The number is read before the set is taken, so that the set has all writes up to it.
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

CopySet::CopySet(Engine* engine) : engine_(engine) {
  DbState& state = engine_->state;
  DbLock lock(&state.mu);
  state.blob_holes.Hold();
  while (state.blob_holes.is_punching()) state.work.Wait();
}

CopySet::~CopySet() {
  Unpin();
  DbLock lock(&engine_->state.mu);
  engine_->state.blob_holes.EndHold();
  if (!engine_->state.blob_holes.empty()) engine_->jobs->obsolete.PurgeSoon();
}

void CopySet::Unpin() noexcept {
  if (!logs_.empty()) engine_->state.logs->Unpin(logs_);
  logs_.clear();
}

// Unlogged writes between the flush and the end of the logs would be missing from the copy, while
// later logged writes are in it, so it would not be a prefix. So there must be no unlogged writes
// in memory afterwards. Those after the end of the logs would be harmless, but cannot be
// distinguished.
Status CopySet::TakeMoment(const CopyWanted& wanted) {
  DbState& state = engine_->state;
  const bool read_only = engine_->context.read_only();
  for (int tries = 0; tries < kTriesBesideWriters; tries++) {
    // Only the first attempt flushes because of the logs' size; later ones flush what is unlogged.
    if (!read_only) VARVE_RETURN_IF_ERROR(Flush(wanted, /*for_size=*/tries == 0));
    // Waits until the OPTIONS file has all changes that were made. An error of writing it is
    // reported to the caller that changed options.
    engine_->jobs->options_keeper.Settle().PermitUncheckedError();
    {
      DbLock lock(&state.mu);
      if (read_only) VARVE_RETURN_IF_ERROR(CheckNothingInMemory(wanted));
      VARVE_RETURN_IF_ERROR(Pin(wanted));
    }
    if (wanted.tables_only) return Status::OK();
    VARVE_RETURN_IF_ERROR(HandOverLogs());
    if (read_only) return Status::OK();
    // A write that was in progress at the end of the logs must reach its memtable first, which then
    // knows whether it was logged.
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

// Handles unlogged writes that keep arriving: while writers are blocked, nothing is written between
// the flush and the pins.
Status CopySet::TakeWithoutWriters(const CopyWanted& wanted) {
  DbState& state = engine_->state;
  VARVE_RETURN_IF_ERROR(RefuseHeldUp(wanted.call, ActiveWork::kFlush, &engine_->lifecycle));
  const ExclusiveCommit exclusive(state.commit.get());
  {
    DbLock lock(&state.mu);
    if (engine_->errors.state().writes_stopped()) return engine_->errors.state().error();
    std::vector<std::shared_ptr<ColumnFamily>> families = UnloggedFamilies(wanted);
    // With atomic_flush families are only flushed all together.
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
  // A secondary cannot copy the logs, which the primary writes.
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

// After EndDoubt, which may release the mutex, everything is taken in one hold of it: the versions,
// the bounds of logs, the pins, and the length of the MANIFEST.
Status CopySet::Pin(const CopyWanted& wanted) {
  DbState& state = engine_->state;
  VersionSet& versions = *state.versions;
  // After a failed write it is unknown if the MANIFEST has the edit, so no state in memory is known
  // to match the file.
  VARVE_RETURN_IF_ERROR(versions.EndDoubt(engine_->context.directory()));
  state_ = versions.State();
  VARVE_RETURN_IF_ERROR(Choose(wanted));
  // The new MANIFEST, if one is made, describes a copy with all tables in its first directory.
  state_.one_directory = true;
  // Deleted tables and unread logs are not in the copy and cannot reappear there.
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
  oldest = std::min(oldest, state.prepared.OldestLogHeld(families));
  // The database's own MANIFEST has this bound, and an opening reports a missing log at or above
  // it.
  if (wanted.own_manifest) oldest = std::min(oldest, versions.min_log_number_to_keep());
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  logs_ = state.logs->Pin(VARVE_CANARY(kCopyWithoutOldestLog) ? oldest + 1 : oldest);
  state_.min_log_to_keep = std::max(state_.min_log_to_keep, oldest);
  if (wanted.own_manifest) {
    manifest_number_ = versions.manifest_file_number();
    manifest_bytes_ = versions.manifest_file_size();
    return Status::OK();
  }
  // Sequence numbers of families that are left out are not in the copied logs, but must not be
  // reused in the copy.
  state_.last_sequence = std::max(state_.last_sequence, sequence_);
  // A new number ensures that no other file of the copy has the name.
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
  size_t files = 0;
  for (const VersionState::Family& one : state_.families) {
    for (int level = 0; level < one.version->num_levels(); level++) {
      files += one.version->level(level).files().size();
    }
    files += one.version->blob_files().size();
  }
  files_.reserve(files);
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
        // Only tables without a unique id can be LevelDB's, so the file system is not asked about
        // the others.
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
  // With CopyWanted::own_manifest the copy gets the database's MANIFEST, up to the size it had when
  // the set was taken. Otherwise a new one is made of the chosen families.
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

// Adds the newest OPTIONS file, if there is one. Retries when the file is missing, as a change of
// options replaces it.
Status CopySet::AddOptions() {
  const DbContext& context = engine_->context;
  for (uint64_t last = 0;;) {
    uint64_t number = 0;
    {
      DbLock lock(&engine_->state.mu);
      number = engine_->jobs->options_keeper.number();
    }
    // A read-only database has not written one, so the newest in the directory is taken.
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
    // In a copy with a new MANIFEST, the text names only the copied families.
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
