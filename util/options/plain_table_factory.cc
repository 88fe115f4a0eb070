// SPDX-License-Identifier: Apache-2.0
#include "util/options/plain_table_factory.h"

#include <memory>

#include "varve/convenience.h"

#include "util/base/status_macros.h"
#include "util/options/option_schema.h"

namespace varve {

Status PlainTableFactory::ConfigureOptions(const ConfigOptions& config,
                                           const std::unordered_map<std::string, std::string>& map,
                                           std::unordered_map<std::string, std::string>* unused) {
  PlainTableOptions changed = options_;
  std::unordered_map<std::string, std::string> others;
  for (const auto& [name, value] : map) {
    bool found = false;
    const Status s = ApplyOption(PlainTableOptionTable(), config, name, value, OptionScope::kAll,
                                 &changed, &found);
    if (!found) {
      others.emplace(name, value);
    } else if (!s.ok()) {
      return s;
    }
  }
  VARVE_RETURN_IF_ERROR(TableFactory::ConfigureOptions(config, others, unused));
  options_ = changed;
  return Status::OK();
}

std::string PlainTableFactory::PrintOptions(const ConfigOptions& config) const {
  const OptionPrintStyle style = {.detailed = config.IsDetailed(),
                                  .dynamic_only = config.mutable_options_only};
  return varve::PrintOptions(PlainTableOptionTable(), style, &options_);
}

std::string PlainTableFactory::GetPrintableOptions() const {
  std::string text;
  for (const OptionRow& row : PlainTableOptionTable().rows()) {
    text.append("  ").append(row.name).append(": ");
    text.append(row.type().print({}, row.Field(&options_))).append("\n");
  }
  return text;
}

TableFactory* NewPlainTableFactory(const PlainTableOptions& options) {
  return std::make_unique<PlainTableFactory>(options).release();
}

}  // namespace varve
