// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shows keys and values as text and reads them back. In the plain form printable ASCII stands for
// itself, a backslash is \\, and other bytes are \t, \n, \r or \xNN; in the hex form every byte is
// two digits. What one command prints another one takes.

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/varve/output.h"

namespace varve::tool {

enum class ByteForm : uint8_t { kPlain, kHex };

void AppendBytes(std::string_view bytes, ByteForm form, Output* out);
std::string BytesText(std::string_view bytes, ByteForm form);

// Returns false for a malformed text: an unknown escape, an odd number of digits, or no digit.
bool ParseBytes(std::string_view text, ByteForm form, std::string* bytes);

// Returns "17 bytes", "3.4 MiB".
std::string SizeText(uint64_t bytes);

}  // namespace varve::tool
