#include "compute/core/files/write_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "compute/core/error.h"

namespace lab::files {
namespace {

const char* way_out(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return "free some space or choose another path";
    case ENOENT: return "make the folder first or choose another path";
    case EACCES:
    case EPERM:
    case EROFS: return "choose a path you may write to";
    case EISDIR: return "name a file in it";
    default: return "choose another path";
  }
}

}  // namespace

void fail_write(const std::filesystem::path& path, int error) {
  throw Error(Errc::Io, fmt::format("cannot write {}: {}: {}", path.string(),
                                    std::generic_category().message(error), way_out(error)));
}

}  // namespace lab::files
