#pragma once
// The cards of results on the Transfers page. For use inside ui/pages only.
#include <utility>

#include "ui/pages/panel.h"

namespace lab::ui {

// The fastest copies of the shown pair and the largest ones, once two sizes were measured, and how
// the plots count bytes.
void draw_transfer_headline(const Panel& p, const TransferResults& results);
void draw_transfer_curves(const Panel& p, const Kept<TransferResults>& kept);
void draw_live_transfers(const Panel& p, const Kept<TransferResults>& kept);
// The source and destination whose curves and costs are shown: the user's choice if it has results,
// otherwise the first pair that has.
std::pair<Device, Device> shown_pair(const Panel& p, const TransferResults& results);
// "cpu:0" within a device, otherwise "cpu:0 to cpu:1".
std::string pair_text(const std::pair<Device, Device>& pair);
// Selects that pair; draws nothing if only one has results.
void draw_pair_choice(const Panel& p, const TransferResults& results);
// Why a sample is_unsteady(); empty if it is steady.
std::string why_unsteady(const MeasuredTransfer& sample);
// With what others took from the cores, where that disturbed it.
std::string describe(const MeasuredTransfer& sample, CacheState cache);
// Whether draw_transfer_matrix() and draw_transfer_costs() have anything to draw.
bool has_transfer_matrix(const Panel& p, const TransferResults& results);
bool has_transfer_costs(const TransferResults& results);
// Device pairs coloured by the bandwidth of copies of one size, which the card selects; a press on
// a pair shows its curves. Only if has_transfer_matrix().
void draw_transfer_matrix(const Panel& p, const Kept<TransferResults>& kept);
// Timeline of the streams of each GPU; draws nothing without a GPU.
void draw_transfer_timelines(const Panel& p, const Kept<TransferResults>& kept);
// What copies of the shown pair cost, in sentences, and every fit in a table. Only if
// has_transfer_costs().
void draw_transfer_costs(const Panel& p, const Kept<TransferResults>& kept);
void draw_transfer_table(const Panel& p, const Kept<TransferResults>& kept);

}  // namespace lab::ui
