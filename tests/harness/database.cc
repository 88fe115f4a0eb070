// SPDX-License-Identifier: Apache-2.0
#include "tests/harness/database.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "util/env/file_names.h"

namespace varve::testing {

namespace {

class ForgettingLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

std::shared_ptr<Logger> SilentLogger() {
  static const std::shared_ptr<Logger> logger = std::make_shared<ForgettingLogger>();
  return logger;
}

bool Eventually(const std::function<bool()>& condition, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// A database whose process counts as dead. It continues to live, on files that nothing else uses
// any more.
struct Database::Abandoned {
  std::shared_ptr<FaultFileSystem> faults;
  std::unique_ptr<Env> env;
  std::map<std::string, ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;

  ~Abandoned() {
    faults->ClearFaults();
    faults->ReleaseQuota();
    for (auto& [name, handle] : handles) {
      EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    }
    db.reset();
  }
};

Database::Database() {
  Mount(std::make_shared<MemFileSystem>());
  options_.create_if_missing = true;
  options_.create_missing_column_families = true;
  options_.info_log = SilentLogger();
  options_.compression = kNoCompression;
}

Database::~Database() {
  faults_->ClearFaults();
  faults_->ReleaseQuota();
  Close().PermitUncheckedError();
}

void Database::Mount(std::shared_ptr<MemFileSystem> mem) {
  mem_ = std::move(mem);
  faults_ = std::make_shared<FaultFileSystem>(mem_);
  env_ = NewCompositeEnv(faults_);
  options_.env = env_.get();
}

std::vector<ColumnFamilyDescriptor> Database::Describe(
    const std::vector<std::string>& families) const {
  std::vector<ColumnFamilyDescriptor> result;
  for (const std::string& name : families) {
    result.emplace_back(name, static_cast<const ColumnFamilyOptions&>(options_));
  }
  return result;
}

Status Database::Adopt(const std::vector<ColumnFamilyDescriptor>& families,
                       const std::vector<ColumnFamilyHandle*>& handles, DB* db,
                       const Status& status) {
  if (!status.ok()) {
    EXPECT_EQ(db, nullptr);
    EXPECT_TRUE(handles.empty());
    return status;
  }
  db_.reset(db);
  opened_.clear();
  for (size_t i = 0; i < families.size(); i++) {
    opened_.push_back(families[i].name);
    handles_[families[i].name] = handles[i];
  }
  return status;
}

Status Database::TryOpenWith(const std::vector<ColumnFamilyDescriptor>& families) {
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  const Status s = DB::Open(options_, kName, families, &handles, &db);
  return Adopt(families, handles, db, s);
}

Status Database::TryOpen(const std::vector<std::string>& families) {
  return TryOpenWith(Describe(families));
}

void Database::Open(const std::vector<std::string>& families) {
  const Status s = TryOpen(families);
  ASSERT_TRUE(s.ok()) << s.ToString();
}

Status Database::TryOpenReadOnly(const std::vector<std::string>& families,
                                 bool error_if_wal_file_exists) {
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  const std::vector<ColumnFamilyDescriptor> described = Describe(families);
  const Status s =
      DB::OpenForReadOnly(options_, kName, described, &handles, &db, error_if_wal_file_exists);
  return Adopt(described, handles, db, s);
}

Status Database::Close() {
  if (db_ == nullptr) return Status::OK();
  for (auto& [name, handle] : handles_) {
    EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
  }
  handles_.clear();
  Status s = db_->Close();
  db_.reset();
  return s;
}

void Database::GiveBack(const std::string& family) {
  EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handles_.at(family)).ok());
  handles_.erase(family);
}

void Database::Reopen() {
  const std::vector<std::string> families = opened_;
  const Status s = Close();
  ASSERT_TRUE(s.ok()) << s.ToString();
  Open(families);
}

void Database::Remount(std::shared_ptr<MemFileSystem> mem) {
  ASSERT_EQ(db_, nullptr);
  env_.reset();
  Mount(std::move(mem));
}

void Database::Kill() {
  std::shared_ptr<MemFileSystem> left = mem_->CrashClone(CrashPolicy::kKill, /*seed=*/1);
  auto dead = std::make_unique<Abandoned>();
  dead->faults = std::move(faults_);
  dead->env = std::move(env_);
  dead->handles = std::exchange(handles_, {});
  dead->db = std::move(db_);
  abandoned_.push_back(std::move(dead));
  Mount(std::move(left));
}

void Database::Put(const std::string& key, const std::string& value, const std::string& family) {
  const Status s = db_->Put(WriteOptions(), Handle(family), key, value);
  ASSERT_TRUE(s.ok()) << s.ToString();
}

void Database::Delete(const std::string& key, const std::string& family) {
  const Status s = db_->Delete(WriteOptions(), Handle(family), key);
  ASSERT_TRUE(s.ok()) << s.ToString();
}

void Database::Flush(const std::string& family) {
  const Status s = db_->Flush(FlushOptions(), Handle(family));
  ASSERT_TRUE(s.ok()) << s.ToString();
}

void Database::MakeTable(const std::vector<std::string>& keys, const std::string& family) {
  for (const std::string& key : keys) Put(key, "of " + key, family);
  Flush(family);
}

std::string Database::Get(const std::string& key, const std::string& family,
                          const Snapshot* snapshot) {
  ReadOptions options;
  options.snapshot = snapshot;
  std::string value;
  const Status s = db_->Get(options, Handle(family), key, &value);
  if (s.IsNotFound()) return "NOT_FOUND";
  return s.ok() ? value : s.ToString();
}

std::string Database::Rest(Iterator* it) {
  std::string text;
  for (; it->Valid(); it->Next()) {
    if (!text.empty()) text += " ";
    text += it->key().ToString() + "=" + it->value().ToString();
  }
  if (!it->status().ok()) text += " " + it->status().ToString();
  return text;
}

std::string Database::Scan(const ReadOptions& options, const std::string& family) {
  const std::unique_ptr<Iterator> it(db_->NewIterator(options, Handle(family)));
  it->SeekToFirst();
  return Rest(it.get());
}

uint64_t Database::Number(const std::string& property, const std::string& family) {
  uint64_t value = 0;
  EXPECT_TRUE(db_->GetIntProperty(Handle(family), property, &value)) << property;
  return value;
}

std::string Database::Text(const std::string& property, const std::string& family) {
  std::string value;
  EXPECT_TRUE(db_->GetProperty(Handle(family), property, &value)) << property;
  return value;
}

std::string Database::Levels(const std::string& family) {
  ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(Handle(family), &metadata);
  std::string text;
  std::string pending;  // Empty levels, written only if a table follows.
  for (const LevelMetaData& level : metadata.levels) {
    const std::string separator = level.level == 0 ? "" : ",";
    pending += separator + std::to_string(level.files.size());
    if (!level.files.empty()) text += std::exchange(pending, "");
  }
  return text;
}

std::vector<std::string> Database::Files(FileType type, const std::string& directory) {
  std::vector<std::string> entries;
  std::vector<std::string> result;
  mem_->GetChildren(directory, IOOptions(), &entries, nullptr).PermitUncheckedError();
  for (const std::string& entry : entries) {
    uint64_t number = 0;
    FileType found;
    if (ParseFileName(entry, &number, &found) && found == type) result.push_back(entry);
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::string Database::ReadFile(const std::string& path) {
  std::string bytes;
  const Status s = ReadFileToString(env_.get(), path, &bytes);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return bytes;
}

void Database::WriteFile(const std::string& path, const std::string& bytes) {
  const Status s = WriteStringToFile(env_.get(), bytes, path, /*should_sync=*/true);
  EXPECT_TRUE(s.ok()) << s.ToString();
}

}  // namespace varve::testing
