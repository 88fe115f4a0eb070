// SPDX-License-Identifier: Apache-2.0

// Implements objects with options that also have an id.

#include "varve/customizable.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <unordered_map>

#include "varve/convenience.h"

#include "util/base/status_macros.h"

namespace varve {

Customizable::~Customizable() = default;

// The address is unique among living objects, and the process's number among processes, so that ids
// in one log file of several processes differ.
std::string Customizable::GenerateIndividualId() const {
  std::array<char, 64> place{};
  std::snprintf(place.data(), place.size(), "@%p#%d", static_cast<const void*>(this),
                static_cast<int>(getpid()));
  return std::string(Name()) + place.data();
}

bool Customizable::IsInstanceOf(const std::string& name) const {
  const char* const nick_name = NickName();
  return !name.empty() && (name == Name() || (nick_name != nullptr && name == nick_name));
}

const Customizable* Customizable::FindInstance(const std::string& name) const {
  const Customizable* object = this;
  while (object != nullptr && !object->IsInstanceOf(name)) object = object->Inner();
  return object;
}

Status Customizable::GetOption(const ConfigOptions& config_options, const std::string& name,
                               std::string* value) const {
  if (name != kIdOption) return Configurable::GetOption(config_options, name, value);
  *value = GetId();
  return Status::OK();
}

bool Customizable::AreEquivalent(const ConfigOptions& config_options, const Configurable* other,
                                 std::string* name) const {
  if (other == nullptr || other == this) return other == this;
  if (!config_options.IsCheckEnabled(ConfigOptions::kSanityLevelLooselyCompatible)) return true;
  std::string their_id;
  if (!other->GetOption(config_options, kIdOption, &their_id).ok() || their_id != GetId()) {
    *name = kIdOption;
    return false;
  }
  return Configurable::AreEquivalent(config_options, other, name);
}

// If the text names the kind that the object has already, its present options complete the new
// ones: merge() keeps what `options` has and adds what it lacks.
Status Customizable::GetOptionsMap(const ConfigOptions& config_options, const Customizable* custom,
                                   const std::string& opt_value, std::string* id,
                                   std::unordered_map<std::string, std::string>* options) {
  const std::string own_id = custom == nullptr ? "" : custom->GetId();
  VARVE_RETURN_IF_ERROR(Configurable::GetOptionsMap(opt_value, own_id, id, options));
  if (custom == nullptr || *id != own_id) return Status::OK();
  ConfigOptions plain = config_options;
  plain.delimiter = ";";
  std::string text;
  VARVE_RETURN_IF_ERROR(custom->GetOptionString(plain, &text));
  std::unordered_map<std::string, std::string> others;
  VARVE_RETURN_IF_ERROR(StringToMap(text, &others));
  options->merge(others);
  return Status::OK();
}

Status Customizable::ConfigureNewObject(
    const ConfigOptions& config_options, Customizable* object,
    const std::unordered_map<std::string, std::string>& options) {
  if (object != nullptr) return object->ConfigureFromMap(config_options, options);
  if (options.empty()) return Status::OK();
  return Status::InvalidArgument("there is no object for the option", options.begin()->first);
}

}  // namespace varve
