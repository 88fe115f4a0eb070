// SPDX-License-Identifier: Apache-2.0
// Implements copy plans for the C API (backup.h), which RocksDB does not have.
#include <memory>
#include <string>

#include "varve/utilities/copy_plan.h"

#include "db/api/c/c_option_types.h"
#include "db/api/c/c_types.h"

using varve::CopyPlan;
using varve::CopyPlanObject;
using varve::Status;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::StoreSize;
using varve::c::TryVoid;

struct rocksdb_copy_plan_t {
  std::unique_ptr<CopyPlan> rep;
};

void rocksdb_copy_plan_options_add_catalog(rocksdb_copy_plan_options_t* options, const char* name,
                                           const char* bytes, size_t size) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->rep.previous.push_back(
        {name == nullptr ? "" : name, bytes == nullptr ? std::string() : std::string(bytes, size)});
  });
}

void rocksdb_copy_plan_options_set_app_metadata(rocksdb_copy_plan_options_t* options,
                                                const char* bytes, size_t size) {
  if (options == nullptr) return;
  TryVoid([&] {
    options->rep.app_metadata = bytes == nullptr ? std::string() : std::string(bytes, size);
  });
}

namespace {

// Returns the plan that `open` makes, or null after an error.
template <typename Open>
rocksdb_copy_plan_t* NewPlan(char** errptr, Open open, const char* call) {
  rocksdb_copy_plan_t* handle = nullptr;
  const auto make = [&]() -> Status {
    auto made = std::make_unique<rocksdb_copy_plan_t>();
    Status s = open(&made->rep);
    if (s.ok()) handle = made.release();
    return s;
  };
  Run(errptr, make, call);
  return handle;
}

const CopyPlanObject* ObjectAt(const rocksdb_copy_plan_t* plan, size_t index) {
  if (plan == nullptr || index >= plan->rep->objects().size()) return nullptr;
  return &plan->rep->objects()[index];
}

const char* Give(const std::string* text, size_t* size) {
  StoreSize(size, text == nullptr ? 0 : text->size());
  return text == nullptr ? nullptr : text->c_str();
}

}  // namespace

rocksdb_copy_plan_t* rocksdb_copy_plan_make(const rocksdb_copy_plan_options_t* options,
                                            rocksdb_t* db, const char* plan_dir, char** errptr) {
  const auto make = [&](std::unique_ptr<CopyPlan>* plan) -> Status {
    if (options == nullptr) return NullArgument("options");
    if (db == nullptr) return NullArgument("db");
    if (plan_dir == nullptr) return NullArgument("plan_dir");
    return CopyPlan::Make(options->rep, db->rep.get(), plan_dir, plan);
  };
  return NewPlan(errptr, make, "rocksdb_copy_plan_make");
}

rocksdb_copy_plan_t* rocksdb_copy_plan_open(rocksdb_env_t* env, const char* plan_dir,
                                            char** errptr) {
  const auto open = [&](std::unique_ptr<CopyPlan>* plan) -> Status {
    if (plan_dir == nullptr) return NullArgument("plan_dir");
    return CopyPlan::Open(env == nullptr ? nullptr : env->rep, plan_dir, plan);
  };
  return NewPlan(errptr, open, "rocksdb_copy_plan_open");
}

void rocksdb_copy_plan_discard(rocksdb_env_t* env, const char* plan_dir, char** errptr) {
  Run(errptr, [&]() -> Status {
    if (plan_dir == nullptr) return NullArgument("plan_dir");
    return CopyPlan::Discard(env == nullptr ? nullptr : env->rep, plan_dir);
  });
}

void rocksdb_copy_plan_destroy(rocksdb_copy_plan_t* plan) {
  delete plan;
}

void rocksdb_copy_plan_verify(const rocksdb_copy_plan_t* plan, char** errptr) {
  Run(errptr, [&]() -> Status {
    if (plan == nullptr) return NullArgument("plan");
    return plan->rep->Verify();
  });
}

uint32_t rocksdb_copy_plan_backup_id(const rocksdb_copy_plan_t* plan) {
  return plan == nullptr ? 0 : plan->rep->backup_id();
}

const char* rocksdb_copy_plan_catalog_name(const rocksdb_copy_plan_t* plan, size_t* size) {
  return Give(plan == nullptr ? nullptr : &plan->rep->catalog().name, size);
}

const char* rocksdb_copy_plan_catalog_bytes(const rocksdb_copy_plan_t* plan, size_t* size) {
  return Give(plan == nullptr ? nullptr : &plan->rep->catalog().bytes, size);
}

size_t rocksdb_copy_plan_objects_count(const rocksdb_copy_plan_t* plan) {
  return plan == nullptr ? 0 : plan->rep->objects().size();
}

const char* rocksdb_copy_plan_object_name(const rocksdb_copy_plan_t* plan, size_t index,
                                          size_t* size) {
  const CopyPlanObject* const object = ObjectAt(plan, index);
  return Give(object == nullptr ? nullptr : &object->name, size);
}

const char* rocksdb_copy_plan_object_path(const rocksdb_copy_plan_t* plan, size_t index,
                                          size_t* size) {
  const CopyPlanObject* const object = ObjectAt(plan, index);
  return Give(object == nullptr ? nullptr : &object->path, size);
}

uint64_t rocksdb_copy_plan_object_size(const rocksdb_copy_plan_t* plan, size_t index) {
  const CopyPlanObject* const object = ObjectAt(plan, index);
  return object == nullptr ? 0 : object->size;
}

uint32_t rocksdb_copy_plan_object_crc32c(const rocksdb_copy_plan_t* plan, size_t index) {
  const CopyPlanObject* const object = ObjectAt(plan, index);
  return object == nullptr ? 0 : object->crc32c;
}
