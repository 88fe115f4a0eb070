// SPDX-License-Identifier: Apache-2.0
#include "db/follow/secondary.h"

#include <algorithm>
#include <set>
#include <utility>

#include "db/follow/promotion.h"
#include "db/recovery/families.h"
#include "db/recovery/openable_tables.h"
#include "db/recovery/reader_patience.h"
#include "util/base/assert.h"
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

Status Secondary::CatchUpLocked() {
  VARVE_RETURN_IF_ERROR(ended_);
  ReaderPatience patience;
  for (;;) {
    const Status s = TryOnce();
    if (s.ok()) {
      newest_micros_ = engine_->context.MonotonicMicros();
      RemoveLinks();
    }
    if (s.ok() || !(s.IsTryAgain() || ReaderPatience::MayPass(s))) return s;
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

Status Secondary::TryOnce() {
  VARVE_RETURN_IF_ERROR(ReadManifest());
  const std::pair<uint64_t, uint64_t> read_to(manifest_.number(), manifest_.end());
  if (trees_are_old_ || prepared_) VARVE_RETURN_IF_ERROR(Prepare());
  const SequenceNumber applied = logs_.applied();
  VARVE_RETURN_IF_ERROR(logs_.ReadOn(manifest_.replay()));
  VARVE_RETURN_IF_ERROR(ReadManifest());
  if (read_to != std::pair(manifest_.number(), manifest_.end())) {
    return Status::TryAgain(engine_->context.name(),
                            "its MANIFEST changes faster than it is followed");
  }
  if (prepared_ || logs_.applied() != applied || logs_.applied() > limit_) Install();
  return Status::OK();
}

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
  std::vector<std::pair<VersionRef, std::shared_ptr<TableCache>>> tables;
  {
    DbLock lock(&state.mu);
    for (const auto& [id, family] : state.families.all()) {
      const auto tree = trees_.by_family.find(id);
      if (tree == trees_.by_family.end()) continue;
      tables.emplace_back(tree->second.version, family->shared_table_cache());
    }
  }
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

void Secondary::DropFlushed(ColumnFamily* family) {
  const uint64_t log_number = family->versions()->log_number;
  if (log_number > logs_.number() && !family->mem()->Empty()) {
    family->SwitchMemTable(family->NewMemTable(limit_ + 1), log_number);
  }
  const auto& immutables = family->immutables();
  size_t flushed = 0;
  while (flushed < immutables.size() && immutables[flushed].mem->next_log_number() <= log_number) {
    flushed++;
  }
  family->DropFlushed(flushed);
}

void Secondary::RemoveLinks() {
  if (links_ == nullptr) return;
  // Without memory for the list the links stay until the next time.
  BestEffort([this] {
    std::set<uint64_t> live;
    {
      DbLock lock(&engine_->state.mu);
      engine_->state.versions->AddLiveFiles(&live);
    }
    links_->KeepOnly(live);
  });
}

void Secondary::RemoveDropped() {
  DbState& state = engine_->state;
  std::vector<std::shared_ptr<ColumnFamily>> dropped;
  for (const auto& [id, family] : state.families.all()) {
    if (state.versions->FindFamily(id) == nullptr) dropped.push_back(family);
  }
  for (const std::shared_ptr<ColumnFamily>& family : dropped) {
    family->MarkDropped();
    state.families.Remove(family->id());
  }
}

void Secondary::Install() {
  DbState& state = engine_->state;
  DbLock lock(&state.mu);
  SequenceNumber limit = std::max({limit_, logs_.applied(), NewestIn(trees_)});
  // Compactions set numbers that no reader can ask for to 0, so the tables may not have the newest.
  if (logs_.applied() == 0) limit = std::max(limit, manifest_.replay()->last_sequence());
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
  state.versions->set_last_sequence(limit);
  state.commit->StartFrom(limit);
  for (const auto& [id, family] : state.families.all()) family->InstallSuperVersion();
}

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
  const IOStatus locked = context.Lock();
  if (!locked.ok()) {
    return Status::CopyAppendMessage(locked, "; ", "the primary must be gone before a promotion");
  }
  Status s = Guarded([this] { return PromoteLocked(); });
  if (!s.ok()) Guarded([&context] { return context.Unlock(); }).PermitUncheckedError();
  return s;
}

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

Status Secondary::Lag(SecondaryLag* lag) {
  IoMutexLock lock(&mu_);
  *lag = {};
  VARVE_RETURN_IF_ERROR(ended_);
  SequenceNumber newest = 0;
  VARVE_RETURN_IF_ERROR(logs_.MeasureRest(&lag->log_bytes, &newest));
  lag->sequences = newest - std::min(newest, limit_);
  if (lag->log_bytes == 0) {
    VARVE_RETURN_IF_ERROR(ReadManifest());
    if (!trees_are_old_ && !prepared_) return Status::OK();
  }
  lag->age_micros = engine_->context.MonotonicMicros() - newest_micros_;
  return Status::OK();
}

}  // namespace varve
