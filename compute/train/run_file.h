#pragma once
// run.json of a checkpoint: what was trained, how far it came, and which files hold the state.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compute/train/checkpoint.h"

namespace lab {

// A file beside run.json, so that a damaged one is known.
struct StateFile {
  std::string name;
  std::int64_t bytes = 0;
  std::string sha256;
};

struct RunFile {
  StartTraining request;
  TrainingPosition position;
  std::vector<StateFile> files;
};

StateFile describe_file(std::string name, std::span<const std::byte> bytes);

// A checksum of its own, too: an altered text does not read back.
std::string format_run_file(const RunFile& run);

// Throws Error(Corrupt) saying what is wrong, Error(Unsupported) for a later version's format.
// Neither names the file.
RunFile parse_run_file(std::string_view text);

}  // namespace lab
