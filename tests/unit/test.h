/* SPDX-License-Identifier: MIT */
/* What every cmocka test includes, in the order that cmocka wants. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "macros.h"
