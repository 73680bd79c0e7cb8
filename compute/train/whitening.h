#pragma once
// A first convolution that starts with filters which whiten the images instead of drawn ones: the
// outputs of different pairs of filters are not correlated and have nearly equal variances, so that
// training need not learn first to tell faint differences of neighbouring pixels apart.
//   Source  Jordan, "94% on CIFAR-10 in 3.29 Seconds on a Single GPU", 2024, section 3.2
#include "compute/data/dataset.h"
#include "compute/nn/network.h"

namespace lab {

// Replaces the weights of the first convolution, [filters, 1, n, n]: two filters per principal
// component of the n x n patches of `images`, in order of falling variance,
//   w = +-v / sqrt(variance + 0.0005)    v: the component, a unit vector; pixels in [0, 1]
// Further filters keep their weights, as do biases. The patches are those inside of up to 1000
// images, spread over the set; the same images give the same weights. Throws Error(InvalidArgument)
// if the first layer is no such convolution, or there is no image that it fits.
void whiten_first_layer(nn::Network& network, const ImageSet& images);

}  // namespace lab
