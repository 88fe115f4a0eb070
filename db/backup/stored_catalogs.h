// SPDX-License-Identifier: Apache-2.0
#pragma once

// StoredCatalogs holds what the lists of earlier backups say about a store of objects. Their bytes
// are not trusted.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "varve/status.h"
#include "varve/utilities/copy_plan.h"

#include "db/backup/backup_meta.h"

namespace varve {

// Returns "meta/<id>".
std::string CatalogName(BackupID id);

// Decodes one list. InvalidArgument: the name is that of no catalog. Otherwise the errors of
// DecodeBackupMeta.
Status DecodeCatalog(const CopyPlanCatalog& catalog, BackupMeta* meta);

// Thread safety: none.
class StoredCatalogs {
 public:
  // Loads all lists. Corruption: two of them differ about an object, or have one id. Otherwise the
  // errors of DecodeCatalog.
  Status Load(const std::vector<CopyPlanCatalog>& catalogs);

  // Returns null if no list has it with a size and a checksum.
  const StoredObject* Find(const std::string& name) const;
  // Returns true if a list says that a backup needs this shared object, here or, as it was left out
  // of the backup, elsewhere.
  bool IsNeeded(const std::string& name) const {
    return shared_.count(name) != 0 || excluded_.count(name) != 0;
  }
  bool HasId(BackupID id) const { return ids_.count(id) != 0; }
  BackupID largest_id() const { return largest_id_; }
  // Returns the shared objects by name, including those of unknown size or checksum.
  const std::unordered_map<std::string, StoredObject>& shared() const { return shared_; }

 private:
  // Adds a file of a list, whose name is for messages.
  Status Add(const BackupFile& file, const std::string& catalog);

  // Objects that the lists name, and those that they say were left out.
  std::unordered_map<std::string, StoredObject> shared_;
  std::unordered_set<std::string> excluded_;
  std::unordered_map<BackupID, bool> ids_;
  BackupID largest_id_ = 0;
};

}  // namespace varve
