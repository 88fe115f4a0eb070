// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists option names that RocksDB's files may hold and that have no field here.

#include <cstdint>
#include <string_view>

namespace varve {

// Says whether an option that has no field here may be ignored.
enum class ForeignVerdict : uint8_t {
  kUnknown,   // Not a name of RocksDB 7.8.3 to 11.9.
  kHarmless,  // The value asks for nothing that this engine lacks.
  kLacking,   // The value asks for something that this engine lacks.
};

// Returns the verdict on an option of RocksDB and its value. `struct_name` is that of an
// OptionTable.
ForeignVerdict JudgeForeignOption(std::string_view struct_name, std::string_view name,
                                  std::string_view value);

}  // namespace varve
