// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts the command line into the library's options.

#include <optional>
#include <string>

#include "varve/compression_type.h"
#include "varve/options.h"

#include "tools/db_bench/option_flags.h"

namespace varve::bench {

// Returns false, with a line on stderr that names the flag, if the flags make no sense or ask for
// something unsupported.
[[nodiscard]] bool OptionsFromFlags(const OptionFlags& flags, Options* options);

ReadOptions ReadOptionsFromFlags();
WriteOptions WriteOptionsFromFlags();

// Returns the codec of that name, in any case of letters.
std::optional<CompressionType> CompressionNamed(const std::string& name);
// Like the call above, but returns false, with a line on stderr, if there is none.
[[nodiscard]] bool ParseCompression(const std::string& name, CompressionType* type);
// Returns the codec's name as the header prints it.
std::string CompressionText(CompressionType type);

}  // namespace varve::bench
