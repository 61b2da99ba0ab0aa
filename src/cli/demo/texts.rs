//! What people and agents say in the sample.

use std::ops::RangeInclusive;

use rand::{Rng, rngs::StdRng, seq::IndexedRandom};

/// A tool of an agent: `{n}` stands for a number.
pub(super) struct Tool {
    pub name: &'static str,
    pub input: &'static str,
    pub output: &'static str,
}

/// What one agent's conversations are made of. `{n}` stands for a number, `{p}` for a product.
struct Voice {
    questions: &'static [&'static str],
    answers: &'static [&'static str],
    tools: &'static [Tool],
}

/// Who the autonomous thread is with.
pub(super) const AUTONOMOUS: &str = "nightly-run";

pub(super) const NAMES: &[&str] = &[
    "anna.keller",
    "ben.okafor",
    "chiara.rossi",
    "dmitri.volkov",
    "elif.yilmaz",
    "farid.haddad",
    "grace.lee",
    "hugo.martin",
    "ines.costa",
    "jonas.berg",
    "keiko.tanaka",
    "liam.murphy",
    "maria.santos",
    "noor.ali",
    "olga.novak",
    "pedro.alvarez",
    "quinn.baker",
    "ravi.patel",
    "sofia.lindqvist",
    "tomasz.nowak",
];

/// What is hard to keep: other scripts, directions, joined emoji, combining marks, markup, a NUL.
pub(super) const ODD: &[&str] = &[
    "注文した商品がまだ届きません。いつ届きますか？ 🙏",
    "مرحبا، أين طلبي؟ رقم الطلب 48213",
    "Does it ship to the 🏝️? My family 👨‍👩‍👧‍👦 is waiting… e\u{301}a\u{308}o\u{302} \u{202e}txet desrever\u{202c}",
    "<script>alert('hello')</script> & \"quotes\" \\ backslash / slash",
    "tab\there, line\nbreak, a NUL \u{0} and a bell \u{7}",
    "'; DROP TABLE message; -- just kidding, but is my name O'Brien kept right? 100 %_ sure?",
];

pub(super) const THOUGHTS: &[&str] = &[
    "The person wants to know where the order is. I need its number before I can look it up.",
    "Two sources disagree. The newer one has the figures for the whole year, so I go by that.",
    "This is about money: I should not promise anything that the policy does not say.",
    "I have everything I need; a short answer with the next step is enough.",
    "Let me check the stock first, so that I do not offer what cannot be delivered.",
];

const SUPPORT: Voice = Voice {
    questions: &[
        "Hi, where is my order #{n}? It was supposed to be here on Monday.",
        "The {p} I got has a crack in the lid. Can you send me another one?",
        "I was charged twice for order #{n}.",
        "How do I reset the {p} to its factory settings?",
        "Can I still change the delivery address of #{n}? I moved last week.",
        "The app says \"unknown device\" when I try to pair the {p}.",
        "How long does a refund take? I sent the {p} back ten days ago.",
        "ok, thanks. And can I return it without the original box?",
    ],
    answers: &[
        "I am sorry about the trouble. I looked up order #{n} and can see what happened.",
        "The parcel left our warehouse two days ago and is with the carrier now; it should be with you tomorrow.",
        "You will get an e-mail with the label; please put it on the box and leave it at any pick-up point.",
        "The second charge is only a reservation. Your bank releases it within three working days.",
        "Hold the button at the back for ten seconds until the light blinks twice, then let go.",
        "I have changed the address. The new one is used as long as the parcel has not been handed over.",
        "You can return the {p} within 30 days, also without its box, as long as everything else is there.",
        "Is there anything else that I can do for you?",
    ],
    tools: &[
        Tool {
            name: "get_order",
            input: r#"{"orderId":"{n}","include":["shipments","payments"]}"#,
            output: r#"{"orderId":"{n}","status":"in_transit","total":129.90,"currency":"EUR","shipments":[{"carrier":"DHL","trackingNumber":34012345678901234567,"eta":"tomorrow"}],"payments":[{"amount":129.90,"state":"captured"},{"amount":129.90,"state":"reserved"}]}"#,
        },
        Tool {
            name: "create_return_label",
            input: r#"{"orderId":"{n}","reason":"damaged"}"#,
            output: r#"{"labelUrl":"https://returns.example.com/labels/{n}.pdf","validDays":14}"#,
        },
        Tool {
            name: "search_help",
            input: r#"{"query":"factory reset","limit":3}"#,
            output: r#"[{"title":"Reset your device","score":0.93},{"title":"Pair again after a reset","score":0.81},{"title":"What a reset deletes","score":0.40}]"#,
        },
    ],
};

