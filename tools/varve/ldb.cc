// SPDX-License-Identifier: Apache-2.0

// The program `ldb`: one command on a database, with the words and the text of RocksDB's tool.

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/utilities/backup_engine.h"
#include "varve/utilities/checkpoint.h"
#include "varve/write_batch.h"

#include "tools/varve/database.h"
#include "tools/varve/front_words.h"
#include "tools/varve/fronts.h"
#include "tools/varve/output.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

constexpr std::array<std::string_view, 12> kLdbFlags = {
    "db", "column_family", "hex",      "key_hex",           "value_hex",      "from",
    "to", "max_keys",      "no_value", "create_if_missing", "checkpoint_dir", "backup_dir"};
// These say what is so in any case, or have no effect on what is printed.
constexpr std::array<std::string_view, 4> kLdbIgnored = {
    "try_load_options", "ignore_unknown_options", "disable_consistency_checks", "num_threads"};

// Runs one command, which prints to out_.
class LdbRun {
 public:
  explicit LdbRun(const FrontWords& words)
      : words_(words),
        key_hex_(words.Has("hex") || words.Has("key_hex")),
        value_hex_(words.Has("hex") || words.Has("value_hex")) {}

  Status Run();
  Output& out() { return out_; }

 private:
  using Method = Status (LdbRun::*)();
  struct Row {
    std::string_view name;
    Method method;
    size_t words_min;  // Words after the command's name.
    size_t words_max;
    const char* usage;  // What must be specified.
  };
  static const Row kRows[];

  Status Get();
  Status Scan();
  Status Dump();
  Status Put();
  Status BatchPut();
  Status Delete();
  Status DeleteRange();
  Status ListFamilies();
  Status CreateFamily();
  Status DropFamily();
  Status GetProperty();
  Status CheckConsistency();
  Status ApproxSize();
  Status Compact();
  Status Repair();
  Status MakeCheckpoint();
  Status MakeBackup();
  Status RestoreBackup();

  [[nodiscard]] std::string Path() const { return words_.Value("db"); }
  [[nodiscard]] const std::string& Word(size_t index) const { return words_.words()[index + 1]; }
  [[nodiscard]] std::string Family() const {
    return words_.Has("column_family") ? words_.Value("column_family") : kDefaultColumnFamilyName;
  }
  Status Key(const std::string& text, std::string* bytes) const {
    return Bytes(text, key_hex_, bytes);
  }
  static Status Bytes(const std::string& text, bool hex, std::string* bytes);
  static std::string Shown(const Slice& bytes, bool hex) {
    return hex ? FrontHex(bytes.ToStringView()) : bytes.ToString();
  }
  Status OpenToRead(ColumnFamilyHandle** family);
  Status OpenToWrite(ColumnFamilyHandle** family);
  Status Bounds();
  Status Walk(const char* between, uint64_t* count);
  Status WriteAll(WriteBatch* batch);
  Status Ok() {
    out_.Append("OK\n");
    return Status::OK();
  }

  const FrontWords& words_;
  const bool key_hex_;
  const bool value_hex_;
  Output out_{1};
  std::unique_ptr<Database> database_;
  std::string from_;
  std::string to_;
  Slice from_slice_;
  Slice to_slice_;
};

const LdbRun::Row LdbRun::kRows[] = {
    {"get", &LdbRun::Get, 1, 1, "<key>"},
    {"scan", &LdbRun::Scan, 0, 0, ""},
    {"dump", &LdbRun::Dump, 0, 0, ""},
    {"put", &LdbRun::Put, 2, 2, "<key> and <value>"},
    {"batchput", &LdbRun::BatchPut, 2, SIZE_MAX, "At least one <key> <value> pair"},
    {"delete", &LdbRun::Delete, 1, 1, "KEY"},
    {"deleterange", &LdbRun::DeleteRange, 2, 2, "begin and end keys"},
    {"list_column_families", &LdbRun::ListFamilies, 0, 0, ""},
    {"create_column_family", &LdbRun::CreateFamily, 1, 1, "new column family name"},
    {"drop_column_family", &LdbRun::DropFamily, 1, 1, "column family name"},
    {"get_property", &LdbRun::GetProperty, 1, 1, "property name"},
    {"checkconsistency", &LdbRun::CheckConsistency, 0, 0, ""},
    {"approxsize", &LdbRun::ApproxSize, 0, 0, ""},
    {"compact", &LdbRun::Compact, 0, 0, ""},
    {"repair", &LdbRun::Repair, 0, 0, ""},
    {"checkpoint", &LdbRun::MakeCheckpoint, 0, 0, ""},
    {"backup", &LdbRun::MakeBackup, 0, 0, ""},
    {"restore", &LdbRun::RestoreBackup, 0, 0, ""},
};

