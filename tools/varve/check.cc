// SPDX-License-Identifier: Apache-2.0

// The command `check` reads every file of a database and compares every checksum.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "varve/utilities/options_util.h"

#include "db/recovery/blob_survey.h"
#include "db/recovery/identity.h"
#include "db/recovery/manifest_survey.h"
#include "tools/varve/check_blobs.h"
#include "tools/varve/check_logs.h"
#include "tools/varve/check_tables.h"
#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "tools/varve/findings.h"
#include "tools/varve/manifest_state.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve::tool {

namespace {

void CheckIdentity(const std::string& db, const ManifestSurvey& survey, Findings* findings) {
  std::string id;
  const Status s = ReadIdentity(FileSystem::Default().get(), db, &id);
  if (IsMissing(s)) return;  // A database may lack it.
  const std::string path = IdentityFileName(db);
  if (!s.ok()) {
    findings->Damage(path, s.ToString());
  } else if (!survey.db_id.empty() && survey.db_id != id) {
    findings->Damage(path, "holds another id than the MANIFEST");
  }
  findings->CountFile(id.size());
}

void CheckOptions(const std::string& db, Findings* findings) {
  std::string name;
  if (!GetLatestOptionsFileName(db, Env::Default(), &name).ok()) return;
  ConfigOptions config;
  config.ignore_unknown_options = true;
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  const std::string path = db + "/" + name;
  const Status s = LoadOptionsFromFile(config, path, &options, &families);
  if (IsMissing(s)) return;  // A writer has replaced it.
  if (!s.ok()) findings->Damage(path, s.ToString());
  uint64_t bytes = 0;
  if (Env::Default()->GetFileSize(path, &bytes).ok()) findings->CountFile(bytes);
}

ColumnFamilyOptions OptionsOf(const StoredOptions& stored, const std::string& family) {
  for (const ColumnFamilyDescriptor& one : stored.families) {
    if (one.name == family) return one.options;
  }
  return {};
}

// Says which missing files the newest state still needs: compactions replaced the others meanwhile.
Status ReportMissing(const Request& request, uint32_t id, const TableFamily& where,
                     const std::vector<uint64_t>& tables, const std::vector<uint64_t>& blobs,
                     Findings* findings) {
  if (tables.empty() && blobs.empty()) return Status::OK();
  ManifestSurvey now;
  VARVE_RETURN_IF_ERROR(ReadManifestState(request.db, &now));
  const auto family = now.families.find(id);
  if (family == now.families.end()) return Status::OK();
  for (const uint64_t number : tables) {
    const auto file = family->second.files.find(number);
    if (file == family->second.files.end()) continue;
    findings->Damage(TablePathOf(where, file->second), "is missing, though the MANIFEST names it");
  }
  const std::set<uint64_t> needed = NeededBlobFiles(family->second);
  for (const uint64_t number : blobs) {
    if (!needed.contains(number)) continue;
    findings->Damage(BlobPathOf(where, number), "is missing, though the MANIFEST names it");
  }
  return Status::OK();
}

}  // namespace

Status RunCheck(const Request& request, Console* console) {
  Findings findings(console);
  ManifestSurvey survey;
  const Status read = ReadManifestState(request.db, &survey);
  if (!read.ok()) {
    if (!read.IsCorruption()) return read;
    findings.Damage(CurrentFileName(request.db), read.ToString());
    findings.PrintSummary();
    return Status::OK();
  }
  findings.CountFile(survey.end);
  if (!survey.whole) {
    findings.Damage(DescriptorFileName(request.db, survey.number),
                    "has " + survey.damage + "; sound up to offset " + std::to_string(survey.end));
  }
  CheckIdentity(request.db, survey, &findings);
  CheckOptions(request.db, &findings);
  StoredOptions stored;
  // Without options tables are read with defaults, which nearly all of them need.
  const Status options = ReadStoredOptions(request.db, /*lenient=*/true, &stored);
  if (!options.ok() && !options.IsCorruption()) return options;
  const std::string logs = stored.db.wal_dir.empty() ? request.db : stored.db.wal_dir;
  VARVE_RETURN_IF_ERROR(CheckLogs(request.db, logs, OldestLogWanted(survey), &findings));
  for (const auto& [id, family] : survey.families) {
    const TableFamily where{request.db, stored.db, OptionsOf(stored, family.name)};
    SeenTables seen;
    std::vector<uint64_t> missing_blobs;
    VARVE_RETURN_IF_ERROR(CheckTables(where, family, request.quick, &findings, &seen));
    VARVE_RETURN_IF_ERROR(
        CheckBlobs(where, id, family, seen.blob_codecs, request.quick, &findings, &missing_blobs));
    VARVE_RETURN_IF_ERROR(
        ReportMissing(request, id, where, seen.missing, missing_blobs, &findings));
  }
  findings.PrintSummary();
  return Status::OK();
}

}  // namespace varve::tool
