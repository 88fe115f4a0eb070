// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes copies by copy_file_range, and clones of whole files if the file system supports them.

#include <cstdint>
#include <memory>
#include <string>

#include "util/env/kernel_copy.h"

namespace varve {

// Implements KernelCopySource::NewKernelCopy for files of the operating system.
IOStatus NewPosixKernelCopy(const std::string& source, const std::string& target, uint64_t size,
                            std::unique_ptr<KernelCopy>* result);

}  // namespace varve
