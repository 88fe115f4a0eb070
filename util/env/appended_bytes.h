// SPDX-License-Identifier: Apache-2.0
#pragma once

// AppendedBytes: a file that is written to a string.

#include <string>

#include "varve/file_system.h"

namespace varve {

// Thread safety: none.
class AppendedBytes final : public FSWritableFile {
 public:
  // Appends to *bytes, which is not owned.
  explicit AppendedBytes(std::string* bytes) : bytes_(bytes) {}
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    bytes_->append(data.data(), data.size());
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  std::string* const bytes_;
};

}  // namespace varve
