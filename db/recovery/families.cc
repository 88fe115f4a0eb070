// SPDX-License-Identifier: Apache-2.0

// Implements the life of a column family, from the check of its options to its drop. A family has
// three parts, which are made in this order:
//
//     FamilyVersions        what the MANIFEST has: id, name, tables    AddToManifest
//     ColumnFamily          what it has at run time: memtables, ...    MakeFamily
//     ColumnFamilyHandle    the user's name for it                     CreateFamily
//
// A drop removes it from the MANIFEST, and then from the set of families. The objects live as long
// as a handle, an iterator or a job holds them.
//
// Invariants
// 1. A family is in the MANIFEST before anything can be written to it, and a drop before the family
//    disappears: a crash neither loses a family with data nor restores a dropped one.
// 2. The size of a family's timestamps is in the log before the family exists, so no reader of the
//    log meets a record of the family without it.
// 3. Creating and dropping hold the commit path exclusively, so no write is running. Directories
//    are made without the DB mutex, so the name is checked again under it.
// 4. If the ColumnFamily cannot be made, the family is dropped from the MANIFEST again.

#include "db/recovery/families.h"

#include <utility>

#include "db/background/jobs.h"
#include "db/engine/engine.h"
#include "db/engine/events.h"
#include "db/engine/output_options.h"
#include "db/recovery/remembered_operators.h"
#include "db/recovery/sanitize.h"
#include "db/recovery/table_directories.h"
#include "db/version/manifest_replay.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/table_space.h"
#include "util/options/validate_options.h"

