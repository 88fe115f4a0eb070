// SPDX-License-Identifier: Apache-2.0
#include "tests/model/data_moves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "varve/convenience.h"
#include "varve/sst_file_writer.h"
#include "varve/utilities/checkpoint.h"

namespace varve::testing {

namespace {

const char* const kOutside = "/outside";
const char* const kCopy = "/outside/copy";
const char* const kBackups = "/outside/backups";
const char* const kRestored = "/outside/restored";
constexpr size_t kMostBackups = 3;

IngestExternalFileOptions RandomIngestion(Random* random) {
  IngestExternalFileOptions options;
  switch (random->Below(3)) {
    case 0:
      options.move_files = true;
      break;
    case 1:
      options.link_files = true;
      break;
    default:
      break;
  }
  options.write_global_seqno = random->OneIn(5);
  options.verify_checksums_before_ingest = random->OneIn(3);
  options.file_opening_threads = random->OneIn(5) ? 3 : 1;
  options.allow_blocking_flush = !random->OneIn(8);
  options.allow_global_seqno = !random->OneIn(8);
  options.fail_if_not_bottommost_level = random->OneIn(8);
  return options;
}

}  // namespace

DataMoves::DataMoves(Random* random, Env* env, Draw key, Draw value, Draw operand)
    : random_(random),
      env_(env),
      key_(std::move(key)),
      value_(std::move(value)),
      operand_(std::move(operand)) {
  EXPECT_TRUE(env_->CreateDirIfMissing(kOutside).ok());
}

std::string DataMoves::RandomFamily(const Modelled& run) {
  auto it = run.handles.begin();
  std::advance(it, static_cast<long>(random_->Below(run.handles.size())));
  return it->first;
}

void DataMoves::RandomRange(const Modelled& run, std::string* begin, std::string* end) {
  *begin = key_();
  *end = key_();
  if (run.set.family.comparator->Compare(*begin, *end) > 0) std::swap(*begin, *end);
}

void DataMoves::Remove(const std::string& path, const OptionSet& set) {
  DBOptions options = set.db;
  options.db_paths.clear();
  const Status s = DestroyDB(path, Options(options, set.family));
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(env_->FileExists(path).IsNotFound()) << path << " is not empty";
}

void DataMoves::CheckCheckpoint(const Modelled& run) {
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(run.db, &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  const uint64_t sizes[] = {0, 64 << 10, UINT64_MAX, UINT64_MAX};
  const uint64_t size = sizes[random_->Below(4)];
  ReferenceState contents;
  std::vector<ColumnFamilyHandle*> some;
  for (const auto& [name, family] : run.state.families) {
    if (name != kDefaultColumnFamilyName && random_->OneIn(3)) continue;
    contents.families.emplace(name, family);
    some.push_back(run.handles.at(name));
  }
  Status s;
  const SequenceNumber newest = run.db->GetLatestSequenceNumber();
  uint64_t sequence = 0;
  if (random_->OneIn(2)) {
    contents = run.state;
    s = checkpoint->CreateCheckpoint(kCopy, size, &sequence);
  } else {
    s = checkpoint->CreateCheckpoint(kCopy, some, size, &sequence);
  }
  ASSERT_TRUE(s.ok()) << s.ToString();
  MovedDatabase copy;
  const bool read_only = random_->OneIn(3);
  s = copy.Open(kCopy, read_only ? MovedDatabase::As::kReadOnly : MovedDatabase::As::kDatabase,
                run.set, contents);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ExpectHolds(copy.db(), copy.handles(), contents);
  EXPECT_EQ(sequence, newest);
  EXPECT_GE(copy.db()->GetLatestSequenceNumber(), sequence);
  copy.Close();
  Remove(kCopy, run.set);
}

void DataMoves::OpenBackups(const Modelled& run) {
  BackupEngineOptions options(kBackups);
  options.schema_version = random_->OneIn(2) ? 2 : 1;
  options.max_background_operations = random_->OneIn(2) ? 3 : 1;
  BackupEngine* engine = nullptr;
  const IOStatus s = BackupEngine::Open(options, run.set.db.env, &engine);
  ASSERT_TRUE(s.ok()) << s.ToString();
  backups_.reset(engine);
}

void DataMoves::CheckBackup(const Modelled& run) {
  if (backups_ == nullptr || random_->OneIn(3)) {
    backups_.reset();
    OpenBackups(run);
  }
  CreateBackupOptions options;
  options.flush_before_backup = random_->OneIn(2);
  options.atomic_flush = options.flush_before_backup && random_->OneIn(2);
  BackupID id = 0;
  const IOStatus s = backups_->CreateNewBackup(options, run.db, &id);
  if (s.IsNotSupported()) return;  // this opening or an earlier one had tables in two directories
  ASSERT_TRUE(s.ok()) << s.ToString();
  backed_up_[id] = run.state;
  RestoreAndCompare(run);
  if (backed_up_.size() < kMostBackups) return;
  const BackupID gone = random_->OneIn(2) ? backed_up_.begin()->first : backed_up_.rbegin()->first;
  ASSERT_TRUE(backups_->DeleteBackup(gone).ok());
  backed_up_.erase(gone);
}

void DataMoves::RestoreAndCompare(const Modelled& run) {
  auto chosen = backed_up_.begin();
  std::advance(chosen, static_cast<long>(random_->Below(backed_up_.size())));
  const RestoreOptions::Mode modes[] = {RestoreOptions::kKeepLatestDbSessionIdFiles,
                                        RestoreOptions::kVerifyChecksum,
                                        RestoreOptions::kPurgeAllFiles};
  const RestoreOptions restore(/*_keep_log_files=*/false, modes[random_->Below(3)]);
  ASSERT_TRUE(backups_->VerifyBackup(chosen->first, random_->OneIn(2)).ok());
  IOStatus restored = backups_->RestoreDBFromBackup(restore, chosen->first, kRestored, kRestored);
  ASSERT_TRUE(restored.ok()) << restored.ToString();
  MovedDatabase copy;
  const Status s = copy.Open(kRestored, MovedDatabase::As::kDatabase, run.set, chosen->second);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ExpectHolds(copy.db(), copy.handles(), chosen->second);
}

void DataMoves::CheckSecondary(const Modelled& run) {
  // No other process sees entries that are only in memory or in buffers.
  std::vector<ColumnFamilyHandle*> all;
  for (const auto& [name, handle] : run.handles) all.push_back(handle);
  FlushOptions flush;
  flush.allow_write_stall = true;
  if (run.set.mode->no_log_one_in != 0) {
    ASSERT_TRUE(run.db->Flush(flush, all).ok());
  }
  ASSERT_TRUE(run.db->FlushWAL(/*sync=*/false).ok());
  Status s;
  if (secondary_.db() == nullptr || random_->OneIn(4)) {
    s = secondary_.Open(run.db->GetName(), MovedDatabase::As::kSecondary, run.set, run.state);
  } else {
    s = secondary_.db()->TryCatchUpWithPrimary();
  }
  ASSERT_TRUE(s.ok()) << s.ToString();
  ExpectHolds(secondary_.db(), secondary_.handles(), run.state);
}

DataMoves::Changes DataMoves::WriteFile(const Modelled& run, const std::string& family,
                                        const std::string& path) {
  const Comparator* const order = run.set.family.comparator;
  Changes changes;
  SstFileWriter writer(EnvOptions(), Options(run.set.db, run.set.family),
                       random_->OneIn(2) ? run.handles.at(family) : nullptr);
  EXPECT_TRUE(writer.Open(path).ok());
  // Deleted ranges are older than the points of the file.
  const bool ranges = run.set.takes_ranges && random_->OneIn(3);
  for (uint64_t n = ranges ? 1 + random_->Below(3) : 0; n > 0; n--) {
    Change change{Change::kDeleteRange, family, "", ""};
    RandomRange(run, &change.key, &change.value);
    if (order->Compare(change.key, change.value) == 0) continue;
    EXPECT_TRUE(writer.DeleteRange(change.key, change.value).ok());
    changes.push_back(change);
  }
  std::vector<std::string> keys;
  const uint64_t most = random_->OneIn(4) ? 100 : 8;
  for (uint64_t n = random_->Below(most) + (changes.empty() ? 1 : 0); n > 0; n--) {
    keys.push_back(key_());
  }
  std::sort(keys.begin(), keys.end(),
            [order](const auto& x, const auto& y) { return order->Compare(x, y) < 0; });
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::string& key : keys) {
    Change change{Change::kPut, family, key, ""};
    const uint64_t dice = random_->Below(10);
    Status s;
    if (dice < 2) {
      change.kind = Change::kDelete;
      s = writer.Delete(key);
    } else if (dice < 5 && operand_ != nullptr) {
      change.kind = Change::kMerge;
      change.value = operand_();
      s = writer.Merge(key, change.value);
    } else {
      change.value = value_();
      s = writer.Put(key, change.value);
    }
    EXPECT_TRUE(s.ok()) << s.ToString();
    changes.push_back(std::move(change));
  }
  const Status s = writer.Finish();
  EXPECT_TRUE(s.ok()) << s.ToString();
  return changes;
}

DataMoves::Changes DataMoves::Ingest(const Modelled& run) {
  Changes changes;
  std::vector<IngestExternalFileArg> args;
  const IngestExternalFileOptions options = RandomIngestion(random_);
  for (const auto& [name, handle] : run.handles) {
    if (!random_->OneIn(run.handles.size())) continue;
    IngestExternalFileArg arg;
    arg.column_family = handle;
    arg.options = options;
    for (uint64_t n = 1 + random_->Below(3); n > 0; n--) {
      arg.external_files.push_back(std::string(kOutside) + "/" + std::to_string(files_++) + ".sst");
      const Changes more = WriteFile(run, name, arg.external_files.back());
      changes.insert(changes.end(), more.begin(), more.end());
    }
    args.push_back(std::move(arg));
  }
  if (args.empty()) return {};
  Status s;
  if (random_->OneIn(2)) {
    s = run.db->IngestExternalFiles(args);
  } else {
    std::unique_ptr<FileIngestionHandle> handle;
    s = run.db->PrepareFileIngestion(args, &handle);
    if (s.ok() && random_->OneIn(6)) {
      EXPECT_TRUE(handle->Abort().ok());
      s = Status::TryAgain("aborted");
    } else if (s.ok()) {
      s = run.db->CommitFileIngestionHandle(handle.get());
    }
  }
  for (const IngestExternalFileArg& arg : args) {
    for (const std::string& path : arg.external_files) {
      const bool moved = s.ok() && options.move_files;
      EXPECT_EQ(env_->FileExists(path).ok(), !moved) << path;
      if (moved) continue;
      EXPECT_TRUE(env_->DeleteFile(path).ok());
    }
  }
  if (s.ok()) return changes;
  // Refused as the options ask for it, and then nothing is in.
  const bool may_be_refused = !options.allow_blocking_flush || !options.allow_global_seqno;
  EXPECT_TRUE(s.IsTryAgain() || (s.IsInvalidArgument() && may_be_refused)) << s.ToString();
  return {};
}

DataMoves::Changes DataMoves::Excise(const Modelled& run) {
  if (!run.set.takes_ranges) return {};
  Change change{Change::kDeleteRange, RandomFamily(run), "", ""};
  RandomRange(run, &change.key, &change.value);
  const Slice begin(change.key);
  const Slice end(change.value);
  const Status s = run.db->Excise(run.handles.at(change.family), RangeOpt(begin, end));
  EXPECT_TRUE(s.ok()) << s.ToString();
  return {change};
}

DataMoves::Changes DataMoves::Clip(const Modelled& run) {
  if (!run.set.takes_ranges) return {};
  const std::string family = RandomFamily(run);
  std::string begin;
  std::string end;
  RandomRange(run, &begin, &end);
  const Status s = run.db->ClipColumnFamily(run.handles.at(family), begin, end);
  EXPECT_TRUE(s.ok()) << s.ToString();
  const Comparator* const order = run.set.family.comparator;
  Changes changes;
  for (const auto& [key, value] : run.state.families.at(family)) {
    if (order->Compare(key, begin) >= 0 && order->Compare(key, end) < 0) continue;
    changes.push_back(Change{Change::kDelete, family, key, ""});
  }
  return changes;
}

// Entries that the deleted tables hid become visible again, and snapshots lose some: so there must
// be no snapshots, and the run has to delete the range, too.
DataMoves::Changes DataMoves::DeleteFiles(const Modelled& run) {
  if (run.has_snapshots || !run.set.takes_ranges) return {};
  Change change{Change::kDeleteRange, RandomFamily(run), "", ""};
  RandomRange(run, &change.key, &change.value);
  ColumnFamilyHandle* const handle = run.handles.at(change.family);
  const Slice begin(change.key);
  const Slice end(change.value);
  const Status s = DeleteFilesInRange(run.db, handle, &begin, &end, /*include_end=*/false);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return {change};
}

void DataMoves::PromoteL0(const Modelled& run) {
  const int level = 1 + static_cast<int>(random_->Below(3));
  const Status s = run.db->PromoteL0(run.handles.at(RandomFamily(run)), level);
  EXPECT_TRUE(s.ok() || s.IsInvalidArgument()) << s.ToString();
}

ColumnFamilyHandle* DataMoves::ImportCopy(const Modelled& run, const std::string& source,
                                          const std::string& name) {
  Checkpoint* made = nullptr;
  EXPECT_TRUE(Checkpoint::Create(run.db, &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* files = nullptr;
  Status s = checkpoint->ExportColumnFamily(run.handles.at(source), kCopy, &files);
  EXPECT_TRUE(s.ok() || s.IsNotSupported()) << s.ToString();  // blob files are not exported
  if (!s.ok()) return nullptr;
  const std::unique_ptr<ExportImportFilesMetaData> metadata(files);
  ColumnFamilyHandle* handle = nullptr;
  if (!metadata->files.empty()) {
    ImportColumnFamilyOptions options;
    options.move_files = random_->OneIn(2);
    s = run.db->CreateColumnFamilyWithImport(run.set.family, name, options, *metadata, &handle);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  std::vector<std::string> left;
  EXPECT_TRUE(env_->GetChildren(kCopy, &left).ok());
  for (const std::string& file : left) {
    EXPECT_TRUE(env_->DeleteFile(std::string(kCopy) + "/" + file).ok());
  }
  EXPECT_TRUE(env_->DeleteDir(kCopy).ok());
  return handle;
}

}  // namespace varve::testing
