// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the checksums of damaged files right again, so that it is the parser behind them that has
// to cope.

#include <string>

namespace varve::fuzz {

// Of every block of a table file that can be found from its footer.
void SealTable(std::string* file);

// Of every physical record of a log or a MANIFEST.
void SealLog(std::string* file);

}  // namespace varve::fuzz
