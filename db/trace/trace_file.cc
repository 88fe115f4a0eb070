// SPDX-License-Identifier: Apache-2.0

// Implements the file of a trace: NewFileTraceWriter and NewFileTraceReader.

#include <algorithm>
#include <string>
#include <utility>

#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/trace_reader_writer.h"

#include "db/trace/trace_format.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/coding/fixed.h"
#include "util/env/sequential_file_reader.h"
#include "util/env/writable_file_writer.h"

namespace varve {

namespace {

// Appends records to a file.
class FileTraceWriter final : public TraceWriter {
 public:
  FileTraceWriter(std::shared_ptr<FileSystem> fs, std::unique_ptr<WritableFileWriter> file)
      : fs_(std::move(fs)), file_(std::move(file)) {}

  Status Write(const Slice& data) override { return file_->Append(data); }
  Status Close() override { return file_->Close(); }
  uint64_t GetFileSize() override { return file_->file_size(); }

 private:
  // Is held because it must outlive file_: a trace that was not ended is closed with its database,
  // and the Env of the file may be destroyed before that.
  const std::shared_ptr<FileSystem> fs_;
  const std::unique_ptr<WritableFileWriter> file_;
};

// Reads the records of a file one by one, by the sizes in their heads.
class FileTraceReader final : public TraceReader {
 public:
  FileTraceReader(std::shared_ptr<FileSystem> fs, std::string name, const FileOptions& options)
      : fs_(std::move(fs)), name_(std::move(name)), options_(options) {}

  Status Read(std::string* data) override try {
    if (data == nullptr) return Status::InvalidArgument("trace: the place for the record is null");
    data->clear();
    if (file_ == nullptr) return Status::Incomplete("trace: " + name_ + " is closed");
    const uint64_t begin = file_->position();
    VARVE_RETURN_IF_ERROR(Append(trace::kRecordHeadBytes, data));
    if (data->empty()) return Status::Incomplete("trace: " + name_ + " has no more records");
    if (data->size() < trace::kRecordHeadBytes) return CutAt(begin);
    // The head ends with the size of the payload, in four bytes.
    const uint64_t whole = trace::kRecordHeadBytes +
                           uint64_t{DecodeFixed32(data->data() + trace::kRecordHeadBytes - 4)};
    VARVE_RETURN_IF_ERROR(Append(whole - data->size(), data));
    return data->size() < whole ? CutAt(begin) : Status::OK();
  } catch (...) {
    return CaughtException();
  }

  Status Close() override {
    file_.reset();
    return Status::OK();
  }

  Status Reset() override { return SequentialFileReader::Open(fs_.get(), name_, options_, &file_); }

 private:
  // Appends the next `bytes` bytes of the file to *data, fewer if the file ends. Memory is
  // allocated in steps, as the size of a damaged record may be far more than the file has.
  Status Append(uint64_t bytes, std::string* data) {
    constexpr uint64_t kStep = uint64_t{1} << 20;
    while (bytes > 0) {
      const size_t step = static_cast<size_t>(std::min(bytes, kStep));
      const size_t had = data->size();
      data->resize(had + step);
      Slice got;
      VARVE_RETURN_IF_ERROR(file_->Read(step, &got, data->data() + had));
      data->resize(had + got.size());
      if (got.size() < step) break;
      bytes -= step;
    }
    return Status::OK();
  }

  // Returns the error for a file that ends within the record at this offset.
  Status CutAt(uint64_t offset) const {
    return Status::Corruption("trace: " + name_ + " ends within the record at offset " +
                              std::to_string(offset));
  }

  const std::shared_ptr<FileSystem> fs_;
  const std::string name_;
  const FileOptions options_;
  std::unique_ptr<SequentialFileReader> file_;  // Null: closed.
};

Status CheckArguments(const char* call, const Env* env, const void* result) {
  if (env != nullptr && result != nullptr) return Status::OK();
  return Status::InvalidArgument(std::string(call) + ": a pointer is null");
}

}  // namespace

Status NewFileTraceWriter(Env* env, const EnvOptions& env_options,
                          const std::string& trace_filename,
                          std::unique_ptr<TraceWriter>* trace_writer) try {
  VARVE_RETURN_IF_ERROR(CheckArguments("NewFileTraceWriter", env, trace_writer));
  trace_writer->reset();
  const FileOptions options(env_options);
  const std::shared_ptr<FileSystem> fs = env->GetFileSystem();
  std::unique_ptr<WritableFileWriter> file;
  VARVE_RETURN_IF_ERROR(WritableFileWriter::Create(
      fs.get(), trace_filename, options, WritableFileWriter::OptionsFrom(options), &file));
  *trace_writer = std::make_unique<FileTraceWriter>(fs, std::move(file));
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status NewFileTraceReader(Env* env, const EnvOptions& env_options,
                          const std::string& trace_filename,
                          std::unique_ptr<TraceReader>* trace_reader) try {
  VARVE_RETURN_IF_ERROR(CheckArguments("NewFileTraceReader", env, trace_reader));
  trace_reader->reset();
  auto reader = std::make_unique<FileTraceReader>(env->GetFileSystem(), trace_filename,
                                                  FileOptions(env_options));
  VARVE_RETURN_IF_ERROR(reader->Reset());
  *trace_reader = std::move(reader);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

}  // namespace varve
