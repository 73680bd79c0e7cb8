#include "app/automation/script.h"

#include <gtest/gtest.h>

#include "compute/core/error.h"
#include "tests/ui/null_backend.h"

namespace lab::app {
namespace {

// --- reading --------------------------------------------------------------------------------

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

TEST(Script, ErrorsNameTheLine) {
  EXPECT_NE(script_error("\n{\"click\": 3}").find("demo.jsonl line 2"), std::string::npos);
  EXPECT_NE(script_error("click").find("not a JSON object"), std::string::npos);
  EXPECT_NE(script_error("{\"klick\": \"a\"}").find("double_click"), std::string::npos);
  EXPECT_NE(script_error("{\"set\": \"a\"}").find("value"), std::string::npos);
  EXPECT_NE(script_error("{\"wait\": \"long\"}").find("number"), std::string::npos);
}

// --- player ---------------------------------------------------------------------------------

ui::WidgetMap one_button() {
  ui::WidgetMap widgets;
  widgets.add({.path = "page/start",
               .kind = "button",
               .label = "Start",
               .value = "x",
               .min = {10, 20},
               .max = {30, 40},
               .enabled = true});
  return widgets;
}

// Plays to the end, for at most `frames` frames of 10 ms; returns the number of frames played.
int play(ScriptPlayer& player, const ui::WidgetMap& widgets, bool idle, int frames = 3000) {
  for (int i = 0; i < frames; ++i) {
    if (player.finished()) return i;
    player.after_frame({widgets, i * 0.01, idle});
  }
  return frames;
}

ScriptPlayer player_of(const char* text) {
  return {parse_script(text, "s"), "s"};
}

std::string failure(const char* text, bool idle = true) {
  ScriptPlayer player = player_of(text);
  try {
    play(player, one_button(), idle);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(ScriptPlayer, ClicksInTheMiddleOfTheWidget) {
  test::NullBackend backend;
  ImGuiIO& io = ImGui::GetIO();
  ScriptPlayer player = player_of("{\"click\": \"page/start\"}");
  const auto widgets = one_button();
  bool pressed = false;
  for (int i = 0; i < 50 && !player.finished(); ++i) {
    player.after_frame({widgets, i * 0.01, true});
    player.input().apply(io);
    backend.raw_frame([] {});
    pressed = pressed || (io.MouseDown[0] && io.MousePos.x == 20 && io.MousePos.y == 30);
  }
  EXPECT_TRUE(player.finished());
  EXPECT_TRUE(pressed);
  EXPECT_FALSE(io.MouseDown[0]);
}

TEST(ScriptPlayer, FailsIfAWidgetNeverAppears) {
  const std::string text = failure("{\"click\": \"page/stop\", \"timeout\": 0.2}");
  EXPECT_NE(text.find("s line 1"), std::string::npos) << text;
  EXPECT_NE(text.find("page/stop"), std::string::npos) << text;
  EXPECT_NE(text.find("page/start"), std::string::npos) << text;
  const std::string cleaned = failure(R"({"click": "a\u001b[2J", "timeout": 0})");
  EXPECT_NE(cleaned.find("'a?[2J'"), std::string::npos) << cleaned;
}

TEST(ScriptPlayer, ExpectComparesTheValue) {
  EXPECT_EQ(failure("{\"expect\": \"page/start\", \"value\": \"x\"}"), "no error");
  const std::string text =
      failure("{\"expect\": \"page/start\", \"value\": \"y\", \"timeout\": 0}");
  EXPECT_NE(text.find("'x' instead of 'y'"), std::string::npos) << text;
}

TEST(ScriptPlayer, WaitsForIdleAndForTime) {
  EXPECT_NE(failure("{\"wait\": \"idle\", \"timeout\": 0.1}", false).find("still running"),
            std::string::npos);
  ScriptPlayer player = player_of("{\"wait\": 1}");
  EXPECT_GE(play(player, one_button(), true), 100);
}

TEST(ScriptPlayer, RequestsFiles) {
  ScriptPlayer player = player_of("{\"screenshot\": \"a.png\"}");
  const auto widgets = one_button();
  std::optional<ScriptPlayer::CaptureRequest> request;
  for (int i = 0; i < 20 && !request; ++i) request = player.after_frame({widgets, i * 0.01, true});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->act, Act::Screenshot);
  EXPECT_EQ(request->file, "a.png");
}

TEST(ParseChord, ReadsKeysWithModifiers) {
  const KeyChord chord = parse_chord("ctrl+shift+2");
  EXPECT_TRUE(chord.held.ctrl);
  EXPECT_TRUE(chord.held.shift);
  EXPECT_FALSE(chord.held.alt);
  EXPECT_EQ(chord.key, '2');
  EXPECT_EQ(parse_chord("t").key, 'T');
  EXPECT_THROW(parse_chord("ctrl+nosuch"), Error);
  EXPECT_THROW(parse_chord(""), Error);
}

}  // namespace
}  // namespace lab::app
