// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/rocksdb_executor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "tests/harness/rocksdb_library.h"

namespace varve::testing {

struct RocksDbExecutor::Database {
  Opaque* db = nullptr;
  std::map<std::string, Opaque*> handles;
  std::map<std::string, Opaque*> snapshots;
  std::vector<Opaque*> retired;  // snapshots
  Opaque* writes = nullptr;
};

struct RocksDbExecutor::Held {
  std::string db;
  std::string family;
  std::string lower;
  std::string upper;
  Opaque* options = nullptr;
  Opaque* it = nullptr;
};

namespace {

// RocksDB does not open a database that had two families of one name with different comparators.
std::string StoredName(const std::string& family, bool reverse) {
  return family + (reverse ? "_reverse" : "");
}

void Nothing(void* /*state*/) {}

int CompareReversed(void* /*state*/, const char* a, size_t a_size, const char* b, size_t b_size) {
  return Slice(b, b_size).compare(Slice(a, a_size));
}

const char* ReverseName(void* /*state*/) {
  return "rocksdb.ReverseBytewiseComparator";
}

char* Copied(const std::string& bytes, size_t* size) {
  auto* const copy = static_cast<char*>(std::malloc(bytes.size() + 1));
  std::memcpy(copy, bytes.data(), bytes.size());
  *size = bytes.size();
  return copy;
}

char* FullMerge(void* /*state*/, const char* /*key*/, size_t /*key_size*/, const char* existing,
                size_t existing_size, const char* const* operands, const size_t* sizes, int n,
                unsigned char* success, size_t* size) {
  std::string value = existing == nullptr ? "" : std::string(existing, existing_size);
  for (int i = 0; i < n; i++) value = AppendOrReplace::Apply(value, Slice(operands[i], sizes[i]));
  *success = 1;
  return Copied(value, size);
}

char* PartialMerge(void* /*state*/, const char* /*key*/, size_t /*key_size*/,
                   const char* const* operands, const size_t* sizes, int n, unsigned char* success,
                   size_t* size) {
  std::string value(operands[0], sizes[0]);
  for (int i = 1; i < n; i++) value = AppendOrReplace::Apply(value, Slice(operands[i], sizes[i]));
  *success = 1;
  return Copied(value, size);
}

void FreeMerged(void* /*state*/, const char* value, size_t /*size*/) {
  std::free(const_cast<char*>(value));
}

const char* MergeName(void* /*state*/) {
  return "test.AppendOrReplace";
}

std::string Told(const std::string& error) {
  return error.empty() ? kDone : "FAILS " + error;
}

}  // namespace

RocksDbExecutor::RocksDbExecutor() : library_(RocksDbLibrary::Get()) {
  env_ = library_->Call<Opaque*>("create_mem_env");
}

RocksDbExecutor::~RocksDbExecutor() {
  while (!databases_.empty()) Close(std::string(databases_.begin()->first));
  library_->Call<void>("env_destroy", env_);
}

bool RocksDbExecutor::IsInstalled() {
  return RocksDbLibrary::Get() != nullptr;
}

bool RocksDbExecutor::Knows(const Line& line) const {
  static const std::set<std::string> moves = {"first", "last", "seek",    "seekback",
                                              "next",  "prev", "refresh", "enditer"};
  static const std::set<std::string> places = {"family",      "drop",   "get",     "scan",
                                               "prefix",      "iter",   "compact", "suggest",
                                               "deletefiles", "excise", "clip"};
  static const std::set<std::string> others = {"open", "close",  "kill",  "write", "ingest",
                                               "snap", "unsnap", "multi", "flush"};
  // RocksDB's tailing iterators refuse range deletions.
  if (line.verb() == "iter" && line.Has("tailing")) return false;
  if (moves.count(line.verb()) != 0) return iterators_.count(line.Word(1)) != 0;
  if (places.count(line.verb()) != 0) return !HasTimestamps(line.Family());
  return others.count(line.verb()) != 0;
}

RocksDbExecutor::Opaque* RocksDbExecutor::Options(bool reverse) {
  auto* const options = library_->Call<Opaque*>("options_create");
  library_->Call<void>("options_set_create_if_missing", options, static_cast<unsigned char>(1));
  library_->Call<void>("options_set_env", options, env_);
  library_->Call<void>("options_set_compression", options, 0);
  library_->Call<void>("options_set_write_buffer_size", options, size_t{128 << 10});
  library_->Call<void>("options_set_max_bytes_for_level_base", options, uint64_t{64 << 10});
  library_->Call<void>("options_set_target_file_size_base", options, uint64_t{16 << 10});
  void* const none = nullptr;
  library_->Call<void>("options_set_merge_operator", options,
                       library_->Call<Opaque*>("mergeoperator_create", none, &Nothing, &FullMerge,
                                               &PartialMerge, &FreeMerged, &MergeName));
  if (reverse) {
    // Comparators outlive everything, so they are made once.
    static auto* const comparator = library_->Call<Opaque*>("comparator_create", none, &Nothing,
                                                            &CompareReversed, &ReverseName);
    library_->Call<void>("options_set_comparator", options, comparator);
  }
  return options;
}

std::string RocksDbExecutor::Open(const Line& line, const Model& model) {
  auto database = std::make_unique<Database>();
  std::vector<std::string> names;
  std::vector<Opaque*> options;
  const auto known = model.databases().find(line.Db());
  if (known == model.databases().end()) {
    names = {"default"};
    options = {Options(false)};
  } else {
    for (const auto& [name, family] : known->second.families) {
      if (family.has_timestamps()) continue;
      names.push_back(name);
      options.push_back(Options(family.reverse()));
    }
  }
  std::vector<std::string> stored;
  for (const std::string& name : names) {
    stored.push_back(StoredName(
        name, known != model.databases().end() && known->second.families.at(name).reverse()));
  }
  std::vector<const char*> texts;
  for (const std::string& name : stored) texts.push_back(name.c_str());
  std::vector<Opaque*> handles(names.size());
  std::string error;
  database->db = library_->Checked<Opaque*>(
      &error, "open_column_families", options[0], ("/" + line.Db()).c_str(),
      static_cast<int>(names.size()), texts.data(), options.data(), handles.data());
  for (Opaque* one : options) library_->Call<void>("options_destroy", one);
  if (!error.empty()) return Told(error);
  for (size_t i = 0; i < names.size(); i++) database->handles[names[i]] = handles[i];
  database->writes = library_->Call<Opaque*>("writeoptions_create");
  databases_[line.Db()] = std::move(database);
  return kDone;
}

void RocksDbExecutor::ReleaseReaders(const std::string& db, const std::string& family) {
  for (auto it = iterators_.begin(); it != iterators_.end();) {
    const Held& held = *it->second;
    if (held.db != db || (!family.empty() && held.family != family)) {
      ++it;
      continue;
    }
    library_->Call<void>("iter_destroy", held.it);
    library_->Call<void>("readoptions_destroy", held.options);
    it = iterators_.erase(it);
  }
}

void RocksDbExecutor::Close(const std::string& name) {
  Database& database = *databases_.at(name);
  ReleaseReaders(name, "");
  for (const auto& [snap, one] : database.snapshots) {
    library_->Call<void>("release_snapshot", database.db, one);
  }
  for (Opaque* one : database.retired) {
    library_->Call<void>("release_snapshot", database.db, one);
  }
  for (const auto& [family, handle] : database.handles) {
    library_->Call<void>("column_family_handle_destroy", handle);
  }
  library_->Call<void>("writeoptions_destroy", database.writes);
  library_->Call<void>("close", database.db);
  databases_.erase(name);
}

std::string RocksDbExecutor::Family(const Line& line) {
  Database& database = *databases_.at(line.Db());
  const std::string name = StoredName(line.Family(), line.Has("reverse"));
  Opaque* const options = Options(line.Has("reverse"));
  std::string error;
  auto* const handle = library_->Checked<Opaque*>(&error, "create_column_family", database.db,
                                                  options, name.c_str());
  library_->Call<void>("options_destroy", options);
  if (error.empty()) database.handles[line.Family()] = handle;
  return Told(error);
}

std::string RocksDbExecutor::Drop(const Line& line) {
  Database& database = *databases_.at(line.Db());
  ReleaseReaders(line.Db(), line.Family());
  Opaque* const handle = database.handles.at(line.Family());
  std::string error;
  library_->Checked<void>(&error, "drop_column_family", database.db, handle);
  library_->Call<void>("column_family_handle_destroy", handle);
  database.handles.erase(line.Family());
  return Told(error);
}

void RocksDbExecutor::Add(Database* database, Opaque* batch, const Change& change) {
  Opaque* const handle = database->handles.at(change.family);
  const char* const key = change.key.data();
  const size_t key_size = change.key.size();
  const char* const value = change.value.data();
  const size_t value_size = change.value.size();
  switch (change.kind) {
    case Change::kPut:
      library_->Call<void>("writebatch_put_cf", batch, handle, key, key_size, value, value_size);
      break;
    case Change::kDelete:
      library_->Call<void>("writebatch_delete_cf", batch, handle, key, key_size);
      break;
    case Change::kSingleDelete:
      library_->Call<void>("writebatch_singledelete_cf", batch, handle, key, key_size);
      break;
    case Change::kMerge:
      library_->Call<void>("writebatch_merge_cf", batch, handle, key, key_size, value, value_size);
      break;
    case Change::kDeleteRange:
      library_->Call<void>("writebatch_delete_range_cf", batch, handle, key, key_size, value,
                           value_size);
      break;
  }
}

std::string RocksDbExecutor::Write(const Line& line) {
  Database& database = *databases_.at(line.Db());
  auto* const batch = library_->Call<Opaque*>("writebatch_create");
  for (const Change& change : ChangesOf(line)) {
    if (!HasTimestamps(change.family)) Add(&database, batch, change);
  }
  std::string error;
  library_->Checked<void>(&error, "write", database.db, database.writes, batch);
  library_->Call<void>("writebatch_destroy", batch);
  return Told(error);
}

std::unique_ptr<RocksDbExecutor::Held> RocksDbExecutor::Hold(const Line& line) {
  Database& database = *databases_.at(line.Db());
  auto held = std::make_unique<Held>();
  held->db = line.Db();
  held->family = line.Family();
  held->lower = BytesOf(line.Option("lower"));
  held->upper = BytesOf(line.Option("upper"));
  held->options = library_->Call<Opaque*>("readoptions_create");
  const auto set = [&](const char* name, auto value) {
    library_->Call<void>(name, held->options, value);
  };
  if (line.HasOption("lower")) {
    library_->Call<void>("readoptions_set_iterate_lower_bound", held->options, held->lower.data(),
                         held->lower.size());
  }
  if (line.HasOption("upper")) {
    library_->Call<void>("readoptions_set_iterate_upper_bound", held->options, held->upper.data(),
                         held->upper.size());
  }
  if (line.HasOption("snap")) {
    set("readoptions_set_snapshot", database.snapshots.at(line.Option("snap")));
  }
  if (line.Has("tailing")) set("readoptions_set_tailing", static_cast<unsigned char>(1));
  if (line.Has("pin")) set("readoptions_set_pin_data", static_cast<unsigned char>(1));
  if (line.Has("readahead")) set("readoptions_set_readahead_size", size_t{4096});
  if (line.verb() == "get" || line.verb() == "multi") return held;
  held->it = library_->Call<Opaque*>("create_iterator_cf", database.db, held->options,
                                     database.handles.at(held->family));
  return held;
}

bool RocksDbExecutor::Valid(Opaque* it) {
  return library_->Call<unsigned char>("iter_valid", it) != 0;
}

std::string RocksDbExecutor::GetOne(Database* database, Opaque* options, const std::string& family,
                                    const std::string& key) {
  size_t size = 0;
  std::string error;
  auto* const bytes =
      library_->Checked<char*>(&error, "get_cf", database->db, options,
                               database->handles.at(family), key.data(), key.size(), &size);
  if (!error.empty()) return "FAILS " + error;
  if (bytes == nullptr) return kAbsent;
  const std::string value(bytes, size);
  std::free(bytes);
  return IsRemovable(value) ? kAbsent : "=" + Shown(value);
}

std::string RocksDbExecutor::Get(const Line& line) {
  const std::unique_ptr<Held> held = Hold(line);
  const std::string answer =
      GetOne(databases_.at(line.Db()).get(), held->options, line.Family(), BytesOf(line.Word(2)));
  library_->Call<void>("readoptions_destroy", held->options);
  return answer;
}

std::string RocksDbExecutor::Multi(const Line& line) {
  Database& database = *databases_.at(line.Db());
  const std::unique_ptr<Held> held = Hold(line);
  std::vector<Opaque*> handles;
  std::vector<std::string> keys;
  for (size_t i = 2; i < line.words.size(); i++) {
    const size_t slash = line.words[i].find('/');
    if (slash == std::string::npos) continue;
    handles.push_back(database.handles.at(line.words[i].substr(0, slash)));
    keys.push_back(BytesOf(line.words[i].substr(slash + 1)));
  }
  std::vector<const char*> pointers;
  std::vector<size_t> sizes;
  for (const std::string& key : keys) {
    pointers.push_back(key.data());
    sizes.push_back(key.size());
  }
  std::vector<char*> values(keys.size());
  std::vector<size_t> value_sizes(keys.size());
  std::vector<char*> errors(keys.size());
  library_->Call<void>("multi_get_cf", database.db, held->options, handles.data(), keys.size(),
                       pointers.data(), sizes.data(), values.data(), value_sizes.data(),
                       errors.data());
  library_->Call<void>("readoptions_destroy", held->options);
  std::string answer;
  for (size_t i = 0; i < keys.size(); i++) {
    const bool absent = values[i] == nullptr || IsRemovable(Slice(values[i], value_sizes[i]));
    answer += errors[i] != nullptr ? "FAILS " + std::string(errors[i])
              : absent             ? kAbsent
                                   : "=" + Shown(Slice(values[i], value_sizes[i]));
    answer += " ";
    std::free(values[i]);
    std::free(errors[i]);
  }
  return answer;
}

std::string RocksDbExecutor::Pair(Opaque* it) {
  size_t key_size = 0;
  const auto* const key = library_->Call<const char*>("iter_key", it, &key_size);
  size_t value_size = 0;
  const auto* const value = library_->Call<const char*>("iter_value", it, &value_size);
  const Slice bytes(value, value_size);
  return IsRemovable(bytes) ? "" : PairText(Slice(key, key_size), bytes);
}

std::string RocksDbExecutor::Standing(Opaque* it) {
  std::string error;
  library_->Checked<void>(&error, "iter_get_error", it);
  if (!error.empty()) return "FAILS " + error;
  return Valid(it) ? Pair(it) : kAbsent;
}

std::string RocksDbExecutor::Scan(const Line& line) {
  const std::unique_ptr<Held> held = Hold(line);
  const bool back = line.Has("back");
  std::string answer;
  library_->Call<void>(back ? "iter_seek_to_last" : "iter_seek_to_first", held->it);
  for (; Valid(held->it); library_->Call<void>(back ? "iter_prev" : "iter_next", held->it)) {
    const std::string pair = Pair(held->it);
    if (!pair.empty()) answer += pair + " ";
  }
  const std::string end = Standing(held->it);
  library_->Call<void>("iter_destroy", held->it);
  library_->Call<void>("readoptions_destroy", held->options);
  return end == kAbsent ? answer : answer + end;
}

std::string RocksDbExecutor::Prefix(const Line& line) {
  const std::unique_ptr<Held> held = Hold(line);
  const std::string start = BytesOf(line.Word(2));
  std::string answer;
  library_->Call<void>("iter_seek", held->it, start.data(), start.size());
  for (; Valid(held->it); library_->Call<void>("iter_next", held->it)) {
    size_t size = 0;
    const auto* const key = library_->Call<const char*>("iter_key", held->it, &size);
    if (!Slice(key, size).starts_with(start.substr(0, kPrefixBytes))) break;
    const std::string pair = Pair(held->it);
    if (!pair.empty()) answer += pair + " ";
  }
  library_->Call<void>("iter_destroy", held->it);
  library_->Call<void>("readoptions_destroy", held->options);
  return answer;
}

std::string RocksDbExecutor::Move(const Line& line) {
  Held& held = *iterators_.at(line.Word(1));
  const std::string& verb = line.verb();
  const std::string target = BytesOf(line.Word(2));
  const bool forward = verb == "first" || verb == "seek" || verb == "next";
  const auto skip = [&] {
    while (Valid(held.it) && Pair(held.it).empty()) {
      library_->Call<void>(forward ? "iter_next" : "iter_prev", held.it);
    }
  };
  if (verb == "next" || verb == "prev") {
    const uint64_t steps =
        line.words.size() > 2 ? std::strtoull(line.Word(2).c_str(), nullptr, 10) : 1;
    std::string answer;
    for (uint64_t i = 0; i < steps; i++) {
      if (Valid(held.it)) library_->Call<void>(forward ? "iter_next" : "iter_prev", held.it);
      skip();
      answer += Standing(held.it) + " ";
    }
    return answer;
  }
  if (verb == "first") library_->Call<void>("iter_seek_to_first", held.it);
  if (verb == "last") library_->Call<void>("iter_seek_to_last", held.it);
  if (verb == "seek") library_->Call<void>("iter_seek", held.it, target.data(), target.size());
  if (verb == "seekback") {
    library_->Call<void>("iter_seek_for_prev", held.it, target.data(), target.size());
  }
  skip();
  return Standing(held.it);
}

std::string RocksDbExecutor::Compact(const Line& line) {
  Database& database = *databases_.at(line.Db());
  const std::string from = BytesOf(line.Option("from"));
  const std::string to = BytesOf(line.Option("to"));
  const char* const begin = line.HasOption("from") ? from.data() : nullptr;
  const char* const end = line.HasOption("to") ? to.data() : nullptr;
  Opaque* const handle = database.handles.at(line.Family());
  if (line.verb() == "suggest") {
    std::string error;
    library_->Checked<void>(&error, "suggest_compact_range_cf", database.db, handle, begin,
                            from.size(), end, to.size());
    return Told(error);
  }
  auto* const options = library_->Call<Opaque*>("compactoptions_create");
  library_->Call<void>("compactoptions_set_bottommost_level_compaction", options,
                       static_cast<unsigned char>(line.Option("last") == "force" ? 2 : 1));
  library_->Call<void>("compact_range_cf_opt", database.db, handle, options, begin, from.size(),
                       end, to.size());
  library_->Call<void>("compactoptions_destroy", options);
  return kDone;
}

std::string RocksDbExecutor::Flush(const Line& line) {
  Database& database = *databases_.at(line.Db());
  auto* const options = library_->Call<Opaque*>("flushoptions_create");
  std::string all;
  for (size_t i = 2; i < line.words.size(); i++) {
    const auto found = database.handles.find(line.words[i]);
    if (found == database.handles.end()) continue;
    std::string error;
    library_->Checked<void>(&error, "flush_cf", database.db, options, found->second);
    all += error;
  }
  library_->Call<void>("flushoptions_destroy", options);
  return Told(all);
}

std::string RocksDbExecutor::DeleteFiles(const Line& line) {
  Database& database = *databases_.at(line.Db());
  const std::string begin = BytesOf(line.Word(2));
  const std::string end = BytesOf(line.Word(3));
  std::string error;
  library_->Checked<void>(&error, "delete_file_in_range_cf", database.db,
                          database.handles.at(line.Family()), begin.data(), begin.size(),
                          end.data(), end.size());
  if (!error.empty()) return Told(error);
  Line rest;
  rest.words = {"write", line.Db(), "range", line.Family(), line.Word(2), line.Word(3)};
  return Write(rest);
}

std::string RocksDbExecutor::Do(const Line& line, const Model& model) {
  const std::string& verb = line.verb();
  if (verb == "open") return Open(line, model);
  if (verb == "close") Close(line.Db());
  if (verb == "kill") {
    while (!databases_.empty()) Close(std::string(databases_.begin()->first));
  }
  if (verb == "family") return Family(line);
  if (verb == "drop") return Drop(line);
  if (verb == "write") return Write(line);
  if (verb == "ingest") return Write(AsWrite(line, false));
  if (verb == "excise" || verb == "clip") {
    return Write(AsWrite(line, model.Find(line.Db(), line.Family())->reverse()));
  }
  if (verb == "get") return Get(line);
  if (verb == "multi") return Multi(line);
  if (verb == "scan") return Scan(line);
  if (verb == "prefix") return Prefix(line);
  if (verb == "compact" || verb == "suggest") return Compact(line);
  if (verb == "flush") return Flush(line);
  if (verb == "deletefiles") return DeleteFiles(line);
  if (verb == "iter") iterators_[line.Word(2)] = Hold(line);
  if (verb == "snap") {
    Database& database = *databases_.at(line.Db());
    database.snapshots[line.Word(2)] = library_->Call<Opaque*>("create_snapshot", database.db);
  }
  if (verb == "unsnap") {
    // RocksDB's iterators continue to use their snapshot, so all snapshots are released at the end.
    Database& database = *databases_.at(line.Db());
    database.retired.push_back(database.snapshots.at(line.Word(2)));
    database.snapshots.erase(line.Word(2));
  }
  if (verb == "enditer" || verb == "refresh") {
    Held& held = *iterators_.at(line.Word(1));
    library_->Call<void>("iter_destroy", held.it);
    if (verb == "enditer") {
      library_->Call<void>("readoptions_destroy", held.options);
      iterators_.erase(line.Word(1));
      return kDone;
    }
    Database& database = *databases_.at(held.db);
    const bool old = line.HasOption("snap");
    library_->Call<void>("readoptions_set_snapshot", held.options,
                         old ? database.snapshots.at(line.Option("snap")) : nullptr);
    held.it = library_->Call<Opaque*>("create_iterator_cf", database.db, held.options,
                                      database.handles.at(held.family));
    return kDone;
  }
  static const std::set<std::string> moves = {"first", "last", "seek", "seekback", "next", "prev"};
  return moves.count(verb) != 0 ? Move(line) : kDone;
}

}  // namespace varve::testing
