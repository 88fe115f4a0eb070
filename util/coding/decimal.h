// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decimal forms of doubles for texts that programs read. Unlike printf's, they have a point
// whatever the process's locale is.

#include <string>

namespace varve {

// Returns the number with so many digits behind the point, 0 to 20, as "%.*f" does in the C locale.
std::string FixedDigits(double value, int digits);
// Returns the number with so many significant digits, 1 to 20, as "%.*g" does in the C locale.
std::string SignificantDigits(double value, int digits);

}  // namespace varve
