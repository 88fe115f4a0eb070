// SPDX-License-Identifier: Apache-2.0
#pragma once

// StoredCatalogs: what the lists of earlier backups say that a store of objects has. Their bytes
// are hostile input.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "varve/status.h"
#include "varve/utilities/copy_plan.h"

#include "db/backup/backup_meta.h"

namespace varve {

// "meta/<id>".
std::string CatalogName(BackupID id);

// InvalidArgument: the name is that of no catalog. Corruption, NotSupported: as DecodeBackupMeta.
Status DecodeCatalog(const CopyPlanCatalog& catalog, BackupMeta* meta);

// Thread safety: none.
class StoredCatalogs {
 public:
  // Corruption: two of them differ about an object, or have one id; else as DecodeCatalog.
  Status Load(const std::vector<CopyPlanCatalog>& catalogs);

  // Null: none of them has it with a size and a checksum.
  const StoredObject* Find(const std::string& name) const;
  bool HasId(BackupID id) const { return ids_.count(id) != 0; }
  BackupID largest_id() const { return largest_id_; }
  // By name; the shared ones, whatever is known of them.
  const std::unordered_map<std::string, StoredObject>& shared() const { return shared_; }

 private:
  Status Add(const BackupFile& file, const std::string& catalog);

  std::unordered_map<std::string, StoredObject> shared_;
  std::unordered_map<BackupID, bool> ids_;
  BackupID largest_id_ = 0;
};

}  // namespace varve
