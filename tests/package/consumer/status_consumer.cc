// SPDX-License-Identifier: Apache-2.0
// A stranger's program over the vocabulary: needs a public header and one symbol of the library.

#include <varve/status.h>

int main() {
  const varve::Status status = varve::Status::NotFound("a", "b");
  return status.IsNotFound() && status.ToString() == "NotFound: a: b" ? 0 : 1;
}
