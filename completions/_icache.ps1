
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'icache' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'icache'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'icache' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Hold the index and answer lookups')
            [CompletionResult]::new('subscribe', 'subscribe', [CompletionResultType]::ParameterValue, 'Tell a server what an engine''s cache holds, from the events that the engine publishes')
            [CompletionResult]::new('lookup', 'lookup', [CompletionResultType]::ParameterValue, 'Ask which replicas hold a prompt''s prefix, and why')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a reason code, a gate, a knob, a check, a lint rule, a metric or an exit status; without a name, list them all')
            [CompletionResult]::new('capture', 'capture', [CompletionResultType]::ParameterValue, 'Record what a server applies and answers, or what an engine publishes, into a capture for `icache replay`')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Replay captures in process or to a server: what was answered, why, and whether it is what was recorded')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Simulate a fleet on a request trace, and compare routings and policies side by side')
            [CompletionResult]::new('bench', 'bench', [CompletionResultType]::ParameterValue, 'Load a server with lookups, and measure how it answers')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Check, show, compare and try out policies')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say whether an installation works, and what to do where it does not')
            [CompletionResult]::new('top', 'top', [CompletionResultType]::ParameterValue, 'Watch a running server: lookups by reason code, latency, replicas, policies')
            [CompletionResult]::new('drain', 'drain', [CompletionResultType]::ParameterValue, 'Stop hints to a replica that is about to go')
            [CompletionResult]::new('state', 'state', [CompletionResultType]::ParameterValue, 'Show the replicas'' statistics and the size of the index')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Report what a replica holds, and its statistics')
            [CompletionResult]::new('event', 'event', [CompletionResultType]::ParameterValue, 'Publish a cache event: an eviction, a clearing, a sign of life')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, or write the pages of all commands')
            [CompletionResult]::new('generate', 'generate', [CompletionResultType]::ParameterValue, 'Write completions/, man/ and docs/ from the definitions in the source')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'icache;serve' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'TOML file of settings; its keys are the flags below without their dashes')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of --print-config; table is TOML')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of --print-config; table is TOML')
            [CompletionResult]::new('--grpc-addr', '--grpc-addr', [CompletionResultType]::ParameterName, 'Address of the gRPC services; port 0 takes a free one')
            [CompletionResult]::new('--http-addr', '--http-addr', [CompletionResultType]::ParameterName, 'Address of /healthz, /readyz and /metrics, always in plaintext; port 0 takes a free one')
            [CompletionResult]::new('--admin-addr', '--admin-addr', [CompletionResultType]::ParameterName, 'Address of /policy, /snapshot, /probe, /drain, /unknown and /config, for operators and controllers; port 0 takes a free one')
            [CompletionResult]::new('--ready-file', '--ready-file', [CompletionResultType]::ParameterName, 'Write the bound addresses as JSON to this file once ready')
            [CompletionResult]::new('--preload', '--preload', [CompletionResultType]::ParameterName, 'Start with what this capture holds, as if its last record were of now; for trying things out')
            [CompletionResult]::new('--drain-timeout', '--drain-timeout', [CompletionResultType]::ParameterName, 'Time that calls in flight have to finish when the server stops')
            [CompletionResult]::new('--tls-cert', '--tls-cert', [CompletionResultType]::ParameterName, 'PEM file of the certificate, with those between it and its authority; gRPC and the admin port then speak TLS. Read again when it changes')
            [CompletionResult]::new('--tls-key', '--tls-key', [CompletionResultType]::ParameterName, 'PEM file of the certificate''s private key')
            [CompletionResult]::new('--tls-client-ca', '--tls-client-ca', [CompletionResultType]::ParameterName, 'PEM file of authorities; clients of gRPC and of the admin port must present a certificate of one of them')
            [CompletionResult]::new('--admin-token-file', '--admin-token-file', [CompletionResultType]::ParameterName, 'File of tokens for the admin port, one a line; read again when it changes')
            [CompletionResult]::new('--auth-file', '--auth-file', [CompletionResultType]::ParameterName, 'TOML file of the callers that gRPC admits: tokens or certificates, roles and tenants; read again when it changes')
            [CompletionResult]::new('--insecure-plaintext', '--insecure-plaintext', [CompletionResultType]::ParameterName, 'Let --grpc-addr be reachable from other machines without TLS')
            [CompletionResult]::new('--insecure-disable-auth', '--insecure-disable-auth', [CompletionResultType]::ParameterName, 'Let --admin-addr be reachable from other machines without a token')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'File or folder of CachePolicies and CacheTenants (.yaml, .yml, .json); watched, and reloaded whole; repeatable')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of objects that name none')
            [CompletionResult]::new('--state-dir', '--state-dir', [CompletionResultType]::ParameterName, 'Folder that the index is saved in when the server stops and every --state-interval, and loaded from when it starts; without it nothing is saved')
            [CompletionResult]::new('--state-interval', '--state-interval', [CompletionResultType]::ParameterName, 'Time between two savings while the index changes: what is lost at most where the server is killed')
            [CompletionResult]::new('--max-entries', '--max-entries', [CompletionResultType]::ParameterName, 'Replica entries of the index; over it the oldest or least used go')
            [CompletionResult]::new('--max-memory', '--max-memory', [CompletionResultType]::ParameterName, 'Memory of the index; over it the oldest or least used go; without it there is no bound')
            [CompletionResult]::new('--sweep-interval', '--sweep-interval', [CompletionResultType]::ParameterName, 'Time between two sweeps of what has reached its time to live')
            [CompletionResult]::new('--default-ttl', '--default-ttl', [CompletionResultType]::ParameterName, 'How long an entry lives after its last report, where the policy does not say')
            [CompletionResult]::new('--block-size', '--block-size', [CompletionResultType]::ParameterName, 'Tokens in a block, where the server builds the chain from token ids')
            [CompletionResult]::new('--replica-timeout', '--replica-timeout', [CompletionResultType]::ParameterName, 'A replica not heard of for longer gets no hints; 0 switches it off')
            [CompletionResult]::new('--pressure-weight', '--pressure-weight', [CompletionResultType]::ParameterName, 'How much a replica''s pressure lowers its score; 0 switches it off')
            [CompletionResult]::new('--slo-tight-ttft-ms', '--slo-tight-ttft-ms', [CompletionResultType]::ParameterName, 'Requests with a lower TTFT target favour fresh holders, in milliseconds; 0 switches it off')
            [CompletionResult]::new('--slo-tight-bias', '--slo-tight-bias', [CompletionResultType]::ParameterName, 'How much they do; 0 switches it off')
            [CompletionResult]::new('--tenant-hot-max-age', '--tenant-hot-max-age', [CompletionResultType]::ParameterName, 'Oldest statistics that make a replica warm; 0 switches it off')
            [CompletionResult]::new('--tenant-hot-min-hit-rate', '--tenant-hot-min-hit-rate', [CompletionResultType]::ParameterName, 'Lowest hit rate of a warm replica')
            [CompletionResult]::new('--ranker', '--ranker', [CompletionResultType]::ParameterName, 'What replicas are ranked by: who holds the prefix, or how long the request would wait')
            [CompletionResult]::new('--in-flight-ttl', '--in-flight-ttl', [CompletionResultType]::ParameterName, 'How long a hinted prompt counts as held before its replica reports it, beyond the expected prefill; 0 switches it off')
            [CompletionResult]::new('--prefill-rate', '--prefill-rate', [CompletionResultType]::ParameterName, 'Tokens that a replica prefills in a second, until its reports tell')
            [CompletionResult]::new('--load-hint-code', '--load-hint-code', [CompletionResultType]::ParameterName, 'Code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other')
            [CompletionResult]::new('--max-in-flight', '--max-in-flight', [CompletionResultType]::ParameterName, 'Lookups in flight above which further ones are shed; 0 switches it off')
            [CompletionResult]::new('--max-message-size', '--max-message-size', [CompletionResultType]::ParameterName, 'Size of one message; a larger one is answered RESOURCE_EXHAUSTED')
            [CompletionResult]::new('--max-blocks', '--max-blocks', [CompletionResultType]::ParameterName, 'Blocks in one request or update; a request over it is answered NO_HINT, and of an update the entries beyond are dropped')
            [CompletionResult]::new('--max-hash-bytes', '--max-hash-bytes', [CompletionResultType]::ParameterName, 'Bytes of one hash; a request over it is answered NO_HINT, a prefix entry or event is dropped')
            [CompletionResult]::new('--max-id-bytes', '--max-id-bytes', [CompletionResultType]::ParameterName, 'Bytes of a replica, tenant, model, hash scheme or adapter id; a request over it is answered NO_HINT, an update or event is dropped')
            [CompletionResult]::new('--max-replicas', '--max-replicas', [CompletionResultType]::ParameterName, 'Replicas of one tenant and model; what further ones report is dropped')
            [CompletionResult]::new('--max-replica-records', '--max-replica-records', [CompletionResultType]::ParameterName, 'Replicas of all tenants and models, those without entries included; what further ones report is dropped')
            [CompletionResult]::new('--max-streams', '--max-streams', [CompletionResultType]::ParameterName, 'Concurrent streams of one connection')
            [CompletionResult]::new('--max-connections', '--max-connections', [CompletionResultType]::ParameterName, 'Connections of one port at a time; a further one is closed at once')
            [CompletionResult]::new('--metrics-max-series', '--metrics-max-series', [CompletionResultType]::ParameterName, 'Model and tenant names that label metrics; further ones are labelled `other`')
            [CompletionResult]::new('--otlp-endpoint', '--otlp-endpoint', [CompletionResultType]::ParameterName, 'Collector that spans of calls are sent to by OTLP over gRPC, as an http:// URL; without it none are made. OTEL_EXPORTER_OTLP_ENDPOINT counts where nothing else says one')
            [CompletionResult]::new('--trace-share', '--trace-share', [CompletionResultType]::ParameterName, 'Share of the calls that are traced, 0 to 1; a call that brings a `traceparent` is traced where that says so')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Form of the log [default: text on a terminal, else json]')
            [CompletionResult]::new('--log-level', '--log-level', [CompletionResultType]::ParameterName, 'Least severe level that is logged: off, error, warn, info, debug or trace')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--print-config', '--print-config', [CompletionResultType]::ParameterName, 'Print the effective configuration with the source of each value, as a file for `--config`, and serve nothing')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;subscribe' {
            [CompletionResult]::new('--engine', '--engine', [CompletionResultType]::ParameterName, 'Where the engine publishes, as tcp://HOST:PORT; rank N at the port N higher')
            [CompletionResult]::new('--metrics-url', '--metrics-url', [CompletionResultType]::ParameterName, 'The engine''s metrics page, scraped every 10 s for hit rate and pressure, such as http://127.0.0.1:8000/metrics')
            [CompletionResult]::new('--hash-scheme', '--hash-scheme', [CompletionResultType]::ParameterName, 'Hash scheme under which gateways look the fingerprints up')
            [CompletionResult]::new('--replay', '--replay', [CompletionResultType]::ParameterName, 'Where the engine answers replays, rank N at the port N higher; `none` where it does not [default: port 5558 of the engine''s host; with several ranks none]')
            [CompletionResult]::new('--topic', '--topic', [CompletionResultType]::ParameterName, 'Take only topics that begin with this')
            [CompletionResult]::new('--dp-ranks', '--dp-ranks', [CompletionResultType]::ParameterName, 'Data-parallel ranks of the engine, each with a publisher of its own [default: one publisher without ranks]')
            [CompletionResult]::new('--replay-timeout', '--replay-timeout', [CompletionResultType]::ParameterName, 'How long a replay may be silent before it is given up')
            [CompletionResult]::new('--adapter-names', '--adapter-names', [CompletionResultType]::ParameterName, 'Names of adapters that the engine gives by number only; blocks of others are left out')
            [CompletionResult]::new('--extra-keys', '--extra-keys', [CompletionResultType]::ParameterName, 'What to do with blocks whose content is not in their tokens alone (images, cache salts)')
            [CompletionResult]::new('--max-held-blocks', '--max-held-blocks', [CompletionResultType]::ParameterName, 'Blocks followed of each replica at most, at 151 bytes each or less; further ones are left out [default: 4194304]')
            [CompletionResult]::new('--refresh', '--refresh', [CompletionResultType]::ParameterName, 'Time in which everything held is told again, spread evenly, so that it does not age out of the index')
            [CompletionResult]::new('--http-addr', '--http-addr', [CompletionResultType]::ParameterName, 'Address of /healthz, /readyz and /metrics; port 0 takes a free one')
            [CompletionResult]::new('--ready-file', '--ready-file', [CompletionResultType]::ParameterName, 'Write the bound address as JSON to this file once it is served')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('--log-format', '--log-format', [CompletionResultType]::ParameterName, 'Form of the log [default: text on a terminal, else json]')
            [CompletionResult]::new('--log-level', '--log-level', [CompletionResultType]::ParameterName, 'Least severe level that is logged: off, error, warn, info, debug or trace')
            [CompletionResult]::new('--replica', '--replica', [CompletionResultType]::ParameterName, 'Replica id under which the engine is reported; with ranks, `-dp<rank>` is put behind it')
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Tenant that the engine serves')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Model that the engine serves, as gateways call it')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--l2-retains', '--l2-retains', [CompletionResultType]::ParameterName, 'Take blocks that leave the GPU to be kept in an offload pool (T2) that says nothing itself')
            [CompletionResult]::new('--keep-on-exit', '--keep-on-exit', [CompletionResultType]::ParameterName, 'At the end, leave with the server what it knows of the engine, and do not have it dropped')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;lookup' {
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Tenant that the prefix belongs to (tenant_id)')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Model that computed the prefix (model_id)')
            [CompletionResult]::new('--hash-scheme', '--hash-scheme', [CompletionResultType]::ParameterName, 'Scheme of the hashes: function, block size and seed (hash_scheme)')
            [CompletionResult]::new('--adapter', '--adapter', [CompletionResultType]::ParameterName, 'Adapter (LoRA) partition; without it the base model (adapter_id)')
            [CompletionResult]::new('--block', '--block', [CompletionResultType]::ParameterName, 'Hash of one block in hex or base64; repeat in order, from the start of the prompt')
            [CompletionResult]::new('--blocks', '--blocks', [CompletionResultType]::ParameterName, 'Hashes of the blocks in hex or base64, in order, between commas')
            [CompletionResult]::new('--block-tokens', '--block-tokens', [CompletionResultType]::ParameterName, 'Tokens in each block')
            [CompletionResult]::new('--block-token-counts', '--block-token-counts', [CompletionResultType]::ParameterName, 'Tokens of each block, between commas, where blocks differ')
            [CompletionResult]::new('--prefix-hash', '--prefix-hash', [CompletionResultType]::ParameterName, 'One hash for the whole prefix, in hex or base64')
            [CompletionResult]::new('--prefix-tokens', '--prefix-tokens', [CompletionResultType]::ParameterName, 'Tokens that --prefix-hash stands for')
            [CompletionResult]::new('--token-ids', '--token-ids', [CompletionResultType]::ParameterName, 'The prompt as token ids, between commas')
            [CompletionResult]::new('--tokens', '--tokens', [CompletionResultType]::ParameterName, 'File with the prompt''s token ids, as a JSON array or as numbers; `-` is standard input')
            [CompletionResult]::new('--prompt-text', '--prompt-text', [CompletionResultType]::ParameterName, 'The prompt as text of one user message; needs a tokenizer on the server')
            [CompletionResult]::new('--ttft-ms', '--ttft-ms', [CompletionResultType]::ParameterName, 'Target of the time to first token, in milliseconds')
            [CompletionResult]::new('--request', '--request', [CompletionResultType]::ParameterName, 'File with a LookupRouteRequest in proto3 JSON, instead of the flags above; `-` is standard input')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('--capture', '--capture', [CompletionResultType]::ParameterName, 'Replay this capture in process and look up at its last instant, without a server; `-` is standard input')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'Policies to look up under, in place of the captured ones: a YAML or JSON file, or a folder of them')
            [CompletionResult]::new('--ranker', '--ranker', [CompletionResultType]::ParameterName, 'What replicas are ranked by: who holds the prefix, or how long the request would wait')
            [CompletionResult]::new('--in-flight-ttl', '--in-flight-ttl', [CompletionResultType]::ParameterName, 'How long a hinted prompt counts as held before its replica reports it, beyond the expected prefill; 0 switches it off')
            [CompletionResult]::new('--prefill-rate', '--prefill-rate', [CompletionResultType]::ParameterName, 'Tokens that a replica prefills in a second, until its reports tell')
            [CompletionResult]::new('--load-hint-code', '--load-hint-code', [CompletionResultType]::ParameterName, 'Code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other')
            [CompletionResult]::new('--expect', '--expect', [CompletionResultType]::ParameterName, 'End with status 1 unless the answer has one of these reason codes')
            [CompletionResult]::new('--expect-replica', '--expect-replica', [CompletionResultType]::ParameterName, 'End with status 1 unless the answer''s first replica is this one')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the answer')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the answer')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--demo', '--demo', [CompletionResultType]::ParameterName, 'The same with the built-in capture of four engines; without a request, its last recorded one')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Show how the answer came about: every gate, every factor of every score')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;explain' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the page')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the page')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;capture' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Server to record; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090')
            [CompletionResult]::new('--lookups', '--lookups', [CompletionResultType]::ParameterName, 'Share of lookups to record, 0 to 1; without all of them the credits of LFU are not those of the server')
            [CompletionResult]::new('--zmq', '--zmq', [CompletionResultType]::ParameterName, 'Engine to record in place of a server: where it publishes, as tcp://HOST:PORT; rank N at the port N higher')
            [CompletionResult]::new('--replica', '--replica', [CompletionResultType]::ParameterName, 'Replica id under which the engine is reported; with ranks, `-dp<rank>` is put behind it')
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Tenant that the engine serves')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Model that the engine serves, as gateways call it')
            [CompletionResult]::new('--hash-scheme', '--hash-scheme', [CompletionResultType]::ParameterName, 'Hash scheme under which gateways look the fingerprints up')
            [CompletionResult]::new('--replay', '--replay', [CompletionResultType]::ParameterName, 'Where the engine answers replays, rank N at the port N higher; `none` where it does not [default: port 5558 of the engine''s host; with several ranks none]')
            [CompletionResult]::new('--topic', '--topic', [CompletionResultType]::ParameterName, 'Take only topics that begin with this')
            [CompletionResult]::new('--dp-ranks', '--dp-ranks', [CompletionResultType]::ParameterName, 'Data-parallel ranks of the engine, each with a publisher of its own [default: one publisher without ranks]')
            [CompletionResult]::new('--replay-timeout', '--replay-timeout', [CompletionResultType]::ParameterName, 'How long a replay may be silent before it is given up')
            [CompletionResult]::new('--adapter-names', '--adapter-names', [CompletionResultType]::ParameterName, 'Names of adapters that the engine gives by number only; blocks of others are left out')
            [CompletionResult]::new('--extra-keys', '--extra-keys', [CompletionResultType]::ParameterName, 'What to do with blocks whose content is not in their tokens alone (images, cache salts)')
            [CompletionResult]::new('--max-held-blocks', '--max-held-blocks', [CompletionResultType]::ParameterName, 'Blocks followed of each replica at most, at 151 bytes each or less; further ones are left out [default: 4194304]')
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'File to write; one that is there already is not written over')
            [CompletionResult]::new('--compress', '--compress', [CompletionResultType]::ParameterName, 'How files are compressed; without it as the name says: `.zst`, `.gz`, or not at all')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Begin a further file once one has this size on disk: `fleet.00002.jsonl.zst` after `fleet.jsonl.zst`')
            [CompletionResult]::new('--duration', '--duration', [CompletionResultType]::ParameterName, 'Stop after recording for this time')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Keep the engine''s bytes: they hold the token ids of prompts; replay maps them with its own defaults')
            [CompletionResult]::new('--l2-retains', '--l2-retains', [CompletionResultType]::ParameterName, 'Take blocks that leave the GPU to be kept in an offload pool (T2) that says nothing itself')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;replay' {
            [CompletionResult]::new('--mismatches', '--mismatches', [CompletionResultType]::ParameterName, 'Mismatches shown in full')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'Policies that hold in place of the captured ones: a YAML or JSON file, or a folder of them')
            [CompletionResult]::new('--ranker', '--ranker', [CompletionResultType]::ParameterName, 'What replicas are ranked by: who holds the prefix, or how long the request would wait')
            [CompletionResult]::new('--in-flight-ttl', '--in-flight-ttl', [CompletionResultType]::ParameterName, 'How long a hinted prompt counts as held before its replica reports it, beyond the expected prefill; 0 switches it off')
            [CompletionResult]::new('--prefill-rate', '--prefill-rate', [CompletionResultType]::ParameterName, 'Tokens that a replica prefills in a second, until its reports tell')
            [CompletionResult]::new('--load-hint-code', '--load-hint-code', [CompletionResultType]::ParameterName, 'Code of a hint without cache evidence: LOAD_HINT, or AFFINITY_HINT for clients that know no other')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('--speed', '--speed', [CompletionResultType]::ParameterName, 'How much faster than recorded: `1x`, `10x`, or `max` for as fast as the server answers [default: 1x]')
            [CompletionResult]::new('--replica', '--replica', [CompletionResultType]::ParameterName, 'Replica of a bare batch')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Model of a bare batch')
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Tenant of a bare batch')
            [CompletionResult]::new('--hash-scheme', '--hash-scheme', [CompletionResultType]::ParameterName, 'Hash scheme of a bare batch [default: vllm]')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Also write a page with plots over time, in one file that needs no network')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Send it all to this server in place of replaying in process')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline of a call, such as `250ms` [default: 10s]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--separate', '--separate', [CompletionResultType]::ParameterName, 'Replay each file into an empty index of its own, and add up what came of them')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Compare each lookup with its recorded answer or expectation; any difference ends with exit status 1')
            [CompletionResult]::new('--skip-bad', '--skip-bad', [CompletionResultType]::ParameterName, 'Pass over and count lines that cannot be used')
            [CompletionResult]::new('--timings', '--timings', [CompletionResultType]::ParameterName, 'Also say how long lookups took on this machine; a server''s answers are timed in any case')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;simulate' {
            [CompletionResult]::new('--trace', '--trace', [CompletionResultType]::ParameterName, 'Requests, one JSON object a line: timestamp (ms), input_length, output_length (tokens) and hash_ids (one for each block of 512 tokens); plain, gzip or zstd; `-` is standard input')
            [CompletionResult]::new('--workload', '--workload', [CompletionResultType]::ParameterName, 'Synthetic requests, made from the seed')
            [CompletionResult]::new('--requests', '--requests', [CompletionResultType]::ParameterName, 'Synthetic requests to make [default: 6000]')
            [CompletionResult]::new('--utilisation', '--utilisation', [CompletionResultType]::ParameterName, 'Stretch the clock of the requests until engines prefill so many percent of their time under round-robin')
            [CompletionResult]::new('--replicas', '--replicas', [CompletionResultType]::ParameterName, 'Engines')
            [CompletionResult]::new('--blocks-per-replica', '--blocks-per-replica', [CompletionResultType]::ParameterName, 'Blocks of 512 tokens in the cache of each engine')
            [CompletionResult]::new('--prefill-rate', '--prefill-rate', [CompletionResultType]::ParameterName, 'Tokens that each engine prefills in a second; of a list, engines take one each in turn')
            [CompletionResult]::new('--gateways', '--gateways', [CompletionResultType]::ParameterName, 'Gateways that share the requests in turn; each knows only what it has sent itself')
            [CompletionResult]::new('--servers', '--servers', [CompletionResultType]::ParameterName, 'Servers, each asked by its share of the gateways; there are as many gateways at least')
            [CompletionResult]::new('--kill', '--kill', [CompletionResultType]::ParameterName, 'An engine and its sidecar die without a word, so long after the first request: `r3@600s`, counted from r0')
            [CompletionResult]::new('--restart', '--restart', [CompletionResultType]::ParameterName, 'An engine, dead or not, begins anew with an empty cache')
            [CompletionResult]::new('--replica-timeout', '--replica-timeout', [CompletionResultType]::ParameterName, 'A replica not heard of for longer gets no hints; 0 switches it off')
            [CompletionResult]::new('--publish', '--publish', [CompletionResultType]::ParameterName, 'When engines say what a prompt brought into their cache')
            [CompletionResult]::new('--event-delay', '--event-delay', [CompletionResultType]::ParameterName, 'How late everything that engines say comes to the index')
            [CompletionResult]::new('--refresh', '--refresh', [CompletionResultType]::ParameterName, 'How often a sidecar reports everything that its engine holds; 0 for never')
            [CompletionResult]::new('--route', '--route', [CompletionResultType]::ParameterName, 'Routings to compare')
            [CompletionResult]::new('--ranker', '--ranker', [CompletionResultType]::ParameterName, 'Compare this ranker with the routings that ask nobody, in place of both rankers')
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'Policies to route under, beside the defaults: a YAML or JSON file, or a folder of them')
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Whose requests they are, and the namespace of policies that name none')
            [CompletionResult]::new('--warmup', '--warmup', [CompletionResultType]::ParameterName, 'Requests to begin with that go round-robin, whatever the routing')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Of synthetic requests and of the random routing')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Also write a page with plots over time, one file that needs no network')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--skip-bad', '--skip-bad', [CompletionResultType]::ParameterName, 'Pass over and count lines that cannot be used')
            [CompletionResult]::new('--split-reports', '--split-reports', [CompletionResultType]::ParameterName, 'Each engine reports to one of the servers, in place of all')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;bench' {
            [CompletionResult]::new('--in-flight', '--in-flight', [CompletionResultType]::ParameterName, 'Lookups in flight, all connections together: the next is asked when one is answered [default: 16]')
            [CompletionResult]::new('--rate', '--rate', [CompletionResultType]::ParameterName, 'Lookups a second, whether earlier ones are answered or not; up to 1000000, with up to 1024 in flight')
            [CompletionResult]::new('--connections', '--connections', [CompletionResultType]::ParameterName, 'Connections to the server')
            [CompletionResult]::new('--duration', '--duration', [CompletionResultType]::ParameterName, 'How long to measure, 20m at most [default: 10s]')
            [CompletionResult]::new('--requests', '--requests', [CompletionResultType]::ParameterName, 'Lookups to measure, in place of a duration')
            [CompletionResult]::new('--warm-up', '--warm-up', [CompletionResultType]::ParameterName, 'How long to ask before anything counts, 20m at most; 0s is not at all')
            [CompletionResult]::new('--against', '--against', [CompletionResultType]::ParameterName, 'Also ask this server, in slices that take turns, and say how the two compare')
            [CompletionResult]::new('--blocks', '--blocks', [CompletionResultType]::ParameterName, 'Blocks of a chain, of 16 tokens each')
            [CompletionResult]::new('--shared-head', '--shared-head', [CompletionResultType]::ParameterName, 'Part of each chain that is one of four heads, which every replica holds; from 0 to 1')
            [CompletionResult]::new('--chains', '--chains', [CompletionResultType]::ParameterName, 'Distinct chains that are loaded, each held by 1, 2 or 4 replicas; times --blocks 4194304 at most')
            [CompletionResult]::new('--replicas', '--replicas', [CompletionResultType]::ParameterName, 'Replicas that hold them')
            [CompletionResult]::new('--mix', '--mix', [CompletionResultType]::ParameterName, 'Weights of what is asked: chains held in full, that diverge behind the head, of which the head is held, and of which nothing is; a kind that the chains are too short for becomes the next one')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'The same seed makes the same load')
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Tenant that the state is loaded under; what its replicas `bench-0`, `bench-1` and so on hold is removed')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Model that the state is loaded under')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Also write the result as a page to this file')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--fast', '--fast', [CompletionResultType]::ParameterName, 'Ask through the stream of the FastLookup service')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;policy' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant')
            [CompletionResult]::new('rules', 'rules', [CompletionResultType]::ParameterValue, 'Explain a rule of `icache policy lint`; without a name, list them all')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the effective policy of each namespace: every knob with its value and where it comes from')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two sets of policies in effect, not in text')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Replay captures under several policies, and compare the answers side by side')
            [CompletionResult]::new('crd', 'crd', [CompletionResultType]::ParameterValue, 'Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'icache;policy;lint' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Form of the findings')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'End with status 1 on these findings too')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Leave out what this rule finds (repeatable; also separated by commas)')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of objects that name none')
            [CompletionResult]::new('--block-size', '--block-size', [CompletionResultType]::ParameterName, 'Tokens in a block of the engines')
            [CompletionResult]::new('--sweep-interval', '--sweep-interval', [CompletionResultType]::ParameterName, 'Interval between two sweeps of the server')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Write the fixes that are safe into the files; of standard input, print the fixed text')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;policy;rules' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the page')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the page')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;policy;show' {
            [CompletionResult]::new('--admin-url', '--admin-url', [CompletionResultType]::ParameterName, 'Ask a running server for what is in force, at its admin port')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of objects that name none')
            [CompletionResult]::new('--default-ttl', '--default-ttl', [CompletionResultType]::ParameterName, '`--default-ttl` of the server that they are for')
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Show this tenant alone, with the defaults where it has no policy')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;policy;diff' {
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of objects that name none')
            [CompletionResult]::new('--default-ttl', '--default-ttl', [CompletionResultType]::ParameterName, '`--default-ttl` of the server that they are for')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;policy;simulate' {
            [CompletionResult]::new('--policy', '--policy', [CompletionResultType]::ParameterName, 'Policies to answer under, the first to compare the others with: a YAML or JSON file, or a folder of them')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of objects that name none')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--skip-bad', '--skip-bad', [CompletionResultType]::ParameterName, 'Pass over and count lines that cannot be used')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;policy;crd' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;policy;schema' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;policy;help' {
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant')
            [CompletionResult]::new('rules', 'rules', [CompletionResultType]::ParameterValue, 'Explain a rule of `icache policy lint`; without a name, list them all')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the effective policy of each namespace: every knob with its value and where it comes from')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two sets of policies in effect, not in text')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Replay captures under several policies, and compare the answers side by side')
            [CompletionResult]::new('crd', 'crd', [CompletionResultType]::ParameterValue, 'Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'icache;policy;help;lint' {
            break
        }
        'icache;policy;help;rules' {
            break
        }
        'icache;policy;help;show' {
            break
        }
        'icache;policy;help;diff' {
            break
        }
        'icache;policy;help;simulate' {
            break
        }
        'icache;policy;help;crd' {
            break
        }
        'icache;policy;help;schema' {
            break
        }
        'icache;policy;help;help' {
            break
        }
        'icache;doctor' {
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('--admin-url', '--admin-url', [CompletionResultType]::ParameterName, 'Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else port 8081 of the server')
            [CompletionResult]::new('--admin-token-file', '--admin-token-file', [CompletionResultType]::ParameterName, 'File that holds the token of the admin port, where it differs from that of gRPC')
            [CompletionResult]::new('--http-url', '--http-url', [CompletionResultType]::ParameterName, 'HTTP port of the server; without it that of the environment variable ICACHE_HTTP_URL, else port 8080 of the server')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is one finding a line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is one finding a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;top' {
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'Time between two looks [default: 2s]')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('--admin-url', '--admin-url', [CompletionResultType]::ParameterName, 'Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else port 8081 of the server')
            [CompletionResult]::new('--admin-token-file', '--admin-token-file', [CompletionResultType]::ParameterName, 'File that holds the token of the admin port, where it differs from that of gRPC')
            [CompletionResult]::new('--http-url', '--http-url', [CompletionResultType]::ParameterName, 'HTTP port of the server; without it that of the environment variable ICACHE_HTTP_URL, else port 8080 of the server')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the frame of --once; jsonl is the JSON document in one line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the frame of --once; jsonl is the JSON document in one line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--once', '--once', [CompletionResultType]::ParameterName, 'Print one frame and end')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;drain' {
            [CompletionResult]::new('--admin-url', '--admin-url', [CompletionResultType]::ParameterName, 'Admin port of the server; without it that of the environment variable ICACHE_ADMIN_URL, else http://127.0.0.1:8081')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is the JSON document in one line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--undo', '--undo', [CompletionResultType]::ParameterName, 'Let it have hints again')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Change nothing, and say whether it is drained')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;state' {
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Only this tenant; without it, all')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Only this model; without it, all')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is one replica a line')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the result; jsonl is one replica a line')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;report' {
            [CompletionResult]::new('--replica', '--replica', [CompletionResultType]::ParameterName, 'Replica that reports (replica_id)')
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Tenant that the prefix belongs to (tenant_id)')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Model that computed the prefix (model_id)')
            [CompletionResult]::new('--hash-scheme', '--hash-scheme', [CompletionResultType]::ParameterName, 'Scheme of the hashes: function, block size and seed (hash_scheme)')
            [CompletionResult]::new('--adapter', '--adapter', [CompletionResultType]::ParameterName, 'Adapter (LoRA) partition; without it the base model (adapter_id)')
            [CompletionResult]::new('--block', '--block', [CompletionResultType]::ParameterName, 'Hash of one block in hex or base64; repeat in order, from the start of the prompt')
            [CompletionResult]::new('--blocks', '--blocks', [CompletionResultType]::ParameterName, 'Hashes of the blocks in hex or base64, in order, between commas')
            [CompletionResult]::new('--block-tokens', '--block-tokens', [CompletionResultType]::ParameterName, 'Tokens in each block')
            [CompletionResult]::new('--block-token-counts', '--block-token-counts', [CompletionResultType]::ParameterName, 'Tokens of each block, between commas, where blocks differ')
            [CompletionResult]::new('--prefix-hash', '--prefix-hash', [CompletionResultType]::ParameterName, 'One hash for the whole prefix, in hex or base64')
            [CompletionResult]::new('--prefix-tokens', '--prefix-tokens', [CompletionResultType]::ParameterName, 'Tokens that --prefix-hash stands for')
            [CompletionResult]::new('--token-ids', '--token-ids', [CompletionResultType]::ParameterName, 'The prompt as token ids, between commas')
            [CompletionResult]::new('--tokens', '--tokens', [CompletionResultType]::ParameterName, 'File with the prompt''s token ids, as a JSON array or as numbers; `-` is standard input')
            [CompletionResult]::new('--block-size', '--block-size', [CompletionResultType]::ParameterName, 'Tokens in a block, where --token-ids or --tokens are hashed here [default: 16]')
            [CompletionResult]::new('--tier', '--tier', [CompletionResultType]::ParameterName, 'Tier that holds the prefix: T1 engine KV cache, T2 offload pool, T3 remote store [default: T1]')
            [CompletionResult]::new('--timestamp-us', '--timestamp-us', [CompletionResultType]::ParameterName, 'When this was true, in Unix microseconds; without it, now')
            [CompletionResult]::new('--hit-rate', '--hit-rate', [CompletionResultType]::ParameterName, 'Share of queried tokens found in cache, 0 to 1')
            [CompletionResult]::new('--pressure', '--pressure', [CompletionResultType]::ParameterName, 'Share of the KV cache in use, 0 to 1')
            [CompletionResult]::new('--memory-bytes', '--memory-bytes', [CompletionResultType]::ParameterName, 'Size of the KV cache, in bytes')
            [CompletionResult]::new('--t2-hit-tokens', '--t2-hit-tokens', [CompletionResultType]::ParameterName, 'Tokens found in tier 2, a running total')
            [CompletionResult]::new('--t2-query-tokens', '--t2-query-tokens', [CompletionResultType]::ParameterName, 'Tokens asked of tier 2, a running total')
            [CompletionResult]::new('--client-version', '--client-version', [CompletionResultType]::ParameterName, 'Version of what reports')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'File with one or more CacheStateUpdate messages in proto3 JSON, sent as they are read; `-` is standard input')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the acknowledgement')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the acknowledgement')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;event' {
            [CompletionResult]::new('--type', '--type', [CompletionResultType]::ParameterName, 'What happened')
            [CompletionResult]::new('--replica', '--replica', [CompletionResultType]::ParameterName, 'Replica that it happened to (replica_id)')
            [CompletionResult]::new('--tenant', '--tenant', [CompletionResultType]::ParameterName, 'Tenant (tenant_id)')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'Model (model_id)')
            [CompletionResult]::new('--prefix-hash', '--prefix-hash', [CompletionResultType]::ParameterName, 'Hash that was evicted, in hex or base64; in every hash scheme')
            [CompletionResult]::new('--adapter', '--adapter', [CompletionResultType]::ParameterName, 'Evict in this adapter partition only; without it in all')
            [CompletionResult]::new('--timestamp-us', '--timestamp-us', [CompletionResultType]::ParameterName, 'When it happened, in Unix microseconds; without it, now')
            [CompletionResult]::new('--event', '--event', [CompletionResultType]::ParameterName, 'File with one or more CacheEvent messages in proto3 JSON, instead of the flags above; `-` is standard input')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'Server to ask; without it that of the environment variable ICACHE_SERVER, else http://127.0.0.1:9090')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline of a call, such as `250ms`; a file of updates has it for each of them [default: 10s]')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'PEM file of the authorities that an https:// server is trusted by; without it those of the system (env ICACHE_CA)')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'PEM file of a certificate to present to an https:// server (env ICACHE_CERT)')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'PEM file of the private key of --cert (env ICACHE_KEY)')
            [CompletionResult]::new('--token', '--token', [CompletionResultType]::ParameterName, 'Token to show; other users of this machine can see it, so a file or the environment is better (env ICACHE_TOKEN)')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'File that holds the token to show (env ICACHE_TOKEN_FILE)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Form of the acknowledgement')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Form of the acknowledgement')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;man' {
            [CompletionResult]::new('--dir', '--dir', [CompletionResultType]::ParameterName, 'Folder to write one page a command to; without it, icache(1) is printed')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;generate' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'Root of the source tree')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour; NO_COLOR switches `auto` off')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; end with status 1 where a file is stale')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'icache;help' {
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Hold the index and answer lookups')
            [CompletionResult]::new('subscribe', 'subscribe', [CompletionResultType]::ParameterValue, 'Tell a server what an engine''s cache holds, from the events that the engine publishes')
            [CompletionResult]::new('lookup', 'lookup', [CompletionResultType]::ParameterValue, 'Ask which replicas hold a prompt''s prefix, and why')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a reason code, a gate, a knob, a check, a lint rule, a metric or an exit status; without a name, list them all')
            [CompletionResult]::new('capture', 'capture', [CompletionResultType]::ParameterValue, 'Record what a server applies and answers, or what an engine publishes, into a capture for `icache replay`')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Replay captures in process or to a server: what was answered, why, and whether it is what was recorded')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Simulate a fleet on a request trace, and compare routings and policies side by side')
            [CompletionResult]::new('bench', 'bench', [CompletionResultType]::ParameterValue, 'Load a server with lookups, and measure how it answers')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Check, show, compare and try out policies')
            [CompletionResult]::new('doctor', 'doctor', [CompletionResultType]::ParameterValue, 'Say whether an installation works, and what to do where it does not')
            [CompletionResult]::new('top', 'top', [CompletionResultType]::ParameterValue, 'Watch a running server: lookups by reason code, latency, replicas, policies')
            [CompletionResult]::new('drain', 'drain', [CompletionResultType]::ParameterValue, 'Stop hints to a replica that is about to go')
            [CompletionResult]::new('state', 'state', [CompletionResultType]::ParameterValue, 'Show the replicas'' statistics and the size of the index')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Report what a replica holds, and its statistics')
            [CompletionResult]::new('event', 'event', [CompletionResultType]::ParameterValue, 'Publish a cache event: an eviction, a clearing, a sign of life')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, or write the pages of all commands')
            [CompletionResult]::new('generate', 'generate', [CompletionResultType]::ParameterValue, 'Write completions/, man/ and docs/ from the definitions in the source')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'icache;help;serve' {
            break
        }
        'icache;help;subscribe' {
            break
        }
        'icache;help;lookup' {
            break
        }
        'icache;help;explain' {
            break
        }
        'icache;help;capture' {
            break
        }
        'icache;help;replay' {
            break
        }
        'icache;help;simulate' {
            break
        }
        'icache;help;bench' {
            break
        }
        'icache;help;policy' {
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Check CachePolicy and CacheTenant files: what a server would refuse, and what is most likely not meant')
            [CompletionResult]::new('rules', 'rules', [CompletionResultType]::ParameterValue, 'Explain a rule of `icache policy lint`; without a name, list them all')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show the effective policy of each namespace: every knob with its value and where it comes from')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two sets of policies in effect, not in text')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Replay captures under several policies, and compare the answers side by side')
            [CompletionResult]::new('crd', 'crd', [CompletionResultType]::ParameterValue, 'Print the CustomResourceDefinitions of CachePolicy and CacheTenant, for `kubectl apply`')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema (2020-12) of CachePolicy and CacheTenant, for editors')
            break
        }
        'icache;help;policy;lint' {
            break
        }
        'icache;help;policy;rules' {
            break
        }
        'icache;help;policy;show' {
            break
        }
        'icache;help;policy;diff' {
            break
        }
        'icache;help;policy;simulate' {
            break
        }
        'icache;help;policy;crd' {
            break
        }
        'icache;help;policy;schema' {
            break
        }
        'icache;help;doctor' {
            break
        }
        'icache;help;top' {
            break
        }
        'icache;help;drain' {
            break
        }
        'icache;help;state' {
            break
        }
        'icache;help;report' {
            break
        }
        'icache;help;event' {
            break
        }
        'icache;help;completions' {
            break
        }
        'icache;help;man' {
            break
        }
        'icache;help;generate' {
            break
        }
        'icache;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
