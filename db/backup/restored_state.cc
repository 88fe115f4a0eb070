// SPDX-License-Identifier: Apache-2.0

// Checks files before they replace a database: CURRENT names a complete MANIFEST; every table in it
// exists, and its size, footer, index and properties match its entry; every blob file that is
// needed has its size. Logs are not checked, as their replay does that.

#include "db/backup/restored_state.h"

#include "varve/comparator.h"
#include "varve/options.h"

#include "db/recovery/blob_survey.h"
#include "db/recovery/manifest_survey.h"
#include "db/recovery/table_survey.h"
#include "db/version/manifest_replay.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve {

namespace {

// Checks the blob files that the family's tables refer to. One that the MANIFEST does not name was
// lost before the backup, and is no error here.
Status CheckBlobFiles(FileSystem* fs, const std::string& manifest, const SurveyedFamily& family,
                      const std::map<uint64_t, std::string>& files) {
  for (const uint64_t number : NeededBlobFiles(family)) {
    const auto facts = family.blob_files.find(number);
    if (facts == family.blob_files.end()) continue;
    const auto it = files.find(number);
    if (it == files.end()) {
      return Status::Corruption(manifest + " of the backup",
                                "names blob file " + std::to_string(number) + " of column family " +
                                    family.name + ", which the backup does not have");
    }
    uint64_t size = 0;
    VARVE_RETURN_IF_ERROR(fs->GetFileSize(it->second, IOOptions(), &size, nullptr));
    if (size == facts->second.FileSize()) continue;
    return Status::Corruption(it->second, "has " + std::to_string(size) + " bytes, and " +
                                              std::to_string(facts->second.FileSize()) +
                                              " in the MANIFEST");
  }
  return Status::OK();
}

}  // namespace

Status CheckRestoredState(FileSystem* fs, const std::string& directory,
                          const std::map<uint64_t, std::string>& files) {
  uint64_t number = 0;
  VARVE_RETURN_IF_ERROR(ReadCurrent(fs, directory, &number));
  ManifestSurvey survey;
  VARVE_RETURN_IF_ERROR(SurveyManifest(fs, directory, number, &survey));
  const std::string manifest = DescriptorFileBaseName(number);
  if (!survey.whole) {
    return Status::Corruption(manifest + " of the backup", survey.damage);
  }
  // The check does not compare keys, so it does not need the database's comparator.
  const ColumnFamilyOptions options;
  const InternalKeyComparator order(BytewiseComparator());
  TableSurveyContext context;
  context.fs = fs;
  context.options = &options;
  context.icmp = &order;
  for (const auto& [id, family] : survey.families) {
    for (const auto& [table, file] : family.files) {
      const auto it = files.find(table);
      if (it == files.end()) {
        return Status::Corruption(manifest + " of the backup",
                                  "names table " + std::to_string(table) + " of column family " +
                                      family.name + ", which the backup does not have");
      }
      VARVE_RETURN_IF_ERROR(CheckTable(context, it->second, file));
    }
    VARVE_RETURN_IF_ERROR(CheckBlobFiles(fs, manifest, family, files));
  }
  return Status::OK();
}

}  // namespace varve
