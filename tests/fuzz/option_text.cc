// SPDX-License-Identifier: Apache-2.0

// Fuzzes option strings: any text is refused with nothing changed, or makes options that are
// printed as a text that makes the same.

#include "util/options/option_text.h"

#include "varve/convenience.h"
#include "varve/merge_operator.h"
#include "varve/table.h"

#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

// The first byte chooses the kind of options.
void MakeSeeds(Seeds* seeds) {
  const char* const kTexts[] = {
      "write_buffer_size=8M;compression=kLZ4Compression;num_levels=5;"
      "compression_per_level=kNoCompression:kZSTD;prefix_extractor=rocksdb.FixedPrefix.4",
      "block_based_table_factory={block_size=4096;filter_policy=bloomfilter:10:false;"
      "checksum=kXXH3;cache_index_and_filter_blocks=true};max_bytes_for_level_multiplier=2.5",
      "max_background_jobs=4;wal_dir=/logs;create_if_missing=true;WAL_ttl_seconds=10;"
      "wal_recovery_mode=kPointInTimeRecovery;bytes_per_sync=1G",
      "block_size=16k;format_version=5;index_type=kTwoLevelIndexSearch;metadata_block_size=128;"
      "filter_policy={id=ribbonfilter:9.5:2;}",
      "merge_operator={id=StringAppendOperator;delimiter=|;};ttl=-1;compression_opts="
      "{max_dict_bytes=1024;level=3;strategy=0;window_bits=-14;enabled=true}",
      "a={b={c={d={e=f;};};};};g=\\#1\\:2"};
  for (const char* text : kTexts) {
    for (char kind = 0; kind < 6; kind++) seeds->push_back(std::string(1, kind) + text);
  }
}

void Families(const ConfigOptions& config, const std::string& text) {
  ColumnFamilyOptions made;
  const Status s = GetColumnFamilyOptionsFromString(config, ColumnFamilyOptions(), text, &made);
  Note(s);
  if (!s.ok()) return;
  std::string once;
  std::string twice;
  Promise(GetStringFromColumnFamilyOptions(config, made, &once).ok(), "options can be printed");
  ColumnFamilyOptions again;
  Promise(GetColumnFamilyOptionsFromString(config, ColumnFamilyOptions(), once, &again).ok(),
          "what was printed is read");
  Promise(GetStringFromColumnFamilyOptions(config, again, &twice).ok() && once == twice,
          "and printed in the same way");
}

void Database(const ConfigOptions& config, const std::string& text) {
  DBOptions made;
  const Status s = GetDBOptionsFromString(config, DBOptions(), text, &made);
  Note(s);
  if (!s.ok()) return;
  std::string once;
  std::string twice;
  Promise(GetStringFromDBOptions(config, made, &once).ok(), "options can be printed");
  DBOptions again;
  Promise(GetDBOptionsFromString(config, DBOptions(), once, &again).ok(),
          "what was printed is read");
  Promise(GetStringFromDBOptions(config, again, &twice).ok() && once == twice,
          "and printed in the same way");
}

void Pieces(const std::string& text) {
  OptionPairs pairs;
  Note(SplitOptionText(text, &pairs));
  Note(pairs.size());
  Promise(UnescapeOptionText(EscapeOptionText(text)) == text, "escaping can be undone");
  for (const std::string_view part : SplitOptionList(text)) {
    uint64_t number = 0;
    double real = 0;
    if (ParseUnsigned(part, UINT64_MAX, &number)) Note(1);
    if (!ParseDouble(part, &real)) continue;
    double back = 0;
    Promise(ParseDouble(PrintDouble(real), &back) && back == real, "numbers can be read back");
  }
}

void Make(uint32_t kind, const std::string& text) {
  ConfigOptions config;
  config.ignore_unknown_options = kind >= 6;
  switch (kind % 6) {
    case 0:
      return Families(config, text);
    case 1:
      return Database(config, text);
    case 2: {
      BlockBasedTableOptions table;
      return Note(GetBlockBasedTableOptionsFromString(config, table, text, &table));
    }
    case 3: {
      Options options;
      return Note(GetOptionsFromString(config, Options(), text, &options));
    }
    case 4: {
      std::shared_ptr<MergeOperator> merger;
      return Note(MergeOperator::CreateFromString(config, text, &merger));
    }
    default:
      return Pieces(text);
  }
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  varve::fuzz::Input input(data, size);
  const uint32_t kind = input.Below(12);
  varve::fuzz::Make(kind, input.Rest().ToString());
  return 0;
}

static const varve::fuzz::Register registered({"option_text", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 60});
