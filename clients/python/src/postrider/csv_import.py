"""Imports of CSV files."""

from __future__ import annotations

from typing import IO, Any, AsyncIterable, Dict, Iterable, List, TypedDict, Union

from ._typing import NotRequired

Content = Union[bytes, str, IO[bytes], Iterable[bytes]]
"""A file that is open in binary mode, its text, or its bytes in parts."""

AsyncContent = Union[Content, AsyncIterable[bytes]]
"""As `Content`; a file is read by threads, so that nothing else waits for it."""


class CsvImportSummary(TypedDict):
    """The end of an import."""

    rows: int

    created: int

    updated: int

    failed_total: int

    failed: List[Dict[str, Any]]
    """The first 1,000 rows that failed, each with its `line` in the file, from 1, and `error`."""

    ignored_columns: List[str]
    """Columns of the file that no field has."""

    unknown_lists: List[str]
    """Lists that rows name and that do not exist."""

    stopped_at_line: NotRequired[int]
    """The line at which the import was stopped; rows before it are written."""
