"""Cases for key/, note/ and checkpoint/."""
import hashlib
import unicodedata

from . import ed25519, merkle, notes
from .notes import DASH, Key, b64, line, note

EMPTY = "\u200b"  # zero width space: neither white space nor control


def add(case):
    add_keys(case)
    add_notes(case)
    add_checkpoints(case)


def first_key(name, condition):
    """The first of a fixed series of keys that fulfils the condition."""
    return next(key for i in range(10000) if condition(key := Key(name, f"{name} series {i}")))


def add_keys(case):
    def public(name, about, text, accept):
        parsed = notes.parse_public(text)
        assert (parsed is not None) == accept, f"key/{name}"
        fields = {} if not parsed else {"name": parsed[0], "keyId": parsed[1].hex(), "publicKey": parsed[2].hex(),
                                        "isOrigin": notes.is_origin(parsed[0])}
        case("key", name, about, "accept" if accept else "refuse", kind="public", text=text, **fields)

    def secret(name, about, text, accept):
        parsed = notes.parse_secret(text)
        assert (parsed is not None) == accept, f"key/{name}"
        fields = {} if not parsed else {"name": parsed[0], "keyId": parsed[1].hex(), "publicKey": parsed[2].hex(),
                                        "seed": parsed[3].hex(), "isOrigin": notes.is_origin(parsed[0])}
        case("key", "secret-" + name, about, "accept" if accept else "refuse", kind="secret", text=text, **fields)

    def make(name, public_key, algorithm=1, prefix="", id_bytes=None):
        """A key text with whatever is asked for, its id computed as if all were well."""
        id_bytes = id_bytes or hashlib.sha256(name.encode() + b"\n" + bytes([algorithm]) + public_key).digest()[:4]
        return prefix + name + "+" + id_bytes.hex() + "+" + b64(bytes([algorithm]) + public_key)

    k = Key("maps.example.com/world", "keys")
    public("example-com-foo", "A key from public test data.", notes.FOO, True)
    public("peter-neumann", "The key of the note format's own example: a fine note key, but its name is no origin.", notes.PETER, True)
    public("plain", "An ordinary key.", k.vkey, True)
    plus = first_key(k.name, lambda key: b64(b"\x01" + key.public).count("+") > 1)
    public("base64-with-plus", "The base64 part may itself have plus signs: only the first two separate.", plus.vkey, True)
    slash = first_key(k.name, lambda key: "/" in b64(b"\x01" + key.public) and "+" not in b64(b"\x01" + key.public))
    public("base64-with-slash", "The base64 part may have slashes.", slash.vkey, True)
    zero = first_key(k.name, lambda key: key.id[0] < 16)
    public("id-with-leading-zero", "A key id whose first digit is zero.", zero.vkey, True)

    for name, what, origin in [
            ("one-letter", "a", True), ("digits", "0", True), ("underscore-first", "_a/_b", True), ("colon-first", ":a", True),
            ("port", "localhost:8080/x_y", True), ("two-dots-inside", "a..b/c..", True), ("hyphen-at-the-end", "a-/b-", True),
            ("of-200-bytes", "a/" * 99 + "ab", True), ("of-201-bytes", "a/" * 100 + "a", False),
            ("upper-case", "Example.com/foo", False), ("double-slash", "example.com//foo", False),
            ("leading-slash", "/example.com", False), ("trailing-slash", "example.com/", False), ("only-a-slash", "/", False),
            ("leading-dot", ".example.com", False), ("component-with-leading-dot", "example.com/.foo", False),
            ("component-dot-dot", "example.com/../foo", False), ("component-dot", "example.com/./foo", False),
            ("leading-hyphen", "-example.com", False), ("component-with-leading-hyphen", "example.com/-foo", False),
            ("tilde", "example.com/~foo", False), ("percent", "example.com/%66oo", False), ("at-sign", "foo@example.com", False),
            ("non-ascii", "ex\u00e4mple.com/foo", False), ("cyrillic", "ex\u0430mple.com/foo", False),
            ("combining-mark", "example.com/foo\u0301", False), ("query", "example.com/foo?x", False)]:
        key = Key(what, "names")
        assert notes.is_origin(what) == origin, name
        verdict = "an origin" if origin else "a note key's name but no origin"
        public(f"name-{name}", f"This name is {verdict}.", key.vkey, True)

    parts = k.vkey.split("+", 2)
    hexid = parts[1]
    letters = first_key(k.name, lambda key: any(c in "abcdef" for c in key.id.hex()))
    public("id-upper-case", "The key id is in upper case.", letters.vkey.replace(letters.id.hex(), letters.id.hex().upper(), 1), False)
    public("id-wrong", "The last digit of the key id is wrong.",
           "+".join([parts[0], f"{int(hexid, 16) ^ 1:08x}", parts[2]]), False)
    public("id-of-another-name", "The key id was computed for another name.", "maps.example.com/worlds+" + k.vkey.split("+", 1)[1], False)
    public("id-all-zero", "The key id is zero.", f"{parts[0]}+00000000+{parts[2]}", False)
    public("id-of-7-digits", "The key id has seven digits.", f"{parts[0]}+{hexid[:7]}+{parts[2]}", False)
    public("id-of-7-digits-leading-zero-dropped", "The key id's leading zero is missing.",
           zero.vkey.replace(zero.id.hex(), zero.id.hex()[1:], 1), False)
    public("id-of-9-digits", "The key id has nine digits.", f"{parts[0]}+0{hexid}+{parts[2]}", False)
    public("id-empty", "The key id is empty.", f"{parts[0]}++{parts[2]}", False)
    public("id-with-0x", "The key id has a 0x in front.", f"{parts[0]}+0x{hexid}+{parts[2]}", False)
    public("id-full-width-digits", "The key id is written with full-width digits.",
           parts[0] + "+" + "".join(chr(ord(c) + 0xfee0) for c in hexid) + "+" + parts[2], False)
    public("empty", "No text at all.", "", False)
    public("only-plus-signs", "Three empty parts.", "++", False)
    public("only-a-name", "The name alone.", parts[0], False)
    public("missing-key", "The key is missing.", f"{parts[0]}+{hexid}", False)
    public("empty-key", "The key is empty.", f"{parts[0]}+{hexid}+", False)
    public("missing-id", "The id is missing.", f"{parts[0]}+{parts[2]}", False)
    public("missing-name", "The name is missing.", f"{hexid}+{parts[2]}", False)
    public("fourth-part", "A fourth part.", k.vkey + "+x", False)
    public("twice", "The whole key twice.", k.vkey + k.vkey, False)
    public("parts-reversed", "Key, id, name.", f"{parts[2]}+{hexid}+{parts[0]}", False)

    for algorithm in (0, 2, 4, 255):
        public(f"algorithm-{algorithm}", f"Algorithm byte {algorithm}, with an id computed over it.", make(k.name, k.public, algorithm), False)
    public("algorithm-2-id-of-algorithm-1", "Algorithm byte 2, with the id of algorithm 1.", make(k.name, k.public, 2, id_bytes=k.id), False)
    public("no-algorithm-byte", "The 32 bytes of the key without the algorithm byte.", f"{parts[0]}+{hexid}+{b64(k.public)}", False)
    for n in (0, 31, 33, 64):
        data = (k.public * 2)[:n]
        public(f"key-of-{n}-bytes", f"A key of {n} bytes, with an id computed over it.", make(k.name, data), False)
    text31, text33 = make(k.name, k.public[:31]), make(k.name, k.public + b"\x00")
    public("missing-padding", "A key of 31 bytes whose padding is missing.", text31.rstrip("="), False)
    public("loose-trailing-bits", "A key of 33 bytes whose last character has bits that belong to no byte.",
           text33[:-3] + notes.B64[notes.B64.index(text33[-3]) | 1] + "==", False)
    public("spare-padding", "Padding where none belongs.", k.vkey + "=", False)
    public("spare-padding-group", "A group of padding at the end.", k.vkey + "====", False)
    public("padding-instead-of-the-last-character", "The last character replaced with padding.", k.vkey[:-1] + "=", False)
    public("last-character-missing", "The last character of the base64 part is missing.", k.vkey[:-1], False)
    public("url-safe-alphabet-minus", "A minus for the plus in base64.", "+".join(plus.vkey.split("+", 2)[:2]) + "+" +
           plus.vkey.split("+", 2)[2].replace("+", "-"), False)
    public("url-safe-alphabet-underscore", "An underscore for the slash in base64.", "+".join(slash.vkey.split("+", 2)[:2]) + "+" +
           slash.vkey.split("+", 2)[2].replace("/", "_"), False)
    public("key-in-hexadecimal", "The key in hexadecimal instead of base64.", f"{parts[0]}+{hexid}+01{k.public.hex()}", False)
    kelvin = first_key(k.name, lambda key: "K" in b64(b"\x01" + key.public))
    head, tail = kelvin.vkey.rsplit("K", 1)
    public("kelvin-sign-for-k", "The Kelvin sign, canonically equivalent to the letter K, in the base64 part.", head + "\u212a" + tail, False)
    public("combining-mark-at-the-end", "A combining mark after the last character.", k.vkey + "\u0301", False)
    public("combining-mark-after-the-first-plus", "A combining mark on the plus that separates name and id.",
           f"{parts[0]}+\u0301{hexid}+{parts[2]}", False)
    for name, text in [("space-in-front", " " + k.vkey), ("space-at-the-end", k.vkey + " "), ("newline-in-front", "\n" + k.vkey),
                       ("newline-at-the-end", k.vkey + "\n"), ("carriage-return-newline-at-the-end", k.vkey + "\r\n"),
                       ("tab-at-the-end", k.vkey + "\t"), ("space-before-id", f"{parts[0]}+ {hexid}+{parts[2]}"),
                       ("space-after-id", f"{parts[0]}+{hexid} +{parts[2]}"), ("space-before-key", f"{parts[0]}+{hexid}+ {parts[2]}"),
                       ("space-in-base64", k.vkey[:-20] + " " + k.vkey[-20:]),
                       ("newline-in-base64", k.vkey[:-20] + "\n" + k.vkey[-20:])]:
        public(name, "White space where none belongs.", text, False)
    public("byte-order-mark-in-front", "A byte order mark in front: the id does not fit that name.", "\ufeff" + k.vkey, False)
    for name, key_name in [("empty", ""), ("with-space", "my maps"), ("with-tab", "my\tmaps"), ("with-newline", "my\nmaps"),
                           ("with-plus", "my+maps"), ("with-no-break-space", "my\u00a0maps"),
                           ("with-ideographic-space", "my\u3000maps"), ("with-line-separator", "my\u2028maps"),
                           ("with-nul", "my\x00maps"), ("with-u0001", "my\x01maps"), ("with-escape", "my\x1bmaps"),
                           ("with-delete", "my\x7fmaps"), ("with-u0085", "my\x85maps"), ("with-u009f", "my\x9fmaps")]:
        public(f"bad-name-{name}", "A name that no note key may have; the id is right for it.", make(key_name, k.public), False)
    public("secret-key", "A secret key is no public key.", k.secret, False)

    seed = k.seed
    secret("plain", "An ordinary secret key.", k.secret, True)
    secret("peter-neumann", "The secret key of the note format's own example.",
           "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz", True)
    rfc = bytes.fromhex(ed25519.RFC8032[0][0])
    secret("rfc-8032", "The first secret key of RFC 8032.",
           make("example.com/rfc8032", rfc, prefix="PRIVATE+KEY+", id_bytes=notes.key_id("example.com/rfc8032", ed25519.public_key(rfc))), True)
    splus = first_key(k.name, lambda key: b64(b"\x01" + key.seed).count("+") > 1)
    secret("base64-with-plus", "The base64 part may itself have plus signs: only the first four separate.", splus.secret, True)
    bits = "PRIVATE+KEY+" + k.name + "+" + hexid + "+"
    secret("public-key", "A public key is no secret key.", k.vkey, False)
    secret("empty", "No text at all.", "", False)
    secret("prefix-lower-case", "The prefix is in lower case.", k.secret.replace("PRIVATE+KEY", "private+key"), False)
    secret("prefix-missing", "The prefix is missing.", k.secret.replace("PRIVATE+KEY+", ""), False)
    secret("prefix-half", "Half of the prefix is missing.", k.secret.replace("PRIVATE+", ""), False)
    secret("prefix-with-space", "The prefix has a space for its plus.", k.secret.replace("PRIVATE+KEY", "PRIVATE KEY"), False)
    secret("id-wrong", "The key id is another key's.", k.secret.replace(hexid, zero.id.hex()), False)
    secret("id-over-the-seed", "The key id is computed over the seed instead of the public key.",
           make(k.name, seed, prefix="PRIVATE+KEY+"), False)
    secret("id-upper-case", "The key id is in upper case.", letters.secret.replace(letters.id.hex(), letters.id.hex().upper()), False)
    secret("id-of-7-digits", "The key id has seven digits.", k.secret.replace(hexid, hexid[:7]), False)
    secret("algorithm-2", "Algorithm byte 2.", bits + b64(b"\x02" + seed), False)
    secret("no-algorithm-byte", "The seed without the algorithm byte.", bits + b64(seed), False)
    secret("seed-of-31-bytes", "A seed of 31 bytes.", bits + b64(b"\x01" + seed[:31]), False)
    secret("seed-of-33-bytes", "A seed of 33 bytes.", bits + b64(b"\x01" + seed + b"\x00"), False)
    secret("seed-and-public-key", "Seed and public key one after the other, 64 bytes.", bits + b64(b"\x01" + seed + k.public), False)
    secret("newline-at-the-end", "A newline at the end of the text.", k.secret + "\n", False)
    secret("space-in-front", "A space in front of the text.", " " + k.secret, False)
    secret("name-empty", "The name is empty.",
           "PRIVATE+KEY++" + notes.key_id("", k.public).hex() + "+" + b64(b"\x01" + seed), False)
    secret("key-missing", "The seed is missing.", bits[:-1], False)
    secret("url-safe-alphabet", "A minus for the plus in base64.", splus.secret.rsplit("+", splus.secret.count("+") - 3)[0] + "+" +
           splus.secret.split("+", 4)[4].replace("+", "-"), False)
    secret("spare-padding", "Padding where none belongs.", k.secret + "=", False)


