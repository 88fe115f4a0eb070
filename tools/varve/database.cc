// SPDX-License-Identifier: Apache-2.0

// A database is opened with the options of its newest OPTIONS file, since its files may be readable
// with these only (comparators, codecs, directories). That file may lack the families made last,
// and may have dropped ones, so the list of the MANIFEST decides which there are.
//
// A reader takes defaults for what it cannot read, and says so: most of the options do not matter
// to it. A writer refuses, because it would write tables under other options than the program's.

#include "tools/varve/database.h"

#include <algorithm>
#include <utility>

#include "varve/comparator.h"
#include "varve/convenience.h"
#include "varve/utilities/options_util.h"

#include "tools/varve/console.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve::tool {

namespace {

Status DefaultOptions(const std::string& path, StoredOptions* options) {
  *options = StoredOptions();
  std::vector<std::string> names;
  VARVE_RETURN_IF_ERROR(DB::ListColumnFamilies(options->db, path, &names));
  for (const std::string& name : names) options->families.emplace_back(name, ColumnFamilyOptions());
  return Status::OK();
}

std::string NamesOf(const std::vector<ColumnFamilyDescriptor>& families) {
  std::string names;
  for (const ColumnFamilyDescriptor& family : families) {
    names += (names.empty() ? "" : ", ") + family.name;
  }
  return names;
}

// Makes the families those of the MANIFEST. The OPTIONS file is written after a family is created
// or dropped: it may lack the newest ones, which get defaults, and may still have dropped ones.
Status AddMissingFamilies(const std::string& path, StoredOptions* options) {
  std::vector<std::string> names;
  VARVE_RETURN_IF_ERROR(DB::ListColumnFamilies(options->db, path, &names));
  auto& families = options->families;
  std::erase_if(families, [&names](const ColumnFamilyDescriptor& family) {
    return std::ranges::find(names, family.name) == names.end();
  });
  for (const std::string& name : names) {
    if (std::ranges::find(families, name, &ColumnFamilyDescriptor::name) == families.end()) {
      families.emplace_back(name, ColumnFamilyOptions());
    }
  }
  return Status::OK();
}

}  // namespace

Status CheckIsDatabase(const std::string& path) {
  Env* const env = Env::Default();
  if (path.empty()) return Status::InvalidArgument("the path of the database is empty");
  bool is_directory = false;
  const Status s = env->IsDirectory(path, &is_directory);
  if (s.IsNotFound() || s.IsPathNotFound())
    return Status::NotFound(path, "does not exist; give the directory of a database");
  VARVE_RETURN_IF_ERROR(s);
  if (!is_directory)
    return Status::NotFound(path,
                            "is a file and no database; give the directory that holds CURRENT");
  if (env->FileExists(CurrentFileName(path)).ok()) return Status::OK();
  std::vector<std::string> names;
  VARVE_RETURN_IF_ERROR(env->GetChildren(path, &names));
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type = kTempFile;
    // A directory with a MANIFEST was a database, which `varve repair` can bring back.
    if (ParseFileName(name, &number, &type) && type == kDescriptorFile) {
      return Status::Corruption(path, "has lost its file CURRENT, but has " + name);
    }
  }
  return Status::NotFound(path, "holds no database: there is no file CURRENT in it");
}

Status ReadStoredOptions(const std::string& path, bool lenient, StoredOptions* options) {
  VARVE_RETURN_IF_ERROR(CheckIsDatabase(path));
  ConfigOptions config;
  config.ignore_unknown_options = lenient;
  *options = StoredOptions();
  Status s = LoadLatestOptions(config, path, &options->db, &options->families);
  if (s.IsNotFound() || s.IsPathNotFound()) return DefaultOptions(path, options);
  if (!s.ok()) {
    if (!lenient) return s;
    Console::Note("varve: the options of the database cannot be used, and defaults are: " +
                  s.ToString());
    return DefaultOptions(path, options);
  }
  options->found = true;
  // No command creates a database by opening it: a wrong path must be an error.
  options->db.create_if_missing = false;
  options->db.error_if_exists = false;
  return AddMissingFamilies(path, options);
}

Database::~Database() {
  for (ColumnFamilyHandle* handle : handles_) {
    static_cast<void>(db_->DestroyColumnFamilyHandle(handle));  // A handle of this database.
  }
}

Status Database::OpenForReading(const std::string& path, const std::string& family,
                                std::unique_ptr<Database>* database) {
  StoredOptions stored;
  VARVE_RETURN_IF_ERROR(ReadStoredOptions(path, /*lenient=*/true, &stored));
  if (!family.empty()) {
    const std::string names = NamesOf(stored.families);
    // Other families may need comparators or merge operators that this program lacks. The default
    // family cannot be left out.
    std::erase_if(stored.families, [&family](const ColumnFamilyDescriptor& one) {
      return one.name != family && one.name != kDefaultColumnFamilyName;
    });
    if (std::ranges::find(stored.families, family, &ColumnFamilyDescriptor::name) ==
        stored.families.end()) {
      return Status::InvalidArgument("there is no column family " + family, "there are: " + names);
    }
  }
  database->reset(new Database);
  return DB::OpenForReadOnly(stored.db, path, stored.families, &(*database)->handles_,
                             &(*database)->db_);
}

Status Database::OpenAsSecondary(const std::string& path, const std::string& directory,
                                 std::unique_ptr<Database>* database) {
  StoredOptions stored;
  VARVE_RETURN_IF_ERROR(ReadStoredOptions(path, /*lenient=*/true, &stored));
  database->reset(new Database);
  return DB::OpenAsSecondary(stored.db, path, directory, stored.families, &(*database)->handles_,
                             &(*database)->db_);
}

Status Database::OpenForWriting(const std::string& path, std::unique_ptr<Database>* database) {
  StoredOptions stored;
  VARVE_RETURN_IF_ERROR(ReadStoredOptions(path, /*lenient=*/false, &stored));
  database->reset(new Database);
  return DB::Open(stored.db, path, stored.families, &(*database)->handles_, &(*database)->db_);
}

Status Database::Find(const std::string& family, ColumnFamilyHandle** handle) const {
  std::string names;
  for (ColumnFamilyHandle* one : handles_) {
    *handle = one;
    if (one->GetName() == family) return Status::OK();
    names += (names.empty() ? "" : ", ") + one->GetName();
  }
  return Status::InvalidArgument("there is no column family " + family, "there are: " + names);
}

Status Database::Close() {
  for (ColumnFamilyHandle* handle : handles_) {
    VARVE_RETURN_IF_ERROR(db_->DestroyColumnFamilyHandle(handle));
  }
  handles_.clear();
  return db_->Close();
}

NewestReads::NewestReads(const ColumnFamilyHandle* family)
    // Bytes 0xff are the largest timestamp of the comparators that are known here.
    : timestamp_(family->GetComparator()->timestamp_size(), '\xff'), timestamp_slice_(timestamp_) {
  options.total_order_seek = true;
  if (!timestamp_.empty()) options.timestamp = &timestamp_slice_;
}

}  // namespace varve::tool
