// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// MemoryAllocator: where the block cache gets the memory of its blocks.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/status.h"

namespace varve {

struct ConfigOptions;

/// Must be thread-safe, and must outlive every block it served: caches hold a shared_ptr to it.
class MemoryAllocator : public Customizable {
 public:
  ~MemoryAllocator() override = default;

  static const char* Type() { return "MemoryAllocator"; }
  /// A registered object: its name, or "id=name;option=value;...", in braces or not; null for ""
  /// and "nullptr". NotSupported: no such name is registered.
  VARVE_EXPORT static Status CreateFromString(const ConfigOptions& config_options,
                                              const std::string& value,
                                              std::shared_ptr<MemoryAllocator>* result);

  /// At least `size` bytes, aligned as malloc would. Null means out of memory.
  virtual void* Allocate(size_t size) = 0;
  /// Takes back what Allocate() returned.
  virtual void Deallocate(void* p) = 0;

  /// Bytes that `p`, allocated with `allocation_size`, really occupies; used for charging.
  virtual size_t UsableSize(void* /*p*/, size_t allocation_size) const { return allocation_size; }
};

}  // namespace varve
