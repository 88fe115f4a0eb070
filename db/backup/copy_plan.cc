// SPDX-License-Identifier: Apache-2.0

// Implements the public calls of copy plans, and an opened plan.

#include "varve/utilities/copy_plan.h"

#include <unordered_map>
#include <utility>

#include "varve/db.h"
#include "varve/env.h"

#include "db/backup/make_plan.h"
#include "db/backup/plan_file.h"
#include "db/backup/stored_catalogs.h"
#include "db/copy/copy_pool.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// A plan that was read from its directory. Immutable after Load.
class OpenedPlan final : public CopyPlan {
 public:
  explicit OpenedPlan(std::shared_ptr<FileSystem> fs) : fs_(std::move(fs)) {}

  // Reads PLAN and checks that every file exists with its size. Afterwards the directory is needed
  // only for the objects' bytes. NotFound: PLAN or a file is missing. Corruption: PLAN is damaged,
  // or a size differs.
  Status Load(const std::string& directory) {
    const std::string path = directory + "/" + kPlanFileName;
    std::string text;
    const IOStatus read = ReadFileToString(fs_.get(), path, kMaxMetaFileBytes, &text);
    if (IsMissing(read)) return Status::NotFound(directory, "is no copy plan: PLAN is missing");
    if (!read.ok()) return read;
    PlanContents contents;
    VARVE_RETURN_IF_ERROR(DecodePlan(text, path, &contents));
    // DecodePlan has refused a plan with a file that lacks its size or checksum.
    for (const size_t i : contents.brought) {
      const BackupFile& file = contents.meta.files[i];
      objects_.push_back(CopyPlanObject{file.path, directory + "/" + file.parsed.db_name,
                                        *file.size, *file.crc32c, file.temperature});
      VARVE_RETURN_IF_ERROR(CheckSize(objects_.back()));
    }
    id_ = contents.meta.id;
    catalog_ = CopyPlanCatalog{CatalogName(id_), std::move(contents.catalog_bytes)};
    return ListCatalog(catalog_, &needed_);
  }

  BackupID backup_id() const override { return id_; }
  const std::vector<CopyPlanObject>& objects() const override { return objects_; }
  const CopyPlanCatalog& catalog() const override { return catalog_; }

  // May be called again after an interrupted upload: an object that the store has with its size,
  // and with its checksum where the store knows one, is not uploaded again.
  Status FindMissing(const std::vector<StoredObject>& stored,
                     std::vector<CopyPlanObject>* missing) const override try {
    if (missing == nullptr) return Status::InvalidArgument("FindMissing", "the place is null");
    std::unordered_map<std::string, const StoredObject*> by_name;
    for (const StoredObject& object : stored) by_name[object.name] = &object;
    std::unordered_map<std::string, bool> ours;
    std::vector<CopyPlanObject> found;
    for (const CopyPlanObject& object : objects_) {
      ours.emplace(object.name, true);
      const auto it = by_name.find(object.name);
      if (it == by_name.end() || !IsThat(*it->second, object.size, object.crc32c)) {
        found.push_back(object);
      }
    }
    // The store must already have every object that is not part of this plan, or the backup would
    // be incomplete. Every object of the plan's own catalog has a checksum (DecodePlan).
    for (const StoredObject& object : needed_) {
      if (ours.count(object.name) != 0) continue;
      const auto it = by_name.find(object.name);
      if (it == by_name.end()) {
        return Status::NotFound(object.name, "a previous catalog names it, and the store has none");
      }
      if (!IsThat(*it->second, object.size, *object.crc32c)) {
        return Status::Corruption(object.name,
                                  "has another size or checksum in the store than in a catalog");
      }
    }
    *missing = std::move(found);
    return Status::OK();
  } catch (...) {
    return CaughtException();
  }

  Status Verify() const override try {
    std::vector<CopyTask> tasks(objects_.size());
    for (size_t i = 0; i < tasks.size(); i++) {
      VARVE_RETURN_IF_ERROR(CheckSize(objects_[i]));
      tasks[i].source = objects_[i].path;
      tasks[i].size = objects_[i].size;
      tasks[i].want_checksum = true;
    }
    CopyPool::Options reading;
    reading.source_fs = fs_.get();
    reading.target_fs = fs_.get();
    VARVE_RETURN_IF_ERROR(CopyPool(reading).Run(&tasks));
    for (size_t i = 0; i < tasks.size(); i++) {
      if (tasks[i].crc32c == objects_[i].crc32c) continue;
      return Status::Corruption(objects_[i].path,
                                "checksum " + std::to_string(tasks[i].crc32c) + ", and " +
                                    std::to_string(objects_[i].crc32c) + " in the plan");
    }
    return Status::OK();
  } catch (...) {
    return CaughtException();
  }

