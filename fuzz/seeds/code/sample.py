#!/usr/bin/env python3
"""A module.

def not_a_function():
"""
import os

LIMIT = 3


# Opens it.
@decorated(
    "x",
)
async def open_store(
    path,  # ) a comment
):
    """Opens."""

    return {}


class Store(Base):
    """A store."""

    limit = LIMIT

    @property
    def size(self):
        return len(self.rows)

    def read(self): return "# no comment"

if __name__ == "__main__":
    open_store("x")
