#pragma once
// Formats values for messages: text from outside the program (a file, a process, a server) and
// numbers that may not be finite.
#include <cstddef>
#include <string>
#include <string_view>

namespace lab {

// Returns `text` as one line of UTF-8. Control characters (including NUL and escape sequences),
// line separators, bidirectional formatting characters and bytes that are not valid UTF-8 become
// '?'. Text longer than `most_bytes` is cut before the character that exceeds the limit, and "..."
// is appended.
std::string printable(std::string_view text, std::size_t most_bytes = 60);

// Returns `text` without surrounding white space.
std::string_view trimmed(std::string_view text);

// Returns the shortest decimal form that parses back to `value`; "NaN" regardless of sign, "inf"
// and "-inf".
std::string printable(double value);
std::string printable(float value);

}  // namespace lab
