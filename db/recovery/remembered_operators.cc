// SPDX-License-Identifier: Apache-2.0

// Finds the merge operators of earlier openings, and checks new ones against them.

#include "db/recovery/remembered_operators.h"

#include "varve/merge_operator.h"

#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/options/options_file.h"

namespace varve {

namespace {

// Names in the MANIFEST take precedence. RocksDB does not store them there, so for its databases
// those in the newest OPTIONS file are used.
void Remember(const DbContext& context, const DbState& state) VARVE_REQUIRES(kDbMutex) {
  bool all = true;
  for (const auto& [id, family] : state.versions->families()) {
    all = all && !family->merge_operator.empty();
  }
  if (all) return;
  const std::map<std::string, std::string> names =
      MergeOperatorsInOptionsFile(context.fs().get(), context.name(), context.info_log());
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

std::map<std::string, std::string> MergeOperatorsInOptionsFile(FileSystem* fs,
                                                               const std::string& db_name,
                                                               Logger* info_log) {
  std::map<std::string, std::string> names;
  std::vector<uint64_t> numbers;
  Status s = ListOptionsFiles(fs, db_name, &numbers);
  if (s.ok() && !numbers.empty()) {
    s = ReadMergeOperatorNames(fs, OptionsFileName(db_name, numbers.front()), &names);
  }
  if (!s.ok()) LogWarn(info_log, "merge operators are not known: %s", s.ToString().c_str());
  return names;
}

Status CheckMergeOperator(const std::string& family, const ColumnFamilyOptions& options,
                          const std::string& remembered) {
  const std::string name = MergeOperatorName(options);
  if (name.empty() || remembered.empty() || name == remembered ||
      options.allow_other_merge_operator) {
    return Status::OK();
  }
  return Status::InvalidArgument("column family \"" + family +
                                     "\" was last opened with merge operator " + remembered +
                                     ", not " + name,
                                 "ColumnFamilyOptions::allow_other_merge_operator allows it");
}

Status CheckMergeOperators(const std::vector<ColumnFamilyDescriptor>& families,
                           const DbContext& context, const DbState& state) {
  state.mu.AssertHeld();
  Remember(context, state);
  for (const ColumnFamilyDescriptor& descriptor : families) {
    const auto family = state.versions->FindFamily(descriptor.name);
    if (family == nullptr) continue;
    VARVE_RETURN_IF_ERROR(
        CheckMergeOperator(descriptor.name, descriptor.options, family->merge_operator));
  }
  return Status::OK();
}

}  // namespace varve
