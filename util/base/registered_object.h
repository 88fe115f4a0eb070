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

// NotFound: nobody has registered the name, as what `T` is or, if that is constant, as its like
// that is not. Nothing is changed unless the answer is OK.
template <typename T>
Status NewRegisteredObject(const ConfigOptions& config, const std::string& id,
                           std::shared_ptr<T>* made) {
  const Status missing = Status::NotFound();
  if (config.registry == nullptr) return missing;
  return Guarded([&] {
    if (config.registry->template GetFactory<T>(id)) {
      return config.registry->template NewSharedObject<T>(id, made);
    }
    if constexpr (std::is_const_v<T>) {
      std::shared_ptr<std::remove_const_t<T>> variable;
      Status s = NewRegisteredObject(config, id, &variable);
      if (s.ok()) *made = std::move(variable);
      return s;
    }
    return missing;
  });
}

// The same of what nobody owns.
template <typename T>
Status NewRegisteredStaticObject(const ConfigOptions& config, const std::string& id, T** made) {
  const Status missing = Status::NotFound();
  if (config.registry == nullptr) return missing;
  return Guarded([&] {
    if (config.registry->template GetFactory<T>(id)) {
      return config.registry->template NewStaticObject<T>(id, made);
    }
    if constexpr (std::is_const_v<T>) {
      std::remove_const_t<T>* variable = nullptr;
      Status s = NewRegisteredStaticObject(config, id, &variable);
      if (s.ok()) *made = variable;
      return s;
    }
    return missing;
  });
}

}  // namespace varve
