// SPDX-License-Identifier: Apache-2.0
#include "tests/older_writers/old_database.h"

#include <gtest/gtest.h>

#include "varve/slice.h"

#include "util/coding/fixed.h"

namespace varve::testing {

namespace {

constexpr size_t kStampBytes = 8;
// Both engines use this name: a C API's comparator of this name must order as the built-in one
// does.
constexpr char kComparatorName[] = "leveldb.BytewiseComparator.u64ts";

void Nothing(void* /*state*/) {}

int CompareStamps(void* /*state*/, const char* a, size_t /*a_size*/, const char* b,
                  size_t /*b_size*/) {
  const uint64_t left = DecodeFixed64(a);
  const uint64_t right = DecodeFixed64(b);
  return left < right ? -1 : static_cast<int>(left > right);
}

int CompareWithoutStamps(void* /*state*/, const char* a, size_t a_size, unsigned char a_has,
                         const char* b, size_t b_size, unsigned char b_has) {
  return Slice(a, a_size - (a_has != 0 ? kStampBytes : 0))
      .compare(Slice(b, b_size - (b_has != 0 ? kStampBytes : 0)));
}

int CompareKeys(void* state, const char* a, size_t a_size, const char* b, size_t b_size) {
  const int keys = CompareWithoutStamps(state, a, a_size, 1, b, b_size, 1);
  if (keys != 0) return keys;
  return -CompareStamps(state, a + a_size - kStampBytes, kStampBytes, b + b_size - kStampBytes,
                        kStampBytes);
}

const char* ComparatorName(void* /*state*/) {
  return kComparatorName;
}

// The comparator outlives every database.
void* Comparator(const RocksDbLibrary& library) {
  static void* const comparator = library.Call<void*>(
      "comparator_with_ts_create", static_cast<void*>(nullptr), &Nothing, &CompareKeys,
      &CompareStamps, &CompareWithoutStamps, &ComparatorName, kStampBytes);
  return comparator;
}

constexpr unsigned char kYes = 1;

}  // namespace

std::string StampOf(uint64_t number) {
  std::string stamp;
  PutFixed64(&stamp, number);
  return stamp;
}

OldDatabase::OldDatabase(const std::string& path, const Setup& setup)
    : library_(*RocksDbLibrary::Get()), setup_(setup) {
  std::vector<const char*> names;
  for (const auto& [name, timestamps] : setup.families) {
    names.push_back(name.c_str());
    options_.push_back(Options(timestamps));
  }
  std::vector<Opaque*> handles(names.size());
  const int count = static_cast<int>(names.size());
  Opaque* const db_options = Options(false);
  if (setup.transactions) {
    auto* const transactions = library_.Call<Opaque*>("transactiondb_options_create");
    db_ = library_.Checked<Opaque*>(&error_, "transactiondb_open_column_families", db_options,
                                    transactions, path.c_str(), count, names.data(),
                                    options_.data(), handles.data());
    library_.Call<void>("transactiondb_options_destroy", transactions);
  } else {
    db_ = library_.Checked<Opaque*>(&error_, "open_column_families", db_options, path.c_str(),
                                    count, names.data(), options_.data(), handles.data());
  }
  options_.push_back(db_options);
  if (db_ == nullptr) return;
  write_ = library_.Call<Opaque*>("writeoptions_create");
  for (size_t i = 0; i < names.size(); i++) handles_[names[i]] = handles[i];
}

OldDatabase::~OldDatabase() {
  for (const auto& [name, transaction] : prepared_) {
    library_.Call<void>("transaction_destroy", transaction);
  }
  for (const auto& [name, handle] : handles_) {
    library_.Call<void>("column_family_handle_destroy", handle);
  }
  if (db_ != nullptr)
    library_.Call<void>(setup_.transactions ? "transactiondb_close" : "close", db_);
  if (write_ != nullptr) library_.Call<void>("writeoptions_destroy", write_);
  for (Opaque* options : options_) library_.Call<void>("options_destroy", options);
}

OldDatabase::Opaque* OldDatabase::Options(bool timestamps) {
  auto* const options = library_.Call<Opaque*>("options_create");
  library_.Call<void>("options_set_create_if_missing", options, kYes);
  library_.Call<void>("options_set_create_missing_column_families", options, kYes);
  library_.Call<void>("options_set_uint64add_merge_operator", options);
  if (timestamps) library_.Call<void>("options_set_comparator", options, Comparator(library_));
  if (setup_.adjust) setup_.adjust(library_, options);
  return options;
}

OldDatabase::Opaque* OldDatabase::Find(const std::string& name) {
  const auto found = handles_.find(name);
  EXPECT_NE(found, handles_.end()) << name;
  return found == handles_.end() ? nullptr : found->second;
}

void OldDatabase::Call(const char* what, const std::string& error) {
  EXPECT_EQ(error, "") << what;
}

void OldDatabase::Put(const std::string& family, const std::string& key, const std::string& value) {
  std::string error;
  library_.Checked<void>(&error, setup_.transactions ? "transactiondb_put_cf" : "put_cf", db_,
                         write_, Find(family), key.data(), key.size(), value.data(), value.size());
  Call("put", error);
}

void OldDatabase::PutAt(const std::string& family, const std::string& key, uint64_t stamp,
                        const std::string& value) {
  std::string error;
  const std::string at = StampOf(stamp);
  library_.Checked<void>(&error, "put_cf_with_ts", db_, write_, Find(family), key.data(),
                         key.size(), at.data(), at.size(), value.data(), value.size());
  Call("put at", error);
}

void OldDatabase::Delete(const std::string& family, const std::string& key) {
  std::string error;
  library_.Checked<void>(&error, "delete_cf", db_, write_, Find(family), key.data(), key.size());
  Call("delete", error);
}

void OldDatabase::DeleteAt(const std::string& family, const std::string& key, uint64_t stamp) {
  std::string error;
  const std::string at = StampOf(stamp);
  library_.Checked<void>(&error, "delete_cf_with_ts", db_, write_, Find(family), key.data(),
                         key.size(), at.data(), at.size());
  Call("delete at", error);
}

void OldDatabase::SingleDelete(const std::string& family, const std::string& key) {
  std::string error;
  library_.Checked<void>(&error, "singledelete_cf", db_, write_, Find(family), key.data(),
                         key.size());
  Call("single delete", error);
}

void OldDatabase::DeleteRange(const std::string& family, const std::string& begin,
                              const std::string& end) {
  std::string error;
  library_.Checked<void>(&error, "delete_range_cf", db_, write_, Find(family), begin.data(),
                         begin.size(), end.data(), end.size());
  Call("delete range", error);
}

void OldDatabase::Add(const std::string& family, const std::string& key, uint64_t number) {
  std::string error;
  const std::string operand = StampOf(number);
  library_.Checked<void>(&error, "merge_cf", db_, write_, Find(family), key.data(), key.size(),
                         operand.data(), operand.size());
  Call("merge", error);
}

void OldDatabase::Flush(const std::string& family) {
  std::string error;
  auto* const flush = library_.Call<Opaque*>("flushoptions_create");
  library_.Checked<void>(&error, setup_.transactions ? "transactiondb_flush_cf" : "flush_cf", db_,
                         flush, Find(family));
  library_.Call<void>("flushoptions_destroy", flush);
  Call("flush", error);
}

void OldDatabase::Compact(const std::string& family) {
  const char* const all = nullptr;
  library_.Call<void>("compact_range_cf", db_, Find(family), all, size_t{0}, all, size_t{0});
}

void OldDatabase::Drop(const std::string& family) {
  std::string error;
  library_.Checked<void>(&error, "drop_column_family", db_, Find(family));
  Call("drop", error);
}

void OldDatabase::Prepare(const std::string& name, const std::string& family,
                          const std::string& key, const std::string& value) {
  auto* const options = library_.Call<Opaque*>("transaction_options_create");
  Opaque* const none = nullptr;
  auto* const transaction = library_.Call<Opaque*>("transaction_begin", db_, write_, options, none);
  library_.Call<void>("transaction_options_destroy", options);
  std::string error;
  library_.Checked<void>(&error, "transaction_set_name", transaction, name.data(), name.size());
  Call("set name", error);
  library_.Checked<void>(&error, "transaction_put_cf", transaction, Find(family), key.data(),
                         key.size(), value.data(), value.size());
  Call("put in a transaction", error);
  library_.Checked<void>(&error, "transaction_prepare", transaction);
  Call("prepare", error);
  prepared_[name] = transaction;
}

void OldDatabase::Commit(const std::string& name) {
  Prepared();
  std::string error = "is not prepared";
  if (prepared_.contains(name)) {
    library_.Checked<void>(&error, "transaction_commit", prepared_.at(name));
  }
  Call("commit", error);
}

void OldDatabase::Rollback(const std::string& name) {
  Prepared();
  std::string error = "is not prepared";
  if (prepared_.contains(name)) {
    library_.Checked<void>(&error, "transaction_rollback", prepared_.at(name));
  }
  Call("rollback", error);
}

std::string OldDatabase::Scan(const std::string& family, uint64_t stamp) {
  auto* const read = library_.Call<Opaque*>("readoptions_create");
  const std::string at = StampOf(stamp);
  if (stamp != 0) library_.Call<void>("readoptions_set_timestamp", read, at.data(), at.size());
  auto* const it = library_.Call<Opaque*>(
      setup_.transactions ? "transactiondb_create_iterator_cf" : "create_iterator_cf", db_, read,
      Find(family));
  std::string text;
  for (library_.Call<void>("iter_seek_to_first", it);
       library_.Call<unsigned char>("iter_valid", it) != 0; library_.Call<void>("iter_next", it)) {
    size_t key_size = 0;
    size_t value_size = 0;
    const char* const key = library_.Call<const char*>("iter_key", it, &key_size);
    const char* const value = library_.Call<const char*>("iter_value", it, &value_size);
    text += (text.empty() ? "" : " ") + std::string(key, key_size) + "=" +
            std::string(value, value_size);
  }
  std::string error;
  library_.Checked<void>(&error, "iter_get_error", it);
  Call("scan", error);
  library_.Call<void>("iter_destroy", it);
  library_.Call<void>("readoptions_destroy", read);
  return text;
}

std::string OldDatabase::Prepared() {
  size_t count = 0;
  auto** const all =
      library_.Call<Opaque**>("transactiondb_get_prepared_transactions", db_, &count);
  std::map<std::string, Opaque*> found;
  for (size_t i = 0; i < count; i++) {
    size_t size = 0;
    char* const name = library_.Call<char*>("transaction_get_name", all[i], &size);
    found[std::string(name, size)] = all[i];
    library_.Call<void>("free", static_cast<void*>(name));
  }
  if (all != nullptr) library_.Call<void>("free", static_cast<void*>(all));
  std::string text;
  for (const auto& [name, transaction] : found) {
    text += name + " ";
    prepared_.emplace(name, transaction);
  }
  return text;
}

}  // namespace varve::testing
