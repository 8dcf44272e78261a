"""RFC 6962 / 9162 tree over SHA-256, its proofs, and C2SP hash tiles.

Trees and proofs are made by the recursive definitions of the RFC; they are checked by walking
the levels with index and width. So maker and checker do not share an algorithm."""
import hashlib
import re

EMPTY_ROOT = hashlib.sha256(b"").digest()
INT64_MAX = 2**63 - 1


def leaf_hash(block):
    return hashlib.sha256(b"\x00" + block).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def _split(n):
    """The largest power of two smaller than n."""
    return 1 << (n - 1).bit_length() - 1


class Tree:
    def __init__(self, leaves):
        self.leaves = leaves
        self._known = {}

    def mth(self, low, high):
        if high - low == 1:
            return self.leaves[low]
        if (low, high) not in self._known:
            middle = low + _split(high - low)
            self._known[low, high] = node_hash(self.mth(low, middle), self.mth(middle, high))
        return self._known[low, high]

    def root(self, size=None):
        size = len(self.leaves) if size is None else size
        return self.mth(0, size) if size else EMPTY_ROOT

    def path(self, index, size=None):
        """Audit path, leaf to root."""
        def walk(low, high):
            if high - low == 1:
                return []
            middle = low + _split(high - low)
            if index < middle:
                return walk(low, middle) + [self.mth(middle, high)]
            return walk(middle, high) + [self.mth(low, middle)]
        return walk(0, len(self.leaves) if size is None else size)

    def consistency(self, m, n):
        def walk(m, low, high, whole):
            if m == high - low:
                return [] if whole else [self.mth(low, high)]
            k = _split(high - low)
            if m <= k:
                return walk(m, low, low + k, whole) + [self.mth(low + k, high)]
            return walk(m - k, low + k, high, False) + [self.mth(low, low + k)]
        return walk(m, 0, n, True)

    def tiles(self):
        """Every tile of the tree: (path, bytes)."""
        level, result = 0, []
        while (width := len(self.leaves) >> 8 * level) > 0:
            span = 256**level
            for number in range((width + 255) // 256):
                first, last = number * 256, min(number * 256 + 256, width)
                data = b"".join(self.mth(i * span, (i + 1) * span) for i in range(first, last))
                result.append((tile_path(level, number, last - first), data))
            level += 1
        return result


def sides(index, count):
    """Where the siblings of a path stand, leaf to root: "left" or "right"."""
    result, last = [], count - 1
    while last > 0:
        if index & 1:
            result.append("left")
        elif index < last:
            result.append("right")
        index, last = index >> 1, last >> 1
    return result


def fold(leaf, index, count, siblings):
    for side, sibling in zip(sides(index, count), siblings, strict=True):
        leaf = node_hash(sibling, leaf) if side == "left" else node_hash(leaf, sibling)
    return leaf


def check_inclusion(index, count, root, siblings, leaf=None, block=None, block_length=None):
    if not 0 < count <= INT64_MAX or not 0 <= index < count:
        return "proof-malformed"
    hashes = [root, *siblings] + ([] if leaf is None else [leaf])
    if any(len(h) != 32 for h in hashes) or len(siblings) != len(sides(index, count)):
        return "proof-malformed"
    if block is not None:
        if block_length is not None and len(block) != block_length:
            return "block-mismatch"
        leaf = leaf_hash(block)
    return "accept" if fold(leaf, index, count, siblings) == root else "block-mismatch"


def consistency_length(m, n, whole=True):
    if m == n:
        return 0 if whole else 1
    k = _split(n)
    return 1 + (consistency_length(m, k, whole) if m <= k else consistency_length(m - k, n - k, False))


def fold_consistency(m, n, root1, proof):
    """RFC 9162 section 2.1.4.2 for 0 < m < n: the two roots that the proof leads to."""
    path = list(proof)
    if m & (m - 1) == 0:
        path.insert(0, root1)
    fn, sn = m - 1, n - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for node in path[1:]:
        assert sn > 0
        if fn & 1 or fn == sn:
            fr, sr = node_hash(node, fr), node_hash(node, sr)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node_hash(sr, node)
        fn, sn = fn >> 1, sn >> 1
    assert sn == 0
    return fr, sr


def check_consistency(m, n, root1, root2, proof):
    if not 0 < m <= n <= INT64_MAX or any(len(h) != 32 for h in (root1, root2, *proof)):
        return "proof-malformed"
    if len(proof) != consistency_length(m, n):
        return "proof-malformed"
    if m == n:
        return "accept" if root1 == root2 else "root-mismatch"
    return "accept" if fold_consistency(m, n, root1, proof) == (root1, root2) else "root-mismatch"


def tile_path(level, index, width):
    groups = [f"{index % 1000:03}"]
    while index := index // 1000:
        groups.insert(0, f"x{index % 1000:03}")
    return f"tile/{level}/" + "/".join(groups) + ("" if width == 256 else f".p/{width}")


TILE = re.compile(r"tile/(0|[1-9][0-9]?)/((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?")


def check_tile_path(path):
    """(level, index, width), or None if the path is refused."""
    match = TILE.fullmatch(path)
    if not match or match[2].startswith("x000/"):
        return None
    level, index = int(match[1]), int(match[2].replace("x", "").replace("/", ""))
    width = int(match[3]) if match[3] else 256
    if level > 63 or index > INT64_MAX or (match[3] and width > 255):
        return None
    return level, index, width


RFC6962_LEAVES = [bytes.fromhex(h) for h in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657",
    "606162636465666768696a6b6c6d6e6f")]
RFC6962_ROOT = "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"


def numbered(count):
    """The tree whose block i is the 8-byte big-endian integer i."""
    return Tree([leaf_hash(i.to_bytes(8, "big")) for i in range(count)])


def self_test():
    reference = Tree([leaf_hash(b) for b in RFC6962_LEAVES])
    assert reference.root().hex() == RFC6962_ROOT
    tree = numbered(70)
    for n in range(1, 71):
        for i in range(n):
            assert check_inclusion(i, n, tree.root(n), tree.path(i, n), leaf=tree.leaves[i]) == "accept"
        for m in range(1, n + 1):
            proof = tree.consistency(m, n)
            assert check_consistency(m, n, tree.root(m), tree.root(n), proof) == "accept"
    for index in (0, 1, 999, 1000, 1234067, INT64_MAX):
        for width in (1, 255, 256):
            assert check_tile_path(tile_path(2, index, width)) == (2, index, width)
    assert len(numbered(70000).tiles()) == 273 + 1 + 1 + 1 + 1
