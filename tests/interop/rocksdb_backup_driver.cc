// SPDX-License-Identifier: Apache-2.0

// Backups as RocksDB's library makes, verifies and restores them. Usage:
//   create <backups> <schema> <naming> <database>: adds a backup of the database, as it is
//   verify <backups> <id>: reads all files
//   restore <backups> <id> <database>
// Prints what went wrong.

#include <rocksdb/db.h>
#include <rocksdb/utilities/backup_engine.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

rocksdb::Status Run(const std::vector<std::string>& args) {
  if (args.size() < 3) return rocksdb::Status::InvalidArgument("too few arguments");
  rocksdb::BackupEngineOptions options(args[1]);
  if (args[0] == "create" && args.size() == 5) {
    options.schema_version = std::atoi(args[2].c_str());
    options.share_files_with_checksum_naming =
        static_cast<rocksdb::BackupEngineOptions::ShareFilesNaming>(
            std::strtoul(args[3].c_str(), nullptr, 10));
  }
  rocksdb::BackupEngine* made = nullptr;
  rocksdb::Status s = rocksdb::BackupEngine::Open(options, rocksdb::Env::Default(), &made);
  if (!s.ok()) return s;
  const std::unique_ptr<rocksdb::BackupEngine> engine(made);
  const auto id = static_cast<rocksdb::BackupID>(std::strtoul(args[2].c_str(), nullptr, 10));
  if (args[0] == "verify") return engine->VerifyBackup(id, true);
  if (args[0] == "restore" && args.size() == 4) {
    return engine->RestoreDBFromBackup(id, args[3], args[3]);
  }
  if (args[0] != "create" || args.size() != 5) {
    return rocksdb::Status::InvalidArgument("unknown command");
  }
  rocksdb::DB* opened = nullptr;
  s = rocksdb::DB::Open(rocksdb::Options(), args[4], &opened);
  if (!s.ok()) return s;
  const std::unique_ptr<rocksdb::DB> db(opened);
  return engine->CreateNewBackupWithMetadata(db.get(), "of the other engine");
}

}  // namespace

int main(int argc, char** argv) {
  const rocksdb::Status s = Run(std::vector<std::string>(argv + 1, argv + argc));
  if (s.ok()) return EXIT_SUCCESS;
  std::fprintf(stderr, "%s\n", s.ToString().c_str());
  return EXIT_FAILURE;
}
