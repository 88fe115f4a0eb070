// SPDX-License-Identifier: Apache-2.0
// A database is backed up while it is open, goes on, and is brought back to what it was.
// Usage: safe_copy [directory]    (a new one; default ./safe_copy.db)

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "varve/db.h"
#include "varve/utilities/backup_engine.h"

namespace {

void OrDie(const varve::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

std::unique_ptr<varve::DB> Open(const std::string& name) {
  varve::Options options;
  options.create_if_missing = true;
  varve::DB* opened = nullptr;
  OrDie(varve::DB::Open(options, name, &opened));
  return std::unique_ptr<varve::DB>(opened);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "safe_copy.db";
  // The backups have a directory of their own, which may lie within the database's.
  varve::BackupEngine* made = nullptr;
  {
    const std::unique_ptr<varve::DB> db = Open(name);
    OrDie(db->Put(varve::WriteOptions(), "apple", "green"));
    OrDie(varve::BackupEngine::Open(varve::BackupEngineOptions(name + "/backups"),
                                    varve::Env::Default(), &made));
    OrDie(made->CreateNewBackup(db.get()));
    // Later backups copy only what is new.
    OrDie(db->Put(varve::WriteOptions(), "apple", "brown"));
  }
  const std::unique_ptr<varve::BackupEngine> engine(made);
  OrDie(engine->VerifyBackup(1, true));
  // The database is closed. If anything is wrong with the backup, the database stays as it is.
  OrDie(engine->RestoreDBFromBackup(1, name, name));

  const std::unique_ptr<varve::DB> db = Open(name);
  std::string value;
  OrDie(db->Get(varve::ReadOptions(), "apple", &value));
  std::printf("the apple is %s again\n", value.c_str());
  return value == "green" ? 0 : 2;
}
