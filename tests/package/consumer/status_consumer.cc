// SPDX-License-Identifier: Apache-2.0
// Uses the vocabulary as a foreign program would: it needs a public header and one symbol of the
// library.

#include <varve/status.h>

int main() {
  const varve::Status status = varve::Status::NotFound("a", "b");
  return status.IsNotFound() && status.ToString() == "NotFound: a: b" ? 0 : 1;
}
