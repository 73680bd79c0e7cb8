#include "app/automation/script.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"

namespace lab::app {
namespace {

std::string script_error(std::string_view text) {
  try {
    parse_script(text, "demo.jsonl");
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Script, ReadsEveryStep) {
  const auto steps = parse_script(
      "# a comment\n"
      "{\"click\": \"rail/matmul\"}\n"
      "\n"
      "{\"set\": \"matmul/sizes\", \"value\": \"64,128\", \"timeout\": 3}\r\n"
      "{\"wait\": \"idle\"}\n"
      "{\"wait\": 1.5}\n"
      "{\"scroll\": -3, \"at\": \"matmul/form\"}\n"
      "{\"expect\": \"matmul/table\"}\n"
      "{\"screenshot\": \"a.png\"}",
      "demo.jsonl");
  ASSERT_EQ(steps.size(), 7U);
  EXPECT_EQ(steps[0].act, Act::Click);
  EXPECT_EQ(steps[0].target, "rail/matmul");
  EXPECT_EQ(steps[0].line, 2);
  EXPECT_EQ(steps[1].act, Act::Set);
  EXPECT_EQ(steps[1].value, "64,128");
  EXPECT_EQ(steps[1].timeout_s, 3);
  EXPECT_EQ(steps[2].act, Act::WaitIdle);
  EXPECT_EQ(steps[3].amount, 1.5);
  EXPECT_EQ(steps[4].act, Act::Scroll);
  EXPECT_EQ(steps[4].amount, -3);
  EXPECT_EQ(steps[4].target, "matmul/form");
  EXPECT_FALSE(steps[5].has_value);
  EXPECT_EQ(steps[6].act, Act::Screenshot);
}

TEST(Script, AFaultNamesTheLine) {
  EXPECT_NE(script_error("\n{\"click\": 3}").find("demo.jsonl line 2"), std::string::npos);
  EXPECT_NE(script_error("click").find("not a JSON object"), std::string::npos);
  EXPECT_NE(script_error("{\"klick\": \"a\"}").find("double_click"), std::string::npos);
  EXPECT_NE(script_error("{\"set\": \"a\"}").find("value"), std::string::npos);
  EXPECT_NE(script_error("{\"wait\": \"long\"}").find("number"), std::string::npos);
}

}  // namespace
}  // namespace lab::app
