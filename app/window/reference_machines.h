#pragma once
// The results of one machine as a JSON file, as written by tests/gpu/reference.py:
//
//   {
//     "type": "machine", "format": 1,
//     "name": "NVIDIA H200",            shown in the window
//     "kind": "cuda",                   or "cpu": device of the samples
//     "date": "2026-11-21",
//     "made_with": {"device_lab": "0.1.0", "driver": "580.82", "cuda": "13.0"},
//     "settings": {"cache": "warm", "commands": ["device-lab matmul ...", ...]},
//     "device": {...},                  informational: output of `devices --json`
//     "matmul": [{...}, ...],           samples of `matmul --json`
//     "transfers": [{...}, ...],        samples of `transfer --json`
//     "peaks": [...], "ceilings": [...], "fits": [...]
//                                       informational: from the "done" objects
//   }
//
// Driver, CUDA and each list are optional. Informational and unknown fields are ignored. Texts are
// single lines of up to 200 bytes; there are up to 50 commands, and up to 4096 entries per list.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/core/events/reference.h"
#include "compute/core/files/json_fields.h"

namespace lab::app {

inline constexpr int kMachineFormat = 1;

// Returns empty for the other kind of reference, the time of a training step
// (compute/experiments/scaling/reference_file.h). Throws Error(NotFound | Io) for the file and
// Error(Corrupt) naming file, position and fault, which includes unverified or contradictory
// results, results of several devices, and newer formats. Anything but a regular file is rejected
// without being read.
std::optional<ReferenceMachine> read_machine(const std::filesystem::path& file);

// --- all available machines -----------------------------------------------------------------
struct FoundMachines {
  std::vector<ReferenceMachine> machines;
  std::vector<std::string> problems;  // one sentence per unusable file
};

// Reads `chosen`, unless empty, and every *.json in `folders`. A bare name in `chosen` is also
// looked up in `folders` (find_asset). Of files with the same name the first one counts. Never
// throws: unusable files are skipped and reported in `problems`.
FoundMachines find_machines(const std::filesystem::path& chosen,
                            const std::vector<std::filesystem::path>& folders);

// --- samples of --json, read back: the inverse of app/headless/json_lines.h -----------------
// Throw Error(Corrupt) naming the position, the field and its valid values. Fields that --json does
// not write keep their defaults.
MatmulSample matmul_sample(const files::JsonFields& fields);
TransferSample transfer_sample(const files::JsonFields& fields);

}  // namespace lab::app
