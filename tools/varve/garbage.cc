// SPDX-License-Identifier: Apache-2.0

// The command `garbage` lists, and deletes, files of a database's directory that its state does not
// name. It also lists garbage in blob files that the state does name, which compactions free.

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "varve/env.h"

#include "db/recovery/blob_survey.h"
#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "tools/varve/manifest_state.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve::tool {

namespace {

struct UnnamedFile {
  std::string path;
  std::string why;
  uint64_t bytes = 0;
};

// Finds what the state does not name. Former OPTIONS files are kept, as the database itself does,
// and so are logs: change streams may need them, and an opening deletes the others.
class GarbageSearch {
 public:
  GarbageSearch(const std::string& db, const ManifestSurvey& survey) : db_(db), survey_(survey) {
    for (const auto& [id, family] : survey.families) needed_blobs_.merge(NeededBlobFiles(family));
  }

  Status Search(std::vector<UnnamedFile>* files);

 private:
  // Returns the reason why nothing needs the file; empty: it is needed, or not ours to judge.
  [[nodiscard]] std::string WhyUnnamed(const std::string& name) const;
  [[nodiscard]] bool IsNamedTable(uint64_t number) const;

  const std::string& db_;
  const ManifestSurvey& survey_;
  std::set<uint64_t> needed_blobs_;
};

bool GarbageSearch::IsNamedTable(uint64_t number) const {
  return std::ranges::any_of(survey_.families, [number](const auto& family) {
    return family.second.files.contains(number);
  });
}

// The file of synced marks has the name of a temporary one and is needed. Names that no database
// writes are never judged.
std::string GarbageSearch::WhyUnnamed(const std::string& name) const {
  if (name == kSyncedMarksBaseName) return "";
  uint64_t number = 0;
  FileType type = kTempFile;
  if (!ParseFileName(name, &number, &type)) return "";
  switch (type) {
    case kTableFile:
      return IsNamedTable(number) ? "" : "a table that no family has";
    case kBlobFile:
      return needed_blobs_.contains(number) ? "" : "a blob file that no table refers to";
    case kDescriptorFile:
      return number == survey_.number ? "" : "a MANIFEST that is not in force";
    case kTempFile:
      return "a temporary file";
    default:
      return "";
  }
}

Status GarbageSearch::Search(std::vector<UnnamedFile>* files) {
  Env* const env = Env::Default();
  std::vector<std::string> names;
  VARVE_RETURN_IF_ERROR(env->GetChildren(db_, &names));
  std::ranges::sort(names);
  for (const std::string& name : names) {
    const std::string why = WhyUnnamed(name);
    if (!why.empty()) files->push_back({db_ + "/" + name, why});
  }
  names.clear();
  if (env->GetChildren(db_ + "/lost", &names).ok()) {
    std::ranges::sort(names);
    for (const std::string& name : names) {
      if (name != "." && name != "..")
        files->push_back({db_ + "/lost/" + name, "set aside in lost/"});
    }
  }
  for (UnnamedFile& file : *files) {
    if (!env->GetFileSize(file.path, &file.bytes).ok()) file.bytes = 0;
  }
  return Status::OK();
}

// Holds the database's lock, so that no process opens it while its files are deleted.
class DirectoryLock {
 public:
  ~DirectoryLock() {
    if (lock_ != nullptr) static_cast<void>(Env::Default()->UnlockFile(lock_));
  }
  Status Take(const std::string& db) { return Env::Default()->LockFile(LockFileName(db), &lock_); }

 private:
  FileLock* lock_ = nullptr;
};

void PrintFiles(const std::vector<UnnamedFile>& files, bool deleted, Console* console) {
  uint64_t bytes = 0;
  for (const UnnamedFile& file : files) {
    bytes += file.bytes;
    Json json;
    json.BeginObject().Text("file", file.path).Text("why", file.why).Number("bytes", file.bytes);
    json.Bool("deleted", deleted).EndObject();
    if (console->json) {
      console->Line(&json);
    } else {
      console->Line(file.path + ": " + file.why + ", " + SizeText(file.bytes));
    }
  }
  if (console->json) return;
  console->Line(std::to_string(files.size()) + " files with " + SizeText(bytes) +
                (deleted ? " were deleted" : ""));
}

// Prints what is dead in blob files that live. Nothing of it can be deleted here.
void PrintBlobGarbage(const ManifestSurvey& survey, Console* console) {
  for (const auto& [id, family] : survey.families) {
    for (const NeededBlobFile& file : DescribeNeededBlobFiles(family)) {
      if (file.garbage.count == 0) continue;
      const std::string name = BlobFileBaseName(file.facts.number);
      Json json;
      json.BeginObject().Text("blob_file", name).Text("family", family.name);
      json.Number("bytes", file.facts.FileSize()).Number("values", file.facts.count);
      json.Number("garbage_values", file.garbage.count);
      json.Number("garbage_bytes", file.garbage.bytes).EndObject();
      if (console->json) {
        console->Line(&json);
      } else {
        console->Line(name + " of family " + family.name + ": " +
                      std::to_string(file.garbage.count) + " of " +
                      std::to_string(file.facts.count) + " values are garbage, " +
                      SizeText(file.garbage.bytes) + " of " + SizeText(file.facts.FileSize()));
      }
    }
  }
}

}  // namespace

Status RunGarbage(const Request& request, Console* console) {
  VARVE_RETURN_IF_ERROR(CheckIsDatabase(request.db));
  const bool deleting = request.write && request.yes;
  if (request.yes && !request.write) {
    return Status::InvalidArgument("--yes deletes files, which changes the database",
                                   "add --write to permit it");
  }
  // The lock comes before the state is read, and is held until the last file is deleted. A database
  // that was opened in between could have begun to use a file that the state read earlier does not
  // name. Without --yes nothing is locked: a list beside a writer may contain files that are being
  // written.
  DirectoryLock lock;
  if (deleting) VARVE_RETURN_IF_ERROR(lock.Take(request.db));
  ManifestSurvey survey;
  VARVE_RETURN_IF_ERROR(ReadManifestState(request.db, &survey));
  // A table that only the damaged part names would look like garbage.
  if (!survey.whole) {
    return Status::Corruption(DescriptorFileName(request.db, survey.number),
                              survey.damage + ", so that it does not tell what is needed");
  }
  std::vector<UnnamedFile> files;
  VARVE_RETURN_IF_ERROR(GarbageSearch(request.db, survey).Search(&files));
  if (deleting) {
    for (const UnnamedFile& file : files) {
      VARVE_RETURN_IF_ERROR(Env::Default()->DeleteFile(file.path));
    }
  }
  PrintFiles(files, deleting, console);
  PrintBlobGarbage(survey, console);
  return Status::OK();
}

}  // namespace varve::tool
