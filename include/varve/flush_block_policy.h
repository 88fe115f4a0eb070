// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where data blocks of block-based tables end, decided by a program.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/convenience.h"
#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

class BlockBuilder;  // Of the engine: a policy can only hand it on.
struct BlockBasedTableOptions;

// Of one table that is being written. One thread calls it; what it throws fails the flush or the
// compaction.
class VARVE_EXPORT FlushBlockPolicy {
 public:
  virtual ~FlushBlockPolicy() = default;

  // Told of every entry before it is added; `key` is an internal key: the user's, and eight bytes
  // of sequence number and type. True: a block that holds something ends before it. A block of
  // 4 GiB ends in any case.
  virtual bool Update(const Slice& key, const Slice& value) = 0;
};

// Shared by all threads that write tables.
class VARVE_EXPORT FlushBlockPolicyFactory : public Customizable {
 public:
  ~FlushBlockPolicyFactory() override = default;
  static const char* Type() { return "FlushBlockPolicyFactory"; }

  // One that was registered (utilities/object_registry.h). nullptr, with which blocks end by size,
  // for "nullptr" and "FlushBlockBySizePolicyFactory"; NotSupported for an unknown name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<FlushBlockPolicyFactory>* result);

  // For a table that begins; the caller owns it. nullptr: blocks end by size.
  virtual FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions& table_options,
                                                const BlockBuilder& data_block_builder) const = 0;
};

// By block_size and block_size_deviation, as without a factory, which is faster.
class VARVE_EXPORT FlushBlockBySizePolicyFactory : public FlushBlockPolicyFactory {
 public:
  FlushBlockBySizePolicyFactory();
  static const char* kClassName() { return "FlushBlockBySizePolicyFactory"; }
  const char* Name() const override { return kClassName(); }

  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions& table_options,
                                        const BlockBuilder& data_block_builder) const override;
  // `size`: bytes of a block; `deviation`: how many percent of it may be missing.
  static FlushBlockPolicy* NewFlushBlockPolicy(uint64_t size, int deviation,
                                               const BlockBuilder& data_block_builder);
};

}  // namespace varve
