// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds what a command line asks for. Each command reads the members that its grammar fills
// (command_line.cc).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/varve/bytes_text.h"

namespace varve::tool {

struct Request {
  // Directory of the database; of commands that inspect single files: that file.
  std::string db;
  std::string family = "default";
  bool all_families = false;
  std::string target;              // Directory, or file, that a command writes or reads beside DB.
  std::vector<std::string> files;  // Table files to ingest, or metrics texts to report.

  ByteForm form = ByteForm::kPlain;   // Form of keys and values, on the command line and in output.
  std::vector<std::string> keys;      // Decoded.
  std::string value;                  // Decoded.
  std::optional<std::string> from;    // Decoded; inclusive.
  std::optional<std::string> to;      // Decoded; exclusive, for compact inclusive.
  std::optional<std::string> prefix;  // Decoded.
  uint64_t limit = UINT64_MAX;
  bool keys_only = false;
  std::optional<uint64_t> at;  // get, scan: newest sequence number that is seen.
  bool reverse = false;

  bool json = false;
  bool write = false;  // Permission to change the database.
  bool yes = false;    // Permission to destroy something.

  uint64_t interval_ms = 1000;  // top: time between two rows.

  bool quick = false;      // check: compares sizes and footers, and reads no blocks.
  bool entries = false;    // sst, log: prints the entries, too.
  bool list = false;       // backup: lists the backups of a directory.
  bool create = false;     // load: creates the database.
  bool as_tables = false;  // load: writes tables and adds them.
  int levels = 0;          // reduce-levels: number of levels afterwards.
  uint16_t port = 0;       // serve-metrics: port of the loopback interface; 0 is a free one.

  bool recompress = false;     // sst: tries codecs.
  uint64_t block_size = 4096;  // sst: size of the blocks of a trial, in bytes.
  uint32_t backup_id = 0;      // restore: 0 is the newest.
};

}  // namespace varve::tool
