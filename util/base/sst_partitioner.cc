// SPDX-License-Identifier: Apache-2.0

// Implements the built-in partitioner: it ends a table where a prefix of fixed length ends.

#include "varve/sst_partitioner.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <string>
#include <system_error>
#include <unordered_map>

namespace varve {

namespace {

// Ends a table wherever the first prefix_bytes bytes of the key change.
class FixedPrefixPartitioner final : public SstPartitioner {
 public:
  explicit FixedPrefixPartitioner(size_t prefix_bytes) : prefix_bytes_(prefix_bytes) {}

  const char* Name() const override { return "SstPartitionerFixedPrefix"; }
  PartitionerResult ShouldPartition(const PartitionerRequest& request) override {
    return Agree(*request.prev_user_key, *request.current_user_key) ? kNotRequired : kRequired;
  }
  // A table moves without a rewrite only if it would not be cut.
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

using OptionMap = std::unordered_map<std::string, std::string>;

constexpr char kLength[] = "length";

bool ReadLength(const std::string& text, size_t* bytes) {
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, *bytes);
  return error == std::errc() && last == end;
}

class FixedPrefixPartitionerFactory final : public SstPartitionerFactory {
 public:
  explicit FixedPrefixPartitionerFactory(size_t prefix_bytes) : prefix_bytes_(prefix_bytes) {}

  static const char* kClassName() { return "SstPartitionerFixedPrefixFactory"; }
  const char* Name() const override { return kClassName(); }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& /*context*/) const override {
    return std::make_unique<FixedPrefixPartitioner>(prefix_bytes_);
  }

 protected:
  Status ConfigureOptions(const ConfigOptions& config, const OptionMap& map,
                          OptionMap* unused) override {
    OptionMap others = map;
    const auto length = others.extract(kLength);
    size_t bytes = prefix_bytes_;
    if (!length.empty() && !ReadLength(length.mapped(), &bytes)) {
      return Status::InvalidArgument(std::string(kLength) + ": not a number", length.mapped());
    }
    Status s = SstPartitionerFactory::ConfigureOptions(config, others, unused);
    if (s.ok()) prefix_bytes_ = bytes;
    return s;
  }
  std::string PrintOptions(const ConfigOptions& /*config*/) const override {
    return std::string(kLength) + "=" + std::to_string(prefix_bytes_);
  }

 private:
  size_t prefix_bytes_;
};

}  // namespace

std::shared_ptr<SstPartitionerFactory> NewSstPartitionerFixedPrefixFactory(size_t prefix_len) {
  return std::make_shared<FixedPrefixPartitionerFactory>(prefix_len);
}

}  // namespace varve
