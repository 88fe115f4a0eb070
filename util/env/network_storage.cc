// SPDX-License-Identifier: Apache-2.0
#include "util/env/network_storage.h"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace varve {

bool IsOnNetworkStorage(const std::string& directory) {
  // Linux's numbers of NFS, SMB, SMB 2, CIFS, Ceph, Lustre, GPFS, AFS, 9p, OCFS2 and GFS2.
  constexpr std::array<uint32_t, 11> kShared = {0x6969,     0x517b,     0xfe534d42, 0xff534d42,
                                                0x00c36400, 0x0bd00bd0, 0x47504653, 0x5346414f,
                                                0x01021997, 0x7461636f, 0x01161970};
  struct statfs fs = {};
  if (::statfs(directory.c_str(), &fs) != 0) return false;
  return std::ranges::find(kShared, static_cast<uint32_t>(fs.f_type)) != kShared.end();
}

}  // namespace varve
