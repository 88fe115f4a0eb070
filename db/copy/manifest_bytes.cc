// SPDX-License-Identifier: Apache-2.0
#include "db/copy/manifest_bytes.h"

#include <memory>
#include <utility>

#include "varve/file_system.h"

#include "db/wal/log_writer.h"
#include "util/base/status_macros.h"
#include "util/env/writable_file_writer.h"

namespace varve {

namespace {

class BytesFile final : public FSWritableFile {
 public:
  explicit BytesFile(std::string* bytes) : bytes_(bytes) {}
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

}  // namespace

IOStatus FrameRecords(const std::vector<std::string>& records, uint64_t manifest_number,
                      std::string* bytes) {
  bytes->clear();
  wal::LogWriter writer(
      std::make_unique<WritableFileWriter>(std::make_unique<BytesFile>(bytes), "MANIFEST",
                                           WritableFileWriter::Options()),
      manifest_number, wal::LogWriterOptions{.manual_flush = true});
  for (const std::string& record : records) VARVE_RETURN_IF_ERROR(writer.AddRecord(record));
  return writer.Close();
}

}  // namespace varve
