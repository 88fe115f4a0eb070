// SPDX-License-Identifier: Apache-2.0
// Implements tables that a C program writes. A writer keeps the objects that its options point to.
#include <optional>

#include "varve/sst_file_writer.h"

#include "db/api/c/c_types.h"

using varve::EnvOptions;
using varve::Options;
using varve::Slice;
using varve::SstFileWriter;
using varve::Status;
using varve::c::NullArgument;
using varve::c::Run;
using varve::c::Try;
using varve::c::TryVoid;

struct rocksdb_sstfilewriter_t {
  Status refused;  // Open's error for unsupported options.
  varve::c::Kept kept;
  std::optional<SstFileWriter> rep;  // Destroyed first, as it uses what is kept.
};

namespace {

// Makes a writer. Each argument may be null: then the defaults are used. The comparator has
// precedence over that of the options.
rocksdb_sstfilewriter_t* NewWriter(const rocksdb_envoptions_t* env,
                                   const rocksdb_options_t* options,
                                   const rocksdb_comparator_t* comparator) {
  return Try([&]() -> rocksdb_sstfilewriter_t* {
    auto writer = std::make_unique<rocksdb_sstfilewriter_t>();
    const Options given = options == nullptr ? Options() : options->rep;
    const varve::Comparator* order = given.comparator;
    if (options != nullptr) {
      // The creation has no `errptr`, so the error waits for the first function that has one.
      writer->refused = options->CheckLacking();
      options->KeepFor(&writer->kept);
    }
    if (comparator != nullptr) {
      order = comparator->rep.get();
      writer->kept.Add(comparator->rep);
    }
    writer->rep.emplace(env == nullptr ? EnvOptions() : env->rep, given, order);
    return writer.release();
  });
}

// Runs `body` with the writer and a key, neither of which may be null; the key may be empty.
template <typename Body>
void RunWithKey(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen, char** errptr,
                Body body, const char* call = __builtin_FUNCTION()) {
  const auto checked = [&]() -> Status {
    if (writer == nullptr) return NullArgument("writer");
    if (key == nullptr && keylen != 0) return NullArgument("key");
    return body(&*writer->rep, Slice(key, keylen));
  };
  Run(errptr, checked, call);
}

// Adds an entry to the table.
void Put(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen, const char* value,
         size_t vallen, char** errptr, const char* call) {
  RunWithKey(
      writer, key, keylen, errptr,
      [&](SstFileWriter* w, const Slice& k) {
        if (value == nullptr && vallen != 0) return NullArgument("value");
        return w->Put(k, Slice(value, vallen));
      },
      call);
}

}  // namespace

rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create(const rocksdb_envoptions_t* env,
                                                      const rocksdb_options_t* io_options) {
  return NewWriter(env, io_options, nullptr);
}

rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create_with_comparator(
    const rocksdb_envoptions_t* env, const rocksdb_options_t* io_options,
    const rocksdb_comparator_t* comparator) {
  return NewWriter(env, io_options, comparator);
}

void rocksdb_sstfilewriter_destroy(rocksdb_sstfilewriter_t* writer) {
  delete writer;
}

void rocksdb_sstfilewriter_open(rocksdb_sstfilewriter_t* writer, const char* name, char** errptr) {
  Run(errptr, [&]() -> Status {
    if (writer == nullptr) return NullArgument("writer");
    if (name == nullptr) return NullArgument("name");
    if (!writer->refused.ok()) return writer->refused;
    return writer->rep->Open(name);
  });
}

void rocksdb_sstfilewriter_add(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                               const char* value, size_t vallen, char** errptr) {
  Put(writer, key, keylen, value, vallen, errptr, __func__);
}

void rocksdb_sstfilewriter_put(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                               const char* value, size_t vallen, char** errptr) {
  Put(writer, key, keylen, value, vallen, errptr, __func__);
}

void rocksdb_sstfilewriter_put_with_ts(rocksdb_sstfilewriter_t* writer, const char* key,
                                       size_t keylen, const char* ts, size_t tslen,
                                       const char* value, size_t vallen, char** errptr) {
  RunWithKey(writer, key, keylen, errptr, [&](SstFileWriter* w, const Slice& k) {
    if (ts == nullptr && tslen != 0) return NullArgument("ts");
    if (value == nullptr && vallen != 0) return NullArgument("value");
    return w->Put(k, Slice(ts, tslen), Slice(value, vallen));
  });
}

void rocksdb_sstfilewriter_merge(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                                 const char* value, size_t vallen, char** errptr) {
  RunWithKey(writer, key, keylen, errptr, [&](SstFileWriter* w, const Slice& k) {
    if (value == nullptr && vallen != 0) return NullArgument("value");
    return w->Merge(k, Slice(value, vallen));
  });
}

void rocksdb_sstfilewriter_delete(rocksdb_sstfilewriter_t* writer, const char* key, size_t keylen,
                                  char** errptr) {
  RunWithKey(writer, key, keylen, errptr,
             [](SstFileWriter* w, const Slice& k) { return w->Delete(k); });
}

void rocksdb_sstfilewriter_delete_with_ts(rocksdb_sstfilewriter_t* writer, const char* key,
                                          size_t keylen, const char* ts, size_t tslen,
                                          char** errptr) {
  RunWithKey(writer, key, keylen, errptr, [&](SstFileWriter* w, const Slice& k) {
    if (ts == nullptr && tslen != 0) return NullArgument("ts");
    return w->Delete(k, Slice(ts, tslen));
  });
}

void rocksdb_sstfilewriter_delete_range(rocksdb_sstfilewriter_t* writer, const char* begin_key,
                                        size_t begin_keylen, const char* end_key, size_t end_keylen,
                                        char** errptr) {
  RunWithKey(writer, begin_key, begin_keylen, errptr, [&](SstFileWriter* w, const Slice& begin) {
    if (end_key == nullptr && end_keylen != 0) return NullArgument("end_key");
    return w->DeleteRange(begin, Slice(end_key, end_keylen));
  });
}

void rocksdb_sstfilewriter_finish(rocksdb_sstfilewriter_t* writer, char** errptr) {
  Run(errptr, [&]() -> Status {
    if (writer == nullptr) return NullArgument("writer");
    return writer->rep->Finish();
  });
}

void rocksdb_sstfilewriter_file_size(rocksdb_sstfilewriter_t* writer, uint64_t* file_size) {
  if (file_size == nullptr) return;
  *file_size = 0;
  if (writer == nullptr) return;
  TryVoid([&] { *file_size = writer->rep->FileSize(); });
}
