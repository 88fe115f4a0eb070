// SPDX-License-Identifier: Apache-2.0

// The commands `dump` and `load` write the contents of a database as text, and read them back.

#include <memory>
#include <string>

#include "varve/comparator.h"
#include "varve/db.h"
#include "varve/write_batch.h"

#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "tools/varve/dump_format.h"
#include "tools/varve/load_tables.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

constexpr char kNoFamily[] = "the dump has a put before any family";
constexpr size_t kLoadBatchBytes = size_t{1} << 20;

Status DumpFamily(const Database& database, ColumnFamilyHandle* family, uint64_t* puts,
                  Output* out) {
  if (family->GetComparator()->timestamp_size() != 0) {
    return Status::NotSupported("column family " + family->GetName(),
                                "its keys have timestamps, which a dump cannot hold");
  }
  AppendDumpFamily(family->GetName(), family->GetComparator()->Name(), out);
  NewestReads reads(family);
  reads.options.fill_cache = false;
  const std::unique_ptr<Iterator> it(database.db()->NewIterator(reads.options, family));
  for (it->SeekToFirst(); it->Valid() && !out->failed(); it->Next()) {
    AppendDumpPut(it->key().ToStringView(), it->value().ToStringView(), out);
    ++*puts;
  }
  return it->status();
}

// Reads the whole dump without a database, so that a damaged one changes nothing.
Status CheckDump(const std::string& path) {
  std::unique_ptr<DumpReader> reader;
  VARVE_RETURN_IF_ERROR(DumpReader::Open(path, &reader));
  VARVE_RETURN_IF_ERROR(reader->ReadHeader());
  bool has_family = false;
  for (DumpRecord record;;) {
    VARVE_RETURN_IF_ERROR(reader->Next(&record));
    if (record.kind == DumpRecord::Kind::kEnd) return Status::OK();
    has_family |= record.kind == DumpRecord::Kind::kFamily;
    if (!has_family) return Status::Corruption(path, kNoFamily);
  }
}

// Writes a dump to a database, in batches or as tables.
//
// Batches are written as they fill up, so that a failure leaves a part of the dump, of which the
// error says how much. Only the last one is synced, which makes those before it durable as well.
// Tables are added in one step at the end; families that were created for them are dropped again
// after a failure.
class Loader {
 public:
  // `tables` is null if batches are to be written, and outlives the loader.
  Loader(DB* db, const std::vector<ColumnFamilyHandle*>& families, TableLoader* tables)
      : db_(db), families_(families), tables_(tables) {}
  ~Loader() {
    for (ColumnFamilyHandle* one : created_) {
      static_cast<void>(db_->DestroyColumnFamilyHandle(one));  // A handle of this database.
    }
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  Status Load(DumpReader* reader);
  [[nodiscard]] uint64_t puts() const { return puts_; }
  // Drops the column families that the dump brought. For a load that failed.
  Status DropCreated();

 private:
  Status Put(const DumpRecord& record);
  Status Finish() { return tables_ != nullptr ? tables_->Finish() : WriteBatchNow(/*sync=*/true); }
  Status ChooseFamily(const std::string& name, const std::string& comparator);
  Status WriteBatchNow(bool sync);

  DB* const db_;
  const std::vector<ColumnFamilyHandle*>& families_;
  TableLoader* const tables_;
  std::vector<ColumnFamilyHandle*> created_;
  ColumnFamilyHandle* family_ = nullptr;
  WriteBatch batch_;
  uint64_t puts_ = 0;
};

Status Loader::Load(DumpReader* reader) {
  for (DumpRecord record;;) {
    VARVE_RETURN_IF_ERROR(reader->Next(&record));
    if (record.kind == DumpRecord::Kind::kEnd) return Finish();
    if (record.kind == DumpRecord::Kind::kFamily) {
      VARVE_RETURN_IF_ERROR(ChooseFamily(std::string(record.first), std::string(record.second)));
      if (tables_ != nullptr) VARVE_RETURN_IF_ERROR(tables_->BeginFamily(family_));
      continue;
    }
    if (family_ == nullptr) return Status::Corruption(kNoFamily);
    VARVE_RETURN_IF_ERROR(Put(record));
    puts_++;
  }
}

Status Loader::Put(const DumpRecord& record) {
  if (tables_ != nullptr) return tables_->Put(record.first, record.second);
  VARVE_RETURN_IF_ERROR(batch_.Put(family_, Slice(record.first), Slice(record.second)));
  return batch_.GetDataSize() >= kLoadBatchBytes ? WriteBatchNow(/*sync=*/false) : Status::OK();
}

Status Loader::ChooseFamily(const std::string& name, const std::string& comparator) {
  family_ = nullptr;
  for (ColumnFamilyHandle* one : families_) {
    if (one->GetName() == name) family_ = one;
  }
  if (family_ == nullptr) {
    const Comparator* order = BytewiseComparator();
    if (comparator == ReverseBytewiseComparator()->Name()) order = ReverseBytewiseComparator();
    ColumnFamilyOptions options;
    options.comparator = order;
    if (comparator != order->Name()) {
      return Status::NotSupported("column family " + name,
                                  "its comparator, " + comparator + ", is not known here");
    }
    VARVE_RETURN_IF_ERROR(db_->CreateColumnFamily(options, name, &family_));
    created_.push_back(family_);
  }
  if (comparator == family_->GetComparator()->Name()) return Status::OK();
  return Status::InvalidArgument("column family " + name,
                                 "has comparator " + std::string(family_->GetComparator()->Name()) +
                                     ", in the dump it is " + comparator);
}

Status Loader::DropCreated() {
  return created_.empty() ? Status::OK() : db_->DropColumnFamilies(created_);
}

Status Loader::WriteBatchNow(bool sync) {
  WriteOptions options;
  options.sync = sync;
  const Status s = db_->Write(options, &batch_);
  batch_.Clear();
  return s;
}

Status CreateDatabase(const std::string& path) {
  Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  std::unique_ptr<DB> db;
  VARVE_RETURN_IF_ERROR(DB::Open(options, path, &db));
  return db->Close();
}

}  // namespace

