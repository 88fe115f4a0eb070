// SPDX-License-Identifier: Apache-2.0
#pragma once

// RocksDB's Java glue includes this name for the functions that make caches.

#include "varve/cache.h"