const SALES: Voice = Voice {
    questions: &[
        "What is the difference between the {p} and the model before it?",
        "Do you have a discount for schools? We would need about {n} licences.",
        "Can I pay by invoice?",
        "We are a team of 40. Which plan would you recommend?",
        "Is the {p} in stock, and when could it be in Lisbon?",
        "Could you send me an offer for 12 pieces of the {p}?",
    ],
    answers: &[
        "The newer {p} is lighter, runs twice as long on one charge and has a replaceable battery.",
        "For a team of your size the Business plan costs least, because it has no limit on projects.",
        "Schools and non-profits get 30 % off; all we need is a confirmation of your status.",
        "Yes, invoices are fine from the second order on; the term is 30 days.",
        "There are 86 pieces in stock, and a delivery to Portugal takes three to four working days.",
        "I have put an offer together and sent it to the address in your account. It is good for two weeks.",
        "Shall I set up a call with one of my colleagues, so that you can see it at work?",
    ],
    tools: &[
        Tool {
            name: "check_stock",
            input: r#"{"sku":"TL-{n}","warehouse":"north"}"#,
            output: r#"{"sku":"TL-{n}","available":86,"reserved":4,"restock":null}"#,
        },
        Tool {
            name: "create_quote",
            input: r#"{"items":[{"sku":"TL-{n}","quantity":12}],"discount":0.10}"#,
            output: r#"{"quoteId":"Q-{n}","net":1.0188E3,"tax":193.572,"gross":1212.372,"validDays":14}"#,
        },
    ],
};

const RESEARCH: Voice = Voice {
    questions: &[
        "Summarise what changed in the market for heat pumps this quarter.",
        "Which of our competitors have published prices for the {p}?",
        "Find three studies on how long such batteries last, and compare them.",
        "Write a first draft of the report, two pages at most.",
    ],
    answers: &[
        "I have read {n} documents so far. Three of them contradict the figures in the last report.",
        "The strongest source is the yearly survey: its sample is large, and its method is published.",
        "Prices have fallen by about 8 % since spring, most of it in the lower segment.",
        "Next I look at the patents, because two of the makers announced a new cell chemistry.",
        "I could not open one of the sources; it is listed at the end with the error I got.",
        "The draft is done. It has an overview, a table of makers and prices, and a list of open questions.",
        "What is still uncertain is marked, so that nobody takes an estimate for a fact.",
    ],
    tools: &[
        Tool {
            name: "web_search",
            input: r#"{"query":"battery cycle life study","page":1}"#,
            output: r#"{"results":[{"title":"Cycle life of LFP cells","url":"https://journal.example.org/a/{n}","year":2025},{"title":"Field data from 4,000 homes","url":"https://data.example.org/{n}","year":2026}],"total":{n}}"#,
        },
        Tool {
            name: "read_document",
            input: r#"{"url":"https://journal.example.org/a/{n}","pages":[1,2,3]}"#,
            output: r#"{"title":"Cycle life of LFP cells","abstract":"We cycled 96 cells at three temperatures until 80 % of their capacity was left. The median cell took 4,150 cycles at 25 °C, and 2,380 at 45 °C. The spread between cells of one batch was smaller than that between makers.","tokens":{n}}"#,
        },
        Tool {
            name: "run_python",
            input: r#"{"code":"import statistics\nprint(statistics.median(cycles))"}"#,
            output: r#"{"stdout":"4150\n","exitCode":0,"cpuSeconds":0.042,"seed":12345678901234567890}"#,
        },
    ],
};

const PRODUCTS: &[&str] = &[
    "kettle",
    "desk lamp",
    "thermostat",
    "headset",
    "e-bike battery",
    "smart lock",
];

pub(super) fn pick<'a>(rng: &mut StdRng, from: &[&'a str]) -> &'a str {
    from.choose(rng).copied().unwrap_or_default()
}

pub(super) fn question(rng: &mut StdRng, agent: &str) -> String {
    let text = pick(rng, voice(agent).questions);
    fill(rng, text)
}

/// A few sentences, and now and then a list after them.
pub(super) fn answer(rng: &mut StdRng, agent: &str) -> String {
    let mut answer = sentences(rng, agent, 1..=6).join(" ");
    if rng.random_ratio(1, 5) {
        let items = sentences(rng, agent, 3..=7);
        answer = format!("{answer}\n\n- {}", items.join("\n- "));
    }
    fill(rng, &answer)
}

fn sentences(rng: &mut StdRng, agent: &str, count: RangeInclusive<usize>) -> Vec<&'static str> {
    let count = rng.random_range(count);
    voice(agent)
        .answers
        .choose_multiple(rng, count)
        .copied()
        .collect()
}

pub(super) fn summary(rng: &mut StdRng, agent: &str) -> String {
    format!("What was said so far, in short: {}", answer(rng, agent))
}

pub(super) fn tool(rng: &mut StdRng, agent: &str) -> &'static Tool {
    let tools = voice(agent).tools;
    &tools[rng.random_range(0..tools.len())]
}

/// What a tokenizer would count, roughly.
pub(super) fn tokens(content: &str) -> i32 {
    i32::try_from(content.len() / 4).unwrap_or(i32::MAX)
}

fn voice(agent: &str) -> &'static Voice {
    match agent {
        "sales" => &SALES,
        "research" => &RESEARCH,
        _ => &SUPPORT,
    }
}

fn fill(rng: &mut StdRng, text: &str) -> String {
    let number: u32 = rng.random_range(10_000..100_000);
    text.replace("{n}", &number.to_string())
        .replace("{p}", pick(rng, PRODUCTS))
}
