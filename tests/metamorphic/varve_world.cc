// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/varve_world.h"

#include <utility>

#include "varve/comparator.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"

namespace varve::testing {

namespace {

std::string PathOf(const std::string& name) {
  return "/" + name;
}

}  // namespace

std::string Failure(const char* what, const Status& status) {
  return std::string("FAILS ") + what + ": " + status.ToString();
}

std::string StampBytes(uint64_t timestamp) {
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

void OpenDatabase::Continue() {
  for (; pauses > 0; pauses--) db->ContinueBackgroundWork().PermitUncheckedError();
}

std::string OpenDatabase::Close(bool calls_close) {
  if (db == nullptr) return "";
  Continue();
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

std::string VarveWorld::OpenWith(const std::string& name, OptionSet set, const Model& model,
                                 const std::string& trim) {
  auto opened = std::make_unique<OpenDatabase>();
  set.db.env = env_.get();
  set.db.info_log = SilentLogger();
  std::vector<ColumnFamilyDescriptor> families;
  SurvivingWrites::States states;
  const auto known = model.databases().find(name);
  if (known != model.databases().end()) {
    for (const auto& [family, one] : known->second.families) {
      families.emplace_back(family, Setup::FamilyOptions(set, one.order(), family, one.filtered()));
      if (!one.timed()) states[family] = one.now();
    }
  } else {
    families.emplace_back(kDefaultColumnFamilyName,
                          Setup::FamilyOptions(set, BytewiseComparator(), "default", false));
    states["default"] = std::make_shared<FamilyState>();
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
  databases_[name] = std::move(opened);
  return "";
}

std::string VarveWorld::Open(const Line& line, const Model& model) {
  const uint64_t variation = std::strtoull(line.Word(2).c_str(), nullptr, 10);
  OptionSet set = setup_.Draw(variation, env_.get());
  std::string trim;
  if (line.HasOption("trim")) {
    trim = StampBytes(std::strtoull(line.Option("trim").c_str(), nullptr, 10));
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
  return failure.empty() ? kDone : failure;
}

Survival VarveWorld::SurvivalOf(const OpenDatabase& database) const {
  const WriteMode& mode = *database.set.mode;
  if (mode.SurvivesKill()) return Survival::kAll;
  if (mode.no_log_one_in > 1) return Survival::kAny;
  return database.set.db.atomic_flush ? Survival::kTogether : Survival::kApart;
}

// Of families with timestamps nobody could put back what was lost.
std::string VarveWorld::PrepareKill(const std::string& name, OpenDatabase* database,
                                    const Model& model) {
  std::string failure = database->Join();
  if (SurvivalOf(*database) == Survival::kAll) return failure;
  bool timed = false;
  for (const auto& [family, one] : model.databases().at(name).families) timed |= one.timed();
  if (!timed) return failure;
  database->Continue();
  FlushOptions options;
  options.allow_write_stall = true;
  std::vector<ColumnFamilyHandle*> all;
  for (const auto& [family, handle] : database->handles) all.push_back(handle);
  const Status s = database->db->Flush(options, all);
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
  // The dead go on, on files that nobody sees any more, until they are closed.
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
    if (one.timed()) continue;
    auto state = std::make_shared<FamilyState>(ComparatorLess{one.order()});
    const std::unique_ptr<Iterator> it(
        database.db->NewIterator(ReadOptions(), database.handles.at(family)));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      state->emplace(it->key().ToString(), it->value().ToString());
    }
    if (!it->status().ok()) return Failure("a walk after the kill", it->status());
    left[family] = std::move(state);
  }
  failure = dead->survivors.Judge(survival, left);
  if (!failure.empty()) return "FAILS after a kill of " + name + ": " + failure;
  for (const auto& [family, state] : left) {
    const FamilyModel& wanted = model.databases().at(name).families.at(family);
    if (*state == *wanted.now()) continue;
    failure = Restore(&database, family, *wanted.now());
    if (!failure.empty()) return failure;
  }
  failure = database.Close(true);
  databases_.erase(name);
  return failure;
}

// From nothing, so that each key has been put once, as the contract of SingleDelete wants it.
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
