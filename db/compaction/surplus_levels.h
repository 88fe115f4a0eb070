// SPDX-License-Identifier: Apache-2.0
#pragma once

// Drains levels beneath the options' num_levels, which hold tables of a time when there were more
// levels: their tables come up into the last level that the options allow. The tree is legal after
// each step, for the old number of levels and for the new one.

#include <memory>

#include "db/compaction/plan.h"
#include "db/compaction/plan_builder.h"
#include "db/version/version.h"

namespace varve {

// Returns the next step, for the deepest tables first, or null if there is no surplus, or if the
// tables that would take part are busy. Requires the DB mutex, like the builder. Tables move as
// they are where nothing lies between them and the last level; else a step merges as much as fits
// into max_compaction_bytes, but at least one table with what overlaps it above. If there is no
// level but L0, one step merges the whole tree.
std::unique_ptr<CompactionPlan> PickSurplus(const VersionRef& version, const PlanBuilder& builder,
                                            CompactionReason reason);

}  // namespace varve
