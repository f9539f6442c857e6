# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# expect: FAIL .*exit status 1
true
