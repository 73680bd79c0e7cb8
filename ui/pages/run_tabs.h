#pragma once
// The line above the results of a page with kinds of runs: their tabs, which results are shown,
// and what disturbed them. It is drawn before the first run too, so that the results stay where
// they are when a run ends.
#include <ctime>
#include <span>
#include <string>

#include "ui/pages/panel.h"

namespace lab::ui {

// What run_tabs() says of the results shown, right of the tabs.
struct RunState {
  bool last = false;          // of the page's last run, with notes on it
  double others = 0;          // as CoresShared::others, to be said here
  bool has_marks = false;     // a figure is marked as unsteady
  bool has_replaced = false;  // the run before can be shown
  std::time_t measured = 0;   // of results of an earlier session, otherwise 0
};

// The parts of run_tabs().
void choose_kind(const Panel& p, Page page, RunTabs& tabs, RunKind last,
                 std::span<const RunKind> offered);
// Returns whether to measure again.
bool draw_run_tabs(const Panel& p, Page page, RunTabs& tabs, std::span<const std::string> titles,
                   std::span<const RunKind> offered, const RunState& state);

// Whether the tab shows the figures of the page's last run.
template <typename Results>
bool shows_last_run(const KeptRuns<Results>& runs, const RunTabs& tabs) {
  return !tabs.replaced && runs.last() == static_cast<RunKind>(tabs.kind);
}

// The results that the tab shows.
template <typename Results>
const Kept<Results>& kept_of(const KeptRuns<Results>& runs, const RunTabs& tabs) {
  const auto kind = static_cast<RunKind>(tabs.kind);
  return tabs.replaced ? runs.replaced(kind) : runs.of(kind);
}

// Draws tabs for the kinds of runs in `offered`, if it has several, a button to see what the last
// run of a kind replaced, when results of an earlier session were measured, and, of results with
// marked figures or measured while other programs ran, that and a button that measures again.
// `titles` are LAB_TEXT, parallel to `offered`; `has_marks` is null for results that have
// their marks and notes elsewhere. A new job shows its own kind. Returns the results to show.
template <typename Results>
const Kept<Results>& run_tabs(const Panel& p, Page page, const KeptRuns<Results>& runs,
                              RunTabs& tabs, std::span<const std::string> titles,
                              std::span<const RunKind> offered,
                              bool (*has_marks)(const Results&) = nullptr) {
  choose_kind(p, page, tabs, runs.last(), offered);
  const Results& results = shown(kept_of(runs, tabs));
  const RunState state{
      .last = has_marks != nullptr && shows_last_run(runs, tabs),
      .others = has_marks != nullptr ? results.others : 0,
      .has_marks = has_marks != nullptr && has_marks(results),
      .has_replaced = !runs.replaced(static_cast<RunKind>(tabs.kind)).current.empty(),
      .measured = results.earlier ? results.measured_at : 0};
  if (draw_run_tabs(p, page, tabs, titles, offered, state)) send_and_show(p, results.request);
  return kept_of(runs, tabs);
}

}  // namespace lab::ui
