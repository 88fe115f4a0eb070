// SPDX-License-Identifier: Apache-2.0

// Builds the trees of a MANIFEST that another process writes, from what was read of it so far, and
// installs them as a whole.

#include <utility>

#include "db/version/manifest_replay.h"
#include "db/version/version_set.h"
#include "db/version/version_set_rep.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {

// The replay continues meanwhile, or later, so only comparators and files are shared with it.
Status VersionSet::BuildFollowed(ManifestReplay* replay, FollowedTrees* trees) {
  VARVE_RETURN_IF_ERROR(replay->CheckComplete());
  trees->by_family.clear();
  trees->made_up = false;
  for (auto& [id, family] : replay->families()) {
    if (family.builder == nullptr) continue;
    const auto known = families_.find(id);
    if (known == families_.end() && !families_.empty()) continue;  // created since the opening
    std::vector<FileRef> removed;
    FollowedTree& tree = trees->by_family[id];
    family.builder->FinishRecovery(replay->last_sequence(), &tree.next_epoch_number);
    VARVE_RETURN_IF_ERROR(
        family.builder->Build(rep_->next_version_number++, &tree.version, &removed));
    VARVE_ASSERT(removed.empty());
    trees->made_up |= family.builder->made_up();
  }
  return Status::OK();
}

// Nothing can be refused here, as BuildFollowed has checked everything. Readers see nothing of it
// before the caller installs super-versions; so if memory is out half-way, the caller calls again.
// The first call adds all families of the replay; later ones only change those.
void VersionSet::Follow(ManifestReplay* replay, uint64_t manifest_number,
                        const FollowedTrees& trees) {
  const bool first = families_.empty();
  for (auto& [id, replayed] : replay->families()) {
    const auto& family = replayed;
    // No thread changes the replay's families during this call.
    const auto copy_facts = [&](FamilyVersions* to) VARVE_NO_THREAD_SAFETY_ANALYSIS {
      const FamilyVersions& from = *family.versions;
      to->log_number = from.log_number;
      to->full_history_ts_low = from.full_history_ts_low;
      to->merge_operator = from.merge_operator;
    };
    if (first) {
      auto versions = std::make_shared<FamilyVersions>();
      const FamilyVersions& from = *family.versions;
      versions->id = id;
      versions->name = from.name;
      versions->comparator_name = from.comparator_name;
      versions->icmp = from.icmp;
      versions->num_levels = from.num_levels;
      versions->reserves_last_level = from.reserves_last_level;
      versions->persist_timestamps = from.persist_timestamps;
      versions->opened = from.opened;
      versions->file_charge = from.file_charge;
      versions->paths = from.paths;
      families_.emplace(id, std::move(versions));
    }
    const auto known = families_.find(id);
    if (known == families_.end()) continue;  // created since the opening
    copy_facts(known->second.get());
    const auto tree = trees.by_family.find(id);
    if (tree != trees.by_family.end()) {
      known->second->next_epoch_number = tree->second.next_epoch_number;
      SetCurrent(known->second.get(), tree->second.version);
    } else if (first) {
      // The family was not opened.
      SetCurrent(known->second.get(), std::make_shared<const Version>(
                                          known->second->icmp.get(), rep_->next_version_number++,
                                          std::vector<std::vector<FileRef>>(kLevelsOfUnopened)));
    }
  }
  std::erase_if(families_, [&](const auto& known) {
    mu_->AssertHeld();
    if (replay->families().contains(known.first)) return false;
    known.second->dropped = true;
    return true;
  });
  manifest_file_number_ = manifest_number;
  max_family_id_ = replay->max_family_id();
  min_log_number_to_keep_ = replay->min_log_number_to_keep();
  logged_sequence_ = replay->last_sequence();
  if (replay->db_id().has_value()) db_id_ = *replay->db_id();
  unread_logs_ = replay->unread_logs();
  next_file_number_.store(replay->next_file_number(), std::memory_order_relaxed);
  MarkFileNumberUsed(std::max(manifest_number, replay->largest_number()));
}

// Copies references and not trees: they keep the files alive for the replay, which reuses those
// that its MANIFEST still has, and runs without the DB mutex while versions may be replaced.
void VersionSet::CopyReferences(std::map<uint32_t, std::shared_ptr<FamilyVersions>>* families,
                                ReusableFiles* files) {
  DbLock lock(mu_);
  *families = families_;
  for (const auto& [id, family] : families_) {
    for (int level = 0; level < family->current->num_levels(); level++) {
      for (const FileRef& file : family->current->level(level).files()) {
        files->tables.emplace(file->number, file);
      }
    }
    for (const BlobFileState& file : family->current->blob_files()) {
      files->blobs.emplace(file.number(), file.blobs);
    }
  }
}

}  // namespace varve
