"""Cases for manifest/. Signatures are good unless a case is about them, so that the verdict is the manifest's own."""
import hashlib

from . import merkle, notes
from .notes import DASH, Key, line, note

ORIGIN = "maps.example.com/world"
FIRST = "fetchres manifest v1"
REQUIRED = ["origin", "version", "release", "size", "block-size", "blocks", "root", "file", "published", "key", "since"]
AT = {word: i + 2 for i, word in enumerate(REQUIRED)}  # line numbers without the optional `expires`
MALFORMED, BAD = "manifest-malformed", "bad-signature"


def add(case):
    k, k2 = Key(ORIGIN, "manifest"), Key(ORIGIN, "manifest, the next one")
    stranger = Key("witness.example", "manifest witness")
    root = hashlib.sha256(b"fetchres test vectors: manifest root").hexdigest()
    next_key = hashlib.sha256(k2.vkey.encode()).hexdigest()
    plain = {"origin": ORIGIN, "version": "2026.11.30", "release": "41", "size": "1310720000", "block-size": "1048576",
             "blocks": "1250", "root": root, "file": "world.map", "published": "2026-11-30T05:34:40Z", "key": k.vkey, "since": "0"}
    empty = {"size": "0", "blocks": "0", "root": merkle.EMPTY_ROOT.hex()}

    def one(name, about, verdict, content, at=None, known=(k,)):
        data = content if isinstance(content, bytes) else content.encode()
        fields = {}
        try:
            fields["fields"] = notes.open_manifest(data, [key.vkey for key in known])
            found = ("accept", None)
        except notes.Refused as refused:
            found = (refused.verdict, refused.line)
        assert found == (verdict, at), f"manifest/{name}: {found}"
        if at:
            fields["line"] = at
        more = {"otherKeys": [key.vkey for key in known[1:]]} if known[1:] else {}
        case("manifest", name, about, verdict, note=data.decode(), key=known[0].vkey, **more, **fields)

    def lines(expires=None, next=None, mirrors=(), extra=(), changes=None):
        result = [FIRST]
        for word, value in (plain | (changes or {})).items():
            if word == "key" and expires is not None:
                result.append(f"expires {expires}")
            result.append(f"{word} {value}")
        if next is not None:
            result.append(f"next-key {next}")
        return result + [f"mirror {m}" for m in mirrors] + list(extra)

    def sign(all_lines, *keys):
        return note("".join(one_line + "\n" for one_line in all_lines), *(keys or (k,)))

    def good(name, about, changes=None, **optional):
        one(name, about, "accept", sign(lines(changes=changes, **optional)))

    def bad(name, about, word, value, changes=None):
        """The minimal manifest with one value replaced; the fault is on that line."""
        one(name, about, MALFORMED, sign(lines(changes=(changes or {}) | {word: value})), at=AT[word])

    add_shape(one, good, lines, sign, k, k2, next_key)
    add_numbers(good, bad, one, lines, sign, empty, root)
    add_names(good, bad)
    add_dates(good, bad, one, lines, sign)
    add_keys(good, bad, one, lines, sign, plain, k, k2, stranger, next_key)
    add_mirrors(good, one, lines, sign)
    add_extensions(good, one, lines, sign)
    add_notes(one, lines, sign, k)


