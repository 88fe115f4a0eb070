// SPDX-License-Identifier: Apache-2.0
#pragma once

// SstPartitioner: where compactions end a table, beyond what sizes ask for. A table that never
// holds two tenants' keys can be dropped, or moved, with one of them.

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

enum PartitionerResult : char {
  kNotRequired = 0x0,  // The open table may go on.
  kRequired = 0x1,     // It ends before the current key.
};

// Both keys are without timestamps, ascend, and are neighbours in the same compaction.
struct PartitionerRequest {
  PartitionerRequest(const Slice& prev_user_key_, const Slice& current_user_key_,
                     uint64_t current_output_file_size_)
      : prev_user_key(&prev_user_key_),
        current_user_key(&current_user_key_),
        current_output_file_size(current_output_file_size_) {}
  const Slice* prev_user_key;
  const Slice* current_user_key;
  uint64_t current_output_file_size;  // Bytes of the open table, about.
};

// Made for one compaction, or a part of one; used by one thread at a time. It must not call the
// database, whose mutex may be held. One that throws fails the compaction, which is tried again.
class VARVE_EXPORT SstPartitioner {
 public:
  virtual ~SstPartitioner() = default;

  virtual const char* Name() const = 0;

  // Asked for each key that does not begin a table.
  virtual PartitionerResult ShouldPartition(const PartitionerRequest& request) = 0;

  // Whether a table with these first and last keys may go to the next level as it is. False: it is
  // compacted, and may be partitioned.
  virtual bool CanDoTrivialMove(const Slice& smallest_user_key, const Slice& largest_user_key) = 0;

  struct Context {
    bool is_full_compaction = false;    // All tables of the column family take part.
    bool is_manual_compaction = false;  // A user asked for it.
    int output_level = 0;
    // Of all inputs, without timestamps. Valid during CreatePartitioner.
    Slice smallest_user_key;
    Slice largest_user_key;
  };
};

// ColumnFamilyOptions::sst_partitioner_factory. What stays in level 0, and flushes, are not
// partitioned. Thread safety: any thread.
class VARVE_EXPORT SstPartitionerFactory : public Customizable {
 public:
  ~SstPartitionerFactory() override = default;
  static const char* Type() { return "SstPartitionerFactory"; }
  // "id=SstPartitionerFixedPrefixFactory;length=N", in braces or not, or a registered object; null
  // for "" and "nullptr". NotSupported for another name.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<SstPartitionerFactory>* result);

  // nullptr: this compaction is not partitioned.
  virtual std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const = 0;
};

// Tables end where the first `prefix_len` bytes of keys change; a shorter key is its own prefix.
VARVE_EXPORT std::shared_ptr<SstPartitionerFactory> NewSstPartitionerFixedPrefixFactory(
    size_t prefix_len);

}  // namespace varve
