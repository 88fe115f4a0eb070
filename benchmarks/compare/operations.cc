// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/compare/operations.h"

#include <array>
#include <string_view>

namespace compare {

Operation GetOf(uint64_t n) {
  return [n](Session* session, Random* random, Digest* digest) -> uint64_t {
    session->Get(Key(random->Below(n)).view(), digest);
    return 1;
  };
}

Operation GetOfMissing(uint64_t n) {
  return [n](Session* session, Random* random, Digest* digest) -> uint64_t {
    Key key(random->Below(n));
    key.MakeMissing();
    session->Get(key.view(), digest);
    return 1;
  };
}

Operation MultiGetOf(uint64_t n, uint64_t stride) {
  return [n, stride](Session* session, Random* random, Digest* digest) -> uint64_t {
    std::array<Key, kKeysAtOnce> keys;
    std::array<std::string_view, kKeysAtOnce> views;
    const uint64_t base = random->Below(n);
    for (size_t i = 0; i < kKeysAtOnce; i++) {
      keys[i] = Key(stride == 0 ? random->Below(n) : (base + i * stride) % n);
      views[i] = keys[i].view();
    }
    session->MultiGet(views, digest);
    return kKeysAtOnce;
  };
}

Operation SeekOf(uint64_t n) {
  return [n](Session* session, Random* random, Digest* digest) -> uint64_t {
    session->Scan(Key(random->Below(n)).view(), kSeekLength, true, digest);
    return 1;
  };
}

}  // namespace compare
