// SPDX-License-Identifier: Apache-2.0

// Tests where outputs end.

#include "db/compaction/output_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace varve {
namespace {

FileRef Grandparent(const std::string& smallest, const std::string& largest, uint64_t size) {
  auto file = std::make_shared<FileMetaData>();
  file->smallest.Set(smallest, 1, kTypeValue);
  file->largest.Set(largest, 1, kTypeValue);
  file->size = size;
  return file;
}

// Feeds one-letter keys that add `bytes` each; returns the files as "abc|def".
std::string Split(const std::vector<FileRef>& grandparents, uint64_t target, uint64_t max_overlap,
                  uint64_t bytes, const std::string& keys) {
  const InternalKeyComparator icmp(BytewiseComparator());
  OutputSplitter splitter(&icmp, &grandparents, target, max_overlap);
  std::string text;
  uint64_t size = 0;
  bool open = false;
  for (const char c : keys) {
    const std::string key(1, c);
    const auto reaches = [&size](uint64_t bytes_wanted) { return size >= bytes_wanted; };
    if (open && splitter.ShouldStopBefore(key, reaches)) {
      text += '|';
      open = false;
    }
    if (!open) {
      splitter.StartFile(key);
      open = true;
      size = 0;
    }
    text += c;
    size += bytes;
  }
  return text;
}

TEST(OutputSplitter, CutsAtTheTargetSize) {
  EXPECT_EQ(Split({}, 30, UINT64_MAX, 10, "abcdefgh"), "abc|def|gh");
  EXPECT_EQ(Split({}, UINT64_MAX, UINT64_MAX, 10, "abcdefgh"), "abcdefgh");
}

TEST(OutputSplitter, CutsBeforeItOverlapsTooMuchBeneath) {
  const std::vector<FileRef> grandparents = {Grandparent("a", "b", 100), Grandparent("c", "d", 100),
                                             Grandparent("e", "f", 100),
                                             Grandparent("g", "h", 100)};
  EXPECT_EQ(Split(grandparents, 1000, 200, 1, "abcdefgh"), "abcd|efgh");
  EXPECT_EQ(Split(grandparents, 1000, 400, 1, "abcdefgh"), "abcdefgh");
  // A single grandparent that is too large is not split.
  EXPECT_EQ(Split(grandparents, 1000, 50, 1, "abcdefgh"), "ab|cd|ef|gh");
}

TEST(OutputSplitter, ANearlyFullFileEndsAtAGrandparentsBorder) {
  const std::vector<FileRef> grandparents = {Grandparent("a", "d", 1), Grandparent("e", "z", 1)};
  EXPECT_EQ(Split(grandparents, 50, 1000, 10, "abcdefgh"), "abcd|efgh");
  EXPECT_EQ(Split(grandparents, 60, 1000, 10, "abcdefgh"), "abcdef|gh");
}

TEST(OutputSplitter, GrandparentsBeforeTheFirstKeyDoNotCount) {
  const std::vector<FileRef> grandparents = {Grandparent("a", "b", 500), Grandparent("m", "n", 100),
                                             Grandparent("o", "p", 100)};
  EXPECT_EQ(Split(grandparents, 1000, 200, 1, "mnop"), "mnop");
}

}  // namespace
}  // namespace varve
