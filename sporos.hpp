// SPDX-License-Identifier: Apache-2.0
/// @file sporos.hpp
/// All of Sporos.
#pragma once

#include "core/components.hpp"
#include "core/entries.hpp"
#include "core/error.hpp"
#include "core/statement.hpp"
#include "core/tensor.hpp"
#include "formats/assemble.hpp"
#include "formats/at.hpp"
#include "formats/convert.hpp"
#include "formats/entries_of.hpp"
#include "formats/format_name.hpp"
#include "formats/io/read.hpp"
#include "formats/named.hpp"
#include "formats/print.hpp"
#include "formats/prune.hpp"
#include "formats/spy.hpp"
#include "formats/transpose.hpp"
#include "formats/validate.hpp"
#include "formats/wrap.hpp"
#include "kernels/statement/estimate.hpp"
#include "kernels/statement/explain.hpp"
#include "kernels/statement/plan.hpp"
#include "kernels/statement/run.hpp"
#include "workspace/bucket.hpp"
#include "workspace/hash.hpp"