def add_shape(one, good, lines, sign, k, k2, next_key):
    expires, mirror, extra = "2027-05-30T00:00:00Z", "https://cdn1.example.com/world/", "x-note hello"
    full = lines(expires=expires, next=next_key, mirrors=[mirror, "http://mirror.example.org:8080/pub/world/"],
                 extra=["x-note hello", "x-region eu west"])
    good("minimal", "Only the required lines.")
    one("all-optional-lines", "Every optional line is there.", "accept", sign(full))
    good("with-expires", "The only optional line is expires.", expires=expires)
    good("with-next-key", "The only optional line is next-key.", next=next_key)
    good("with-mirror", "The only optional line is a mirror.", mirrors=[mirror])
    good("with-extension", "The only optional line is an x- line.", extra=[extra])

    # The first line.
    for name, first in [("v2", "fetchres manifest v2"), ("v10", "fetchres manifest v10"), ("v01", "fetchres manifest v01"),
                        ("without-version", "fetchres manifest"), ("upper-case", "Fetchres manifest v1"), ("space-at-the-end", "fetchres manifest v1 "),
                        ("space-in-front", " fetchres manifest v1"), ("double-space", "fetchres  manifest v1"), ("empty", ""),
                        ("combining-mark", "fetchres manifest v1\u0301"), ("byte-order-mark", "\ufefffetchres manifest v1"),
                        ("of-another-kind", "fetchres complete v1")]:
        one(f"first-line-{name}", "The first line is not exactly that of a version 1 manifest.", MALFORMED, sign([first] + lines()[1:]), at=1)
    one("first-line-missing", "The first line is missing.", MALFORMED, sign(lines()[1:]), at=1)
    one("first-line-only", "Nothing after the first line.", MALFORMED, sign([FIRST]))
    one("one-empty-line", "The text is an empty line.", MALFORMED, sign([""]), at=1)
    one("checkpoint-text", "A checkpoint in place of a manifest.", MALFORMED,
        sign([ORIGIN, "42", notes.b64(bytes(32))]), at=1)

    # Missing, repeated and reordered lines; `full` has expires as line 11, so key is 12, since 13, next-key 14, mirrors 15 and 16.
    words = [one_line.split(" ")[0] for one_line in full]
    for i, word in enumerate(words[:14]):
        if 1 <= i and word not in ("expires", "next-key"):
            one(f"{word}-missing", f"The line {word} is missing.", MALFORMED, sign(full[:i] + full[i + 1:]), at=i + 1)
        name = word if i else "first-line"
        one(f"{name}-repeated", f"The {name if not i else 'line ' + name} is there twice.", MALFORMED, sign(full[:i + 1] + full[i:]), at=i + 2)
    one("since-missing-at-the-end", "The text ends before the line since.", MALFORMED, sign(lines()[:-1]))
    one("key-and-since-missing", "The text ends before the line key.", MALFORMED, sign(lines()[:-2]))
    fault = {10: 12, 13: 15, 15: 17}  # behind an optional line the fault shows one line later
    for i in [*range(0, 14), 15]:
        a, b = (words[i] if i else "first-line", words[i + 1])
        swapped = full[:i] + [full[i + 1], full[i]] + full[i + 2:]
        one(f"order-{b}-before-{a}", f"The line {b} stands before {a.replace('-line', ' line')}.", MALFORMED, sign(swapped), at=fault.get(i, i + 1))
    one("order-mirror-between-extensions", "A mirror between two x- lines.", MALFORMED,
        sign(lines(extra=["x-a 1", f"mirror {mirror}", "x-b 2"])), at=14)
    one("order-extension-before-since", "An x- line before since.", MALFORMED, sign(lines()[:-1] + [extra] + lines()[-1:]), at=12)
    one("order-next-key-after-mirror", "next-key after a mirror.", MALFORMED, sign(lines(mirrors=[mirror], extra=[f"next-key {next_key}"])), at=14)
    one("order-expires-after-since", "expires after since.", MALFORMED, sign(lines(extra=[f"expires {expires}"])), at=13)
    one("order-alphabetical", "All lines in alphabetical order.", MALFORMED, sign([FIRST] + sorted(lines()[1:])), at=2)
    one("whole-text-twice", "The whole text twice.", MALFORMED, sign(lines() + lines()), at=13)

    # Words.
    for name, at, new in [("at-the-end", 13, "color blue"), ("after-block-size", 7, "hash sha512"), ("after-first-line", 2, "comment hello"),
                          ("before-key", 11, "not-before 2026-11-30T05:34:40Z"), ("comment-sign", 2, "# hello"),
                          ("mirrors", 13, f"mirrors {mirror}"), ("xnote", 13, "xnote hello"), ("upper-case-x", 13, "X-note hello")]:
        base = lines()
        one(f"unknown-word-{name}", "A word that version 1 does not know.", MALFORMED, sign(base[:at - 1] + [new] + base[at - 1:]), at=at)
    for word in REQUIRED:
        base, at = lines(), AT[word]
        for name, about, change in [
                ("double-space", f"Two spaces after {word}.", lambda t: t.replace(" ", "  ", 1)),
                ("space-at-the-end", f"A space at the end of the line {word}.", lambda t: t + " "),
                ("space-in-front", f"A space in front of {word}.", lambda t: " " + t),
                ("word-upper-case", f"The word {word} begins in upper case.", lambda t: t[0].upper() + t[1:]),
                ("value-empty", f"Nothing after {word} and its space.", lambda t: t.split(" ")[0] + " "),
                ("value-missing", f"The word {word} alone.", lambda t: t.split(" ")[0])]:
            one(f"{word}-{name}", about, MALFORMED, sign(base[:at - 1] + [change(base[at - 1])] + base[at:]), at=at)
    for name, about, change in [("colon", "A colon after the word.", lambda t: t.replace(" ", ": ", 1)),
                                ("equals-sign", "An equals sign between word and value.", lambda t: t.replace(" ", "=", 1)),
                                ("no-break-space", "A no-break space between word and value.", lambda t: t.replace(" ", "\u00a0", 1)),
                                ("combining-mark-on-the-space", "A combining mark after the space.", lambda t: t.replace(" ", " \u0301", 1)),
                                ("combining-mark-on-the-word", "A combining mark after the word.", lambda t: t.replace(" ", "\u0301 ", 1))]:
        base = lines()
        one(f"size-with-{name}", about, MALFORMED, sign(base[:4] + [change(base[4])] + base[5:]), at=5)
    for at, name in [(1, "in-front"), (2, "after-the-first-line"), (6, "in-the-middle"), (12, "before-since"), (13, "at-the-end")]:
        base = lines()
        one(f"blank-line-{name}", "An empty line within the signed text.", MALFORMED, sign(base[:at - 1] + [""] + base[at - 1:]), at=at)
    one("blank-line-before-mirror", "An empty line before a mirror.", MALFORMED, sign(lines(extra=["", f"mirror {mirror}"])), at=13)
    one("blank-line-before-extension", "An empty line before an x- line.", MALFORMED, sign(lines(extra=["", extra])), at=13)
    one("space-line-at-the-end", "A line with a space at the end.", MALFORMED, sign(lines(extra=[" "])), at=13)


