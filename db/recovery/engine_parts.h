// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every opening of an engine begins and ends with, whatever it reads in between.

#include <memory>
#include <vector>

#include "varve/db.h"

#include "db/recovery/open.h"

namespace varve {

struct Engine;

// An engine with the request's options, sanitised, and paths that are absolute; nothing is read.
std::shared_ptr<Engine> MakeEngine(const OpenRequest& request);

// InvalidArgument if one cannot be opened so, is named twice, or if the default one is not named.
Status CheckFamilies(const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families);

// The way of writes into an engine whose logs and versions are there.
void MakeWritePath(Engine* engine);

}  // namespace varve
