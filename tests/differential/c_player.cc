// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/c_player.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include "tests/differential/c_read_options.h"

namespace varve::testing {

namespace {

// Appends the operands to the value, separated by commas.
char* Append(void* /*state*/, const char* /*key*/, size_t /*key_size*/, const char* existing,
             size_t existing_size, const char* const* operands, const size_t* sizes, int count,
             unsigned char* success, size_t* new_size) {
  std::string merged = existing == nullptr ? "" : std::string(existing, existing_size);
  for (int i = 0; i < count; i++) {
    if (existing != nullptr || i > 0) merged += ',';
    merged.append(operands[i], sizes[i]);
  }
  auto* const copy = static_cast<char*>(std::malloc(merged.size() + 1));
  std::memcpy(copy, merged.data(), merged.size());
  *success = 1;
  *new_size = merged.size();
  return copy;
}

char* AppendOperands(void* state, const char* key, size_t key_size, const char* const* operands,
                     const size_t* sizes, int count, unsigned char* success, size_t* new_size) {
  return Append(state, key, key_size, nullptr, 0, operands, sizes, count, success, new_size);
}

const char* MergeName(void* /*state*/) {
  return "differential.Append";
}

int CompareReverse(void* /*state*/, const char* a, size_t a_size, const char* b, size_t b_size) {
  return Slice(b, b_size).compare(Slice(a, a_size));
}

const char* ReverseName(void* /*state*/) {
  return "differential.Reverse";
}

void NoDestructor(void* /*state*/) {}

}  // namespace

const char* const kNoAnswer = "-";

std::string ShortWord(const std::string& bytes) {
  constexpr size_t kLongest = 120;
  if (bytes.size() <= kLongest) return WordOf(bytes);
  return WordOf(bytes.substr(0, kLongest)) + "...(" + std::to_string(bytes.size()) + " bytes, " +
         std::to_string(std::hash<std::string>()(bytes) % 100000) + ")";
}

CPlayer::CPlayer(const CApi* api, std::string directory)
    : api_(*api),
      directory_(std::move(directory)),
      reverse_(api->comparator_create(nullptr, NoDestructor, CompareReverse, ReverseName)) {}

CPlayer::~CPlayer() {
  Close(Line());
}

std::string CPlayer::Told(char* error) const {
  if (error == nullptr) return "ok";
  const std::string text = error;
  api_.free(error);
  return text.substr(0, text.find(':'));
}

std::string CPlayer::Found(char* value, size_t size, char* error) const {
  if (error != nullptr) return Told(error);
  if (value == nullptr) return "none";
  std::string answer = "=" + ShortWord(std::string(value, size));
  api_.free(value);
  return answer;
}

CPlayer::Handle CPlayer::Find(const std::string& family) const {
  const auto found = families_.find(family);
  return found == families_.end() ? nullptr : found->second;
}

std::string CPlayer::Do(const Line& line) {
  const auto method = Methods().find(line.verb());
  if (method == Methods().end()) return kNoAnswer;
  if (db_ == nullptr && line.verb() != "open" && line.verb() != "families") return kNoAnswer;
  return (this->*method->second)(line);
}

// ---- Opening and closing ----

rocksdb_options_t* CPlayer::OptionsOf(const std::string& family) const {
  rocksdb_options_t* const options = api_.options_create_copy(options_);
  if (Slice(family).starts_with("rev")) api_.options_set_comparator(options, reverse_);
  if (!Slice(family).starts_with("bare")) {
    api_.options_set_merge_operator(
        options, api_.mergeoperator_create(nullptr, NoDestructor, Append, AppendOperands, nullptr,
                                           MergeName));
  }
  return options;
}

std::vector<std::string> CPlayer::FamiliesOnDisk() {
  size_t count = 0;
  char* error = nullptr;
  rocksdb_options_t* const options = api_.options_create();
  char** const list = api_.list_column_families(options, directory_.c_str(), &count, &error);
  api_.options_destroy(options);
  const bool fails = error != nullptr;
  if (fails) {
    api_.free(error);
    return {};
  }
  std::vector<std::string> names(list, list + count);
  api_.list_column_families_destroy(list, count);
  return names;
}

std::string CPlayer::Open(const Line& line) {
  if (db_ != nullptr) return kNoAnswer;
  std::string text;
  for (size_t i = 2; i < line.words.size(); i++) {
    const bool is_option = line.words[i].find('=') != std::string::npos;
    if (is_option && !line.words[i].starts_with("except=")) text += line.words[i] + ";";
  }
  rocksdb_options_t* const base = api_.options_create();
  options_ = api_.options_create();
  api_.options_set_create_if_missing(base, 1);
  const std::string parsed = Checked(api_.get_options_from_string, base, text.c_str(), options_);
  api_.options_destroy(base);
  std::vector<std::string> names = FamiliesOnDisk();
  std::erase(names, line.Option("except"));
  if (names.empty()) names.emplace_back("default");
  std::string answer = parsed == "ok" ? OpenKind(line.Word(1), names) : "options: " + parsed;
  if (db_ == nullptr) api_.options_destroy(std::exchange(options_, nullptr));
  for (const std::string& name : names) answer += " " + name;
  return answer;
}

std::string CPlayer::OpenKind(const std::string& kind, std::vector<std::string> names) {
  const auto count = static_cast<int>(names.size());
  std::vector<const char*> words;
  std::vector<rocksdb_options_t*> options;
  std::vector<Handle> handles(names.size());
  for (const std::string& name : names) {
    words.push_back(name.c_str());
    options.push_back(OptionsOf(name));
  }
  char* error = nullptr;
  const char* const directory = directory_.c_str();
  if (kind == "txn") {
    rocksdb_transactiondb_options_t* const how = api_.transactiondb_options_create();
    api_.transactiondb_options_set_default_lock_timeout(how, 1);
    api_.transactiondb_options_set_transaction_lock_timeout(how, 1);
    txn_db_ = api_.transactiondb_open_column_families(options_, how, directory, count, words.data(),
                                                      options.data(), handles.data(), &error);
    api_.transactiondb_options_destroy(how);
    if (txn_db_ != nullptr) db_ = api_.transactiondb_get_base_db(txn_db_);
  } else if (kind == "opt") {
    opt_db_ = api_.optimistictransactiondb_open_column_families(
        options_, directory, count, words.data(), options.data(), handles.data(), &error);
    if (opt_db_ != nullptr) db_ = api_.optimistictransactiondb_get_base_db(opt_db_);
  } else if (kind == "ro") {
    db_ = api_.open_for_read_only_column_families(options_, directory, count, words.data(),
                                                  options.data(), handles.data(),
                                                  static_cast<unsigned char>(0), &error);
  } else {
    db_ = api_.open_column_families(options_, directory, count, words.data(), options.data(),
                                    handles.data(), &error);
  }
  for (rocksdb_options_t* one : options) api_.options_destroy(one);
  if (error == nullptr) {
    for (size_t i = 0; i < names.size(); i++) families_[names[i]] = handles[i];
  }
  return Told(error);
}

std::string CPlayer::Close(const Line& /*line*/) {
  if (db_ == nullptr) return kNoAnswer;
  for (auto& [name, iterator] : std::exchange(iterators_, {})) {
    api_.iter_destroy(iterator.it);
    delete iterator.options;
  }
  for (auto& [name, transaction] : std::exchange(transactions_, {})) {
    api_.transaction_destroy(transaction);
  }
  for (auto& [name, index] : std::exchange(indexes_, {})) api_.writebatch_wi_destroy(index);
  for (auto& [name, snapshot] : std::exchange(snapshots_, {})) released_.push_back(snapshot);
  for (const rocksdb_snapshot_t* snapshot : std::exchange(released_, {})) {
    api_.release_snapshot(db_, snapshot);
  }
  for (auto& [name, handle] : std::exchange(families_, {})) {
    api_.column_family_handle_destroy(handle);
  }
  if (txn_db_ != nullptr) {
    api_.transactiondb_close_base_db(db_);
    api_.transactiondb_close(std::exchange(txn_db_, nullptr));
  } else if (opt_db_ != nullptr) {
    api_.optimistictransactiondb_close_base_db(db_);
    api_.optimistictransactiondb_close(std::exchange(opt_db_, nullptr));
  } else {
    api_.close(db_);
  }
  db_ = nullptr;
  api_.options_destroy(std::exchange(options_, nullptr));
  return "ok";
}

// ---- Families ----

std::string CPlayer::MakeFamily(const Line& line) {
  rocksdb_options_t* const options = OptionsOf(line.Word(1));
  char* error = nullptr;
  const char* const name = line.Word(1).c_str();
  Handle const made = txn_db_ != nullptr
                          ? api_.transactiondb_create_column_family(txn_db_, options, name, &error)
                          : api_.create_column_family(db_, options, name, &error);
  api_.options_destroy(options);
  if (error != nullptr) return Told(error);
  families_[line.Word(1)] = made;
  return "ok " + std::to_string(api_.column_family_handle_get_id(made));
}

std::string CPlayer::DropFamily(const Line& line) {
  Handle const handle = Find(line.Word(1));
  if (handle == nullptr) return kNoAnswer;
  std::string answer = Checked(api_.drop_column_family, db_, handle);
  const std::string dropped = line.Word(1) + "!";
  if (answer != "ok" || line.Word(1).ends_with('!')) return answer;
  families_.erase(line.Word(1));
  if (Find(dropped) != nullptr) api_.column_family_handle_destroy(Find(dropped));
  families_[dropped] = handle;
  return answer;
}

std::string CPlayer::ListFamilies(const Line& /*line*/) {
  std::string answer;
  for (const std::string& name : FamiliesOnDisk()) answer += name + " ";
  return answer;
}

// ---- Snapshots and maintenance ----

std::string CPlayer::Snap(const Line& line) {
  if (snapshots_.count(line.Word(1)) != 0) return kNoAnswer;
  snapshots_[line.Word(1)] = api_.create_snapshot(db_);
  return "ok";
}

std::string CPlayer::Unsnap(const Line& line) {
  const auto found = snapshots_.find(line.Word(1));
  if (found == snapshots_.end()) return kNoAnswer;
  released_.push_back(found->second);
  snapshots_.erase(found);
  return "ok";
}

std::string CPlayer::Flush(const Line& line) {
  Handle const handle = Find(line.Word(1));
  if (handle == nullptr) return kNoAnswer;
  rocksdb_flushoptions_t* const options = api_.flushoptions_create();
  std::string answer = Checked(api_.flush_cf, db_, options, handle);
  api_.flushoptions_destroy(options);
  return answer;
}

std::string CPlayer::Compact(const Line& line) {
  Handle const handle = Find(line.Word(1));
  if (handle == nullptr) return kNoAnswer;
  const std::string from = BytesOf(line.Option("from"));
  const std::string to = BytesOf(line.Option("to"));
  rocksdb_compactoptions_t* const options = api_.compactoptions_create();
  constexpr unsigned char kForce = 2;
  if (line.Has("force")) {
    api_.compactoptions_set_bottommost_level_compaction(options, kForce);
  }
  api_.compact_range_cf_opt(db_, handle, options, line.HasOption("from") ? from.data() : nullptr,
                            from.size(), line.HasOption("to") ? to.data() : nullptr, to.size());
  api_.compactoptions_destroy(options);
  return "ok";
}

std::string CPlayer::DeleteFiles(const Line& line) {
  Handle const handle = Find(line.Word(1));
  if (handle == nullptr) return kNoAnswer;
  const std::string from = BytesOf(line.Word(2));
  const std::string to = BytesOf(line.Word(3));
  return Checked(api_.delete_file_in_range_cf, db_, handle, from.data(), from.size(), to.data(),
                 to.size());
}

std::string CPlayer::SetOption(const Line& line) {
  Handle const handle = Find(line.Word(1));
  const size_t equals = line.Word(2).find('=');
  if (handle == nullptr || equals == std::string::npos) return kNoAnswer;
  const std::string name = line.Word(2).substr(0, equals);
  const std::string value = line.Word(2).substr(equals + 1);
  const char* const names[] = {name.c_str()};
  const char* const values[] = {value.c_str()};
  return Checked(api_.set_options_cf, db_, handle, 1, names, values);
}

std::string CPlayer::Property(const Line& line) {
  Handle const handle = Find(line.Word(1));
  if (handle == nullptr) return kNoAnswer;
  const std::string name = "rocksdb." + line.Word(2);
  uint64_t number = 0;
  if (api_.property_int_cf(db_, handle, name.c_str(), &number) == 0) {
    return std::to_string(number);
  }
  char* const text = api_.property_value_cf(db_, handle, name.c_str());
  if (text == nullptr) return "none";
  std::string answer = text;
  api_.free(text);
  return answer;
}

std::string CPlayer::Sequence(const Line& /*line*/) {
  return std::to_string(api_.get_latest_sequence_number(db_));
}

std::string CPlayer::SyncWal(const Line& /*line*/) {
  return Checked(api_.flush_wal, db_, static_cast<unsigned char>(1));
}

const std::map<std::string, CPlayer::Method>& CPlayer::Methods() {
  static const std::map<std::string, Method> methods = {
      {"open", &CPlayer::Open},
      {"close", &CPlayer::Close},
      {"family", &CPlayer::MakeFamily},
      {"drop", &CPlayer::DropFamily},
      {"families", &CPlayer::ListFamilies},
      {"snap", &CPlayer::Snap},
      {"unsnap", &CPlayer::Unsnap},
      {"flush", &CPlayer::Flush},
      {"compact", &CPlayer::Compact},
      {"deletefiles", &CPlayer::DeleteFiles},
      {"setopt", &CPlayer::SetOption},
      {"prop", &CPlayer::Property},
      {"sequence", &CPlayer::Sequence},
      {"syncwal", &CPlayer::SyncWal},
      {"put", &CPlayer::Single},
      {"del", &CPlayer::Single},
      {"sdel", &CPlayer::Single},
      {"merge", &CPlayer::Single},
      {"range", &CPlayer::Single},
      {"write", &CPlayer::Write},
      {"get", &CPlayer::Get},
      {"pinned", &CPlayer::Get},
      {"may", &CPlayer::May},
      {"multi", &CPlayer::Multi},
      {"batched", &CPlayer::Multi},
      {"scan", &CPlayer::Scan},
      {"iter", &CPlayer::NewIterator},
      {"seek", &CPlayer::Move},
      {"seekback", &CPlayer::Move},
      {"first", &CPlayer::Move},
      {"last", &CPlayer::Move},
      {"next", &CPlayer::Move},
      {"prev", &CPlayer::Move},
      {"refresh", &CPlayer::Move},
      {"enditer", &CPlayer::EndIterator},
      {"index", &CPlayer::MakeIndex},
      {"iwrite", &CPlayer::WriteIndex},
      {"iget", &CPlayer::GetIndexed},
      {"iboth", &CPlayer::GetIndexed},
      {"iscan", &CPlayer::ScanIndexed},
      {"icommit", &CPlayer::CommitIndex},
      {"endindex", &CPlayer::EndIndex},
      {"begin", &CPlayer::Begin},
      {"tx", &CPlayer::Transact},
      {"tmulti", &CPlayer::MultiInTransaction},
      {"tscan", &CPlayer::ScanInTransaction},
      {"tbatch", &CPlayer::BatchOfTransaction},
      {"trebuild", &CPlayer::Rebuild},
      {"tname", &CPlayer::Name},
      {"prepare", &CPlayer::Decide},
      {"commit", &CPlayer::Decide},
      {"rollback", &CPlayer::Decide},
      {"endtx", &CPlayer::EndTransaction},
      {"prepared", &CPlayer::Prepared},
  };
  return methods;
}

}  // namespace varve::testing