Status RunDump(const Request& request, Console* console) {
  std::unique_ptr<Database> database;
  VARVE_RETURN_IF_ERROR(Database::OpenForReading(request.db, "", &database));
  AppendDumpHeader(&console->out);
  uint64_t puts = 0;
  for (ColumnFamilyHandle* family : database->families()) {
    VARVE_RETURN_IF_ERROR(DumpFamily(*database, family, &puts, &console->out));
  }
  AppendDumpEnd(puts, &console->out);
  return Status::OK();
}

Status RunLoad(const Request& request, Console* console) {
  // The standard input can be read only once, so that a damaged dump is noticed there when a part
  // of it is loaded.
  if (request.target != "-") VARVE_RETURN_IF_ERROR(CheckDump(request.target));
  std::unique_ptr<DumpReader> reader;
  VARVE_RETURN_IF_ERROR(DumpReader::Open(request.target, &reader));
  VARVE_RETURN_IF_ERROR(reader->ReadHeader());
  if (request.create) VARVE_RETURN_IF_ERROR(CreateDatabase(request.db));
  std::unique_ptr<Database> database;
  VARVE_RETURN_IF_ERROR(Database::OpenForWriting(request.db, &database));
  uint64_t puts = 0;
  {
    // The inner scope ends before the database is closed: the loader gives back its handles, and
    // the directory of the tables is deleted.
    std::unique_ptr<TableLoader> tables;
    if (request.as_tables) tables = std::make_unique<TableLoader>(database->db(), request.db);
    Loader loader(database->db(), database->families(), tables.get());
    const Status s = loader.Load(reader.get());
    puts = loader.puts();
    if (!s.ok()) {
      if (request.as_tables) {
        const Status dropped = loader.DropCreated();
        if (dropped.ok()) return Status::CopyAppendMessage(s, "; nothing was loaded", "");
        return Status::CopyAppendMessage(s,
                                         "; empty column families are left: ", dropped.ToString());
      }
      return Status::CopyAppendMessage(
          s, "; loaded before: ", std::to_string(loader.puts()) + " puts or fewer");
    }
  }
  VARVE_RETURN_IF_ERROR(database->Close());
  Json json;
  json.BeginObject().Number("puts", puts).EndObject();
  if (console->json) {
    console->Line(&json);
  } else {
    console->Line("loaded " + std::to_string(puts) + " puts");
  }
  return Status::OK();
}

}  // namespace varve::tool
