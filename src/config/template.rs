//! Templates in strings (design §2): minijinja, strict, over `target`, `labels`, `values`, `vars`
//! and `app`. A string that is exactly one `{{ expr }}` keeps the type of the value.

use std::collections::{BTreeSet, HashSet};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, ValueKind};
use minijinja::{
    AutoEscape, Environment, ErrorKind, Output, State, UndefinedBehavior, escape_formatter,
};
use serde_json::{Map, Value};

use super::forms::is_template;
use super::node::{Kind, Node};
use super::selector::list;
use crate::error::Error;
use crate::suggest;

/// Steps of a template's evaluation, to end what would never end.
const FUEL: u64 = 1_000_000;

/// What to do about braces that are not ours.
const RAW: &str =
    "braces that are meant for another tool go between `{% raw %}` and `{% endraw %}`";

/// What templates of one target see.
pub(crate) struct Templates {
    context: Map<String, Value>,
    /// Declared variables that have no value here.
    unset: BTreeSet<String>,
}

impl Templates {
    pub(crate) fn new(context: Map<String, Value>, unset: BTreeSet<String>) -> Self {
        Templates { context, unset }
    }

    /// Lets templates see more of the target.
    pub(crate) fn set_target(&mut self, key: &str, value: &str) {
        if let Some(Value::Object(target)) = self.context.get_mut("target") {
            target.insert(key.to_owned(), Value::from(value));
        }
    }

    /// Resolves every string value below `node`, never keys.
    pub(crate) fn resolve(&self, node: &mut Node, errors: &mut Vec<Error>) {
        match &mut node.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number(_) => {}
            Kind::List(items) => items.iter_mut().for_each(|item| self.resolve(item, errors)),
            Kind::Map(map) => {
                map.values_mut().for_each(|entry| self.resolve(&mut entry.value, errors));
            }
            Kind::String(text) if !is_template(text) => {}
            Kind::String(text) => match self.evaluate(text) {
                Ok(value) => {
                    let text = std::mem::take(text);
                    let mut result = Node::at(value, &node.mark);
                    result.set_template(&text);
                    *node = result;
                }
                Err(fault) => {
                    let mut error = node.mark.error(fault.message);
                    for hint in fault.hints {
                        error = error.hint(hint);
                    }
                    errors.push(error);
                }
            },
        }
    }

    fn evaluate(&self, text: &str) -> Result<Value, Fault> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
            environment.set_syntax(syntax);
        }
        environment.set_fuel(Some(FUEL));
        environment.set_formatter(text_only);
        if let Some(inner) = whole(text)
            && let Ok(expression) = environment.compile_expression(inner)
        {
            let names = || expression.undeclared_variables(true);
            return match expression.eval(self.values()) {
                Ok(value) if value.is_undefined() => Err(self.undefined(text, &names())),
                Ok(value) => serde_json::to_value(&value).map_err(|e| Fault::new(e.to_string())),
                Err(error) => Err(self.fault(text, &error, &names())),
            };
        }
        let template = environment
            .template_from_str(text)
            .map_err(|error| self.fault(text, &error, &HashSet::new()))?;
        match template.render(self.values()) {
            Ok(text) => Ok(Value::String(text)),
            Err(error) => Err(self.fault(text, &error, &template.undeclared_variables(true))),
        }
    }

    fn values(&self) -> minijinja::Value {
        minijinja::Value::from(Serde(&self.context))
    }

    fn fault(&self, text: &str, error: &minijinja::Error, names: &HashSet<String>) -> Fault {
        if error.kind() == ErrorKind::UndefinedError {
            return self.undefined(text, names);
        }
        let line = match error.line() {
            Some(line) if text.contains('\n') => format!(" (line {line} of it)"),
            _ => String::new(),
        };
        let kind = error.kind();
        let why = match (kind, error.detail()) {
            (
                ErrorKind::UnknownFilter | ErrorKind::UnknownFunction | ErrorKind::UnknownTest,
                Some(detail),
            ) => detail.to_owned(),
            (_, Some(detail)) => format!("{kind}: {detail}"),
            (_, None) => kind.to_string(),
        };
        let fault = Fault::new(format!("the template{line} cannot be resolved: {why}"));
        match kind {
            ErrorKind::SyntaxError => fault.with(vec![RAW.to_owned()]),
            _ => fault,
        }
    }

    /// Says which of the names that the template uses is not there, the first in the text first.
    fn undefined(&self, text: &str, names: &HashSet<String>) -> Fault {
        let mut names: Vec<&String> = names.iter().collect();
        names.sort_by_key(|name| (text.find(name.as_str()), name.as_str()));
        names
            .into_iter()
            .find_map(|name| self.missing(name))
            .unwrap_or_else(|| Fault::new(format!("the template `{text}` uses an undefined value")))
    }

    fn missing(&self, name: &str) -> Option<Fault> {
        let (mut level, mut above) = (&self.context, String::new());
        for part in name.split('.') {
            let full = if above.is_empty() { part.to_owned() } else { format!("{above}.{part}") };
            match level.get(part) {
                Some(Value::Object(next)) => level = next,
                Some(_) if full == name => return None,
                Some(_) => {
                    let fault = Fault::new(format!("`{name}` is not defined"));
                    return Some(fault.with(vec![format!("`{full}` is no map")]));
                }
                None => {
                    let fault = Fault::new(format!("`{full}` is not defined"));
                    return Some(fault.with(self.hints(&above, part, level)));
                }
            }
            above = full;
        }
        None
    }

    fn hints(&self, above: &str, part: &str, level: &Map<String, Value>) -> Vec<String> {
        if above == "vars" && self.unset.contains(part) {
            return vec![format!("give it a value: `--var {part}=…`, or a `default`")];
        }
        let keys = || level.keys().map(String::as_str);
        let prefix = if above.is_empty() { String::new() } else { format!("{above}.") };
        let near = suggest::nearest(part, keys()).map(|near| format!("{prefix}{near}"));
        if let Some(near) = near {
            return vec![format!("did you mean `{near}`?")];
        }
        if above.is_empty() {
            return vec![format!("templates read {}", list(keys())), RAW.to_owned()];
        }
        let mut hints = vec![match level.is_empty() {
            true => format!("`{above}` is empty"),
            false => format!("`{above}` has {}", list(keys())),
        }];
        if matches!(above, "labels" | "values" | "vars") {
            hints.push(format!(
                "where it may be absent, write `{{{{ {prefix}{part} | default(…) }}}}`"
            ));
        }
        hints
    }
}

