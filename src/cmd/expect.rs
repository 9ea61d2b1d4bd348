//! Expectations of a lookup's answer, so that scripts can check one with one command.

use clap::Args;

use super::error::UsageError;
use super::explain::nearest;
use super::names::Names;
use crate::decision::Reason;
use crate::model::Answer;

/// What the answer has to be.
#[derive(Debug, Args)]
#[command(next_help_heading = "Expectation")]
pub struct ExpectArgs {
    /// End with status 1 unless the answer has one of these reason codes
    #[arg(long, value_name = "CODE,...", value_delimiter = ',', value_parser = Names::REASONS, hide_possible_values = true)]
    expect: Vec<String>,
    /// End with status 1 unless the answer's first replica is this one
    #[arg(long, value_name = "ID")]
    expect_replica: Option<String>,
}

impl ExpectArgs {
    /// Refuses codes that do not exist, before anything is asked.
    pub fn check(&self) -> Result<(), UsageError> {
        if self.expect_replica.as_deref() == Some("") {
            return Err(UsageError::new(
                "`--expect-replica` is given without a replica",
                "name the replica that should come first; `--expect NO_HINT` expects an answer without one",
            ));
        }
        let Some(unknown) = self.expect.iter().find(|code| Reason::parse(code).is_none()) else {
            return Ok(());
        };
        let codes: Vec<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        let advice = match nearest(unknown, codes.iter().copied()).first() {
            Some(near) => format!("did you mean `{near}`? `icache explain` lists all codes"),
            None => format!("codes are {}", codes.join(", ")),
        };
        Err(UsageError::new(format!("`--expect {unknown}` names no reason code"), advice))
    }

    /// What is not as expected, as sentences; empty where all is.
    pub fn unmet(&self, answer: &Answer) -> Vec<String> {
        let mut unmet = Vec::new();
        if !self.expect.is_empty() && !self.expect.contains(&answer.reason_code) {
            unmet.push(format!("expected {}, got {}", self.expect.join(" or "), answer.reason_code));
        }
        if let Some(expected) = &self.expect_replica {
            let first = answer.replicas.first().map(|replica| replica.replica.as_str());
            if first != Some(expected.as_str()) {
                let got = first.map_or("no replica".to_owned(), |first| format!("`{first}`"));
                unmet.push(format!("expected replica `{expected}` first, got {got}"));
            }
        }
        unmet
    }
}
