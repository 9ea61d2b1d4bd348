//! Messages of engines, frame by frame.

use zmq::Socket;

use crate::engine::END_OF_REPLAY;

/// Frames kept of one message: more are never right.
const MAX_FRAMES: usize = 5;

/// One message.
pub(super) struct Frames {
    pub(super) list: Vec<Vec<u8>>,
    has_more: bool,
}

/// The next message that is there; what is wrong with a socket shows when it is polled.
pub(super) fn read_message(socket: &Socket) -> Option<Frames> {
    let mut frames = Frames { list: Vec::with_capacity(3), has_more: false };
    loop {
        let frame = socket.recv_msg(zmq::DONTWAIT).ok()?;
        if frames.list.len() < MAX_FRAMES {
            frames.list.push(frame.to_vec());
        } else {
            frames.has_more = true;
        }
        if !frame.get_more() {
            return Some(frames);
        }
    }
}

impl Frames {
    /// Topic, number and payload of `[topic, seq, payload]`.
    pub(super) fn live(self) -> Option<(Vec<u8>, u64, Vec<u8>)> {
        let [topic, seq, payload] = <[Vec<u8>; 3]>::try_from(self.whole()?).ok()?;
        let seq = number(&seq).filter(|seq| *seq != END_OF_REPLAY)?;
        Some((topic, seq, payload))
    }

    /// The same of `[empty, seq, payload]`, of `[empty, topic, seq, payload]`, and of either without its empty payload.
    pub(super) fn replayed(self) -> Option<(Option<Vec<u8>>, u64, Vec<u8>)> {
        let mut list = self.whole()?;
        if list.len() > 1 && list.first().is_some_and(Vec::is_empty) {
            list.remove(0);
        }
        match <[Vec<u8>; 3]>::try_from(list) {
            Ok([topic, seq, payload]) => Some((Some(topic), number(&seq)?, payload)),
            Err(list) => match <[Vec<u8>; 2]>::try_from(list) {
                // A topic and the end, or a number and its payload.
                Ok([topic, end]) if number(&end) == Some(END_OF_REPLAY) && number(&topic).is_none() => {
                    Some((Some(topic), END_OF_REPLAY, Vec::new()))
                }
                Ok([seq, payload]) => Some((None, number(&seq)?, payload)),
                Err(list) => {
                    let end = list.first().filter(|end| number(end) == Some(END_OF_REPLAY));
                    end.map(|_| (None, END_OF_REPLAY, Vec::new()))
                }
            },
        }
    }

    fn whole(self) -> Option<Vec<Vec<u8>>> {
        (!self.has_more).then_some(self.list)
    }
}

fn number(frame: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(<[u8; 8]>::try_from(frame).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(list: &[&[u8]]) -> Frames {
        Frames { list: list.iter().map(|frame| frame.to_vec()).collect(), has_more: false }
    }

    #[test]
    fn live_messages_have_three_frames_and_a_number_of_8_bytes() {
        let seven = 7_u64.to_be_bytes();
        let end = END_OF_REPLAY.to_be_bytes();
        assert_eq!(frames(&[b"t", &seven, b"p"]).live(), Some((b"t".to_vec(), 7, b"p".to_vec())));
        assert_eq!(frames(&[b"", &seven, b""]).live(), Some((vec![], 7, vec![])));
        for wrong in [
            &[&b""[..], &seven][..],
            &[b"", &seven, b"p", b""],
            &[b"", &seven[..3], b"p"],
            &[b"", b"123456789", b"p"],
            &[b"", &end, b"p"],
            &[b""],
        ] {
            assert_eq!(frames(wrong).live(), None, "{wrong:?}");
        }
        let long = Frames { has_more: true, ..frames(&[b"t", &seven, b"p"]) };
        assert_eq!(long.live(), None);
    }

    #[test]
    fn replays_have_two_layouts_and_an_end() {
        let seven = 7_u64.to_be_bytes();
        let end = END_OF_REPLAY.to_be_bytes();
        let batch = |topic: Option<&[u8]>| Some((topic.map(<[u8]>::to_vec), 7, b"p".to_vec()));
        assert_eq!(frames(&[b"", &seven, b"p"]).replayed(), batch(None));
        assert_eq!(frames(&[&seven, b"p"]).replayed(), batch(None));
        assert_eq!(frames(&[b"", b"kv", &seven, b"p"]).replayed(), batch(Some(b"kv")));
        assert_eq!(frames(&[b"", b"", &seven, b"p"]).replayed(), batch(Some(b"")));
        for list in [
            &[&b""[..], &end, b""][..],
            &[b"", &end],
            &[&end],
            &[b"", b"kv", &end, b""],
            &[b"", b"", &end, b""],
            &[b"", b"kv", &end],
        ] {
            let seq = frames(list).replayed().map(|(_, seq, _)| seq);
            assert_eq!(seq, Some(END_OF_REPLAY), "{list:?}");
        }
        for wrong in [&[&b""[..]][..], &[b"", b"kv", &seven[..3], b"p"], &[b"", b"a", b"b", &seven, b"p"]] {
            assert_eq!(frames(wrong).replayed(), None, "{wrong:?}");
        }
    }
}