 private:
  static bool IsThat(const StoredObject& stored, uint64_t size, uint32_t crc32c) {
    return stored.size == size && stored.crc32c.value_or(crc32c) == crc32c;
  }

  Status CheckSize(const CopyPlanObject& object) const {
    uint64_t size = 0;
    const IOStatus s = fs_->GetFileSize(object.path, IOOptions(), &size, nullptr);
    if (IsMissing(s)) return Status::NotFound(object.path, "is missing, and the plan names it");
    if (!s.ok()) return s;
    // Only tables are linked, so no file of a plan can grow.
    if (size == object.size) return Status::OK();
    return Status::Corruption(object.path, std::to_string(size) + " bytes long, and " +
                                               std::to_string(object.size) + " in the plan");
  }

  const std::shared_ptr<FileSystem> fs_;
  BackupID id_ = 0;
  std::vector<CopyPlanObject> objects_;
  CopyPlanCatalog catalog_;
  std::vector<StoredObject> needed_;  // All objects that the catalog names.
};

std::string WithoutEndingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Status OpenPlan(std::shared_ptr<FileSystem> fs, const std::string& directory,
                std::unique_ptr<CopyPlan>* plan) {
  auto opened = std::make_unique<OpenedPlan>(std::move(fs));
  VARVE_RETURN_IF_ERROR(opened->Load(WithoutEndingSlashes(directory)));
  *plan = std::move(opened);
  return Status::OK();
}

// Deletes PLAN last, once the other deletions are durable, so that a directory that an interrupted
// call leaves is still recognized as a plan.
Status DiscardPlan(FileSystem* fs, const std::string& directory) {
  std::vector<std::string> names;
  const IOStatus listed = fs->GetChildren(directory, IOOptions(), &names, nullptr);
  if (IsMissing(listed)) return Status::NotFound(directory, "is not there");
  if (!listed.ok()) return listed;
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  // An empty directory is what an earlier call leaves that was interrupted after it deleted PLAN.
  bool is_plan = names.empty();
  for (const std::string& name : names) {
    bool is_directory = false;
    VARVE_RETURN_IF_ERROR(
        fs->IsDirectory(directory + "/" + name, IOOptions(), &is_directory, nullptr));
    // Everything in the directory is deleted, so all of it must belong to a plan.
    if (is_directory || !IsOfPlan(name)) {
      return Status::InvalidArgument(directory, "holds " + name + ", which no copy plan has");
    }
    is_plan |= name == kPlanFileName;
  }
  if (!is_plan) return Status::InvalidArgument(directory, "is no copy plan: PLAN is missing");
  for (const std::string& name : names) {
    if (name == kPlanFileName) continue;
    VARVE_RETURN_IF_ERROR(fs->DeleteFile(directory + "/" + name, IOOptions(), nullptr));
  }
  if (!names.empty()) {
    VARVE_RETURN_IF_ERROR(SyncDirectory(fs, directory));
    VARVE_RETURN_IF_ERROR(fs->DeleteFile(directory + "/" + kPlanFileName, IOOptions(), nullptr));
  }
  return fs->DeleteDir(directory, IOOptions(), nullptr);
}

Env* EnvOf(Env* env) {
  return env != nullptr ? env : Env::Default();
}

}  // namespace

Status CopyPlan::Make(const CopyPlanOptions& options, DB* db, const std::string& plan_dir,
                      std::unique_ptr<CopyPlan>* plan) {
  if (plan == nullptr) return Status::InvalidArgument("CopyPlan::Make", "the place is null");
  plan->reset();
  if (db == nullptr) return Status::InvalidArgument("CopyPlan::Make", "the database is null");
  return Guarded([&]() -> Status {
    StoredCatalogs stored;
    VARVE_RETURN_IF_ERROR(stored.Load(options.previous));
    VARVE_RETURN_IF_ERROR(MakePlan(options, stored, db, plan_dir));
    return OpenPlan(db->GetEnv()->GetFileSystem(), plan_dir, plan);
  });
}

Status CopyPlan::Open(Env* env, const std::string& plan_dir, std::unique_ptr<CopyPlan>* plan) {
  if (plan == nullptr) return Status::InvalidArgument("CopyPlan::Open", "the place is null");
  plan->reset();
  return Guarded([&] { return OpenPlan(EnvOf(env)->GetFileSystem(), plan_dir, plan); });
}

Status CopyPlan::Discard(Env* env, const std::string& plan_dir) {
  return Guarded([&] {
    return DiscardPlan(EnvOf(env)->GetFileSystem().get(), WithoutEndingSlashes(plan_dir));
  });
}

}  // namespace varve
