// SPDX-License-Identifier: Apache-2.0

// The words of `ldb` and `sst_dump`. Their grammar is not that of `varve`: a flag takes its value
// only after '=', and a flag without one is present with an empty value.

#include "tools/varve/front_words.h"

#include <algorithm>

#include "varve/slice.h"

#include "tools/varve/bytes_text.h"

namespace varve::tool {

FrontWords::FrontWords(int argc, const char* const* argv) {
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      words_.push_back(word);
      continue;
    }
    const size_t equals = word.find('=');
    flags_[word.substr(2, equals == std::string::npos ? equals : equals - 2)] =
        equals == std::string::npos ? "" : word.substr(equals + 1);
  }
}

Status FrontWords::CheckFlags(std::span<const std::string_view> known,
                              std::span<const std::string_view> ignored) const {
  for (const auto& [flag, value] : flags_) {
    if (std::ranges::find(known, flag) != known.end()) continue;
    if (std::ranges::find(ignored, flag) != ignored.end()) continue;
    return Status::InvalidArgument("Invalid command-line flag " + flag);
  }
  return Status::OK();
}

std::string FrontWords::Value(const std::string& flag) const {
  const auto found = flags_.find(flag);
  return found == flags_.end() ? "" : found->second;
}

std::string FrontHex(std::string_view bytes) {
  return "0x" + Slice(bytes.data(), bytes.size()).ToString(/*hex=*/true);
}

Status ParseFrontHex(const std::string& text, std::string* bytes) {
  if (text.starts_with("0x") && ParseBytes(text, ByteForm::kHex, bytes)) return Status::OK();
  return Status::InvalidArgument("Invalid hex input " + text + "; it must begin with 0x");
}

}  // namespace varve::tool
