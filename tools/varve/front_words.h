// SPDX-License-Identifier: Apache-2.0
#pragma once

// Takes the words of a command line apart as RocksDB's tools do: `--name=value` and `--name` may
// stand anywhere, and all other words keep their order.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/status.h"

namespace varve::tool {

class FrontWords {
 public:
  FrontWords(int argc, const char* const* argv);

  // Returns InvalidArgument, naming the flag, unless all flags are among these. Those of `ignored`
  // only tune what RocksDB's tool does, and have no effect.
  Status CheckFlags(std::span<const std::string_view> known,
                    std::span<const std::string_view> ignored) const;

  [[nodiscard]] bool Has(const std::string& flag) const { return flags_.contains(flag); }
  // Returns the value of the flag; empty if it has none or is absent.
  [[nodiscard]] std::string Value(const std::string& flag) const;
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, std::string> flags_;
  std::vector<std::string> words_;
};

// Returns "0x" and two upper-case digits a byte, as those tools do.
std::string FrontHex(std::string_view bytes);
// Requires "0x" before the digits.
Status ParseFrontHex(const std::string& text, std::string* bytes);

}  // namespace varve::tool
