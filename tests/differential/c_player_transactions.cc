// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tests/differential/c_player.h"
#include "tests/differential/c_read_options.h"

namespace varve::testing {

std::string CPlayer::Begin(const Line& line) {
  if (txn_db_ == nullptr && opt_db_ == nullptr) return kNoAnswer;
  const auto found = transactions_.find(line.Word(1));
  rocksdb_transaction_t* const old = found == transactions_.end() ? nullptr : found->second;
  const auto snap = static_cast<unsigned char>(line.Has("snap") ? 1 : 0);
  rocksdb_writeoptions_t* const writing = WriteOptions("");
  rocksdb_transaction_t* made = nullptr;
  if (txn_db_ != nullptr) {
    rocksdb_transaction_options_t* const options = api_.transaction_options_create();
    api_.transaction_options_set_set_snapshot(options, snap);
    if (line.HasOption("max")) {
      api_.transaction_options_set_max_write_batch_size(options,
                                                        size_t{NumberOf(line.Option("max"))});
    }
    made = api_.transaction_begin(txn_db_, writing, options, old);
    api_.transaction_options_destroy(options);
  } else {
    rocksdb_optimistictransaction_options_t* const options =
        api_.optimistictransaction_options_create();
    api_.optimistictransaction_options_set_set_snapshot(options, snap);
    made = api_.optimistictransaction_begin(opt_db_, writing, options, old);
    api_.optimistictransaction_options_destroy(options);
  }
  api_.writeoptions_destroy(writing);
  transactions_[line.Word(1)] = made;
  return made == nullptr ? "none" : "ok";
}

// ---- Inside a transaction ----

std::string CPlayer::ReadPart(rocksdb_transaction_t* transaction, const Part& part) {
  const std::string& key = part.key;
  const bool own = part.verb == "own" || part.verb == "lockown";
  const rocksdb_snapshot_t* const snapshot =
      own ? api_.transaction_get_snapshot(transaction) : nullptr;
  const CReadOptions options(&api_, Line(), snapshot);
  std::string answer;
  if (part.verb == "get" || part.verb == "own") {
    answer = Asked(api_.transaction_get_cf, transaction, options.get(), part.family, key.data(),
                   key.size());
  } else {
    size_t size = 0;
    char* error = nullptr;
    const auto exclusive = static_cast<unsigned char>(part.verb == "share" ? 0 : 1);
    char* const value = api_.transaction_get_for_update_cf(
        transaction, options.get(), part.family, key.data(), key.size(), &size, exclusive, &error);
    answer = Found(value, size, error);
  }
  if (snapshot != nullptr) api_.free(const_cast<rocksdb_snapshot_t*>(snapshot));
  return answer;
}

std::string CPlayer::TransactPart(rocksdb_transaction_t* transaction, const Part& part) {
  const std::string& key = part.key;
  const std::string& value = part.value;
  const Handle family = part.family;
  if (part.verb == "put") {
    return Checked(api_.transaction_put_cf, transaction, family, key.data(), key.size(),
                   value.data(), value.size());
  }
  if (part.verb == "merge") {
    return Checked(api_.transaction_merge_cf, transaction, family, key.data(), key.size(),
                   value.data(), value.size());
  }
  if (part.verb == "del") {
    return Checked(api_.transaction_delete_cf, transaction, family, key.data(), key.size());
  }
  if (part.verb == "log") {
    api_.transaction_put_log_data(transaction, value.data(), value.size());
    return "";
  }
  if (part.verb == "save") {
    api_.transaction_set_savepoint(transaction);
    return "";
  }
  if (part.verb == "back") return Checked(api_.transaction_rollback_to_savepoint, transaction);
  return part.family == nullptr ? "" : ReadPart(transaction, part);
}

std::string CPlayer::Transact(const Line& line) {
  const auto found = transactions_.find(line.Word(1));
  if (found == transactions_.end()) return kNoAnswer;
  std::string answer;
  for (const Part& part : PartsIn(line)) answer += TransactPart(found->second, part) + " ";
  return answer;
}

std::string CPlayer::MultiInTransaction(const Line& line) {
  const auto found = transactions_.find(line.Word(1));
  Handle const family = Find(line.Word(2));
  if (found == transactions_.end() || family == nullptr) return kNoAnswer;
  std::vector<std::string> keys;
  for (size_t i = 3; i < line.words.size(); i++) keys.push_back(BytesOf(line.words[i]));
  const size_t n = keys.size();
  std::vector<const char*> data;
  std::vector<size_t> sizes;
  for (const std::string& key : keys) {
    data.push_back(key.data());
    sizes.push_back(key.size());
  }
  const std::vector<const rocksdb_column_family_handle_t*> families(n, family);
  std::vector<char*> values(n);
  std::vector<char*> errors(n);
  std::vector<size_t> value_sizes(n);
  const CReadOptions options(&api_, Line(), nullptr);
  api_.transaction_multi_get_cf(found->second, options.get(), families.data(), n, data.data(),
                                sizes.data(), values.data(), value_sizes.data(), errors.data());
  std::string answer;
  for (size_t i = 0; i < n; i++) answer += Found(values[i], value_sizes[i], errors[i]) + " ";
  return answer;
}

std::string CPlayer::ScanInTransaction(const Line& line) {
  const auto found = transactions_.find(line.Word(1));
  Handle const family = Find(line.Word(2));
  if (found == transactions_.end() || family == nullptr) return kNoAnswer;
  const CReadOptions options(&api_, line, nullptr);
  rocksdb_iterator_t* const it =
      api_.transaction_create_iterator_cf(found->second, options.get(), family);
  std::string answer = ScanWith(it, line);
  api_.iter_destroy(it);
  return answer;
}

std::string CPlayer::BatchOfTransaction(const Line& line) {
  const auto found = transactions_.find(line.Word(1));
  if (found == transactions_.end()) return kNoAnswer;
  rocksdb_writebatch_wi_t* const index = api_.transaction_get_writebatch_wi(found->second);
  size_t size = 0;
  const char* const data = api_.writebatch_wi_data(index, &size);
  std::string bytes(data, size);
  // RocksDB's batch begins with a marker, kTypeNoop, which Prepare replaces by its own.
  constexpr size_t kHeaderBytes = 12;
  if (bytes.size() > kHeaderBytes && bytes[kHeaderBytes] == '\x0d') bytes.erase(kHeaderBytes, 1);
  std::string answer = std::to_string(api_.writebatch_wi_count(index)) + ":" + ShortWord(bytes);
  // This frees the handle, not the object behind it.
  api_.free(index);
  return answer;
}

std::string CPlayer::Rebuild(const Line& line) {
  const auto found = transactions_.find(line.Word(1));
  if (found == transactions_.end()) return kNoAnswer;
  rocksdb_writebatch_t* const batch = api_.writebatch_create();
  std::string answer = Fill(PartsIn(line), batch);
  answer += Checked(api_.transaction_rebuild_from_writebatch, found->second, batch);
  api_.writebatch_destroy(batch);
  return answer;
}

// ---- Its end ----

std::string CPlayer::Name(const Line& line) {
  const auto found = transactions_.find(line.Word(1));
  if (found == transactions_.end()) return kNoAnswer;
  const std::string& name = line.Word(2);
  return Checked(api_.transaction_set_name, found->second, name.data(), name.size());
}

std::string CPlayer::Decide(const Line& line) {
  const auto found = transactions_.find(line.Word(1));
  if (found == transactions_.end()) return kNoAnswer;
  if (line.verb() == "prepare") return Checked(api_.transaction_prepare, found->second);
  if (line.verb() == "commit") return Checked(api_.transaction_commit, found->second);
  return Checked(api_.transaction_rollback, found->second);
}

std::string CPlayer::EndTransaction(const Line& line) {
  const auto found = transactions_.find(line.Word(1));
  if (found == transactions_.end()) return kNoAnswer;
  api_.transaction_destroy(found->second);
  transactions_.erase(found);
  return "ok";
}

std::string CPlayer::Prepared(const Line& /*line*/) {
  // A transaction that the program holds gets no second handle.
  if (txn_db_ == nullptr || !transactions_.empty()) return kNoAnswer;
  size_t count = 0;
  rocksdb_transaction_t** const all = api_.transactiondb_get_prepared_transactions(txn_db_, &count);
  std::map<std::string, rocksdb_transaction_t*> named;
  for (size_t i = 0; i < count; i++) {
    size_t size = 0;
    char* const name = api_.transaction_get_name(all[i], &size);
    named["=" + std::string(name, size)] = all[i];
    api_.free(name);
  }
  api_.free(all);
  std::string answer = std::to_string(count);
  for (const auto& [name, transaction] : named) {
    answer += " " + name;
    transactions_.emplace(name, transaction);
  }
  return answer;
}

}  // namespace varve::testing
