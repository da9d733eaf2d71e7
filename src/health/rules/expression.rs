//! An expression in CEL over the fields of an object, bounded: whatever a file holds, reading it
//! and evaluating it ends, and soon.
//!
//! The crate's parser recurses, deeply for each level of nesting, and its evaluation has no cost
//! limit. So the text is limited before it is parsed, both run on a thread with room, and an
//! evaluation that takes too long is left behind, once.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use cel::common::ast::{Expr, LiteralValue, operators};
use cel::objects::{Key, Map};
use cel::{Context, Env, ExecutionError, IdedExpr, Program};
use serde_json::Value;

use crate::suggest;

/// The longest expression (bytes).
const LONGEST: usize = 2000;

/// How many parentheses, brackets and braces may be open at once.
const DEEPEST: usize = 24;

/// The stack of the threads (bytes), of which only what is used is ever memory.
const STACK: usize = 256 << 20;

/// How long an evaluation may take. It takes less than a millisecond.
const PATIENCE: Duration = Duration::from_secs(1);

/// The top-level fields of nearly all kinds.
const FIELDS: [&str; 6] = ["apiVersion", "kind", "metadata", "spec", "status", "data"];

/// The functions that an expression may call, beside operators and macros.
const FUNCTIONS: [&str; 30] = [
    "bool",
    "bytes",
    "charAt",
    "contains",
    "double",
    "dyn",
    "endsWith",
    "format",
    "indexOf",
    "int",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "matches",
    "max",
    "min",
    "replace",
    "reverse",
    "size",
    "split",
    "startsWith",
    "string",
    "substring",
    "trim",
    "type",
    "uint",
    "upperAscii",
    "quote",
    // Macros, for "did you mean".
    "exists",
    "filter",
];

/// Those of them that never give a boolean.
const NO_BOOLEAN: [&str; 22] = [
    "bytes",
    "charAt",
    "double",
    "format",
    "indexOf",
    "int",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "max",
    "min",
    "replace",
    "reverse",
    "size",
    "split",
    "string",
    "substring",
    "trim",
    "type",
    "uint",
    "upperAscii",
    "quote",
];

/// A boolean expression. Compares by its text.
#[derive(Clone)]
pub struct Expression {
    text: String,
    program: Arc<Program>,
    /// Whether it took too long once: it is not tried again.
    slow: Arc<AtomicBool>,
}

/// What an expression says of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    True,
    False,
    /// A field is not there.
    Missing(String),
    /// It gives something else than true or false: of which type.
    NoBoolean(String),
    /// It cannot be evaluated.
    Wrong(String),
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// It is too large, no CEL, or calls what does not exist: a few words, and what may have been
    /// meant.
    pub fn read(text: &str) -> Result<Self, (String, Option<String>)> {
        let plain = |message: String| (message, None);
        if text.trim().is_empty() {
            return Err(plain("it is empty".to_owned()));
        }
        if text.len() > LONGEST {
            return Err(plain(format!("it is longer than {LONGEST} bytes")));
        }
        if depth(text) > DEEPEST {
            return Err(plain(format!("more than {DEEPEST} brackets are open at once")));
        }
        let owned = text.to_owned();
        let parse = move || {
            let program = environment().compile(&owned).map_err(|e| told(&e))?;
            let other = never_boolean(&program.expression().expr);
            Ok((program, other))
        };
        let (program, other) = with_room(parse, None).map_err(plain)?.map_err(plain)?;
        check_names(&program, text)?;
        if let Some(what) = other {
            return Err(plain(format!("it gives {what}, not true or false")));
        }
        let (program, slow) = (Arc::new(program), Arc::default());
        let expression = Expression { text: text.to_owned(), program, slow };
        // What goes wrong without any data always does.
        match expression.holds(&Value::Object(serde_json::Map::new())) {
            Outcome::True | Outcome::False | Outcome::Missing(_) => Ok(expression),
            Outcome::NoBoolean(what) => Err(plain(format!("it gives {what}, not true or false"))),
            Outcome::Wrong(what) => Err(plain(what)),
        }
    }

    /// Evaluates it with the object's top-level fields as variables, as Flux does.
    pub(super) fn holds(&self, object: &Value) -> Outcome {
        let slow = || Outcome::Wrong(format!("it takes longer than {}s", PATIENCE.as_secs()));
        if self.slow.load(Ordering::Relaxed) {
            return slow();
        }
        let program = self.program.clone();
        let fields: Vec<(String, cel::Value)> = object
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), convert(value, name == "metadata")))
            .collect();
        let evaluated = with_room(
            move || {
                let mut context = Context::with_env(environment());
                for (name, value) in fields {
                    context.add_variable_from_value(name, value);
                }
                outcome(program.execute(&context))
            },
            Some(PATIENCE),
        );
        evaluated.unwrap_or_else(|_| {
            self.slow.store(true, Ordering::Relaxed);
            slow()
        })
    }
}

