// SPDX-License-Identifier: Apache-2.0

// The command `info` says what a database consists of, from its MANIFEST, its OPTIONS file and the
// names and sizes of its files. It opens no table.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "db/recovery/blob_survey.h"
#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "tools/varve/manifest_state.h"
#include "tools/varve/option_differences.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve::tool {

namespace {

struct LevelSum {
  uint64_t tables = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;  // 0: the MANIFEST does not say.
};

struct FamilySum {
  std::map<int, LevelSum> levels;
  LevelSum total;
};

struct BlobSum {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t live_bytes = 0;  // of values that tables refer to
  uint64_t garbage_bytes = 0;
};

struct DirectorySum {
  uint64_t log_files = 0;
  uint64_t log_bytes = 0;  // Of logs that no table holds yet.
  uint64_t lost_files = 0;
  uint64_t lost_bytes = 0;
};

FamilySum SumOf(const SurveyedFamily& family) {
  FamilySum sum;
  for (const auto& [number, file] : family.files) {
    for (LevelSum* level : {&sum.levels[file.level], &sum.total}) {
      level->tables++;
      level->bytes += file.size;
      level->entries += file.counts.entries;
    }
  }
  return sum;
}

BlobSum SumOf(const std::vector<NeededBlobFile>& files) {
  BlobSum sum;
  for (const NeededBlobFile& file : files) {
    sum.files++;
    sum.bytes += file.facts.FileSize();
    sum.live_bytes += file.facts.bytes - file.garbage.bytes;
    sum.garbage_bytes += file.garbage.bytes;
  }
  return sum;
}

uint64_t SizeOf(const std::string& path) {
  uint64_t bytes = 0;
  return Env::Default()->GetFileSize(path, &bytes).ok() ? bytes : 0;
}

// Logs below the oldest one that a family needs are kept for other reasons, such as change streams,
// and do not count.
DirectorySum SumDirectory(const std::string& db, const std::string& logs, uint64_t oldest_log) {
  DirectorySum sum;
  std::vector<std::string> names;
  // A directory that cannot be listed has nothing to count.
  static_cast<void>(Env::Default()->GetChildren(logs, &names));
  for (const auto& [name, number, type] : FilesAmong(names, kWalFile)) {
    if (number < oldest_log) continue;
    sum.log_files++;
    sum.log_bytes += SizeOf(logs + "/" + name);
  }
  names.clear();
  static_cast<void>(Env::Default()->GetChildren(db + "/lost", &names));
  for (const std::string& name : names) {
    if (name == "." || name == "..") continue;
    sum.lost_files++;
    sum.lost_bytes += SizeOf(db + "/lost/" + name);
  }
  return sum;
}

void PrintLevel(const std::string& title, const LevelSum& sum, Output* out) {
  out->Append("  " + title + ": " + std::to_string(sum.tables) + " tables, " + SizeText(sum.bytes));
  if (sum.entries != 0) out->Append(", " + std::to_string(sum.entries) + " entries");
  out->Append('\n');
}

void PrintBlobs(const BlobSum& sum, Console* console) {
  if (sum.files == 0) return;
  console->Line("  blob files: " + std::to_string(sum.files) + " files, " + SizeText(sum.bytes) +
                ", " + SizeText(sum.live_bytes) + " live, " + SizeText(sum.garbage_bytes) +
                " garbage");
}

void PrintInfoText(const ManifestSurvey& survey, const DirectorySum& files,
                   const std::vector<OptionDifference>& differences, Console* console) {
  Output* const out = &console->out;
  console->Line("manifest: " + DescriptorFileBaseName(survey.number) + ", " + SizeText(survey.end));
  console->Line("id: " + survey.db_id);
  console->Line("last sequence: " + std::to_string(survey.last_sequence));
  console->Line("next file: " + std::to_string(survey.next_file_number));
  console->Line("logs not in tables: " + std::to_string(files.log_files) + " files, " +
                SizeText(files.log_bytes));
  console->Line("lost/: " + std::to_string(files.lost_files) + " files, " +
                SizeText(files.lost_bytes));
  for (const auto& [id, family] : survey.families) {
    const FamilySum sum = SumOf(family);
    console->Line("family " + family.name + " (" + std::to_string(id) + "):");
    console->Line("  comparator: " +
                  (family.comparator.empty() ? std::string("not named") : family.comparator));
    if (!family.merge_operator.empty()) console->Line("  merge operator: " + family.merge_operator);
    for (const auto& [level, of_level] : sum.levels) {
      PrintLevel("L" + std::to_string(level), of_level, out);
    }
    PrintLevel("total", sum.total, out);
    PrintBlobs(SumOf(DescribeNeededBlobFiles(family)), console);
  }
  for (const OptionDifference& one : differences) {
    const std::string owner = one.family.empty() ? "" : one.family + ".";
    console->Line("option " + owner + one.name + " = " + one.value + " (default: " + one.usual +
                  ")");
  }
}

void AddLevel(const LevelSum& sum, Json* json) {
  json->Number("tables", sum.tables).Number("bytes", sum.bytes).Number("entries", sum.entries);
}

void AddBlobs(const std::vector<NeededBlobFile>& files, Json* json) {
  json->BeginArray("blob_files");
  for (const NeededBlobFile& file : files) {
    json->BeginObject().Number("number", file.facts.number).Number("bytes", file.facts.FileSize());
    json->Number("values", file.facts.count).Number("garbage_values", file.garbage.count);
    json->Number("live_bytes", file.facts.bytes - file.garbage.bytes);
    json->Number("garbage_bytes", file.garbage.bytes).EndObject();
  }
  json->EndArray();
}

void PrintInfoJson(const ManifestSurvey& survey, const DirectorySum& files,
                   const std::vector<OptionDifference>& differences, Console* console) {
  Json json;
  json.BeginObject()
      .Text("manifest", DescriptorFileBaseName(survey.number))
      .Number("manifest_bytes", survey.end)
      .Text("id", survey.db_id)
      .Number("last_sequence", survey.last_sequence)
      .Number("next_file", survey.next_file_number)
      .Number("log_files", files.log_files)
      .Number("log_bytes", files.log_bytes)
      .Number("lost_files", files.lost_files)
      .Number("lost_bytes", files.lost_bytes)
      .BeginArray("families");
  for (const auto& [id, family] : survey.families) {
    const FamilySum sum = SumOf(family);
    json.BeginObject().Number("id", id).Text("name", family.name);
    json.Text("comparator", family.comparator).Text("merge_operator", family.merge_operator);
    AddLevel(sum.total, &json);
    json.BeginArray("levels");
    for (const auto& [level, of_level] : sum.levels) {
      json.BeginObject().Number("level", level);
      AddLevel(of_level, &json);
      json.EndObject();
    }
    json.EndArray();
    AddBlobs(DescribeNeededBlobFiles(family), &json);
    json.EndObject();
  }
  json.EndArray().BeginArray("options");
  for (const OptionDifference& one : differences) {
    json.BeginObject().Text("family", one.family).Text("name", one.name);
    json.Text("value", one.value).Text("default", one.usual).EndObject();
  }
  json.EndArray().EndObject();
  console->Line(&json);
}

}  // namespace