def add_numbers(good, bad, one, lines, sign, empty, root):
    top = 2**63 - 1
    for name, value in [("plus", "+1310720000"), ("leading-zero", "01310720000"), ("minus-0", "-0"), ("minus-1", "-1"),
                        ("2-to-the-63", str(2**63)), ("2-to-the-64-plus-1310720000", str(2**64 + 1310720000)), ("of-100-digits", "9" * 100),
                        ("hexadecimal", "0x4e200000"), ("exponent", "1e9"), ("decimal-point", "1310720000.0"), ("underscore", "1_310_720_000"),
                        ("comma", "1,310,720,000"), ("unit", "1310720000B"), ("word", "large"), ("two-numbers", "1310720000 1310720000"),
                        ("other-digits", "".join(chr(0x660 + int(d)) for d in "1310720000")),
                        ("full-width-digits", "".join(chr(0xff10 + int(d)) for d in "1310720000")), ("combining-mark", "1310720000\u0301")]:
        bad(f"size-{name}", "A size that is not written as a plain decimal number below 2^63.", "size", value)
    for word in ("release", "block-size", "blocks", "since"):
        number = {"release": "41", "block-size": "1048576", "blocks": "1250", "since": "0"}[word]
        for name, value in [("plus", "+" + number), ("leading-zero", "0" + number), ("minus-0", "-0"), ("minus-1", "-1"),
                            ("2-to-the-63", str(2**63)), (f"2-to-the-64-plus-{number}", str(2**64 + int(number))),
                            ("hexadecimal", hex(int(number))), ("combining-mark", number + "\u0301")]:
            bad(f"{word}-{name}", f"The number of {word} is not a plain decimal number below 2^63.", word, value)
    good("release-0", "The first release there is.", {"release": "0"})
    good("release-largest", "The largest release index.", {"release": str(top)})
    good("since-equal-to-release", "The first release signed by a key is its since.", {"since": "41"})
    good("since-largest", "The largest since.", {"release": str(top), "since": str(top)})
    bad("since-after-release", "since is greater than release.", "since", "42")
    bad("since-1-release-0", "since is greater than release.", "since", "1", {"release": "0"})

    # block-size and blocks.
    bad("block-size-0", "A block has at least one byte.", "block-size", "0", {"blocks": "0"})
    bad("block-size-0-of-an-empty-resource", "A block has at least one byte, in an empty resource too.", "block-size", "0", empty)
    good("block-size-1", "Blocks of one byte.", {"size": "1250", "block-size": "1"})
    good("block-size-odd", "A block size need not be a power of two.", {"size": "1000", "block-size": "333", "blocks": "4"})
    good("block-size-67108864", "The largest block size.", {"size": "201326592", "block-size": "67108864", "blocks": "3"})
    bad("block-size-67108865", "A byte more than the largest block size.", "block-size", "67108865", {"size": "201326595", "blocks": "3"})
    good("size-smaller-than-a-block", "A single block shorter than the block size.", {"size": "5", "blocks": "1"})
    good("size-1", "A single byte.", {"size": "1", "blocks": "1"})
    good("size-one-block", "Exactly one block.", {"size": "1048576", "blocks": "1"})
    good("size-one-block-and-a-byte", "One block and a byte are two blocks.", {"size": "1048577", "blocks": "2"})
    good("size-two-blocks-less-a-byte", "Two blocks less a byte are two blocks.", {"size": "2097151", "blocks": "2"})
    good("size-2-to-the-53", "The largest size: 2^27 blocks of 64 MiB.", {"size": str(2**53), "block-size": str(2**26), "blocks": str(2**27)})
    bad("size-2-to-the-53-plus-1", "One byte more than the largest size needs a block too many.", "blocks", str(2**27 + 1),
        {"size": str(2**53 + 1), "block-size": str(2**26)})
    bad("size-2-to-the-63-minus-1", "A size that is a number, but needs 2^37 blocks.", "blocks", str(2**37),
        {"size": str(top), "block-size": str(2**26)})
    good("blocks-2-to-the-27", "The largest number of blocks.", {"size": str(2**27), "block-size": "1", "blocks": str(2**27)})
    bad("blocks-2-to-the-27-plus-1", "A block more than the largest number.", "blocks", str(2**27 + 1), {"size": str(2**27 + 1), "block-size": "1"})
    for name, value, changes in [("one-less", "1249", {}), ("one-more", "1251", {}), ("zero", "0", {}),
                                 ("remainder-forgotten", "1250", {"size": "1310720001"}), ("remainder-invented", "1251", {"size": "1310720000"}),
                                 ("one-more-than-a-short-resource-needs", "2", {"size": "5"}),
                                 ("none-for-a-short-resource", "0", {"size": "5"})]:
        bad(f"blocks-{name}", "The number of blocks does not fit size and block-size.", "blocks", value, changes)

    # Empty resource.
    good("empty-resource", "Nothing to send: size 0, no block, the hash of nothing.", empty)
    good("empty-resource-block-size-1", "The block size of an empty resource is any.", empty | {"block-size": "1"})
    bad("empty-resource-with-a-block", "An empty resource has no block.", "blocks", "1", {"size": "0", "root": empty["root"]})
    bad("empty-resource-with-another-root", "An empty resource has the hash of nothing as its root.", "root", root, {"size": "0", "blocks": "0"})
    bad("empty-resource-with-the-root-of-an-empty-block", "The hash of an empty leaf is not the root of no leaf.", "root",
        merkle.leaf_hash(b"").hex(), {"size": "0", "blocks": "0"})
    bad("empty-root-with-size", "The hash of nothing is the root of the empty resource only.", "root", empty["root"])
    bad("empty-root-with-one-byte", "The hash of nothing is not the root of one block.", "root", empty["root"], {"size": "1", "blocks": "1"})
    bad("no-blocks-with-size", "No block, the hash of nothing, but a size.", "blocks", "0", {"root": empty["root"]})

    # Root.
    good("root-of-zeros", "Any 32 bytes may be a root.", {"root": "0" * 64})
    for name, about, value in [("upper-case", "in upper case", root.upper()), ("mixed-case", "with one letter in upper case",
                                                                               next(root.replace(c, c.upper(), 1) for c in "abcdef" if c in root)),
                               ("63-digits", "with a digit too few", root[:63]), ("65-digits", "with a digit too many", root + "0"),
                               ("62-digits", "of 31 bytes", root[:62]), ("66-digits", "of 33 bytes", root + "00"), ("with-0x", "with 0x in front", "0x" + root),
                               ("base64", "in base64", notes.b64(bytes.fromhex(root))), ("with-prefix", "with the name of the hash", "sha256:" + root),
                               ("no-digits", "with a letter beyond f", "g" + root[1:]), ("full-width-digit", "with a full-width digit", "\uff10" + root[1:]),
                               ("combining-mark", "with a combining mark at the end", root + "\u0301")]:
        bad(f"root-{name}", f"The root {about}.", "root", value)


