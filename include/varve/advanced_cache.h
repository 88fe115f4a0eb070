// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// The place where RocksDB 11 declares the class Cache; Varve's cache.h has all of it.

#include "varve/cache.h"
