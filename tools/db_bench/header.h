// SPDX-License-Identifier: Apache-2.0
#pragma once

// Prints what precedes the first benchmark, so that a kept output explains itself.

#include "varve/options.h"

namespace varve::bench {

// Prints sizes, rates and options on stdout.
void PrintHeader(const Options& options);
// Prints version, date and processor on stderr.
void PrintEnvironment();

}  // namespace varve::bench
