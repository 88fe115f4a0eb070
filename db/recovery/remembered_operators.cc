// SPDX-License-Identifier: Apache-2.0

// The memory of merge operators: where it is, and what it forbids.

#include "db/recovery/remembered_operators.h"

#include <map>
#include <vector>

#include "varve/merge_operator.h"

#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/options/options_file.h"

namespace varve {

namespace {

// As far as it can be read: a file that cannot be read forbids nothing.
std::map<std::string, std::string> NamesInOptionsFile(const DbContext& context) {
  std::map<std::string, std::string> names;
  std::vector<uint64_t> numbers;
  Status s = ListOptionsFiles(context.fs().get(), context.name(), &numbers);
  if (s.ok() && !numbers.empty()) {
    s = ReadMergeOperatorNames(context.fs().get(), OptionsFileName(context.name(), numbers.front()),
                               &names);
  }
  if (!s.ok()) {
    LogWarn(context.info_log(), "merge operators are not known: %s", s.ToString().c_str());
  }
  return names;
}

void Remember(const DbContext& context, const DbState& state) VARVE_REQUIRES(kDbMutex) {
  bool all = true;
  for (const auto& [id, family] : state.versions->families()) {
    all = all && !family->merge_operator.empty();
  }
  if (all) return;
  const std::map<std::string, std::string> names = NamesInOptionsFile(context);
  for (const auto& [id, family] : state.versions->families()) {
    const auto named = names.find(family->name);
    if (family->merge_operator.empty() && named != names.end()) {
      family->merge_operator = named->second;
    }
  }
}

}  // namespace

std::string MergeOperatorName(const ColumnFamilyOptions& options) {
  return options.merge_operator == nullptr ? "" : options.merge_operator->Name();
}

Status CheckMergeOperators(const std::vector<ColumnFamilyDescriptor>& families,
                           const DbContext& context, const DbState& state) {
  state.mu.AssertHeld();
  Remember(context, state);
  for (const ColumnFamilyDescriptor& descriptor : families) {
    const auto family = state.versions->FindFamily(descriptor.name);
    const std::string name = MergeOperatorName(descriptor.options);
    if (family == nullptr || name.empty() || family->merge_operator.empty() ||
        name == family->merge_operator || descriptor.options.allow_other_merge_operator) {
      continue;
    }
    return Status::InvalidArgument("column family \"" + descriptor.name +
                                       "\" was last opened with merge operator " +
                                       family->merge_operator + ", not " + name,
                                   "ColumnFamilyOptions::allow_other_merge_operator allows it");
  }
  return Status::OK();
}

}  // namespace varve
