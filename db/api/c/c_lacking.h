// SPDX-License-Identifier: Apache-2.0
#pragma once

// What options handles of the C API hold besides the C++ options: values of options that Varve has
// no field for, and setters that got a null handle. Opening says no to them, by name.

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::c {

// Has every value of every type of number that options are of.
using AnyNumber = long double;
static_assert(std::numeric_limits<AnyNumber>::digits >= 64);

// An option of RocksDB's without a field here. `struct_name` as in the options' schema.
struct LackingOption {
  const char* struct_name;
  const char* name;
  AnyNumber default_value = 0;
};

// Thread safety: as the options handle. Copied with it.
class LackingOptions {
 public:
  // `option` must live for ever.
  void Set(const LackingOption& option, AnyNumber value) { values_[&option] = value; }
  AnyNumber Get(const LackingOption& option) const {
    const auto found = values_.find(&option);
    return found == values_.end() ? option.default_value : found->second;
  }

  // Something that was set and is not a number: opening refuses `name` from now on, until it is
  // allowed again.
  void Refuse(const std::string& name) { refused_[name] = {}; }
  void Allow(const std::string& name) { refused_.erase(name); }

  // `function` got a null handle, or one that is not null after all.
  void NoteHandle(const char* function, bool is_null) {
    if (is_null) {
      refused_[function] = "null handle";
    } else {
      refused_.erase(function);
    }
  }

  // NotSupported or InvalidArgument for the first thing that would change a result.
  Status Check() const;

 private:
  std::map<const LackingOption*, AnyNumber> values_;
  std::map<std::string, std::string> refused_;  // Names, and what is wrong unless it is lacking.
};

}  // namespace varve::c