def add_names(good, bad):
    for name, value in [("one-character", "1"), ("of-128-characters", "v" * 128), ("all-kinds", "Az09._+-"), ("underscore-first", "_1"), ("plus-first", "+1"),
                        ("with-plus", "1.0+build.5"), ("dots-inside", "1..2"), ("dot-at-the-end", "1."), ("beginning-like-current", "current2"),
                        ("ending-like-current", "my-current"), ("manifest", "manifest"), ("tile", "tile")]:
        good(f"version-{name}", "A version within the rules.", {"version": value})
    for name, value in [("one-character", "w"), ("of-128-characters", "f" * 128), ("all-kinds", "Az09._+-"), ("underscore-first", "_w"), ("plus-first", "+w"),
                        ("dots-inside", "a..b"), ("without-extension", "world"), ("manifest-with-extension", "manifest.json"),
                        ("beginning-like-tile", "tiles"), ("current", "current"), ("complete-with-extension", "complete.tar")]:
        good(f"file-{name}", "A file name within the rules.", {"file": value})
    common = [("dot", "."), ("dot-dot", ".."), ("hidden", ".hidden"), ("slash", "a/b"), ("leading-slash", "/a"), ("trailing-slash", "a/"),
              ("dot-dot-slash", "../a"), ("leading-hyphen", "-x"), ("only-a-hyphen", "-"), ("of-129-characters", "a" * 129), ("space", "a b"), ("backslash", "a\\b"),
              ("tilde", "~a"), ("percent", "a%2fb"), ("colon", "a:b"), ("asterisk", "a*"), ("comma", "a,b"), ("non-ascii", "caf\u00e9"),
              ("cyrillic", "\u0430"), ("combining-mark", "a\u0301"), ("kelvin-sign", "\u212a1"), ("full-width-digit", "\uff11"),
              ("zero-width-space", "a\u200bb"), ("right-to-left-override", "a\u202eb")]
    for name, value in common + [("current", "current"), ("current-capitalised", "Current"), ("current-upper-case", "CURRENT")]:
        bad(f"version-{name}", "A version that is not allowed.", "version", value)
    for name, value in common + [(f"{word}{suffix}", change(word)) for word in ("manifest", "complete", "tile") for suffix, change in
                                 (("", str), ("-capitalised", str.capitalize), ("-upper-case", str.upper))]:
        bad(f"file-{name}", "A file name that is not allowed.", "file", value)

    # The key keeps its good name here: the origin's line is the first at fault.
    for name, value in [("upper-case", "Maps.example.com/world"), ("of-201-bytes", "a/" * 100 + "a"), ("double-slash", "maps.example.com//world"),
                        ("leading-slash", "/maps.example.com"), ("trailing-slash", "maps.example.com/world/"), ("dot-dot", "maps.example.com/../world"),
                        ("leading-dot", ".maps.example.com"), ("component-with-leading-dot", "maps.example.com/.world"),
                        ("leading-hyphen", "-maps.example.com"), ("component-with-leading-hyphen", "maps.example.com/-world"),
                        ("with-scheme", "https://maps.example.com/world"), ("plus", "maps.example.com/world+1"), ("two-words", "maps.example.com world"),
                        ("non-ascii", "m\u00e4ps.example.com"), ("combining-mark", "maps.example.com/world\u0301")]:
        bad(f"origin-{name}", "An origin that is not allowed.", "origin", value)


