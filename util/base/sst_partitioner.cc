// SPDX-License-Identifier: Apache-2.0

// The partitioner that the library has: tables end where a prefix of fixed length does.

#include "varve/sst_partitioner.h"

#include <algorithm>

namespace varve {

namespace {

class FixedPrefixPartitioner final : public SstPartitioner {
 public:
  explicit FixedPrefixPartitioner(size_t prefix_bytes) : prefix_bytes_(prefix_bytes) {}

  const char* Name() const override { return "SstPartitionerFixedPrefix"; }
  PartitionerResult ShouldPartition(const PartitionerRequest& request) override {
    return Agree(*request.prev_user_key, *request.current_user_key) ? kNotRequired : kRequired;
  }
  bool CanDoTrivialMove(const Slice& smallest_user_key, const Slice& largest_user_key) override {
    return Agree(smallest_user_key, largest_user_key);
  }

 private:
  [[nodiscard]] bool Agree(const Slice& a, const Slice& b) const {
    return PrefixOf(a) == PrefixOf(b);
  }
  [[nodiscard]] Slice PrefixOf(const Slice& key) const {
    return Slice(key.data(), std::min(key.size(), prefix_bytes_));
  }

  const size_t prefix_bytes_;
};

class FixedPrefixPartitionerFactory final : public SstPartitionerFactory {
 public:
  explicit FixedPrefixPartitionerFactory(size_t prefix_bytes) : prefix_bytes_(prefix_bytes) {}

  const char* Name() const override { return "SstPartitionerFixedPrefixFactory"; }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& /*context*/) const override {
    return std::make_unique<FixedPrefixPartitioner>(prefix_bytes_);
  }

 private:
  const size_t prefix_bytes_;
};

}  // namespace

std::shared_ptr<SstPartitionerFactory> NewSstPartitionerFixedPrefixFactory(size_t prefix_len) {
  return std::make_shared<FixedPrefixPartitionerFactory>(prefix_len);
}

}  // namespace varve
