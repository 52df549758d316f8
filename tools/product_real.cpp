// SPDX-License-Identifier: Apache-2.0
/// @file product_real.cpp
/// Products of real matrices in every loop order.
#include "product_of.hpp"

namespace sporos::tool {

template Product multiply(const Entries<double, 2>&, const Entries<double, 2>&, const ProductPlan&);

}  // namespace sporos::tool