def add_notes(case):
    a, b = Key("example.com/a", "a"), Key("example.com/b", "b")
    a2 = Key("example.com/a", "a, second key")
    stranger, twin = Key("example.com/stranger", "s"), Key("example.com/a", "a, unknown twin")
    malformed, bad, unknown = "note-malformed", "bad-signature", "unknown-key"
    text = "A text of two lines,\nsigned.\n"

    def add_one(name, about, verdict, data, keys=(a,)):
        raw = data if isinstance(data, bytes) else data.encode()
        vkeys = [key if isinstance(key, str) else key.vkey for key in keys]
        fields = {}
        try:
            fields["text"], fields["signers"] = notes.open_note(raw, vkeys)
            found = "accept"
        except notes.Refused as refused:
            found = refused.verdict
        assert found == verdict, f"note/{name}: {found}"
        try:
            content = {"note": raw.decode()}
        except UnicodeDecodeError:
            content = {"noteHex": raw.hex()}
        case("note", name, about, verdict, **content, keys=vkeys, **fields)

    def signed(body, *keys):
        return note(body, *keys)

    def with_line(extra, body=text, key=a):
        return signed(body, key) + extra

    def junk_line(i):
        digest = hashlib.sha256(f"fetchres test vectors: junk line {i}".encode()).digest()
        return line(f"witness-{i}.example", (digest * 3)[:68])

    good = signed(text, a)
    # Accepted.
    add_one("one-signature", "One known key, one signature.", "accept", good)
    add_one("example-com-foo", "A note from public test data.", "accept", notes.FOO_NOTE, [notes.FOO])
    peter = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
    add_one("peter-neumann", "The note format's own example.", "accept", f"{peter}\n{DASH} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQ"
            "xVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n", [notes.PETER])
    add_one("two-signatures", "Two known keys, both signed.", "accept", signed(text, a, b), [a, b])
    add_one("two-signatures-other-order", "The order of the lines is free.", "accept", signed(text, b, a), [a, b])
    add_one("one-of-two-known-keys", "Two known keys, only the second signed.", "accept", signed(text, b), [a, b])
    add_one("two-keys-of-the-same-name", "Two known keys of the same name, both signed.", "accept", signed(text, a, a2), [a, a2])
    add_one("unknown-key-after", "A line by an unknown key is ignored.", "accept", signed(text, a, stranger))
    add_one("unknown-key-before", "A line by an unknown key is ignored, in front too.", "accept", signed(text, stranger, a))
    add_one("unknown-key-with-a-bad-signature", "Nobody looks at the signature of an unknown key.", "accept", junk_line(1).join(
        [text + "\n", a.line(text)]))
    add_one("unknown-key-twice", "The same unknown key twice is ignored twice.", "accept", signed(text, stranger, a, stranger))
    add_one("unknown-key-with-a-signature-of-one-byte", "Other algorithms have other lengths; four bytes of id and one more are "
            "enough for a line.", "accept", with_line(line("example.com/short", b"\x01\x02\x03\x04\x05")))
    add_one("unknown-key-with-a-long-signature", "A signature of 4,627 bytes by an unknown key, as other algorithms make them.",
            "accept", with_line(line("example.com/long", bytes(i % 251 for i in range(4631)))))
    add_one("same-name-other-id-beside-a-good-line", "A line with a known name and another id is by an unknown key.", "accept",
            signed(text, twin, a))
    add_one("same-id-other-name-beside-a-good-line", "A line with a known id and another name is by an unknown key.", "accept",
            with_line(line("example.com/c", a.id + bytes(64))))
    add_one("text-with-an-empty-line", "The last empty line separates; the text may have others.", "accept", signed("one\n\ntwo\n", a))
    add_one("text-ends-with-an-empty-line", "Two empty lines before the signatures: the first belongs to the text.", "accept",
            signed("one\n\n", a))
    add_one("text-is-one-newline", "The shortest text there is.", "accept", signed("\n", a))
    add_one("text-with-a-signature-line-inside", "A signature line inside the text is text.", "accept",
            signed(f"one\n\n{stranger.line('one' + chr(10))}\ntwo\n", a))
    add_one("text-in-other-scripts", "The text may be any UTF-8.", "accept", signed("\u00e8 subito sera \u4e16\u754c \U0001f5fa\n", a))
    add_one("text-not-normalised", "The text is signed as it is, decomposed letters included.", "accept", signed("e\u0300 a\u0308\n", a))
    add_one("text-with-a-byte-order-mark", "A byte order mark that was signed belongs to the text.", "accept", signed("\ufeffone\n", a))
    add_one("text-with-line-separator", "U+2028 is neither a control character nor a newline.", "accept", signed("one\u2028two\n", a))
    add_one("text-with-replacement-character", "U+FFFD is a character like others.", "accept", signed("one \ufffd\n", a))
    add_one("text-with-spaces-at-the-end", "Spaces at the end of a line of the text are text.", "accept", signed(" one  \n", a))
    marked = Key("\u0301name", "mark")
    add_one("unknown-name-begins-with-a-combining-mark", "A combining mark after the space belongs to the name.", "accept",
            signed(text, a, marked))
    add_one("known-name-begins-with-a-combining-mark", "A known key whose name begins with a combining mark.", "accept",
            signed(text, marked), [marked])
    hundred = "".join(junk_line(i) for i in range(99))
    add_one("hundred-lines-known-key-last", "A hundred signature lines are allowed.", "accept", text + "\n" + hundred + a.line(text))
    add_one("hundred-lines-known-key-first", "A hundred signature lines are allowed.", "accept", good + hundred)
    add_one("hundred-and-one-lines", "A hundred and one signature lines are too many.", malformed, good + hundred + junk_line(99))
    add_one("hundred-and-one-lines-known-key-last", "A hundred and one signature lines are too many, wherever the known one stands.",
            malformed, text + "\n" + hundred + junk_line(99) + a.line(text))

    # Unknown keys only.
    add_one("no-key-known", "A good note, but no key is known.", unknown, good, [])
    add_one("only-unknown-key", "Signed by an unknown key alone.", unknown, signed(text, stranger))
    add_one("name-right-id-wrong", "The name is known, the id is another key's.", unknown, signed(text, twin))
    add_one("name-right-id-wrong-signature-right", "The known key's signature under a wrong id is by an unknown key.", unknown,
            text + "\n" + line(a.name, b"\x00\x00\x00\x00" + a.sign(text)))
    add_one("id-right-name-wrong", "The id is known, the name is another.", unknown, text + "\n" + line("example.com/c", a.id + a.sign(text)))
    add_one("id-bytes-reversed", "The key id in the other byte order.", unknown, text + "\n" + line(a.name, a.id[::-1] + a.sign(text)))
    add_one("name-in-upper-case", "Names are compared byte by byte.", unknown,
            text + "\n" + line("EXAMPLE.COM/a", a.id + a.sign(text)))
    accent = Key("caf\u00e9.example", "accent")
    add_one("name-composed", "A name with a composed letter.", "accept", signed(text, accent), [accent])
    add_one("name-decomposed", "The same name with the letter decomposed is another name: bytes are compared.", unknown,
            text + "\n" + line(unicodedata.normalize("NFD", accent.name), accent.id + accent.sign(text)), [accent])

    # Bad signatures.
    signature = bytearray(a.sign(text))
    for name, position in [("first", 0), ("middle", 31), ("last", 63)]:
        broken = bytearray(signature)
        broken[position] ^= 1 if position < 63 else 16
        add_one(f"signature-{name}-byte-changed", "A bit of the signature is flipped.", bad, text + "\n" + line(a.name, a.id + broken))
    add_one("signature-of-zeros", "Zeros for a signature.", bad, text + "\n" + line(a.name, a.id + bytes(64)))
    for n in (1, 63, 65, 128):
        add_one(f"signature-of-{n}-bytes", f"A signature of {n} bytes by a known key.", bad,
                text + "\n" + line(a.name, a.id + (bytes(signature) * 2)[:n]))
    s = int.from_bytes(signature[32:], "little") + ed25519.L
    add_one("signature-with-group-order-added", "The second half of the signature with the group order added: the same number to a "
            "careless verifier.", bad, text + "\n" + line(a.name, a.id + bytes(signature[:32]) + s.to_bytes(32, "little")))
    add_one("signature-by-another-key", "Signed by another key under this key's name and id.", bad,
            text + "\n" + line(a.name, a.id + b.sign(text)))
    add_one("signature-of-another-text", "The signature of another text.", bad, text + "\n" + line(a.name, a.id + a.sign("other\n")))
    add_one("signature-without-final-newline", "The signature was made over the text without its last newline.", bad,
            text + "\n" + line(a.name, a.id + a.sign(text[:-1])))
    add_one("signature-with-empty-line", "The signature was made over the text and the empty line.", bad,
            text + "\n" + line(a.name, a.id + a.sign(text + "\n")))
    add_one("one-good-one-broken", "Two known keys, the second signature is broken.", bad,
            good + line(b.name, b.id + bytes(64)), [a, b])
    add_one("one-broken-one-good", "Two known keys, the first signature is broken.", bad,
            text + "\n" + line(b.name, b.id + bytes(64)) + a.line(text), [a, b])
    add_one("text-changed", "A letter of the text was changed.", bad, good.replace("two", "ten"))
    add_one("text-normalised", "The text was normalised after it was signed.", bad,
            unicodedata.normalize("NFC", signed("e\u0300 a\u0308\n", a)))
    add_one("text-line-added", "A line was added to the text.", bad, "more\n" + good)
    add_one("text-empty-line-added-in-front", "An empty line was added in front.", bad, "\n" + good)
    add_one("text-empty-line-added-at-the-end", "A second empty line before the signatures: the text has grown.", bad,
            good.replace("\n\n", "\n\n\n"))
    add_one("text-space-added", "A space at the end of a line was added.", bad, good.replace("signed.\n", "signed. \n"))
    add_one("byte-order-mark-in-front", "A byte order mark was put in front of the note.", bad, "\ufeff" + good)
    add_one("text-zero-width-space-added", "A zero width space was added.", bad, EMPTY + good)
    add_one("note-inside-a-note", "A signed note with another line below: the inner signature line has become text.", bad,
            good + "\n" + line(a.name, a.id + bytes(signature)))

    # Form: the known key twice.
    add_one("known-key-twice", "The same known key signs twice.", malformed, good + a.line(text))
    add_one("known-key-twice-second-broken", "The same known key twice, the second signature is broken.", malformed,
            good + line(a.name, a.id + bytes(64)))
    add_one("known-key-twice-first-broken", "The same known key twice, the first signature is broken.", malformed,
            text + "\n" + line(a.name, a.id + bytes(64)) + a.line(text))
    add_one("known-key-twice-not-adjacent", "The same known key twice, with a line between.", malformed, signed(text, a, stranger, a))

    # Form: text and separation.
    add_one("empty", "No byte at all.", malformed, "")
    add_one("one-newline", "A newline alone.", malformed, "\n")
    add_one("two-newlines", "Two newlines alone.", malformed, "\n\n")
    add_one("no-signature-line", "A text and an empty line, but no signature line.", malformed, text + "\n")
    add_one("text-only", "A text without an empty line and signatures.", malformed, text)
    add_one("no-empty-line", "The empty line is missing.", malformed, text + a.line(text))
    add_one("no-text", "A signature line alone.", malformed, a.line(""))
    add_one("no-text-after-an-empty-line", "An empty line and a signature line over no text.", malformed, "\n" + a.line(""))
    add_one("last-newline-missing", "The last newline is missing.", malformed, good[:-1])
    add_one("empty-line-at-the-end", "An empty line after the signatures.", malformed, good + "\n")
    add_one("empty-line-between-signatures", "An empty line between two signature lines: the note's text now ends after the first.",
            unknown, good + "\n" + stranger.line(text))
    add_one("separator-line-with-a-space", "A space on the line that separates.", malformed, text + " \n" + a.line(text))
    add_one("text-after-the-signatures", "A line that is no signature line at the end.", malformed, good + "more\n")
    add_one("html", "A page instead of a note.", malformed, "<!DOCTYPE html>\n<html>\n\n<p>Log in\n</html>\n")

    # Form: control characters.
    add_one("crlf", "Line endings of carriage return and newline.", malformed, good.replace("\n", "\r\n"))
    add_one("crlf-signed", "Carriage returns in the signed text.", malformed, signed("one\r\ntwo\r\n", a))
    add_one("crlf-in-the-signature-line-only", "A carriage return at the end of the signature line.", malformed, good[:-1] + "\r\n")
    for name, character in [("tab", "\t"), ("nul", "\x00"), ("carriage-return", "\r"), ("vertical-tab", "\x0b"), ("form-feed", "\x0c"),
                            ("escape", "\x1b"), ("u001f", "\x1f"), ("delete", "\x7f"), ("u0080", "\x80"), ("u0085", "\x85"),
                            ("u009f", "\x9f")]:
        add_one(f"control-character-{name}", "A control character in the text, though it was signed.", malformed,
                signed(f"one{character}two\n", a))
    add_one("control-character-in-an-unknown-name", "A control character in the name of an unknown key.", malformed,
            with_line(line("exam\x01ple.com", bytes(68))))
    add_one("tab-for-space-in-the-signature-line", "A tab between name and signature.", malformed, good.replace("/a ", "/a\t"))

    # Form: UTF-8.
    for name, data in [("lone-continuation-byte", b"\x80"), ("lone-start-byte", b"\xe2\x80"), ("overlong-slash", b"\xc0\xaf"),
                       ("overlong-newline", b"\xc0\x8a"), ("surrogate", b"\xed\xa0\x80"), ("beyond-unicode", b"\xf4\x90\x80\x80"),
                       ("byte-ff", b"\xff"), ("latin-1", b"caf\xe9"), ("utf-16-byte-order-mark", b"\xff\xfe")]:
        body = b"one" + data + b"\n"
        sig = f"{DASH} {a.name} {b64(a.id + ed25519.sign(a.seed, body))}\n".encode()
        add_one(f"invalid-utf-8-{name}", "The text is not valid UTF-8, though it was signed.", malformed, body + b"\n" + sig)
    add_one("invalid-utf-8-in-an-unknown-name", "The name of an unknown key is not valid UTF-8.", malformed,
            good.encode() + f"{DASH} exam".encode() + b"\xffple.com " + b64(bytes(68)).encode() + b"\n")
    add_one("invalid-utf-8-dash-cut", "The dash of the signature line is cut.", malformed,
            text.encode() + b"\n" + a.line(text).encode()[1:])
    add_one("utf-16", "The whole note in UTF-16.", malformed, good.encode("utf-16-le"))

    # Form: signature lines.
    for name, dash in [("hyphen", "-"), ("two-hyphens", "--"), ("en-dash", "\u2013"), ("horizontal-bar", "\u2015"), ("minus", "\u2212"),
                       ("two-em-dashes", DASH * 2), ("nothing", ""), ("dash-with-combining-mark", DASH + "\u0301"),
                       ("space-and-dash", " " + DASH)]:
        add_one(f"{name}-for-the-dash", "The signature line does not begin with an em dash and a space.", malformed,
                good.replace(DASH, dash))
    tail = b64(a.id + bytes(signature))
    for name, about, extra in [
            ("no-space-after-dash", "The space after the dash is missing.", f"{DASH}{a.name} {tail}\n"),
            ("two-spaces-after-dash", "Two spaces after the dash.", f"{DASH}  {a.name} {tail}\n"),
            ("two-spaces-before-signature", "Two spaces before the signature.", f"{DASH} {a.name}  {tail}\n"),
            ("no-break-space-after-dash", "A no-break space after the dash.", f"{DASH}\u00a0{a.name} {tail}\n"),
            ("no-break-space-before-signature", "A no-break space before the signature.", f"{DASH} {a.name}\u00a0{tail}\n"),
            ("space-at-the-end", "A space at the end of the signature line.", f"{DASH} {a.name} {tail} \n"),
            ("word-at-the-end", "A word after the signature.", f"{DASH} {a.name} {tail} x\n"),
            ("line-without-space", "A signature line without a space after the name.", f"{DASH} {a.name}{tail}\n"),
            ("signature-missing", "A signature line that ends after the name.", f"{DASH} {a.name}\n"),
            ("signature-empty", "A signature line that ends after the space.", f"{DASH} {a.name} \n"),
            ("name-empty", "An empty name.", f"{DASH}  {tail}\n"),
            ("name-missing", "A signature line without a name.", f"{DASH} {tail}\n"),
            ("dash-only", "A dash alone.", f"{DASH}\n"),
            ("dash-and-space-only", "A dash and a space.", f"{DASH} \n")]:
        add_one(f"line-{name}" if not name.startswith("line") else name, about, malformed, text + "\n" + extra)
        add_one(f"beside-a-good-line-{name}", f"A malformed line spoils the note, a good one beside it or not: {about[0].lower()}{about[1:]}",
                malformed, good.replace(DASH, DASH, 1) + extra.replace(a.name, "example.com/c"))
    for name, bad_name in [("with-plus", "exam+ple.com"), ("with-no-break-space", "exam\u00a0ple.com"),
                           ("with-ideographic-space", "exam\u3000ple.com"), ("with-line-separator", "exam\u2028ple.com")]:
        add_one(f"unknown-name-{name}", "A name that no note key may have spoils the note.", malformed, with_line(line(bad_name, bytes(68))))

    # Form: base64. Lines by the known key and by an unknown one.
    special = next(body for i in range(1000) if "/" in b64(a.id + a.sign(body := f"number {i}\n")) and "+" in b64(a.id + a.sign(body)))
    tail = b64(a.id + a.sign(special))
    loose = tail[:-2] + notes.B64[notes.B64.index(tail[-2]) | 1] + "="
    kelvin = next(body for i in range(1000) if "K" in b64(a.id + a.sign(body := f"kelvin {i}\n")))
    add_one("base64-with-plus-and-slash", "A signature whose base64 has plus and slash.", "accept", signed(special, a))
    for name, about, other in [
            ("url-safe-alphabet", "The URL-safe alphabet.", tail.replace("+", "-").replace("/", "_")),
            ("missing-padding", "Missing padding.", tail.rstrip("=")),
            ("spare-padding", "A padding character too many.", tail + "="),
            ("spare-padding-group", "A group of padding too many.", tail + "===="),
            ("loose-trailing-bits", "Bits in the last character that belong to no byte.", loose),
            ("padding-in-the-middle", "Padding in the middle.", tail[:40] + "=" + tail[41:]),
            ("last-character-missing", "The last character is missing.", tail[:-1]),
            ("one-character-more", "A character more.", "A" + tail),
            ("hexadecimal", "A digit run of odd length in place of base64.", (a.id + a.sign(special)).hex() + "0"),
            ("dot", "A character of no alphabet.", tail[:10] + "." + tail[11:]),
            ("non-ascii", "A letter that is not ASCII.", tail[:10] + "\u00e9" + tail[11:]),
            ("full-width-letter", "A full-width letter.", tail[:10] + "\uff21" + tail[11:]),
            ("combining-mark", "A combining mark after the last character.", tail + "\u0301"),
            ("zero-width-space", "A zero width space inside.", tail[:10] + EMPTY + tail[10:])]:
        add_one(f"base64-{name}", f"The known key's signature is not canonical base64: {about[0].lower()}{about[1:]}", malformed,
                f"{special}\n{DASH} {a.name} {other}\n")
        add_one(f"base64-{name}-unknown-key", f"An unknown key's signature is not canonical base64: {about[0].lower()}{about[1:]}",
                malformed, f"{signed(special, a)}{DASH} example.com/c {other}\n")
    add_one("base64-kelvin-sign", "The Kelvin sign, canonically equivalent to the letter K, in the base64.", malformed,
            f"{kelvin}\n{DASH} {a.name} {b64(a.id + a.sign(kelvin)).replace('K', chr(0x212a), 1)}\n")
    for n in range(5):
        data = (a.id + b"\x00")[:n]
        if n:
            add_one(f"signature-data-of-{n}-bytes", "Less than a key id and one byte.", malformed, text + "\n" + line(a.name, data))
            add_one(f"signature-data-of-{n}-bytes-unknown-key", "Less than a key id and one byte, by an unknown key.", malformed,
                    with_line(line("example.com/c", data)))


