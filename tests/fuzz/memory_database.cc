// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/memory_database.h"

#include <vector>

#include "varve/table.h"

#include "util/env/durable_write.h"

namespace varve::fuzz {

namespace {

const std::string kDirectory = "/db";

class SilentLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

MemoryDatabase::MemoryDatabase()
    : fs_(std::make_shared<MemFileSystem>()), env_(NewCompositeEnv(fs_)) {
  fs_->CreateDirIfMissing(kDirectory, IOOptions(), nullptr).PermitUncheckedError();
}

MemoryDatabase::~MemoryDatabase() = default;

Options MemoryDatabase::SmallOptions(int block_restart_interval) {
  static const std::shared_ptr<Logger> silent = std::make_shared<SilentLogger>();
  Options options;
  options.create_if_missing = true;
  options.info_log = silent;
  options.compression = kNoCompression;
  options.write_buffer_size = 64 << 10;
  options.max_background_jobs = 1;
  options.disable_auto_compactions = true;
  BlockBasedTableOptions table;
  table.block_size = 256;
  table.block_restart_interval = block_restart_interval;
  table.no_block_cache = true;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

void MemoryDatabase::AddFile(const std::string& name, const std::string& bytes) {
  if (name.empty() || name.find('/') != std::string::npos || name[0] == '.') return;
  std::unique_ptr<FSWritableFile> file;
  if (!fs_->NewWritableFile(kDirectory + "/" + name, FileOptions(), &file, nullptr).ok()) return;
  file->Append(bytes, IOOptions(), nullptr).PermitUncheckedError();
  file->Sync(IOOptions(), nullptr).PermitUncheckedError();
  file->Close(IOOptions(), nullptr).PermitUncheckedError();
}

std::map<std::string, std::string> MemoryDatabase::Files() const {
  std::map<std::string, std::string> files;
  std::vector<std::string> names;
  fs_->GetChildren(kDirectory, IOOptions(), &names, nullptr).PermitUncheckedError();
  for (const std::string& name : names) {
    std::string bytes;
    if (ReadFileToString(fs_.get(), kDirectory + "/" + name, UINT64_MAX, &bytes).ok()) {
      files[name] = bytes;
    }
  }
  return files;
}

Options MemoryDatabase::Completed(Options options) const {
  options.env = env_.get();
  return options;
}

Status MemoryDatabase::Open(const Options& options) {
  DB* db = nullptr;
  const Status s = DB::Open(Completed(options), kDirectory, &db);
  db_.reset(db);
  return s;
}

Status MemoryDatabase::OpenReadOnly(const Options& options) {
  DB* db = nullptr;
  const Status s = DB::OpenForReadOnly(Completed(options), kDirectory, &db);
  db_.reset(db);
  return s;
}

void MemoryDatabase::Close() {
  db_.reset();
}

}  // namespace varve::fuzz
