// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/varve_world.h"

#include <chrono>
#include <utility>

#include "varve/comparator.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"

namespace varve::testing {

namespace {

std::string PathOf(const std::string& name) {
  return "/" + name;
}

FamilyState ReadState(DB* db, ColumnFamilyHandle* handle, const Comparator* order,
                      std::string* failure) {
  FamilyState state(ComparatorLess{order});
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), handle));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (!IsRemovable(it->value())) state.emplace(it->key().ToString(), Shown(it->value()));
  }
  if (!it->status().ok()) *failure += Failure("a walk", it->status());
  return state;
}

}  // namespace

std::string Failure(const char* what, const Status& status) {
  return std::string("FAILS ") + what + ": " + status.ToString();
}

std::string TimestampBytes(uint64_t timestamp) {
  std::string bytes;
  EncodeU64Ts(timestamp, &bytes);
  return bytes;
}

OpenDatabase::~OpenDatabase() {
  Close(false);
}

std::string OpenDatabase::Join() {
  if (later.joinable()) later.join();
  return std::exchange(later_error, "");
}

void OpenDatabase::StartCompany() {
  company_ends = false;
  company = std::thread([this] {
    for (uint64_t i = 0; !company_ends; i++) {
      std::string text;
      const Snapshot* const snapshot = db->GetSnapshot();
      ReadOptions options;
      options.snapshot = i % 2 == 0 ? snapshot : nullptr;
      const std::unique_ptr<Iterator> it(db->NewIterator(options));
      it->SeekToFirst();
      for (int steps = 0; it->Valid() && steps < 20; steps++) it->Next();
      db->Get(options, "k", &text).PermitUncheckedError();
      db->GetProperty("rocksdb.levelstats", &text);
      db->ReleaseSnapshot(snapshot);
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  });
}

void OpenDatabase::StopCompany() {
  company_ends = true;
  if (company.joinable()) company.join();
}

Status OpenDatabase::Flush() {
  FlushOptions options;
  options.allow_write_stall = true;
  std::vector<ColumnFamilyHandle*> all;
  for (const auto& [family, handle] : handles) all.push_back(handle);
  return db->Flush(options, all);
}

void OpenDatabase::CloseSecondary() {
  for (ColumnFamilyHandle* const handle : of_secondary) {
    secondary->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  of_secondary.clear();
  secondary.reset();
}

void OpenDatabase::Continue() {
  for (; pauses > 0; pauses--) db->ContinueBackgroundWork().PermitUncheckedError();
}

std::string OpenDatabase::Close(bool calls_close) {
  if (db == nullptr) return "";
  StopCompany();
  CloseSecondary();
  replica.Close();
  Continue();
  for (; holds > 0; holds--) db->EnableFileDeletions().PermitUncheckedError();
  std::string failure = Join();
  db->EnableManualCompaction();
  for (const auto& [name, snapshot] : snapshots) db->ReleaseSnapshot(snapshot);
  snapshots.clear();
  for (const auto& [name, handle] : handles) {
    const Status s = db->DestroyColumnFamilyHandle(handle);
    if (!s.ok()) failure += Failure("DestroyColumnFamilyHandle", s);
  }
  handles.clear();
  if (calls_close) {
    Status s = db->Close();
    // A listener may hold a snapshot just then.
    while (s.IsAborted() && !set.db.listeners.empty()) s = db->Close();
    if (!s.ok()) failure += Failure("Close", s);
  }
  db.reset();
  return failure;
}

VarveWorld::VarveWorld(uint64_t set) : setup_(set) {
  Mount(std::make_shared<MemFileSystem>());
}

VarveWorld::~VarveWorld() {
  iterators_.clear();
}

void VarveWorld::Mount(std::shared_ptr<MemFileSystem> mem) {
  mem_ = std::move(mem);
  if (setup_.maps_files()) mem_->OfferMappedFiles();
  env_ = NewCompositeEnv(mem_);
}

std::vector<ColumnFamilyDescriptor> VarveWorld::Describe(const std::string& name,
                                                         const OptionSet& set, const Model& model) {
  std::vector<ColumnFamilyDescriptor> families;
  const auto known = model.databases().find(name);
  if (known == model.databases().end()) {
    families.emplace_back(kDefaultColumnFamilyName,
                          Setup::FamilyOptions(set, BytewiseComparator(), "default", false));
    return families;
  }
  for (const auto& [family, one] : known->second.families) {
    families.emplace_back(family, Setup::FamilyOptions(set, one.order(), family, one.filtered()));
  }
  return families;
}

std::string VarveWorld::OpenWith(const std::string& name, OptionSet set, const Model& model,
                                 const std::string& trim) {
  auto opened = std::make_unique<OpenDatabase>();
  set.db.env = env_.get();
  set.db.info_log = SilentLogger();
  const std::vector<ColumnFamilyDescriptor> families = Describe(name, set, model);
  SurvivingWrites::States states = {{"default", std::make_shared<FamilyState>()}};
  const auto known = model.databases().find(name);
  if (known != model.databases().end()) {
    for (const auto& [family, one] : known->second.families) {
      if (!one.has_timestamps()) states[family] = one.now();
    }
  }
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  const Status s =
      trim.empty() ? DB::Open(set.db, PathOf(name), families, &handles, &db)
                   : DB::OpenAndTrimHistory(set.db, PathOf(name), families, &handles, &db, trim);
  if (!s.ok()) return Failure("Open", s);
  opened->db.reset(db);
  for (size_t i = 0; i < families.size(); i++) opened->handles[families[i].name] = handles[i];
  opened->survivors.Restart(states);
  opened->set = std::move(set);
  if (setup_.has_company()) opened->StartCompany();
  databases_[name] = std::move(opened);
  return "";
}

std::string VarveWorld::Open(const Line& line, const Model& model) {
  const uint64_t variation = std::strtoull(line.Word(2).c_str(), nullptr, 10);
  OptionSet set = setup_.Draw(variation, env_.get());
  std::string trim;
  if (line.HasOption("trim")) {
    trim = TimestampBytes(std::strtoull(line.Option("trim").c_str(), nullptr, 10));
    set.db.avoid_flush_during_recovery = false;
  }
  described_ += "\n  " + line.Text() + ":" + set.description;
  const std::string failure = OpenWith(line.Db(), std::move(set), model, trim);
  return failure.empty() ? kDone : failure;
}

std::string VarveWorld::Close(const std::string& name, bool calls_close) {
  std::erase_if(iterators_, [&](const auto& one) { return one.second->db == name; });
  const std::string failure = At(name).Close(calls_close);
  databases_.erase(name);
  if (!failure.empty() || !databases_.empty()) return failure.empty() ? kDone : failure;
  const uint64_t memtables = setup_.memory() == nullptr ? 0 : setup_.memory()->memory_usage();
  const uint64_t pinned = setup_.cache() == nullptr ? 0 : setup_.cache()->GetPinnedUsage();
  if (memtables + pinned == 0) return kDone;
  return "FAILS with all closed, " + std::to_string(memtables) + " bytes of memtables and " +
         std::to_string(pinned) + " of the cache are held";
}

std::string VarveWorld::AwaitQuiet() {
  constexpr int kTries = 300;
  for (int i = 0; i < kTries; i++) {
    const uint64_t before = mem_->call_count();
    std::this_thread::sleep_for(std::chrono::milliseconds(i < 20 ? 1 : 10));
    if (mem_->call_count() == before) return "";
  }
  return "FAILS files go on changing though nothing is left to do";
}

std::string VarveWorld::Peek(const std::string& name, const Model& model) {
  OpenDatabase& database = At(name);
  if (SurvivalOf(database) != Survival::kAll) return kDone;
  std::string failure = database.Join();
  if (!failure.empty()) return failure;
  const std::unique_ptr<Env> env = NewCompositeEnv(mem_->CrashClone(CrashPolicy::kKill, 1));
  failure = Compare(name, PathOf(name), env.get(), /*for_reading=*/true, model);
  return failure.empty() ? kDone : failure;
}

std::string VarveWorld::Compare(const std::string& name, const std::string& directory, Env* env,
                                bool for_reading, const Model& model) {
  OptionSet set = At(name).set;
  set.db.env = env;
  set.db.listeners.clear();
  set.db.create_if_missing = false;
  std::vector<ColumnFamilyHandle*> handles;
  DB* db = nullptr;
  const std::vector<ColumnFamilyDescriptor> families = Describe(name, set, model);
  const Status s = for_reading ? DB::OpenForReadOnly(set.db, directory, families, &handles, &db)
                               : DB::Open(set.db, directory, families, &handles, &db);
  if (!s.ok()) return Failure("opening a copy", s);
  const std::unique_ptr<DB> copy(db);
  std::string failure;
  for (size_t i = 0; i < families.size(); i++) {
    const FamilyModel& one = model.databases().at(name).families.at(families[i].name);
    if (failure.empty()) failure = Differs(db, handles[i], one);
    copy->DestroyColumnFamilyHandle(handles[i]).PermitUncheckedError();
  }
  return failure;
}

std::string VarveWorld::Differs(DB* copy, ColumnFamilyHandle* handle, const FamilyModel& family) {
  if (family.has_timestamps()) return "";
  std::string failure;
  const FamilyState state = ReadState(copy, handle, family.order(), &failure);
  if (!failure.empty() || state == ShownState(*family.now())) return failure;
  return "FAILS a copy differs in " + handle->GetName();
}

std::string VarveWorld::OpenSecondary(const std::string& name, const Model& model) {
  OpenDatabase& primary = At(name);
  bool same = primary.secondary != nullptr && primary.of_secondary.size() == primary.handles.size();
  for (size_t i = 0; same && i < primary.of_secondary.size(); i++) {
    const auto at = primary.handles.find(primary.of_secondary[i]->GetName());
    same = at != primary.handles.end() && at->second->GetID() == primary.of_secondary[i]->GetID();
  }
  if (same) return "";
  primary.CloseSecondary();
  OptionSet set = primary.set;
  set.db.env = env_.get();
  set.db.listeners.clear();
  set.db.create_if_missing = false;
  // Tables that the primary deletes stay open.
  set.db.max_open_files = -1;
  // A secondary cannot flush, and must not make the primary wait for that.
  set.db.write_buffer_manager = nullptr;
  const Status s =
      DB::OpenAsSecondary(set.db, PathOf(name), PathOf(name) + "-secondary",
                          Describe(name, set, model), &primary.of_secondary, &primary.secondary);
  return s.ok() ? "" : Failure("OpenAsSecondary", s);
}

std::string VarveWorld::CatchUp(const std::string& name, const Model& model) {
  OpenDatabase& primary = At(name);
  // No reader of files sees what is in memory alone, or in the buffer of a log.
  Status s = primary.set.mode->no_log_one_in == 0 ? Status::OK() : primary.Flush();
  if (s.ok()) s = primary.db->FlushWAL(/*sync=*/false);
  if (!s.ok()) return Failure("Flush", s);
  std::string failure = OpenSecondary(name, model);
  if (!failure.empty()) return failure;
  s = primary.secondary->TryCatchUpWithPrimary();
  if (!s.ok()) return Failure("TryCatchUpWithPrimary", s);
  for (ColumnFamilyHandle* const handle : primary.of_secondary) {
    const FamilyModel& one = model.databases().at(name).families.at(handle->GetName());
    if (failure.empty()) failure = Differs(primary.secondary.get(), handle, one);
  }
  return failure.empty() ? kDone : failure + ", of a secondary";
}

std::string VarveWorld::Repair(const std::string& name, const Model& model) {
  OptionSet set = setup_.Draw(0, env_.get());
  set.db.info_log = SilentLogger();
  const Status s = RepairDB(PathOf(name), set.db, Describe(name, set, model));
  return s.ok() ? kDone : Failure("RepairDB", s);
}

Survival VarveWorld::SurvivalOf(const OpenDatabase& database) const {
  const WriteMode& mode = *database.set.mode;
  if (mode.SurvivesKill()) return Survival::kAll;
  if (mode.no_log_one_in > 1) return Survival::kAny;
  return database.set.db.atomic_flush ? Survival::kTogether : Survival::kApart;
}

// Lost writes of families with timestamps could not be put back.
std::string VarveWorld::PrepareKill(const std::string& name, OpenDatabase* database,
                                    const Model& model) {
  std::string failure = database->Join();
  if (SurvivalOf(*database) == Survival::kAll) return failure;
  bool timed = false;
  for (const auto& [family, one] : model.databases().at(name).families)
    timed |= one.has_timestamps();
  if (!timed) return failure;
  database->Continue();
  const Status s = database->Flush();
  return s.ok() ? failure : failure + Failure("Flush", s);
}

std::string VarveWorld::Kill(const Model& model) {
  std::string failure;
  bool synced = true;
  for (auto& [name, database] : databases_) {
    failure += PrepareKill(name, database.get(), model);
    synced &= database->set.mode->sync_one_in == 1;
  }
  std::shared_ptr<MemFileSystem> left =
      mem_->CrashClone(synced ? CrashPolicy::kSyncedOnly : CrashPolicy::kKill, /*seed=*/1);
  // Dead objects go on, on files that are not seen any more, until they are closed.
  iterators_.clear();
  auto dead = std::exchange(databases_, {});
  const std::shared_ptr<MemFileSystem> old_files = mem_;
  const std::unique_ptr<Env> old_env = std::move(env_);
  for (auto& [name, database] : dead) failure += database->Close(false);
  Mount(std::move(left));
  for (auto& [name, database] : dead) {
    const Survival survival = SurvivalOf(*database);
    if (survival == Survival::kAll || !failure.empty()) continue;
    failure += JudgeAndRestore(name, survival, model, database.get());
  }
  return failure.empty() ? kDone : failure;
}

std::string VarveWorld::JudgeAndRestore(const std::string& name, Survival survival,
                                        const Model& model, OpenDatabase* dead) {
  std::string failure = OpenWith(name, dead->set, model, "");
  if (!failure.empty()) return failure;
  OpenDatabase& database = At(name);
  SurvivingWrites::States left;
  for (const auto& [family, one] : model.databases().at(name).families) {
    if (one.has_timestamps()) continue;
    left[family] = std::make_shared<FamilyState>(
        ReadState(database.db.get(), database.handles.at(family), one.order(), &failure));
    if (!failure.empty()) return failure;
  }
  failure = dead->survivors.Judge(survival, left);
  if (!failure.empty()) return "FAILS after a kill of " + name + ": " + failure;
  for (const auto& [family, state] : left) {
    const FamilyModel& wanted = model.databases().at(name).families.at(family);
    if (*state == ShownState(*wanted.now())) continue;
    failure = Restore(&database, family, *wanted.now());
    if (!failure.empty()) return failure;
  }
  failure = database.Close(true);
  databases_.erase(name);
  return failure;
}

// Restores into an empty family, so that each key is put once, as the contract of SingleDelete
// requires.
std::string VarveWorld::Restore(OpenDatabase* database, const std::string& family,
                                const FamilyState& state) {
  ColumnFamilyHandle* const handle = database->handles.at(family);
  const std::string past(24, '\xff');
  const bool reverse = handle->GetComparator() != BytewiseComparator();
  WriteBatch nothing;
  Status s = nothing.DeleteRange(handle, reverse ? past : "", reverse ? "" : past);
  if (s.ok()) s = nothing.Delete(handle, "");
  if (s.ok()) s = database->db->Write(WriteOptions(), &nothing);
  if (!s.ok()) return Failure("DeleteRange after a kill", s);
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  s = database->db->CompactRange(options, handle, nullptr, nullptr);
  if (!s.ok()) return Failure("CompactRange after a kill", s);
  for (const auto& [key, value] : state) {
    s = database->db->Put(WriteOptions(), handle, key, value);
    if (!s.ok()) return Failure("Put after a kill", s);
  }
  return "";
}

std::map<std::string, uint64_t> VarveWorld::Files(const std::string& name) const {
  std::map<std::string, uint64_t> files;
  for (const std::string& directory : {PathOf(name), PathOf(name) + "/lost"}) {
    std::vector<std::string> children;
    mem_->GetChildren(directory, IOOptions(), &children, nullptr).PermitUncheckedError();
    for (const std::string& child : children) {
      uint64_t bytes = 0;
      const std::string path = directory + "/" + child;
      if (mem_->GetFileSize(path, IOOptions(), &bytes, nullptr).ok()) files[path] = bytes;
    }
  }
  return files;
}

}  // namespace varve::testing