Status RunInfo(const Request& request, Console* console) {
  ManifestSurvey survey;
  VARVE_RETURN_IF_ERROR(ReadManifestState(request.db, &survey));
  if (!survey.whole) {
    console->found = true;
    Console::Note("varve info: " + DescriptorFileName(request.db, survey.number) + " has " +
                  survey.damage + "; what comes before is shown");
  }
  StoredOptions stored;
  const Status s = ReadStoredOptions(request.db, /*lenient=*/true, &stored);
  // The MANIFEST is enough for all the rest.
  if (!s.ok()) Console::Note("varve info: the options cannot be shown: " + s.ToString());
  const std::string logs = stored.db.wal_dir.empty() ? request.db : stored.db.wal_dir;
  const DirectorySum files = SumDirectory(request.db, logs, OldestLogWanted(survey));
  const std::vector<OptionDifference> differences =
      stored.found ? DifferencesOf(stored) : std::vector<OptionDifference>();
  (console->json ? PrintInfoJson : PrintInfoText)(survey, files, differences, console);
  return Status::OK();
}

Status RunFamilies(const Request& request, Console* console) {
  ManifestSurvey survey;
  VARVE_RETURN_IF_ERROR(ReadManifestState(request.db, &survey));
  if (!survey.whole)
    return Status::Corruption(DescriptorFileName(request.db, survey.number), survey.damage);
  Json json;
  json.BeginArray();
  for (const auto& [id, family] : survey.families) {
    json.Text("", family.name);
    if (!console->json) console->Line(family.name);
  }
  json.EndArray();
  if (console->json) console->Line(&json);
  return Status::OK();
}

}  // namespace varve::tool
