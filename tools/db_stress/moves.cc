// SPDX-License-Identifier: Apache-2.0

// Operations that bring data to another place, beside all others: checkpoints, backups and their
// restores, ingested files, change streams, and secondaries. What arrives must be, key by key, a
// state between that before the call and that after it.

#include <algorithm>
#include <filesystem>

#include "varve/change_stream.h"
#include "varve/sst_file_writer.h"
#include "varve/utilities/backup_engine.h"
#include "varve/utilities/checkpoint.h"

#include "tools/db_stress/flags.h"
#include "tools/db_stress/worker.h"

namespace varve::stress {

namespace {

constexpr uint64_t kIngestedMost = 40;  // keys of a file
constexpr uint64_t kStreamedMost = 20;  // writes that are looked for in a stream
constexpr uint32_t kBackupsKept = 2;

void Remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// Collects what a stream tells of one key: its values in the order in which they were put.
class TellsPuts final : public WriteBatch::Handler {
 public:
  TellsPuts(uint32_t family_id, uint64_t number) : family_id_(family_id), key_(KeyBytes(number)) {}

  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    if (family == family_id_ && key == Slice(key_)) values.push_back(value.ToString());
    return Status::OK();
  }
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice& entity) override {
    PinnableWideColumns columns;
    const Status s = columns.SetWideColumnValue(entity);
    return s.ok() ? PutCF(family, key, columns.columns().front().value()) : s;
  }
  Status DeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status SingleDeleteCF(uint32_t, const Slice&) override { return Status::OK(); }
  Status DeleteRangeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  Status MergeCF(uint32_t, const Slice&, const Slice&) override { return Status::OK(); }
  void LogData(const Slice&) override {}
  Status MarkBeginPrepare(bool) override { return Status::OK(); }
  Status MarkEndPrepare(const Slice&) override { return Status::OK(); }
  Status MarkCommit(const Slice&) override { return Status::OK(); }
  Status MarkRollback(const Slice&) override { return Status::OK(); }
  Status MarkNoop(bool) override { return Status::OK(); }

  std::vector<std::string> values;

 private:
  const uint32_t family_id_;
  const std::string key_;
};

}  // namespace

std::string Worker::Place(const char* what) const {
  const std::string folder = database_->moves_directory();
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  return folder + "/" + what + "-" + std::to_string(id_);
}

std::vector<KeyState> Worker::StatesOf(uint32_t family, bool floors) {
  std::vector<KeyState> states(expected().keys());
  for (uint64_t number = 0; number < states.size(); number++) {
    const KeyId key{family, number};
    states[number] = floors ? expected().Floor(key) : expected().Get(key);
  }
  return states;
}

// `before` was read before the copy began and `after` when it was complete, for all keys. Each key
// is judged for itself: that a copy is of one moment is not checked.
void Worker::JudgeMoved(const char* how, DB* moved, ColumnFamilyHandle* of, uint32_t family,
                        const std::vector<KeyState>& before, const std::vector<KeyState>& after) {
  std::string value;
  for (uint64_t number = 0; number < before.size(); number++) {
    const Status s = moved->Get(database_->Now(), of, KeyBytes(number), &value);
    JudgeBetween(how, {family, number}, before[number], after[number], s, value);
  }
}

// Opens a copy read-only, with one family beside the default one, and compares.
void Worker::LookAtMoved(const char* how, const std::string& path, uint32_t family,
                         const std::vector<KeyState>& before, const std::vector<KeyState>& after) {
  DBOptions options = database_->options().OfCopy();
  std::vector<ColumnFamilyDescriptor> families = {{FamilyName(0), database_->options().family}};
  if (family != 0) families.emplace_back(FamilyName(family), database_->options().family);
  std::vector<ColumnFamilyHandle*> handles;
  DB* opened = nullptr;
  const Status s =
      Database::OpenPlain(options, path, families, /*read_only=*/true, &handles, &opened);
  const std::unique_ptr<DB> moved(opened);
  if (!s.ok()) return database_->Wrong(std::string(how) + " does not open: " + s.ToString());
  JudgeMoved(how, moved.get(), handles.back(), family, before, after);
  for (ColumnFamilyHandle* const one : handles) {
    moved->DestroyColumnFamilyHandle(one).PermitUncheckedError();
  }
}

void Worker::MakeCheckpoint() {
  const std::string path = Place("checkpoint");
  Remove(path);
  Remove(path + ".tmp");
  const uint32_t family = RandomFamily();
  const std::vector<KeyState> before = StatesOf(family, false);
  Checkpoint* made = nullptr;
  Status s = Checkpoint::Create(db(), &made);
  const std::unique_ptr<Checkpoint> checkpoint(made);
  if (s.ok()) s = checkpoint->CreateCheckpoint(path, dice_.OneIn(2) ? 0 : UINT64_MAX);
  if (!s.ok()) return database_->Wrong("CreateCheckpoint: " + s.ToString());
  LookAtMoved("a checkpoint", path, family, before, StatesOf(family, false));
  Remove(path);
}

