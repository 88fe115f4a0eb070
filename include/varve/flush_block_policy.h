// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets a program decide where data blocks of block-based tables end.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/convenience.h"
#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

// BlockBuilder is internal: a policy can only pass it on.
class BlockBuilder;
struct BlockBasedTableOptions;

// Decides for one table being written where its data blocks end. Called by one thread; exceptions
// fail the flush or compaction.
class VARVE_EXPORT FlushBlockPolicy {
 public:
  virtual ~FlushBlockPolicy() = default;

  // Called for every entry before it is added; `key` is an internal key: the user key with its
  // timestamp, and eight bytes of sequence number and type. Returns true to end a block that is not
  // empty before the entry. A block of 4 GiB ends in any case.
  virtual bool Update(const Slice& key, const Slice& value) = 0;
};

// Makes a policy for each new table. Shared by all threads that write tables, so it must be
// thread-safe.
class VARVE_EXPORT FlushBlockPolicyFactory : public Customizable {
 public:
  ~FlushBlockPolicyFactory() override = default;
  // Returns the class name under which ObjectRegistry keeps factories of this kind.
  static const char* Type() { return "FlushBlockPolicyFactory"; }

  // Accepts a registered object (utilities/object_registry.h). nullptr, with which blocks end by
  // size, for "nullptr" and "FlushBlockBySizePolicyFactory"; NotSupported for an unknown name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<FlushBlockPolicyFactory>* result);

  // Returns the policy of a new table; the caller owns it. nullptr: blocks end by size.
  virtual FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions& table_options,
                                                const BlockBuilder& data_block_builder) const = 0;
};

// Ends blocks by block_size and block_size_deviation. Tables do the same without a factory, and
// faster.
class VARVE_EXPORT FlushBlockBySizePolicyFactory : public FlushBlockPolicyFactory {
 public:
  // Makes a factory that any number of column families may share.
  FlushBlockBySizePolicyFactory();
  static const char* kClassName() { return "FlushBlockBySizePolicyFactory"; }
  const char* Name() const override { return kClassName(); }

  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions& table_options,
                                        const BlockBuilder& data_block_builder) const override;
  // `size`: bytes of a block; `deviation`: percent of it that may stay unused.
  static FlushBlockPolicy* NewFlushBlockPolicy(uint64_t size, int deviation,
                                               const BlockBuilder& data_block_builder);
};

}  // namespace varve
