// SPDX-License-Identifier: Apache-2.0

// Brings a database of another process up to date. Files are read without the DB mutex. Reading may
// fail at any point, because the primary deletes files meanwhile; nothing that was read is visible
// then, and the next attempt continues from there. Install then changes everything that readers see
// in one hold of the mutex.

#include "db/follow/secondary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "db/follow/promotion.h"
#include "db/recovery/families.h"
#include "db/recovery/openable_tables.h"
#include "db/recovery/reader_patience.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/network_storage.h"

namespace varve {

namespace {

std::vector<FamilyToOpen> ToOpenAll(const DbContext& context,
                                    const std::vector<ColumnFamilyDescriptor>& families) {
  std::vector<FamilyToOpen> wanted;
  for (const ColumnFamilyDescriptor& family : families) wanted.push_back(ToOpen(context, family));
  return wanted;
}

}  // namespace

Secondary::Secondary(Engine* engine, std::vector<ColumnFamilyDescriptor> families,
                     std::shared_ptr<LinkedTables> links)
    : engine_(engine),
      wanted_(std::move(families)),
      links_(std::move(links)),
      manifest_(engine->context, engine->state.versions.get(), ToOpenAll(engine->context, wanted_)),
      logs_(engine) {}

Status Secondary::Open() {
  IoMutexLock lock(&mu_);
  return CatchUpLocked();
}

Status Secondary::CatchUp() {
  IoMutexLock lock(&mu_);
  return CatchUpLocked();
}

// Makes attempts until one succeeds, fails for a reason that does not pass, or ReaderPatience gives
// up.
Status Secondary::CatchUpLocked() {
  // After a promotion this process writes the files itself; after a failed one their state is
  // unknown.
  VARVE_RETURN_IF_ERROR(ended_);
  ReaderPatience patience;
  for (;;) {
    const Status s = TryOnce();
    if (s.ok()) {
      newest_micros_ = engine_->context.MonotonicMicros();
      RemoveLinks();
    }
    if (s.ok() || !(s.IsTryAgain() || ReaderPatience::MayPass(s))) return s;
    // If the offsets that were read to have moved, the primary was only faster; if not, the damage
    // is real.
    const bool again = patience.TriesAgain(
        engine_->context, {manifest_.number(), manifest_.end(), logs_.number(), logs_.end()});
    if (!again) return s;
  }
}

Status Secondary::ReadManifest() {
  bool changed = false;
  const Status s = manifest_.ReadOn(&changed);
  trees_are_old_ = trees_are_old_ || changed;
  return s;
}

// Makes one attempt (invariant 2 of secondary.h). After an error the visible state is unchanged,
// and what was read is kept for the next attempt.
Status Secondary::TryOnce() {
  VARVE_RETURN_IF_ERROR(ReadManifest());
  // The MANIFEST is read before and after the logs. If it has grown in between, a log may have been
  // flushed and deleted unseen, so the attempt must be repeated.
  const std::pair<uint64_t, uint64_t> read_to(manifest_.number(), manifest_.end());
  if (trees_are_old_ || prepared_) VARVE_RETURN_IF_ERROR(Prepare());
  const SequenceNumber applied = logs_.applied();
  VARVE_RETURN_IF_ERROR(logs_.ReadOn(manifest_.replay()));
  VARVE_RETURN_IF_ERROR(ReadManifest());
  if (read_to != std::pair(manifest_.number(), manifest_.end())) {
    return Status::TryAgain(engine_->context.name(),
                            "its MANIFEST changes faster than it is followed");
  }
  // Installing invalidates the super-versions cached by all threads, so it is done only if there is
  // something new.
  const bool is_new = prepared_ || logs_.applied() != applied || logs_.applied() > limit_;
  if (is_new || !installed_) Install();
  return Status::OK();
}

// Called by the first Prepare. An error makes the opening fail.
Status Secondary::MakeFamilies() {
  DbState& state = engine_->state;
  state.versions->Follow(manifest_.replay(), manifest_.number(), trees_);
  for (const ColumnFamilyDescriptor& family : wanted_) {
    std::shared_ptr<FamilyVersions> versions = state.versions->FindFamily(family.name);
    if (versions == nullptr) {
      return Status::InvalidArgument("open as secondary: the primary has no column family",
                                     family.name);
    }
    state.families.Add(MakeFamily(engine_, std::move(versions), family.options));
  }
  return Status::OK();
}

// Builds the versions under the mutex, then opens their tables without it. If a table cannot be
// opened, the versions are kept (prepared_), and the next attempt opens the rest; nothing is
// visible meanwhile.
Status Secondary::Prepare() {
  DbState& state = engine_->state;
  if (trees_are_old_) {
    DbLock lock(&state.mu);
    prepared_ = false;
    VARVE_RETURN_IF_ERROR(state.versions->BuildFollowed(manifest_.replay(), &trees_));
    if (state.families.all().empty()) VARVE_RETURN_IF_ERROR(MakeFamilies());
    trees_are_old_ = false;
    prepared_ = true;
    // Epochs or sequence numbers were invented for the replay's files, so the replay must not go on
    // with these: the next ReadManifest reads the MANIFEST from its beginning.
    if (trees_.made_up) manifest_.StartAnew();
  }
  // Tables are opened without the mutex, as that is I/O. These references keep versions and caches
  // alive.
  std::vector<std::pair<VersionRef, std::shared_ptr<TableCache>>> tables;
  {
    DbLock lock(&state.mu);
    for (const auto& [id, family] : state.families.all()) {
      const auto tree = trees_.by_family.find(id);
      if (tree == trees_.by_family.end()) continue;
      tables.emplace_back(tree->second.version, family->shared_table_cache());
    }
  }
  // A table that is open stays readable after the primary has deleted it.
  for (const auto& [version, cache] : tables) {
    VARVE_RETURN_IF_ERROR(OpenTablesAhead(engine_->context, *version, cache.get()));
  }
  return Status::OK();
}

SequenceNumber Secondary::NewestIn(const FollowedTrees& trees) const {
  SequenceNumber newest = 0;
  for (const auto& [id, tree] : trees.by_family) {
    for (int level = 0; level < tree.version->non_empty_levels(); level++) {
      for (const FileRef& file : tree.version->level(level).files()) {
        newest = std::max(newest, file->largest_seq);
      }
    }
  }
  return newest;
}

// Drops the memtables from logs below the family's log number: all their entries are in tables that
// become visible in the same hold of the mutex.
void Secondary::DropFlushed(ColumnFamily* family) {
  const uint64_t log_number = family->versions()->log_number;
  // The family needs no log that was read so far, so the entries of the active memtable are in
  // tables, too.
  if (log_number > logs_.number() && !family->mem()->Empty()) {
    family->SwitchMemTable(family->NewMemTable(limit_ + 1), log_number);
  }
  const auto& immutables = family->immutables();
  size_t flushed = 0;
  while (flushed < immutables.size() && (immutables[flushed].mem->next_log_number() <= log_number ||
                                         VARVE_CANARY(kDropMemTableEarly))) {
    flushed++;
  }
  family->DropFlushed(flushed);
}

void Secondary::RemoveLinks() {
  if (links_ == nullptr || VARVE_CANARY(kFollowerKeepsLinks)) return;
  // If there is no memory for the list, the links stay until the next time.
  BestEffort([this] {
    std::set<uint64_t> live;
    std::vector<VersionRef> held;
    {
      DbLock lock(&engine_->state.mu);
      engine_->state.versions->AddLiveFiles(&live, &held);
    }
    if (VARVE_CANARY(kFollowerDropsLinks)) live.clear();
    links_->KeepOnly(live);
  });
}

void Secondary::RemoveDropped() {
  DbState& state = engine_->state;
  std::vector<std::shared_ptr<ColumnFamily>> dropped;
  for (const auto& [id, family] : state.families.all()) {
    if (state.versions->FindFamily(id) == nullptr) dropped.push_back(family);
  }
  // A second loop removes them, because Remove changes the map.
  for (const std::shared_ptr<ColumnFamily>& family : dropped) {
    family->MarkDropped();
    state.families.Remove(family->id());
  }
}

// Installs versions and memtables of all families in one hold of the mutex. The limit is raised
// before the super-versions are made, since each takes its limit from its family.
void Secondary::Install() {
  DbState& state = engine_->state;
  DbLock lock(&state.mu);
  // If an allocation below throws, the next catch-up repeats the installation.
  installed_ = false;
  SequenceNumber limit = std::max({limit_, logs_.applied(), NewestIn(trees_)});
  // Compactions set sequence numbers that no snapshot needs to 0, so the tables may lack the newest
  // number.
  if (logs_.applied() == 0) limit = std::max(limit, manifest_.replay()->last_sequence());
  // For existing snapshots, the old super-versions are kept before the limit is raised.
  const std::vector<SequenceNumber> snapshots = state.snapshots.Pinned();
  for (const auto& [id, family] : state.families.all()) family->KeepPast(snapshots);
  limit_ = limit;
  for (const auto& [id, family] : state.families.all()) family->set_sequence_limit(limit);
  if (prepared_) {
    state.versions->Follow(manifest_.replay(), manifest_.number(), trees_);
    RemoveDropped();
    for (const auto& [id, family] : state.families.all()) DropFlushed(family.get());
    prepared_ = false;
  }
  // Readers with an old super-version use its limit (SuperVersion::Limit), so the visible sequence
  // number may be raised before the super-versions are installed.
  state.versions->set_last_sequence(limit);
  state.commit->StartFrom(limit);
  for (const auto& [id, family] : state.families.all()) family->InstallSuperVersion();
  installed_ = true;
}

// Makes the checks that need no lock first. Taking the database's lock proves that no primary on
// this machine runs; it is kept only if the promotion succeeds.
Status Secondary::Promote(const PromoteOptions& options) {
  IoMutexLock lock(&mu_);
  VARVE_RETURN_IF_ERROR(ended_);
  DbContext& context = engine_->context;
  if (links_ != nullptr) {
    return Status::NotSupported(
        "Promote: a follower stays one; a secondary (DB::OpenAsSecondary) can be promoted");
  }
  if (!options.allow_network_storage && IsOnNetworkStorage(context.name())) {
    return Status::NotSupported(
        context.name(),
        "is on storage of the network, where the lock does not keep out a primary on another "
        "machine; PromoteOptions::allow_network_storage says that there is none");
  }
  // A primary that still runs on this machine holds the lock, and the promotion is refused.
  const IOStatus locked = context.Lock();
  if (!locked.ok()) {
    return Status::CopyAppendMessage(locked, "; ", "the primary must be gone before a promotion");
  }
  Status s = Guarded([this] { return PromoteLocked(); });
  // After an error the lock is released, so that another primary can be opened.
  if (!s.ok()) Guarded([&context] { return context.Unlock(); }).PermitUncheckedError();
  return s;
}

// Before Run nothing is changed, and after an error the secondary can still catch up. From Run on
// it cannot, whether Run succeeds or not (ended_).
Status Secondary::PromoteLocked() {
  VARVE_RETURN_IF_ERROR(CatchUpLocked());
  Promotion promotion(engine_, wanted_, &manifest_, &logs_);
  VARVE_RETURN_IF_ERROR(promotion.Check());
  const Status s = promotion.Run();
  ended_ = s.ok()
               ? Status::NotSupported("the database is no secondary any more")
               : Status::Aborted("a promotion has failed; open the database again", s.ToString());
  return s;
}

// The age is 0 if nothing is left to read; otherwise it is the time since the last successful
// catch-up.
Status Secondary::Lag(SecondaryLag* lag) {
  IoMutexLock lock(&mu_);
  *lag = {};
  VARVE_RETURN_IF_ERROR(ended_);
  SequenceNumber newest = 0;
  VARVE_RETURN_IF_ERROR(logs_.MeasureRest(&lag->log_bytes, &newest));
  lag->sequences = newest - std::min(newest, limit_);
  // Nothing is left in the logs. If the MANIFEST has nothing new either, the visible state is the
  // newest one, so its age is 0.
  if (lag->log_bytes == 0) {
    VARVE_RETURN_IF_ERROR(ReadManifest());
    if (!trees_are_old_ && !prepared_) return Status::OK();
  }
  lag->age_micros = engine_->context.MonotonicMicros() - newest_micros_;
  return Status::OK();
}

}  // namespace varve
