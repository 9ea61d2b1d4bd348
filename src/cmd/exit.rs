//! The registry of exit statuses.

/// One exit status.
#[derive(Debug)]
pub struct ExitInfo {
    /// What the shell sees.
    pub status: u8,
    /// The same as text.
    pub text: &'static str,
    /// Short name.
    pub name: &'static str,
    /// When a command ends with it.
    pub meaning: &'static str,
}

macro_rules! exits {
    ($($variant:ident $status:literal $name:literal $meaning:literal;)*) => {
        /// How a command ended.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Exit {
            $(#[doc = $meaning] $variant,)*
        }

        impl Exit {
            /// Every exit status.
            pub const ALL: &'static [Exit] = &[$(Exit::$variant,)*];

            /// The registry entry.
            pub fn info(self) -> &'static ExitInfo {
                match self {
                    $(Exit::$variant => &ExitInfo {
                        status: $status,
                        text: stringify!($status),
                        name: $name,
                        meaning: $meaning,
                    },)*
                }
            }
        }
    };
}

exits! {
    Done 0 "done" "the command did what it was asked to; a reader that closes the pipe early is no error";
    Negative 1 "negative answer" "an expectation was not met, a check failed or had nothing to compare, a comparison found changes, or what was pushed was not accepted";
    Usage 2 "usage" "the command line or a file that it names cannot be used, or the output cannot be written; nothing was done, or only what was said";
    Server 3 "server" "the server cannot be reached, did not answer in time, or answered with an error; `icache serve` cannot start, as where its port is in use";
    Interrupted 130 "interrupted" "Ctrl-C";
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.info().status)
    }
}
