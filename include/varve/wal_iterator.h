// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB 11.9's names for the declarations of transaction_log.h.

#include "varve/transaction_log.h"

namespace varve {

using WalFile = LogFile;
using VectorWalPtr = VectorLogPtr;
using WalIterator = TransactionLogIterator;

}  // namespace varve
