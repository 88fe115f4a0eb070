// SPDX-License-Identifier: Apache-2.0
#pragma once

// Corrects the checksums of damaged files, so that the parser behind them is tested.

#include <string>

namespace varve::fuzz {

// Corrects every block of a table file that can be found from its footer.
void SealTable(std::string* file);

// Corrects every physical record of a log or a MANIFEST.
void SealLog(std::string* file);

}  // namespace varve::fuzz
