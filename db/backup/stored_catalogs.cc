// SPDX-License-Identifier: Apache-2.0

// Combines the catalogs of earlier backups. A program may have lost or mixed up catalogs; two that
// contradict each other about an object are refused, since the new plan would rely on one of them.

#include "db/backup/stored_catalogs.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "util/base/status_macros.h"

namespace varve {

namespace {

// Stands for an object whose size is not known.
constexpr uint64_t kUnknownSize = std::numeric_limits<uint64_t>::max();

uint64_t SizeOf(const BackupFile& file) {
  if (file.size.has_value()) return *file.size;
  return SizeInSharedName(file.parsed.file_name).value_or(kUnknownSize);
}

// Returns true if a plan or a backup can have an object of this name. Sets *id to the backup of a
// private file, and to 0 for a shared one, as ids of backups begin at 1. Returns false for
// catalogs, which are never garbage.
bool IsOfStore(const std::string& name, BackupID* id) {
  const std::string meta = std::string(kMetaFolder) + "/";
  const std::string own = std::string(kPrivateFolder) + "/";
  *id = 0;
  if (name.starts_with(meta)) return false;
  if (name.starts_with(own)) {
    *id =
        ParseBackupId(name.substr(own.size(), name.find('/', own.size()) - own.size())).value_or(0);
    if (*id == 0) return false;
  }
  BackupPath parsed;
  return ParseBackupPath(name, *id, &parsed);
}

}  // namespace

std::string CatalogName(BackupID id) {
  return std::string(kMetaFolder) + "/" + std::to_string(id);
}

Status DecodeCatalog(const CopyPlanCatalog& catalog, BackupMeta* meta) {
  const std::string folder = std::string(kMetaFolder) + "/";
  std::optional<BackupID> id;
  if (catalog.name.starts_with(folder)) id = ParseBackupId(catalog.name.substr(folder.size()));
  if (!id.has_value()) {
    return Status::InvalidArgument(catalog.name,
                                   "is the name of no catalog: those are meta/ and an id");
  }
  return DecodeBackupMeta(catalog.bytes, *id, catalog.name, meta);
}

Status StoredCatalogs::Load(const std::vector<CopyPlanCatalog>& catalogs) {
  for (const CopyPlanCatalog& catalog : catalogs) {
    BackupMeta meta;
    VARVE_RETURN_IF_ERROR(DecodeCatalog(catalog, &meta));
    if (!ids_.emplace(meta.id, true).second) {
      return Status::Corruption(catalog.name, "is there twice");
    }
    largest_id_ = std::max(largest_id_, meta.id);
    for (const BackupFile& file : meta.files) {
      if (file.parsed.shared) VARVE_RETURN_IF_ERROR(Add(file, catalog.name));
    }
    excluded_.insert(meta.excluded.begin(), meta.excluded.end());
  }
  return Status::OK();
}

// Size and checksum may come from different catalogs; where two catalogs have them, they must be
// equal.
Status StoredCatalogs::Add(const BackupFile& file, const std::string& catalog) {
  StoredObject object;
  object.name = file.path;
  object.size = SizeOf(file);
  object.crc32c = file.crc32c;
  const auto [it, added] = shared_.emplace(file.path, object);
  if (added) return Status::OK();
  StoredObject& known = it->second;
  if (known.size == kUnknownSize) known.size = object.size;
  if (!known.crc32c.has_value()) known.crc32c = object.crc32c;
  const bool same = (object.size == kUnknownSize || object.size == known.size) &&
                    (!object.crc32c.has_value() || object.crc32c == known.crc32c);
  if (same) return Status::OK();
  return Status::Corruption(
      catalog, "has another size or checksum for " + file.path + " than another catalog has");
}

const StoredObject* StoredCatalogs::Find(const std::string& name) const {
  const auto it = shared_.find(name);
  if (it == shared_.end()) return nullptr;
  const StoredObject& object = it->second;
  return object.crc32c.has_value() && object.size != kUnknownSize ? &object : nullptr;
}

Status ListCatalog(const CopyPlanCatalog& catalog, std::vector<StoredObject>* objects) {
  if (objects == nullptr) return Status::InvalidArgument("ListCatalog", "the place is null");
  BackupMeta meta;
  VARVE_RETURN_IF_ERROR(DecodeCatalog(catalog, &meta));
  std::vector<StoredObject> listed;
  for (const BackupFile& file : meta.files) {
    const uint64_t size = SizeOf(file);
    listed.push_back(StoredObject{file.path, size == kUnknownSize ? 0 : size, file.crc32c});
  }
  *objects = std::move(listed);
  return Status::OK();
}

// A private object is garbage when its backup's catalog is gone, and a shared one when no catalog
// names it. Other objects are never garbage, because a bucket may have other users.
Status FindGarbage(const std::vector<CopyPlanCatalog>& catalogs,
                   const std::vector<std::string>& names, std::vector<std::string>* garbage) {
  if (garbage == nullptr) return Status::InvalidArgument("FindGarbage", "the place is null");
  StoredCatalogs stored;
  garbage->clear();
  VARVE_RETURN_IF_ERROR(stored.Load(catalogs));
  for (const std::string& name : names) {
    BackupID id = 0;
    if (!IsOfStore(name, &id)) continue;
    const bool named = id == 0 ? stored.IsNeeded(name) : stored.HasId(id);
    if (!named) garbage->push_back(name);
  }
  return Status::OK();
}

}  // namespace varve