void Worker::MakeBackup() {
  BackupEngineOptions options(Place("backups"));
  options.max_background_operations = 1 + static_cast<int>(dice_.Below(3));
  BackupEngine* opened = nullptr;
  IOStatus s = BackupEngine::Open(options, Env::Default(), &opened);
  if (!s.ok()) return database_->Wrong("BackupEngine::Open: " + s.ToString());
  const std::unique_ptr<BackupEngine> engine(opened);
  std::vector<BackupID> corrupted;
  engine->GetCorruptedBackups(&corrupted);
  if (!corrupted.empty()) database_->Wrong("a backup is not whole");
  const uint32_t family = RandomFamily();
  const std::vector<KeyState> before = StatesOf(family, false);
  CreateBackupOptions create;
  create.flush_before_backup = dice_.OneIn(2);
  BackupID id = 0;
  s = engine->CreateNewBackup(create, db(), &id);
  if (s.IsNotSupported()) return;  // tables are in two directories
  if (!s.ok()) return database_->Wrong("CreateNewBackup: " + s.ToString());
  const std::vector<KeyState> after = StatesOf(family, false);
  const std::string restored = Place("restored");
  s = engine->VerifyBackup(id, dice_.OneIn(2));
  const RestoreOptions::Mode mode = dice_.OneIn(2) ? RestoreOptions::kVerifyChecksum
                                                   : RestoreOptions::kKeepLatestDbSessionIdFiles;
  const RestoreOptions restore(/*_keep_log_files=*/false, mode);
  if (s.ok()) s = engine->RestoreDBFromBackup(restore, id, restored, restored);
  if (!s.ok()) return database_->Wrong("a backup: " + s.ToString());
  LookAtMoved("a restored backup", restored, family, before, after);
  s = engine->PurgeOldBackups(kBackupsKept);
  if (!s.ok()) database_->Wrong("PurgeOldBackups: " + s.ToString());
}

// Puts neighbouring keys by one file.
void Worker::Ingest() {
  const KeyId first = RandomKey();
  uint64_t end = std::min(first.number + 1 + dice_.Below(kIngestedMost), expected().keys());
  while (end > first.number && IsNeverOverwritten(end - 1)) end--;
  if (end == first.number) return;
  const KeyLocks::Held held = database_->locks().LockRange(first.family, first.number, end - 1);
  const std::string path = Place("file") + ".sst";
  const StressOptions& options = database_->options();
  SstFileWriter writer(EnvOptions(), Options(options.db, options.family),
                       dice_.OneIn(2) ? handle(first.family) : nullptr);
  Status s = writer.Open(path);
  // The new states are computed while the file is written, and become pending only when the file is
  // complete: a kill up to there changes nothing in the database.
  std::vector<KeyState> after;
  for (uint64_t n = first.number; n < end && s.ok(); n++) {
    const KeyId key{first.family, n};
    after.push_back(expected().Get(key).With(Change::kPut).After());
    s = writer.Put(KeyBytes(n), BaseValue(key, after.back().base));
  }
  if (s.ok()) s = writer.Finish();
  if (!s.ok()) return database_->Wrong("SstFileWriter: " + s.ToString());
  IngestExternalFileOptions ingestion;
  ingestion.move_files = dice_.OneIn(2);
  ingestion.verify_checksums_before_ingest = dice_.OneIn(3);
  for (uint64_t n = first.number; n < end; n++) {
    const KeyId key{first.family, n};
    expected().Set(key, expected().Get(key).With(Change::kPut));
  }
  s = db()->IngestExternalFile(handle(first.family), {path}, ingestion);
  if (!s.ok()) return database_->Wrong("IngestExternalFile: " + s.ToString());
  for (uint64_t n = first.number; n < end; n++) {
    expected().Set({first.family, n}, after[n - first.number]);
  }
  Remove(path);
}

// Reads up to `newest`. Requires records without gaps: each begins where the last one ended.
Status Worker::ReadStream(ChangeStream* stream, SequenceNumber newest, WriteBatch::Handler* tells) {
  ChangeRecord record;
  for (SequenceNumber next = stream->position(); next <= newest;) {
    Status s = stream->WaitNext(1'000'000, &record);
    if (s.ok() && record.kind == ChangeRecord::Kind::kNothing) {
      return Status::Incomplete("the stream ends at " + std::to_string(next) + " of " +
                                std::to_string(newest));
    }
    if (s.ok() && record.first != next) {
      return Status::Corruption("the stream goes from " + std::to_string(next) + " to " +
                                std::to_string(record.first));
    }
    if (s.ok() && record.kind == ChangeRecord::Kind::kBatch) s = record.batch.Iterate(tells);
    if (!s.ok()) return s;
    next = record.last + 1;
  }
  return Status::OK();
}

