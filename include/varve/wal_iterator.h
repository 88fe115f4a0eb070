// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB 11.9's names for the declarations of transaction_log.h.
//
// RocksDB 11.9 renamed the classes. Programs that use either set of names compile.

#include "varve/transaction_log.h"

namespace varve {

// Describes a file of the write-ahead log (DB::GetSortedWalFiles).
using WalFile = LogFile;
// Owns the descriptions of all log files, the oldest first.
using VectorWalPtr = VectorLogPtr;
// Iterates over the batches of the log (DB::GetUpdatesSince).
using WalIterator = TransactionLogIterator;

}  // namespace varve
