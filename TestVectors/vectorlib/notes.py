"""Keys, signed notes, checkpoints and manifests: how they are made, and a strict reader for each."""
import base64
import datetime
import hashlib
import re

from . import ed25519, merkle
from .merkle import INT64_MAX

DASH = "\u2014"
UNICODE_SPACES = set("\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {chr(c) for c in range(0x2000, 0x200b)}
B64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


class Refused(Exception):
    def __init__(self, verdict, line=None):
        super().__init__(verdict)
        self.verdict, self.line = verdict, line


def b64(data):
    return base64.b64encode(data).decode()


def strict_b64(text):
    """The bytes, or None unless the text is the one canonical standard encoding of them."""
    if not re.fullmatch(r"[A-Za-z0-9+/]*={0,2}", text) or len(text) % 4:
        return None
    data = base64.b64decode(text)
    return data if b64(data) == text else None


def is_control(character):
    return ord(character) < 0x20 or 0x7f <= ord(character) < 0xa0


def is_name(name):
    return name != "" and not any(c in UNICODE_SPACES or c == "+" or is_control(c) for c in name)


def is_origin(name):
    if not 1 <= len(name) <= 200 or not re.fullmatch(r"[a-z0-9.\-_:/]+", name):
        return False
    return all(part and part[0] not in ".-" for part in name.split("/"))


def key_id(name, public):
    return hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]


class Key:
    def __init__(self, name, label):
        self.name = name
        self.seed = hashlib.sha256(b"fetchres test vectors: key " + label.encode()).digest()
        self.public = ed25519.public_key(self.seed)
        self.id = key_id(name, self.public)
        self.vkey = name + "+" + self.id.hex() + "+" + b64(b"\x01" + self.public)
        self.secret = "PRIVATE+KEY+" + name + "+" + self.id.hex() + "+" + b64(b"\x01" + self.seed)

    def sign(self, text):
        return ed25519.sign(self.seed, text.encode())

    def line(self, text):
        return line(self.name, self.id + self.sign(text))


def line(name, data):
    return f"{DASH} {name} {b64(data)}\n"


def note(text, *keys):
    return text + "\n" + "".join(key.line(text) for key in keys)


def parse_public(text):
    """(name, id, public key) or None."""
    parts = text.split("+", 2)
    if len(parts) != 3 or not is_name(parts[0]) or not re.fullmatch(r"[0-9a-f]{8}", parts[1]):
        return None
    data = strict_b64(parts[2])
    if data is None or len(data) != 33 or data[0] != 1 or key_id(parts[0], data[1:]).hex() != parts[1]:
        return None
    return parts[0], bytes.fromhex(parts[1]), data[1:]


def parse_secret(text):
    """(name, id, public key, seed) or None."""
    parts = text.split("+", 4)
    if len(parts) != 5 or parts[:2] != ["PRIVATE", "KEY"] or not is_name(parts[2]):
        return None
    data = strict_b64(parts[4])
    if data is None or len(data) != 33 or data[0] != 1 or not re.fullmatch(r"[0-9a-f]{8}", parts[3]):
        return None
    public = ed25519.public_key(data[1:])
    if key_id(parts[2], public).hex() != parts[3]:
        return None
    return parts[2], bytes.fromhex(parts[3]), public, data[1:]


def open_note(data, vkeys):
    """(text, names of the keys that signed, in the order of the lines). Form first, then signatures."""
    text, signed = open_note_keys(data, vkeys)
    return text, [name for name, _, _ in signed]


def open_note_keys(data, vkeys):
    malformed = Refused("note-malformed")
    known = {key[:2]: key for key in map(parse_public, vkeys)}
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError:
        raise malformed from None
    if any(is_control(c) and c != "\n" for c in content):
        raise malformed
    cut = content.rfind("\n\n")
    if cut < 0:
        raise malformed
    text, lines = content[:cut + 1], content[cut + 2:].split("\n")
    if lines.pop() != "" or not 1 <= len(lines) <= 100:
        raise malformed
    matched = []
    for one in lines:
        parts = one.split(" ")
        if len(parts) != 3 or parts[0] != DASH or not is_name(parts[1]):
            raise malformed
        signature = strict_b64(parts[2])
        if signature is None or len(signature) < 5:
            raise malformed
        if key := known.get((parts[1], signature[:4])):
            matched.append((key, signature[4:]))
    if len({key for key, _ in matched}) < len(matched):
        raise malformed
    if not all(ed25519.verify(key[2], text.encode(), signature) for key, signature in matched):
        raise Refused("bad-signature")
    if not matched:
        raise Refused("unknown-key")
    return text, [key for key, _ in matched]


def decimal(text):
    """The number, or None unless it is plain decimal and at most 2^63-1."""
    if not re.fullmatch(r"0|[1-9][0-9]*", text) or len(text) > 19 or int(text) > INT64_MAX:
        return None
    return int(text)


def parse_checkpoint(text):
    """(origin, size, root) or None."""
    lines = text.split("\n")
    if len(lines) != 4 or lines[3] != "" or not is_origin(lines[0]):
        return None
    size, root = decimal(lines[1]), strict_b64(lines[2])
    if size is None or root is None or len(root) != 32 or (size == 0) != (root == merkle.EMPTY_ROOT):
        return None
    return lines[0], size, root


