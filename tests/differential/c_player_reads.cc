// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tests/differential/c_player.h"
#include "tests/differential/c_read_options.h"

namespace varve::testing {

namespace {

constexpr size_t kMostShown = 500;

}  // namespace

// ---- Keys ----

std::string CPlayer::Get(const Line& line) {
  Handle const family = Find(line.Word(1));
  const auto snapshot = snapshots_.find(line.Option("snap"));
  if (family == nullptr) return kNoAnswer;
  const std::string key = BytesOf(line.Word(2));
  const CReadOptions options(&api_, line,
                             snapshot == snapshots_.end() ? nullptr : snapshot->second);
  if (line.verb() == "get") {
    return Asked(api_.get_cf, db_, options.get(), family, key.data(), key.size());
  }
  char* error = nullptr;
  rocksdb_pinnableslice_t* const pinned =
      api_.get_pinned_cf(db_, options.get(), family, key.data(), key.size(), &error);
  if (pinned == nullptr) return error == nullptr ? "none" : Told(error);
  size_t size = 0;
  const char* const data = api_.pinnableslice_value(pinned, &size);
  std::string answer = "=" + ShortWord(std::string(data, size));
  api_.pinnableslice_destroy(pinned);
  return answer;
}

// A key that exists must be reported; an absent one may be, too.
std::string CPlayer::May(const Line& line) {
  Handle const family = Find(line.Word(1));
  if (family == nullptr) return kNoAnswer;
  const std::string key = BytesOf(line.Word(2));
  const CReadOptions options(&api_, line, nullptr);
  const std::string found = Asked(api_.get_cf, db_, options.get(), family, key.data(), key.size());
  if (!found.starts_with("=")) return "any";
  char* value = nullptr;
  size_t size = 0;
  unsigned char has_value = 0;
  const char* const no_timestamp = nullptr;
  const unsigned char may =
      api_.key_may_exist_cf(db_, options.get(), family, key.data(), key.size(), &value, &size,
                            no_timestamp, size_t{0}, &has_value);
  if (may == 0) return "it is there, but may not be";
  const bool differs = has_value != 0 && "=" + ShortWord(std::string(value, size)) != found;
  api_.free(value);
  return differs ? "another value than Get's" : "may";
}

std::string CPlayer::Multi(const Line& line) {
  Handle const family = Find(line.Word(1));
  if (family == nullptr) return kNoAnswer;
  const auto snapshot = snapshots_.find(line.Option("snap"));
  const CReadOptions options(&api_, line,
                             snapshot == snapshots_.end() ? nullptr : snapshot->second);
  std::vector<std::string> keys;
  for (size_t i = 2; i < line.words.size(); i++) {
    const bool is_key = line.words[i].find('=') == std::string::npos && line.words[i] != "ignore";
    if (is_key) keys.push_back(BytesOf(line.words[i]));
  }
  std::vector<const char*> data;
  std::vector<size_t> sizes;
  for (const std::string& key : keys) {
    data.push_back(key.data());
    sizes.push_back(key.size());
  }
  const size_t n = keys.size();
  std::vector<char*> errors(n);
  std::string answer;
  if (line.verb() == "multi") {
    const std::vector<const rocksdb_column_family_handle_t*> families(n, family);
    std::vector<char*> values(n);
    std::vector<size_t> value_sizes(n);
    api_.multi_get_cf(db_, options.get(), families.data(), n, data.data(), sizes.data(),
                      values.data(), value_sizes.data(), errors.data());
    for (size_t i = 0; i < n; i++) answer += Found(values[i], value_sizes[i], errors[i]) + " ";
    return answer;
  }
  std::vector<rocksdb_pinnableslice_t*> values(n);
  api_.batched_multi_get_cf(db_, options.get(), family, n, data.data(), sizes.data(), values.data(),
                            errors.data(), false);
  for (size_t i = 0; i < n; i++) {
    size_t size = 0;
    const char* const value =
        values[i] == nullptr ? nullptr : api_.pinnableslice_value(values[i], &size);
    answer += value != nullptr       ? "=" + ShortWord(std::string(value, size))
              : errors[i] == nullptr ? "none"
                                     : Told(errors[i]);
    answer += " ";
    if (values[i] != nullptr) api_.pinnableslice_destroy(values[i]);
  }
  return answer;
}

// ---- Iterators ----

std::string CPlayer::Standing(rocksdb_iterator_t* it) const {
  if (api_.iter_valid(it) != 0) {
    size_t key_size = 0;
    size_t value_size = 0;
    const char* const key = api_.iter_key(it, &key_size);
    const char* const value = api_.iter_value(it, &value_size);
    return ShortWord(std::string(key, key_size)) + "=" + ShortWord(std::string(value, value_size));
  }
  return "end " + Checked(api_.iter_get_error, it);
}

std::string CPlayer::ScanWith(rocksdb_iterator_t* it, const Line& line) const {
  const bool back = line.Has("back");
  const std::string from = BytesOf(line.Option("from"));
  if (line.HasOption("from")) {
    if (back) api_.iter_seek_for_prev(it, from.data(), from.size());
    if (!back) api_.iter_seek(it, from.data(), from.size());
  } else if (back) {
    api_.iter_seek_to_last(it);
  } else {
    api_.iter_seek_to_first(it);
  }
  std::string answer;
  for (size_t i = 0; i < kMostShown; i++) {
    answer += Standing(it) + " ";
    if (api_.iter_valid(it) == 0) break;
    if (back) api_.iter_prev(it);
    if (!back) api_.iter_next(it);
  }
  return answer;
}

std::string CPlayer::Scan(const Line& line) {
  Handle const family = Find(line.Word(1));
  if (family == nullptr) return kNoAnswer;
  const auto snapshot = snapshots_.find(line.Option("snap"));
  const CReadOptions options(&api_, line,
                             snapshot == snapshots_.end() ? nullptr : snapshot->second);
  rocksdb_iterator_t* const it = api_.create_iterator_cf(db_, options.get(), family);
  std::string answer = ScanWith(it, line);
  api_.iter_destroy(it);
  return answer;
}

std::string CPlayer::NewIterator(const Line& line) {
  Handle const family = Find(line.Word(2));
  if (family == nullptr || iterators_.count(line.Word(1)) != 0) return kNoAnswer;
  const auto snapshot = snapshots_.find(line.Option("snap"));
  Iterator made;
  made.options =
      new CReadOptions(&api_, line, snapshot == snapshots_.end() ? nullptr : snapshot->second);
  made.it = api_.create_iterator_cf(db_, made.options->get(), family);
  iterators_[line.Word(1)] = made;
  return Standing(made.it);
}

std::string CPlayer::Move(const Line& line) {
  const auto found = iterators_.find(line.Word(1));
  if (found == iterators_.end()) return kNoAnswer;
  rocksdb_iterator_t* const it = found->second.it;
  const std::string& verb = line.verb();
  const std::string key = BytesOf(line.Word(2));
  // Both require a position.
  if ((verb == "next" || verb == "prev") && api_.iter_valid(it) == 0) return Standing(it);
  if (verb == "seek") api_.iter_seek(it, key.data(), key.size());
  if (verb == "seekback") api_.iter_seek_for_prev(it, key.data(), key.size());
  if (verb == "first") api_.iter_seek_to_first(it);
  if (verb == "last") api_.iter_seek_to_last(it);
  if (verb == "next") api_.iter_next(it);
  if (verb == "prev") api_.iter_prev(it);
  if (verb == "refresh") return Checked(api_.iter_refresh, it);
  return Standing(it);
}

std::string CPlayer::EndIterator(const Line& line) {
  const auto found = iterators_.find(line.Word(1));
  if (found == iterators_.end()) return kNoAnswer;
  api_.iter_destroy(found->second.it);
  delete found->second.options;
  iterators_.erase(found);
  return "ok";
}

}  // namespace varve::testing
