// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Exists because RocksDB 11 declares the class Cache here; Varve's cache.h declares all of it.

#include "varve/cache.h"
