# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_icache_global_optspecs
    string join \n color= h/help V/version
end

function __fish_icache_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_icache_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_icache_using_subcommand
    set -l cmd (__fish_icache_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c icache -n "__fish_icache_needs_command" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_needs_command" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_needs_command" -f -a "serve" -d 'Hold the index and answer lookups'
complete -c icache -n "__fish_icache_needs_command" -f -a "subscribe" -d 'Tell a server what an engine\'s cache holds, from the events that the engine publishes'
complete -c icache -n "__fish_icache_needs_command" -f -a "lookup" -d 'Ask which replicas hold a prompt\'s prefix, and why'
complete -c icache -n "__fish_icache_needs_command" -f -a "explain" -d 'Explain a reason code, a gate, a knob, a check, a lint rule, a metric or an exit status; without a name, list them all'
complete -c icache -n "__fish_icache_needs_command" -f -a "capture" -d 'Record what a server applies and answers, or what an engine publishes, into a capture for `icache replay`'
complete -c icache -n "__fish_icache_needs_command" -f -a "replay" -d 'Replay captures in process or to a server: what was answered, why, and whether it is what was recorded'
complete -c icache -n "__fish_icache_needs_command" -f -a "simulate" -d 'Simulate a fleet on a request trace, and compare routings and policies side by side'
complete -c icache -n "__fish_icache_needs_command" -f -a "bench" -d 'Load a server with lookups, and measure how it answers'
complete -c icache -n "__fish_icache_needs_command" -f -a "policy" -d 'Check, show, compare and try out policies'
complete -c icache -n "__fish_icache_needs_command" -f -a "doctor" -d 'Say whether an installation works, and what to do where it does not'
complete -c icache -n "__fish_icache_needs_command" -f -a "top" -d 'Watch a running server: lookups by reason code, latency, replicas, policies'
complete -c icache -n "__fish_icache_needs_command" -f -a "drain" -d 'Stop hints to a replica that is about to go'
complete -c icache -n "__fish_icache_needs_command" -f -a "state" -d 'Show the replicas\' statistics and the size of the index'
complete -c icache -n "__fish_icache_needs_command" -f -a "report" -d 'Report what a replica holds, and its statistics'
complete -c icache -n "__fish_icache_needs_command" -f -a "event" -d 'Publish a cache event: an eviction, a clearing, a sign of life'
complete -c icache -n "__fish_icache_needs_command" -f -a "completions" -d 'Print the completion script of a shell'
complete -c icache -n "__fish_icache_needs_command" -f -a "man" -d 'Print the manual page, or write the pages of all commands'
complete -c icache -n "__fish_icache_needs_command" -f -a "generate" -d 'Write completions/, man/ and docs/ from the definitions in the source'
complete -c icache -n "__fish_icache_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c icache -n "__fish_icache_using_subcommand serve" -l config -d 'TOML file of settings; its keys are the flags below without their dashes' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -s o -l output -d 'Form of --print-config; table is TOML' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand serve" -l grpc-addr -d 'Address of the gRPC services; port 0 takes a free one' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l http-addr -d 'Address of /healthz, /readyz and /metrics, always in plaintext; port 0 takes a free one' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l admin-addr -d 'Address of /policy, /snapshot, /probe, /drain, /unknown and /config, for operators and controllers; port 0 takes a free one' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l ready-file -d 'Write the bound addresses as JSON to this file once ready' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -l preload -d 'Start with what this capture holds, as if its last record were of now; for trying things out' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -l drain-timeout -d 'Time that calls in flight have to finish when the server stops' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l tls-cert -d 'PEM file of the certificate, with those between it and its authority; gRPC and the admin port then speak TLS. Read again when it changes' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -l tls-key -d 'PEM file of the certificate\'s private key' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -l tls-client-ca -d 'PEM file of authorities; clients of gRPC and of the admin port must present a certificate of one of them' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -l admin-token-file -d 'File of tokens for the admin port, one a line; read again when it changes' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -l auth-file -d 'TOML file of the callers that gRPC admits: tokens or certificates, roles and tenants; read again when it changes' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -l insecure-plaintext -d 'Let --grpc-addr be reachable from other machines without TLS' -r -f -a "true\t''
false\t''"
complete -c icache -n "__fish_icache_using_subcommand serve" -l insecure-disable-auth -d 'Let --admin-addr be reachable from other machines without a token' -r -f -a "true\t''
false\t''"
complete -c icache -n "__fish_icache_using_subcommand serve" -l policy -d 'File or folder of CachePolicies and CacheTenants (.yaml, .yml, .json); watched, and reloaded whole; repeatable' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -l namespace -d 'Namespace of objects that name none' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l state-dir -d 'Folder that the index is saved in when the server stops and every --state-interval, and loaded from when it starts; without it nothing is saved' -r -F
complete -c icache -n "__fish_icache_using_subcommand serve" -l state-interval -d 'Time between two savings while the index changes: what is lost at most where the server is killed' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-entries -d 'Replica entries of the index; over it the oldest or least used go' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-memory -d 'Memory of the index; over it the oldest or least used go; without it there is no bound' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l sweep-interval -d 'Time between two sweeps of what has reached its time to live' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l default-ttl -d 'How long an entry lives after its last report, where the policy does not say' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l block-size -d 'Tokens in a block, where the server builds the chain from token ids' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l replica-timeout -d 'A replica not heard of for longer gets no hints; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l pressure-weight -d 'How much a replica\'s pressure lowers its score; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l slo-tight-ttft-ms -d 'Requests with a lower TTFT target favour fresh holders, in milliseconds; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l slo-tight-bias -d 'How much they do; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l tenant-hot-max-age -d 'Oldest statistics that make a replica warm; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l tenant-hot-min-hit-rate -d 'Lowest hit rate of a warm replica' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l ranker -d 'What replicas are ranked by: who holds the prefix, or how long the request would wait' -r -f -a "reference\t''
balanced\t''"
complete -c icache -n "__fish_icache_using_subcommand serve" -l in-flight-ttl -d 'How long a hinted prompt counts as held before its replica reports it, beyond the expected prefill; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l prefill-rate -d 'Tokens that a replica prefills in a second, until its reports tell' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l load-hint-code -d 'Code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other' -r -f -a "load-hint\t''
affinity\t''"
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-in-flight -d 'Lookups in flight above which further ones are shed; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-message-size -d 'Size of one message; a larger one is answered RESOURCE_EXHAUSTED' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-blocks -d 'Blocks in one request or update; a request over it is answered NO_HINT, and of an update the entries beyond are dropped' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-hash-bytes -d 'Bytes of one hash; a request over it is answered NO_HINT, a prefix entry or event is dropped' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-id-bytes -d 'Bytes of a replica, tenant, model, hash scheme or adapter id; a request over it is answered NO_HINT, an update or event is dropped' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-replicas -d 'Replicas of one tenant and model; what further ones report is dropped' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-replica-records -d 'Replicas of all tenants and models, those without entries included; what further ones report is dropped' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-streams -d 'Concurrent streams of one connection' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l max-connections -d 'Connections of one port at a time; a further one is closed at once' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l metrics-max-series -d 'Model and tenant names that label metrics; further ones are labelled `other`' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l otlp-endpoint -d 'Collector that spans of calls are sent to by OTLP over gRPC, as an http:// URL; without it none are made. OTEL_EXPORTER_OTLP_ENDPOINT counts where nothing else says one' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l trace-share -d 'Share of the calls that are traced, 0 to 1; a call that brings a `traceparent` is traced where that says so' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l log-format -d 'Form of the log [default: text on a terminal, else json]' -r -f -a "json\t'One JSON object a line'
text\t'For people'"
complete -c icache -n "__fish_icache_using_subcommand serve" -l log-level -d 'Least severe level that is logged: off, error, warn, info, debug or trace' -r
complete -c icache -n "__fish_icache_using_subcommand serve" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand serve" -l print-config -d 'Print the effective configuration with the source of each value, as a file for `--config`, and serve nothing'
complete -c icache -n "__fish_icache_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand serve" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l engine -d 'Where the engine publishes, as tcp://HOST:PORT; rank N at the port N higher' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l metrics-url -d 'The engine\'s metrics page, scraped every 10 s for hit rate and pressure, such as http://127.0.0.1:8000/metrics' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l hash-scheme -d 'Hash scheme under which gateways look the fingerprints up' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l replay -d 'Where the engine answers replays, rank N at the port N higher; `none` where it does not [default: port 5558 of the engine\'s host; with several ranks none]' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l topic -d 'Take only topics that begin with this' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l dp-ranks -d 'Data-parallel ranks of the engine, each with a publisher of its own [default: one publisher without ranks]' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l replay-timeout -d 'How long a replay may be silent before it is given up' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l adapter-names -d 'Names of adapters that the engine gives by number only; blocks of others are left out' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l extra-keys -d 'What to do with blocks whose content is not in their tokens alone (images, cache salts)' -r -f -a "refuse\t'Leave them out, with what follows them'
ignore\t'Index them by their tokens all the same'"
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l max-held-blocks -d 'Blocks followed of each replica at most, at 151 bytes each or less; further ones are left out [default: 4194304]' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l refresh -d 'Time in which everything held is told again, spread evenly, so that it does not age out of the index' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l http-addr -d 'Address of /healthz, /readyz and /metrics; port 0 takes a free one' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l ready-file -d 'Write the bound address as JSON to this file once it is served' -r -F
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l server -d 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l timeout -d 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l log-format -d 'Form of the log [default: text on a terminal, else json]' -r -f -a "json\t'One JSON object a line'
text\t'For people'"
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l log-level -d 'Least severe level that is logged: off, error, warn, info, debug or trace' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l replica -d 'Replica id under which the engine is reported; with ranks, `-dp<rank>` is put behind it' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l tenant -d 'Tenant that the engine serves' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l model -d 'Model that the engine serves, as gateways call it' -r
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l l2-retains -d 'Take blocks that leave the GPU to be kept in an offload pool (T2) that says nothing itself'
complete -c icache -n "__fish_icache_using_subcommand subscribe" -l keep-on-exit -d 'At the end, leave with the server what it knows of the engine, and do not have it dropped'
complete -c icache -n "__fish_icache_using_subcommand subscribe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand subscribe" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand lookup" -l tenant -d 'Tenant that the prefix belongs to (tenant_id)' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l model -d 'Model that computed the prefix (model_id)' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l hash-scheme -d 'Scheme of the hashes: function, block size and seed (hash_scheme)' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l adapter -d 'Adapter (LoRA) partition; without it the base model (adapter_id)' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l block -d 'Hash of one block in hex or base64; repeat in order, from the start of the prompt' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l blocks -d 'Hashes of the blocks in hex or base64, in order, between commas' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l block-tokens -d 'Tokens in each block' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l block-token-counts -d 'Tokens of each block, between commas, where blocks differ' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l prefix-hash -d 'One hash for the whole prefix, in hex or base64' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l prefix-tokens -d 'Tokens that --prefix-hash stands for' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l token-ids -d 'The prompt as token ids, between commas' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l tokens -d 'File with the prompt\'s token ids, as a JSON array or as numbers; `-` is standard input' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l prompt-text -d 'The prompt as text of one user message; needs a tokenizer on the server' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l ttft-ms -d 'Target of the time to first token, in milliseconds' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l request -d 'File with a LookupRouteRequest in proto3 JSON, instead of the flags above; `-` is standard input' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l server -d 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l timeout -d 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand lookup" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand lookup" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand lookup" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand lookup" -l capture -d 'Replay this capture in process and look up at its last instant, without a server; `-` is standard input' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l policy -d 'Policies to look up under, in place of the captured ones: a YAML or JSON file, or a folder of them' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l ranker -d 'What replicas are ranked by: who holds the prefix, or how long the request would wait' -r -f -a "reference\t''
balanced\t''"
complete -c icache -n "__fish_icache_using_subcommand lookup" -l in-flight-ttl -d 'How long a hinted prompt counts as held before its replica reports it, beyond the expected prefill; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l prefill-rate -d 'Tokens that a replica prefills in a second, until its reports tell' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -l load-hint-code -d 'Code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other' -r -f -a "load-hint\t''
affinity\t''"
complete -c icache -n "__fish_icache_using_subcommand lookup" -l expect -d 'End with status 1 unless the answer has one of these reason codes' -r -f -a "PREFIX_MATCH\t''
TENANT_HOT\t''
AFFINITY_HINT\t''
LOAD_HINT\t''
NO_HINT\t''
TIMEOUT\t''
POLICY_REQUIRES_CHAIN\t''
UNKNOWN_TENANT\t''
UNKNOWN_MODEL\t''
UNKNOWN_HASH_SCHEME\t''"
complete -c icache -n "__fish_icache_using_subcommand lookup" -l expect-replica -d 'End with status 1 unless the answer\'s first replica is this one' -r
complete -c icache -n "__fish_icache_using_subcommand lookup" -s o -l output -d 'Form of the answer' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand lookup" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand lookup" -l demo -d 'The same with the built-in capture of four engines; without a request, its last recorded one'
complete -c icache -n "__fish_icache_using_subcommand lookup" -l explain -d 'Show how the answer came about: every gate, every factor of every score'
complete -c icache -n "__fish_icache_using_subcommand lookup" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand lookup" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand explain" -s o -l output -d 'Form of the page' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand explain" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand explain" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand capture" -l server -d 'Server to record; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l lookups -d 'Share of lookups to record, 0 to 1; without all of them the credits of LFU are not those of the server' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l zmq -d 'Engine to record in place of a server: where it publishes, as tcp://HOST:PORT; rank N at the port N higher' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l replica -d 'Replica id under which the engine is reported; with ranks, `-dp<rank>` is put behind it' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l tenant -d 'Tenant that the engine serves' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l model -d 'Model that the engine serves, as gateways call it' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l hash-scheme -d 'Hash scheme under which gateways look the fingerprints up' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l replay -d 'Where the engine answers replays, rank N at the port N higher; `none` where it does not [default: port 5558 of the engine\'s host; with several ranks none]' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l topic -d 'Take only topics that begin with this' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l dp-ranks -d 'Data-parallel ranks of the engine, each with a publisher of its own [default: one publisher without ranks]' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l replay-timeout -d 'How long a replay may be silent before it is given up' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l adapter-names -d 'Names of adapters that the engine gives by number only; blocks of others are left out' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l extra-keys -d 'What to do with blocks whose content is not in their tokens alone (images, cache salts)' -r -f -a "refuse\t'Leave them out, with what follows them'
ignore\t'Index them by their tokens all the same'"
complete -c icache -n "__fish_icache_using_subcommand capture" -l max-held-blocks -d 'Blocks followed of each replica at most, at 151 bytes each or less; further ones are left out [default: 4194304]' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l out -d 'File to write; one that is there already is not written over' -r -F
complete -c icache -n "__fish_icache_using_subcommand capture" -l compress -d 'How files are compressed; without it as the name says: `.zst`, `.gz`, or not at all' -r -f -a "none\t'Plain JSON Lines'
gzip\t'gzip'
zstd\t'zstd'"
complete -c icache -n "__fish_icache_using_subcommand capture" -l max-size -d 'Begin a further file once one has this size on disk: `fleet.00002.jsonl.zst` after `fleet.jsonl.zst`' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l duration -d 'Stop after recording for this time' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -s o -l output -d 'Form of the result' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand capture" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand capture" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand capture" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand capture" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand capture" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand capture" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand capture" -l raw -d 'Keep the engine\'s bytes: they hold the token ids of prompts; replay maps them with its own defaults'
complete -c icache -n "__fish_icache_using_subcommand capture" -l l2-retains -d 'Take blocks that leave the GPU to be kept in an offload pool (T2) that says nothing itself'
complete -c icache -n "__fish_icache_using_subcommand capture" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand capture" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand replay" -l mismatches -d 'Mismatches shown in full' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l policy -d 'Policies that hold in place of the captured ones: a YAML or JSON file, or a folder of them' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l ranker -d 'What replicas are ranked by: who holds the prefix, or how long the request would wait' -r -f -a "reference\t''
balanced\t''"
complete -c icache -n "__fish_icache_using_subcommand replay" -l in-flight-ttl -d 'How long a hinted prompt counts as held before its replica reports it, beyond the expected prefill; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l prefill-rate -d 'Tokens that a replica prefills in a second, until its reports tell' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l load-hint-code -d 'Code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other' -r -f -a "load-hint\t''
affinity\t''"
complete -c icache -n "__fish_icache_using_subcommand replay" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand replay" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand replay" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand replay" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand replay" -l speed -d 'How much faster than recorded: `1x`, `10x`, or `max` for as fast as the server answers [default: 1x]' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l replica -d 'Replica of a bare batch' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l model -d 'Model of a bare batch' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l tenant -d 'Tenant of a bare batch' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l hash-scheme -d 'Hash scheme of a bare batch [default: vllm]' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l html -d 'Also write a page with plots over time, in one file that needs no network' -r -F
complete -c icache -n "__fish_icache_using_subcommand replay" -s o -l output -d 'Form of the result; jsonl is the JSON document in one line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand replay" -l server -d 'Send it all to this server in place of replaying in process' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l timeout -d 'Deadline of a call, such as `250ms` [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand replay" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand replay" -l separate -d 'Replay each file into an empty index of its own, and add up what came of them'
complete -c icache -n "__fish_icache_using_subcommand replay" -l check -d 'Compare each lookup with its recorded answer or expectation; any difference ends with exit status 1'
complete -c icache -n "__fish_icache_using_subcommand replay" -l skip-bad -d 'Pass over and count lines that cannot be used'
complete -c icache -n "__fish_icache_using_subcommand replay" -l timings -d 'Also say how long lookups took on this machine; a server\'s answers are timed in any case'
complete -c icache -n "__fish_icache_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand replay" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand simulate" -l trace -d 'Requests, one JSON object a line: timestamp (ms), input_length, output_length (tokens) and hash_ids (one for each block of 512 tokens); plain, gzip or zstd; `-` is standard input' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l workload -d 'Synthetic requests, made from the seed' -r -f -a "shared-heads\t'400 long heads, some far more popular than others, with short tails'
diffuse\t'Single turns that share one block'
burst\t'Half single turns, half bursts of 40 times the same prompt'
hot-prefix\t'Half of all requests have one prefix'"
complete -c icache -n "__fish_icache_using_subcommand simulate" -l requests -d 'Synthetic requests to make [default: 6000]' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l utilisation -d 'Stretch the clock of the requests until engines prefill so many percent of their time under round-robin' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l replicas -d 'Engines' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l blocks-per-replica -d 'Blocks of 512 tokens in the cache of each engine' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l prefill-rate -d 'Tokens that each engine prefills in a second; of a list, engines take one each in turn' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l gateways -d 'Gateways that share the requests in turn; each knows only what it has sent itself' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l servers -d 'Servers, each asked by its share of the gateways; there are as many gateways at least' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l kill -d 'An engine and its sidecar die without a word, so long after the first request: `r3@600s`, counted from r0' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l restart -d 'An engine, dead or not, begins anew with an empty cache' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l replica-timeout -d 'A replica not heard of for longer gets no hints; 0 switches it off' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l publish -d 'When engines say what a prompt brought into their cache' -r -f -a "start\t'When its prefill begins'
end\t'When its prefill ends'"
complete -c icache -n "__fish_icache_using_subcommand simulate" -l event-delay -d 'How late everything that engines say comes to the index' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l refresh -d 'How often a sidecar reports everything that its engine holds; 0 for never' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l route -d 'Routings to compare' -r -f -a "reference\t'The first replica of LookupRoute\'s answer, by who holds the prefix; round-robin where there is none'
balanced\t'The first replica of LookupRoute\'s answer, by the expected wait'
round-robin\t'One engine after the other'
random\t'Any engine'
least-loaded\t'The engine with the fewest prompt tokens that are not prefilled yet'"
complete -c icache -n "__fish_icache_using_subcommand simulate" -l ranker -d 'Compare this ranker with the routings that ask nobody, in place of both rankers' -r -f -a "reference\t''
balanced\t''"
complete -c icache -n "__fish_icache_using_subcommand simulate" -l policy -d 'Policies to route under, beside the defaults: a YAML or JSON file, or a folder of them' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l tenant -d 'Whose requests they are, and the namespace of policies that name none' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l warmup -d 'Requests to begin with that go round-robin, whatever the routing' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l seed -d 'Of synthetic requests and of the random routing' -r
complete -c icache -n "__fish_icache_using_subcommand simulate" -l html -d 'Also write a page with plots over time, one file that needs no network' -r -F
complete -c icache -n "__fish_icache_using_subcommand simulate" -s o -l output -d 'Form of the result; jsonl is the JSON document in one line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand simulate" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand simulate" -l skip-bad -d 'Pass over and count lines that cannot be used'
complete -c icache -n "__fish_icache_using_subcommand simulate" -l split-reports -d 'Each engine reports to one of the servers, in place of all'
complete -c icache -n "__fish_icache_using_subcommand simulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand simulate" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand bench" -l in-flight -d 'Lookups in flight, all connections together: the next is asked when one is answered [default: 16]' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l rate -d 'Lookups a second, whether earlier ones are answered or not; up to 1000000, with up to 1024 in flight' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l connections -d 'Connections to the server' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l duration -d 'How long to measure, 20m at most [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l requests -d 'Lookups to measure, in place of a duration' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l warm-up -d 'How long to ask before anything counts, 20m at most; 0s is not at all' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l against -d 'Also ask this server, in slices that take turns, and say how the two compare' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l blocks -d 'Blocks of a chain, of 16 tokens each' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l shared-head -d 'Part of each chain that is one of four heads, which every replica holds; from 0 to 1' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l chains -d 'Distinct chains that are loaded, each held by 1, 2 or 4 replicas; times --blocks 4194304 at most' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l replicas -d 'Replicas that hold them' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l mix -d 'Weights of what is asked: chains held in full, that diverge behind the head, of which the head is held, and of which nothing is; a kind that the chains are too short for becomes the next one' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l seed -d 'The same seed makes the same load' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l tenant -d 'Tenant that the state is loaded under; what its replicas `bench-0`, `bench-1` and so on hold is removed' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l model -d 'Model that the state is loaded under' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l server -d 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l timeout -d 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand bench" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand bench" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand bench" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand bench" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand bench" -l html -d 'Also write the result as a page to this file' -r -F
complete -c icache -n "__fish_icache_using_subcommand bench" -s o -l output -d 'Form of the result; jsonl is the JSON document in one line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand bench" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand bench" -l fast -d 'Ask through the stream of the FastLookup service'
complete -c icache -n "__fish_icache_using_subcommand bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand bench" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -f -a "lint" -d 'Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -f -a "rules" -d 'Explain a rule of `icache policy lint`; without a name, list them all'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -f -a "show" -d 'Show the effective policy of each namespace: every knob with its value and where it comes from'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -f -a "diff" -d 'Compare two sets of policies in effect, not in text'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -f -a "simulate" -d 'Replay captures under several policies, and compare the answers side by side'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -f -a "crd" -d 'Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -f -a "schema" -d 'Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors'
complete -c icache -n "__fish_icache_using_subcommand policy; and not __fish_seen_subcommand_from lint rules show diff simulate crd schema help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -l format -d 'Form of the findings' -r -f -a "text\t'With the lines that they speak of, for people'
json\t'One JSON document'
sarif\t'SARIF 2.1.0, for code scanning'
github\t'Workflow commands of GitHub Actions'
junit\t'JUnit XML, a test case for each rule and file'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -l deny -d 'End with status 1 on these findings too' -r -f -a "warnings\t'Warnings'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -l allow -d 'Leave out what this rule finds (repeatable; also separated by commas)' -r -f -a "syntax\t''
duplicate-key\t''
unknown-field\t''
wrong-type\t''
wrong-case-or-enum\t''
out-of-range\t''
bad-duration\t''
non-positive-ttl\t''
bad-floor-score\t''
require-chain-without-matching\t''
duplicate-policy-in-namespace\t''
duplicate-tenant\t''
reserved-tenant\t''
missing-required\t''
bad-api-version\t''
bad-name\t''
crypto-not-empty\t''
zero-timeout-is-no-timeout\t''
both-floors-off\t''
matched-floor-above-prefix-gate\t''
matched-floor-not-block-aligned\t''
floor-below-one-block\t''
ttl-below-sweep\t''
ttl-very-long\t''
lfu-with-short-ttl\t''
chain-off-affinity-on\t''
tenant-hot-dead\t''
floor-hides-single-replica\t''
quota-zero-admits-nothing\t''
policy-without-namespace\t''
require-chain-blocks-tokens\t''
redundant-default\t''"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -l namespace -d 'Namespace of objects that name none' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -l block-size -d 'Tokens in a block of the engines' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -l sweep-interval -d 'Interval between two sweeps of the server' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -l fix -d 'Write the fixes that are safe into the files; of standard input, print the fixed text'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from lint" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from rules" -s o -l output -d 'Form of the page' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from rules" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from rules" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from rules" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l admin-url -d 'Ask a running server for what is in force, at its admin port' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l namespace -d 'Namespace of objects that name none' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l default-ttl -d '`--default-ttl` of the server that they are for' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l tenant -d 'Show this tenant alone, with the defaults where it has no policy' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -s o -l output -d 'Form of the result; jsonl is the JSON document in one line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -l namespace -d 'Namespace of objects that name none' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -l default-ttl -d '`--default-ttl` of the server that they are for' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -s o -l output -d 'Form of the result; jsonl is the JSON document in one line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from diff" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from simulate" -l policy -d 'Policies to answer under, the first to compare the others with: a YAML or JSON file, or a folder of them' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from simulate" -l namespace -d 'Namespace of objects that name none' -r
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from simulate" -s o -l output -d 'Form of the result; jsonl is the JSON document in one line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from simulate" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from simulate" -l skip-bad -d 'Pass over and count lines that cannot be used'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from simulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from simulate" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from crd" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from crd" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from crd" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from schema" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from schema" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "lint" -d 'Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "rules" -d 'Explain a rule of `icache policy lint`; without a name, list them all'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show the effective policy of each namespace: every knob with its value and where it comes from'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Compare two sets of policies in effect, not in text'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "simulate" -d 'Replay captures under several policies, and compare the answers side by side'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "crd" -d 'Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors'
complete -c icache -n "__fish_icache_using_subcommand policy; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c icache -n "__fish_icache_using_subcommand doctor" -l server -d 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090' -r
complete -c icache -n "__fish_icache_using_subcommand doctor" -l timeout -d 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand doctor" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand doctor" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand doctor" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand doctor" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand doctor" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand doctor" -l admin-url -d 'Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else port 8081 of the server' -r
complete -c icache -n "__fish_icache_using_subcommand doctor" -l admin-token-file -d 'File that holds the token of the admin port, where it differs from that of gRPC' -r -F
complete -c icache -n "__fish_icache_using_subcommand doctor" -l http-url -d 'HTTP port of the server; without it that of the environment variable ICACHE_HTTP_URL, else port 8080 of the server' -r
complete -c icache -n "__fish_icache_using_subcommand doctor" -s o -l output -d 'Form of the result; jsonl is one finding a line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand doctor" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand doctor" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand top" -l interval -d 'Time between two looks [default: 2s]' -r
complete -c icache -n "__fish_icache_using_subcommand top" -l server -d 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090' -r
complete -c icache -n "__fish_icache_using_subcommand top" -l timeout -d 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand top" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand top" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand top" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand top" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand top" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand top" -l admin-url -d 'Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else port 8081 of the server' -r
complete -c icache -n "__fish_icache_using_subcommand top" -l admin-token-file -d 'File that holds the token of the admin port, where it differs from that of gRPC' -r -F
complete -c icache -n "__fish_icache_using_subcommand top" -l http-url -d 'HTTP port of the server; without it that of the environment variable ICACHE_HTTP_URL, else port 8080 of the server' -r
complete -c icache -n "__fish_icache_using_subcommand top" -s o -l output -d 'Form of the frame of --once; jsonl is the JSON document in one line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand top" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand top" -l once -d 'Print one frame and end'
complete -c icache -n "__fish_icache_using_subcommand top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand top" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand drain" -l admin-url -d 'Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else http://127.0.0.1:8081' -r
complete -c icache -n "__fish_icache_using_subcommand drain" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand drain" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand drain" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand drain" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand drain" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand drain" -s o -l output -d 'Form of the result; jsonl is the JSON document in one line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand drain" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand drain" -l undo -d 'Let it have hints again'
complete -c icache -n "__fish_icache_using_subcommand drain" -l show -d 'Change nothing, and say whether it is drained'
complete -c icache -n "__fish_icache_using_subcommand drain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand drain" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand state" -l tenant -d 'Only this tenant; without it, all' -r
complete -c icache -n "__fish_icache_using_subcommand state" -l model -d 'Only this model; without it, all' -r
complete -c icache -n "__fish_icache_using_subcommand state" -l server -d 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090' -r
complete -c icache -n "__fish_icache_using_subcommand state" -l timeout -d 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand state" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand state" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand state" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand state" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand state" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand state" -s o -l output -d 'Form of the result; jsonl is one replica a line' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand state" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand state" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand state" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand report" -l replica -d 'Replica that reports (replica_id)' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l tenant -d 'Tenant that the prefix belongs to (tenant_id)' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l model -d 'Model that computed the prefix (model_id)' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l hash-scheme -d 'Scheme of the hashes: function, block size and seed (hash_scheme)' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l adapter -d 'Adapter (LoRA) partition; without it the base model (adapter_id)' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l block -d 'Hash of one block in hex or base64; repeat in order, from the start of the prompt' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l blocks -d 'Hashes of the blocks in hex or base64, in order, between commas' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l block-tokens -d 'Tokens in each block' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l block-token-counts -d 'Tokens of each block, between commas, where blocks differ' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l prefix-hash -d 'One hash for the whole prefix, in hex or base64' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l prefix-tokens -d 'Tokens that --prefix-hash stands for' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l token-ids -d 'The prompt as token ids, between commas' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l tokens -d 'File with the prompt\'s token ids, as a JSON array or as numbers; `-` is standard input' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l block-size -d 'Tokens in a block, where --token-ids or --tokens are hashed here [default: 16]' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l tier -d 'Tier that holds the prefix: T1 engine KV cache, T2 offload pool, T3 remote store [default: T1]' -r -f -a "T1\t''
T2\t''
T3\t''"
complete -c icache -n "__fish_icache_using_subcommand report" -l timestamp-us -d 'When this was true, in Unix microseconds; without it, now' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l hit-rate -d 'Share of queried tokens found in cache, 0 to 1' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l pressure -d 'Share of the KV cache in use, 0 to 1' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l memory-bytes -d 'Size of the KV cache, in bytes' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l t2-hit-tokens -d 'Tokens found in tier 2, a running total' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l t2-query-tokens -d 'Tokens asked of tier 2, a running total' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l client-version -d 'Version of what reports' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l update -d 'File with one or more CacheStateUpdate messages in proto3 JSON, sent as they are read; `-` is standard input' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l server -d 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l timeout -d 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand report" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand report" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand report" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand report" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand report" -s o -l output -d 'Form of the acknowledgement' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand report" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand report" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand event" -l type -d 'What happened' -r -f -a "prefix-evicted\t'The replica dropped --prefix-hash'
all-cleared\t'The replica dropped everything of tenant and model'
replica-updated\t'The replica is alive'
prefix-added\t'The replica stored a prefix; changes nothing, since an event names no hash scheme'"
complete -c icache -n "__fish_icache_using_subcommand event" -l replica -d 'Replica that it happened to (replica_id)' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l tenant -d 'Tenant (tenant_id)' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l model -d 'Model (model_id)' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l prefix-hash -d 'Hash that was evicted, in hex or base64; in every hash scheme' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l adapter -d 'Evict in this adapter partition only; without it in all' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l timestamp-us -d 'When it happened, in Unix microseconds; without it, now' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l event -d 'File with one or more CacheEvent messages in proto3 JSON, instead of the flags above; `-` is standard input' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l server -d 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l timeout -d 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l ca -d 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)' -r -F
complete -c icache -n "__fish_icache_using_subcommand event" -l cert -d 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)' -r -F
complete -c icache -n "__fish_icache_using_subcommand event" -l key -d 'PEM file of the private key of --cert (env ICACHE_KEY)' -r -F
complete -c icache -n "__fish_icache_using_subcommand event" -l token -d 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)' -r
complete -c icache -n "__fish_icache_using_subcommand event" -l token-file -d 'File that holds the token to show (env ICACHE_TOKEN_FILE)' -r -F
complete -c icache -n "__fish_icache_using_subcommand event" -s o -l output -d 'Form of the acknowledgement' -r -f -a "table\t'Text for people'
json\t'One indented JSON document'
jsonl\t'One JSON document a line'"
complete -c icache -n "__fish_icache_using_subcommand event" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand event" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand event" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand completions" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand completions" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand man" -l dir -d 'Folder to write one page a command to; without it, icache(1) is printed' -r -F
complete -c icache -n "__fish_icache_using_subcommand man" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand man" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand generate" -l root -d 'Root of the source tree' -r -F
complete -c icache -n "__fish_icache_using_subcommand generate" -l color -d 'When to use colour; NO_COLOR switches `auto` off' -r -f -a "auto\t'On a terminal, unless NO_COLOR is set'
always\t'Always, in pipes and files too'
never\t'Never'"
complete -c icache -n "__fish_icache_using_subcommand generate" -l check -d 'Write nothing; end with status 1 where a file is stale'
complete -c icache -n "__fish_icache_using_subcommand generate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c icache -n "__fish_icache_using_subcommand generate" -s V -l version -d 'Print version'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "serve" -d 'Hold the index and answer lookups'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "subscribe" -d 'Tell a server what an engine\'s cache holds, from the events that the engine publishes'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "lookup" -d 'Ask which replicas hold a prompt\'s prefix, and why'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "explain" -d 'Explain a reason code, a gate, a knob, a check, a lint rule, a metric or an exit status; without a name, list them all'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "capture" -d 'Record what a server applies and answers, or what an engine publishes, into a capture for `icache replay`'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "replay" -d 'Replay captures in process or to a server: what was answered, why, and whether it is what was recorded'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "simulate" -d 'Simulate a fleet on a request trace, and compare routings and policies side by side'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "bench" -d 'Load a server with lookups, and measure how it answers'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "policy" -d 'Check, show, compare and try out policies'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "doctor" -d 'Say whether an installation works, and what to do where it does not'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "top" -d 'Watch a running server: lookups by reason code, latency, replicas, policies'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "drain" -d 'Stop hints to a replica that is about to go'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "state" -d 'Show the replicas\' statistics and the size of the index'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "report" -d 'Report what a replica holds, and its statistics'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "event" -d 'Publish a cache event: an eviction, a clearing, a sign of life'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "completions" -d 'Print the completion script of a shell'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "man" -d 'Print the manual page, or write the pages of all commands'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "generate" -d 'Write completions/, man/ and docs/ from the definitions in the source'
complete -c icache -n "__fish_icache_using_subcommand help; and not __fish_seen_subcommand_from serve subscribe lookup explain capture replay simulate bench policy doctor top drain state report event completions man generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c icache -n "__fish_icache_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "lint" -d 'Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant'
complete -c icache -n "__fish_icache_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "rules" -d 'Explain a rule of `icache policy lint`; without a name, list them all'
complete -c icache -n "__fish_icache_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "show" -d 'Show the effective policy of each namespace: every knob with its value and where it comes from'
complete -c icache -n "__fish_icache_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "diff" -d 'Compare two sets of policies in effect, not in text'
complete -c icache -n "__fish_icache_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "simulate" -d 'Replay captures under several policies, and compare the answers side by side'
complete -c icache -n "__fish_icache_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "crd" -d 'Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`'
complete -c icache -n "__fish_icache_using_subcommand help; and __fish_seen_subcommand_from policy" -f -a "schema" -d 'Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors'
