#pragma once
// Gets one URL into a partial file, going on where an earlier attempt stopped.
#include <cstdint>
#include <functional>
#include <string>

#include "compute/data/part_file.h"

namespace lab {

struct DownloadOptions {
  std::int64_t max_bytes = 0;  // of the whole file; more is refused
  long connect_timeout_s = 15;
  long stall_timeout_s = 30;  // under 1 kB/s for so long: given up
};

// Appends the rest of `url` (http, https or file) to `part`, following redirects; a server that
// cannot resume sends everything again. What arrived stays in `part` when this throws.
// `progress(bytes, total)` counts what was there before; total is 0 while unknown; it may throw to
// stop. Throws Error(Network) naming the URL, Error(Io) for the file.
void download(const std::string& url, PartFile& part, const DownloadOptions& options,
              const std::function<void(std::int64_t, std::int64_t)>& progress);

}  // namespace lab
