// SPDX-License-Identifier: Apache-2.0
#include "db/engine/engine.h"

#include <utility>

namespace varve {

Engine::Engine(DbContext::Identity identity, const DBOptions& db_options,
               std::shared_ptr<const DBOptions> given_options)
    : context(std::move(identity), db_options), options(std::move(given_options)) {}

}  // namespace varve
