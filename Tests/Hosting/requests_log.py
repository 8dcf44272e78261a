"""What a host was asked for, from its log."""

from pathlib import Path


class Requests:
    """What a log of nginx says of the requests."""

    def __init__(self, log: Path):
        self.log = log

    def mark(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def asked(self, since: int) -> list[tuple[int, str]]:
        """Bytes of the body and path of each request after that mark."""
        with open(self.log) as lines:
            lines.seek(since)
            return [(int(line.split()[2]), line.split()[3]) for line in lines]
