// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares copies made by the kernel, without the bytes passing through the process: an interface
// that a file system may offer in addition to FileSystem.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"

namespace varve {

// The copy of one file. Thread safety: none.
class KernelCopy {
 public:
  virtual ~KernelCopy() = default;
  // Copies up to n bytes more, and sets *copied to their number; 0: the end of the source is
  // reached. NotSupported: these two files cannot be copied in this way; no byte of them was.
  virtual IOStatus Copy(size_t n, size_t* copied) = 0;
};

// Implemented by file systems that offer such copies.
class KernelCopySource {
 public:
  virtual ~KernelCopySource() = default;
  // Begins a copy. Requires that `target` exists and is empty. `size` is the number of bytes to
  // copy in all: if that is the whole file, and the file system lets files share blocks, it is done
  // at once.
  virtual IOStatus NewKernelCopy(const std::string& source, const std::string& target,
                                 uint64_t size, std::unique_ptr<KernelCopy>* result) = 0;
};

// Begins a copy if `fs` implements KernelCopySource. Returns NotSupported if it does not, which
// includes file systems of users and wrappers.
inline IOStatus NewKernelCopy(FileSystem* fs, const std::string& source, const std::string& target,
                              uint64_t size, std::unique_ptr<KernelCopy>* result) {
  result->reset();
  auto* const offers = dynamic_cast<KernelCopySource*>(fs);
  if (offers == nullptr) return IOStatus::NotSupported(source, "no copies in the kernel here");
  return offers->NewKernelCopy(source, target, size, result);
}

}  // namespace varve
