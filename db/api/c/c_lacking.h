// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what options handles of the C API have besides the C++ options: values of options that
// Varve has no field for, and setters that got a null handle. Opening refuses them, by name.

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "varve/status.h"

namespace varve::c {

// Can hold every value of every numeric option.
using AnyNumber = long double;
static_assert(std::numeric_limits<AnyNumber>::digits >= 64);

// Names an option of RocksDB's without a field here. `struct_name` is the schema's.
struct LackingOption {
  const char* struct_name;
  const char* name;
  AnyNumber default_value = 0;
};

// Thread safety: that of the options handle, with which it is copied.
class LackingOptions {
 public:
  // Sets the value of an option, which must live for ever.
  void Set(const LackingOption& option, AnyNumber value) { values_[&option] = value; }
  // Returns the value that was set last, or else the option's default.
  AnyNumber Get(const LackingOption& option) const {
    const auto found = values_.find(&option);
    return found == values_.end() ? option.default_value : found->second;
  }

  // Records that an option was set which is not a number, or takes that back. In between an opening
  // refuses `name`.
  void Refuse(const std::string& name) { refused_[name] = {}; }
  void Allow(const std::string& name) { refused_.erase(name); }

  // Records if `function` got a null handle in its last call. After a null an opening refuses it.
  void NoteHandle(const char* function, bool is_null) {
    if (is_null) {
      refused_[function] = "null handle";
    } else {
      refused_.erase(function);
    }
  }

  // Returns OK, or the error of one option, which it names. InvalidArgument: a setter got a null
  // handle (NoteHandle). NotSupported: the option was set by Refuse, or to another value than its
  // default, and ignoring that could change a result.
  Status Check() const;

 private:
  std::map<const LackingOption*, AnyNumber> values_;
  std::map<std::string, std::string> refused_;  // Names, and what is wrong unless it is lacking.
};

}  // namespace varve::c
