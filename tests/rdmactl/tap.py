# SPDX-License-Identifier: MIT
"""What a test says of its checks: TAP on stdout."""


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def __call__(self, ok, name, detail=""):
        self.n += 1
        self.failed += not ok
        print(f"{'' if ok else 'not '}ok {self.n} - {name}", flush=True)
        if not ok and detail:
            print("\n".join("# " + line for line in str(detail).splitlines()))

    def end(self):
        print(f"1..{self.n}")
        return 1 if self.failed else 0
