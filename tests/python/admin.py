"""Decodes what the admin port of a running server tells, field by field, with nothing but the standard library: a field
that is not expected, or one that is missing, is an error.

usage: admin.py ADMIN_ADDRESS TOKEN
"""

import json
import sys
import urllib.error
import urllib.request

ADDRESS, TOKEN = sys.argv[1:3]
WAIT_S = 30

TEXT, WHOLE, RATE, SWITCH = str, int, (int, float), bool


def equal(got, expected):
    assert got == expected, f"got {got!r}, expected {expected!r}"


def call(method, path, body=None, token=TOKEN):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{ADDRESS}{path}", data=data, method=method)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def tell(method, path, body=None):
    status, page = call(method, path, body)
    equal(status, 200)
    return json.loads(page)


def decode(value, required, optional=None):
    """Fields and their kinds; what is optional is left out where it is zero, false or empty."""
    optional = optional or {}
    unknown = set(value) - set(required) - set(optional)
    assert not unknown, f"unknown fields {unknown} in {value}"
    missing = set(required) - set(value)
    assert not missing, f"missing fields {missing} in {value}"
    for name, kind in {**required, **optional}.items():
        if name in value:
            assert isinstance(value[name], kind), f"{name} is {value[name]!r}"
            assert name in required or value[name], f"{name} is there and {value[name]!r}"


def snapshot():
    view = tell("GET", "/snapshot")
    decode(view, {"replicas": list, "tenants": list, "totalPrefixes": WHOLE, "hotPrefixes": WHOLE})
    assert view["replicas"] and view["tenants"], "there is something to decode"
    for replica in view["replicas"]:
        decode(
            replica,
            {
                "replicaId": TEXT,
                "cacheMemoryBytes": WHOLE,
                "hitRate": RATE,
                "pressure": RATE,
                "lastUpdate": TEXT,
                "prefixCount": WHOLE,
                "lastEventAt": TEXT,
            },
            {"tenant": TEXT, "statsReported": SWITCH, "t2HitTokens": WHOLE, "t2QueryTokens": WHOLE},
        )
    for tenant in view["tenants"]:
        decode(
            tenant,
            {"tenantId": TEXT, "indexEntries": WHOLE, "hitRate": RATE, "memoryUsed": WHOLE},
            {"hitRateReported": SWITCH},
        )
        equal(tenant["memoryUsed"], 0)
    for items, key in [(view["replicas"], "replicaId"), (view["tenants"], "tenantId")]:
        ids = [item[key] for item in items]
        equal(ids, sorted(ids))


def policy():
    pushed = {
        "version": 7,
        "policies": [{"namespace": "team-a", "minimumPrefixTokens": 128}],
        "tenants": [{"tenantID": "team-a", "maxIndexEntries": 10, "isolationMode": "Fairness"}],
    }
    equal(call("POST", "/policy", pushed)[0], 204)
    equal(call("POST", "/policy", {**pushed, "more": 1})[0], 400)
    view = tell("GET", "/policy")
    decode(view, {"version": WHOLE, "namespaces": list, "default": dict, "inert": list}, {"pushed": dict, "lastReload": dict})
    decode(view["pushed"], {"version": WHOLE, "policies": WHOLE, "tenants": WHOLE})
    decode(view["default"], {"knobs": list})
    equal([own["namespace"] for own in view["namespaces"]], ["team-a"])
    for own in view["namespaces"]:
        decode(own, {"namespace": TEXT, "knobs": list})
    for knob in view["namespaces"][0]["knobs"] + view["default"]["knobs"]:
        decode(knob, {"name": TEXT, "value": object, "source": TEXT})
    values = {knob["name"]: knob["value"] for knob in view["namespaces"][0]["knobs"]}
    equal((values["minimumPrefixTokens"], values["quota.maxIndexEntries"]), (128, 10))


def probe():
    asked = {"backend": "b1", "model": "llama", "hashScheme": "vllm", "backendType": "vllm"}
    view = tell("POST", "/probe", asked)
    decode(view, {"backend": TEXT, "ingest": TEXT, "routing": TEXT, "t2": TEXT, "errors": list})
    equal(view, {"backend": "b1", "ingest": "ok", "routing": "ok", "t2": "skipped", "errors": []})
    view = tell("POST", "/probe", {**asked, "hashScheme": "v" * 513})
    equal((view["ingest"], view["routing"]), ("failed", "skipped"))
    for error in view["errors"]:
        decode(error, {"stage": TEXT, "message": TEXT})
    equal([error["stage"] for error in view["errors"]], ["ingest"])
    equal(call("POST", "/probe", {**asked, "more": 1})[0], 400)
    equal(call("GET", "/probe")[0], 405)


snapshot()
policy()
probe()
for path in ["/snapshot", "/policy", "/config", "/drain"]:
    equal(call("GET", path, token=None)[0], 401)
print("every answer decoded")
