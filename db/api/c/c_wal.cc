// SPDX-License-Identifier: Apache-2.0
// Implements log files for the C API: their list, their contents, and filters of recovery.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/transaction_log.h"
#include "varve/wal_filter.h"

#include "db/api/c/c_option_types.h"
#include "db/api/c/c_types.h"

using varve::DB;
using varve::Status;
using varve::c::NullArgument;
using varve::c::RunOnDb;

struct rocksdb_wal_file_t {
  std::unique_ptr<varve::LogFile> rep;
  std::string path_name;
};

struct rocksdb_wal_files_t {
  std::vector<rocksdb_wal_file_t> rep;
};

struct rocksdb_wal_iterator_t {
  std::unique_ptr<varve::TransactionLogIterator> rep;
};

namespace {

// Makes a handle that owns the description of a log file.
rocksdb_wal_file_t ToHandle(std::unique_ptr<varve::LogFile> file) {
  // C gets a pointer to the path, which C++ returns as a new string each time; so the handle keeps
  // it.
  std::string path_name = file->PathName();
  return {std::move(file), std::move(path_name)};
}

}  // namespace

rocksdb_wal_files_t* rocksdb_get_sorted_wal_files(rocksdb_t* db, char** errptr) {
  std::unique_ptr<rocksdb_wal_files_t> list;
  const bool listed = RunOnDb(db, errptr, [&](DB* d) {
    list = std::make_unique<rocksdb_wal_files_t>();
    varve::VectorLogPtr files;
    Status s = d->GetSortedWalFiles(files);
    if (!s.ok()) return s;
    for (auto& file : files) list->rep.push_back(ToHandle(std::move(file)));
    return s;
  });
  return listed ? list.release() : nullptr;
}

size_t rocksdb_wal_files_count(const rocksdb_wal_files_t* files) {
  return files == nullptr ? 0 : files->rep.size();
}

const rocksdb_wal_file_t* rocksdb_wal_files_get_wal_file(const rocksdb_wal_files_t* files,
                                                         size_t index) {
  return files == nullptr || index >= files->rep.size() ? nullptr : &files->rep[index];
}

void rocksdb_wal_files_destroy(rocksdb_wal_files_t* files) {
  delete files;
}

rocksdb_wal_file_t* rocksdb_get_current_wal_file(rocksdb_t* db, char** errptr) {
  std::unique_ptr<rocksdb_wal_file_t> current;
  const bool got = RunOnDb(db, errptr, [&](DB* d) {
    std::unique_ptr<varve::LogFile> file;
    Status s = d->GetCurrentWalFile(&file);
    if (s.ok()) current = std::make_unique<rocksdb_wal_file_t>(ToHandle(std::move(file)));
    return s;
  });
  return got ? current.release() : nullptr;
}

void rocksdb_wal_file_destroy(rocksdb_wal_file_t* file) {
  delete file;
}

const char* rocksdb_wal_file_path_name(const rocksdb_wal_file_t* file) {
  return file == nullptr ? nullptr : file->path_name.c_str();
}

uint64_t rocksdb_wal_file_log_number(const rocksdb_wal_file_t* file) {
  return file == nullptr ? 0 : file->rep->LogNumber();
}

int rocksdb_wal_file_type(const rocksdb_wal_file_t* file) {
  return file == nullptr ? 0 : static_cast<int>(file->rep->Type());
}

uint64_t rocksdb_wal_file_start_sequence(const rocksdb_wal_file_t* file) {
  return file == nullptr ? 0 : file->rep->StartSequence();
}

uint64_t rocksdb_wal_file_size_file_bytes(const rocksdb_wal_file_t* file) {
  return file == nullptr ? 0 : file->rep->SizeFileBytes();
}

// ---- Updates since a sequence number ----

rocksdb_wal_iterator_t* rocksdb_get_updates_since(rocksdb_t* db, uint64_t seq_number,
                                                  const rocksdb_wal_readoptions_t* options,
                                                  char** errptr) {
  std::unique_ptr<rocksdb_wal_iterator_t> iterator;
  const bool made = RunOnDb(db, errptr, [&](DB* d) {
    iterator = std::make_unique<rocksdb_wal_iterator_t>();
    // Null means the defaults, as clients pass it.
    const varve::TransactionLogIterator::ReadOptions defaults;
    return d->GetUpdatesSince(seq_number, &iterator->rep,
                              options == nullptr ? defaults : options->rep);
  });
  return made ? iterator.release() : nullptr;
}

unsigned char rocksdb_wal_iter_valid(const rocksdb_wal_iterator_t* iterator) {
  if (iterator == nullptr) return 0;
  return varve::c::Try([&] { return iterator->rep->Valid(); }) ? 1 : 0;
}

