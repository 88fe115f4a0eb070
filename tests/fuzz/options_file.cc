// SPDX-License-Identifier: Apache-2.0

// Fuzzes OPTIONS files: any text is refused or parsed, and parsed options are written as a text
// that parses to the same.

#include "util/options/options_file.h"

#include "varve/filter_policy.h"
#include "varve/slice_transform.h"
#include "varve/table.h"

#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

void MakeSeeds(Seeds* seeds) {
  DBOptions db;
  ColumnFamilyOptions plain;
  seeds->push_back(FormatOptionsFile(db, {{kDefaultColumnFamilyName, plain}}));
  ColumnFamilyOptions odd;
  odd.prefix_extractor.reset(NewFixedPrefixTransform(4));
  odd.compression_per_level = {kNoCompression, kZSTD};
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  odd.table_factory.reset(NewBlockBasedTableFactory(table));
  db.wal_dir = "/logs#1:2\\3";
  seeds->push_back(
      FormatOptionsFile(db, {{kDefaultColumnFamilyName, odd}, {"odd \"name\" # : \n", plain}}));
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  varve::ConfigOptions config;
  config.ignore_unknown_options = size % 2 == 0;
  varve::OptionsFileContents contents;
  const varve::Status s = varve::ParseOptionsFile(config, "OPTIONS-000001", text, &contents);
  fuzz::Note(s);
  if (!s.ok()) {
    fuzz::Promise(contents.column_families.empty(), "a refused file gives nothing");
    return 0;
  }
  const std::string once = varve::FormatOptionsFile(contents.db_options, contents.column_families);
  varve::OptionsFileContents again;
  fuzz::Promise(varve::ParseOptionsFile(config, "OPTIONS-000001", once, &again).ok(),
                "what we write is read");
  fuzz::Promise(varve::FormatOptionsFile(again.db_options, again.column_families) == once,
                "and says the same");
  return 0;
}

static const varve::fuzz::Register registered({"options_file", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 8});
