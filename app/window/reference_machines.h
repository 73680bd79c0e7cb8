#pragma once
// The results of one machine as a JSON file, which tests/gpu/reference.py makes:
//
//   {
//     "type": "machine", "format": 1,
//     "name": "NVIDIA H200",            what the window calls it
//     "kind": "cuda",                   or "cpu": what the samples ran on
//     "date": "2026-11-21",
//     "made_with": {"device_lab": "0.1.0", "driver": "580.82", "cuda": "13.0"},
//     "settings": {"cache": "warm", "commands": ["device-lab matmul ...", ...]},
//     "device": {...},                  for people: as `devices --json` prints it
//     "matmul": [{...}, ...],           samples of `matmul --json`
//     "transfers": [{...}, ...],        samples of `transfer --json`
//     "peaks": [...], "ceilings": [...], "fits": [...]
//                                       for people: of the "done" objects
//   }
//
// Driver and CUDA may be missing, and so may each list; what is for people and unknown fields are
// passed over. Texts are lines of up to 200 bytes, there are up to 50 commands, and a list has up
// to 4096 entries.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/core/events/event.h"
#include "compute/core/events/reference.h"
#include "compute/core/files/json_fields.h"

namespace lab::app {

inline constexpr int kMachineFormat = 1;

// Empty for a file of the other kind of reference, the time of a training step
// (compute/experiments/scaling/reference_file.h). Throws Error(NotFound | Io) for the file,
// Error(Corrupt) naming file, place and fault: results that are not verified, contradict themselves
// or come from several devices, and files of a newer format, too. What is no regular file is
// refused unread.
std::optional<ReferenceMachine> read_machine(const std::filesystem::path& file);

// --- all machines on offer ------------------------------------------------------------------
struct FoundMachines {
  std::vector<ReferenceMachine> machines;
  std::vector<std::string> complaints;  // a sentence for each file that cannot be used
};

// Reads `chosen`, unless empty, a bare name looked for in `folders` too (find_asset), and every
// *.json of `folders`; of files of the same name the first counts. Never throws: what is broken is
// left out and complained about.
FoundMachines find_machines(const std::filesystem::path& chosen,
                            const std::vector<std::filesystem::path>& folders);

// --- samples of --json, read back: the inverse of app/headless/json_lines.h -----------------
// All throw Error(Corrupt) naming the place, the field and what it must be. What --json does not
// tell keeps its default.
MatmulSample matmul_sample(const files::JsonFields& fields);
TransferSample transfer_sample(const files::JsonFields& fields);

}  // namespace lab::app
