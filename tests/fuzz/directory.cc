// SPDX-License-Identifier: Apache-2.0

// Fuzzes whole directories, as a list of names and contents: opening one refuses it, or gives a
// database that can be read by every way, verified, compacted and closed.

#include <map>
#include <memory>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/table.h"

#include "tests/fuzz/memory_database.h"
#include "tests/fuzz/sealing.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

// First byte: bit 0: checksums stay as they are; bits 1 and 2: recovery mode; bit 3: read-only;
// bit 4: best_efforts_recovery. Then files: a name after one byte of length, contents after two.
std::string Pack(const std::map<std::string, std::string>& files) {
  std::string packed(1, '\4');
  for (const auto& [name, bytes] : files) {
    if (name == "LOCK" || name.starts_with("OPTIONS")) continue;
    packed += ShortText(name) + LongText(bytes);
  }
  return packed;
}

void Fill(DB* db, bool many) {
  for (int i = 0; i < (many ? 30 : 6); i++) {
    const std::string key = "key" + std::to_string(i);
    Promise(db->Put(WriteOptions(), key, std::string(static_cast<size_t>(i), 'v')).ok(), "Put");
    if (many && i % 10 == 9) Promise(db->Flush(FlushOptions()).ok(), "Flush");
  }
  Promise(db->Delete(WriteOptions(), "key1").ok(), "Delete");
  Promise(db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "key2", "key4").ok(),
          "DeleteRange");
}

void MakeSeeds(Seeds* seeds) {
  for (const bool many : {false, true}) {
    MemoryDatabase database;
    Promise(database.Open(MemoryDatabase::SmallOptions()).ok(), "a new database opens");
    Fill(database.db(), many);
    // The first seed is like after a kill, with the log pending, the second like after a clean
    // close.
    seeds->push_back(Pack(database.Files()));
    database.Close();
    seeds->push_back(Pack(database.Files()));
    seeds->push_back(seeds->back());
    seeds->back()[0] |= 16;
  }
}

void SealFile(const std::string& name, std::string* bytes) {
  if (name.ends_with(".sst") || name.ends_with(".ldb")) SealTable(bytes);
  if (name.ends_with(".log") || name.starts_with("MANIFEST-")) SealLog(bytes);
}

void Read(DB* db) {
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  uint64_t forward = 0;
  uint64_t backward = 0;
  for (it->SeekToFirst(); it->Valid() && forward < 5000; it->Next()) forward++;
  const Status there = it->status();
  for (it->SeekToLast(); it->Valid() && backward < 5000; it->Prev()) backward++;
  Note(there);
  Note(forward);
  std::string value;
  for (const char* key : {"key0", "key7", "key29", "absent"}) {
    Note(db->Get(ReadOptions(), key, &value));
  }
  Note(db->VerifyChecksum());
}

void Use(MemoryDatabase* database) {
  Read(database->db());
  Note(database->db()->Put(WriteOptions(), "new", "value"));
  Note(database->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Read(database->db());
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const uint32_t bits = input.Byte();
  fuzz::MemoryDatabase database;
  for (int files = 0; files < 40 && !input.empty(); files++) {
    const std::string name = input.Short().ToString();
    std::string bytes = input.Long().ToString();
    if ((bits & 1) == 0) fuzz::SealFile(name, &bytes);
    database.AddFile(name, bytes);
  }
  varve::Options options = fuzz::MemoryDatabase::SmallOptions();
  options.wal_recovery_mode = static_cast<varve::WALRecoveryMode>((bits >> 1) & 3);
  options.best_efforts_recovery = (bits & 16) != 0;
  const bool read_only = (bits & 8) != 0;
  const varve::Status s = read_only ? database.OpenReadOnly(options) : database.Open(options);
  fuzz::Note(s);
  if (!s.ok()) return 0;
  if (read_only) {
    fuzz::Read(database.db());
  } else {
    fuzz::Use(&database);
  }
  database.Close();
  return 0;
}

static const varve::fuzz::Register registered({"directory", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 60});
