"""Names of newer Pythons. Older ones read none of them, since annotations stay text."""

import sys
from typing import TYPE_CHECKING

if sys.version_info >= (3, 11):
    from typing import NotRequired, Unpack
elif TYPE_CHECKING:
    from typing_extensions import NotRequired, Unpack
else:
    NotRequired = Unpack = None

__all__ = ["NotRequired", "Unpack"]
