// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the memtable factories that the engine supports, and their text form.

#include <memory>
#include <string_view>

#include "varve/memtablerep.h"
#include "varve/status.h"

namespace varve {

// Parses "name", "name:N" or "name:N;field=value", in braces or not, or "{id=name;field=value}".
// Returns NotSupported for other names, InvalidArgument for unreadable text and, unless they are to
// be ignored, for other fields. An error changes nothing.
Status ParseMemTableFactory(std::string_view text, bool ignore_unknown_fields,
                            std::unique_ptr<MemTableRepFactory>* made);

// True if the factory is one of these, and not a class of the user.
[[nodiscard]] bool IsKnownMemTableFactory(const MemTableRepFactory& factory);

}  // namespace varve
