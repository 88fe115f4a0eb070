// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tests/differential/c_player.h"
#include "tests/differential/c_read_options.h"

namespace varve::testing {

rocksdb_writeoptions_t* CPlayer::WriteOptions(const std::string& how) const {
  rocksdb_writeoptions_t* const options = api_.writeoptions_create();
  constexpr unsigned char kYes = 1;
  if (how == "sync") api_.writeoptions_set_sync(options, kYes);
  if (how == "nowal") api_.writeoptions_disable_WAL(options, 1);
  if (how == "missing") api_.writeoptions_set_ignore_missing_column_families(options, kYes);
  return options;
}

// Returns the parts whose families exist.
std::vector<CPlayer::Part> CPlayer::PartsIn(const Line& line) const {
  std::vector<Part> parts;
  const std::vector<size_t> starts = PartStarts(line);
  for (size_t i = 0; i + 1 < starts.size(); i++) {
    const size_t at = starts[i];
    Part part;
    part.verb = line.Word(at);
    if (part.verb == "log") {
      part.value = ValueOf(line.Word(at + 1));
    } else if (part.verb != "save" && part.verb != "back" && part.verb != "pop") {
      part.family = Find(line.Word(at + 1));
      if (part.family == nullptr) continue;
      part.key = BytesOf(line.Word(at + 2));
      if (at + 3 < starts[i + 1] - 1) part.value = ValueOf(line.Word(at + 3));
    }
    parts.push_back(part);
  }
  return parts;
}

// ---- Single writes ----

std::string CPlayer::Single(const Line& line) {
  Handle const family = Find(line.Word(1));
  if (family == nullptr) return kNoAnswer;
  const std::string& verb = line.verb();
  const std::string key = BytesOf(line.Word(2));
  const std::string value = ValueOf(line.Word(3));
  rocksdb_writeoptions_t* const how = WriteOptions("");
  std::string answer = kNoAnswer;
  const auto keyed = [&](const auto& call, auto* db) {
    answer = Checked(call, db, how, family, key.data(), key.size());
  };
  const auto valued = [&](const auto& call, auto* db) {
    answer = Checked(call, db, how, family, key.data(), key.size(), value.data(), value.size());
  };
  if (txn_db_ != nullptr) {
    if (verb == "put") valued(api_.transactiondb_put_cf, txn_db_);
    if (verb == "del") keyed(api_.transactiondb_delete_cf, txn_db_);
    if (verb == "merge") valued(api_.transactiondb_merge_cf, txn_db_);
  } else {
    if (verb == "put") valued(api_.put_cf, db_);
    if (verb == "del") keyed(api_.delete_cf, db_);
    if (verb == "sdel") keyed(api_.singledelete_cf, db_);
    if (verb == "merge") valued(api_.merge_cf, db_);
    if (verb == "range") valued(api_.delete_range_cf, db_);
  }
  api_.writeoptions_destroy(how);
  return answer;
}

// ---- Batches ----

std::string CPlayer::Fill(const std::vector<Part>& parts, rocksdb_writebatch_t* batch) const {
  std::string answer;
  for (const Part& part : parts) {
    const std::string& key = part.key;
    const std::string& value = part.value;
    const auto keyed = [&](const auto& call) { call(batch, part.family, key.data(), key.size()); };
    const auto valued = [&](const auto& call) {
      call(batch, part.family, key.data(), key.size(), value.data(), value.size());
    };
    if (part.verb == "put") valued(api_.writebatch_put_cf);
    if (part.verb == "del") keyed(api_.writebatch_delete_cf);
    if (part.verb == "sdel") keyed(api_.writebatch_singledelete_cf);
    if (part.verb == "merge") valued(api_.writebatch_merge_cf);
    if (part.verb == "range") valued(api_.writebatch_delete_range_cf);
    if (part.verb == "log") api_.writebatch_put_log_data(batch, value.data(), value.size());
    if (part.verb == "save") api_.writebatch_set_save_point(batch);
    if (part.verb == "back") {
      answer += Checked(api_.writebatch_rollback_to_save_point, batch) + " ";
    }
    if (part.verb == "pop") answer += Checked(api_.writebatch_pop_save_point, batch) + " ";
  }
  size_t size = 0;
  const char* const data = api_.writebatch_data(batch, &size);
  return answer + std::to_string(api_.writebatch_count(batch)) + ":" +
         ShortWord(std::string(data, size)) + " ";
}

std::string CPlayer::Commit(rocksdb_writebatch_t* batch, const std::string& how) const {
  rocksdb_writeoptions_t* const options = WriteOptions(how);
  std::string answer = txn_db_ != nullptr
                           ? Checked(api_.transactiondb_write, txn_db_, options, batch)
                           : Checked(api_.write, db_, options, batch);
  api_.writeoptions_destroy(options);
  return answer;
}

std::string CPlayer::Write(const Line& line) {
  rocksdb_writebatch_t* const batch = api_.writebatch_create();
  std::string answer = Fill(PartsIn(line), batch);
  answer += Commit(batch, line.Word(1));
  api_.writebatch_destroy(batch);
  return answer;
}

// ---- Batches with an index ----

std::string CPlayer::MakeIndex(const Line& line) {
  if (indexes_.count(line.Word(1)) != 0) return kNoAnswer;
  const auto overwrites = static_cast<unsigned char>(line.Has("overwrite") ? 1 : 0);
  indexes_[line.Word(1)] = api_.writebatch_wi_create(size_t{0}, overwrites);
  return "ok";
}

std::string CPlayer::FillIndex(const Part& part, rocksdb_writebatch_wi_t* index) const {
  const std::string& key = part.key;
  const std::string& value = part.value;
  const auto keyed = [&](const auto& call) { call(index, part.family, key.data(), key.size()); };
  const auto valued = [&](const auto& call) {
    call(index, part.family, key.data(), key.size(), value.data(), value.size());
  };
  if (part.verb == "put") valued(api_.writebatch_wi_put_cf);
  if (part.verb == "del") keyed(api_.writebatch_wi_delete_cf);
  if (part.verb == "sdel") keyed(api_.writebatch_wi_singledelete_cf);
  if (part.verb == "merge") valued(api_.writebatch_wi_merge_cf);
  if (part.verb == "log") api_.writebatch_wi_put_log_data(index, value.data(), value.size());
  if (part.verb == "save") api_.writebatch_wi_set_save_point(index);
  if (part.verb == "back") return Checked(api_.writebatch_wi_rollback_to_save_point, index) + " ";
  return "";
}

std::string CPlayer::WriteIndex(const Line& line) {
  const auto index = indexes_.find(line.Word(1));
  if (index == indexes_.end()) return kNoAnswer;
  std::string answer;
  for (const Part& part : PartsIn(line)) answer += FillIndex(part, index->second);
  size_t size = 0;
  const char* const data = api_.writebatch_wi_data(index->second, &size);
  return answer + std::to_string(api_.writebatch_wi_count(index->second)) + ":" +
         ShortWord(std::string(data, size));
}

std::string CPlayer::GetIndexed(const Line& line) {
  const auto index = indexes_.find(line.Word(1));
  Handle const family = Find(line.Word(2));
  if (index == indexes_.end() || family == nullptr) return kNoAnswer;
  const std::string key = BytesOf(line.Word(3));
  if (line.verb() == "iget") {
    rocksdb_options_t* const options = OptionsOf(line.Word(2));
    std::string answer = Asked(api_.writebatch_wi_get_from_batch_cf, index->second, options, family,
                               key.data(), key.size());
    api_.options_destroy(options);
    return answer;
  }
  const CReadOptions options(&api_, line, nullptr);
  return Asked(api_.writebatch_wi_get_from_batch_and_db_cf, index->second, db_, options.get(),
               family, key.data(), key.size());
}

std::string CPlayer::ScanIndexed(const Line& line) {
  const auto index = indexes_.find(line.Word(1));
  Handle const family = Find(line.Word(2));
  if (index == indexes_.end() || family == nullptr) return kNoAnswer;
  const CReadOptions options(&api_, line, nullptr);
  rocksdb_iterator_t* const base = api_.create_iterator_cf(db_, options.get(), family);
  // The iterator owns the base.
  rocksdb_iterator_t* const both =
      api_.writebatch_wi_create_iterator_with_base_cf(index->second, base, family);
  std::string answer = ScanWith(both, line);
  api_.iter_destroy(both);
  return answer;
}

std::string CPlayer::CommitIndex(const Line& line) {
  const auto index = indexes_.find(line.Word(1));
  if (index == indexes_.end() || txn_db_ != nullptr) return kNoAnswer;
  rocksdb_writeoptions_t* const options = WriteOptions("");
  std::string answer = Checked(api_.write_writebatch_wi, db_, options, index->second);
  api_.writeoptions_destroy(options);
  return answer;
}

std::string CPlayer::EndIndex(const Line& line) {
  const auto index = indexes_.find(line.Word(1));
  if (index == indexes_.end()) return kNoAnswer;
  api_.writebatch_wi_destroy(index->second);
  indexes_.erase(index);
  return "ok";
}

}  // namespace varve::testing