def add_dates(good, bad, one, lines, sign):
    for name, about, value in [("leap-day", "29 February of a leap year.", "2028-02-29T12:00:00Z"),
                               ("leap-day-of-2000", "29 February of 2000, a leap year.", "2000-02-29T12:00:00Z"),
                               ("first-second-of-a-year", "The first second of a year.", "2027-01-01T00:00:00Z"),
                               ("last-second-of-a-year", "The last second of a year.", "2026-12-31T23:59:59Z"),
                               ("before-1970", "A date before 1970.", "1969-12-31T23:59:59Z"), ("in-2038", "A second after 31 bits.", "2038-01-19T03:14:08Z"),
                               ("year-0001", "The first year.", "0001-01-01T00:00:00Z"), ("year-9999", "The last year.", "9999-12-31T23:59:59Z")]:
        good(f"published-{name}", about, {"published": value})
    for name, about, value in [
            ("29-february-2027", "2027 is no leap year.", "2027-02-29T00:00:00Z"), ("29-february-2100", "2100 is no leap year.", "2100-02-29T00:00:00Z"),
            ("30-february", "There is no 30 February.", "2028-02-30T00:00:00Z"), ("31-april", "There is no 31 April.", "2026-04-31T00:00:00Z"),
            ("day-0", "There is no day 0.", "2026-11-00T00:00:00Z"), ("day-32", "There is no day 32.", "2026-12-32T00:00:00Z"),
            ("month-0", "There is no month 0.", "2026-00-10T00:00:00Z"), ("month-13", "There is no month 13.", "2026-13-10T00:00:00Z"),
            ("hour-24", "There is no hour 24.", "2026-11-30T24:00:00Z"), ("minute-60", "There is no minute 60.", "2026-11-30T05:60:00Z"),
            ("second-60", "Leap seconds are not written.", "2016-12-31T23:59:60Z"), ("second-61", "There is no second 61.", "2026-11-30T05:34:61Z"),
            ("year-0000", "There is no year 0.", "0000-01-01T00:00:00Z"), ("year-of-5-digits", "A year has four digits.", "12026-11-30T05:34:40Z"),
            ("year-of-2-digits", "A year has four digits.", "26-11-30T05:34:40Z"), ("negative-year", "A year has no sign.", "-2026-11-30T05:34:40Z"),
            ("fraction", "No fraction of a second.", "2026-11-30T05:34:40.5Z"), ("fraction-zero", "No fraction of a second, not even zero.", "2026-11-30T05:34:40.000Z"),
            ("offset-zero", "Only Z, no offset.", "2026-11-30T05:34:40+00:00"), ("offset-two-hours", "Only Z, no offset.", "2026-11-30T07:34:40+02:00"),
            ("no-zone", "The Z is missing.", "2026-11-30T05:34:40"), ("lower-case-z", "The Z is in lower case.", "2026-11-30T05:34:40z"),
            ("lower-case-t", "The T is in lower case.", "2026-11-30t05:34:40Z"), ("space-for-t", "A space in place of the T.", "2026-11-30 05:34:40Z"),
            ("date-only", "The time is missing.", "2026-11-30"), ("without-seconds", "The seconds are missing.", "2026-11-30T05:34Z"),
            ("basic-format", "Without hyphens and colons.", "20261130T053440Z"), ("one-digit-month", "A month has two digits.", "2026-1-30T05:34:40Z"),
            ("space-padded-day", "A day is padded with a zero.", "2026-11- 3T05:34:40Z"), ("slashes", "Slashes in place of hyphens.", "2026/11/30T05:34:40Z"),
            ("unix-time", "Seconds since 1970.", "1796016880"), ("week-date", "A week date.", "2026-W49-1T05:34:40Z"),
            ("rfc-1123", "The date of an HTTP header.", "Mon, 30 Nov 2026 05:34:40 GMT"),
            ("full-width-digit", "A full-width digit.", "\uff12026-11-30T05:34:40Z"), ("combining-mark", "A combining mark at the end.", "2026-11-30T05:34:40Z\u0301")]:
        bad(f"published-{name}", about, "published", value)
    good("expires-one-second-later", "A second after published is later.", expires="2026-11-30T05:34:41Z")
    good("expires-next-year", "The next year is later, whatever the month.", expires="2027-01-01T00:00:00Z")
    for name, about, value in [("equal-to-published", "expires must be later than published.", "2026-11-30T05:34:40Z"),
                               ("before-published", "expires is a second before published.", "2026-11-30T05:34:39Z"),
                               ("the-year-before", "expires is in the year before.", "2025-12-31T00:00:00Z"),
                               ("29-february-2027", "2027 is no leap year.", "2027-02-29T00:00:00Z"), ("second-60", "Leap seconds are not written.", "2027-05-30T00:00:60Z"),
                               ("fraction", "No fraction of a second.", "2027-05-30T00:00:00.1Z"), ("offset", "Only Z, no offset.", "2027-05-30T00:00:00+00:00"),
                               ("never", "A word in place of a date.", "never"), ("relative", "A span in place of a date.", "+90d"), ("empty", "No date.", "")]:
        one(f"expires-{name}", about, MALFORMED, sign(lines(expires=value)), at=11)