/// What an expression gives if that is no boolean, whatever the data are; none: it may be one.
fn never_boolean(expr: &Expr) -> Option<String> {
    let said = |what: &str| Some(what.to_owned());
    let any = |parts: &[IdedExpr]| parts.iter().find_map(|part| never_boolean(&part.expr));
    match expr {
        Expr::Literal(LiteralValue::Boolean(_)) => None,
        Expr::Literal(LiteralValue::String(_)) => said("a text"),
        Expr::Literal(LiteralValue::Null) => said("null"),
        Expr::Literal(LiteralValue::Bytes(_)) => said("bytes"),
        Expr::Literal(LiteralValue::Int(_) | LiteralValue::UInt(_) | LiteralValue::Double(_)) => {
            said("a number")
        }
        Expr::List(_) => said("a list"),
        Expr::Map(_) | Expr::Struct(_) => said("a map"),
        // `filter` and `map` gather items.
        Expr::Comprehension(loops) => match &loops.accu_init.expr {
            Expr::List(_) => said("a list"),
            _ => None,
        },
        Expr::Call(call) => match call.func_name.as_str() {
            operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT => {
                any(&call.args)
            }
            operators::CONDITIONAL => any(call.args.get(1..).unwrap_or_default()),
            operators::ADD => said("a sum"),
            operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO
            | operators::NEGATE => said("a number"),
            name if NO_BOOLEAN.contains(&name) => Some(format!("what `{name}` gives")),
            _ => None,
        },
        Expr::Unspecified | Expr::Ident(_) | Expr::Select(_) => None,
        #[allow(unreachable_patterns)]
        _ => None,
    }
}

fn environment() -> Arc<Env> {
    let mut env = Env::stdlib();
    // Fails only for names that are there already.
    let _ = env.add_extension(cel::extensions::strings);
    Arc::new(env)
}

/// Runs on a thread with room for deep recursion. None of it is waited for longer than `patience`.
fn with_room<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    patience: Option<Duration>,
) -> Result<T, String> {
    let (sender, receiver) = mpsc::channel();
    let spawned =
        std::thread::Builder::new().name("cel".into()).stack_size(STACK).spawn(move || {
            let _ = sender.send(work());
        });
    spawned.map_err(|e| format!("no thread to evaluate it on: {e}"))?;
    match patience {
        Some(patience) => receiver.recv_timeout(patience).map_err(|e| e.to_string()),
        None => receiver.recv().map_err(|e| e.to_string()),
    }
}

