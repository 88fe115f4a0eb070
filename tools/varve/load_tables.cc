// SPDX-License-Identifier: Apache-2.0

//      BeginFamily ... Put Put Put ...   files of one family, disjoint and ascending
//      BeginFamily ... Put Put ...       files of the next one
//      Finish                            one ingestion of all of them
//
// The files lie in a directory within that of the database, so that they are on its file system and
// can be moved by a link. Until Finish the database knows nothing of them. A process that is killed
// leaves the directory, and the next loader deletes it.

#include "tools/varve/load_tables.h"

#include "varve/comparator.h"
#include "varve/env.h"

#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

constexpr uint64_t kTableBytes = uint64_t{64} << 20;

// Deletes the directory with its files, if it exists. Errors do not matter: what is left the next
// load deletes.
void DeleteDirectory(const std::string& directory) {
  Env* const env = Env::Default();
  std::vector<std::string> names;
  if (!env->GetChildren(directory, &names).ok()) return;
  for (const std::string& name : names) {
    if (name != "." && name != "..") env->DeleteFile(directory + "/" + name).PermitUncheckedError();
  }
  env->DeleteDir(directory).PermitUncheckedError();
}

}  // namespace

TableLoader::TableLoader(DB* db, const std::string& path)
    : db_(db), directory_(path + "/load.tmp") {
  DeleteDirectory(directory_);
}

TableLoader::~TableLoader() {
  writer_.reset();
  DeleteDirectory(directory_);
}

Status TableLoader::BeginFamily(ColumnFamilyHandle* family) {
  VARVE_RETURN_IF_ERROR(FinishFile());
  for (const IngestExternalFileArg& one : families_) {
    if (one.column_family == family) {
      return Status::InvalidArgument("the dump has column family " + family->GetName() + " twice",
                                     "load it without --sst");
    }
  }
  VARVE_RETURN_IF_ERROR(Env::Default()->CreateDirIfMissing(directory_));
  IngestExternalFileArg arg;
  arg.column_family = family;
  arg.options.move_files = true;
  families_.push_back(std::move(arg));
  options_ = db_->GetOptions(family);
  has_last_key_ = false;
  return Status::OK();
}

Status TableLoader::Put(std::string_view key, std::string_view value) {
  // Equal keys are refused, too: two tables of one ingestion that share a key would overlap.
  if (has_last_key_ && options_.comparator->Compare(last_key_, Slice(key)) >= 0) {
    return Status::InvalidArgument("the keys of the dump do not ascend", "load it without --sst");
  }
  last_key_.assign(key);
  has_last_key_ = true;
  if (writer_ == nullptr) {
    const std::string file = directory_ + "/" + std::to_string(++files_) + ".sst";
    // Made at the first key, as a table without entries cannot be finished.
    writer_ = std::make_unique<SstFileWriter>(EnvOptions(), options_);
    VARVE_RETURN_IF_ERROR(writer_->Open(file));
    families_.back().external_files.push_back(file);
  }
  VARVE_RETURN_IF_ERROR(writer_->Put(Slice(key), Slice(value)));
  return writer_->FileSize() >= kTableBytes ? FinishFile() : Status::OK();
}

Status TableLoader::FinishFile() {
  if (writer_ == nullptr) return Status::OK();
  const Status s = writer_->Finish();
  writer_.reset();
  return s;
}

Status TableLoader::Finish() {
  VARVE_RETURN_IF_ERROR(FinishFile());
  // A family of the dump may be empty; an argument without files would be refused.
  std::erase_if(families_, [](const auto& one) { return one.external_files.empty(); });
  return families_.empty() ? Status::OK() : db_->IngestExternalFiles(families_);
}

}  // namespace varve::tool