def date(text):
    """The instant, or None unless it is YYYY-MM-DDTHH:MM:SSZ and exists."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", text):
        return None
    try:  # the standard library refuses year 0, hour 24 and second 60 as well
        return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc) \
            if text[17:19] < "60" else None
    except ValueError:
        return None


def unix(instant):
    return None if instant is None else int((instant - datetime.datetime(
        1970, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds())


def is_item(text, reserved):
    return bool(re.fullmatch(r"[A-Za-z0-9_+][A-Za-z0-9._+-]{0,127}", text)) and text.lower() not in reserved


def is_mirror(url):
    match = re.fullmatch(r"https?://([a-z0-9.-]+)(:[0-9]+)?(/[!-~]*)", url)
    if not match or len(url) > 1024:
        return False
    if match[2] and not (re.fullmatch(r":[1-9][0-9]{0,4}", match[2]) and int(match[2][1:]) < 65536):
        return False
    path = match[3]
    segments = [re.sub("%2e", ".", segment, flags=re.I) for segment in path.split("/")]
    return path.endswith("/") and not re.search(r"[?#\\]", path) and not {".", ".."} & set(segments)


def open_manifest(data, vkeys):
    """The fields of a signed manifest."""
    text, signed = open_note_keys(data, vkeys)
    if len(data) > 65535:
        raise Refused("manifest-malformed")
    fields = parse_manifest(text)
    if parse_public(fields["key"]) not in signed:
        raise Refused("bad-signature")
    return fields


def parse_manifest(text):
    lines, position = text.split("\n")[:-1], 0

    def refuse(at):
        raise Refused("manifest-malformed", at if at <= len(lines) else None)

    def value(word, check, optional=False):
        """Reads `word value`; the check returns None for a value that is refused."""
        nonlocal position
        present = position < len(lines) and lines[position].startswith(word + " ")
        if not present and optional:
            return None
        result = check(lines[position][len(word) + 1:]) if present else None
        position += 1
        if result is None:
            refuse(position)
        where[word] = position
        return result

    def that(predicate):
        return lambda text: text if predicate(text) else None

    where = {}
    hexadecimal = that(lambda t: re.fullmatch(r"[0-9a-f]{64}", t))
    if lines[:1] != ["fetchres manifest v1"]:
        refuse(1)
    position = 1
    f = {"origin": value("origin", that(is_origin)),
         "version": value("version", that(lambda t: is_item(t, {"current"}))),
         "release": value("release", decimal), "size": value("size", decimal),
         "blockSize": value("block-size", lambda t: n if (n := decimal(t)) and n <= 2**26 else None),
         "blocks": value("blocks", decimal)}
    if f["blocks"] != -(-f["size"] // f["blockSize"]) or f["blocks"] > 2**27:
        refuse(position)
    f["root"] = value("root", hexadecimal)
    if (f["size"] == 0) != (f["root"] == merkle.EMPTY_ROOT.hex()):
        refuse(position)
    f["file"] = value("file", that(lambda t: is_item(t, {"manifest", "complete", "tile"})))
    f["published"] = value("published", that(date))
    f["publishedUnix"] = unix(date(f["published"]))
    f["expires"] = value("expires", that(date), optional=True)
    f["expiresUnix"] = unix(date(f["expires"])) if f["expires"] else None
    if f["expires"] and f["expiresUnix"] <= f["publishedUnix"]:
        refuse(position)
    f["key"] = value("key", that(lambda t: (k := parse_public(t)) and k[0] == f["origin"]))
    f["since"] = value("since", decimal)
    if f["since"] > f["release"]:
        refuse(position)
    f["nextKey"] = value("next-key", hexadecimal, optional=True)
    f["mirrors"] = []
    while (mirror := value("mirror", that(is_mirror), optional=True)) is not None:
        f["mirrors"].append(mirror)
        if len(f["mirrors"]) > 8:
            refuse(position)
    f["extensions"] = []
    while position < len(lines):
        position += 1
        match = re.fullmatch(r"(x-[a-z0-9-]+) ([^ ].*)", lines[position - 1], re.S)
        if not match or len(f["extensions"]) == 32:
            refuse(position)
        f["extensions"].append({"name": match[1], "value": match[2]})
    return f


PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
FOO = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
FOO_TEXT = "This is an example message.\n"
FOO_NOTE = FOO_TEXT + "\n" + DASH + " example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n"


def self_test():
    assert parse_public(PETER) and parse_public(FOO)
    assert open_note(FOO_NOTE.encode(), [FOO]) == (FOO_TEXT, ["example.com/foo"])
    key = Key("example.com/a", "self-test")
    assert parse_public(key.vkey) == (key.name, key.id, key.public)
    assert parse_secret(key.secret) == (key.name, key.id, key.public, key.seed)
    assert open_note(note("a\n\nb\n", key).encode(), [key.vkey]) == ("a\n\nb\n", ["example.com/a"])
    assert date("2000-02-29T00:00:00Z") and not date("2100-02-29T00:00:00Z") and not date("0000-01-01T00:00:00Z")
    assert unix(date("2026-11-30T05:34:40Z")) == 1796016880