def add_keys(good, bad, one, lines, sign, plain, k, k2, stranger, next_key):
    parts = k.vkey.split("+", 2)
    for name, about, value in [
            ("id-upper-case", "The key id is in upper case.", f"{parts[0]}+{parts[1].upper()}+{parts[2]}"),
            ("id-wrong", "The key id does not belong to the key.", f"{parts[0]}+{int(parts[1], 16) ^ 1:08x}+{parts[2]}"),
            ("id-missing", "The key id is missing.", f"{parts[0]}+{parts[2]}"), ("name-only", "Only the name of the key.", parts[0]),
            ("without-name", "Only id and key.", f"{parts[1]}+{parts[2]}"), ("spare-padding", "Padding where none belongs.", k.vkey + "="),
            ("last-character-missing", "The last character is missing.", k.vkey[:-1]), ("two-keys", "Two keys on one line.", f"{k.vkey} {k2.vkey}"),
            ("secret", "A secret key.", k.secret), ("combining-mark", "A combining mark at the end.", k.vkey + "\u0301")]:
        assert value != k.vkey
        bad(f"key-{name}", f"The key line is not a strict public key: {about[0].lower()}{about[1:]}", "key", value)
    other = Key("maps.example.com/world2", "manifest, other name")
    one("key-of-another-name", "The name of the key is not the origin, though it signed.", MALFORMED,
        sign(lines(changes={"key": other.vkey}), other), at=11, known=(other,))
    one("key-of-another-name-both-signed", "The name of the key is not the origin; two known keys signed.", MALFORMED,
        sign(lines(changes={"key": other.vkey}), k, other), at=11, known=(k, other))
    one("key-name-is-a-prefix-of-origin", "The origin goes on where the name of the key ends.", MALFORMED,
        sign(lines(changes={"origin": ORIGIN + "/europe"})), at=11)
    for name, origin in [("one-letter", "a"), ("with-port", "localhost:8080/x_y"), ("of-200-bytes", "a/" * 99 + "ab"), ("two-dots-inside", "a..b")]:
        key = Key(origin, "manifest origin")
        one(f"origin-{name}", "An origin within the rules.", "accept", sign(lines(changes={"origin": origin, "key": key.vkey}), key), known=(key,))
    plus = next(key for i in range(1000) if notes.b64(b"\x01" + (key := Key(ORIGIN, f"manifest series {i}")).public).count("+") > 1)
    one("key-with-plus-in-base64", "The base64 part of the key has plus signs.", "accept", sign(lines(changes={"key": plus.vkey}), plus), known=(plus,))

    # next-key.
    good("next-key-of-zeros", "Any 64 lower-case digits.", next="0" * 64)
    for name, about, value in [("upper-case", "in upper case", next_key.upper()), ("63-digits", "with a digit too few", next_key[:63]),
                               ("65-digits", "with a digit too many", next_key + "0"), ("a-key", "as a key instead of its hash", k2.vkey),
                               ("base64", "in base64", notes.b64(bytes.fromhex(next_key))), ("none", "as a word", "none"), ("empty", "left empty", ""),
                               ("two-hashes", "twice on one line", f"{next_key} {next_key}"), ("space-at-the-end", "with a space at the end", next_key + " "),
                               ("combining-mark", "with a combining mark at the end", next_key + "\u0301")]:
        one(f"next-key-{name}", f"next-key {about}.", MALFORMED, sign(lines(next=value)), at=13)

    # Who signed.
    second = lines(changes={"key": k2.vkey})
    one("signed-by-two-known-keys", "The key of the key line and another known key signed.", "accept", sign(lines(), k, k2), known=(k, k2))
    one("signed-by-two-known-keys-other-first", "The other known key's line stands first.", "accept", sign(lines(), k2, k), known=(k, k2))
    one("signed-by-the-second-known-key", "The key line names the second of two known keys, which signed.", "accept", sign(second, k2), known=(k, k2))
    one("signed-by-an-unknown-key-too", "A line by an unknown key is ignored.", "accept", sign(lines(), k, stranger))
    one("signed-by-an-unknown-key-of-the-same-name-too", "A line by an unknown key of the origin's name is ignored.", "accept", sign(lines(), k2, k))
    one("signed-by-another-known-key-only", "A known key signed, but not the one of the key line.", BAD, sign(second, k), known=(k, k2))
    one("signed-by-a-key-that-is-not-the-key-line", "The only known key signed, the key line names another.", BAD, sign(second, k))
    one("signature-broken", "The signature is of another text.", BAD, sign(lines()).split("\n\n")[0] + "\n\n" + k.line("other\n"))
    one("second-known-signature-broken", "The key of the key line signed, another known key's signature is broken.", BAD,
        sign(lines()) + line(k2.name, k2.id + bytes(64)), known=(k, k2))
    one("size-changed-after-signing", "A digit of the size was changed after signing.", BAD, sign(lines()).replace("size 1310720000", "size 1310720001"))
    one("mirror-added-after-signing", "A mirror was added after signing.", BAD,
        sign(lines()).replace("\n\n", "\nmirror https://evil.example/\n\n"))
    one("blank-line-added-after-signing", "An empty line was added within the text after signing.", BAD, sign(lines()).replace("\nsize", "\n\nsize"))
    one("lines-swapped-after-signing", "Two lines were exchanged after signing.", BAD,
        sign(lines()).replace("version 2026.11.30\nrelease 41\n", "release 41\nversion 2026.11.30\n"))


