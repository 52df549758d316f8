// SPDX-License-Identifier: Apache-2.0
/// @file product_complex.cpp
/// Products of complex matrices in every loop order.
#include "product_of.hpp"

namespace sporos::tool {

template Product multiply(const Entries<Complex, 2>&, const Entries<Complex, 2>&, const ProductPlan&);

}  // namespace sporos::tool
