// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies that the kernel makes, without the bytes passing through the process: an interface that a
// file system may offer beside FileSystem.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"

namespace varve {

// One file on its way. Thread safety: none.
class KernelCopy {
 public:
  virtual ~KernelCopy() = default;
  // Copies up to n bytes more; *copied is 0 where the source ends. NotSupported, before any byte
  // was copied: these two files cannot be copied so.
  virtual IOStatus Copy(size_t n, size_t* copied) = 0;
};

// Implemented by file systems that offer such copies.
class KernelCopySource {
 public:
  virtual ~KernelCopySource() = default;
  // `target` exists and is empty. `size` is how much is to be copied in all: if that is the whole
  // file, and the file system lets files share blocks, it is done at once.
  virtual IOStatus NewKernelCopy(const std::string& source, const std::string& target,
                                 uint64_t size, std::unique_ptr<KernelCopy>* result) = 0;
};

// NotSupported also when `fs` offers none, as one that a user wrote or that wraps another.
inline IOStatus NewKernelCopy(FileSystem* fs, const std::string& source, const std::string& target,
                              uint64_t size, std::unique_ptr<KernelCopy>* result) {
  result->reset();
  auto* const offers = dynamic_cast<KernelCopySource*>(fs);
  if (offers == nullptr) return IOStatus::NotSupported(source, "no copies in the kernel here");
  return offers->NewKernelCopy(source, target, size, result);
}

}  // namespace varve