void rocksdb_wal_iter_next(rocksdb_wal_iterator_t* iter) {
  if (iter != nullptr) varve::c::TryVoid([&] { iter->rep->Next(); });
}

void rocksdb_wal_iter_status(const rocksdb_wal_iterator_t* iter, char** errptr) {
  varve::c::Run(errptr,
                [&] { return iter == nullptr ? NullArgument("iter") : iter->rep->status(); });
}

rocksdb_writebatch_t* rocksdb_wal_iter_get_batch(const rocksdb_wal_iterator_t* iter,
                                                 uint64_t* seq) {
  if (iter == nullptr) return nullptr;
  return varve::c::Try([&]() -> rocksdb_writebatch_t* {
    if (!iter->rep->Valid()) return nullptr;
    varve::BatchResult result = iter->rep->GetBatch();
    if (seq != nullptr) *seq = result.sequence;
    if (result.writeBatchPtr == nullptr) return nullptr;
    return new rocksdb_writebatch_t{std::move(*result.writeBatchPtr), {}};
  });
}

void rocksdb_wal_iter_destroy(const rocksdb_wal_iterator_t* iter) {
  delete iter;
}

// ---- Filters of recovery ----

struct rocksdb_walfilter_t final : varve::WalFilter {
  rocksdb_walfilter_t(void* filter_state, void (*filter_destructor)(void*),
                      rocksdb_walfilter_column_family_log_number_map_cb families_callback,
                      rocksdb_walfilter_log_record_found_cb record_callback,
                      const char* (*filter_name)(void*))
      : state(filter_state),
        destructor(filter_destructor),
        tell_families(families_callback),
        judge(record_callback),
        name(filter_name) {}
  rocksdb_walfilter_t(const rocksdb_walfilter_t&) = delete;
  rocksdb_walfilter_t& operator=(const rocksdb_walfilter_t&) = delete;
  ~rocksdb_walfilter_t() override {
    if (destructor != nullptr) destructor(state);
  }

  const char* Name() const override { return name == nullptr ? "rocksdb_walfilter" : name(state); }

  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& log_numbers,
                                const std::map<std::string, uint32_t>& ids) override {
    if (tell_families == nullptr) return;
    std::vector<uint32_t> families;
    std::vector<uint64_t> logs;
    for (const auto& [family, log] : log_numbers) {
      families.push_back(family);
      logs.push_back(log);
    }
    std::vector<const char*> names;
    std::vector<size_t> sizes;
    std::vector<uint32_t> named;
    for (const auto& [family_name, family] : ids) {
      names.push_back(family_name.data());
      sizes.push_back(family_name.size());
      named.push_back(family);
    }
    // Two maps become two groups of parallel arrays: which log each family needs, and what each is
    // called.
    tell_families(state, families.data(), logs.data(), families.size(), names.data(), sizes.data(),
                  named.data(), names.size());
  }

  WalProcessingOption LogRecordFound(unsigned long long log, const std::string& file,
                                     const varve::WriteBatch& batch, varve::WriteBatch* new_batch,
                                     bool* batch_changed) override {
    if (judge == nullptr) return WalProcessingOption::kContinueProcessing;
    const rocksdb_writebatch_t found{batch, {}};
    rocksdb_writebatch_t replacement;
    unsigned char changed = 0;
    const int answer = judge(state, log, file.data(), file.size(), &found, &replacement, &changed);
    *batch_changed = changed != 0;
    if (*batch_changed) *new_batch = std::move(replacement.rep);
    return static_cast<WalProcessingOption>(answer);  // recovery refuses one without a meaning
  }

  void* const state;
  void (*const destructor)(void*);
  const rocksdb_walfilter_column_family_log_number_map_cb tell_families;
  const rocksdb_walfilter_log_record_found_cb judge;
  const char* (*const name)(void*);
};

rocksdb_walfilter_t* rocksdb_walfilter_create(
    void* state, void (*destructor)(void*),
    rocksdb_walfilter_column_family_log_number_map_cb column_family_log_number_map,
    rocksdb_walfilter_log_record_found_cb log_record_found, const char* (*name)(void*)) {
  return varve::c::Try([&] {
    return new rocksdb_walfilter_t(state, destructor, column_family_log_number_map,
                                   log_record_found, name);
  });
}

void rocksdb_options_set_wal_filter(rocksdb_options_t* options, rocksdb_walfilter_t* filter) {
  if (options != nullptr) options->rep.wal_filter = filter;
}

void rocksdb_options_clear_wal_filter(rocksdb_options_t* options) {
  if (options != nullptr) options->rep.wal_filter = nullptr;
}

void rocksdb_walfilter_destroy(rocksdb_walfilter_t* filter) {
  delete filter;
}