// Puts one key a few times: a stream from before on tells just that, among all that others do.
void Worker::FollowChanges() {
  const KeyId key = RandomKey();
  if (IsNeverOverwritten(key.number) || Database::stamped()) return;
  const KeyLocks::Held held = database_->locks().Lock(key);
  const StressOptions& options = database_->options();
  // A stream tells of logged writes only. Whether those of a key are depends on the key alone.
  if (options.DrawWriteOptions(key.number, &dice_).disableWAL) return;
  ChangeStreamOptions of_stream;
  of_stream.name = "stress-" + std::to_string(id_);
  db()->DropChangeStream(of_stream.name).PermitUncheckedError();  // of a killed process
  of_stream.durable_only = dice_.OneIn(3);
  if (dice_.OneIn(2)) of_stream.max_idle_seconds = 3600;
  std::unique_ptr<ChangeStream> stream;
  Status s = db()->OpenChangeStream(of_stream, &stream);
  if (!s.ok()) return database_->Wrong("OpenChangeStream: " + s.ToString());
  std::vector<std::string> due;
  for (uint64_t i = dice_.Below(kStreamedMost); i > 0; i--) {
    const uint32_t base = expected().Get(key).base;
    PutLocked(key);
    // A transaction may have been rolled back: then nothing is due.
    const KeyState now = expected().Get(key);
    if (now.base != base) due.push_back(BaseValue(key, now.base));
  }
  const SequenceNumber newest = db()->GetLatestSequenceNumber();
  // Records that a log still holds in a buffer are not read.
  s = db()->FlushWAL(/*sync=*/of_stream.durable_only);
  TellsPuts tells(handle(key.family)->GetID(), key.number);
  if (s.ok()) s = ReadStream(stream.get(), newest, &tells);
  if (!s.ok()) database_->Wrong("a change stream: " + s.ToString());
  expected().counts().checks++;
  if (s.ok() && tells.values != due) {
    database_->Wrong("a change stream tells " + std::to_string(tells.values.size()) + " puts of " +
                     std::to_string(due.size()) +
                     ", or others: " + Describe(key, expected().Get(key)));
  }
  stream.reset();
  s = db()->DropChangeStream(of_stream.name);
  if (!s.ok()) database_->Wrong("DropChangeStream: " + s.ToString());
}

// Compares with a secondary. That sees at least what survives a kill, as the rest may be in this
// process alone.
void Worker::FollowAsSecondary() {
  // A manager cuts obsolete tables piece by piece, which a secondary may have open.
  if (database_->options().db.sst_file_manager != nullptr) return;
  const uint32_t family = RandomFamily();
  const bool floors = !database_->options().SurvivesKill();
  std::vector<ColumnFamilyDescriptor> families = {{FamilyName(0), database_->options().family}};
  if (family != 0) families.emplace_back(FamilyName(family), database_->options().family);
  DBOptions options = database_->options().OfCopy();
  options.db_paths = database_->options().db.db_paths;
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> secondary;
  std::vector<KeyState> before = StatesOf(family, floors);
  Status s = DB::OpenAsSecondary(options, db()->GetName(), Place("secondary"), families, &handles,
                                 &secondary);
  if (!s.ok()) return database_->Wrong("OpenAsSecondary: " + s.ToString());
  for (uint64_t rounds = 1 + dice_.Below(3); rounds > 0; rounds--) {
    JudgeMoved("a secondary", secondary.get(), handles.back(), family, before,
               StatesOf(family, false));
    before = StatesOf(family, floors);
    s = secondary->TryCatchUpWithPrimary();
    if (!s.ok()) database_->Wrong("TryCatchUpWithPrimary: " + s.ToString());
  }
  for (ColumnFamilyHandle* const one : handles) {
    secondary->DestroyColumnFamilyHandle(one).PermitUncheckedError();
  }
}

void Worker::Move() {
  const auto one_in = [this](int n) { return dice_.OneIn(static_cast<uint64_t>(n)); };
  if (one_in(FLAGS_checkpoint_one_in)) MakeCheckpoint();
  if (one_in(FLAGS_backup_one_in)) MakeBackup();
  // With lifetimes, stored values end with the time of their writing. These three see them as they
  // are stored, which the expected state does not know.
  if (Database::has_lifetimes()) return;
  if (one_in(FLAGS_ingest_external_file_one_in) && !Database::stamped()) Ingest();
  if (one_in(FLAGS_change_stream_one_in)) FollowChanges();
  if (one_in(FLAGS_secondary_one_in)) FollowAsSecondary();
}

}  // namespace varve::stress
