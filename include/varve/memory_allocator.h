// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// MemoryAllocator supplies the memory of blocks in the block cache.
//
// Set it in ShardedCacheOptions::memory_allocator; without one the standard allocator is used. An
// allocator with arenas of its own keeps the blocks of a cache from fragmenting the memory of the
// program.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

/// Allocates the memory of a cache's entries. Must be thread-safe, and must outlive every block it
/// allocated: caches hold a shared_ptr to it.
class MemoryAllocator : public Customizable {
 public:
  ~MemoryAllocator() override = default;

  /// Returns the class name under which ObjectRegistry keeps factories of allocators.
  static const char* Type() { return "MemoryAllocator"; }
  /// Accepts a registered object: its name, or "id=name;option=value;...", with or without braces;
  /// null for "" and "nullptr". NotSupported: no such name is registered.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<MemoryAllocator>* result);

  /// Returns at least `size` bytes, aligned like those of malloc, or null if out of memory.
  virtual void* Allocate(size_t size) = 0;
  /// Frees memory that Allocate() returned.
  virtual void Deallocate(void* p) = 0;

  /// Returns the bytes that the allocation of `allocation_size` bytes at `p` really takes, which
  /// are charged to the cache.
  virtual size_t UsableSize(void* /*p*/, size_t allocation_size) const { return allocation_size; }
};

}  // namespace varve
