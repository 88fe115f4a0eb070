// SPDX-License-Identifier: Apache-2.0
// Defines the functions of the C API that are rows of c_functions.inc.
//
// The same rows give the declarations in the public headers, which a tool writes, and the tests of
// such functions; so the three cannot differ. The first argument of most rows is the mark in the
// header, which a definition does not need.
#include "db/api/c/c_option_types.h"
#include "db/api/c/c_transactions.h"
#include "db/api/c/c_types.h"
#include "db/api/c/c_views.h"

namespace varve::c {
namespace {

Status Lacks(const char* feature) {
  return Status::NotSupported(std::string("C API: this engine does not have ") + feature);
}

}  // namespace
}  // namespace varve::c

#define HANDLE(object, type) using rocksdb_##object##_t = type;
#define CREATE(state, object)                         \
  rocksdb_##object##_t* rocksdb_##object##_create() { \
    return varve::c::Make<rocksdb_##object##_t>();    \
  }
#define DESTROY(state, object)                                    \
  void rocksdb_##object##_destroy(rocksdb_##object##_t* handle) { \
    delete handle;                                                \
  }

#define SETTER(state, object, suffix, type, member)                            \
  void rocksdb_##object##_##suffix(rocksdb_##object##_t* handle, type value) { \
    if (handle != nullptr) varve::c::StoreField(&handle->rep.member, value);   \
  }
#define GETTER(state, object, suffix, type, member)                                          \
  type rocksdb_##object##_##suffix(rocksdb_##object##_t* handle) {                           \
    return static_cast<type>(handle == nullptr ? 0 : static_cast<type>(handle->rep.member)); \
  }
#define FIELD_AS(state, object, name, type, member) \
  SETTER(state, object, set_##name, type, member)   \
  GETTER(state, object, get_##name, type, member)
#define FIELD(state, object, name, type) FIELD_AS(state, object, name, type, name)

#define LACKING(struct_name, name, type, default_value)                                           \
  namespace {                                                                                     \
  const varve::c::LackingOption kLacking_##name{#struct_name, #name, default_value};              \
  }                                                                                               \
  void rocksdb_options_set_##name(rocksdb_options_t* options, type value) {                       \
    if (options == nullptr) return;                                                               \
    varve::c::TryVoid(                                                                            \
        [&] { options->lacking.Set(kLacking_##name, static_cast<varve::c::AnyNumber>(value)); }); \
  }                                                                                               \
  type rocksdb_options_get_##name(rocksdb_options_t* options) {                                   \
    return static_cast<type>(options == nullptr ? 0 : options->lacking.Get(kLacking_##name));     \
  }

#define VIEW_AS(state, object, name, type, member)                            \
  type rocksdb_##object##_##name(const rocksdb_##object##_t* view) {          \
    return view == nullptr ? static_cast<type>(0)                             \
                           : static_cast<type>(varve::c::Look(view)->member); \
  }
#define VIEW(state, object, name, type) VIEW_AS(state, object, name, type, name)
#define VIEW_TEXT(state, object, name)                                                      \
  const char* rocksdb_##object##_##name(const rocksdb_##object##_t* view, size_t* size) {   \
    return varve::c::TextOf(view == nullptr ? nullptr : &varve::c::Look(view)->name, size); \
  }
#define VIEW_PART(state, object, name, part, member)                                      \
  const rocksdb_##part##_t* rocksdb_##object##_##name(const rocksdb_##object##_t* view) { \
    if (view == nullptr) return nullptr;                                                  \
    return varve::c::Show<rocksdb_##part##_t>(&varve::c::Look(view)->member);             \
  }

#define NOTHING(state, type, function, parameters) \
  type function parameters {                       \
    return static_cast<type>(0);                   \
  }
#define ABSENT(state, object, name, type) \
  NOTHING(state, type, rocksdb_##object##_##name, (const rocksdb_##object##_t*))
#define ABSENT_TEXT(state, object, name)                                             \
  const char* rocksdb_##object##_##name(const rocksdb_##object##_t*, size_t* size) { \
    varve::c::StoreSize(size, 0);                                                    \
    return nullptr;                                                                  \
  }
#define REFUSES(type, function, feature, parameters)                \
  type function parameters {                                        \
    varve::c::Run(errptr, [] { return varve::c::Lacks(feature); }); \
    return static_cast<type>(0);                                    \
  }
#define REFUSES_VALUE(type, function, feature, parameters)          \
  type function parameters {                                        \
    varve::c::StoreSize(size, 0);                                   \
    varve::c::Run(errptr, [] { return varve::c::Lacks(feature); }); \
    return nullptr;                                                 \
  }

#include "db/api/c/c_functions.inc"
