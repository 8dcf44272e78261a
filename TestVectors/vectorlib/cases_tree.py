"""Cases for tree/, inclusion/, consistency/ and tile/."""
import hashlib

from . import merkle
from .merkle import Tree, leaf_hash, node_hash, numbered

RULE = "block i is the 8-byte big-endian integer i"


def hexes(hashes):
    return [h.hex() for h in hashes]


def junk(label):
    return hashlib.sha256(b"fetchres test vectors: hash " + label.encode()).digest()


def number(value):
    """Numbers beyond int64 are written as strings."""
    return value if -2**63 <= value < 2**63 else str(value)


def add(case):
    add_trees(case)
    add_inclusion(case)
    add_consistency(case)
    add_tiles(case)


def tile_list(tree):
    return [{"path": path, "sha256": hashlib.sha256(data).hexdigest()} for path, data in tree.tiles()]


def blocks_of(size, block_size):
    data = bytes((7 * i + 1) % 256 for i in range(size))
    return [data[i:i + block_size] for i in range(0, size, block_size)]


def add_trees(case):
    def small(name, about, blocks, **fields):
        tree = Tree([leaf_hash(b) for b in blocks])
        for i in range(len(blocks)):
            checked = merkle.check_inclusion(i, len(blocks), tree.root(), tree.path(i), block=blocks[i])
            assert checked == "accept"
        case("tree", name, about, "accept", count=len(blocks), **fields, blocks=hexes(blocks),
             leaves=hexes(tree.leaves), root=tree.root().hex(),
             proofs=[hexes(tree.path(i)) for i in range(len(blocks))], tiles=tile_list(tree))

    for name, about, size in [
            ("no-leaf", "An empty resource has no block, no tile, and the hash of nothing as its root.", 0),
            ("one-leaf-of-one-byte", "A single block of one byte: the root is the leaf hash and the proof is empty.", 1),
            ("one-leaf", "A single full block: the root is the leaf hash and the proof is empty.", 16),
            ("two-leaves", "Two full blocks.", 32),
            ("two-leaves-last-short", "One byte more than a block: the second block is one byte long and not padded.", 17),
            ("three-leaves", "Three blocks, the last one short: the third leaf moves up without a sibling.", 41),
            ("five-leaves", "Five blocks, the last one short by a byte: the fifth leaf moves up twice.", 79),
            ("seven-leaves", "Seven full blocks: the last leaf has a path of two siblings, the others of three.", 112),
            ("eight-leaves", "Eight blocks, the last one short: a perfect tree.", 120)]:
        small(name, about, blocks_of(size, 16), blockSize=16, size=size)
    small("four-equal-leaves", "Equal blocks have equal leaf hashes and are interchangeable.", [b"\x55" * 16] * 4,
          blockSize=16, size=64)
    small("rfc-6962-reference", "The eight reference leaves of RFC 6962 implementations, of different lengths.",
          merkle.RFC6962_LEAVES)
    assert Tree([leaf_hash(b) for b in merkle.RFC6962_LEAVES]).root().hex() == merkle.RFC6962_ROOT

    for count, about in [
            (255, "One leaf less than a full tile."),
            (256, "Exactly one full tile, and a first hash on level 1."),
            (257, "One leaf more than a full tile: the last leaf moves up eight times."),
            (300, "One full tile and a partial one of 44 hashes."),
            (70000, "Three levels of tiles: 273 full and one of 112, one full and one of 17, one of 1.")]:
        tree = numbered(count)
        wanted = sorted({i for i in (0, 1, 2, 127, 128, 254, 255, 256, 257, 299, 511, 512, 32767, 32768, 65535, 65536,
                                     65537, 69631, 69632, 69887, 69888, count // 2, count - 2, count - 1) if i < count})
        case("tree", f"{count}-leaves", about, "accept", rule=RULE, count=count, blockSize=8, size=8 * count,
             root=tree.root().hex(), proofs=[{"index": i, "siblings": hexes(tree.path(i))} for i in wanted],
             tiles=tile_list(tree))


def add_inclusion(case):
    def proof(name, about, verdict, index, count, root, siblings, leaf=None, block=None, length=None):
        found = merkle.check_inclusion(index, count, root, siblings, leaf, block, length)
        assert found == verdict, f"inclusion/{name}: {found}"
        fields = {"index": number(index), "count": number(count), "root": root.hex(), "siblings": hexes(siblings)}
        if leaf is not None:
            fields["leaf"] = leaf.hex()
        if block is not None:
            fields |= {"block": block.hex(), "blockLength": length}
        case("inclusion", name, about, verdict, **fields)

    words = {1: "one-leaf", 2: "two-leaves", 3: "three-leaves", 4: "four-leaves", 5: "five-leaves", 7: "seven-leaves",
             8: "eight-leaves", 300: "300-leaves", 70000: "70000-leaves"}
    trees = {n: numbered(n) for n in words}
    raw = lambda i: i.to_bytes(8, "big")
    bad, mismatch = "proof-malformed", "block-mismatch"

    # Good ones, as leaf hash and as block.
    for n, indexes in [(1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (5, [0, 2, 3, 4]), (7, [0, 4, 5, 6]), (8, [0, 5, 7]),
                       (300, [0, 255, 256, 299]), (70000, [0, 65535, 65536, 69999])]:
        for i in indexes:
            t = trees[n]
            proof(f"{words[n]}-index-{i}", f"The proof of leaf {i} in a tree of {n}.", "accept", i, n, t.root(), t.path(i),
                  leaf=t.leaves[i])
    for n, i in [(1, 0), (2, 1), (3, 2), (5, 2), (5, 4), (300, 299)]:
        t = trees[n]
        proof(f"{words[n]}-index-{i}-with-block", f"The proof of block {i} in a tree of {n}, checked from the block's bytes.",
              "accept", i, n, t.root(), t.path(i), block=raw(i), length=8)
    short = blocks_of(41, 16)
    t = Tree([leaf_hash(b) for b in short])
    proof("last-block-short", "The last block is shorter than the others and is not padded.", "accept", 2, 3, t.root(),
          t.path(2), block=short[2], length=9)
    proof("last-block-padded", "The last block filled up with zeros to the block size is not the block.", mismatch, 2, 3,
          t.root(), t.path(2), block=short[2] + bytes(7), length=9)

    # A wrong number of siblings.
    one, two, three, five, eight = (trees[n] for n in (1, 2, 3, 5, 8))
    proof("one-leaf-with-a-spare-node", "A tree of one leaf has an empty proof; one sibling is one too many.", bad, 0, 1,
          one.root(), [junk("spare")], leaf=one.leaves[0])
    proof("one-leaf-doubled", "The single leaf paired with itself, as duplicating trees do.", bad, 0, 1,
          node_hash(one.leaves[0], one.leaves[0]), [one.leaves[0]], leaf=one.leaves[0])
    proof("two-leaves-without-siblings", "An empty proof in a tree of two, with the leaf itself as root.", bad, 0, 2,
          two.leaves[0], [], leaf=two.leaves[0])
    for n, indexes in [(3, [0, 1, 2]), (5, [0, 2, 4]), (8, [7])]:
        t = trees[n]
        for i in indexes:
            path = t.path(i)
            proof(f"{words[n]}-index-{i}-one-node-less", f"The proof of leaf {i} in a tree of {n} without its last sibling.",
                  bad, i, n, t.root(), path[:-1], leaf=t.leaves[i])
            proof(f"{words[n]}-index-{i}-first-node-missing", f"The proof of leaf {i} in a tree of {n} without its first sibling.",
                  bad, i, n, t.root(), path[1:], leaf=t.leaves[i])
            proof(f"{words[n]}-index-{i}-one-node-more", f"The proof of leaf {i} in a tree of {n} with a node added at the end.",
                  bad, i, n, t.root(), path + [junk("more")], leaf=t.leaves[i])
    proof("root-reached-then-one-node-more", "A node after the root, and the hash above both given as root.", bad, 2, 5,
          node_hash(five.root(), junk("above")), five.path(2) + [junk("above")], leaf=five.leaves[2])
    proof("promoted-leaf-with-placeholder-nodes", "The fifth leaf has one sibling; empty places for the skipped levels are no siblings.",
          bad, 4, 5, five.root(), [bytes(32), bytes(32), five.path(4)[0]], leaf=five.leaves[4])
    proof("promoted-leaf-with-its-own-hash-as-siblings", "The fifth leaf paired with itself on the levels where it moves up.",
          bad, 4, 5, five.root(), [five.leaves[4], node_hash(five.leaves[4], five.leaves[4]), five.path(4)[0]],
          leaf=five.leaves[4])
    proof("thousand-nodes", "A proof of a thousand nodes in a tree of eight.", bad, 5, 8, eight.root(),
          eight.path(5) + [junk(f"long {i}") for i in range(997)], leaf=eight.leaves[5])

    # Order and sides.
    proof("two-leaves-sides-swapped", "The proof of leaf 0 presented under the index of leaf 1.", mismatch, 1, 2, two.root(),
          two.path(0), leaf=two.leaves[0])
    proof("two-leaves-leaf-and-sibling-swapped", "Leaf 1 at index 0 with leaf 0 as its sibling.", mismatch, 0, 2, two.root(),
          [two.leaves[0]], leaf=two.leaves[1])
    path = five.path(2)
    proof("five-leaves-first-siblings-swapped", "The first two siblings in the wrong order.", mismatch, 2, 5, five.root(),
          [path[1], path[0], path[2]], leaf=five.leaves[2])
    proof("five-leaves-siblings-reversed", "Siblings given from root to leaf.", mismatch, 2, 5, five.root(), path[::-1],
          leaf=five.leaves[2])
    proof("eight-leaves-last-siblings-swapped", "The last two siblings in the wrong order.", mismatch, 5, 8, eight.root(),
          [eight.path(5)[0], eight.path(5)[2], eight.path(5)[1]], leaf=eight.leaves[5])

    # Index and count.
    for name, index in [("minus-one", -1), ("int64-min", -2**63), ("minus-2-to-the-64-plus-2", 2 - 2**64)]:
        proof(f"index-{name}", "A negative index is refused, however its low bits look.", bad, index, 5, five.root(), path,
              leaf=five.leaves[2])
    proof("index-equal-to-count", "Index 5 in a tree of five.", bad, 5, 5, five.root(), five.path(4), leaf=five.leaves[4])
    proof("one-leaf-index-1", "Index 1 in a tree of one.", bad, 1, 1, one.root(), [], leaf=one.leaves[0])
    proof("index-far-too-large", "Index 1,000,000 in a tree of eight.", bad, 1000000, 8, eight.root(), eight.path(0),
          leaf=eight.leaves[0])
    proof("index-int64-max", "The largest 64-bit index in a tree of eight.", bad, 2**63 - 1, 8, eight.root(), eight.path(7),
          leaf=eight.leaves[7])
    for name, shift in [("8", 8), ("2-to-the-32", 2**32), ("2-to-the-63", 2**63), ("2-to-the-64", 2**64)]:
        proof(f"index-shifted-by-{name}", "A right proof under an index whose low bits are right but that lies beyond the count.",
              bad, 5 + shift, 8, eight.root(), eight.path(5), leaf=eight.leaves[5])
    proof("index-shifted-by-2-within-the-tree", "The proof of leaf 1 under index 3 of eight: same shape, other sides.", mismatch,
          3, 8, eight.root(), eight.path(1), leaf=eight.leaves[1])
    proof("index-shifted-by-4-within-the-tree", "The proof of leaf 1 under index 5 of eight: same shape, other sides.", mismatch,
          5, 8, eight.root(), eight.path(1), leaf=eight.leaves[1])
    big = trees[70000]
    proof("index-shifted-by-32768-within-the-tree", "The proof of leaf 0 of 70,000 under index 32,768.", mismatch, 32768, 70000,
          big.root(), big.path(0), leaf=big.leaves[0])
    proof("index-shifted-by-65536-within-the-tree", "The proof of leaf 0 of 70,000 under index 65,536, whose path is shorter.",
          bad, 65536, 70000, big.root(), big.path(0), leaf=big.leaves[0])
    proof("count-0", "A tree of no leaf contains nothing.", bad, 0, 0, merkle.EMPTY_ROOT, [], leaf=one.leaves[0])
    proof("count-0-with-the-root-of-one", "Count 0 with a root and leaf that fit a tree of one.", bad, 0, 0, one.root(), [],
          leaf=one.leaves[0])
    proof("count-negative", "A negative count is refused.", bad, 0, -1, one.root(), [], leaf=one.leaves[0])
    proof("count-2-to-the-63", "A count beyond 64-bit signed integers is refused.", bad, 0, 2**63, one.root(), [],
          leaf=one.leaves[0])
    proof("count-too-large", "A proof in a tree of five checked at count six, where leaf 4 has one sibling more.", bad, 4, 6,
          five.root(), five.path(4), leaf=five.leaves[4])
    proof("count-too-small", "A proof in a tree of five checked at count four, where leaf 2 has one sibling less.", bad, 2, 4,
          five.root(), five.path(2), leaf=five.leaves[2])
    huge = 2**63 - 1
    siblings = [junk(f"huge {i}") for i in range(63)]
    proof("largest-count-index-0", "The largest count there is: 63 siblings, all on the right.", "accept", 0, huge,
          merkle.fold(junk("huge"), 0, huge, siblings), siblings, leaf=junk("huge"))
    siblings = siblings[:len(merkle.sides(huge - 1, huge))]
    proof("largest-count-last-index", "The last leaf at the largest count there is.", "accept", huge - 1, huge,
          merkle.fold(junk("huge"), huge - 1, huge, siblings), siblings, leaf=junk("huge"))
    proof("largest-count-one-node-less", "The last leaf at the largest count, with one sibling less.", bad, huge - 1, huge,
          merkle.fold(junk("huge"), huge - 1, huge, siblings), siblings[:-1], leaf=junk("huge"))

    # Hashes that are not 32 bytes.
    for name, change in [("of-31-bytes", lambda h: h[:31]), ("of-33-bytes", lambda h: h + b"\x00"), ("empty", lambda h: b""),
                         ("of-64-bytes", lambda h: h + h)]:
        proof(f"sibling-{name}", "A sibling that is not 32 bytes long.", bad, 2, 5, five.root(),
              [path[0], change(path[1]), path[2]], leaf=five.leaves[2])
        proof(f"root-{name}", "A root that is not 32 bytes long.", bad, 2, 5, change(five.root()), path, leaf=five.leaves[2])
        proof(f"leaf-{name}", "A leaf hash that is not 32 bytes long.", bad, 2, 5, five.root(), path,
              leaf=change(five.leaves[2]))
    joined = path[0] + path[1]
    proof("siblings-cut-at-another-place", "The right bytes, but cut into hashes of 31 and 33 bytes.", bad, 2, 5, five.root(),
          [joined[:31], joined[31:], path[2]], leaf=five.leaves[2])

    # Content.
    for name, position in [("first", 0), ("last", 63)]:
        block = bytearray(raw(2))
        block[position // 8] ^= 0x80 >> position % 8
        proof(f"block-{name}-bit-flipped", f"The {name} bit of the block is flipped.", mismatch, 2, 5, five.root(), path,
              block=bytes(block), length=8)
    proof("block-one-byte-longer", "The block with a byte added.", mismatch, 2, 5, five.root(), path, block=raw(2) + b"\x00",
          length=8)
    proof("block-one-byte-shorter", "The block without its last byte.", mismatch, 2, 5, five.root(), path, block=raw(2)[:7],
          length=8)
    proof("block-empty", "No byte at all where a block of 8 is expected.", mismatch, 2, 5, five.root(), path, block=b"", length=8)
    for name, size in [("longer", 9), ("shorter", 7)]:
        t = Tree([leaf_hash(raw(0)), leaf_hash(bytes(size)), leaf_hash(raw(2))])
        proof(f"block-{name}-than-signed-with-the-right-root", "The root comes out, but the block is not as long as it must be.",
              mismatch, 1, 3, t.root(), t.path(1), block=bytes(size), length=8)
    proof("block-of-zeros", "Zeros in place of the block.", mismatch, 2, 5, five.root(), path, block=bytes(8), length=8)
    proof("block-of-the-neighbour", "Block 3 with the proof and the index of block 2.", mismatch, 2, 5, five.root(), path,
          block=raw(3), length=8)
    proof("block-hashed-without-prefix", "A leaf hash made without the 0x00 in front.", mismatch, 2, 5, five.root(), path,
          leaf=hashlib.sha256(raw(2)).digest())
    proof("leaf-hash-bit-flipped", "One bit of the leaf hash is flipped.", mismatch, 2, 5, five.root(), path,
          leaf=bytes([five.leaves[2][0] ^ 1]) + five.leaves[2][1:])
    proof("sibling-bit-flipped", "One bit of a sibling is flipped.", mismatch, 2, 5, five.root(),
          [path[0], path[1][:31] + bytes([path[1][31] ^ 128]), path[2]], leaf=five.leaves[2])
    proof("root-wrong", "Right proof, wrong root.", mismatch, 2, 5, junk("root"), path, leaf=five.leaves[2])
    proof("root-bit-flipped", "The last bit of the root is flipped.", mismatch, 2, 5,
          five.root()[:31] + bytes([five.root()[31] ^ 1]), path, leaf=five.leaves[2])
    proof("one-leaf-root-wrong", "A tree of one leaf whose root is not the leaf hash.", mismatch, 0, 1, junk("root"), [],
          leaf=one.leaves[0])
    proof("empty-root-at-count-1", "The root of the empty tree with count 1.", mismatch, 0, 1, merkle.EMPTY_ROOT, [],
          leaf=one.leaves[0])
    other = Tree([leaf_hash(b"other" + raw(i)) for i in range(5)])
    proof("proof-of-another-tree", "The siblings of the same index in another tree of the same size.", mismatch, 2, 5,
          five.root(), other.path(2), leaf=five.leaves[2])
    proof("leaf-of-another-tree", "A genuine proof of another tree against this root.", mismatch, 2, 5, five.root(),
          other.path(2), leaf=other.leaves[2])
    same = Tree([leaf_hash(b"\x55" * 8)] * 4)
    proof("equal-blocks-other-index", "Where all blocks are equal, the proof of block 0 holds for block 3 too.", "accept", 3, 4,
          same.root(), same.path(0), block=b"\x55" * 8, length=8)

    # Duplicated last leaf.
    a, b, c = three.leaves
    ab, cc = node_hash(a, b), node_hash(c, c)
    doubled = node_hash(ab, cc)
    proof("last-leaf-duplicated", "Three leaves, the last paired with itself: this proof has a node too many at count 3.", bad, 2,
          3, doubled, [c, ab], leaf=c)
    proof("last-leaf-duplicated-as-index-3", "The copy of the last leaf under index 3 of a tree of three.", bad, 3, 3, doubled,
          [c, ab], leaf=c)
    proof("last-leaf-duplicated-real-proof", "The real proof of leaf 2 of three against the root of the duplicating tree.",
          mismatch, 2, 3, doubled, [ab], leaf=c)
    proof("last-leaf-duplicated-real-root", "A proof of leaf 0 through the duplicated leaf against the real root.", mismatch, 0,
          3, three.root(), [b, cc], leaf=a)

    # Nodes passed off as leaves.
    four = trees[4]
    left, right = four.mth(0, 2), four.mth(2, 4)
    inner = four.leaves[0] + four.leaves[1]
    proof("block-made-of-two-hashes", "A block whose 64 bytes are two child hashes is a leaf, not their parent.", mismatch, 0, 2,
          four.root(), [right], block=inner, length=64)
    proof("block-made-of-two-hashes-with-node-prefix", "The 65 bytes that a parent is hashed from, as a block.", mismatch, 0, 2,
          four.root(), [right], block=b"\x01" + inner, length=65)
    proof("node-as-leaf-at-the-signed-count", "An inner node as leaf hash: its path is too short at the signed count of four.",
          bad, 0, 4, four.root(), [right], leaf=left)
    proof("node-as-leaf-with-a-spare-node", "An inner node as leaf hash, with a node added so that the number is right.", mismatch,
          0, 4, four.root(), [right, junk("spare")], leaf=left)
    proof("root-as-leaf", "The root as leaf hash with an empty proof at the signed count of four.", bad, 0, 4, four.root(), [],
          leaf=four.root())
    proof("node-as-leaf-at-a-smaller-count", "Why count must be signed and content proven from bytes: as a leaf hash an inner node "
          "passes at a smaller count.", "accept", 0, 2, four.root(), [right], leaf=left)


def add_consistency(case):
    tree = numbered(70000)
    fork = Tree(tree.leaves[:6] + [junk("fork")] + tree.leaves[7:300])
    bad, mismatch = "proof-malformed", "root-mismatch"

    def check(name, about, verdict, m, n, root1, root2, proof):
        found = merkle.check_consistency(m, n, root1, root2, proof)
        assert found == verdict, f"consistency/{name}: {found}"
        case("consistency", name, about, verdict, size1=number(m), size2=number(n), root1=root1.hex(), root2=root2.hex(),
             proof=hexes(proof))

    pairs = [(m, n) for n in range(1, 10) for m in range(1, n + 1)]
    pairs += [(1, 255), (254, 255), (255, 255), (1, 256), (128, 256), (255, 256), (256, 256), (1, 257), (255, 257), (256, 257),
              (257, 257), (1, 300), (255, 300), (256, 300), (257, 300), (299, 300), (300, 300), (300, 70000), (65535, 70000),
              (65536, 70000), (65537, 70000), (69999, 70000)]
    for m, n in pairs:
        check(f"size-{m}-to-{n}", f"The tree of {m} is a prefix of the tree of {n}.", "accept", m, n, tree.root(m), tree.root(n),
              tree.consistency(m, n))
    huge = 2**63 - 1
    for name, m in [("2-to-the-62", 2**62), ("one-less", huge - 1), ("3", 3)]:
        proof = [junk(f"huge {i}") for i in range(merkle.consistency_length(m, huge))]
        first = junk("huge first")
        root1, root2 = merkle.fold_consistency(m, huge, first, proof)
        check(f"largest-size-from-{name}", "Consistency with the largest size there is.", "accept", m, huge, root1, root2, proof)

    empty = merkle.EMPTY_ROOT
    check("size-0-to-5", "The empty tree has no consistency proof.", bad, 0, 5, empty, tree.root(5), [])
    check("size-0-to-5-with-a-node", "The empty tree has no consistency proof, not with the new root as its node either.", bad, 0,
          5, empty, tree.root(5), [tree.root(5)])
    check("size-0-to-0", "The empty tree is refused even against itself.", bad, 0, 0, empty, empty, [])
    check("size-5-to-0", "From five to nothing.", bad, 5, 0, tree.root(5), empty, [])
    check("size-7-to-3", "The first size is greater than the second.", bad, 7, 3, tree.root(7), tree.root(3),
          tree.consistency(3, 7))
    check("size-1-negative", "A negative first size.", bad, -3, 7, tree.root(3), tree.root(7), tree.consistency(3, 7))
    check("both-sizes-negative", "Two negative sizes.", bad, -7, -7, tree.root(7), tree.root(7), [])
    check("size-2-beyond-int64", "A second size of 2^63.", bad, 3, 2**63, tree.root(3), tree.root(7), tree.consistency(3, 7))
    check("size-2-is-7-plus-2-to-the-64", "A second size whose low 64 bits are 7.", bad, 3, 7 + 2**64, tree.root(3), tree.root(7),
          tree.consistency(3, 7))
    check("same-size-with-a-node", "The same size needs no node.", bad, 5, 5, tree.root(5), tree.root(5), [tree.root(5)])
    check("same-size-other-root", "Two roots of the same size are two histories.", mismatch, 7, 7, tree.root(7), fork.root(7), [])
    check("same-size-root-bit-flipped", "The same size, one bit of the root is flipped.", mismatch, 7, 7, tree.root(7),
          tree.root(7)[:31] + bytes([tree.root(7)[31] ^ 1]), [])

    for m, n in [(1, 2), (3, 7), (4, 7), (4, 8), (6, 8), (255, 300), (256, 300)]:
        r1, r2, proof = tree.root(m), tree.root(n), tree.consistency(m, n)
        what = f"from {m} to {n}"
        check(f"size-{m}-to-{n}-no-node", f"An empty proof {what}.", bad, m, n, r1, r2, [])
        check(f"size-{m}-to-{n}-one-node-more", f"A node added at the end of the proof {what}.", bad, m, n, r1, r2,
              proof + [junk("more")])
        if len(proof) > 1:
            check(f"size-{m}-to-{n}-one-node-less", f"The proof {what} without its last node.", bad, m, n, r1, r2, proof[:-1])
            check(f"size-{m}-to-{n}-first-node-missing", f"The proof {what} without its first node.", bad, m, n, r1, r2, proof[1:])
            check(f"size-{m}-to-{n}-nodes-reversed", f"The nodes of the proof {what} in reverse.", mismatch, m, n, r1, r2,
                  proof[::-1])
        check(f"size-{m}-to-{n}-roots-swapped", f"The two roots exchanged {what}.", mismatch, m, n, r2, r1, proof)
        check(f"size-{m}-to-{n}-old-root-wrong", f"The proof {what} does not lead to the old root.", mismatch, m, n, junk("old"),
              r2, proof)
        check(f"size-{m}-to-{n}-new-root-wrong", f"The proof {what} does not lead to the new root.", mismatch, m, n, r1,
              junk("new"), proof)
        check(f"size-{m}-to-{n}-bit-flipped", f"One bit of the first node is flipped {what}.", mismatch, m, n, r1, r2,
              [bytes([proof[0][0] ^ 1]) + proof[0][1:]] + proof[1:])
    for m, n in [(4, 7), (256, 300)]:
        check(f"size-{m}-to-{n}-old-root-in-front", "When the old size is a power of two the old root is not part of the proof.",
              bad, m, n, tree.root(m), tree.root(n), [tree.root(m)] + tree.consistency(m, n))
    check("size-3-to-7-old-size-said-to-be-4", "A proof for 3 and 7 presented for 4 and 7.", bad, 4, 7, tree.root(3), tree.root(7),
          tree.consistency(3, 7))
    check("size-5-to-7-old-size-said-to-be-6", "A proof for 5 and 7 presented for 6 and 7: another number of nodes.", bad, 6, 7,
          tree.root(5), tree.root(7), tree.consistency(5, 7))
    check("size-5-to-8-old-size-said-to-be-7", "A proof for 5 and 8 presented for 7 and 8: same number of nodes, other places.",
          mismatch, 7, 8, tree.root(5), tree.root(8), tree.consistency(5, 8))
    check("size-3-to-7-new-size-said-to-be-8", "A proof for 3 and 7 presented for 3 and 8 with the root of 7: the size is not "
          "bound by the proof alone.", "accept", 3, 8, tree.root(3), tree.root(7), tree.consistency(3, 7))
    check("fork-7-to-9", "The old tree differs in its last leaf: the genuine proof leads to another old root.", mismatch, 7, 9,
          fork.root(7), tree.root(9), tree.consistency(7, 9))
    check("fork-7-to-9-with-the-other-proof", "The proof of the other history against this new root.", mismatch, 7, 9,
          fork.root(7), tree.root(9), fork.consistency(7, 9))
    check("fork-255-to-300", "A log that was rewritten at entry 6.", mismatch, 255, 300, fork.root(255), tree.root(300),
          tree.consistency(255, 300))
    for name, change in [("of-31-bytes", lambda h: h[:31]), ("of-33-bytes", lambda h: h + b"\x00"), ("empty", lambda h: b"")]:
        proof = tree.consistency(3, 7)
        check(f"node-{name}", "A node that is not 32 bytes long.", bad, 3, 7, tree.root(3), tree.root(7),
              [proof[0], change(proof[1]), *proof[2:]])
        check(f"old-root-{name}", "An old root that is not 32 bytes long.", bad, 3, 7, change(tree.root(3)), tree.root(7), proof)
        check(f"new-root-{name}", "A new root that is not 32 bytes long.", bad, 3, 7, tree.root(3), change(tree.root(7)), proof)
    check("same-size-roots-of-31-bytes", "Equal roots of the wrong length at the same size.", bad, 5, 5, tree.root(5)[:31],
          tree.root(5)[:31], [])
    check("thousand-nodes", "A proof of a thousand nodes between 3 and 7.", bad, 3, 7, tree.root(3), tree.root(7),
          tree.consistency(3, 7) + [junk(f"long {i}") for i in range(996)])


def add_tiles(case):
    for level, index, width in [(0, 0, 256), (0, 0, 1), (0, 0, 255), (0, 1, 256), (0, 273, 112), (1, 0, 256), (1, 1, 17), (2, 0, 1),
                                (0, 999, 256), (0, 999, 7), (0, 1000, 256), (0, 1000, 99), (0, 1001, 100), (0, 999999, 256),
                                (0, 1000000, 200), (0, 1234067, 256), (0, 1234067, 44), (3, 1234067, 9), (7, 0, 127), (8, 0, 1),
                                (9, 12, 10), (10, 0, 256), (63, 0, 1), (0, 2**31, 256), (0, 2**32, 256), (0, 10**18, 256),
                                (0, 2**63 - 1, 256), (0, 2**63 - 1, 255)]:
        path = merkle.tile_path(level, index, width)
        assert merkle.check_tile_path(path) == (level, index, width)
        what = "full tile" if width == 256 else f"partial tile of width {width}"
        case("tile", f"level-{level}-index-{index}-width-{width}", f"Path of a {what} on level {level}.", "accept",
             level=level, index=index, width=width, path=path)
    for name, path, about in [
            ("empty", "", "No path at all."),
            ("only-tile", "tile", "Level and index are missing."),
            ("no-index", "tile/0", "The index is missing."),
            ("index-empty", "tile/0/", "The index is empty."),
            ("level-empty", "tile//000", "The level is empty."),
            ("other-word", "tiles/0/000", "The first component is not tile."),
            ("upper-case-tile", "TILE/0/000", "The first component is in upper case."),
            ("leading-slash", "/tile/0/000", "A slash in front."),
            ("trailing-slash", "tile/0/000/", "A slash at the end of a full tile."),
            ("trailing-slash-partial", "tile/0/000.p/1/", "A slash at the end of a partial tile."),
            ("double-slash", "tile/0//000", "An empty component."),
            ("dot-segments", "tile/0/../0/000", "A dot segment in the path."),
            ("level-leading-zero", "tile/00/000", "The level has a leading zero."),
            ("level-01", "tile/01/000", "The level has a leading zero."),
            ("level-64", "tile/64/000", "The highest level is 63."),
            ("level-100", "tile/100/000", "The highest level is 63."),
            ("level-beyond-int64", "tile/18446744073709551616/000", "A level that does not fit 64 bits."),
            ("level-negative", "tile/-1/000", "A negative level."),
            ("level-plus", "tile/+1/000", "A level with a sign."),
            ("level-hexadecimal", "tile/a/000", "A level that is no decimal number."),
            ("level-space", "tile/ 0/000", "White space before the level."),
            ("index-one-digit", "tile/0/0", "A group has exactly three digits."),
            ("index-two-digits", "tile/0/00", "A group has exactly three digits."),
            ("index-four-digits", "tile/0/0000", "A group has exactly three digits."),
            ("index-1000-in-one-group", "tile/0/1000", "A thousand needs two groups."),
            ("group-of-four-digits", "tile/0/x0001/067", "A group has exactly three digits."),
            ("group-of-two-digits", "tile/0/x01/067", "A group has exactly three digits."),
            ("missing-x", "tile/0/001/067", "All groups but the last begin with an x."),
            ("missing-x-in-the-middle", "tile/0/x001/234/067", "All groups but the last begin with an x."),
            ("x-in-the-last-group", "tile/0/x067", "The last group has no x."),
            ("last-group-missing", "tile/0/x001/x234", "The last group is missing."),
            ("last-group-missing-slash", "tile/0/x001/x234/", "The last group is empty."),
            ("upper-case-x", "tile/0/X001/067", "The x is lower case."),
            ("double-x", "tile/0/xx01/067", "One x, three digits."),
            ("leading-group-zero", "tile/0/x000/001", "A leading group of zeros is not minimal."),
            ("leading-groups-zero", "tile/0/x000/x001/067", "A leading group of zeros is not minimal."),
            ("leading-group-zero-partial", "tile/0/x000/001.p/5", "A leading group of zeros is not minimal."),
            ("index-2-to-the-63", "tile/0/x009/x223/x372/x036/x854/x775/808", "An index of 2^63."),
            ("index-2-to-the-64", "tile/0/x018/x446/x744/x073/x709/x551/616", "An index of 2^64, whose low 64 bits are zero."),
            ("index-2-to-the-64-plus-5-partial", "tile/0/x018/x446/x744/x073/x709/x551/621.p/7",
             "An index whose low 64 bits are 5."),
            ("index-of-a-hundred-groups", "tile/0/" + "x001/" * 99 + "001", "An index of 298 digits."),
            ("index-negative", "tile/0/-01", "A negative index."),
            ("index-letters", "tile/0/abc", "An index of letters."),
            ("index-space", "tile/0/ 01", "White space in the index."),
            ("index-other-digits", "tile/0/\u0660\u0660\u0661", "Digits of another script."),
            ("index-full-width-digits", "tile/0/\uff10\uff10\uff11", "Full-width digits."),
            ("index-combining-mark", "tile/0/000\u0301", "A combining mark after the last digit."),
            ("width-0", "tile/0/000.p/0", "A partial tile has at least one hash."),
            ("width-256", "tile/0/000.p/256", "A tile of 256 hashes is full and has no width."),
            ("width-257", "tile/0/000.p/257", "A partial tile has at most 255 hashes."),
            ("width-1000", "tile/0/000.p/1000", "A partial tile has at most 255 hashes."),
            ("width-2-to-the-64-plus-1", "tile/0/000.p/18446744073709551617", "A width whose low 64 bits are 1."),
            ("width-leading-zeros", "tile/0/000.p/007", "The width has leading zeros."),
            ("width-leading-zero", "tile/0/000.p/07", "The width has a leading zero."),
            ("width-00", "tile/0/000.p/00", "The width is zero, with a leading zero."),
            ("width-negative", "tile/0/000.p/-1", "A negative width."),
            ("width-plus", "tile/0/000.p/+1", "A width with a sign."),
            ("width-empty", "tile/0/000.p/", "The width is empty."),
            ("width-missing", "tile/0/000.p", "The width is missing."),
            ("width-hexadecimal", "tile/0/000.p/1f", "The width is no decimal number."),
            ("width-twice", "tile/0/000.p/1.p/1", "Two widths."),
            ("width-followed-by-more", "tile/0/000.p/1/000", "A component after the width."),
            ("width-in-a-leading-group", "tile/0/x001.p/1/067", "The width stands at the end only."),
            ("upper-case-p", "tile/0/000.P/1", "The p is lower case."),
            ("slash-for-dot", "tile/0/000/p/1", "The p belongs to the last group, after a dot."),
            ("query", "tile/0/000?x=1", "A query string."),
            ("percent-encoded", "tile/0/%30%30%30", "Percent-encoded digits."),
            ("newline-at-the-end", "tile/0/000\n", "A newline at the end."),
            ("carriage-return-newline-at-the-end", "tile/0/000\r\n", "A line ending at the end."),
            ("nul-at-the-end", "tile/0/000\u0000", "A NUL at the end."),
            ("space-at-the-end", "tile/0/000 ", "A space at the end."),
            ("space-in-front", " tile/0/000", "A space in front."),
            ("level-combining-mark", "tile/0\u0301/000", "A combining mark after the level.")]:
        assert merkle.check_tile_path(path) is None, name
        case("tile", name, about, "tile-invalid", path=path)
