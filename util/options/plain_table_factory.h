// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the factory of PlainTables. It only carries options; the table code reads and writes
// files.

#include <string>
#include <unordered_map>

#include "varve/table.h"

namespace varve {

class PlainTableFactory final : public TableFactory {
 public:
  explicit PlainTableFactory(const PlainTableOptions& options) : options_(options) {}

  static const char* kClassName() { return kPlainTableName(); }
  const char* Name() const override { return kClassName(); }
  std::string GetPrintableOptions() const override;

 protected:
  const void* GetOptionsPtr(const std::string& name) const override {
    return name == PlainTableOptions::kName() ? &options_ : nullptr;
  }
  Status ConfigureOptions(const ConfigOptions& config,
                          const std::unordered_map<std::string, std::string>& map,
                          std::unordered_map<std::string, std::string>* unused) override;
  std::string PrintOptions(const ConfigOptions& config) const override;

 private:
  PlainTableOptions options_;
};

}  // namespace varve
