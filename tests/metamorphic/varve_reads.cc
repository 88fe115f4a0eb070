// SPDX-License-Identifier: Apache-2.0
// Answers reads, in every way that they can be made.
#include <cstdlib>
#include <vector>

#include "tests/metamorphic/varve_executor.h"

namespace varve::testing {

namespace {

// "" as long as the iterator is well.
std::string Ailment(const Iterator& it) {
  return it.status().ok() ? "" : Failure("an iterator", it.status());
}

std::string Standing(const Iterator& it) {
  if (!it.status().ok()) return Ailment(it);
  return it.Valid() ? PairText(it.key(), it.value()) : kAbsent;
}

// Past what filters may have removed.
void Skip(Iterator* it, bool forward) {
  while (it->Valid() && IsRemovable(it->value())) forward ? it->Next() : it->Prev();
}

std::string GetText(const Status& s, const Slice& value) {
  if (s.IsNotFound()) return kAbsent;
  if (!s.ok()) return Failure("Get", s);
  return IsRemovable(value) ? kAbsent : "=" + Shown(value);
}

}  // namespace

void VarveExecutor::SetReadOptions(const Line& line, OpenDatabase* database, ReadOptions* options) {
  options->total_order_seek = line.Has("total");
  options->pin_data = line.Has("pin");
  options->async_io = line.Has("async");
  if (line.Has("readahead")) options->readahead_size = 4096;
  options->adaptive_readahead = line.Has("adaptive");
  options->auto_prefix_mode = line.Has("autoprefix");
  options->fill_cache = !line.Has("nofill");
  options->auto_readahead_size = !line.Has("noauto");
  options->verify_checksums = !line.Has("nocheck");
  options->tailing = line.Has("tailing");
  if (line.HasOption("snap")) options->snapshot = database->snapshots.at(line.Option("snap"));
  options->auto_refresh_iterator_with_snapshot =
      line.Has("autorefresh") && options->snapshot != nullptr;
}

std::string VarveExecutor::Get(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  ReadOptions options;
  SetReadOptions(line, &database, &options);
  const std::string stamp = TimestampBytes(line.Stamp());
  const Slice stamp_slice(stamp);
  if (line.HasTimestamp()) options.timestamp = &stamp_slice;
  const std::string key = BytesOf(line.Word(2));
  PinnableSlice value;
  const Status s = database.db->Get(options, Handle(line), key, &value);
  const std::string answer = GetText(s, value);
  std::string unused;
  // A compaction between the two calls can remove what the filter removes.
  if (answer != kAbsent && s.ok() &&
      !database.db->KeyMayExist(options, Handle(line), key, &unused)) {
    return "FAILS KeyMayExist denies a key";
  }
  return answer;
}

// The operands, merged here, are the value.
std::string VarveExecutor::Operands(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  ReadOptions options;
  SetReadOptions(line, &database, &options);
  const std::string stamp = TimestampBytes(line.Stamp());
  const Slice stamp_slice(stamp);
  if (line.HasTimestamp()) options.timestamp = &stamp_slice;
  const std::string key = BytesOf(line.Word(2));
  std::vector<PinnableSlice> operands(2);
  GetMergeOperandsOptions wanted;
  wanted.expected_max_number_of_operands = 2;
  int count = 0;
  Status s =
      database.db->GetMergeOperands(options, Handle(line), key, operands.data(), &wanted, &count);
  if (s.IsIncomplete()) {
    operands = std::vector<PinnableSlice>(static_cast<size_t>(count));
    wanted.expected_max_number_of_operands = count;
    s = database.db->GetMergeOperands(options, Handle(line), key, operands.data(), &wanted, &count);
  }
  std::string value;
  for (int i = 0; s.ok() && i < count; i++) {
    value = AppendOrReplace::Apply(value, operands[static_cast<size_t>(i)]);
  }
  return GetText(s, value);
}

std::string VarveExecutor::Multi(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  ReadOptions options;
  SetReadOptions(line, &database, &options);
  std::vector<ColumnFamilyHandle*> handles;
  std::vector<std::string> keys;
  for (size_t i = 2; i < line.words.size(); i++) {
    const size_t slash = line.words[i].find('/');
    if (slash == std::string::npos) continue;
    handles.push_back(database.handles.at(line.words[i].substr(0, slash)));
    keys.push_back(BytesOf(line.words[i].substr(slash + 1)));
  }
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  database.db->MultiGet(options, keys.size(), handles.data(), slices.data(), values.data(),
                        statuses.data(), /*sorted_input=*/false);
  std::string answer;
  for (size_t i = 0; i < keys.size(); i++) answer += GetText(statuses[i], values[i]) + " ";
  return answer;
}

std::unique_ptr<HeldIterator> VarveExecutor::OpenIterator(const Line& line) {
  OpenDatabase& database = At(line);
  auto held = std::make_unique<HeldIterator>();
  held->db = line.Db();
  held->family = line.Family();
  SetReadOptions(line, &database, &held->options);
  held->lower = BytesOf(line.Option("lower"));
  held->upper = BytesOf(line.Option("upper"));
  held->stamp = TimestampBytes(line.Stamp());
  held->lower_slice = held->lower;
  held->upper_slice = held->upper;
  held->stamp_slice = held->stamp;
  if (line.HasOption("lower")) held->options.iterate_lower_bound = &held->lower_slice;
  if (line.HasOption("upper")) held->options.iterate_upper_bound = &held->upper_slice;
  if (line.HasTimestamp()) held->options.timestamp = &held->stamp_slice;
  if (line.verb() == "prefix") held->options.prefix_same_as_start = line.Has("same");
  held->it.reset(database.db->NewIterator(held->options, Handle(line)));
  return held;
}

std::string VarveExecutor::Scan(const Line& line, const Model& /*model*/) {
  const std::unique_ptr<HeldIterator> held = OpenIterator(line);
  Iterator& it = *held->it;
  const bool back = line.Has("back");
  std::string answer;
  for (back ? it.SeekToLast() : it.SeekToFirst(); it.Valid(); back ? it.Prev() : it.Next()) {
    if (!IsRemovable(it.value())) answer += PairText(it.key(), it.value()) + " ";
  }
  return answer + Ailment(it);
}

std::string VarveExecutor::Prefix(const Line& line, const Model& /*model*/) {
  const std::unique_ptr<HeldIterator> held = OpenIterator(line);
  Iterator& it = *held->it;
  const std::string start = BytesOf(line.Word(2));
  const std::string prefix = start.substr(0, kPrefixBytes);
  std::string answer;
  for (it.Seek(start); it.Valid() && it.key().starts_with(prefix); it.Next()) {
    if (!IsRemovable(it.value())) answer += PairText(it.key(), it.value()) + " ";
  }
  return answer + Ailment(it);
}

std::string VarveExecutor::NewIterator(const Line& line, const Model& /*model*/) {
  world_.iterators()[line.Word(2)] = OpenIterator(line);
  return kDone;
}

std::string VarveExecutor::EndIterator(const Line& line, const Model& /*model*/) {
  world_.iterators().erase(line.Word(1));
  return kDone;
}

std::string VarveExecutor::Step(Iterator* it, const std::string& verb) {
  const bool forward = verb == "next";
  forward ? it->Next() : it->Prev();
  Skip(it, forward);
  return Standing(*it);
}

std::string VarveExecutor::Move(const Line& line, const Model& /*model*/) {
  Iterator& it = *world_.iterators().at(line.Word(1))->it;
  const std::string& verb = line.verb();
  if (verb == "next" || verb == "prev") {
    const uint64_t steps =
        line.words.size() > 2 ? std::strtoull(line.Word(2).c_str(), nullptr, 10) : 1;
    std::string answer;
    for (uint64_t i = 0; i < steps; i++) {
      answer += (it.Valid() ? Step(&it, verb) : Standing(it)) + " ";
    }
    return answer;
  }
  if (verb == "first") it.SeekToFirst();
  if (verb == "last") it.SeekToLast();
  if (verb == "seek") it.Seek(BytesOf(line.Word(2)));
  if (verb == "seekback") it.SeekForPrev(BytesOf(line.Word(2)));
  Skip(&it, verb == "first" || verb == "seek");
  return Standing(it);
}

std::string VarveExecutor::Refresh(const Line& line, const Model& /*model*/) {
  HeldIterator& held = *world_.iterators().at(line.Word(1));
  OpenDatabase& database = world_.At(held.db);
  const Snapshot* const snapshot =
      line.HasOption("snap") ? database.snapshots.at(line.Option("snap")) : nullptr;
  const Status s = held.it->Refresh(snapshot);
  return s.ok() ? kDone : Failure("Refresh", s);
}

}  // namespace varve::testing
