#pragma once
// Values as a message may show them: text that came from outside (a file, a process, a server), and
// numbers that may not be finite.
#include <cstddef>
#include <string>
#include <string_view>

namespace lab {

// `text` as one line of UTF-8: control characters (NUL and escape sequences among them), line
// separators, characters that change the direction of writing and bytes that are not UTF-8 become
// '?'. What is longer than `most_bytes` ends before the character that exceeds it, followed by
// "...".
std::string printable(std::string_view text, std::size_t most_bytes = 60);

// The shortest digits that read back as `value`; "NaN" whatever its sign, "inf" and "-inf".
std::string printable(double value);
std::string printable(float value);

}  // namespace lab