Status LdbRun::Run() {
  VARVE_RETURN_IF_ERROR(words_.CheckFlags(kLdbFlags, kLdbIgnored));
  if (words_.words().empty()) return Status::InvalidArgument("Command not specified!");
  const std::string& name = words_.words()[0];
  const auto* const row = std::ranges::find(kRows, name, &Row::name);
  if (row == std::end(kRows)) return Status::InvalidArgument("Unknown command " + name);
  const size_t given = words_.words().size() - 1;
  if (given < row->words_min || given > row->words_max) {
    return Status::InvalidArgument(std::string(row->usage) + " must be specified for the " + name +
                                   " command");
  }
  if (Path().empty()) return Status::InvalidArgument("--db must be specified");
  return (this->*row->method)();
}

Status LdbRun::Bytes(const std::string& text, bool hex, std::string* bytes) {
  if (hex) return ParseFrontHex(text, bytes);
  *bytes = text;
  return Status::OK();
}

Status LdbRun::OpenToRead(ColumnFamilyHandle** family) {
  VARVE_RETURN_IF_ERROR(Database::OpenForReading(Path(), Family(), &database_));
  return database_->Find(Family(), family);
}

// Creation is a step of its own, since an opening uses the stored options, of which a new database
// has none before. A damaged database is never created anew: CheckIsDatabase calls that Corruption
// and not NotFound.
Status LdbRun::OpenToWrite(ColumnFamilyHandle** family) {
  if (words_.Has("create_if_missing") && CheckIsDatabase(Path()).IsNotFound()) {
    Options options;
    options.create_if_missing = true;
    std::unique_ptr<DB> db;
    VARVE_RETURN_IF_ERROR(DB::Open(options, Path(), &db));
    VARVE_RETURN_IF_ERROR(db->Close());
  }
  VARVE_RETURN_IF_ERROR(Database::OpenForWriting(Path(), &database_));
  return database_->Find(Family(), family);
}

Status LdbRun::Get() {
  ColumnFamilyHandle* family = nullptr;
  std::string key;
  VARVE_RETURN_IF_ERROR(Key(Word(0), &key));
  VARVE_RETURN_IF_ERROR(OpenToRead(&family));
  const NewestReads reads(family);
  std::string value;
  const Status s = database_->db()->Get(reads.options, family, key, &value);
  if (!s.ok()) return Status::CopyAppendMessage(s, "Get failed", "");
  out_.Append(Shown(value, value_hex_) + "\n");
  return Status::OK();
}

Status LdbRun::Bounds() {
  if (words_.Has("from")) VARVE_RETURN_IF_ERROR(Key(words_.Value("from"), &from_));
  if (words_.Has("to")) VARVE_RETURN_IF_ERROR(Key(words_.Value("to"), &to_));
  from_slice_ = from_;
  to_slice_ = to_;
  return Status::OK();
}

// Prints the entries within the bounds, and counts them.
Status LdbRun::Walk(const char* between, uint64_t* count) {
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(Bounds());
  int64_t left = -1;  // Never becomes 0 by counting down: no limit.
  const std::string most = words_.Value("max_keys");
  const auto [end, error] = std::from_chars(most.data(), most.data() + most.size(), left);
  if (words_.Has("max_keys") && (error != std::errc() || end != most.data() + most.size())) {
    return Status::InvalidArgument("max_keys has an invalid value");
  }
  VARVE_RETURN_IF_ERROR(OpenToRead(&family));
  NewestReads reads(family);
  if (words_.Has("from")) reads.options.iterate_lower_bound = &from_slice_;
  if (words_.Has("to")) reads.options.iterate_upper_bound = &to_slice_;
  const std::unique_ptr<Iterator> it(database_->db()->NewIterator(reads.options, family));
  for (it->SeekToFirst(); it->Valid() && left != 0 && !out_.failed(); it->Next(), left--) {
    ++*count;
    out_.Append(Shown(it->key(), key_hex_));
    if (!words_.Has("no_value")) out_.Append(between + Shown(it->value(), value_hex_));
    out_.Append('\n');
  }
  return it->status();
}

