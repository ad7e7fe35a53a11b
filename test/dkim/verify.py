"""Verifies the signatures of mails with dkimpy: verify.py RECORDS FOLDER, one file a mail.

Prints a line for each file: its name, and `pass` or `fail` for each signature in turn.
"""

import pathlib
import sys

import dkim

records = dict(
    line.split(" ", 1) for line in pathlib.Path(sys.argv[1]).read_text().splitlines()
)


def record(name, timeout=5):
    return records[name.decode().rstrip(".")].encode()


for file in sorted(pathlib.Path(sys.argv[2]).iterdir()):
    mail = file.read_bytes()
    count = mail.split(b"\r\n\r\n", 1)[0].count(b"DKIM-Signature:")
    results = []
    for index in range(count):
        try:
            good = dkim.DKIM(mail).verify(idx=index, dnsfunc=record)
        except dkim.DKIMException:
            good = False
        results.append("pass" if good else "fail")
    print(file.name, *results)
