// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements DB::GetUpdatesSince: the batches since a sequence number, until there is a gap.

#include <memory>

#include "varve/status.h"
#include "varve/transaction_log.h"
#include "varve/types.h"

namespace varve {

struct Engine;

// Returns the statuses of DB::GetUpdatesSince. The iterator keeps the engine, and may outlive the
// DB.
Status NewUpdateIterator(std::shared_ptr<Engine> engine, SequenceNumber from,
                         std::unique_ptr<TransactionLogIterator>* iterator);

}  // namespace varve
