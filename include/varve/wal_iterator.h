// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names that RocksDB 11.9 has for what transaction_log.h declares.

#include "varve/transaction_log.h"

namespace varve {

using WalFile = LogFile;
using VectorWalPtr = VectorLogPtr;
using WalIterator = TransactionLogIterator;

}  // namespace varve
