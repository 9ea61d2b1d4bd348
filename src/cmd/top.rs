//! `icache top`: a running server at a glance, kept up to date.

use std::io::IsTerminal as _;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use super::error::{ServerError, UsageError};
use super::exit::Exit;
use super::runtime;
use super::survey::{PortArgs, Ports};
use super::{CommandError, Outcome, input};
use crate::render::{self, Format, Printer, Screen, Shown};
use crate::top::{Seen, View};

/// Watch a running server: lookups by reason code, latency, replicas, policies
///
/// Reads /metrics, /snapshot and /policy again and again. `q` or Ctrl-C ends it. Where the server does not answer it says so,
/// and goes on asking. Without a terminal, or with TERM=dumb, it prints one frame after the other.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Print one frame and end
    #[arg(long)]
    once: bool,
    /// Time between two looks [default: 2s]
    #[arg(long, value_name = "DURATION", value_parser = input::span)]
    interval: Option<Duration>,
    #[command(flatten)]
    ports: PortArgs,
    /// Form of the frame of --once; jsonl is the JSON document in one line
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM", help_heading = "Output")]
    output: Format,
}

const EXAMPLES: &str = "\
Examples:
  icache top
  icache top --once
  icache top --once -o json --server http://icache:9090
  icache top --interval 500ms";

/// Time between two looks.
const INTERVAL: Duration = Duration::from_secs(2);
/// A server is not asked more often.
const LEAST_INTERVAL: Duration = Duration::from_millis(100);
/// Wait for a key before it is looked whether there is something new to show.
const KEY_WAIT: Duration = Duration::from_millis(50);

/// What comes from the thread that asks.
enum News {
    /// What the ports said.
    Seen(Box<Seen>),
    /// A signal, or an error that no further try would change.
    End(Result<(), CommandError>),
}

/// Asks and shows, once or until it is ended.
pub fn run(args: &Args, printer: &mut Printer) -> Outcome {
    let interval = args.interval.unwrap_or(INTERVAL);
    if interval < LEAST_INTERVAL {
        let what = "`--interval` is shorter than 100ms";
        return Err(UsageError::new(what, "give 100ms or more; each look asks the server three times").into());
    }
    if args.output != Format::Table && !args.once {
        let what = "JSON is printed for one frame, and `--once` is missing";
        return Err(UsageError::new(what, "give `--once` with `-o json`").into());
    }
    let ports = args.ports.ports()?;
    if args.once {
        return once(&ports, args.output, printer);
    }
    let (sender, news) = channel();
    let url = ports.url().to_owned();
    let runtime = runtime::single()?;
    // It ends with the process, or when nobody hears it any more.
    std::thread::spawn(move || runtime.block_on(keep_asking(&ports, interval, &sender)));
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if is_dumb || !std::io::stdout().is_terminal() {
        print_frames(&url, &news, printer)
    } else {
        show_frames(&url, &news, printer)
    }
}

fn once(ports: &Ports, output: Format, printer: &mut Printer) -> Outcome {
    let runtime = runtime::single()?;
    let seen = runtime.block_on(async {
        tokio::select! {
            seen = ports.glance() => seen,
            _ = tokio::signal::ctrl_c() => Err(CommandError::Interrupted),
        }
    })?;
    let view = View::of(ports.url(), &seen, None);
    if view.is_away() {
        let fault = seen.metrics.err().or(seen.snapshot.err());
        let (what, advice) = fault.map(|fault| (fault.what, fault.advice)).unwrap_or_default();
        return Err(ServerError::new(what, advice).into());
    }
    render::top(printer, output, &view)?;
    Ok(Exit::Done)
}

/// Looks again and again, until a signal comes or nobody hears.
async fn keep_asking(ports: &Ports, interval: Duration, sender: &Sender<News>) {
    let work = async {
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            match ports.glance().await {
                Ok(seen) => {
                    if sender.send(News::Seen(Box::new(seen))).is_err() {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error),
            }
        }
    };
    let ended = tokio::select! {
        ended = work => ended,
        () = told_to_end() => Ok(()),
    };
    // Where nobody hears it, all has ended already.
    let _ = sender.send(News::End(ended));
}

/// Returns on SIGINT, SIGTERM and SIGHUP.
async fn told_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut hang_up)) =
        (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
}

/// One frame below the other.
fn print_frames(url: &str, news: &Receiver<News>, printer: &mut Printer) -> Outcome {
    let mut before: Option<Box<Seen>> = None;
    loop {
        match news.recv() {
            Ok(News::Seen(seen)) => {
                if before.is_some() {
                    printer.line("")?;
                }
                render::top(printer, Format::Table, &View::of(url, &seen, before.as_deref()))?;
                printer.flush()?;
                if printer.is_closed() {
                    return Ok(Exit::Done);
                }
                before = Some(seen);
            }
            Ok(News::End(ended)) => return ended.map(|()| Exit::Done),
            Err(_) => return Ok(Exit::Done),
        }
    }
}

/// The whole screen.
fn show_frames(url: &str, news: &Receiver<News>, printer: &Printer) -> Outcome {
    let mut screen = Screen::take(printer.look())?;
    let mut before: Option<Box<Seen>> = None;
    let mut view: Option<View> = None;
    screen.show(None)?;
    loop {
        match news.try_recv() {
            Ok(News::Seen(seen)) => {
                view = Some(View::of(url, &seen, before.as_deref()));
                before = Some(seen);
                screen.show(view.as_ref())?;
            }
            Ok(News::End(ended)) => return ended.map(|()| Exit::Done),
            Err(TryRecvError::Disconnected) => return Ok(Exit::Done),
            Err(TryRecvError::Empty) => {}
        }
        if screen.attend(KEY_WAIT, view.as_ref())? == Shown::Ended {
            return Ok(Exit::Done);
        }
    }
}
