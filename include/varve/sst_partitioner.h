// SPDX-License-Identifier: Apache-2.0
#pragma once

// SstPartitioner ends output tables of compactions at more places than sizes require. A table that
// never holds keys of two tenants can be dropped, or moved, with one of them.
//
//   // No table has keys with different first eight bytes, for instance of two tenants.
//   options.sst_partitioner_factory = varve::NewSstPartitionerFixedPrefixFactory(8);

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

// Answer of SstPartitioner::ShouldPartition.
enum PartitionerResult : char {
  // The current table may continue.
  kNotRequired = 0x0,
  // The table ends before the current key.
  kRequired = 0x1,
};

// Two neighbouring keys of a compaction, in ascending order and without timestamps.
struct PartitionerRequest {
  // Borrows both keys, which must live until ShouldPartition returns.
  PartitionerRequest(const Slice& prev_user_key_, const Slice& current_user_key_,
                     uint64_t current_output_file_size_)
      : prev_user_key(&prev_user_key_),
        current_user_key(&current_user_key_),
        current_output_file_size(current_output_file_size_) {}
  // The last key of the current table, and the key that would follow it.
  const Slice* prev_user_key;
  const Slice* current_user_key;
  // Approximate bytes of the current table.
  uint64_t current_output_file_size;
};

// Made for one compaction, or a part of one; used by one thread at a time. It must not call the
// database, whose mutex may be held. An exception fails the compaction, which is then retried.
class VARVE_EXPORT SstPartitioner {
 public:
  virtual ~SstPartitioner() = default;

  // Returns a name for messages.
  virtual const char* Name() const = 0;

  // Called for each key that does not begin a table.
  virtual PartitionerResult ShouldPartition(const PartitionerRequest& request) = 0;

  // Returns true if a table with these first and last keys, without timestamps, may move to the
  // next level unchanged. Otherwise it is rewritten, and may be partitioned.
  virtual bool CanDoTrivialMove(const Slice& smallest_user_key, const Slice& largest_user_key) = 0;

  // Describes the compaction that a partitioner is made for.
  struct Context {
    // True if all tables of the column family are inputs.
    bool is_full_compaction = false;
    // True if a call asked for the compaction.
    bool is_manual_compaction = false;
    // Level of the outputs; those in L0 are not partitioned.
    int output_level = 0;
    // Smallest and largest input key, without timestamps. Valid during CreatePartitioner.
    Slice smallest_user_key;
    Slice largest_user_key;
  };
};

// Used in ColumnFamilyOptions::sst_partitioner_factory. Outputs in L0, and flushes, are not
// partitioned. Thread safety: any thread may call it.
class VARVE_EXPORT SstPartitionerFactory : public Customizable {
 public:
  ~SstPartitionerFactory() override = default;
  // Returns the class name under which ObjectRegistry keeps factories of this kind.
  static const char* Type() { return "SstPartitionerFactory"; }
  // Accepts "id=SstPartitionerFixedPrefixFactory;length=N", with or without braces, or a registered
  // object; null for "" and "nullptr". NotSupported for another name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<SstPartitionerFactory>* result);

  // Returns nullptr if this compaction is not partitioned.
  virtual std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const = 0;
};

// Ends tables where the first `prefix_len` bytes of keys change; a shorter key is its own prefix.
VARVE_EXPORT std::shared_ptr<SstPartitionerFactory> NewSstPartitionerFixedPrefixFactory(
    size_t prefix_len);

}  // namespace varve
