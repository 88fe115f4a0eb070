// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memtable factories that the engine has memtables for, and their text form.

#include <memory>
#include <string_view>

#include "varve/memtablerep.h"
#include "varve/status.h"

namespace varve {

// "name", "name:N" or "name:N;field=value", in braces or not, or "{id=name;field=value}".
// NotSupported for other names, InvalidArgument for what cannot be read and, unless they are to be
// ignored, for other fields. An error changes nothing.
Status ParseMemTableFactory(std::string_view text, bool ignore_unknown_fields,
                            std::unique_ptr<MemTableRepFactory>* made);

// Whether it is one of them, and not a class of the user.
[[nodiscard]] bool IsKnownMemTableFactory(const MemTableRepFactory& factory);

}  // namespace varve
