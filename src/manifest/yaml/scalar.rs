//! What a scalar means: the rules of go-yaml v2, which is what kubectl and helm read with.

use base64::Engine as _;
use serde_json::{Number, Value};

/// What a plain scalar was recognised as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Str,
    Bool,
    Int,
    Float,
    Null,
    /// The merge key `<<`.
    Merge,
}

/// The value of a plain, untagged scalar. The error says what is wrong, without the value.
pub(super) fn plain(text: &str) -> Result<(Kind, Value), &'static str> {
    Ok(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            (Kind::Bool, true.into())
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            (Kind::Bool, false.into())
        }
        "" | "~" | "null" | "Null" | "NULL" => (Kind::Null, Value::Null),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF"
        | "-.inf" | "-.Inf" | "-.INF" => {
            return Err("a number that is infinite or not a number has no form in JSON");
        }
        "<<" => (Kind::Merge, "<<".into()),
        _ => match number(text) {
            Some((kind, value)) => (kind, value),
            None => (Kind::Str, text.into()),
        },
    })
}

/// The value of a scalar with a tag of YAML's own, such as `int` for `!!int`.
pub(super) fn tagged(tag: &str, text: &str) -> Result<(Kind, Value), String> {
    match tag {
        "str" | "timestamp" => return Ok((Kind::Str, text.into())),
        "binary" => return binary(text).map(|s| (Kind::Str, s.into())),
        _ => {}
    }
    let (kind, value) = plain(text)?;
    match (tag, kind) {
        ("int", Kind::Int)
        | ("bool", Kind::Bool)
        | ("null", Kind::Null)
        | ("merge", Kind::Merge)
        | ("float", Kind::Float | Kind::Int) => Ok((kind, value)),
        _ => Err(format!("the value is not what its tag `!!{tag}` says")),
    }
}

fn binary(text: &str) -> Result<String, String> {
    let packed: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(packed)
        .map_err(|_| "a `!!binary` value is not base64")?;
    String::from_utf8(bytes).map_err(|_| "a `!!binary` value is not UTF-8 text".into())
}

fn number(text: &str) -> Option<(Kind, Value)> {
    let first = *text.as_bytes().first()?;
    if first == b'.' {
        return float(text).map(|v| (Kind::Float, v));
    }
    if !(first.is_ascii_digit() || first == b'+' || first == b'-') {
        return None;
    }
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    int(&digits).map(|n| (Kind::Int, n.into())).or_else(|| float(&digits).map(|v| (Kind::Float, v)))
}

/// Go's `ParseInt(s, 0, 64)`, then `ParseUint`: decimal, `0x`, `0o`, `0b` and octal by a leading
/// zero. The first takes a sign, the second none.
fn int(text: &str) -> Option<Number> {
    let (sign, body) = match text.as_bytes().first()? {
        b'-' => (Some(-1), text.get(1..)?),
        b'+' => (Some(1), text.get(1..)?),
        _ => (None, text),
    };
    let body = body.to_ascii_lowercase();
    let (radix, digits) = if let Some(hex) = body.strip_prefix("0x") {
        (16, hex)
    } else if let Some(octal) = body.strip_prefix("0o") {
        (8, octal)
    } else if let Some(binary) = body.strip_prefix("0b") {
        (2, binary)
    } else if body.len() > 1 && body.starts_with('0') {
        (8, body.get(1..)?)
    } else {
        (10, body.as_str())
    };
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    match sign {
        Some(sign) => i64::try_from(sign * magnitude).ok().map(Number::from),
        None => u64::try_from(magnitude).ok().map(Number::from),
    }
}

/// A float of YAML 1.1, as a JSON number. An integral one becomes an integer, as it does on the
/// way through Go's JSON: a typed field of the API refuses `1000.0`.
fn float(text: &str) -> Option<Value> {
    if !is_float(text) {
        return None;
    }
    let f: f64 = text.parse().ok()?;
    if !f.is_finite() {
        return None;
    }
    if f.fract() == 0.0 && f.abs() < 1e19 {
        // Go prints the shortest digits that read back as the same float, padded with zeros, and
        // so does Rust; the float's exact value can differ from that beyond 2^53.
        let printed = f.to_string();
        if let Ok(i) = printed.parse::<i64>() {
            return Some(i.into());
        }
        if let Ok(u) = printed.parse::<u64>() {
            return Some(u.into());
        }
    }
    Number::from_f64(f).map(Value::Number)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    fn digits(s: &str) -> bool {
        !s.is_empty() && s.bytes().all(|c| c.is_ascii_digit())
    }
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    let mantissa_is_good = match mantissa.split_once('.') {
        None => digits(mantissa),
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
    };
    mantissa_is_good && exponent.is_none_or(|e| digits(e.strip_prefix(['-', '+']).unwrap_or(e)))
}
