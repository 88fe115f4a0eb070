// SPDX-License-Identifier: Apache-2.0
#pragma once

// Objects of the program's own classes, by the names under which it has registered them.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "varve/convenience.h"
#include "varve/utilities/object_registry.h"

#include "util/base/caught_exception.h"

namespace varve {

// Into *made, which is a std::shared_ptr or, for what lives for ever, a plain pointer. NotFound:
// nobody has registered the name, as what it points to or, if that is constant, as its like that is
// not. Nothing is changed unless the answer is OK.
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
