//! An API server's judgement by a CustomResourceDefinition.

use std::sync::Arc;

use cel::{Context, Env, ExecutionError};
use icache::model::parse_duration;
use icache::policy::crd::Definition;
use jsonschema::Validator;
use serde_json::{Value, json};

/// Judges objects as an API server does that has the definition.
pub(crate) struct Cluster {
    schema: Value,
    validator: Validator,
}

pub(crate) fn schema_of(definition: &Definition) -> &Value {
    &definition.object["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

impl Cluster {
    pub(crate) fn new(definition: &Definition) -> Self {
        let schema = schema_of(definition).clone();
        let mut strict = schema.clone();
        make_strict(&mut strict);
        Self { schema, validator: jsonschema::draft202012::new(&strict).unwrap() }
    }

    pub(crate) fn accepts(&self, object: &Value) -> bool {
        let object = self.defaulted(object);
        self.validator.is_valid(&object) && rules_hold(&self.schema, &object)
    }

    pub(crate) fn defaulted(&self, object: &Value) -> Value {
        let mut object = object.clone();
        fill_in(&self.schema, &mut object);
        object
    }
}

/// What the API server does by format and by strict validation, as keywords.
fn make_strict(schema: &mut Value) {
    if schema["format"] == "int64" {
        schema["maximum"] = json!(i64::MAX);
    }
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    properties.values_mut().for_each(make_strict);
    schema["additionalProperties"] = json!(false);
}

fn fill_in(schema: &Value, value: &mut Value) {
    let (Some(properties), Some(object)) = (schema["properties"].as_object(), value.as_object_mut()) else {
        return;
    };
    for (name, of) in properties {
        if let Some(default) = of.get("default")
            && object.get(name).is_none_or(Value::is_null)
        {
            object.insert(name.clone(), default.clone());
        }
        if let Some(value) = object.get_mut(name) {
            fill_in(of, value);
        }
    }
}

fn rules_hold(schema: &Value, value: &Value) -> bool {
    let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    // A rule that cannot be evaluated refuses the object.
    let hold =
        rules.map(|rule| rule["rule"].as_str().unwrap()).all(|rule| evaluate(rule, value).unwrap_or(false));
    let below = schema["properties"].as_object().into_iter().flatten();
    hold && below
        .filter_map(|(name, of)| Some((of, value.get(name)?)))
        .all(|(of, value)| rules_hold(of, value))
}

fn evaluate(rule: &str, value: &Value) -> Result<bool, ExecutionError> {
    let env = Arc::new(Env::stdlib());
    let program = env.compile(rule).expect("the rule is CEL");
    let mut context = Context::with_env(env);
    context.add_variable("self", value).expect("JSON is a CEL value");
    // The crate's own reads neither `+1h` nor `1µs`, which Go does, and so the API server.
    context
        .add_function("duration", |text: Arc<String>| {
            parse_duration(&text)
                .map_err(|error| ExecutionError::function_error("duration", error.to_string()))
        })
        .expect("a function");
    match program.execute(&context)? {
        cel::Value::Bool(holds) => Ok(holds),
        other => panic!("`{rule}` is {other:?}"),
    }
}
