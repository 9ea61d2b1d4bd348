//! How our own figures grow, and whether memory comes back.

pub fn growth() {}

pub fn churn() {}
