// SPDX-License-Identifier: Apache-2.0
#include "db/backup/restored_state.h"

#include "varve/comparator.h"
#include "varve/options.h"

#include "db/recovery/manifest_survey.h"
#include "db/recovery/table_survey.h"
#include "db/version/manifest_replay.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve {

Status CheckRestoredState(FileSystem* fs, const std::string& directory,
                          const std::map<uint64_t, std::string>& tables) {
  uint64_t number = 0;
  VARVE_RETURN_IF_ERROR(ReadCurrent(fs, directory, &number));
  ManifestSurvey survey;
  VARVE_RETURN_IF_ERROR(SurveyManifest(fs, directory, number, &survey));
  const std::string manifest = DescriptorFileBaseName(number);
  if (!survey.whole) {
    return Status::Corruption(manifest + " of the backup", survey.damage);
  }
  // Tables are checked as bytes: only a walk over keys would need the right comparator.
  const ColumnFamilyOptions options;
  const InternalKeyComparator order(BytewiseComparator());
  TableSurveyContext context;
  context.fs = fs;
  context.options = &options;
  context.icmp = &order;
  for (const auto& [id, family] : survey.families) {
    for (const auto& [table, file] : family.files) {
      const auto it = tables.find(table);
      if (it == tables.end()) {
        return Status::Corruption(manifest + " of the backup",
                                  "names table " + std::to_string(table) + " of column family " +
                                      family.name + ", which the backup does not have");
      }
      VARVE_RETURN_IF_ERROR(CheckTable(context, it->second, file));
    }
  }
  return Status::OK();
}

}  // namespace varve
