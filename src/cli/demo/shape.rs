//! What happens in a turn.

use rand::{Rng, rngs::StdRng};

use super::{content, texts};
use crate::chat::model::{Outcome, Role};

/// The kinds of turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A question that nobody answered.
    Asked,
    /// A question and its answer.
    Answered,
    /// An answer that the person stopped.
    Stopped,
    /// A question that took a tool.
    Looked,
    /// An agent on its own: a thought, a tool and what came of it.
    Worked,
}

impl Shape {
    /// Draws one that has at most `left` messages.
    pub(super) fn draw(rng: &mut StdRng, autonomous: bool, left: u64) -> Self {
        let drawn = match rng.random_range(0..100) {
            _ if autonomous => Self::Worked,
            0..4 => Self::Stopped,
            4..35 => Self::Looked,
            35..37 => Self::Asked,
            _ => Self::Answered,
        };
        match left {
            1 => Self::Asked,
            2 if drawn.messages() > 2 => Self::Answered,
            3 if drawn.messages() > 3 => Self::Answered,
            _ => drawn,
        }
    }

    const fn messages(self) -> u64 {
        match self {
            Self::Asked => 1,
            Self::Answered | Self::Stopped => 2,
            Self::Worked => 3,
            Self::Looked => 4,
        }
    }

    pub(super) const fn outcome(self) -> Outcome {
        match self {
            Self::Stopped => Outcome::Stopped,
            _ => Outcome::Completed,
        }
    }

    /// Writes the messages: who says it, and the content's JSON.
    pub(super) fn write(self, rng: &mut StdRng, agent: &str) -> Vec<(Role, String)> {
        let question = |rng: &mut StdRng| (Role::User, content::question(rng, agent));
        match self {
            Self::Asked => vec![question(rng)],
            Self::Answered => vec![question(rng), (Role::Assistant, content::answer(rng, agent))],
            Self::Stopped => vec![question(rng), (Role::Assistant, content::cut_off(rng, agent))],
            Self::Looked => {
                let question = question(rng);
                let tool = texts::tool(rng, agent);
                let (call, result) = content::tool(rng, tool);
                vec![
                    question,
                    (Role::Assistant, call),
                    (Role::Tool, result),
                    (Role::Assistant, content::answer(rng, agent)),
                ]
            }
            Self::Worked => {
                let tool = texts::tool(rng, agent);
                let (call, result) = content::tool(rng, tool);
                vec![
                    (Role::Assistant, call),
                    (Role::Tool, result),
                    (Role::Assistant, content::answer(rng, agent)),
                ]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::chat::{content::Content, json::Json};

    #[test]
    fn every_content_is_one_that_an_agent_could_have_written() {
        let mut rng = StdRng::seed_from_u64(7);
        let shapes = [
            Shape::Asked,
            Shape::Answered,
            Shape::Stopped,
            Shape::Looked,
            Shape::Worked,
        ];
        for turn in 0..3_000 {
            let shape = shapes[turn % shapes.len()];
            let said = shape.write(&mut rng, ["support", "sales", "research"][turn % 3]);
            assert_eq!(said.len() as u64, shape.messages());
            for (_, text) in said {
                let json = Json::parse(text.as_bytes()).unwrap();
                assert_eq!(Content::new(&json, "content", 1 << 18).unwrap().as_str(), text);
            }
        }
    }

    #[test]
    fn a_turn_is_never_longer_than_what_is_left() {
        let mut rng = StdRng::seed_from_u64(7);
        for left in 1..6 {
            for _ in 0..200 {
                for autonomous in [true, false] {
                    assert!(Shape::draw(&mut rng, autonomous, left).messages() <= left);
                }
            }
        }
    }
}