namespace varve {

// Also checks whether tables can be written, as ValidateOptions accepts values with which that is
// impossible.
Status CheckFamily(const DBOptions& db_options, const ColumnFamilyDescriptor& family) {
  if (family.name.empty()) return Status::InvalidArgument("column family", "the name is empty");
  VARVE_RETURN_IF_ERROR(ValidateOptions(db_options, family.options));
  const ColumnFamilyOptions options = SanitizeFamilyOptions(db_options, family.options);
  TableBuildOptions build;
  build.factory = options.table_factory;
  build.prefix_extractor = options.prefix_extractor.get();
  build.compression = options.compression;
  build.compression_opts = options.compression_opts;
  const InternalKeyComparator icmp(options.comparator);
  build.icmp = &icmp;
  build.level = options.num_levels - 1;
  return TableBuilder::CheckOptions(build);
}

FamilyToOpen ToOpen(const DbContext& context, const ColumnFamilyDescriptor& family) {
  const ColumnFamilyOptions& options = family.options;
  FamilyToOpen result;
  result.name = family.name;
  result.comparator = options.comparator;
  result.num_levels = DeriveColumnFamilyOptions(options).num_levels;
  result.reserves_last_level =
      options.cf_allow_ingest_behind || context.options().allow_ingest_behind;
  result.persist_timestamps = options.persist_user_defined_timestamps;
  result.paths =
      std::make_shared<const TablePaths>(context.name(), TablePathsOf(context.options(), options));
  result.merge_operator = MergeOperatorName(options);
  result.file_charge = NewCacheCharge(TableOptionsOf(options), CacheEntryRole::kFileMetadata);
  return result;
}

Status AddToManifest(Engine* engine, const FamilyToOpen& family,
                     std::shared_ptr<FamilyVersions>* versions,
                     const std::vector<NewFile>& tables) {
  DbState& state = engine->state;
  VARVE_ASSERT(family.comparator != nullptr && state.logs != nullptr);
  const size_t timestamp_size = family.comparator->timestamp_size();
  if (timestamp_size != 0) {
    // A refused family uses no id, so an entry in the log would apply to the next family.
    VARVE_RETURN_IF_ERROR(state.versions->CheckCanBeMade(family));
    // Invariant 2: the size is in the log before any record of the family.
    const wal::TimestampSizes sizes = {{state.versions->next_family_id(), timestamp_size}};
    engine->new_logs.NoteStamped();
    DbUnlock unlock(&state.mu);
    IOStatus s = state.logs->AddTimestampSizes(wal::EncodeTimestampSizes(sizes).front());
    if (!s.ok()) return s;
  }
  return state.versions->CreateFamily(family, state.logs->current_number(),
                                      engine->context.directory(), versions, tables);
}

// Parts of the engine that belong to later layers are passed as functions. The first memtable
// begins after the last sequence number.
std::shared_ptr<ColumnFamily> MakeFamily(Engine* engine, std::shared_ptr<FamilyVersions> versions,
                                         const ColumnFamilyOptions& options) {
  const DbContext& context = engine->context;
  DbState& state = engine->state;
  VARVE_ASSERT(versions != nullptr && state.versions != nullptr);
  FamilyEnvironment env;
  env.db_mutex = std::shared_ptr<DbMutex>(engine->shared_from_this(), &state.mu);
  env.versions = state.versions.get();
  env.holds_snapshot = [&state](const Snapshot* snapshot) {
    return state.snapshots.Owns(snapshot);
  };
  env.stable_sequence = [&state] {
    state.commit->WaitUntilVisible();
    return state.versions->last_sequence();
  };
  env.oldest_snapshot = [&state] { return state.snapshots.OldestHeld(); };
  env.await_snapshots = [&state](SequenceNumber seq) { return state.snapshots.AwaitOldest(seq); };
  env.write_buffer_manager = context.options().write_buffer_manager;
  env.clock = context.clock();
  env.info_log = context.info_log();
  env.references = &engine->lifecycle.references();
  env.handle_deletion = [&context](ColumnFamilyHandle* handle) {
    events::ColumnFamilyHandleDeletionStarted(context, handle);
  };
  env.query_trace = &engine->trace;
  env.table_cache.paths = versions->paths;
  env.table_cache.fs = context.table_fs();
  env.table_cache.file_options = context.file_options();
  env.table_cache.statistics = context.statistics();
  env.table_cache.clock = context.clock();
  env.table_cache.limited = context.limited_tables();
  env.table_cache.verify_unique_id = context.options().verify_sst_unique_id_in_manifest;
  env.table_cache.shows_keys = context.options().allow_data_in_errors;
  auto family =
      std::make_shared<ColumnFamily>(std::move(versions),
                                     std::make_shared<const ColumnFamilyOptions>(
                                         SanitizeFamilyOptions(context.options(), options)),
                                     env);
  // The first switch only sets the memtable, and ignores the number of a log.
  family->SwitchMemTable(family->NewMemTable(state.versions->last_sequence() + 1),
                         /*log_number=*/0);
  return family;
}

// The numbers of existing files are marked as used. Created directories stay even if the family is
// not created, as another thread may be creating one in them.
Status MakeTableDirectories(Engine* engine, const ColumnFamilyDescriptor& family) {
  MadeDirectories made(engine->context.fs().get());
  DirectoryListing listing;
  const Status s = TakeTableDirectories(engine->context, {family}, &made, &listing);
  made.Keep();
  VARVE_RETURN_IF_ERROR(s);
  for (const uint64_t number : TablesIn(listing)) {
    if (number <= kMaxFoundFileNumber) engine->state.versions->MarkFileNumberUsed(number);
  }
  return Status::OK();
}

namespace {

Status CheckIsNew(Engine* engine, const std::string& name) {
  DbLock lock(&engine->state.mu);
  if (engine->state.families.FindByName(name) == nullptr) return Status::OK();
  return Status::InvalidArgument("create column family: it exists already", name);
}

}  // namespace

// After AddToManifest the next opening finds the family, so it is dropped again if a later step
// fails. If that fails, too, a background error stops writes, and the next opening finds the
// family.
Status CreateFamily(Engine* engine, const ColumnFamilyDescriptor& wanted,
                    std::unique_ptr<ColumnFamilyHandle>* handle,
                    const std::vector<NewFile>& tables) {
  Engine& e = *engine;
  VARVE_RETURN_IF_ERROR(PrepareTableFactory(wanted.options));
  Status s = CheckFamily(e.context.options(), wanted);
  if (!s.ok()) return s;
  VARVE_ASSERT(*handle == nullptr);
  VARVE_RETURN_IF_ERROR(CheckIsNew(engine, wanted.name));
  // This is I/O, and done without the mutex, so the name is checked again under it.
  VARVE_RETURN_IF_ERROR(MakeTableDirectories(engine, wanted));
  DbLock lock(&e.state.mu);
  if (e.state.families.FindByName(wanted.name) != nullptr) {
    return Status::InvalidArgument("create column family: it exists already", wanted.name);
  }
  std::shared_ptr<FamilyVersions> versions;
  s = AddToManifest(engine, ToOpen(e.context, wanted), &versions, tables);
  if (s.IsInvalidArgument()) return s;                // Nothing was written.
  if (!tables.empty() && s.IsCorruption()) return s;  // The tables are inconsistent.
  if (!s.ok()) return e.errors.Reported(s, BackgroundErrorReason::kManifestWrite);
  s = Guarded([&] {
    e.state.mu.AssertHeld();
    std::shared_ptr<ColumnFamily> family = MakeFamily(engine, versions, wanted.options);
    family->InstallSuperVersion();
    *handle = std::make_unique<ColumnFamilyHandleImpl>(family);
    e.state.families.Add(std::move(family));
  });
  if (s.ok()) return s;
  // The user gets no handle, so the family is dropped again.
  handle->reset();
  Status dropped = e.state.versions->DropFamily(versions.get(), e.context.directory());
  if (!dropped.ok()) e.errors.Report(dropped, BackgroundErrorReason::kManifestWrite);
  return s;
}

// The family's files are deleted when the last handle, iterator or job releases it.
Status DropFamily(Engine* engine, ColumnFamily* family) {
  Engine& e = *engine;
  DbLock lock(&e.state.mu);
  if (family->dropped()) {
    return Status::InvalidArgument("drop column family: it was dropped already", family->name());
  }
  // Invariant 1: the drop is durable before the family disappears.
  const Status s = e.state.versions->DropFamily(family->versions(), e.context.directory());
  if (!s.ok()) return e.errors.Reported(s, BackgroundErrorReason::kManifestWrite);
  family->MarkDropped();
  VARVE_ASSERT(family->id() != 0 && e.state.families.FindById(family->id()) == family);
  e.state.families.Remove(family->id());
  e.stalls.Update();
  // A dropped family must be removed from the queue of compactions, which would keep its tables.
  BestEffort([&] {
    e.state.mu.AssertHeld();
    e.jobs->compaction.Schedule(family);
  });
  e.state.work.SignalAll();
  return s;
}

// Removes whole directories, since the manager may also have files that no version has.
void ForgetTables(Engine* engine) noexcept {
  TableSpace* const space = engine->context.table_space();
  // In a read-only database another process or opening may own the tables.
  if (space == nullptr || engine->context.read_only()) return;
  BestEffort([&] {
    DbLock lock(&engine->state.mu);
    for (const auto& [id, family] : engine->state.families.all()) {
      for (const std::string& directory : family->table_paths().directories()) {
        space->ForgetDirectory(directory);
      }
    }
  });
}

void ReleaseFamilies(Engine* engine) {
  if (engine->jobs != nullptr) {
    engine->jobs->flush.ClearQueue();
    engine->jobs->compaction.ClearQueue();
  }
  engine->state.families.Clear();
}

}  // namespace varve
