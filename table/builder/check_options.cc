// SPDX-License-Identifier: Apache-2.0

// Checks if a block-based table can be written with the given options, and creates its builder.

#include <bit>
#include <string>

#include "varve/comparator.h"

#include "table/builder/block_table_builder.h"
#include "table/table_builder.h"
#include "util/compress/codec.h"
#include "util/filter/builtin_filter_policy.h"

namespace varve {
namespace {

Status Unsupported(const char* option, const std::string& why) {
  return Status::NotSupported(std::string("BlockBasedTableOptions::") + option, why);
}

// These checks repeat rules of the option schema, since a table can be built without a database,
// with options that none has validated.
Status CheckLayout(const BlockBasedTableOptions& table) {
  if (table.format_version < 2 || table.format_version > 7) {
    return Unsupported("format_version", "tables are written in versions 2 to 7, not " +
                                             std::to_string(table.format_version));
  }
  if (table.checksum < kNoChecksum || table.checksum > kXXH3) {
    return Unsupported("checksum", "unknown type " + std::to_string(table.checksum));
  }
  if (table.block_size == 0 || table.block_size > (uint64_t{1} << 30)) {
    return Status::InvalidArgument("BlockBasedTableOptions::block_size",
                                   "must be at least 1 byte and at most 1 GiB");
  }
  if (table.block_align && !std::has_single_bit(table.block_size)) {
    return Status::InvalidArgument("BlockBasedTableOptions::block_align",
                                   "needs a block_size that is a power of two");
  }
  const size_t super_block = table.super_block_alignment_size;
  if (super_block != 0 && (!std::has_single_bit(super_block) || super_block > UINT32_MAX)) {
    return Status::InvalidArgument("BlockBasedTableOptions::super_block_alignment_size",
                                   "must be a power of two below 4 GiB");
  }
  if (table.separate_key_value_in_data_block) {
    return Unsupported("separate_key_value_in_data_block", "keys and values stay together");
  }
  return Status::OK();
}

Status CheckIndex(const BlockTableBuildOptions& options) {
  const BlockBasedTableOptions& table = options.table;
  if (table.index_type == BlockBasedTableOptions::kHashSearch &&
      options.prefix_extractor == nullptr) {
    return Status::InvalidArgument("BlockBasedTableOptions::index_type",
                                   "kHashSearch needs a prefix_extractor");
  }
  if (table.index_type < BlockBasedTableOptions::kBinarySearch ||
      table.index_type > BlockBasedTableOptions::kBinarySearchWithFirstKey) {
    return Unsupported("index_type", "unknown type " + std::to_string(table.index_type));
  }
  if (table.user_defined_index_factory != nullptr || table.use_udi_as_primary_index) {
    return Unsupported("user_defined_index_factory", "indexes are built in");
  }
  if (table.data_block_index_type == BlockBasedTableOptions::kDataBlockBinaryAndHash) {
    if (!(table.data_block_hash_table_util_ratio > 0 &&
          table.data_block_hash_table_util_ratio <= 1)) {
      return Status::InvalidArgument("BlockBasedTableOptions::data_block_hash_table_util_ratio",
                                     "must lie in (0, 1]");
    }
  }
  return Status::OK();
}

Status CheckFilter(const BlockTableBuildOptions& options) {
  const FilterPolicy* const policy = options.table.filter_policy.get();
  if (policy == nullptr) return Status::OK();
  if (AsBuiltinFilterPolicy(policy) == nullptr) {
    return Unsupported("filter_policy",
                       std::string("only built-in policies, not ") + policy->Name());
  }
  return Status::OK();
}

Status CheckCompression(const BlockTableBuildOptions& options) {
  if (!CodecSupported(options.compression)) {
    return CodecNotSupported(options.compression, "compression");
  }
  return Status::OK();
}

}  // namespace

Status BlockTableBuilder::CheckOptions(const BlockTableBuildOptions& options) {
  if (options.icmp == nullptr) return Status::InvalidArgument("table builder without comparator");
  Status s = CheckLayout(options.table);
  if (s.ok()) s = CheckIndex(options);
  if (s.ok()) s = CheckFilter(options);
  if (s.ok()) s = CheckCompression(options);
  return s;
}

Status BlockTableBuilder::Create(const BlockTableBuildOptions& options, WritableFileWriter* file,
                                 std::unique_ptr<TableBuilder>* builder) {
  builder->reset();
  Status s = CheckOptions(options);
  if (!s.ok()) return s;
  builder->reset(new BlockTableBuilder(options, file));
  return s;
}

}  // namespace varve