def add_checkpoints(case):
    def checkpoint(name, about, verdict, text):
        parsed = notes.parse_checkpoint(text)
        assert ("accept" if parsed else "note-malformed") == verdict, f"checkpoint/{name}"
        fields = {} if not parsed else {"origin": parsed[0], "size": parsed[1], "root": parsed[2].hex()}
        case("checkpoint", name, about, verdict, text=text, **fields)

    def body(origin="maps.example.com/world", size="42", root=None, end=""):
        return f"{origin}\n{size}\n{root if root is not None else b64(some)}\n{end}"

    malformed, some = "note-malformed", hashlib.sha256(b"fetchres test vectors: checkpoint").digest()
    empty = b64(merkle.EMPTY_ROOT)
    checkpoint("plain", "Origin, size and root.", "accept", body())
    for name, size in [("1", "1"), ("10", "10"), ("2-to-the-32", str(2**32)), ("2-to-the-53-plus-1", str(2**53 + 1)),
                       ("2-to-the-63-minus-1", str(2**63 - 1))]:
        checkpoint(f"size-{name}", "A size within the limits.", "accept", body(size=size))
    checkpoint("size-0-empty-root", "The empty log with the hash of nothing.", "accept", body(size="0", root=empty))
    checkpoint("size-0-other-root", "The empty log has no other root than the hash of nothing.", malformed, body(size="0"))
    checkpoint("size-0-root-of-zeros", "Zeros are not the root of the empty log.", malformed, body(size="0", root=b64(bytes(32))))
    checkpoint("size-1-empty-root", "The hash of nothing is the root of the empty log only.", malformed, body(size="1", root=empty))
    checkpoint("root-of-zeros", "Any 32 bytes may be a root.", "accept", body(root=b64(bytes(32))))
    for name, size in [("plus-5", "+5"), ("05", "05"), ("00", "00"), ("minus-0", "-0"), ("minus-1", "-1"), ("2-to-the-63", str(2**63)),
                       ("2-to-the-64", str(2**64)), ("2-to-the-64-plus-42", str(2**64 + 42)), ("of-100-digits", "9" * 100), ("empty", ""),
                       ("word", "many"), ("hexadecimal", "0x2a"), ("hexadecimal-digits", "2a"), ("exponent", "1e3"), ("decimal-point", "42.0"),
                       ("separator-underscore", "1_000"), ("separator-comma", "1,000"), ("space-in-front", " 42"), ("space-at-the-end", "42 "),
                       ("tab-at-the-end", "42\t"), ("carriage-return", "42\r"), ("two-numbers", "42 43"), ("other-digits", "\u0664\u0662"),
                       ("full-width-digits", "\uff14\uff12"), ("superscript-digit", "4\u00b2"), ("combining-mark", "42\u0301"),
                       ("nul", "42\x00")]:
        checkpoint(f"size-{name}", "A size that is not written as a plain decimal number below 2^63.", malformed, body(size=size))
    root = next(r for i in range(1000) if all(c in b64(r := hashlib.sha256(b"root %d" % i).digest()) for c in "+/K"))
    good = b64(root)
    checkpoint("root-with-plus-and-slash", "A root whose base64 has plus and slash.", "accept", body(root=good))
    for name, about, other in [
            ("of-31-bytes", "31 bytes.", b64(root[:31])), ("of-33-bytes", "33 bytes.", b64(root + b"\x00")), ("of-64-bytes", "64 bytes.", b64(root * 2)),
            ("empty", "No root.", ""), ("hexadecimal", "Hexadecimal.", root.hex()), ("url-safe-alphabet", "The URL-safe alphabet.",
                                                                                  good.replace("+", "-").replace("/", "_")),
            ("missing-padding", "Missing padding.", good.rstrip("=")), ("spare-padding", "Too much padding.", good + "="),
            ("loose-trailing-bits", "Bits in the last character that belong to no byte.",
             good[:-2] + notes.B64[notes.B64.index(good[-2]) | 1] + "="),
            ("space-at-the-end", "A space at the end.", good + " "), ("space-in-front", "A space in front.", " " + good),
            ("carriage-return", "A carriage return at the end.", good + "\r"), ("space-inside", "A space inside.", good[:20] + " " + good[20:]),
            ("kelvin-sign", "The Kelvin sign for the letter K.", good.replace("K", "\u212a", 1)),
            ("combining-mark", "A combining mark at the end.", good + "\u0301")]:
        checkpoint(f"root-{name}", f"The root is not 32 bytes in canonical base64: {about[0].lower()}{about[1:]}", malformed, body(root=other))
    for name, origin in [("one-letter", "a"), ("with-port", "localhost:8080/x"), ("of-200-bytes", "a/" * 99 + "ab")]:
        checkpoint(f"origin-{name}", "An origin within the rules.", "accept", body(origin=origin))
    for name, origin in [("empty", ""), ("upper-case", "Maps.example.com/world"), ("of-201-bytes", "a/" * 100 + "a"), ("with-space", "maps example"),
                         ("space-in-front", " maps.example.com"), ("space-at-the-end", "maps.example.com "), ("double-slash", "maps.example.com//world"),
                         ("trailing-slash", "maps.example.com/"), ("leading-slash", "/maps.example.com"), ("dot-dot", "maps.example.com/../world"),
                         ("leading-dot", ".maps.example.com"), ("leading-hyphen", "-maps.example.com"), ("with-plus", "maps+example.com"),
                         ("non-ascii", "m\u00e4ps.example.com"), ("byte-order-mark", "\ufeffmaps.example.com"), ("with-scheme", "https://maps.example.com"),
                         ("combining-mark", "maps.example.com/world\u0301")]:
        checkpoint(f"origin-{name}", "The first line is not an origin.", malformed, body(origin=origin))
    checkpoint("extension-line", "A fourth line is refused.", malformed, body(end="extension\n"))
    checkpoint("extension-lines", "A fourth and a fifth line are refused.", malformed, body(end="one\ntwo\n"))
    checkpoint("empty-line-at-the-end", "An empty fourth line.", malformed, body(end="\n"))
    checkpoint("empty-line-in-front", "An empty line in front.", malformed, "\n" + body())
    checkpoint("empty-line-after-origin", "An empty line after the origin.", malformed, body(origin="maps.example.com/world\n"))
    checkpoint("last-newline-missing", "The last newline is missing.", malformed, body()[:-1])
    checkpoint("more-after-the-last-newline", "Something after the last newline.", malformed, body(end="x"))
    checkpoint("two-lines", "The root is missing.", malformed, "maps.example.com/world\n42\n")
    checkpoint("one-line", "Size and root are missing.", malformed, "maps.example.com/world\n")
    checkpoint("empty", "No text at all.", malformed, "")
    checkpoint("lines-reordered", "Size in front of the origin.", malformed, f"42\nmaps.example.com/world\n{b64(some)}\n")
    checkpoint("size-and-root-on-one-line", "Size and root on one line.", malformed, f"maps.example.com/world\n42 {b64(some)}\n")
    checkpoint("crlf", "Line endings of carriage return and newline.", malformed, body().replace("\n", "\r\n"))
    checkpoint("manifest-text", "The first lines of a manifest are no checkpoint.", malformed,
               "fetchres manifest v1\norigin maps.example.com/world\nversion 1\n")
