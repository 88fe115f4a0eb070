// SPDX-License-Identifier: Apache-2.0

// Fuzzes foreign tables with right checksums: the inspection of any of them returns; a table that
// passes has the reported entries, in order, and each of them is found.

#include "table/inspect/inspect_table.h"
#include "tests/fuzz/sealing.h"
#include "tests/fuzz/target.h"
#include "tests/table/table_file.h"
#include "util/env/mem_file_system.h"

namespace varve::fuzz {
namespace {

constexpr char kPath[] = "/table.sst";
using Writer = InspectOptions::Writer;

BlockTableBuildOptions SeedOptions(uint32_t version, bool by_program) {
  BlockTableBuildOptions options;
  options.icmp = &test::Bytewise();
  options.table.format_version = version;
  options.table.checksum = kXXH3;
  options.table.block_size = 100;
  options.file_number = 1;
  options.db_id = "SST Writer";
  options.db_session_id = "ABCDEFGHIJKLM1234567";
  if (by_program) {
    options.added_properties["rocksdb.external_sst_file.version"] = std::string("\2\0\0\0", 4);
    options.added_properties["rocksdb.external_sst_file.global_seqno"] = std::string(8, '\0');
  }
  return options;
}

void AddSeed(const BlockTableBuildOptions& options, bool by_program, Seeds* seeds) {
  test::BuiltTable table(options);
  if (!table.create_status.ok()) return;
  constexpr ValueType kTypes[] = {kTypeValue, kTypeMerge, kTypeDeletion, kTypeValue};
  for (uint64_t i = 0; i < 24; i++) {
    const uint64_t seq = by_program ? 0 : 100 + i;
    table.builder->Add(test::IKey("key" + std::to_string(100 + i), seq, kTypes[i % 4]),
                       i % 4 == 2 ? "" : "value");
  }
  table.builder->AddTombstone(test::IKey("key103", by_program ? 0 : 90, kTypeRangeDeletion),
                              "key107");
  if (!table.Finish().ok()) return;
  const char bits = by_program ? '\x02' : '\x12';
  seeds->push_back(std::string(1, bits) + table.file);
}

void MakeSeeds(Seeds* seeds) {
  for (const bool by_program : {true, false}) {
    for (const uint32_t version : {2u, 5u}) {
      AddSeed(SeedOptions(version, by_program), by_program, seeds);
    }
    BlockTableBuildOptions partitions = SeedOptions(5, by_program);
    partitions.table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
    partitions.table.metadata_block_size = 60;
    AddSeed(partitions, by_program, seeds);
    BlockTableBuildOptions first_keys = SeedOptions(5, by_program);
    first_keys.table.index_type = BlockBasedTableOptions::kBinarySearchWithFirstKey;
    AddSeed(first_keys, by_program, seeds);
  }
}

// Each entry must be found by the table's own search, and lie between the bounds.
void CheckWhatPassed(const InspectedTable& table, const InternalKeyComparator& icmp) {
  const ReadOptions reads;
  const auto walk = table.reader->NewIterator(reads, TableIterOptions());
  const auto seek = table.reader->NewIterator(reads, TableIterOptions());
  uint64_t points = 0;
  for (walk->SeekToFirst(); walk->Valid(); walk->Next()) {
    points++;
    Promise(icmp.Compare(table.smallest.Encode(), walk->key()) <= 0 &&
                icmp.Compare(walk->key(), table.largest.Encode()) <= 0,
            "an entry is within the bounds");
    seek->Seek(walk->key());
    Promise(seek->Valid() && seek->key() == walk->key(), "a search finds each entry");
  }
  Promise(walk->status().ok(), "what was inspected can be read");
  Promise(points == table.points, "as many entries as were counted");
}

void InspectFile(const std::string& file, Writer writer, bool every_block) {
  static const std::shared_ptr<TableFactory> factory(NewBlockBasedTableFactory());
  MemFileSystem fs;
  std::unique_ptr<FSWritableFile> out;
  Promise(fs.NewWritableFile(kPath, FileOptions(), &out, nullptr).ok() &&
              out->Append(file, IOOptions(), nullptr).ok() && out->Close(IOOptions(), nullptr).ok(),
          "a file in memory");
  InspectOptions options;
  options.fs = &fs;
  options.icmp = &test::Bytewise();
  options.factory = factory;
  options.writer = writer;
  options.every_block = every_block;
  InspectedTable table;
  const Status s = InspectTable(kPath, options, &table);
  Note(s);
  if (!s.ok()) {
    Promise(table.reader == nullptr && table.empty(), "nothing is left of what was refused");
    return;
  }
  if (every_block) CheckWhatPassed(table, test::Bytewise());
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const uint32_t bits = input.Byte();
  std::string file = input.Rest().ToString();
  if ((bits & 1) == 0) fuzz::SealTable(&file);
  const auto writer = (bits & 16) != 0 ? fuzz::Writer::kEither : fuzz::Writer::kProgram;
  fuzz::InspectFile(file, writer, (bits & 2) != 0);
  return 0;
}

static const varve::fuzz::Register registered({"external_table", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 150});
