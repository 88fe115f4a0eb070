// SPDX-License-Identifier: Apache-2.0

// Writes a directory with LevelDB from the script language of driver.h, as far as LevelDB goes:
// open, put, del, batch, write, compact, close, quit. The family is ignored. Options of `db`:
// "snappy" or "none", then "filter" or "-", as separate words.

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string FromHex(const std::string& text) {
  if (text == "-") return "";
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

class Writer {
 public:
  leveldb::Status Step(const std::vector<std::string>& w) {
    if (w[0] == "db") {
      options_.create_if_missing = true;
      options_.write_buffer_size = 64 << 10;
      options_.compression =
          w[1] == "snappy" ? leveldb::kSnappyCompression : leveldb::kNoCompression;
      if (w[2] == "filter") {
        filter_.reset(leveldb::NewBloomFilterPolicy(10));
        options_.filter_policy = filter_.get();
      }
    } else if (w[0] == "open") {
      leveldb::DB* db = nullptr;
      const leveldb::Status s = leveldb::DB::Open(options_, w[1], &db);
      db_.reset(db);
      return s;
    } else if (w[0] == "batch") {
      in_batch_ = true;
    } else if (w[0] == "write") {
      in_batch_ = false;
      return WriteOut();
    } else if (w[0] == "put" || w[0] == "del") {
      if (w[0] == "put") batch_.Put(FromHex(w[2]), FromHex(w[3]));
      if (w[0] == "del") batch_.Delete(FromHex(w[2]));
      if (!in_batch_) return WriteOut();
    } else if (w[0] == "compact") {
      db_->CompactRange(nullptr, nullptr);
    } else if (w[0] == "close") {
      db_.reset();
    } else if (w[0] == "quit") {
      _exit(0);
    } else {
      return leveldb::Status::InvalidArgument("unknown command " + w[0]);
    }
    return leveldb::Status::OK();
  }

 private:
  leveldb::Status WriteOut() {
    const leveldb::Status s = db_->Write(leveldb::WriteOptions(), &batch_);
    batch_.Clear();
    return s;
  }

  leveldb::Options options_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::DB> db_;
  leveldb::WriteBatch batch_;
  bool in_batch_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream script(argv[1]);
  Writer writer;
  for (std::string line; std::getline(script, line);) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.empty()) continue;
    words.resize(4);
    const leveldb::Status s = writer.Step(words);
    if (!s.ok()) {
      printf("PROBLEM %s: %s\n", words[0].c_str(), s.ToString().c_str());
      return 1;
    }
  }
  return 0;
}
