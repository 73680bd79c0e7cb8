#pragma once
// The cards of results on the Transfers page. For use inside ui/pages only.
#include "ui/pages/panel.h"

namespace lab::ui {

void draw_transfer_curves(const Panel& p, const Kept<TransferResults>& kept);
void draw_live_transfers(const Panel& p, const Kept<TransferResults>& kept);
// Device pairs coloured by their best copy bandwidth; draws nothing for a single device.
void draw_transfer_matrix(const Panel& p, const Kept<TransferResults>& kept);
// Timeline of the streams of each GPU; draws nothing without a GPU.
void draw_transfer_timelines(const Panel& p, const Kept<TransferResults>& kept);
void draw_transfer_sentences(const Panel& p, const Kept<TransferResults>& kept);
void draw_transfer_table(const Panel& p, const Kept<TransferResults>& kept);

}  // namespace lab::ui
