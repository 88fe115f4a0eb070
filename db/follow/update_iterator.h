// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements DB::GetUpdatesSince: the batches since a sequence number, until there is a gap.

#include <memory>

#include "varve/status.h"
#include "varve/transaction_log.h"
#include "varve/types.h"

namespace varve {

struct Engine;

// Sets *iterator to one whose first batch is that with the number `from`. Returns what
// DB::GetUpdatesSince returns. The iterator shares the engine, and may outlive the DB. Thread
// safety of the iterator: none.
Status NewUpdateIterator(std::shared_ptr<Engine> engine, SequenceNumber from,
                         std::unique_ptr<TransactionLogIterator>* iterator);

}  // namespace varve
