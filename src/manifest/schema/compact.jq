# Kubernetes' own OpenAPI document (api/openapi-spec/swagger.json) → the little of it that
# `mcd validate` needs:
#   jq -c -S -f compact.jq swagger.json > kubernetes.json
# A type is written as s string, b boolean, i integer, n number, q quantity, x integer or string,
# * anything, []T list, [k,l]T list with keys, {}T map, @Name object.

def name: sub("^#/definitions/"; "")
  | sub("^io\\.k8s\\.(api|apimachinery\\.pkg\\.apis|apiextensions-apiserver\\.pkg\\.apis|kube-aggregator\\.pkg\\.apis)\\."; "");

def type:
  if has("$ref") then ."$ref"
    | if endswith(".Quantity") then "q"
      elif endswith(".IntOrString") then "x"
      elif test("\\.(Time|MicroTime)$") then "s"
      elif test("\\.(RawExtension|JSON|FieldsV1|JSONSchemaPropsOr[A-Za-z]+)$") then "*"
      else "@" + name end
  elif .type == "array" then
    "[" + ((."x-kubernetes-list-map-keys" // []) | join(",")) + "]" + (.items | type)
  elif .type == "object" and has("additionalProperties") then "{}" + (.additionalProperties | type)
  elif .type == "string" then "s"
  elif .type == "boolean" then "b"
  elif .type == "integer" then "i"
  elif .type == "number" then "n"
  else "*" end;

# Names that a type leads to.
def leads: .fields | map(capture("@(?<n>.*)$").n) | unique;

(.definitions | with_entries(
  (.value."x-kubernetes-group-version-kind" != null) as $kind
  | .key |= name
  | .value |= {
      fields: ((.properties // {}) | with_entries(.value |= type)
        | if $kind and has("status") then .status = "*" else . end),
      required: (.required // [])
    })) as $all
| (.definitions | to_entries
  | map(select(.value.properties.metadata."$ref" // "" | endswith(".ObjectMeta")))
  | map(.key as $key | .value."x-kubernetes-group-version-kind"[]?
      | {key: ((if .group == "" then "" else .group + "/" end) + .version + "/" + .kind), value: ($key | name)})
  | from_entries) as $kinds
| { version: .info.version,
    kinds: $kinds,
    types: (
      {todo: [$kinds[]], done: {}}
      | until(.todo | length == 0;
          .todo[0] as $n
          | .todo |= .[1:]
          | if .done[$n] then . else
              .done[$n] = $all[$n] | .todo += ($all[$n] | leads) end)
      | .done)
  }