Status LdbRun::Scan() {
  uint64_t count = 0;
  return Walk(" : ", &count);
}

Status LdbRun::Dump() {
  uint64_t count = 0;
  VARVE_RETURN_IF_ERROR(Walk(" ==> ", &count));
  out_.Append("Keys in range: " + std::to_string(count) + "\n");
  return Status::OK();
}

// "OK" is printed after the database was closed without an error, and not before.
Status LdbRun::WriteAll(WriteBatch* batch) {
  VARVE_RETURN_IF_ERROR(database_->db()->Write(WriteOptions(), batch));
  VARVE_RETURN_IF_ERROR(database_->Close());
  return Ok();
}

Status LdbRun::Put() {
  return BatchPut();
}

Status LdbRun::BatchPut() {
  const size_t given = words_.words().size() - 1;
  if (given % 2 != 0) {
    return Status::InvalidArgument(
        "Equal number of <key>s and <value>s must be specified for "
        "batchput");
  }
  std::vector<std::string> bytes(given);
  for (size_t i = 0; i < given; i++) {
    VARVE_RETURN_IF_ERROR(Bytes(Word(i), i % 2 == 0 ? key_hex_ : value_hex_, &bytes[i]));
  }
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(OpenToWrite(&family));
  WriteBatch batch;
  for (size_t i = 0; i < given; i += 2) {
    VARVE_RETURN_IF_ERROR(batch.Put(family, bytes[i], bytes[i + 1]));
  }
  return WriteAll(&batch);
}

Status LdbRun::Delete() {
  std::string key;
  VARVE_RETURN_IF_ERROR(Key(Word(0), &key));
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(OpenToWrite(&family));
  WriteBatch batch;
  VARVE_RETURN_IF_ERROR(batch.Delete(family, key));
  return WriteAll(&batch);
}

Status LdbRun::DeleteRange() {
  std::string begin;
  std::string end;
  VARVE_RETURN_IF_ERROR(Key(Word(0), &begin));
  VARVE_RETURN_IF_ERROR(Key(Word(1), &end));
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(OpenToWrite(&family));
  WriteBatch batch;
  VARVE_RETURN_IF_ERROR(batch.DeleteRange(family, begin, end));
  return WriteAll(&batch);
}

Status LdbRun::ListFamilies() {
  std::vector<std::string> names;
  VARVE_RETURN_IF_ERROR(DB::ListColumnFamilies(DBOptions(), Path(), &names));
  out_.Append("Column families in " + Path() + ": \n{");
  for (size_t i = 0; i < names.size(); i++) out_.Append((i == 0 ? "" : ", ") + names[i]);
  out_.Append("}\n");
  return Status::OK();
}

Status LdbRun::CreateFamily() {
  VARVE_RETURN_IF_ERROR(Database::OpenForWriting(Path(), &database_));
  ColumnFamilyHandle* made = nullptr;
  VARVE_RETURN_IF_ERROR(database_->db()->CreateColumnFamily(ColumnFamilyOptions(), Word(0), &made));
  VARVE_RETURN_IF_ERROR(database_->db()->DestroyColumnFamilyHandle(made));
  VARVE_RETURN_IF_ERROR(database_->Close());
  return Ok();
}

Status LdbRun::DropFamily() {
  VARVE_RETURN_IF_ERROR(Database::OpenForWriting(Path(), &database_));
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(database_->Find(Word(0), &family));
  VARVE_RETURN_IF_ERROR(database_->db()->DropColumnFamily(family));
  VARVE_RETURN_IF_ERROR(database_->Close());
  return Ok();
}

Status LdbRun::GetProperty() {
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(OpenToRead(&family));
  std::map<std::string, std::string> rows;
  std::string value;
  if (database_->db()->GetMapProperty(family, Word(0), &rows)) {
    for (const auto& [name, text] : rows) out_.Append(Word(0) + "." + name + ": " + text + "\n");
  } else if (database_->db()->GetProperty(family, Word(0), &value)) {
    out_.Append(Word(0) + ": " + value + "\n");
  } else {
    return Status::InvalidArgument("failed to get property: " + Word(0));
  }
  return Status::OK();
}

