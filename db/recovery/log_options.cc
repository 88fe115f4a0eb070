// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/log_options.h"

#include <algorithm>
#include <string>

#include "varve/version.h"

#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/options/option_schema.h"

namespace varve {

namespace {

// One entry, so that an opening costs a write, not hundreds.
void LogTable(Logger* log, std::string title, const OptionTable& table, const void* object) {
  OptionPrintStyle style;
  style.delimiter = "\n";
  style.detailed = true;
  const std::string text = PrintOptions(table, style, object);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const size_t equals = std::min(line.find('='), line.size());
    title += "\n  Options." + line.substr(0, equals) + ": ";
    if (equals < line.size()) title.append(line, equals + 1);
    at = end + 1;
  }
  LogHeader(log, "%s", title.c_str());
}

void LogSummary(const DbContext& context, const std::vector<std::string>& entries) {
  size_t tables = 0;
  std::string others;
  for (const std::string& entry : entries) {
    uint64_t number = 0;
    FileType type;
    if (!ParseFileName(entry, &number, &type)) continue;
    if (type == kTableFile) tables++;
    if (type == kDescriptorFile || type == kWalFile) others += " " + entry;
  }
  LogHeader(context.info_log(), "DB SUMMARY: %s, session %s: %zu tables,%s", context.name().c_str(),
            context.session_id().c_str(), tables, others.c_str());
}

}  // namespace

void LogOptions(const DbContext& context, const std::vector<ColumnFamilyDescriptor>& families,
                const std::vector<std::string>& entries) {
  Logger* const log = context.info_log();
  if (log == nullptr) return;
  LogSummary(context, entries);
  LogTable(log, "Varve version: " + GetVarveVersionAsString(), DbOptionTable(), &context.options());
  for (const ColumnFamilyDescriptor& family : families) {
    LogTable(log,
             "--------------- Options for column family [" + family.name + "]:", CfOptionTable(),
             &family.options);
  }
}

}  // namespace varve
