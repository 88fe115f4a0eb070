// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes table files as an SstFileWriter would, and such as it would not.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/file_system.h"
#include "varve/status.h"
#include "varve/types.h"

#include "util/key/internal_key.h"

namespace varve::testing {

struct ExternalEntry {
  ValueType type = kTypeValue;
  std::string value;
};

struct ExternalFile {
  std::map<std::string, ExternalEntry> entries;
  std::vector<std::pair<std::string, std::string>> tombstones;  // ranges, disjoint and ascending
  const Comparator* comparator = BytewiseComparator();
  uint64_t family_id = INT32_MAX;  // unknown
  uint32_t version = 2;            // 0: none is noted
  SequenceNumber sequence = 0;     // every key's

  ExternalFile& Put(const std::string& key, const std::string& value) {
    entries[key] = {kTypeValue, value};
    return *this;
  }
  ExternalFile& Delete(const std::string& key) {
    entries[key] = {kTypeDeletion, ""};
    return *this;
  }
  ExternalFile& Merge(const std::string& key, const std::string& operand) {
    entries[key] = {kTypeMerge, operand};
    return *this;
  }
  ExternalFile& DeleteRange(const std::string& begin, const std::string& end) {
    tombstones.emplace_back(begin, end);
    return *this;
  }
};

// Writes it, with an identity that no other file has, and syncs it.
Status WriteTo(FileSystem* fs, const std::string& path, const ExternalFile& file);

}  // namespace varve::testing
