// SPDX-License-Identifier: Apache-2.0
#pragma once

// Option names that RocksDB's files may hold and that have no field here.

#include <cstdint>
#include <string_view>

namespace varve {

enum class ForeignVerdict : uint8_t {
  kUnknown,   // Not a name of RocksDB 7.8.3 to 11.9.
  kHarmless,  // With this value it asks for nothing that we lack.
  kLacking,
};

// `struct_name` as in OptionTable.
ForeignVerdict JudgeForeignOption(std::string_view struct_name, std::string_view name,
                                  std::string_view value);

}  // namespace varve
