// SPDX-License-Identifier: Apache-2.0
/// @file compiled.cpp
/// The kernels of the host, and the assembling of the usual formats, for all sources of a project:
/// core/compiled_once.hpp.
#include "../formats/assemble.hpp"
#include "../formats/named.hpp"
#include "mttkrp/host/product.hpp"
#include "sddmm/host/rows.hpp"
#include "spgemm/host/product.hpp"
#include "spmm/host/rows.hpp"
#include "spmv/host/form.hpp"
#include "spmv/host/rows.hpp"

namespace sporos {

SPOROS_FOR_COMPILED_VALUES(SPOROS_ASSEMBLE, )

namespace detail {

SPOROS_FOR_COMPILED_VALUES(SPOROS_MTTKRP, )
SPOROS_FOR_COMPILED_VALUES(SPOROS_PRODUCT_BY_ROWS, )
SPOROS_FOR_COMPILED_VALUES(SPOROS_SDDMM_ROWS, )
SPOROS_FOR_COMPILED_VALUES(SPOROS_SPMM_ROWS, )
SPOROS_FOR_COMPILED_VALUES(SPOROS_SPMV_FORM_FOR, )
SPOROS_FOR_COMPILED_VALUES(SPOROS_SPMV_ROWS, )

}  // namespace detail
}  // namespace sporos
