// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the text of a dump. Lengths precede keys and values, so that any bytes pass:
//
//   varve-dump 1
//   family <bytes of name> <bytes of comparator's name>
//   <name><comparator's name>
//   put <bytes of key> <bytes of value>
//   <key><value>
//   end <number of puts in the whole dump>
//
// Each line ends with a newline. Families come in the order of their ids, keys in that of their
// family. A dump without its last line is cut.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "varve/status.h"

#include "tools/varve/output.h"

namespace varve::tool {

void AppendDumpHeader(Output* out);
void AppendDumpFamily(std::string_view name, std::string_view comparator, Output* out);
void AppendDumpPut(std::string_view key, std::string_view value, Output* out);
void AppendDumpEnd(uint64_t puts, Output* out);

// Holds one record of a dump. The bytes are valid until the next one is read.
struct DumpRecord {
  enum class Kind : uint8_t { kFamily, kPut, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view first;   // Name, or key.
  std::string_view second;  // Name of the comparator, or value.
};

// Reads a dump from a file that it owns. Not thread-safe.
class DumpReader {
 public:
  // "-" is the standard input.
  static Status Open(const std::string& path, std::unique_ptr<DumpReader>* reader);
  ~DumpReader();
  DumpReader(const DumpReader&) = delete;
  DumpReader& operator=(const DumpReader&) = delete;

  // Reads the header line. InvalidArgument: the file is no dump.
  Status ReadHeader();
  // Corruption, naming the offset, for a malformed or cut dump. Returns kEnd once and then is done.
  Status Next(DumpRecord* record);

 private:
  DumpReader(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  Status ReadLine(std::string* line);
  Status ReadBody(uint64_t first, uint64_t second, DumpRecord* record);
  Status Bad(const std::string& what) const;

  const std::string path_;
  std::FILE* const file_;
  std::string body_;
  uint64_t offset_ = 0;
  uint64_t puts_ = 0;
};

}  // namespace varve::tool
