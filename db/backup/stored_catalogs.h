// SPDX-License-Identifier: Apache-2.0
#pragma once

// StoredCatalogs combines the catalogs of earlier backups into an index of the objects that an
// object store has. A catalog is a backup's list of files, the object "meta/<id>" of the store. The
// bytes of catalogs are not trusted.

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

// Decodes one catalog. InvalidArgument: its name is not "meta/<id>". Otherwise returns the errors
// of DecodeBackupMeta.
Status DecodeCatalog(const CopyPlanCatalog& catalog, BackupMeta* meta);

// Thread safety: none.
class StoredCatalogs {
 public:
  // Loads all catalogs into a new object; after an error the object has a part of them, and must
  // not be used. Corruption: two of them contradict each other about an object, or have the same
  // id. Otherwise returns the errors of DecodeCatalog.
  Status Load(const std::vector<CopyPlanCatalog>& catalogs);

  // Returns the shared object of that name, or null if no catalog has it with a size and a
  // checksum. The object lives as long as this does.
  const StoredObject* Find(const std::string& name) const;
  // Returns true if a catalog lists this shared object, be it as part of its backup or as excluded.
  bool IsNeeded(const std::string& name) const {
    return shared_.count(name) != 0 || excluded_.count(name) != 0;
  }
  bool HasId(BackupID id) const { return ids_.count(id) != 0; }
  BackupID largest_id() const { return largest_id_; }
  // Returns the shared objects by name, including those of unknown size or checksum.
  const std::unordered_map<std::string, StoredObject>& shared() const { return shared_; }

 private:
  // Adds a shared file of the catalog whose name is `catalog`, which is used in messages.
  // Corruption: another catalog contradicts it.
  Status Add(const BackupFile& file, const std::string& catalog);

  // Objects that the lists name, and those that they say were left out.
  std::unordered_map<std::string, StoredObject> shared_;
  std::unordered_set<std::string> excluded_;
  std::unordered_map<BackupID, bool> ids_;
  BackupID largest_id_ = 0;
};

}  // namespace varve
