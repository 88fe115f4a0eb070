// SPDX-License-Identifier: Apache-2.0
#pragma once

// From the command line to the library's options.

#include <string>

#include "varve/compression_type.h"
#include "varve/options.h"

namespace varve::bench {

// False, with a line on stderr that names the flag, if the flags make no sense or ask for what is
// not there.
[[nodiscard]] bool OptionsFromFlags(Options* options);

ReadOptions ReadOptionsFromFlags();
WriteOptions WriteOptionsFromFlags();

// The codec of a flag's value, in any case. False, with a line on stderr, if there is none.
[[nodiscard]] bool ParseCompression(const std::string& name, CompressionType* type);
// As printed in the header.
std::string CompressionText(CompressionType type);

}  // namespace varve::bench
