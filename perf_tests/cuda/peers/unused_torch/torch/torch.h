// SPDX-License-Identifier: Apache-2.0
/// @file torch.h
/// The same as extension.h, by its other name.
#pragma once

#include "extension.h"
