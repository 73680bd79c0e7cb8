#pragma once
// Converts argv into an Invocation. Reads no files and probes no devices.
#include <span>

#include "app/cli/invocation.h"

namespace lab::app {

// `args` excludes the program's name. Throws Error(Usage) with one line naming the option and the
// fix.
Invocation parse_command_line(std::span<const char* const> args);

// Returns the language that the arguments request; without one, or with an unknown one, the
// locale's. English with --json. For messages made before the arguments are parsed.
Language asked_language(std::span<const char* const> args);

// Returns true if the arguments request JSON; for errors found before they are parsed.
bool asks_for_json(std::span<const char* const> args);

}  // namespace lab::app
