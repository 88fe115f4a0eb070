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

// As far as it can be read: who cannot be asked forbids nothing.
std::map<std::string, std::string> NamesInOptionsFile(const Engine& engine) {
  std::map<std::string, std::string> names;
  std::vector<uint64_t> numbers;
  Status s = ListOptionsFiles(engine.fs.get(), engine.name, &numbers);
  if (s.ok() && !numbers.empty()) {
    s = ReadMergeOperatorNames(engine.fs.get(), OptionsFileName(engine.name, numbers.front()),
                               &names);
  }
  if (!s.ok()) {
    LogWarn(engine.info_log.get(), "merge operators are not known: %s", s.ToString().c_str());
  }
  return names;
}

void Remember(const Engine& engine) {
  bool all = true;
  for (const auto& [id, family] : engine.versions->families()) {
    all = all && !family->merge_operator.empty();
  }
  if (all) return;
  const std::map<std::string, std::string> names = NamesInOptionsFile(engine);
  for (const auto& [id, family] : engine.versions->families()) {
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

Status CheckMergeOperators(const OpenRequest& request, Engine* engine) {
  engine->mu.AssertHeld();
  Remember(*engine);
  for (const ColumnFamilyDescriptor& descriptor : request.families) {
    const auto family = engine->versions->FindFamily(descriptor.name);
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
