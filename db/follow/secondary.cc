// SPDX-License-Identifier: Apache-2.0

// Brings a database of another process up to date. Reading happens without the mutex and may fail
// at any point, because the primary deletes files while they are read; nothing that was read is in
// force then, and the next try begins where this one ended. Install then changes everything that
// readers see in one hold of the mutex.

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

// Tries until the primary's files fit together. After an error readers see what they saw before.
Status Secondary::CatchUpLocked() {
  // After a promotion this process writes the files itself; after a failed one nobody knows whose
  // they are.
  VARVE_RETURN_IF_ERROR(ended_);
  ReaderPatience patience;
  for (;;) {
    const Status s = TryOnce();
    if (s.ok()) {
      newest_micros_ = engine_->context.MonotonicMicros();
      RemoveLinks();
    }
    if (s.ok() || !(s.IsTryAgain() || ReaderPatience::MayPass(s))) return s;
    // Places that move on show that the primary is only faster; if they stand still, the damage is
    // real.
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

// Does one try (item 2 of secondary.h). A failure leaves what readers see as it was; what was read
// is kept for the next try.
Status Secondary::TryOnce() {
  VARVE_RETURN_IF_ERROR(ReadManifest());
  // The MANIFEST is read before and after the logs. If it has grown in between, a log may have been
  // flushed and removed unseen, and the try counts for nothing.
  const std::pair<uint64_t, uint64_t> read_to(manifest_.number(), manifest_.end());
  if (trees_are_old_ || prepared_) VARVE_RETURN_IF_ERROR(Prepare());
  const SequenceNumber applied = logs_.applied();
  VARVE_RETURN_IF_ERROR(logs_.ReadOn(manifest_.replay()));
  VARVE_RETURN_IF_ERROR(ReadManifest());
  if (read_to != std::pair(manifest_.number(), manifest_.end())) {
    return Status::TryAgain(engine_->context.name(),
                            "its MANIFEST changes faster than it is followed");
  }
  // An installation takes the cached super-versions from all threads, so it needs something new.
  const bool is_new = prepared_ || logs_.applied() != applied || logs_.applied() > limit_;
  if (is_new || !installed_) Install();
  return Status::OK();
}

// Called by the first Prepare. A failure ends the opening.
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

// Builds the trees under the mutex, then opens their tables without it. If a table cannot be
// opened, the trees are kept (prepared_), and the next try opens the rest; nothing is in force
// meanwhile.
Status Secondary::Prepare() {
  DbState& state = engine_->state;
  if (trees_are_old_) {
    DbLock lock(&state.mu);
    prepared_ = false;
    VARVE_RETURN_IF_ERROR(state.versions->BuildFollowed(manifest_.replay(), &trees_));
    if (state.families.all().empty()) VARVE_RETURN_IF_ERROR(MakeFamilies());
    trees_are_old_ = false;
    prepared_ = true;
    if (trees_.made_up) manifest_.StartAnew();
  }
  // Tables are opened without the mutex, as that reads them. The references keep versions and
  // caches alive.
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

// A memtable goes when its family needs no log up to the one that it came from: then all its
// entries are in the tables that come into force before the mutex is released.
void Secondary::DropFlushed(ColumnFamily* family) {
  const uint64_t log_number = family->versions()->log_number;
  // The active memtable, too, is in tables, as the family needs no log that was read so far.
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
  // Without memory for the list the links stay until the next time.
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
  // They are removed in a second loop, because Remove changes the map.
  for (const std::shared_ptr<ColumnFamily>& family : dropped) {
    family->MarkDropped();
    state.families.Remove(family->id());
  }
}

// Brings trees and memtables into force for all families in one hold of the mutex. The limit goes
// up before the super-versions are made, since each takes its limit from its family.
void Secondary::Install() {
  DbState& state = engine_->state;
  DbLock lock(&state.mu);
  // Without memory it may end half-way; the next catch-up does it again.
  installed_ = false;
  SequenceNumber limit = std::max({limit_, logs_.applied(), NewestIn(trees_)});
  // Compactions set numbers that no reader can ask for to 0, so the tables may not have the newest.
  if (logs_.applied() == 0) limit = std::max(limit, manifest_.replay()->last_sequence());
  // Old super-versions are kept before the limit moves, for snapshots that were taken under it.
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
  // Readers who still hold an old super-version are bounded by its own limit (SuperVersion::Limit),
  // so the newest number may move before the super-versions do.
  state.versions->set_last_sequence(limit);
  state.commit->StartFrom(limit);
  for (const auto& [id, family] : state.families.all()) family->InstallSuperVersion();
  installed_ = true;
}

// Makes the checks that need no lock first. The lock shows that the primary is gone, and is kept
// only if the promotion succeeds.
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
  // A secondary that stays one must not keep a new primary out.
  if (!s.ok()) Guarded([&context] { return context.Unlock(); }).PermitUncheckedError();
  return s;
}

// Until Run nothing has changed, and a refusal leaves a secondary. From Run on the secondary has
// ended, whatever comes of it (ended_).
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

// The age is 0 if nothing is left to read; otherwise it counts from the end of the last full
// CatchUp.
Status Secondary::Lag(SecondaryLag* lag) {
  IoMutexLock lock(&mu_);
  *lag = {};
  VARVE_RETURN_IF_ERROR(ended_);
  SequenceNumber newest = 0;
  VARVE_RETURN_IF_ERROR(logs_.MeasureRest(&lag->log_bytes, &newest));
  lag->sequences = newest - std::min(newest, limit_);
  // Nothing is left in the logs. If the MANIFEST has nothing new either, the state is the newest
  // one, whenever it was last looked at, and its age is 0.
  if (lag->log_bytes == 0) {
    VARVE_RETURN_IF_ERROR(ReadManifest());
    if (!trees_are_old_ && !prepared_) return Status::OK();
  }
  lag->age_micros = engine_->context.MonotonicMicros() - newest_micros_;
  return Status::OK();
}

}  // namespace varve