// The opening is the check: it fails if a table is missing or has another size than the MANIFEST
// says.
Status LdbRun::CheckConsistency() {
  VARVE_RETURN_IF_ERROR(Database::OpenForReading(Path(), "", &database_));
  return Ok();
}

Status LdbRun::ApproxSize() {
  VARVE_RETURN_IF_ERROR(Bounds());
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(OpenToRead(&family));
  // A range needs an end: without --to, keys that begin with byte 0xff do not count.
  const Range range(from_slice_, words_.Has("to") ? to_slice_ : Slice("\xff"));
  uint64_t bytes = 0;
  VARVE_RETURN_IF_ERROR(
      database_->db()->GetApproximateSizes(SizeApproximationOptions(), family, &range, 1, &bytes));
  out_.Append(std::to_string(bytes) + "\n");
  return Status::OK();
}

Status LdbRun::Compact() {
  VARVE_RETURN_IF_ERROR(Bounds());
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(OpenToWrite(&family));
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  VARVE_RETURN_IF_ERROR(database_->db()->CompactRange(options, family,
                                                      words_.Has("from") ? &from_slice_ : nullptr,
                                                      words_.Has("to") ? &to_slice_ : nullptr));
  return database_->Close();
}

Status LdbRun::Repair() {
  VARVE_RETURN_IF_ERROR(RepairDB(Path(), Options()));
  return Ok();
}

Status LdbRun::MakeCheckpoint() {
  if (!words_.Has("checkpoint_dir")) {
    return Status::InvalidArgument("--checkpoint_dir must be specified for the checkpoint command");
  }
  VARVE_RETURN_IF_ERROR(Database::OpenForWriting(Path(), &database_));
  Checkpoint* made = nullptr;
  VARVE_RETURN_IF_ERROR(Checkpoint::Create(database_->db(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  VARVE_RETURN_IF_ERROR(checkpoint->CreateCheckpoint(words_.Value("checkpoint_dir")));
  return Ok();
}

Status LdbRun::MakeBackup() {
  if (!words_.Has("backup_dir"))
    return Status::InvalidArgument("--backup_dir: missing backup directory");
  VARVE_RETURN_IF_ERROR(Database::OpenForWriting(Path(), &database_));
  out_.Append("open db OK\n");
  BackupEngine* opened = nullptr;
  VARVE_RETURN_IF_ERROR(
      BackupEngine::Open(BackupEngineOptions(words_.Value("backup_dir")), Env::Default(), &opened));
  const std::unique_ptr<BackupEngine> engine(opened);
  out_.Append("open backup engine OK\n");
  VARVE_RETURN_IF_ERROR(engine->CreateNewBackup(database_->db()));
  out_.Append("create new backup OK\n");
  return Status::OK();
}

Status LdbRun::RestoreBackup() {
  if (!words_.Has("backup_dir"))
    return Status::InvalidArgument("--backup_dir: missing backup directory");
  BackupEngineReadOnly* opened = nullptr;
  VARVE_RETURN_IF_ERROR(BackupEngineReadOnly::Open(BackupEngineOptions(words_.Value("backup_dir")),
                                                   Env::Default(), &opened));
  const std::unique_ptr<BackupEngineReadOnly> engine(opened);
  out_.Append("open restore engine OK\n");
  VARVE_RETURN_IF_ERROR(engine->RestoreDBFromLatestBackup(Path(), Path()));
  out_.Append("restore from backup OK\n");
  return Status::OK();
}

}  // namespace

int RunLdb(int argc, const char* const* argv) {
  const FrontWords words(argc, argv);
  if (words.Has("version")) {
    std::puts("ldb from Varve");
    return 0;
  }
  LdbRun run(words);
  const Status s = run.Run();
  run.out().Flush();
  // EPIPE is no failure: a reader that has gone away, such as `head`, has seen what it wanted.
  if (s.ok()) return run.out().failed() && run.out().error() != EPIPE ? 1 : 0;
  // Errors of the words are RocksDB's, without the name of a status before them.
  const std::string text =
      s.IsInvalidArgument() && s.getState() != nullptr ? s.getState() : s.ToString();
  std::fprintf(stderr, "Failed: %s\n", text.c_str());
  return 1;
}

}  // namespace varve::tool
