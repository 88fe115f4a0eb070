// SPDX-License-Identifier: Apache-2.0

// Fuzzes the properties block: any bytes are refused or parsed; parsed properties, written and read
// again, are the same.

#include "table/meta/properties_block.h"
#include "tests/fuzz/target.h"

namespace varve::fuzz {
namespace {

void MakeSeeds(Seeds* seeds) {
  TableProperties properties;
  TableTraits traits;
  seeds->emplace_back();
  EncodeProperties(properties, traits, &seeds->back());
  properties.comparator_name = "leveldb.BytewiseComparator";
  properties.num_entries = 12345;
  properties.raw_key_size = uint64_t{1} << 40;
  properties.column_family_name = "default";
  properties.compression_name = "ZSTD";
  properties.db_id = "an id";
  properties.user_collected_properties["zz.mine"] = std::string(40, 'v');
  traits.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  traits.index_key_is_user_key = true;
  traits.index_value_is_delta_encoded = true;
  traits.whole_key_filtering = false;
  seeds->emplace_back();
  EncodeProperties(properties, traits, &seeds->back());
}

bool Same(const TableProperties& a, const TableProperties& b) {
  return a.ToString() == b.ToString() &&
         a.user_collected_properties == b.user_collected_properties &&
         a.comparator_name == b.comparator_name && a.db_id == b.db_id;
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  varve::TableProperties first;
  varve::TableTraits traits;
  const varve::Slice block(reinterpret_cast<const char*>(data), size);
  const varve::Status s = varve::ParseProperties(block, &first, &traits);
  fuzz::Note(s);
  if (!s.ok()) return 0;
  fuzz::Note(first.user_collected_properties.size());
  fuzz::Promise(traits.external_global_seqno_offset <= size, "the sequence lies in the block");
  std::string again;
  varve::EncodeProperties(first, traits, &again);
  varve::TableProperties second;
  varve::TableProperties third;
  varve::TableTraits same_traits;
  fuzz::Promise(varve::ParseProperties(again, &second, &same_traits).ok(), "our encoding parses");
  fuzz::Promise(second.ToString() == first.ToString(), "properties survive writing and reading");
  // The traits that a foreign block left out are among the names from now on.
  again.clear();
  varve::EncodeProperties(second, same_traits, &again);
  varve::TableTraits ignored;
  fuzz::Promise(varve::ParseProperties(again, &third, &ignored).ok() && fuzz::Same(second, third),
                "and stay the same");
  fuzz::Promise(traits.index_type == same_traits.index_type &&
                    traits.index_key_is_user_key == same_traits.index_key_is_user_key,
                "so do the traits");
  return 0;
}

static const varve::fuzz::Register registered({"properties", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 60});
