// SPDX-License-Identifier: Apache-2.0

// The commands `put` and `delete` change single keys.

#include <memory>
#include <string>

#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/write_batch.h"

#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

Status OpenFamily(const Request& request, std::unique_ptr<Database>* database,
                  ColumnFamilyHandle** family) {
  VARVE_RETURN_IF_ERROR(Database::OpenForWriting(request.db, database));
  VARVE_RETURN_IF_ERROR((*database)->Find(request.family, family));
  if ((*family)->GetComparator()->timestamp_size() == 0) return Status::OK();
  return Status::NotSupported("column family " + request.family,
                              "its keys have timestamps, which only its program can choose");
}

Status WriteDurably(const Database& database, WriteBatch* batch) {
  WriteOptions options;
  options.sync = true;
  return database.db()->Write(options, batch);
}

}  // namespace

Status RunPut(const Request& request, Console* /*console*/) {
  std::unique_ptr<Database> database;
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(OpenFamily(request, &database, &family));
  WriteBatch batch;
  VARVE_RETURN_IF_ERROR(batch.Put(family, request.keys.at(0), request.value));
  VARVE_RETURN_IF_ERROR(WriteDurably(*database, &batch));
  return database->Close();
}

Status RunDelete(const Request& request, Console* /*console*/) {
  std::unique_ptr<Database> database;
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(OpenFamily(request, &database, &family));
  WriteBatch batch;
  for (const std::string& key : request.keys) {
    VARVE_RETURN_IF_ERROR(batch.Delete(family, key));
  }
  VARVE_RETURN_IF_ERROR(WriteDurably(*database, &batch));
  return database->Close();
}

}  // namespace varve::tool
