// SPDX-License-Identifier: Apache-2.0

// Creates filter policies from numbers and from text.

#include "util/filter/builtin_filter_policy.h"

#include <charconv>
#include <climits>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "varve/filter_policy.h"

#include "util/base/registered_object.h"

namespace varve {

namespace {

constexpr std::string_view kBloomName = "bloomfilter";
constexpr std::string_view kRibbonName = "ribbonfilter";
constexpr int kMillibits = 1000;
constexpr double kMaxBits = 100;

// Less than half a bit for a key means no filter, and up to one bit counts as one. The comparison
// is written so that a NaN gives no filter.
int RoundToMillibits(double bits_per_key) {
  if (!(bits_per_key >= 0.5)) return 0;
  if (bits_per_key < 1.0) return kMillibits;
  if (bits_per_key >= kMaxBits) return static_cast<int>(kMaxBits) * kMillibits;
  return static_cast<int>(std::lround(bits_per_key * kMillibits));
}

// Returns text such as "12.346", "9.5" or "10".
std::string MillibitsText(int millibits) {
  std::string text = std::to_string(millibits / kMillibits);
  const int fraction = millibits % kMillibits;
  if (fraction == 0) return text;
  std::string digits = std::to_string(kMillibits + fraction).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return text + "." + digits;
}

// Returns all of `text` as a number.
template <typename Number>
std::optional<Number> Parse(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Removes the part up to the next colon, or all, from the front of `*rest` and returns it.
std::string_view NextPart(std::string_view* rest) {
  const size_t colon = rest->find(':');
  const std::string_view part = rest->substr(0, colon);
  rest->remove_prefix(colon == std::string_view::npos ? rest->size() : colon + 1);
  return part;
}

// Parses "bloomfilter:BITS[:FLAG]", "ribbonfilter:BITS[:LEVEL]" or the compatibility name. Returns
// null for other text.
std::shared_ptr<const FilterPolicy> ParsePolicy(std::string_view text) {
  using Kind = BuiltinFilterPolicy::Kind;
  if (text == BuiltinFilterPolicy::kCompatibilityName()) {
    return std::make_shared<const BuiltinFilterPolicy>(Kind::kReadOnly, 0);
  }
  const std::string_view name = NextPart(&text);
  const auto bits = Parse<double>(NextPart(&text));
  if (!bits) return nullptr;
  if (name == kBloomName) {
    // The flag once selected a filter that no longer exists.
    if (!text.empty() && text != "false" && text != "true") return nullptr;
    return std::make_shared<const BuiltinFilterPolicy>(Kind::kBloom, *bits);
  }
  if (name != kRibbonName) return nullptr;
  const auto level = text.empty() ? std::optional<int>(0) : Parse<int>(text);
  if (!level) return nullptr;
  return std::make_shared<const BuiltinFilterPolicy>(Kind::kRibbon, *bits, *level);
}

}  // namespace

BuiltinFilterPolicy::BuiltinFilterPolicy(Kind kind, double bits_per_key, int bloom_before_level)
    : kind_(kind),
      millibits_per_key_(RoundToMillibits(bits_per_key)),
      bloom_before_level_(bloom_before_level) {}

const char* BuiltinFilterPolicy::Name() const {
  switch (kind_) {
    case Kind::kBloom:
      return kBloomName.data();
    case Kind::kRibbon:
      return kRibbonName.data();
    case Kind::kReadOnly:
      break;
  }
  return kCompatibilityName();
}

std::string BuiltinFilterPolicy::GetId() const {
  std::string id = Name();
  if (kind_ == Kind::kReadOnly) return id;
  id += ":" + MillibitsText(millibits_per_key_) + ":";
  id += kind_ == Kind::kRibbon ? std::to_string(bloom_before_level_) : "false";
  return id;
}

bool BuiltinFilterPolicy::BuildsRibbon(const FilterBuildingContext& context) const {
  if (kind_ != Kind::kRibbon || bloom_before_level_ == INT_MAX) return false;
  if (context.reason == TableFileCreationReason::kFlush) return bloom_before_level_ <= -1;
  // A table outside of a tree, such as one to be ingested, is expected to live long.
  if (context.level_at_creation < 0) return true;
  return context.level_at_creation >= bloom_before_level_;
}

const BuiltinFilterPolicy* AsBuiltinFilterPolicy(const FilterPolicy* policy) {
  return policy == nullptr ? nullptr : policy->AsBuiltin();
}

Status FilterPolicy::CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                      std::shared_ptr<const FilterPolicy>* result) {
  if (value.empty() || value == "nullptr") {
    result->reset();
    return Status::OK();
  }
  Status s = NewRegisteredObject(config_options, value, result);
  if (!s.IsNotFound()) return s;
  std::shared_ptr<const FilterPolicy> policy = ParsePolicy(value);
  if (policy == nullptr) return Status::NotSupported("No filter policy of this form", value);
  *result = std::move(policy);
  return Status::OK();
}

const FilterPolicy* NewBloomFilterPolicy(double bits_per_key,
                                         bool /*IGNORED_use_block_based_builder*/) {
  return std::make_unique<const BuiltinFilterPolicy>(BuiltinFilterPolicy::Kind::kBloom,
                                                     bits_per_key)
      .release();
}

const FilterPolicy* NewRibbonFilterPolicy(double bloom_equivalent_bits_per_key,
                                          int bloom_before_level) {
  return std::make_unique<const BuiltinFilterPolicy>(
             BuiltinFilterPolicy::Kind::kRibbon, bloom_equivalent_bits_per_key, bloom_before_level)
      .release();
}

}  // namespace varve
