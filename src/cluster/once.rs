//! A question that many ask and that is put to a server once.

use std::future::Future;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::error::{CallError, CallResult};

/// The answer, once there is one. Who waits while it is being asked for gets what comes of it, a
/// failure included: a server that is down holds up all its targets as long as one. Who comes
/// after a failure asks anew.
pub(super) struct Once<T> {
    state: Mutex<State<T>>,
}

struct State<T> {
    answer: Option<T>,
    failure: Option<(Instant, CallError)>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Once { state: Mutex::new(State { answer: None, failure: None }) }
    }
}

impl<T: Clone> Once<T> {
    /// The answer that is known, or that `ask` gets.
    pub(super) async fn get<F>(&self, ask: impl FnOnce() -> F) -> CallResult<T>
    where
        F: Future<Output = CallResult<T>>,
    {
        let came = Instant::now();
        let mut state = self.state.lock().await;
        if let Some(answer) = &state.answer {
            return Ok(answer.clone());
        }
        if let Some((failed, error)) = &state.failure
            && *failed >= came
        {
            return Err(error.clone());
        }
        match ask().await {
            Ok(answer) => {
                state.answer = Some(answer.clone());
                Ok(answer)
            }
            Err(error) => {
                state.failure = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Replaces the answer.
    pub(super) async fn put(&self, answer: T) {
        self.state.lock().await.answer = Some(answer);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures::future::join_all;

    use super::*;
    use crate::cluster::error::CallErrorKind;

    fn failure() -> CallError {
        CallError {
            call: "GET /version".to_owned(),
            kind: CallErrorKind::Cancelled,
            context: Box::default(),
        }
    }

    /// What each of five that come at once gets, how often was asked, and what comes later.
    async fn ask(results: &[CallResult<u32>]) -> (Vec<CallResult<u32>>, CallResult<u32>, usize) {
        let (once, asked) = (Once::default(), AtomicUsize::new(0));
        let question = || async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            results[asked.fetch_add(1, Ordering::Relaxed)].clone()
        };
        let together = join_all((0..5).map(|_| once.get(question))).await;
        tokio::time::advance(Duration::from_secs(1)).await;
        let later = once.get(question).await;
        (together, later, asked.into_inner())
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_for_all() {
        let (together, later, asked) = ask(&[Ok(1)]).await;
        assert_eq!((together, later, asked), (vec![Ok(1); 5], Ok(1), 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_for_those_who_waited_for_it() {
        let (together, later, asked) = ask(&[Err(failure()), Ok(2)]).await;
        assert_eq!((together, later, asked), (vec![Err(failure()); 5], Ok(2), 2));
    }
}
