// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements DB::GetUpdatesSince: an iterator over the batches from a sequence number on, up to the
// first gap.

#include <memory>

#include "varve/status.h"
#include "varve/transaction_log.h"
#include "varve/types.h"

namespace varve {

struct Engine;

// Sets *iterator to one that begins at the batch with the sequence number `from`; leaves it after
// an error. Returns what DB::GetUpdatesSince returns. The iterator shares the engine, and may
// outlive the DB. It is not thread-safe.
Status NewUpdateIterator(std::shared_ptr<Engine> engine, SequenceNumber from,
                         std::unique_ptr<TransactionLogIterator>* iterator);

}  // namespace varve
