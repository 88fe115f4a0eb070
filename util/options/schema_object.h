// SPDX-License-Identifier: Apache-2.0
#pragma once

// Derives the functions of a Configurable from the schema, for classes whose options are one
// struct with an option table.

#include <string>
#include <unordered_map>
#include <utility>

#include "varve/convenience.h"
#include "varve/status.h"

#include "util/base/status_macros.h"
#include "util/options/option_schema.h"

namespace varve {

// Sets the fields of `object` that the map names, and adds what the table does not have to *others.
// The values are those of StringToMap. After an error `object` is partly changed.
Status ConfigureFields(const OptionTable& table, const ConfigOptions& config,
                       const std::unordered_map<std::string, std::string>& map, void* object,
                       std::unordered_map<std::string, std::string>* others);

// Returns a line "  name: value" for every field that has a text form.
std::string PrintFieldLines(const OptionTable& table, const void* object);

// A class derived from Base, which is a Configurable, with the options that kTable describes.
template <typename Base, typename Struct, const OptionTable& (*kTable)()>
class SchemaObject : public Base {
 public:
  using Options = Struct;

  static const OptionTable& Schema() { return kTable(); }

  explicit SchemaObject(const Options& options) : options_(options) {}

  // Returns NotSupported for an option that has no text form, and is thus no wrong name.
  Status GetOption(const ConfigOptions& config, const std::string& name,
                   std::string* value) const override {
    const OptionRow* const row = Schema().Find(name);
    if (row == nullptr || row->HasText()) return Base::GetOption(config, name, value);
    return Status::NotSupported("has no text form", name);
  }
  std::string GetPrintableOptions() const override { return PrintFieldLines(Schema(), &options_); }

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == Options::kName() ? &options_ : nullptr;
  }
  // Changes a copy, so that an error in any option, also one that only the base class knows, leaves
  // the object as it was.
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& map,
                          std::unordered_map<std::string, std::string>* unused) override {
    Options changed = options_;
    std::unordered_map<std::string, std::string> others;
    VARVE_RETURN_IF_ERROR(ConfigureFields(Schema(), config, map, &changed, &others));
    VARVE_RETURN_IF_ERROR(Base::ConfigureOptions(config, others, unused));
    options_ = std::move(changed);
    return Status::OK();
  }
  std::string PrintOptions(const ConfigOptions& config) const override {
    const OptionPrintStyle style = {.detailed = config.IsDetailed(),
                                    .dynamic_only = config.mutable_options_only};
    return varve::PrintOptions(Schema(), style, &options_);
  }

  Options options_;
};

}  // namespace varve
