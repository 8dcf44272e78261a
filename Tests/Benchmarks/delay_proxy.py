"""delay_proxy.py HOST:PORT SECONDS: a TCP proxy on loopback that makes its target look one round trip
of SECONDS away, for kernels without netem. Prints its port.

Each direction is held back by half a round trip. A client on loopback is connected at once; what it
sends is held as if it had waited for the handshake. Slow start is not imitated.
"""

import asyncio
import sys

target, round_trip = sys.argv[1].rsplit(":", 1), float(sys.argv[2])


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, not_before: float) -> None:
    """Passes bytes on, each piece half a round trip after it was sent, at the earliest `not_before`
    plus that; reading goes on meanwhile."""
    clock = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def deliver() -> None:
        while True:
            due, piece = await queue.get()
            await asyncio.sleep(due - clock.time())
            if not piece:
                if writer.can_write_eof():
                    writer.write_eof()
                return
            writer.write(piece)
            await writer.drain()

    delivery = asyncio.create_task(deliver())
    piece = b"-"
    while piece:
        try:
            piece = await reader.read(1 << 16)
        except ConnectionError:
            piece = b""
        queue.put_nowait((max(clock.time(), not_before) + round_trip / 2, piece))
    await delivery


async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    begin = asyncio.get_running_loop().time()
    try:
        far_reader, far_writer = await asyncio.open_connection(*target)
    except OSError:
        writer.close()
        return
    directions = carry(reader, far_writer, begin + round_trip), carry(far_reader, writer, begin)
    await asyncio.gather(*directions, return_exceptions=True)
    for one in (writer, far_writer):
        one.close()


async def main() -> None:
    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
