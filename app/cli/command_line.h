#pragma once
// From argv to what was asked. Reads no file and looks at no device.
#include <span>

#include "app/cli/invocation.h"

namespace lab::app {

// `args` without the program's name. Throws Error(Usage) with one line that names the option and
// the way out.
Invocation parse_command_line(std::span<const char* const> args);

// Whether the words ask for JSON, for errors found before they are understood.
bool asks_for_json(std::span<const char* const> args);

}  // namespace lab::app