def add_mirrors(good, one, lines, sign):
    def refused(name, about, url):
        one(f"mirror-{name}", about, MALFORMED, sign(lines(mirrors=[url])), at=13)

    base = "https://cdn1.example.com/"
    many = [f"https://cdn{i}.example.com/world/" for i in range(9)]
    good("mirrors-8", "Eight mirrors are allowed.", mirrors=many[:8])
    one("mirrors-9", "Nine mirrors are too many.", MALFORMED, sign(lines(mirrors=many)), at=21)
    one("mirror-second-bad", "The second of three mirrors is at fault.", MALFORMED, sign(lines(mirrors=[many[0], "ftp://a.example/", many[1]])), at=14)
    for name, url in [("root-path", base), ("http", "http://cdn1.example.com/world/"), ("port", "https://cdn1.example.com:8443/"), ("port-1", "http://cdn1.example.com:1/"),
                      ("port-65535", "http://cdn1.example.com:65535/"), ("default-port", "https://cdn1.example.com:443/world/"),
                      ("one-label", "http://mirror/"), ("address", "http://203.0.113.7:8080/world/"), ("hyphen-in-host", "https://cdn-1.example.com/"),
                      ("path-in-upper-case", base + "World/"), ("percent-encoding", base + "a%20b/"), ("well-known", base + ".well-known/x/"),
                      ("three-dots", base + ".../"), ("dots-in-segment", base + "a..b/"), ("of-1024-bytes", base + "a" * (1023 - len(base)) + "/")]:
        good(f"mirror-{name}", "A mirror within the rules.", mirrors=[url])
    for name, about, url in [
            ("of-1025-bytes", "A byte more than a mirror may have.", base + "a" * (1024 - len(base)) + "/"),
            ("ftp", "Only http and https.", "ftp://cdn1.example.com/world/"), ("file", "Only http and https.", "file:///srv/world/"),
            ("scheme-upper-case", "The scheme is in upper case.", "HTTPS://cdn1.example.com/world/"), ("scheme-missing", "The scheme is missing.", "//cdn1.example.com/world/"),
            ("host-only", "A host alone.", "cdn1.example.com/"), ("scheme-one-slash", "A slash is missing.", "https:/cdn1.example.com/"),
            ("scheme-three-slashes", "The host is empty.", "https:///world/"), ("host-empty-with-port", "The host is empty.", "https://:8080/world/"),
            ("host-upper-case", "The host is in upper case.", "https://CDN1.example.com/world/"), ("host-percent-encoded", "The host is percent-encoded.", "https://%63dn1.example.com/"),
            ("host-non-ascii", "The host is not ASCII.", "https://cdn\u00e9.example.com/"), ("host-backslash", "A backslash in the host.", "https://cdn1.example.com\\@evil.example/"),
            ("userinfo", "A user name.", "https://user@cdn1.example.com/world/"), ("userinfo-with-password", "A user name and a password.", "https://user:word@cdn1.example.com/world/"),
            ("userinfo-empty", "An empty user name.", "https://@cdn1.example.com/world/"),
            ("query", "A query string.", base + "world/?x=1"), ("query-ending-in-a-slash", "A query string that ends in a slash.", base + "world?x=/"),
            ("query-empty", "An empty query string.", base + "world/?"), ("fragment", "A fragment.", base + "world/#x"),
            ("fragment-ending-in-a-slash", "A fragment that ends in a slash.", base + "world#x/"), ("fragment-empty", "An empty fragment.", base + "world/#"),
            ("query-without-path", "A query string right after the host.", "https://cdn1.example.com?x/"),
            ("dot-segment", "A dot segment.", base + "./world/"), ("dot-dot-segment", "A dot-dot segment.", base + "world/../"),
            ("dot-segment-at-the-end", "A dot segment at the end.", base + "world/./"), ("dot-dot-segment-in-front", "A dot-dot segment in front.", base + "../world/"),
            ("dot-segment-encoded", "A percent-encoded dot segment.", base + "%2e/world/"), ("dot-dot-segment-encoded", "A percent-encoded dot-dot segment.", base + "%2E%2e/world/"),
            ("dot-dot-segment-half-encoded", "A dot-dot segment, half of it percent-encoded.", base + ".%2e/world/"),
            ("no-slash-at-the-end", "The path does not end in a slash.", base + "world"), ("no-path", "No path at all.", "https://cdn1.example.com"),
            ("no-path-with-port", "A port, but no path.", "https://cdn1.example.com:8080"),
            ("port-0", "Port 0.", "https://cdn1.example.com:0/"), ("port-65536", "A port beyond 16 bits.", "https://cdn1.example.com:65536/"),
            ("port-with-leading-zero", "A port with a leading zero.", "https://cdn1.example.com:080/"), ("port-empty", "A colon without a port.", "https://cdn1.example.com:/"),
            ("port-plus", "A port with a sign.", "https://cdn1.example.com:+80/"), ("port-word", "A port that is no number.", "https://cdn1.example.com:http/"),
            ("port-huge", "A port whose low 64 bits are 80.", f"https://cdn1.example.com:{2**64 + 80}/"), ("two-ports", "Two ports.", "https://cdn1.example.com:80:80/"),
            ("port-full-width-digits", "A port in full-width digits.", "https://cdn1.example.com:\uff18\uff10/"),
            ("space-inside", "A space within the path.", base + "my world/"), ("space-at-the-end", "A space at the end.", base + " "), ("double-space", "Two spaces after the word.", " " + base),
            ("two-on-one-line", "Two mirrors on one line.", f"{base} {base}"), ("path-non-ascii", "The path is not ASCII.", base + "caf\u00e9/"),
            ("combining-mark", "A combining mark at the end.", base + "\u0301"), ("empty", "No address.", ""), ("in-brackets", "An address in angle brackets.", f"<{base}>")]:
        refused(name, about, url)


