// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/log_options.h"

#include <algorithm>
#include <string>

#include "varve/convenience.h"
#include "varve/table.h"
#include "varve/version.h"

#include "util/coding/crc32c.h"
#include "util/compress/codec.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/options/option_schema.h"

namespace varve {

namespace {

// Returns the word that RocksDB's LOG has for a value of a compression option.
std::string WordOf(const std::string& value) {
  if (value == "kDisableCompressionOption") return "Disabled";
  for (const CompressionType type :
       {kNoCompression, kSnappyCompression, kZlibCompression, kBZip2Compression, kLZ4Compression,
        kLZ4HCCompression, kXpressCompression, kZSTD}) {
    std::string name;
    if (GetStringFromCompressionType(&name, type).ok() && name == value) {
      return CompressionTypeName(type);
    }
  }
  return value;
}

// Appends a line for each option, which begins with `before`. Enumerations are printed like in
// RocksDB's LOG, as programs search for that.
void AppendLines(const OptionTable& table, OptionPrintStyle::Words words, const char* before,
                 const void* object, std::string* text) {
  const OptionPrintStyle style = {.delimiter = "\n", .words = words};
  const std::string options = PrintOptions(table, style, object);
  for (size_t at = 0; at < options.size();) {
    const size_t end = std::min(options.find('\n', at), options.size());
    const std::string line = options.substr(at, end - at);
    const size_t equals = std::min(line.find('='), line.size());
    *text += before + line.substr(0, equals) + ": ";
    if (equals < line.size()) *text += WordOf(line.substr(equals + 1));
    at = end + 1;
  }
}

// Logs the version of RocksDB whose API and files these are in the form of RocksDB's LOG, as
// programs search for it.
void LogVersions(Logger* log) {
  LogHeader(log, "RocksDB version: 11.8.1");
  LogHeader(log, "Git sha varve-%s", GetVarveVersionAsString().c_str());
  LogHeader(log, "Built from %s", GetVarveBuildInfoAsString().c_str());
}

// Logs all options as one entry, so that an opening needs a few writes instead of hundreds.
void LogDbOptions(const DbContext& context) {
  std::string text = "Varve version: " + GetVarveVersionAsString();
  AppendLines(DbOptionTable(), OptionPrintStyle::Words::kNames, "\n  Options.", &context.options(),
              &text);
  text += "\n  Compression algorithms supported:";
  for (const CompressionType type : GetSupportedCompressions()) {
    std::string name;
    if (type == kNoCompression || !GetStringFromCompressionType(&name, type).ok()) continue;
    text += "\n  \t" + name + " supported: 1";
  }
  const bool fast_crc = crc32c::FindX86Extend() != nullptr || crc32c::FindArm64Extend() != nullptr;
  text += std::string("\n  Fast CRC32 supported: ") +
          (fast_crc ? "Supported on this processor" : "Not supported on this processor");
  text += "\n  Jemalloc supported: 0";
  LogHeader(context.info_log(), "%s", text.c_str());
}

void AppendTableOptions(const BlockBasedTableOptions& options, std::string* text) {
  *text += "\n  table_factory options:";
  AppendLines(BlockBasedTableOptionTable(), OptionPrintStyle::Words::kNone, "\n  ", &options, text);
  if (options.block_cache == nullptr) return;
  *text += std::string("\n  block_cache_name: ") + options.block_cache->Name();
  *text += "\n  block_cache_options:\n" + options.block_cache->GetPrintableOptions();
  while (text->back() == '\n') text->pop_back();
}

void LogSummary(const DbContext& context, const std::vector<std::string>& entries) {
  size_t tables = 0;
  std::string others;
  for (const auto& [entry, number, type] : FilesAmong(entries)) {
    if (type == kTableFile) tables++;
    if (type == kDescriptorFile || type == kWalFile) others += " " + entry;
  }
  LogHeader(context.info_log(), "DB SUMMARY: %s, session %s: %zu tables,%s", context.name().c_str(),
            context.session_id().c_str(), tables, others.c_str());
}

std::string FirstLineOf(const std::string& family) {
  return "--------------- Options for column family [" + family + "]:";
}

}  // namespace

void ForgetFamilyOptions(Logger* log, const std::string& family) {
  ForgetHeader(log, FirstLineOf(family));
}

void LogFamilyOptions(Logger* log, const ColumnFamilyDescriptor& family) {
  if (log == nullptr) return;
  const ColumnFamilyOptions& options = family.options;
  std::string text = FirstLineOf(family.name);
  AppendLines(CfOptionTable(), OptionPrintStyle::Words::kNames, "\n  Options.", &options, &text);
  text += "\n  Options.table_properties_collectors: ";
  for (const auto& collector : options.table_properties_collector_factories) {
    text += collector->ToString() + "; ";
  }
  const auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  if (table != nullptr) AppendTableOptions(*table, &text);
  LogHeader(log, "%s", text.c_str());
}

void LogOptions(const DbContext& context, const std::vector<ColumnFamilyDescriptor>& families,
                const std::vector<std::string>& entries) {
  Logger* const log = context.info_log();
  if (log == nullptr) return;
  LogVersions(log);
  LogSummary(context, entries);
  LogDbOptions(context);
  for (const ColumnFamilyDescriptor& family : families) LogFamilyOptions(log, family);
}

}  // namespace varve
