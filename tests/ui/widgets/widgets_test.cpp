#include "ui/widgets/widgets.h"

#include <gtest/gtest.h>
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/null_backend.h"
#include "ui/widgets/item.h"

namespace lab::ui {
namespace {

using test::NullBackend;

class WidgetsTest : public ::testing::TestWithParam<float> {
 protected:
  NullBackend b{GetParam()};
};

TEST_P(WidgetsTest, ButtonIsClickedByPath) {
  int clicks = 0;
  const auto draw = [&] { clicks += button(b.ui, "page/run", "Run ladder") ? 1 : 0; };
  b.frame(draw);
  b.click("page/run", draw);
  EXPECT_EQ(clicks, 1);
  const WidgetRect* w = b.find("page/run");
  EXPECT_EQ(w->kind, "button");
  EXPECT_EQ(w->label, "Run ladder");
  EXPECT_FLOAT_EQ(w->max.y - w->min.y, 32 * GetParam());
}

TEST_P(WidgetsTest, DisabledButtonIgnoresClicksAndExplains) {
  int clicks = 0;
  const auto draw = [&] {
    clicks +=
        button(b.ui, "run", "Run", {.enabled = false, .hint = "No device is chosen."}) ? 1 : 0;
  };
  b.frame(draw);
  b.click("run", draw);
  EXPECT_EQ(clicks, 0);
  EXPECT_FALSE(b.find("run")->enabled);
  b.rest(draw);
  ASSERT_NE(b.find("tooltip"), nullptr);
  EXPECT_EQ(b.find("tooltip")->value, "No device is chosen.");
}

TEST_P(WidgetsTest, ALockedNumberHasNoStepButtons) {
  std::int64_t value = 4;
  const auto vertices = [&](std::string_view why) {
    b.frames(2, [&] {
      const Locked locked(b.ui, why);
      input_number(b.ui, "number", "Number", value);
    });
    return ImGui::GetDrawData()->TotalVtxCount;
  };
  const int changeable = vertices("");
  EXPECT_EQ(vertices("It runs."), changeable - 3 * 4) << "minus and plus are three rectangles";
}

TEST_P(WidgetsTest, TooltipAtTheBottomIsAboveItsControl) {
  const auto draw = [&] {
    ImGui::SetCursorScreenPos(
        {ImGui::GetIO().DisplaySize.x - b.ui.px(90), ImGui::GetIO().DisplaySize.y - b.ui.px(44)});
    button(b.ui, "run", "Run", {.hint = "Starts the job that this page is about"});
  };
  b.frame(draw);
  b.move_to(NullBackend::centre(*b.find("run")));
  b.rest(draw);
  const WidgetRect* tip = b.find("tooltip");
  ASSERT_NE(tip, nullptr);
  EXPECT_LE(tip->max.y, b.find("run")->min.y);
  EXPECT_LE(tip->max.x, ImGui::GetIO().DisplaySize.x);
}

TEST_P(WidgetsTest, TooltipOnTheLeftCoversNothingAboveAndBelow) {
  float left = 200;  // units
  const auto draw = [&] {
    ImGui::SetCursorScreenPos({b.ui.px(left), b.ui.px(100)});
    button(b.ui, "run", "Run", {.hint = "Ctrl+Enter", .hint_side = HintSide::Left});
  };
  for (const bool fits : {true, false}) {
    left = fits ? 200 : 20;
    b.frame(draw);
    b.move_to(NullBackend::centre(*b.find("run")));
    b.rest(draw);
    const WidgetRect *run = b.find("run"), *tip = b.find("tooltip");
    ASSERT_NE(tip, nullptr);
    EXPECT_EQ(tip->max.x < run->min.x, fits);
    EXPECT_EQ(tip->min.y > run->max.y, !fits);
    b.move_to({1, 700});
    b.rest(draw);
  }
}

TEST_P(WidgetsTest, TooltipWaitsWrapsAndDisappears) {
  const std::string text(300, 'w');
  const auto draw = [&] { button(b.ui, "run", "Run", {.hint = text}); };
  b.frame(draw);
  b.move_to(NullBackend::centre(*b.find("run")));
  b.frames(3, draw);
  EXPECT_EQ(b.ui.widgets.find("tooltip"), nullptr);
  EXPECT_TRUE(b.ui.wants_animation) << "an idle window would never show it";
  for (int i = 0; i < 60 && b.ui.widgets.find("tooltip") == nullptr; ++i) b.frame(draw);
  EXPECT_TRUE(b.ui.wants_layout) << "its first frame is hidden";
  b.rest(draw);
  const WidgetRect* tip = b.find("tooltip");
  ASSERT_NE(tip, nullptr);
  EXPECT_LE(tip->max.x - tip->min.x, 350 * GetParam());
  EXPECT_GE(tip->min.y, b.find("run")->max.y) << "it would cover the button";
  b.move_to({1, 700});
  b.frames(2, draw);
  EXPECT_EQ(b.ui.widgets.find("tooltip"), nullptr);
}

// The horizontal extent of the glyphs of one colour in a band of the tooltip.
struct Glyphs {
  float left = FLT_MAX, right = 0, top = FLT_MAX, bottom = 0;
};

Glyphs tooltip_glyphs(ImU32 color, float top, float bottom) {
  Glyphs found;
  for (const ImDrawVert& v : ImGui::FindWindowByName("##Tooltip_00")->DrawList->VtxBuffer) {
    if (v.col != color || v.pos.y < top - 3 || v.pos.y > bottom + 3) continue;
    found = {std::min(found.left, v.pos.x), std::max(found.right, v.pos.x),
             std::min(found.top, v.pos.y), std::max(found.bottom, v.pos.y)};
  }
  return found;
}

TEST_P(WidgetsTest, TooltipAlignsItsRowsInTwoColumns) {
  std::string text = "Packed panels\nCopies the operands.";
  add_row(text, "speed", "54.1 GFLOP/s");
  add_row(text, "p10 to p90", "4 ms");
  EXPECT_EQ(text, "Packed panels\nCopies the operands.\nspeed\t54.1 GFLOP/s\np10 to p90\t4 ms");
  const auto draw = [&] { button(b.ui, "run", "Run", {.hint = text}); };
  b.frame(draw);
  b.move_to(NullBackend::centre(*b.find("run")));
  b.rest(draw);
  const WidgetRect* tip = b.find("tooltip");
  ASSERT_NE(tip, nullptr);
  EXPECT_EQ(tip->value, text) << "readable text";
  const Glyphs labels = tooltip_glyphs(b.ui.theme->muted, tip->min.y, tip->max.y);
  const float middle = (labels.top + labels.bottom) / 2;
  const Glyphs above = tooltip_glyphs(b.ui.theme->text, labels.top, middle - 6);
  const Glyphs below = tooltip_glyphs(b.ui.theme->text, middle + 6, labels.bottom);
  EXPECT_GT(above.left, labels.right) << "values have a column of their own";
  EXPECT_GT(below.left, labels.right);
  EXPECT_LT(above.left, below.left) << "the longer value";
  EXPECT_NEAR(above.right, below.right, 2) << "units end below each other";
  EXPECT_LE(above.right, tip->max.x);
}

TEST_P(WidgetsTest, TooltipHasATitleWhereMoreFollows) {
  b.frame([&] {
    const auto height = [&](std::string_view text) { return tooltip_size(b.ui, {text}).y; };
    const float line = b.ui.fonts.caption->FontSize, strong = b.ui.fonts.strong->FontSize;
    const float one = height("Packed panels"), sentence = height("It copies.\nIt adds.");
    EXPECT_NEAR(height("Packed panels\nIt adds.") - sentence, strong - line, 1);
    EXPECT_NEAR(sentence - one, line, 6 * GetParam()) << "a single line is no title";
    EXPECT_NEAR(height("It copies.\n\nPacked panels\nIt adds.") - sentence, strong, 14 * GetParam())
        << "of a paragraph";
  });
}

TEST_P(WidgetsTest, TooltipWrapsLongRows) {
  b.frame([&] {
    std::string text;
    add_row(text, "a label of many words that fills most of a tooltip",
            "a value of many words that fills most of a tooltip");
    const ImVec2 size = tooltip_size(b.ui, {text});
    EXPECT_LE(size.x, 340 * GetParam());
    EXPECT_GE(size.y, 2 * b.ui.fonts.caption->FontSize);
  });
}

TEST_P(WidgetsTest, NumberInputRejectsValuesOutOfRange) {
  std::int64_t value = 256;
  const auto draw = [&] {
    input_number(b.ui, "batch", "Batch", value, {.min = 64, .max = 4096, .step = 32});
    button(b.ui, "else", "Elsewhere");
  };
  b.frame(draw);
  b.click("batch", draw);
  b.type("12");
  b.frame(draw);
  EXPECT_EQ(value, 256) << "12 is below the minimum";
  b.frame(draw);
  ASSERT_NE(b.ui.widgets.find("batch/error"), nullptr);
  EXPECT_EQ(b.find("batch/error")->label, "A whole number from 64 to 4096");
  EXPECT_GE(b.find("batch/error")->min.y, b.find("batch")->max.y) << "below its field";
  b.type("8");
  b.frame(draw);
  b.frame(draw);
  EXPECT_EQ(value, 128);
  EXPECT_EQ(b.ui.widgets.find("batch/error"), nullptr);
  b.type("99999");
  b.frame(draw);
  EXPECT_EQ(value, 128);
  b.click("else", draw);
  EXPECT_EQ(value, 4096) << "leaving the field takes the nearest value";
  EXPECT_EQ(b.find("batch")->value, "4096");
}

TEST_P(WidgetsTest, NumberInputSaysWhatItDidNotAccept) {
  double rate = 0.9;
  std::int64_t epochs = 10;
  const auto draw = [&] {
    input_number(b.ui, "lr", "Learning rate", rate, {.min = 0, .above_min = true});
    input_number(b.ui, "epochs", "Epochs", epochs, {.min = 1});
    button(b.ui, "else", "Elsewhere");
  };
  b.frame(draw);
  b.click("lr", draw);
  b.type("-5");
  b.frame(draw);
  b.click("else", draw);
  b.frame(draw);
  EXPECT_EQ(rate, 0.9) << "0 would be an error, too";
  EXPECT_EQ(b.find("lr/error")->label, "-5 is out of range: 0.9 is kept. A number above 0");
  b.click("epochs", draw);
  b.type("abc");
  b.frame(draw);
  b.click("else", draw);
  b.frame(draw);
  EXPECT_EQ(epochs, 10);
  EXPECT_EQ(b.find("epochs/error")->label,
            "'abc' is not accepted: 10 is kept. A whole number, at least 1");
}

TEST_P(WidgetsTest, NumberInputRejectsText) {
  double value = 0.1;
  const auto draw = [&] {
    input_number(b.ui, "lr", "Learning rate", value, {.min = 0, .max = 10, .step = 0.05});
    button(b.ui, "else", "Elsewhere");
  };
  b.frame(draw);
  b.click("lr", draw);
  b.type("fast");
  b.frame(draw);
  b.click("else", draw);
  EXPECT_EQ(value, 0.1);
  b.click("lr", draw);
  b.type("2.5e-1");
  b.frame(draw);
  EXPECT_EQ(value, 0.25);
}

TEST_P(WidgetsTest, StepsStayInRange) {
  std::int64_t value = 60;
  const auto draw = [&] { input_number(b.ui, "n", "N", value, {.min = 1, .max = 64, .step = 8}); };
  b.frame(draw);
  b.click("n/more", draw);
  EXPECT_EQ(value, 64);
  b.click("n/less", draw);
  EXPECT_EQ(value, 56);
}

TEST_P(WidgetsTest, TextInputTakesTypedText) {
  std::string value;
  const auto draw = [&] { input_text(b.ui, "name", "Name", value, {}, "made up when empty"); };
  b.frame(draw);
  b.click("name", draw);
  b.type("X1");
  b.frames(2, draw);
  EXPECT_EQ(value, "X1");
  EXPECT_EQ(b.find("name")->value, "X1");
}

TEST_P(WidgetsTest, ComboOpensAndSelects) {
  const std::vector<std::string> models{"softmax", "mlp", "lenet"};
  int index = 0, changes = 0;
  const auto draw = [&] { changes += combo(b.ui, "model", "Model", models, index) ? 1 : 0; };
  b.frame(draw);
  EXPECT_EQ(b.ui.widgets.find("model/lenet"), nullptr);
  b.click("model", draw);
  b.click("model/lenet", draw);
  EXPECT_EQ(index, 2);
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(b.find("model")->value, "lenet");
  b.frame(draw);
  EXPECT_EQ(b.ui.widgets.find("model/lenet"), nullptr) << "the list closes";
}

TEST_P(WidgetsTest, SegmentsCheckboxAndFoldoutToggle) {
  const std::vector<std::string> choices{"warm", "cold"};
  int index = 0;
  bool on = false, open = false;
  const auto draw = [&] {
    segmented(b.ui, "cache", "Cache", choices, index);
    checkbox(b.ui, "cpu", "cpu:0", on);
    foldout(b.ui, "more", "More", open);
  };
  b.frame(draw);
  b.click("cache/cold", draw);
  b.click("cpu", draw);
  b.click("more", draw);
  EXPECT_EQ(index, 1);
  EXPECT_TRUE(on);
  EXPECT_TRUE(open);
  EXPECT_EQ(b.find("cache")->value, "cold");
  EXPECT_EQ(b.find("cpu")->value, "on");
  EXPECT_EQ(b.find("more")->value, "open");
}

TEST_P(WidgetsTest, SegmentsWithoutALabelAreAsWideAsTheirChoices) {
  const std::vector<std::string> choices{"Sweep", "Live"};
  int index = 0;
  const auto draw = [&] {
    segmented(b.ui, "field", "Kind", choices, index);
    segmented(b.ui, "tabs", "", choices, index);
  };
  b.frame(draw);
  const WidgetRect *field = b.find("field"), *tabs = b.find("tabs");
  EXPECT_LT(tabs->max.x - tabs->min.x, (field->max.x - field->min.x) / 2);
  EXPECT_EQ(tabs->min.x, field->min.x);
}

TEST_P(WidgetsTest, KeyboardReachesEveryControl) {
  const std::vector<std::string> choices{"a", "b"};
  int index = 0, pressed = 0;
  bool on = false, open = false;
  std::string text;
  std::int64_t n = 1;
  const auto draw = [&] {
    pressed += button(b.ui, "first", "First") ? 1 : 0;
    checkbox(b.ui, "check", "Check", on);
    foldout(b.ui, "fold", "Fold", open);
    combo(b.ui, "combo", "Combo", choices, index);
    input_number(b.ui, "n", "N", n);
    input_text(b.ui, "text", "Text", text);
    pressed += button(b.ui, "last", "Last") ? 10 : 0;
  };
  b.frames(3, draw);
  b.press(GLFW_KEY_DOWN, draw);  // activates the keyboard highlight
  for (int i = 0; i < 12 && pressed < 10; ++i) {
    b.press(GLFW_KEY_SPACE, draw);
    if (!text.empty() || pressed >= 10) break;
    if (ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup)) b.press(GLFW_KEY_ESCAPE, draw);
    if (ImGui::IsAnyItemActive()) b.press(GLFW_KEY_ESCAPE, draw);
    b.press(GLFW_KEY_DOWN, draw);
  }
  EXPECT_TRUE(on);
  EXPECT_TRUE(open);
  EXPECT_GE(pressed, 10);
}

TEST_P(WidgetsTest, RectanglesAreClippedAndHiddenOnesAreNotRecorded) {
  const float s = GetParam();
  const auto draw = [&] {
    ImGui::BeginChild("view", {200 * s, 52 * s});
    button(b.ui, "one", "One");
    button(b.ui, "half", "Half");
    button(b.ui, "below", "Below");
    ImGui::EndChild();
  };
  b.frames(2, draw);
  const WidgetRect *one = b.find("one"), *half = b.find("half");
  ASSERT_TRUE(one != nullptr && half != nullptr);
  EXPECT_FLOAT_EQ(one->max.y - one->min.y, 32 * s);
  EXPECT_NEAR(half->max.y - half->min.y, 12 * s, 1);
  EXPECT_EQ(b.ui.widgets.find("below"), nullptr);
}

TEST_P(WidgetsTest, CardFitsItsContent) {
  const auto draw = [&] {
    if (begin_card(b.ui, "card", "Title")) {
      for (int i = 0; i < 4; ++i) button(b.ui, "card/" + std::to_string(i), "Press");
    }
    end_card(b.ui);
    button(b.ui, "after", "After");
  };
  b.frames(3, draw);
  const WidgetRect *card = b.find("card"), *last = b.find("card/3"), *after = b.find("after");
  ASSERT_TRUE(card != nullptr && last != nullptr && after != nullptr);
  EXPECT_EQ(card->label, "Title");
  EXPECT_NEAR(card->max.y - last->max.y, 12 * GetParam(), 2);
  EXPECT_GT(after->min.y, card->max.y);
  EXPECT_FALSE(b.ui.wants_animation) << "the height has settled";
}

TEST_P(WidgetsTest, RowSplitsTheWidthAndRestoresIt) {
  float inside = 0, before = 0, after = 0;
  const auto draw = [&] {
    before = ImGui::GetContentRegionAvail().x;
    {
      Row row(b.ui, {-100, 1, 2});
      for (const char* path : {"a", "b", "c"}) {
        row.next();
        if (begin_card(b.ui, path, path, {.height = 100})) {
        }
        end_card(b.ui);
        inside = row.width();
      }
    }
    after = ImGui::GetContentRegionAvail().x;
    button(b.ui, "under", "Under");
  };
  b.frames(2, draw);
  const float s = GetParam(), gap = 12 * s;
  const WidgetRect &x = *b.find("a"), &y = *b.find("b"), &z = *b.find("c");
  EXPECT_FLOAT_EQ(before, after);
  EXPECT_NEAR(x.max.x - x.min.x, 100 * s, 1);
  EXPECT_NEAR(y.min.x - x.max.x, gap, 1);
  EXPECT_NEAR(2 * (y.max.x - y.min.x), z.max.x - z.min.x, 3);
  EXPECT_NEAR(z.max.x - x.min.x, before, 1);
  EXPECT_NEAR(inside, z.max.x - z.min.x, 1);
  EXPECT_FLOAT_EQ(x.min.y, z.min.y);
  EXPECT_GE(b.find("under")->min.y, z.max.y);
  EXPECT_FLOAT_EQ(b.find("under")->min.x, x.min.x);
}

TEST_P(WidgetsTest, TableRecordsItsRows) {
  const std::array<Column, 2> columns{Column{.label = "kernel"},
                                      Column{.label = "GFLOP/s", .number = true}};
  const auto draw = [&] {
    if (!begin_table(b.ui, "t", columns)) return;
    for (const char* name : {"naive", "packed"}) {
      table_row(b.ui);
      cell(b.ui, name);
      cell(b.ui, "12.5");
    }
    end_table(b.ui);
  };
  b.frames(3, draw);
  EXPECT_EQ(b.find("t")->value, "2 rows");
  EXPECT_EQ(b.find("t/1")->value, "packed\t12.5");
  EXPECT_GT(b.find("t/1")->min.y, b.find("t/0")->min.y);
}

TEST_P(WidgetsTest, GaugeEasesThenRests) {
  double share = 0.2;
  const auto draw = [&] { bar(b.ui, "bar", share, b.ui.theme->accent); };
  b.frames(2, draw);
  EXPECT_FALSE(b.ui.wants_animation);
  share = 0.9;
  b.frame(draw);
  EXPECT_TRUE(b.ui.wants_animation);
  EXPECT_LT(b.ui.eased["bar"], 0.9F);
  b.frames(30, draw);
  EXPECT_FALSE(b.ui.wants_animation);
  EXPECT_NEAR(b.ui.eased["bar"], 0.9F, 1e-5);
  EXPECT_EQ(b.find("bar")->value, "90.0 %");
}

TEST_P(WidgetsTest, GaugeJumpsAfterALongPause) {
  double share = 0.2;
  const auto draw = [&] { bar(b.ui, "bar", share, b.ui.theme->accent); };
  b.frames(2, draw);
  share = 0.9;
  const float usual = std::exchange(ImGui::GetIO().DeltaTime, 1.0F);
  b.frame(draw);
  ImGui::GetIO().DeltaTime = usual;
  EXPECT_FLOAT_EQ(b.ui.eased["bar"], 0.9F);
}

TEST_P(WidgetsTest, EqualRowCardsShareTheLargestHeight) {
  const auto draw = [&] {
    Row row(b.ui, {1, 1}, {.equal = true, .extra = 50});
    for (const int buttons : {1, 4}) {
      row.next();
      const std::string path = "card" + std::to_string(buttons);
      if (begin_card(b.ui, path, "Title")) {
        for (int i = 0; i < buttons; ++i) button(b.ui, path + "/" + std::to_string(i), "Press");
      }
      end_card(b.ui);
    }
  };
  b.frames(4, draw);
  const WidgetRect *low = b.find("card1"), *high = b.find("card4"), *last = b.find("card4/3");
  ASSERT_TRUE(low != nullptr && high != nullptr && last != nullptr);
  EXPECT_FLOAT_EQ(low->max.y, high->max.y);
  EXPECT_NEAR(high->max.y - last->max.y, (12 + 50) * GetParam(), 2);
  EXPECT_FALSE(b.ui.wants_layout) << "the height has settled";
}

TEST_P(WidgetsTest, LongValueIsBelowItsLabel) {
  const std::string text(200, 'w');
  float top = 0, bottom = 0;
  const auto draw = [&] {
    top = ImGui::GetCursorScreenPos().y;
    fact(b.ui, "System", text);
    bottom = ImGui::GetCursorScreenPos().y;
  };
  b.frame(draw);
  EXPECT_GT(bottom - top, 30 * GetParam());
}

TEST_P(WidgetsTest, ValueStaysNearItsLabel) {
  const auto draw = [&] {
    fact(b.ui, "Answer", std::string_view("cpu:0"));
    record_item(b.ui, "fact", "text");
  };
  b.frame(draw);
  const WidgetRect* line = b.find("fact");
  EXPECT_NEAR(line->max.x - line->min.x, 600 * GetParam(), 1);
}

TEST_P(WidgetsTest, AnAlignedValueIsWrappedBesideItsLabel) {
  const auto height_of = [&](const std::string& value) {
    float height = 0;
    b.frame([&] {
      fact(b.ui, "Memory limit", Maybe<std::string>(value), "", b.ui.px(120));
      height = ImGui::GetItemRectSize().y;
    });
    return height;
  };
  const float one_line = height_of("90 %");
  EXPECT_EQ(one_line, b.ui.px(18));
  EXPECT_GT(height_of(std::string(120, 'w') + " " + std::string(120, 'w')), 1.5F * one_line);
}

TEST_P(WidgetsTest, CutTextEndsBeforeANumber) {
  const auto draw = [&] {
    ImFont* font = b.ui.fonts.body;
    const std::string text = "0.399, 0.8805, 0.7357";
    const auto cut_after = [&](std::string_view head) {
      return fitted_text(font, text_size(font, std::string(head) + "…").x + 1, text);
    };
    EXPECT_EQ(fitted_text(font, 1000 * GetParam(), text), text);
    EXPECT_EQ(cut_after("0.399, 0.88"), "0.399,…");
    EXPECT_EQ(cut_after("0.399, 0.8805,"), "0.399, 0.8805,…");
    EXPECT_EQ(fitted_text(font, text_size(font, "Debian GNU…").x + 1, "Debian GNU/Linux"),
              "Debian GNU…");
  };
  b.frame(draw);
}

TEST_P(WidgetsTest, MissingValueGivesTheReason) {
  const auto draw = [&] {
    fact(b.ui, "Temperature", Maybe<std::string>::missing("the kernel reports no sensor"));
    record_item(b.ui, "fact", "text");
  };
  b.frame(draw);
  b.move_to(NullBackend::centre(*b.find("fact")));
  b.rest(draw);
  EXPECT_EQ(b.find("tooltip")->value, "Not available: the kernel reports no sensor");
}

TEST_P(WidgetsTest, EmptyStateOffersAButton) {
  bool clicked = false;
  const auto draw = [&] {
    clicked = empty_state(b.ui, "memory/make", "No tensors yet.", "Make a tensor") || clicked;
  };
  b.frame(draw);
  b.click("memory/make", draw);
  EXPECT_TRUE(clicked);
}

TEST_P(WidgetsTest, AcceptsEmptyTexts) {
  std::string text;
  std::vector<std::string> none;
  int index = 0;
  const auto draw = [&] {
    title(b.ui, {});
    body(b.ui, {});
    caption(b.ui, {});
    number(b.ui, {});
    badge(b.ui, {});
    error_box(b.ui, "error", {});
    fact(b.ui, {}, std::string());
    button(b.ui, "button", {});
    input_text(b.ui, "text", {}, text);
    combo(b.ui, "combo", {}, none, index);
    segmented(b.ui, "segmented", {}, none, index);
    sparkline(b.ui, "spark", {}, 0, b.ui.theme->accent, 40);
    empty_state(b.ui, "empty", {}, {});
  };
  b.frames(3, draw);
  EXPECT_NE(b.find("empty"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Scales, WidgetsTest, ::testing::Values(1.0F, 2.0F));

// --- sorted tables --------------------------------------------------------------------------

class TableSortTest : public ::testing::TestWithParam<float> {
 protected:
  test::NullBackend b{GetParam()};
};

TEST_P(TableSortTest, HeaderClicksSortTheRows) {
  const std::array<Column, 2> columns{Column{.label = "kernel"},
                                      Column{.label = "GFLOP/s", .number = true}};
  TableSort sort;
  const auto draw = [&] {
    if (!begin_table(b.ui, "t", columns, 0, &sort)) return;
    table_row(b.ui);
    cell(b.ui, "naive");
    cell(b.ui, "12.5");
    end_table(b.ui);
  };
  b.frames(3, draw);
  EXPECT_EQ(b.find("t/sort/kernel")->value, "ascending");
  b.click("t/sort/GFLOP/s", draw);
  EXPECT_EQ(sort.column, 1);
  EXPECT_TRUE(sort.descending) << "the largest first";
  b.click("t/sort/GFLOP/s", draw);
  EXPECT_FALSE(sort.descending);
  EXPECT_EQ(b.find("t/sort/GFLOP/s")->value, "ascending");
  EXPECT_EQ(b.find("t/sort/kernel")->value, "");
  b.click("t/sort/kernel", draw);
  EXPECT_EQ(sort.column, 0);
  EXPECT_FALSE(sort.descending);
  EXPECT_EQ(b.find("t/0")->value, "naive\t12.5");
}

INSTANTIATE_TEST_SUITE_P(Scales, TableSortTest, ::testing::Values(1.0F, 2.0F));

}  // namespace
}  // namespace lab::ui
