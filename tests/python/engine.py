"""An engine's KV event publisher, made of what engines use: pyzmq and msgspec. Commands come as lines of JSON.

usage: engine.py PUBLISH_PORT REPLAY_PORT LAYOUT TOPIC

Port 0 takes a free one; the first line printed says which: none, where one is taken. LAYOUT is that of replays: `plain` is [empty, seq, payload],
`topic` is [empty, topic, seq, payload].
"""

import json
import sys
import time
from collections import deque
from typing import Any, Optional, Union

import msgspec
import zmq

END = (-1).to_bytes(8, "big", signed=True)
BUFFER = 10_000


class EventBatch(msgspec.Struct, array_like=True, omit_defaults=True, gc=False):
    ts: float
    events: list[Any]
    data_parallel_rank: Optional[int] = None


class KVCacheEvent(msgspec.Struct, array_like=True, omit_defaults=True, gc=False, tag=True):
    """Base of the events."""


class BlockStored(KVCacheEvent):
    block_hashes: list[Union[bytes, int]]
    parent_block_hash: Optional[Union[bytes, int]]
    token_ids: list[int]
    block_size: int
    lora_id: Optional[int] = None
    medium: Optional[str] = None
    lora_name: Optional[str] = None


class BlockRemoved(KVCacheEvent):
    block_hashes: list[Union[bytes, int]]
    medium: Optional[str] = None


class AllBlocksCleared(KVCacheEvent):
    pass


KINDS = {kind.__name__: kind for kind in (BlockStored, BlockRemoved, AllBlocksCleared)}


class Engine:
    def __init__(self, publish_port, replay_port, layout, topic):
        context = zmq.Context.instance()
        self.publisher = context.socket(zmq.PUB)
        self.publisher.bind(f"tcp://127.0.0.1:{publish_port or '*'}")
        self.router = context.socket(zmq.ROUTER)
        self.router.bind(f"tcp://127.0.0.1:{replay_port or '*'}")
        self.layout = layout
        self.topic = topic.encode()
        self.encoder = msgspec.msgpack.Encoder()
        self.buffer = deque(maxlen=BUFFER)
        self.next_seq = 0
        self.asked = []

    def ports(self):
        sockets = (self.publisher, self.router)
        return [int(one.getsockopt_string(zmq.LAST_ENDPOINT).rsplit(":", 1)[1]) for one in sockets]

    def publish(self, events, rank=None, send=True, buffer=True, topic=None):
        made = [KINDS[event.pop("type")](**event) for event in events]
        payload = self.encoder.encode(
            EventBatch(ts=time.time(), events=made, data_parallel_rank=rank)
        )
        seq = self.next_seq.to_bytes(8, "big")
        self.next_seq += 1
        if buffer:
            self.buffer.append((seq, payload))
        if send:
            topic = self.topic if topic is None else topic.encode()
            self.publisher.send_multipart((topic, seq, payload))

    def raw(self, frames, takes_seq):
        self.publisher.send_multipart([bytes.fromhex(frame) for frame in frames])
        self.next_seq += takes_seq

    def answer(self):
        peer, empty, start = self.router.recv_multipart()
        assert empty == b""
        self.asked.append(int.from_bytes(start, "big"))
        head = (peer, b"", self.topic) if self.layout == "topic" else (peer, b"")
        for seq, payload in self.buffer:
            if seq >= start:
                self.router.send_multipart((*head, seq, payload))
        self.router.send_multipart((*head, END, b""))

    def carry_out(self, command):
        what = command.pop("do")
        if what == "publish":
            self.publish(**command)
        elif what == "raw":
            self.raw(**command)
        elif what == "renumber":
            self.next_seq = command["seq"]
        else:
            assert what == "asked", what
        return {"next_seq": self.next_seq, "asked": self.asked}


def main():
    publish_port, replay_port, layout, topic = sys.argv[1:]
    try:
        engine = Engine(int(publish_port), int(replay_port), layout, topic)
    except zmq.ZMQError:
        print("[]", flush=True)
        return
    print(json.dumps(engine.ports()), flush=True)
    poller = zmq.Poller()
    poller.register(engine.router, zmq.POLLIN)
    poller.register(sys.stdin.fileno(), zmq.POLLIN)
    while True:
        ready = dict(poller.poll())
        if engine.router in ready:
            engine.answer()
        if sys.stdin.fileno() in ready:
            line = sys.stdin.buffer.raw.readline()
            if not line:
                return
            print(json.dumps(engine.carry_out(json.loads(line))), flush=True)


main()
