// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is said before the first benchmark, so that a kept output explains itself.

#include "varve/options.h"

namespace varve::bench {

// Sizes, rates and options, on stdout.
void PrintHeader(const Options& options);
// Version, date and processor, on stderr.
void PrintEnvironment();

}  // namespace varve::bench
