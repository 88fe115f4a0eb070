// SPDX-License-Identifier: Apache-2.0

// Runs a script of transactions in two phases with a library that has RocksDB's C API, named by
// VARVE_ROCKSDB_LIBRARY. Namespace kv has the parts of the C++ API that the driver uses, made of C
// functions, but not "refused".

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/harness/rocksdb_library.h"

namespace kv {

class Status {
 public:
  Status() = default;
  explicit Status(std::string error) : error_(std::move(error)) {}

  bool ok() const { return error_.empty(); }
  std::string ToString() const { return ok() ? "OK" : error_; }

 private:
  std::string error_;
};

// Returns the library. Ends the process when there is none.
const varve::testing::RocksDbLibrary& Library() {
  const auto* const library = varve::testing::RocksDbLibrary::Get();
  if (library == nullptr) {
    printf("PROBLEM VARVE_ROCKSDB_LIBRARY cannot be loaded\n");
    exit(1);
  }
  return *library;
}
// Calls a function by its name after "rocksdb_". The types of arguments are those of its
// parameters.
template <typename Result, typename... Args>
Result Call(const char* name, Args... args) {
  return Library().Call<Result>(name, args...);
}
// Calls a function whose last argument receives the error.
template <typename... Args>
Status Checked(const char* name, Args... args) {
  std::string error;
  Library().Checked<void>(&error, name, args...);
  return Status(error);
}
// Handle of the C API.
using Handle = void*;

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
  explicit ColumnFamilyHandle(Handle of) : handle(of) {}
  ~ColumnFamilyHandle() { Call<void>("column_family_handle_destroy", handle); }
  const Handle handle;
};

class Transaction {
 public:
  explicit Transaction(Handle txn) : txn_(txn) {}
  ~Transaction() { Call<void>("transaction_destroy", txn_); }

  Status SetName(const std::string& name) {
    return Checked("transaction_set_name", txn_, name.data(), name.size());
  }
  std::string GetName() const {
    size_t size = 0;
    char* const name = Call<char*>("transaction_get_name", txn_, &size);
    std::string text(name, size);
    Call<void>("free", static_cast<void*>(name));
    return text;
  }
  Status Put(ColumnFamilyHandle* family, const std::string& key, const std::string& value) {
    return Checked("transaction_put_cf", txn_, family->handle, key.data(), key.size(), value.data(),
                   value.size());
  }
  Status Merge(ColumnFamilyHandle* family, const std::string& key, const std::string& value) {
    return Checked("transaction_merge_cf", txn_, family->handle, key.data(), key.size(),
                   value.data(), value.size());
  }
  Status Delete(ColumnFamilyHandle* family, const std::string& key) {
    return Checked("transaction_delete_cf", txn_, family->handle, key.data(), key.size());
  }
  // The C API has no such call.
  Status SingleDelete(ColumnFamilyHandle* family, const std::string& key) {
    return Delete(family, key);
  }
  Status Prepare() { return Checked("transaction_prepare", txn_); }
  // Commit reports a refusal.
  Status SetCommitTimestamp(uint64_t timestamp) {
    Call<void>("transaction_set_commit_timestamp", txn_, timestamp);
    return {};
  }
  Status Commit() { return Checked("transaction_commit", txn_); }
  Status Rollback() { return Checked("transaction_rollback", txn_); }

 private:
  const Handle txn_;
};

class Iterator {
 public:
  explicit Iterator(Handle it) : it_(it) {}
  ~Iterator() { Call<void>("iter_destroy", it_); }

  void SeekToFirst() { Call<void>("iter_seek_to_first", it_); }
  bool Valid() const { return Call<unsigned char>("iter_valid", it_) != 0; }
  void Next() { Call<void>("iter_next", it_); }
  Slice key() const { return Part("iter_key"); }
  Slice value() const { return Part("iter_value"); }
  Slice timestamp() const { return Part("iter_timestamp"); }
  Status status() const { return Checked("iter_get_error", it_); }

 private:
  Slice Part(const char* function) const {
    size_t size = 0;
    const char* const bytes = Call<const char*>(function, it_, &size);
    return Slice(std::string(bytes, size));
  }

  const Handle it_;
};

// Option handles are never freed.
class TransactionDB {
 public:
  static Status Open(const DBOptions& options, const TransactionDBOptions& of_transactions,
                     const std::string& directory,
                     const std::vector<ColumnFamilyDescriptor>& families,
                     std::vector<ColumnFamilyHandle*>* handles, TransactionDB** db) {
    const auto base = Call<Handle>("options_create");
    Call<void>("options_set_create_if_missing", base, Flag(options.create_if_missing));
    Call<void>("options_set_create_missing_column_families", base,
               Flag(options.create_missing_column_families));
    std::vector<const char*> names;
    std::vector<Handle> of_families;
    for (const ColumnFamilyDescriptor& family : families) {
      names.push_back(family.name.c_str());
      of_families.push_back(Call<Handle>("options_create"));
      Status s =
          Checked("get_options_from_string", base, family.options.text.c_str(), of_families.back());
      if (!s.ok()) return s;
    }
    const auto policy = Call<Handle>("transactiondb_options_create");
    Call<void>("transactiondb_options_set_write_policy", policy,
               static_cast<int>(of_transactions.write_policy));
    std::vector<Handle> opened(families.size());
    std::string error;
    const auto made = Library().Checked<Handle>(
        &error, "transactiondb_open_column_families", base, policy, directory.c_str(),
        static_cast<int>(families.size()), names.data(), of_families.data(), opened.data());
    if (!error.empty()) return Status(error);
    for (const Handle handle : opened) handles->push_back(new ColumnFamilyHandle(handle));
    *db = new TransactionDB(made);
    return {};
  }
  ~TransactionDB() { Call<void>("transactiondb_close", db_); }

  Transaction* BeginTransaction(const WriteOptions& /*options*/) {
    const Handle reused = nullptr;
    return new Transaction(Call<Handle>("transaction_begin", db_,
                                        Call<Handle>("writeoptions_create"),
                                        Call<Handle>("transaction_options_create"), reused));
  }
  Status Put(const WriteOptions& /*options*/, ColumnFamilyHandle* family, const std::string& key,
             const std::string& value) {
    return Checked("transactiondb_put_cf", db_, Call<Handle>("writeoptions_create"), family->handle,
                   key.data(), key.size(), value.data(), value.size());
  }
  Status Flush(const FlushOptions& /*options*/, ColumnFamilyHandle* family) {
    return Checked("transactiondb_flush_cf", db_, Call<Handle>("flushoptions_create"),
                   family->handle);
  }
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
    const auto read = Call<Handle>("readoptions_create");
    if (options.timestamp != nullptr) {
      const std::string& text = options.timestamp->text;
      Call<void>("readoptions_set_timestamp", read, text.data(), text.size());
    }
    return new Iterator(
        Call<Handle>("transactiondb_create_iterator_cf", db_, read, family->handle));
  }
  void GetAllPreparedTransactions(std::vector<Transaction*>* all) {
    size_t n = 0;
    auto* const found = Call<Handle*>("transactiondb_get_prepared_transactions", db_, &n);
    // The driver may have second handles of transactions; they are never freed.
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
  explicit TransactionDB(Handle db) : db_(db) {}
  static unsigned char Flag(bool flag) { return flag ? 1 : 0; }

  const Handle db_;
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
