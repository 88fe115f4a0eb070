// SPDX-License-Identifier: Apache-2.0
#pragma once

// Creates objects of the program's own classes, by the names under which it registered them.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "varve/convenience.h"
#include "varve/utilities/object_registry.h"

#include "util/base/caught_exception.h"

namespace varve {

// Sets *made, which is a std::shared_ptr or, for objects that live until the program ends, a plain
// pointer. Returns NotFound if there is no registry, or no factory of the pointed-to type, or of
// its non-const form, has that name; an exception of the factory as a status. Changes nothing
// unless it returns OK.
template <typename Pointer>
Status NewRegisteredObject(const ConfigOptions& config, const std::string& id, Pointer* made) {
  using Traits = std::pointer_traits<Pointer>;
  using T = typename Traits::element_type;
  if (config.registry == nullptr) return Status::NotFound();
  return Guarded([&] {
    if (config.registry->template GetFactory<T>(id)) {
      if constexpr (std::is_pointer_v<Pointer>) {
        return config.registry->NewStaticObject(id, made);
      } else {
        return config.registry->NewSharedObject(id, made);
      }
    }
    Status s = Status::NotFound();
    if constexpr (std::is_const_v<T>) {
      typename Traits::template rebind<std::remove_const_t<T>> variable = nullptr;
      s = NewRegisteredObject(config, id, &variable);
      if (s.ok()) *made = std::move(variable);
    }
    return s;
  });
}

}  // namespace varve