/// How many brackets are open at once, those in texts included: no expression needs so many.
fn depth(text: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.saturating_sub(1),
            // A conditional nests to its right.
            '?' => open += 1,
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// The first of the parser's errors in a few words: its list of all that could follow is long.
fn told(errors: &cel::ParseErrors) -> String {
    let Some(error) = errors.errors.iter().min_by_key(|e| e.pos) else {
        return "it is no expression".to_owned();
    };
    let message = error.msg.strip_prefix("Syntax error: ").unwrap_or(&error.msg);
    let message = message.split(" expecting ").next().unwrap_or(message);
    let message = in_words(message);
    if message.contains("<EOF>") {
        return "it ends too early".to_owned();
    }
    let place = match error.pos {
        (1, column) => format!("column {column}"),
        (line, column) => format!("line {line} column {column}"),
    };
    format!("{place}: {message}")
}

/// What the parser says of a place, in words that need no knowledge of parsers.
fn in_words(message: &str) -> String {
    let quoted = |text: &str| format!("`{}`", text.trim().trim_matches('\'').trim());
    let after = |start: &str| message.strip_prefix(start).map(quoted);
    if let Some(what) = after("token recognition error at: ") {
        // Of `=`, too, where `==` was meant.
        let equals = what.starts_with("`=") && !what.starts_with("`==");
        return match equals {
            true => "`=` compares nothing: that is `==`".to_owned(),
            false => format!("{what} is no part of an expression"),
        };
    }
    if let Some(what) = after("extraneous input ").or_else(|| after("mismatched input ")) {
        return format!("{what} cannot stand here");
    }
    if let Some(what) = after("no viable alternative at input ") {
        return format!("{what} cannot be understood");
    }
    match message.strip_prefix("missing ").and_then(|rest| rest.split_once(" at ")) {
        Some((what, at)) => format!("{} is missing before {}", quoted(what), quoted(at)),
        None => message.to_owned(),
    }
}

/// Names that are not there would only be found when an object is looked at, which is too late.
fn check_names(program: &Program, text: &str) -> Result<(), (String, Option<String>)> {
    let references = program.references();
    let functions: BTreeSet<&str> = references.functions().into_iter().collect();
    let is_operator = |name: &str| !name.chars().next().is_some_and(char::is_alphabetic);
    for name in functions.into_iter().filter(|name| !is_operator(name)) {
        if !FUNCTIONS.contains(&name) {
            let hint = suggest::hint(name, FUNCTIONS);
            return Err((format!("there is no function `{name}`"), hint));
        }
    }
    // A kind may have any top-level field; one that is nearly a usual one is a typing error.
    let packed: String = text.split_whitespace().collect();
    let variables: BTreeSet<&str> = references.variables().into_iter().collect();
    for name in variables.into_iter().filter(|name| name.chars().count() > 3) {
        let is_bound = packed.contains(&format!("({name},"));
        if FIELDS.contains(&name) || is_bound || is_operator(name) {
            continue;
        }
        if let Some(hint) = suggest::hint(name, FIELDS) {
            return Err((format!("objects have no field `{name}`"), Some(hint)));
        }
    }
    Ok(())
}

/// A value of an object. Integers are CEL's `int`, as in the API server. Who manages a field is no
/// part of health, and is the larger part of many objects.
fn convert(value: &Value, is_metadata: bool) -> cel::Value {
    match value {
        Value::Null => cel::Value::Null,
        Value::Bool(value) => cel::Value::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => cel::Value::Int(int),
            (None, Some(large)) => cel::Value::UInt(large),
            (None, None) => cel::Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => cel::Value::String(Arc::new(text.clone())),
        Value::Array(items) => {
            let items = items.iter().map(|item| convert(item, false)).collect();
            cel::Value::List(Arc::new(items))
        }
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !is_metadata || *name != "managedFields");
            let fields =
                kept.map(|(name, v)| (Key::String(Arc::new(name.clone())), convert(v, false)));
            cel::Value::Map(Map { map: Arc::new(fields.collect()) })
        }
    }
}

fn outcome(result: Result<cel::Value, ExecutionError>) -> Outcome {
    match result {
        Ok(cel::Value::Bool(true)) => Outcome::True,
        Ok(cel::Value::Bool(false)) => Outcome::False,
        // It may be there later.
        Ok(cel::Value::Null) => Outcome::Wrong("it gives null, not true or false".to_owned()),
        Ok(other) => Outcome::NoBoolean(other.type_of().to_string()),
        Err(ExecutionError::NoSuchKey(name) | ExecutionError::UndeclaredReference(name)) => {
            Outcome::Missing(name.to_string())
        }
        Err(ExecutionError::IndexOutOfBounds(_)) => Outcome::Missing("item of a list".to_owned()),
        // The texts of the crate show values; of an object, which may be anything.
        Err(ExecutionError::NoSuchOverload(error)) => Outcome::Wrong(error.to_string()),
        Err(ExecutionError::UnsupportedBinaryOperator(operator, _, _)) => {
            Outcome::Wrong(format!("`{operator}` of values of these types"))
        }
        Err(ExecutionError::ValuesNotComparable(_, _)) => {
            Outcome::Wrong("a comparison of values of different types".to_owned())
        }
        Err(ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_)) => {
            Outcome::Wrong("a division by zero".to_owned())
        }
        Err(ExecutionError::FunctionError { function, message }) => {
            Outcome::Wrong(format!("`{function}`: {message}"))
        }
        Err(ExecutionError::UnexpectedType { got, want }) => {
            Outcome::Wrong(format!("{got} in place of {want}"))
        }
        Err(_) => Outcome::Wrong("a value is not of the type that it takes".to_owned()),
    }
}
