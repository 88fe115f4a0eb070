// SPDX-License-Identifier: Apache-2.0

// Fuzzes PlainTables: any rows in an intact frame, and any whole file, are refused or answer every
// read.

#include "varve/slice_transform.h"

#include "table/meta/metaindex_builder.h"
#include "table/plain/plain_row.h"
#include "table/plain/plain_table_format.h"
#include "tests/fuzz/memory_table.h"
#include "tests/fuzz/target.h"
#include "tests/table/table_file.h"
#include "util/coding/fixed.h"

namespace varve::fuzz {
namespace {

// Puts rows into a file whose properties describe them.
std::string Frame(const Slice& rows, uint64_t entries, uint32_t encoding, uint64_t key_bytes) {
  TableProperties properties;
  properties.data_size = rows.size();
  properties.num_entries = entries;
  properties.fixed_key_len = key_bytes;
  PutFixed32(&properties.user_collected_properties[kPlainEncodingProperty], encoding);
  std::string file = rows.ToString();
  std::string block;
  EncodeProperties(properties, &block);
  MetaindexBuilder metaindex;
  metaindex.Add(meta_block::kProperties, {file.size(), block.size()});
  file += block;
  PlainFooter footer;
  footer.metaindex_offset = file.size();
  block = metaindex.Finish();
  footer.metaindex_size = block.size();
  file += block;
  footer.EncodeTo(&file);
  return file;
}

// Returns the number of rows that can be decoded, which a sound frame has to name.
uint64_t CountRows(const Slice& rows, uint32_t encoding, uint32_t key_bytes) {
  PlainRowCursor cursor({static_cast<EncodingType>(encoding), key_bytes}, rows, 0);
  uint64_t count = 0;
  while (cursor.Next()) count++;
  return count;
}

void MakeSeeds(Seeds* seeds) {
  static const std::unique_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(3));
  for (const EncodingType encoding : {kPlain, kPrefix}) {
    for (const size_t interval : {1u, 4u, 16u}) {
      PlainRowWriter writer({encoding, 0}, prefix.get(), interval);
      std::string rows;
      for (uint64_t i = 0; i < 30; i++) {
        const std::string key = "key" + std::to_string(1000 + i / 2);
        writer.Append(test::IKey(key, i == 4 ? 0 : 50 - i, i % 9 == 8 ? kTypeDeletion : kTypeValue),
                      std::string(i % 20, 'v'), &rows);
      }
      const char frame = encoding == kPlain ? '\x00' : '\x01';
      seeds->push_back(std::string(1, frame) + '\x00' + rows);
      seeds->push_back(std::string(1, '\x02') + '\x00' + Frame(rows, 30, encoding, 0));
    }
  }
  seeds->push_back(std::string("\x00\x04", 2) +
                   "aaaa\xff\x01"
                   "1aaab\xff\x02"
                   "22");
}

}  // namespace
}  // namespace varve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = varve::fuzz;
  fuzz::Input input(data, size);
  const uint32_t bits = input.Byte();
  const uint32_t key_bytes = input.Byte();
  const varve::Slice rest = input.Rest();
  const uint32_t encoding = bits & 1;
  const std::string file =
      (bits & 2) != 0
          ? rest.ToString()
          : fuzz::Frame(rest, fuzz::CountRows(rest, encoding, key_bytes), encoding, key_bytes);
  fuzz::UseTable(file, {.mapped = (bits & 4) != 0}, 2000);
  return 0;
}

static const varve::fuzz::Register registered({"plain_table", LLVMFuzzerTestOneInput,
                                               varve::fuzz::MakeSeeds, 200});