struct Fault {
    message: String,
    hints: Vec<String>,
}

impl Fault {
    fn new(message: String) -> Self {
        Fault { message, hints: Vec::new() }
    }
    fn with(mut self, hints: Vec<String>) -> Self {
        self.hints = hints;
        self
    }
}

/// Writes a value into text. What has no text of its own is an error: `overlays/{{ target }}` would
/// name a folder that nobody has.
fn text_only(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &minijinja::Value,
) -> Result<(), minijinja::Error> {
    let what = match value.kind() {
        ValueKind::Map => "a map",
        ValueKind::Seq | ValueKind::Iterable => "a list",
        ValueKind::None => "null",
        _ => return escape_formatter(out, state, value),
    };
    let keys: Vec<String> = match value.kind() {
        ValueKind::Map => value.try_iter()?.map(|key| format!("`.{key}`")).take(8).collect(),
        _ => Vec::new(),
    };
    let of = if keys.is_empty() { String::new() } else { format!(" (it has {})", keys.join(", ")) };
    let detail = format!("{what} cannot be part of a text{of}");
    Err(minijinja::Error::new(ErrorKind::InvalidOperation, detail))
}

/// The inside of a string that starts with `{{` and ends with `}}`. It may still be more than one
/// expression (`{{ a }}-{{ b }}`): then it does not compile as one.
fn whole(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("{{")?.strip_suffix("}}")?;
    let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner);
    Some(inner.strip_suffix(['-', '+']).unwrap_or(inner))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::node::test_mark;

    fn templates() -> Templates {
        let context = json!({
            "target": {"name": "us-east", "context": "prod-us-east"},
            "labels": {"env": "prod", "region": "us", "topology.io/zone": "a"},
            "values": {"replicas": 5, "on": true, "list": [1, 2], "map": {"a": {"b": 1.5}},
                       "text": "{{ not again }}", "nothing": null},
            "vars": {"tag": "1.4.2"},
            "app": {"name": "web"},
        });
        let Value::Object(context) = context else { panic!("a map") };
        Templates::new(context, BTreeSet::from(["channel".to_owned()]))
    }

    fn resolved(text: &str) -> Result<Value, String> {
        let mut node = Node::at(json!(text), &test_mark());
        let mut errors = Vec::new();
        templates().resolve(&mut node, &mut errors);
        match errors.first() {
            None => Ok(node.to_value()),
            Some(error) => Err(format!("{}; {}", error.message(), error.hints()[..].join("; "))),
        }
    }

    #[test]
    fn one_expression_keeps_its_type_and_text_is_text() {
        let cases = [
            ("plain { text }", json!("plain { text }")),
            ("{{ values.replicas }}", json!(5)),
            ("{{values.on}}", json!(true)),
            ("{{- values.list -}}", json!([1, 2])),
            ("{{ values.map }}", json!({"a": {"b": 1.5}})),
            ("{{ values.map.a.b }}", json!(1.5)),
            ("{{ values.nothing }}", json!(null)),
            ("{{ values.text }}", json!("{{ not again }}")),
            ("{{ values.replicas * 2 }}", json!(10)),
            ("{{ \"}}\" }}", json!("}}")),
            (" {{ values.replicas }}", json!(" 5")),
            ("{{ values.replicas }}\n", json!("5\n")),
            ("{{ vars.tag }}-{{ labels.env }}", json!("1.4.2-prod")),
            ("v{{ vars.tag }}", json!("v1.4.2")),
            ("{{ labels['topology.io/zone'] }}", json!("a")),
            ("{{ labels.zone | default('none') }}", json!("none")),
            ("x{{ labels.zone | default('none') }}", json!("xnone")),
            ("{% raw %}{{ .Values.x }}{% endraw %}", json!("{{ .Values.x }}")),
            ("{% if labels.env == 'prod' %}a{% else %}b{% endif %}", json!("a")),
            ("{{ target.name }}/{{ app.name }} <&>", json!("us-east/web <&>")),
            ("{# nothing #}", json!("")),
        ];
        for (text, expected) in cases {
            assert_eq!(resolved(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_undefined_name_is_told_with_what_was_meant() {
        let texts = [
            "{{ labels.regoin }}",
            "a-{{ labels.env }}-{{ labels.regoin }}",
            "{{ lables.env }}",
            "{{ values.map.a.c }}",
            "{{ vars.channel }}",
            "{{ nonsense }}",
            "{% if labels.zzz %}x{% endif %}",
            "{{ values.nothing.deep }}",
            "{{ labels.zone.more | default('x') }}",
            "{{ labels.env | uper }}",
            "{{ labels.env",
            "{% for i in values.list %}",
            "{{ .Values.image }}",
            "overlays/{{ target }}",
            "a-{{ values.list }}",
            "a-{{ values.nothing }}",
        ];
        let told: Vec<String> = texts
            .iter()
            .map(|text| format!("{text}\n  {}", resolved(text).expect_err("undefined")))
            .collect();
        insta::assert_snapshot!("undefined_names", told.join("\n"));
    }

    #[test]
    fn what_never_ends_is_ended() {
        let text = "{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}";
        assert!(resolved(text).is_err());
    }

    #[test]
    fn keys_are_never_templates() {
        let mut node = Node::at(json!({"{{ a }}": ["{{ app.name }}"]}), &test_mark());
        let mut errors = Vec::new();
        templates().resolve(&mut node, &mut errors);
        assert_eq!(node.to_value(), json!({"{{ a }}": ["web"]}));
        assert_eq!(errors, []);
    }
}
