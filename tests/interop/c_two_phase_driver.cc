// SPDX-License-Identifier: Apache-2.0

// A library with RocksDB's C API, named by VARVE_TWO_PHASE_LIBRARY, obeying a script of
// transactions in two phases. Namespace kv has of the C++ API what the driver uses, made of C
// functions; of "refused" there is nothing.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/c.h"

namespace kv {

template <typename Function>
Function* InLibrary(const char* name) {
  static void* const library = dlopen(getenv("VARVE_TWO_PHASE_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  void* const function = library == nullptr ? nullptr : dlsym(library, name);
  if (function == nullptr) {
    printf("PROBLEM %s: %s\n", name, dlerror());
    exit(1);
  }
  return reinterpret_cast<Function*>(function);
}
// A macro, as it needs the function's name and type.
#define C_FUNCTION(name) InLibrary<decltype(name)>(#name)

class Status {
 public:
  Status() = default;
  explicit Status(std::string error) : error_(std::move(error)) {}

  bool ok() const { return error_.empty(); }
  std::string ToString() const { return ok() ? "OK" : error_; }

 private:
  std::string error_;
};

// Takes the error of a call.
class Error {
 public:
  char** out() { return &text_; }
  Status status() {
    Status s(text_ == nullptr ? "" : text_);
    if (text_ != nullptr) C_FUNCTION(rocksdb_free)(text_);
    text_ = nullptr;
    return s;
  }

 private:
  char* text_ = nullptr;
};

struct Slice {
  explicit Slice(const std::string& of) : text(of) {}
  std::string ToString() const { return text; }
  std::string text;
};
struct ConfigOptions {};
struct DBOptions {
  bool create_if_missing = false;
  bool create_missing_column_families = false;
};
struct ColumnFamilyOptions {
  std::string text;
};
struct ColumnFamilyDescriptor {
  std::string name;
  ColumnFamilyOptions options;
};
struct WriteOptions {};
struct ReadOptions {
  const Slice* timestamp = nullptr;
};
struct FlushOptions {};
enum TxnDBWritePolicy { WRITE_COMMITTED, WRITE_PREPARED };
struct TransactionDBOptions {
  TxnDBWritePolicy write_policy = WRITE_COMMITTED;
};

Status GetColumnFamilyOptionsFromString(const ConfigOptions& /*config*/,
                                        const ColumnFamilyOptions& base, const std::string& text,
                                        ColumnFamilyOptions* options) {
  options->text = base.text.empty() ? text : base.text + ";" + text;
  return {};
}

struct ColumnFamilyHandle {
  explicit ColumnFamilyHandle(rocksdb_column_family_handle_t* of) : handle(of) {}
  ~ColumnFamilyHandle() { C_FUNCTION(rocksdb_column_family_handle_destroy)(handle); }
  rocksdb_column_family_handle_t* const handle;
};

class Transaction {
 public:
  explicit Transaction(rocksdb_transaction_t* txn) : txn_(txn) {}
  ~Transaction() { C_FUNCTION(rocksdb_transaction_destroy)(txn_); }

  Status SetName(const std::string& name) {
    C_FUNCTION(rocksdb_transaction_set_name)(txn_, name.data(), name.size(), error_.out());
    return error_.status();
  }
  std::string GetName() const {
    size_t size = 0;
    char* const name = C_FUNCTION(rocksdb_transaction_get_name)(txn_, &size);
    std::string text(name, size);
    C_FUNCTION(rocksdb_free)(name);
    return text;
  }
  Status Put(ColumnFamilyHandle* family, const std::string& key, const std::string& value) {
    C_FUNCTION(rocksdb_transaction_put_cf)
    (txn_, family->handle, key.data(), key.size(), value.data(), value.size(), error_.out());
    return error_.status();
  }
  Status Merge(ColumnFamilyHandle* family, const std::string& key, const std::string& value) {
    C_FUNCTION(rocksdb_transaction_merge_cf)
    (txn_, family->handle, key.data(), key.size(), value.data(), value.size(), error_.out());
    return error_.status();
  }
  Status Delete(ColumnFamilyHandle* family, const std::string& key) {
    C_FUNCTION(rocksdb_transaction_delete_cf)
    (txn_, family->handle, key.data(), key.size(), error_.out());
    return error_.status();
  }
  // The C API has none.
  Status SingleDelete(ColumnFamilyHandle* family, const std::string& key) {
    return Delete(family, key);
  }
  Status Prepare() {
    C_FUNCTION(rocksdb_transaction_prepare)(txn_, error_.out());
    return error_.status();
  }
  // What is refused is told by Commit.
  Status SetCommitTimestamp(uint64_t timestamp) {
    C_FUNCTION(rocksdb_transaction_set_commit_timestamp)(txn_, timestamp);
    return {};
  }
  Status Commit() {
    C_FUNCTION(rocksdb_transaction_commit)(txn_, error_.out());
    return error_.status();
  }
  Status Rollback() {
    C_FUNCTION(rocksdb_transaction_rollback)(txn_, error_.out());
    return error_.status();
  }

 private:
  rocksdb_transaction_t* const txn_;
  Error error_;
};

class Iterator {
 public:
  explicit Iterator(rocksdb_iterator_t* it) : it_(it) {}
  ~Iterator() { C_FUNCTION(rocksdb_iter_destroy)(it_); }

  void SeekToFirst() { C_FUNCTION(rocksdb_iter_seek_to_first)(it_); }
  bool Valid() const { return C_FUNCTION(rocksdb_iter_valid)(it_) != 0; }
  void Next() { C_FUNCTION(rocksdb_iter_next)(it_); }
  Slice key() const {
    size_t size = 0;
    const char* const bytes = C_FUNCTION(rocksdb_iter_key)(it_, &size);
    return Slice(std::string(bytes, size));
  }
  Slice value() const {
    size_t size = 0;
    const char* const bytes = C_FUNCTION(rocksdb_iter_value)(it_, &size);
    return Slice(std::string(bytes, size));
  }
  Slice timestamp() const {
    size_t size = 0;
    const char* const bytes = C_FUNCTION(rocksdb_iter_timestamp)(it_, &size);
    return Slice(std::string(bytes, size));
  }
  Status status() const {
    Error error;
    C_FUNCTION(rocksdb_iter_get_error)(it_, error.out());
    return error.status();
  }

 private:
  rocksdb_iterator_t* const it_;
};

class TransactionDB {
 public:
  static Status Open(const DBOptions& options, const TransactionDBOptions& of_transactions,
                     const std::string& directory,
                     const std::vector<ColumnFamilyDescriptor>& families,
                     std::vector<ColumnFamilyHandle*>* handles, TransactionDB** db) {
    Error error;
    std::vector<const char*> names;
    std::vector<const rocksdb_options_t*> of_families;
    rocksdb_options_t* const base = C_FUNCTION(rocksdb_options_create)();
    C_FUNCTION(rocksdb_options_set_create_if_missing)(base, options.create_if_missing);
    C_FUNCTION(rocksdb_options_set_create_missing_column_families)
    (base, options.create_missing_column_families);
    for (const ColumnFamilyDescriptor& family : families) {
      rocksdb_options_t* const made = C_FUNCTION(rocksdb_options_create)();
      C_FUNCTION(rocksdb_get_options_from_string)
      (base, family.options.text.c_str(), made, error.out());
      if (Status s = error.status(); !s.ok()) return s;
      names.push_back(family.name.c_str());
      of_families.push_back(made);
    }
    rocksdb_transactiondb_options_t* const policy =
        C_FUNCTION(rocksdb_transactiondb_options_create)();
    C_FUNCTION(rocksdb_transactiondb_options_set_write_policy)
    (policy, of_transactions.write_policy);
    std::vector<rocksdb_column_family_handle_t*> opened(families.size());
    rocksdb_transactiondb_t* const made = C_FUNCTION(rocksdb_transactiondb_open_column_families)(
        base, policy, directory.c_str(), static_cast<int>(families.size()), names.data(),
        of_families.data(), opened.data(), error.out());
    if (Status s = error.status(); !s.ok()) return s;
    for (rocksdb_column_family_handle_t* handle : opened) {
      handles->push_back(new ColumnFamilyHandle(handle));
    }
    *db = new TransactionDB(made);
    return {};
  }
  ~TransactionDB() { C_FUNCTION(rocksdb_transactiondb_close)(db_); }

  Transaction* BeginTransaction(const WriteOptions& /*options*/) {
    return new Transaction(C_FUNCTION(rocksdb_transaction_begin)(
        db_, C_FUNCTION(rocksdb_writeoptions_create)(),
        C_FUNCTION(rocksdb_transaction_options_create)(), nullptr));
  }
  Status Put(const WriteOptions& /*options*/, ColumnFamilyHandle* family, const std::string& key,
             const std::string& value) {
    C_FUNCTION(rocksdb_transactiondb_put_cf)
    (db_, C_FUNCTION(rocksdb_writeoptions_create)(), family->handle, key.data(), key.size(),
     value.data(), value.size(), error_.out());
    return error_.status();
  }
  Status Flush(const FlushOptions& /*options*/, ColumnFamilyHandle* family) {
    C_FUNCTION(rocksdb_transactiondb_flush_cf)
    (db_, C_FUNCTION(rocksdb_flushoptions_create)(), family->handle, error_.out());
    return error_.status();
  }
  // What timestamps need stays with the process.
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
    rocksdb_readoptions_t* const read = C_FUNCTION(rocksdb_readoptions_create)();
    if (options.timestamp != nullptr) {
      C_FUNCTION(rocksdb_readoptions_set_timestamp)
      (read, options.timestamp->text.data(), options.timestamp->text.size());
    }
    return new Iterator(
        C_FUNCTION(rocksdb_transactiondb_create_iterator_cf)(db_, read, family->handle));
  }
  void GetAllPreparedTransactions(std::vector<Transaction*>* all) {
    size_t n = 0;
    rocksdb_transaction_t** const found =
        C_FUNCTION(rocksdb_transactiondb_get_prepared_transactions)(db_, &n);
    // Handles of transactions that left_ has others of: they go with the process.
    for (size_t i = 0; i < n; i++) all->push_back(new Transaction(found[i]));
  }
  Transaction* GetTransactionByName(const std::string& name) {
    std::vector<Transaction*> all;
    GetAllPreparedTransactions(&all);
    for (Transaction* txn : all) {
      if (txn->GetName() == name) return txn;
    }
    return nullptr;
  }

 private:
  explicit TransactionDB(rocksdb_transactiondb_t* db) : db_(db) {}

  rocksdb_transactiondb_t* const db_;
  Error error_;
};

struct DB {
  static Status Open(const DBOptions& /*options*/, const std::string& /*directory*/,
                     const std::vector<ColumnFamilyDescriptor>& /*families*/,
                     std::vector<ColumnFamilyHandle*>* /*handles*/, DB** /*db*/) {
    return Status("the C API's driver has transactions only");
  }
};

}  // namespace kv

#include "tests/interop/two_phase_driver.h"

int main(int argc, char** argv) {
  return interop::RunTwoPhaseDriver(argc, argv);
}