def add_extensions(good, one, lines, sign):
    def refused(name, about, text):
        one(f"extension-{name}", about, MALFORMED, sign(lines(extra=[text])), at=13)

    many = [f"x-n{i} value {i}" for i in range(33)]
    good("extensions-32", "32 x- lines are allowed.", extra=many[:32])
    one("extensions-33", "33 x- lines are too many.", MALFORMED, sign(lines(extra=many)), at=45)
    good("extensions-not-sorted", "x- lines stand in any order.", extra=["x-b 1", "x-a 2"])
    for name, text in [("name-one-letter", "x-a v"), ("name-digits-and-hyphens", "x-2026-a v"), ("value-one-byte", "x-note v"),
                       ("value-with-spaces", "x-note one two  three"), ("value-in-other-scripts", "x-note \u4e16\u754c \U0001f5fa"),
                       ("value-like-a-line", "x-note size 5"), ("value-with-quotes", "x-note \"a\" \\ 'b'"), ("value-begins-with-a-combining-mark", "x-note \u0301a"),
                       ("value-with-line-separator", "x-note one\u2028two"), ("value-like-a-signature-line", f"x-note {DASH} a b"), ("name-like-a-word", "x-size 5")]:
        good(f"extension-{name}", "An x- line within the rules.", extra=[text])
    for name, about, text in [("name-empty", "x- needs a name.", "x- value"), ("name-upper-case", "The name is in upper case.", "x-Note value"),
                              ("name-underscore", "An underscore in the name.", "x-my_note value"), ("name-dot", "A dot in the name.", "x-my.note value"),
                              ("name-colon", "A colon in the name.", "x-note: value"), ("name-non-ascii", "The name is not ASCII.", "x-caf\u00e9 value"),
                              ("name-combining-mark", "A combining mark after the name.", "x-note\u0301 value"), ("value-empty", "Nothing after the space.", "x-note "),
                              ("value-missing", "The name alone.", "x-note"), ("double-space", "Two spaces after the name.", "x-note  value"),
                              ("only-x", "An x and a value.", "x value"), ("en-dash", "An en dash for the hyphen.", "x\u2013note value"), ("space-in-front", "A space in front.", " x-note value")]:
        refused(name, about, text)


def add_notes(one, lines, sign, k):
    plain = sign(lines())

    def padded(total):
        def of(n):
            return sign(lines(extra=[f"x-pad{i} " + "p" * 2000 for i in range(31)] + ["x-pad31 " + "p" * n]))
        return of(1 + total - len(of(1).encode()))

    assert len(padded(65535).encode()) == 65535
    one("note-of-65535-bytes", "The largest note.", "accept", padded(65535))
    one("note-of-65536-bytes", "A byte more than the largest note.", MALFORMED, padded(65536))
    one("crlf", "Line endings of carriage return and newline.", "note-malformed", plain.replace("\n", "\r\n"))
    one("crlf-signed", "Line endings of carriage return and newline in the text, signed so.", "note-malformed",
        note("".join(t + "\r\n" for t in lines()), k))
    one("carriage-return-in-a-value", "A carriage return at the end of one line, signed so.", "note-malformed",
        sign(lines(changes={"size": "1310720000\r"})))
    one("tab-after-a-word", "A tab after a word, signed so.", "note-malformed", sign([t.replace("size ", "size\t") for t in lines()]))
    one("tab-in-an-extension", "A tab in the value of an x- line, signed so.", "note-malformed", sign(lines(extra=["x-note a\tb"])))
    one("control-character-in-an-extension", "U+0085 in the value of an x- line, signed so.", "note-malformed", sign(lines(extra=["x-note a\x85b"])))
    one("nul-in-file", "A NUL in the file name, signed so.", "note-malformed", sign(lines(changes={"file": "world.map\x00.txt"})))
    one("last-newline-missing", "The last newline of the note is missing.", "note-malformed", plain[:-1])
    one("empty-line-missing", "The empty line before the signatures is missing.", "note-malformed", plain.replace("\n\n", "\n"))
    one("not-signed", "A text without signatures.", "note-malformed", plain.split("\n\n")[0] + "\n")
    one("byte-order-mark-in-front", "A byte order mark was put in front of the note.", BAD, "\ufeff" + plain)
    one("hyphen-for-the-dash", "A hyphen for the em dash of the signature line.", "note-malformed", plain.replace(DASH, "-"))
    one("known-key-twice", "The key signs twice.", "note-malformed", plain + k.line(plain.split("\n\n")[0] + "\n"))
    one("html", "A login page in place of a manifest.", "note-malformed", "<!DOCTYPE html>\n<html><body>\n\n<p>Please log in</p>\n</body></html>\n")
