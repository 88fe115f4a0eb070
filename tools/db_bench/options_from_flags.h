// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the command line to the library's options.

#include <optional>
#include <string>

#include "varve/compression_type.h"
#include "varve/options.h"

#include "tools/db_bench/option_flags.h"

namespace varve::bench {

// False, with a line on stderr that names the flag, if the flags make no sense or ask for what is
// not there.
[[nodiscard]] bool OptionsFromFlags(const OptionFlags& flags, Options* options);

ReadOptions ReadOptionsFromFlags();
WriteOptions WriteOptionsFromFlags();

// The codec that flags call so, in any case.
std::optional<CompressionType> CompressionNamed(const std::string& name);
// The same. False, with a line on stderr, if there is none.
[[nodiscard]] bool ParseCompression(const std::string& name, CompressionType* type);
// As printed in the header.
std::string CompressionText(CompressionType type);

}  // namespace varve::bench
