// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/varve_executor.h"

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "varve/write_batch.h"

namespace varve::testing {

namespace {

WideColumns ColumnsOf(const Change& change) {
  return {{kDefaultWideColumnName, change.value}, {"key", change.key}};
}

Status AddTo(WriteBatch* batch, ColumnFamilyHandle* handle, const Change& change,
             const std::string& stamp) {
  switch (change.kind) {
    case Change::kPut:
      if (stamp.empty() && WritesEntity(change)) {
        return batch->PutEntity(handle, change.key, ColumnsOf(change));
      }
      return stamp.empty() ? batch->Put(handle, change.key, change.value)
                           : batch->Put(handle, change.key, stamp, change.value);
    case Change::kDelete:
      return stamp.empty() ? batch->Delete(handle, change.key)
                           : batch->Delete(handle, change.key, stamp);
    case Change::kSingleDelete:
      return stamp.empty() ? batch->SingleDelete(handle, change.key)
                           : batch->SingleDelete(handle, change.key, stamp);
    case Change::kMerge:
      return stamp.empty() ? batch->Merge(handle, change.key, change.value)
                           : batch->Merge(handle, change.key, stamp, change.value);
    case Change::kDeleteRange:
      return stamp.empty() ? batch->DeleteRange(handle, change.key, change.value)
                           : batch->DeleteRange(handle, change.key, change.value, stamp);
  }
  return Status::OK();
}

}  // namespace

const std::map<std::string, VarveExecutor::Act>& VarveExecutor::Acts() {
  static const std::map<std::string, Act> acts = {{"open", &VarveExecutor::Open},
                                                  {"close", &VarveExecutor::Close},
                                                  {"kill", &VarveExecutor::Kill},
                                                  {"family", &VarveExecutor::Family},
                                                  {"drop", &VarveExecutor::Drop},
                                                  {"write", &VarveExecutor::Write},
                                                  {"snap", &VarveExecutor::Snap},
                                                  {"unsnap", &VarveExecutor::Unsnap},
                                                  {"get", &VarveExecutor::Get},
                                                  {"multi", &VarveExecutor::Multi},
                                                  {"scan", &VarveExecutor::Scan},
                                                  {"prefix", &VarveExecutor::Prefix},
                                                  {"iter", &VarveExecutor::NewIterator},
                                                  {"enditer", &VarveExecutor::EndIterator},
                                                  {"first", &VarveExecutor::Move},
                                                  {"last", &VarveExecutor::Move},
                                                  {"seek", &VarveExecutor::Move},
                                                  {"seekback", &VarveExecutor::Move},
                                                  {"next", &VarveExecutor::Move},
                                                  {"prev", &VarveExecutor::Move},
                                                  {"refresh", &VarveExecutor::Refresh},
                                                  {"flush", &VarveExecutor::Flush},
                                                  {"compact", &VarveExecutor::Compact},
                                                  {"files", &VarveExecutor::CompactSomeFiles},
                                                  {"suggest", &VarveExecutor::Suggest},
                                                  {"deletefiles", &VarveExecutor::DeleteFiles},
                                                  {"raise", &VarveExecutor::Raise},
                                                  {"pause", &VarveExecutor::Pause},
                                                  {"continue", &VarveExecutor::ContinueWork},
                                                  {"manual", &VarveExecutor::Manual},
                                                  {"set", &VarveExecutor::Set},
                                                  {"setdb", &VarveExecutor::SetDb},
                                                  {"sync", &VarveExecutor::Sync},
                                                  {"wait", &VarveExecutor::Wait},
                                                  {"ask", &VarveExecutor::Ask},
                                                  {"verify", &VarveExecutor::Verify},
                                                  {"hold", &VarveExecutor::Hold},
                                                  {"release", &VarveExecutor::Release},
                                                  {"lock", &VarveExecutor::Lock},
                                                  {"live", &VarveExecutor::Live},
                                                  {"peek", &VarveExecutor::Peek},
                                                  {"ingest", &VarveExecutor::Ingest},
                                                  {"excise", &VarveExecutor::Excise},
                                                  {"clip", &VarveExecutor::Excise},
                                                  {"checkpoint", &VarveExecutor::Checkpoint},
                                                  {"backup", &VarveExecutor::Backup},
                                                  {"export", &VarveExecutor::Export},
                                                  {"secondary", &VarveExecutor::Secondary},
                                                  {"stream", &VarveExecutor::Stream},
                                                  {"streamed", &VarveExecutor::Stream},
                                                  {"repair", &VarveExecutor::Repair},
                                                  {"operands", &VarveExecutor::Operands},
                                                  {"settle", &VarveExecutor::Settle}};
  return acts;
}

std::string VarveExecutor::Do(const Line& line, const Model& model) {
  return (this->*Acts().at(line.verb()))(line, model);
}

Random VarveExecutor::Draw(const Line& line) const {
  return Random(set_ ^ std::hash<std::string>()(line.Text()));
}

std::string VarveExecutor::Run(const Line& line, std::function<std::string()> work) {
  OpenDatabase& database = At(line);
  database.Continue();
  std::string failure = database.Join();
  if (!failure.empty()) return failure;
  if (!line.Has("later")) {
    failure = work();
    return failure.empty() ? kDone : failure;
  }
  database.later =
      std::thread([&database, work = std::move(work)] { database.later_error = work(); });
  return kDone;
}

std::string VarveExecutor::Open(const Line& line, const Model& model) {
  return world_.Open(line, model);
}

std::string VarveExecutor::Close(const Line& line, const Model& /*model*/) {
  return world_.Close(line.Db(), Draw(line).OneIn(2));
}

std::string VarveExecutor::Kill(const Line& /*line*/, const Model& model) {
  return world_.Kill(model);
}

std::string VarveExecutor::Family(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  const FamilyModel family(line.Family(), line);
  ColumnFamilyHandle* handle = nullptr;
  const Status s = database.db->CreateColumnFamily(
      Setup::FamilyOptions(database.set, family.order(), line.Family(), family.filtered()),
      line.Family(), &handle);
  if (!s.ok()) return Failure("CreateColumnFamily", s);
  database.handles[line.Family()] = handle;
  if (!family.has_timestamps()) database.survivors.NoteFamily(line.Family(), family.order());
  return kDone;
}

std::string VarveExecutor::Drop(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  std::string failure = database.Join();
  std::erase_if(world_.iterators(), [&](const auto& one) {
    return one.second->db == line.Db() && one.second->family == line.Family();
  });
  Status s = database.db->DropColumnFamily(Handle(line));
  if (!s.ok()) return failure + Failure("DropColumnFamily", s);
  s = database.db->DestroyColumnFamilyHandle(Handle(line));
  if (!s.ok()) return failure + Failure("DestroyColumnFamilyHandle", s);
  database.handles.erase(line.Family());
  database.survivors.NoteDrop(line.Family());
  return failure.empty() ? kDone : failure;
}

Status VarveExecutor::Alone(OpenDatabase* database, const WriteOptions& options,
                            const Change& change, const std::string& stamp) {
  DB& db = *database->db;
  ColumnFamilyHandle* const handle = database->handles.at(change.family);
  switch (change.kind) {
    case Change::kPut:
      if (stamp.empty() && WritesEntity(change)) {
        return db.PutEntity(options, handle, change.key, ColumnsOf(change));
      }
      return stamp.empty() ? db.Put(options, handle, change.key, change.value)
                           : db.Put(options, handle, change.key, stamp, change.value);
    case Change::kDelete:
      return stamp.empty() ? db.Delete(options, handle, change.key)
                           : db.Delete(options, handle, change.key, stamp);
    case Change::kSingleDelete:
      return stamp.empty() ? db.SingleDelete(options, handle, change.key)
                           : db.SingleDelete(options, handle, change.key, stamp);
    case Change::kMerge:
      return stamp.empty() ? db.Merge(options, handle, change.key, change.value)
                           : db.Merge(options, handle, change.key, stamp, change.value);
    case Change::kDeleteRange:
      return stamp.empty() ? db.DeleteRange(options, handle, change.key, change.value)
                           : db.DeleteRange(options, handle, change.key, change.value, stamp);
  }
  return Status::OK();
}

Status VarveExecutor::Submit(OpenDatabase* database, const WriteOptions& options, const Line& line,
                             bool as_batch) {
  const std::vector<Change> changes = ChangesOf(line);
  const std::string stamp = TimestampBytes(line.Stamp());
  if (changes.size() == 1 && !as_batch) {
    return Alone(database, options, changes[0], HasTimestamps(changes[0].family) ? stamp : "");
  }
  WriteBatch batch;
  for (const Change& change : changes) {
    const Status s = AddTo(&batch, database->handles.at(change.family), change,
                           HasTimestamps(change.family) ? stamp : "");
    if (!s.ok()) return s;
  }
  if (changes.empty()) batch.PutLogData("note").PermitUncheckedError();
  return database->db->Write(options, &batch);
}

std::string VarveExecutor::Write(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  Random random = Draw(line);
  WriteOptions options = database.set.mode->DrawWriteOptions(&random);
  options.sync |= !options.disableWAL && random.OneIn(30);
  if (options.disableWAL) database.replica.NoteNotLogged();
  // While background work is paused, a write must not wait for it.
  options.no_slowdown |= database.pauses > 0;
  const bool as_batch = random.OneIn(2);
  Status s = Submit(&database, options, line, as_batch);
  for (int i = 0; s.IsIncomplete() && options.no_slowdown && i < 20000; i++) {
    database.Continue();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    s = Submit(&database, options, line, as_batch);
  }
  if (!s.ok()) return Failure("Write", s);
  database.survivors.NoteWrite(ChangesOf(line));
  return kDone;
}

std::string VarveExecutor::Snap(const Line& line, const Model& /*model*/) {
  const Snapshot* const snapshot = At(line).db->GetSnapshot();
  if (snapshot == nullptr) return "FAILS GetSnapshot: null";
  At(line).snapshots[line.Word(2)] = snapshot;
  return kDone;
}

std::string VarveExecutor::Unsnap(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  database.db->ReleaseSnapshot(database.snapshots.at(line.Word(2)));
  database.snapshots.erase(line.Word(2));
  return kDone;
}

}  // namespace varve::testing
